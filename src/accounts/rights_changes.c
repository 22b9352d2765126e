/* rights_changes.c -- see rights_changes.h: the cell `rights` beside an account's head. */
#include "accounts/rights_changes.h"

#include "accounts/accounts_private.h"

static const char *const PURPOSE = "appeal";

static const RecordField FIELDS[] = {
    RECORD_U64(RightsChange, number),
    RECORD_I64(RightsChange, time_us),
    RECORD_U64(RightsChange, actor),
    RECORD_U32(RightsChange, taken),
    RECORD_U32(RightsChange, given),
    RECORD_U32(RightsChange, lost_roles),
    RECORD_U32(RightsChange, roles),
    RECORD_U64(RightsChange, appealed),
    RECORD_U64(RightsChange, appeal_actor),
    RECORD_U64(RightsChange, report),
    RECORD_REST(RightsChange, reason, RIGHTS_REASON_BYTES),
};
const Record RIGHTS_RECORD = RECORD("rights change", RightsChange, 1, FIELDS);
const Side RIGHTS_SIDE = {&SIDE_RECORD, {"rights", 6}};

static Status change_of(Slice content, RightsChange *ret_change)
{
    *ret_change = (RightsChange){.reason = SLICE_EMPTY};
    return content.size == 0 ? STATUS_OK
                             : record_decode(&RIGHTS_RECORD, content, NULL, NULL, ret_change);
}

Status accounts_rights_change(Accounts *accounts, uint64_t id, Arena *arena,
                              RightsChange *ret_change)
{
    SideCell cell;
    TRY(side_read(accounts, id, RIGHTS_SIDE, arena, &cell, NULL));
    return change_of(cell.content, ret_change);
}

/* ---- Changing -------------------------------------------------------------------------------------------------- */

static bool is_change(const RightsChange *change)
{
    return (change->taken | change->given | change->lost_roles | change->roles) != 0;
}

Status accounts_change_rights(Accounts *accounts, uint64_t id, const RightsRequest *request,
                              bool *ret_changed, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    const AccountRights *rights = &request->rights;
    Account before;
    RightsChange change;
    CHECK(rights->seen_version != 0 && request->reason.size <= RIGHTS_REASON_BYTES);
    TRY(accounts_read(accounts, id, arena, &before));
    TRY(accounts_rights_change(accounts, id, arena, &change));
    change.number++;
    change.time_us = clock_now_us(accounts->world.clock);
    change.actor = request->actor;
    change.taken = rights->denied & ~before.denied;
    change.given = before.denied & ~rights->denied;
    change.lost_roles = before.roles & ~rights->roles;
    change.roles = rights->roles & ~before.roles;
    change.reason = request->reason;
    *ret_changed = is_change(&change);
    Change noted = side_change(RIGHTS_SIDE.column, fresh_id(accounts),
                               record_encode(&RIGHTS_RECORD, &change, NULL, arena), arena);
    return rights_set_by(accounts, id, rights, (RowEdit){.also = &noted, .also_count = 1}, reason);
}

/* ---- Appealing -------------------------------------------------------------------------------------------------- */

bool rights_may_appeal(const RightsChange *change, const Account *account)
{
    return change->number != 0 && change->appealed != change->number &&
           (account->denied != 0 || change->lost_roles != 0);
}

typedef struct Appealing {
    uint64_t number, report;
} Appealing;

static Status apply_appeal(RecordEditing *editing, void *context, Reason *reason)
{
    Appealing *appealing = context;
    SideCell *cell = editing->record;
    RightsChange change;
    TRY(refuse_dead(editing->held, reason));
    TRY(change_of(cell->content, &change));
    if (change.number == 0 || change.number != appealing->number)
        return reason_set(reason, STATUS_REFUSED, "",
                          "your rights were changed again since; look at the last change");
    editing->write = change.appealed != change.number;
    if (editing->write) {
        change.appealed = change.number;
        change.appeal_actor = change.actor;
        change.report = appealing->report;
        cell->content = record_encode(&RIGHTS_RECORD, &change, NULL, editing->arena);
    }
    appealing->report = change.report;
    return STATUS_OK;
}

Status accounts_appeal_rights(Accounts *accounts, uint64_t id, uint64_t number, uint64_t report,
                              uint64_t *ret_report, Reason *reason)
{
    Appealing appealing = {number, report};
    TRY(side_edit(accounts, id, RIGHTS_SIDE, apply_appeal, &appealing, reason));
    *ret_report = appealing.report;
    return STATUS_OK;
}

/* ---- Words and links --------------------------------------------------------------------------------------------- */

static void put_bits(Buffer *out, const char *label, uint32_t bits, bool are_roles)
{
    const char *before = out->size > 0 ? "; " : "";
    for (unsigned i = 0; bits >> i != 0; i++) {
        if ((bits >> i & 1) == 0)
            continue;
        if (are_roles)
            buffer_print(out, "%s%s: %s", before, label, account_role_words((AccountRole)i));
        else
            buffer_print(out, "%s%s: the right to %s", before, label,
                         account_right_words((AccountRight)i));
        before = "; ";
    }
}

Slice rights_change_words(const RightsChange *change, Arena *arena)
{
    BUFFER_SCOPE Buffer out = {0};
    put_bits(&out, "taken away", change->taken, false);
    put_bits(&out, "given back", change->given, false);
    put_bits(&out, "role taken away", change->lost_roles, true);
    put_bits(&out, "role given", change->roles, true);
    return arena_copy(arena, buffer_slice(&out));
}

Slice rights_token(const Accounts *accounts, uint64_t id, uint64_t number, Arena *arena)
{
    char plain[2 * sizeof id];
    bytes_put_u64(plain, id);
    bytes_put_u64(plain + sizeof id, number);
    return sealed_token(accounts, PURPOSE, slice_of(plain, sizeof plain), arena);
}

Status rights_from_token(const Accounts *accounts, Slice token, uint64_t *ret_id,
                         uint64_t *ret_number)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice plain;
    TRY(sealed_token_open(accounts, PURPOSE, token, 2 * sizeof *ret_id, arena, &plain));
    *ret_id = bytes_get_u64(plain.data);
    *ret_number = bytes_get_u64(plain.data + sizeof *ret_id);
    return STATUS_OK;
}
