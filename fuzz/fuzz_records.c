/* fuzz_records.c -- every record of the store: what decodes is encoded to the same bytes again.
 *
 * The first byte says which record. Cells of an older format, and what was sealed before cells were bound to their place, and lists of values that have grown since, are others when they are written again; then
 * these bytes must decode, and be encoded to themselves. Nothing random can be unsealed, so what is sealed has records of its own here. */
#include "audit/audit_private.h"
#include "electorate/electorate_private.h"
#include "mail/mail_private.h"
#include "policies/policies_private.h"
#include "reports/reports_private.h"
#include "settings/settings_private.h"
#include "tasks/tasks_private.h"
#include "texts/texts.h"

#include "fuzz.h"

static const Record *const RECORDS[] = {
    &ACCOUNT_RECORD,
    &ACCOUNT_PERSONAL_RECORD,
    &SIDE_RECORD,
    &LINK_RECORD,
    &TOKENS_RECORD,
    &TOKENS_PLAIN,
    &WATCH_RECORD,
    &FOLLOW_RECORD,
    &RIGHTS_RECORD,
    &SECOND_FACTOR_RECORD,
    &SECOND_FACTOR_PLAIN,
    &LINKED_LOGINS_RECORD,
    &LINKED_LOGINS_PLAIN,
    &CLAIM_RECORD,
    &JOURNEY_RECORD,
    &JOURNEY_PLAIN,
    &INVITATION_RECORD,
    &ELECTORATE_RECORD,
    &RETENTION_RECORD,
    &SETTINGS_HEAD_RECORD,
    &SETTINGS_RECORD,
    &SESSION_RECORD,
    &LOGIN_RECORD,
    &ORIGIN_RECORD,
    &DIGEST_RECORD,
    &POLICY_HEAD_RECORD,
    &POLICY_ORIGIN_RECORD,
    &POLICY_OWNER_RECORD,
    &POLICY_MOVE_RECORD,
    &POLICY_EDIT_RECORD,
    &POLICY_TARGET_RECORD,
    &POLICY_REVISION_RECORD,
    &FEATURED_RECORD,
    &GROUP_HEAD_RECORD,
    &GROUP_RECORD,
    &ANSWER_RECORD,
    &ANSWER_NOTE_RECORD,
    &ANSWER_NEWS_RECORD,
    &REPORT_HEAD_RECORD,
    &REPORT_WORDS_RECORD,
    &AUDIT_ENTRY_RECORD,
    &AUDIT_END_RECORD,
    &MAIL_HEAD_RECORD,
    &MAIL_LETTER_RECORD,
    &MAIL_SUPPRESSED_RECORD,
    &TEXT_HEAD_RECORD,
    &TEXT_RECORD,
    &TASK_STATE_RECORD,
    &TASK_INSTANCE_RECORD,
};

static bool may_grow(const Record *record, Slice value)
{
    for (size_t i = 0; i < record->field_count; i++)
        if (record->fields[i].kind == RECORD_KIND_VALUES ||
            record->fields[i].kind == RECORD_KIND_SEALED)
            return true;
    return record->format != 0 && (uint8_t)value.data[0] != record->format;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static Vault *vault;
    if (vault == NULL)
        vault = vault_for_tests(1);
    if (size == 0)
        return 0;
    ARENA_SCOPE Arena *arena = arena_new();
    VaultCell cell = {vault, SLICE("table"), SLICE("row"), SLICE("column")};
    const Record *record = RECORDS[data[0] % (sizeof RECORDS / sizeof RECORDS[0])];
    Slice value = slice_of(data + 1, size - 1);
    void *decoded = arena_zeroed(arena, 1, record->size);
    if (record_decode(record, value, &cell, arena, decoded) != STATUS_OK)
        return 0;
    Slice again = record_encode(record, decoded, &cell, arena);
    if (!may_grow(record, value))
        CHECK(slice_equal(again, value));
    CHECK(record_decode(record, again, &cell, arena, decoded) == STATUS_OK);
    CHECK(slice_equal(record_encode(record, decoded, &cell, arena), again));
    return 0;
}
