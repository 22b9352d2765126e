/* obliterate.c -- the end of what a policy says: the names it had in lists, the reasons of its moves, its answer, its texts.
 *
 * Names leave the lists while the revisions still say which they were, so the texts go last, all in one update. Each step finds what is left of
 * it, so a crash or a failure anywhere is made up for by doing it all again. Cell `gone` of the policy's row says that everything of the
 * checklist (TABLE_POLICY_LIST of store/tables.h) was removed, also by other modules. */
#include "policies/answers.h"
#include "policies/policies_private.h"

/* Grows with the checklist: then policies that went through the one before go through it again. */
enum { CHECKLIST = 1 };

static const Slice TEXT = {"text", 4};
static const Slice GONE = {"gone", 4};

/* One update of the row under one condition, proved by a receipt; `changes` has room for that. */
static Status update(Policies *policies, uint64_t id, const Condition *condition, Change *changes,
                     size_t count, Arena *arena)
{
    Id fresh = id_new(policies->world.clock, policies->world.random);
    Slice receipt = store_receipt(id_slice(&fresh), arena);
    changes[count] =
        (Change){.column = receipt, .value = id_slice(&fresh), .ttl_s = STORE_RECEIPT_TTL_S};
    Update update = {.conditions = condition,
                     .condition_count = 1,
                     .changes = changes,
                     .change_count = count + 1,
                     .proof = receipt};
    return policy_update(policies, id, &update, arena);
}

/* ---- Names ----------------------------------------------------------------------------------------------------- */

/* A list may still have a name that the policy had long ago: what takes it away then is only a try. */
static Status remove_names(Policies *policies, const PolicyRow *row)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Policy policy;
    policy_of_row(row, &policy);
    for (uint32_t i = 1; i <= row->text.revision; i++) {
        PolicyRevision revision;
        arena_reset(arena);
        Status status = policies_revision(policies, policy.id, i, arena, &revision);
        if (status == STATUS_NOT_FOUND) /* who removed it had taken its name away before */
            continue;
        TRY(status);
        policy.text = revision.text;
        TRY(policy_index_remove(policies, &policy));
    }
    return STATUS_OK;
}

/* ---- Reasons --------------------------------------------------------------------------------------------------- */

/* The condition is the move as it was read: this and a repair of its time (retime.c) do not undo each other. */
static Status remove_reason(Policies *policies, uint64_t id, uint32_t number,
                            const PolicyMove *move, Arena *arena)
{
    PolicyMove silent = *move;
    silent.reason = SLICE_EMPTY;
    Slice column = policy_move_column(number, arena);
    Condition condition = {.column = column,
                           .value = record_encode(&POLICY_MOVE_RECORD, move, NULL, arena)};
    Change changes[2] = {
        {.column = column, .value = record_encode(&POLICY_MOVE_RECORD, &silent, NULL, arena)}};
    return update(policies, id, &condition, changes, 1, arena);
}

/* `other`: only of moves that name this policy; 0: of all. */
static Status remove_reasons(Policies *policies, const PolicyRow *row, uint64_t other, Arena *arena)
{
    const PolicyFacts *facts = &row->known.facts;
    for (size_t i = 0; i < facts->move_count; i++) {
        const PolicyMove *move = &facts->moves[i];
        if (move->reason.size > 0 && (other == 0 || move->other == other))
            TRY(remove_reason(policies, facts->id, (uint32_t)i, move, arena));
    }
    return STATUS_OK;
}

/* Why others were merged into it stands with them. */
static Status remove_reasons_of_merges(Policies *policies, const PolicyRow *row, Arena *arena)
{
    const PolicyKnown *known = &row->known;
    for (size_t i = 0; i < known->source_count; i++) {
        PolicyRow source;
        Status status =
            policy_row_read(policies, known->sources[i].source, STORE_SERIAL, arena, &source);
        if (status == STATUS_NOT_FOUND)
            continue;
        TRY(status);
        TRY(remove_reasons(policies, &source, known->facts.id, arena));
    }
    return STATUS_OK;
}

/* ---- Texts ----------------------------------------------------------------------------------------------------- */

/* The state cannot change any more; an edit that comes in between makes one more revision, and us read again. */
static Status remove_texts(Policies *policies, const PolicyRow *row, Arena *arena)
{
    Change *changes = ARENA_ARRAY(arena, (size_t)row->text.revision + 1, Change);
    size_t count = 0;
    changes[count++] = (Change){.column = TEXT, .value = SLICE_EMPTY, .is_delete = true};
    for (uint32_t i = 1; i < row->text.revision; i++)
        changes[count++] = (Change){
            .column = policy_revision_column(i, arena), .value = SLICE_EMPTY, .is_delete = true};
    Condition condition = {.column = TEXT, .value = row->text_value};
    return update(policies, row->known.facts.id, &condition, changes, count, arena);
}

static Status remove_all(Policies *policies, const PolicyRow *row, Arena *arena)
{
    if (row->has_text)
        TRY(remove_names(policies, row));
    TRY(remove_reasons(policies, row, 0, arena));
    TRY(remove_reasons_of_merges(policies, row, arena));
    TRY(answers_obliterate(policies, row->known.facts.id));
    return row->has_text ? remove_texts(policies, row, arena) : STATUS_OK;
}

Status policies_obliterate(Policies *policies, uint64_t id)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Status status = STATUS_CONFLICT;
    for (int i = 0; record_again(&status, i, arena, NULL); i++) {
        PolicyRow row;
        TRY(policy_row_read(policies, id, STORE_SERIAL, arena, &row));
        PolicyState state = policy_last(&row)->state;
        if (state != POLICY_DELETED && state != POLICY_VOID)
            return STATUS_REFUSED;
        status = remove_all(policies, &row, arena);
    }
    return status;
}

/* ---- The mark -------------------------------------------------------------------------------------------------- */

typedef struct PolicyGone {
    Id write;
    uint32_t checklist;
    int64_t time_us;
} PolicyGone;

static const RecordField GONE_FIELDS[] = {
    RECORD_WRITE_ID(PolicyGone, write),
    RECORD_U32(PolicyGone, checklist),
    RECORD_I64(PolicyGone, time_us),
};
const Record POLICY_GONE_RECORD = RECORD("policy gone", PolicyGone, 1, GONE_FIELDS);

static RecordPlace gone_place(uint64_t id, Arena *arena)
{
    return (RecordPlace){&POLICY_GONE_RECORD, &TABLE_POLICIES, policy_row_key(id, arena), GONE};
}

Status policies_is_gone(Policies *policies, uint64_t id, bool *ret_gone)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Records records = policies_records(policies);
    RecordPlace place = gone_place(id, arena);
    PolicyGone gone;
    TRY(record_find(&records, &place, STORE_NORMAL, arena, &gone, NULL));
    *ret_gone = gone.checklist >= CHECKLIST;
    return STATUS_OK;
}

static Status apply_gone(RecordEditing *editing, void *context, Reason *reason)
{
    PolicyGone *gone = editing->record;
    const int64_t *now_us = context;
    (void)reason;
    editing->write = gone->checklist < CHECKLIST;
    gone->checklist = CHECKLIST;
    gone->time_us = *now_us;
    return STATUS_OK;
}

Status policies_note_gone(Policies *policies, uint64_t id)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Records records = policies_records(policies);
    int64_t now_us = clock_now_us(policies->world.clock);
    return record_edit(
        &records,
        &(RecordEdit){.place = gone_place(id, arena), .apply = apply_gone, .context = &now_us},
        NULL);
}
