/* edits.c -- texts and their revisions, and owners. */
#include "policies/policies_private.h"

static const Slice TEXT = {"text", 4};
static const Slice OWNER = {"owner", 5};
static const Slice LATEST = {"latest", 6};

static PolicyEdit edit_of(const PolicyRevision *revision)
{
    return (PolicyEdit){revision->revision, revision->editor, revision->time_us};
}

static bool texts_equal(const PolicyText *a, const PolicyText *b)
{
    bool equal = slice_equal(a->name, b->name) && slice_equal(a->description, b->description) &&
                 slice_equal(a->rationale, b->rationale) && a->category == b->category &&
                 a->party == b->party && a->link_count == b->link_count;
    for (size_t i = 0; equal && i < a->link_count; i++)
        equal = slice_equal(a->links[i], b->links[i]);
    return equal;
}

/* ---- Editing ------------------------------------------------------------------------------------------------- */

static Status check_editable(const PolicyRow *row, Reason *reason)
{
    PolicyState state = policy_last(row)->state;
    if (!row->has_text || (state != POLICY_ACTIVE && state != POLICY_MERGING))
        return reason_set(reason, STATUS_REFUSED, "state", "a policy that is %s cannot be edited",
                          policy_state_text(state));
    if (row->text.revision >= POLICY_REVISIONS_MAX)
        return reason_set(reason, STATUS_REFUSED, "text", "a policy is edited at most %d times",
                          POLICY_REVISIONS_MAX - 1);
    return STATUS_OK;
}

/* The old text moves to its revision's cell, the new one takes its place; the receipt says whose it was. */
static Status write_text(Policies *policies, const PolicyRow *row, PolicyRevision *next,
                         Arena *arena)
{
    Records records = policies_records(policies);
    uint64_t id = row->known.facts.id;
    PolicyEdit edit = edit_of(next);
    Change also[] = {
        {.column = LATEST, .value = record_encode(&POLICY_EDIT_RECORD, &edit, NULL, arena)},
        {.column = policy_revision_column(row->text.revision, arena), .value = row->text_value},
    };
    RecordWrite write = {
        .place = {&POLICY_REVISION_RECORD, &TABLE_POLICIES, policy_row_key(id, arena), TEXT},
        .record = next,
        .before = row->text_value,
        .also = also,
        .also_count = 2,
        .marks = news_mark(policies->world.clock, NEWS_POLICY, id, arena)};
    return record_write(&records, &write, arena, NULL);
}

static void tell_of_text(Policies *policies, const PolicyRow *row, const PolicyRevision *next,
                         PolicyAsked asked)
{
    PolicyRow edited = *row;
    Policy before, after;
    edited.text = *next;
    edited.known.edit = edit_of(next);
    policy_cache_put(policies->cache, &edited.known, asked);
    policy_of_row(row, &before);
    policy_of_row(&edited, &after);
    policy_index_change(policies, &before, &after);
}

/* CONFLICT: the text changed between reading and writing. */
static Status replace_text(Policies *policies, const PolicyRow *row, const PolicyText *text,
                           uint64_t editor, Arena *arena)
{
    int64_t now_us = clock_now_us(policies->world.clock), last_us = row->text.time_us;
    PolicyRevision next = {.text = *text,
                           .revision = row->text.revision + 1,
                           .editor = editor,
                           .time_us = now_us > last_us ? now_us : last_us + 1};
    PolicyAsked asked = policies_ask(policies);
    TRY(write_text(policies, row, &next, arena));
    tell_of_text(policies, row, &next, asked);
    return STATUS_OK;
}

Status policies_edit(Policies *policies, uint64_t id, Id seen, const PolicyText *text,
                     uint64_t editor, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Status status = STATUS_CONFLICT;
    TRY(policy_check_text(text, reason));
    /* After a conflict the row is read once more: an earlier request with this text may have arrived late. */
    for (int i = 0; i < 2 && status == STATUS_CONFLICT; i++) {
        PolicyRow row;
        TRY(policy_row_read(policies, id, STORE_SERIAL, arena, &row));
        TRY(check_editable(&row, reason));
        if (texts_equal(&row.text.text, text))
            return STATUS_OK;
        if (!id_equal(row.text.version, seen))
            break;
        TRY(policy_check_groups(policies, text, &row.text.text, reason));
        status = replace_text(policies, &row, text, editor, arena);
    }
    if (status == STATUS_CONFLICT)
        return reason_set(reason, status, "text", "somebody else has edited it in the meantime");
    return status;
}

Status policies_revision(Policies *policies, uint64_t id, uint32_t revision, Arena *arena,
                         PolicyRevision *ret_revision)
{
    Records records = policies_records(policies);
    RecordPlace place = {&POLICY_REVISION_RECORD, &TABLE_POLICIES, policy_row_key(id, arena), TEXT};
    PolicyRevision found;
    TRY(record_read(&records, &place, STORE_NORMAL, arena, &found, NULL));
    if (found.revision != revision) {
        place.column = policy_revision_column(revision, arena);
        TRY(record_read(&records, &place, STORE_NORMAL, arena, &found, NULL));
        if (found.revision != revision)
            return STATUS_CORRUPT;
    }
    *ret_revision = found;
    return STATUS_OK;
}

/* ---- Owners -------------------------------------------------------------------------------------------------- */

static void tell_of_owner(Policies *policies, const PolicyRow *row)
{
    Policy before, after;
    policy_of_row(row, &before);
    after = before;
    after.owner = 0;
    policy_index_change(policies, &before, &after);
}

Status policies_disown(Policies *policies, uint64_t id, uint64_t owner)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Records records = policies_records(policies);
    PolicyRow row;
    PolicyOwner nobody = {.owner = 0};
    TRY(policy_row_read(policies, id, STORE_SERIAL, arena, &row));
    if (owner == 0 || row.owner.owner != owner)
        return STATUS_OK;
    RecordWrite write = {
        .place = {&POLICY_OWNER_RECORD, &TABLE_POLICIES, policy_row_key(id, arena), OWNER},
        .record = &nobody,
        .before = row.owner_value,
        .marks = news_mark(policies->world.clock, NEWS_POLICY, id, arena)};
    Status status = record_write(&records, &write, arena, NULL);
    /* Nothing else takes an owner away, so whoever was first did the same. */
    if (status == STATUS_OK || status == STATUS_CONFLICT) {
        tell_of_owner(policies, &row);
        return STATUS_OK;
    }
    return status;
}
