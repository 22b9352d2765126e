/* account_record.c -- see account_record.h. */
#include "accounts/account_record.h"

static const RecordField PERSONAL_FIELDS[] = {
    RECORD_TEXT16(AccountRecord, labels[CLAIM_EMAIL].text),
    RECORD_TEXT16(AccountRecord, labels[CLAIM_EMAIL].folded),
    RECORD_TEXT16(AccountRecord, claim_requests[CLAIM_EMAIL].label.text),
    RECORD_TEXT16(AccountRecord, claim_requests[CLAIM_EMAIL].label.folded),
    RECORD_TEXT16(AccountRecord, real_name),
};
const Record ACCOUNT_PERSONAL_RECORD =
    RECORD_PART("personal", AccountRecord, 0, "account", PERSONAL_FIELDS);

/* Nothing is sealed for an account of which nothing personal is left. */
static const RecordField HEAD_FIELDS[] = {
    RECORD_WRITE_ID(AccountRecord, id),
    RECORD_RANGE(AccountRecord, version, 8, 1, UINT64_MAX),
    RECORD_ENUM(AccountRecord, state, ACCOUNT_STATE_COUNT),
    RECORD_I64(AccountRecord, state_time_us),
    RECORD_I64(AccountRecord, registered_us),
    RECORD_BITS(AccountRecord, roles, ACCOUNT_ROLES_ALL),
    RECORD_BITS(AccountRecord, denied, ACCOUNT_RIGHTS_ALL),
    RECORD_U64(AccountRecord, epoch),
    RECORD_FLAGS(AccountRecord, real_name_shown, second),
    RECORD_TEXT16(AccountRecord, password_hash),
    RECORD_TEXT16(AccountRecord, labels[CLAIM_NAME].text),
    RECORD_TEXT16(AccountRecord, labels[CLAIM_NAME].folded),
    RECORD_TEXT16(AccountRecord, claim_requests[CLAIM_NAME].label.text),
    RECORD_TEXT16(AccountRecord, claim_requests[CLAIM_NAME].label.folded),
    RECORD_ID(AccountRecord, claim_requests[CLAIM_NAME].id),
    RECORD_I64(AccountRecord, claim_requests[CLAIM_NAME].time_us),
    RECORD_ID(AccountRecord, claim_requests[CLAIM_EMAIL].id),
    RECORD_I64(AccountRecord, claim_requests[CLAIM_EMAIL].time_us),
    RECORD_SEALED_IF_ANY(2, &ACCOUNT_PERSONAL_RECORD),
    RECORD_I64(AccountRecord, email_back_us),
};
const Record ACCOUNT_RECORD = {.name = "account head",
                               .fields = HEAD_FIELDS,
                               .field_count = sizeof HEAD_FIELDS / sizeof HEAD_FIELDS[0],
                               .size = sizeof(AccountRecord),
                               .format = 3,
                               .oldest = 2,
                               .older = {19}};

bool account_record_is_alive(const AccountRecord *head)
{
    return head->state == ACCOUNT_PENDING || head->state == ACCOUNT_CONFIRMED;
}

bool account_record_bears(const AccountRecord *head, ClaimKind kind, Slice folded)
{
    const ClaimRequest *want = &head->claim_requests[kind];
    return account_record_is_alive(head) &&
           (slice_equal(head->labels[kind].folded, folded) ||
            (!id_is_zero(want->id) && slice_equal(want->label.folded, folded)));
}

void account_record_forget(AccountRecord *head)
{
    for (int kind = 0; kind < CLAIM_KINDS; kind++) {
        head->labels[kind] = (Label){SLICE_EMPTY, SLICE_EMPTY};
        head->claim_requests[kind] = (ClaimRequest){.label = {SLICE_EMPTY, SLICE_EMPTY}};
    }
    head->real_name = SLICE_EMPTY;
    head->real_name_shown = false;
    head->email_back_us = 0;
}
