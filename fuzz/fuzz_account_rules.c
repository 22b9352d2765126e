/* fuzz_account_rules.c -- folding of names and e-mails, and the head of an account's row.
 *
 * What was folded folds to itself, is UTF-8 within its bounds, and can be a part of a row's key; a head that is read can be
 * written again as the same bytes. */
#include "accounts/account_record.h"
#include "accounts/account_rules.h"
#include "fuzz.h"
#include "store/store.h"

typedef Status Fold(Slice text, Arena *arena, Slice *ret_folded, Reason *reason);

static void check_fold(Fold *fold, Slice input, size_t most, Arena *arena)
{
    Slice once, twice;
    Reason reason = {.rule = ""};
    if (fold(input, arena, &once, &reason) != STATUS_OK) {
        CHECK(reason.field[0] != '\0' && reason.rule[0] != '\0');
        return;
    }
    CHECK(once.size > 0 && once.size <= most && most < STORE_ROW_MAX && slice_is_utf8(once));
    CHECK(fold(once, arena, &twice, NULL) == STATUS_OK && slice_equal(once, twice));
}

static void check_signal(Slice input, Arena *arena)
{
    Slice folded;
    if (account_fold_email(input, arena, &folded, NULL) != STATUS_OK)
        return;
    Slice signal = account_email_signal(folded, arena);
    CHECK(signal.size > 1 && signal.size <= folded.size);
    CHECK(slice_equal(signal, account_email_signal(signal, arena)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice input = slice_of(data, size);
    check_fold(account_fold_name, input, ACCOUNT_NAME_BYTES, arena);
    check_fold(account_fold_email, input, ACCOUNT_EMAIL_BYTES, arena);
    check_signal(input, arena);
    (void)!account_check_password(input, NULL);
    (void)!account_check_line("line", input, ACCOUNT_REAL_NAME_MAX, NULL);
    return 0;
}
