/* fuzz_dsn.c -- any bytes as a report of a mail server: it is read within bounds, and whatever it names is an address. */
#include "mail/dsn.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ARENA_SCOPE Arena *arena = arena_new();
    static DsnReport report;
    Reason reason = {0};
    if (dsn_read(slice_of(data, size), arena, &report, &reason) != STATUS_OK) {
        CHECK(reason.rule[0] != '\0');
        return 0;
    }
    CHECK(report.count <= DSN_RECIPIENTS_MAX);
    for (size_t i = 0; i < report.count; i++)
        CHECK(message_check_address(report.failed[i].address, "to", NULL) == STATUS_OK);
    return 0;
}
