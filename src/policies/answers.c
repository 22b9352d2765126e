/* answers.c -- see answers.h. Row = policy of table `answers`:
 *     answer        the answer that stands; a fresh version in every value. Revision 0: there was one, and it is gone with the text
 *     due           when and at how many votes an answer became due; written once
 *     latest        number, author and time of the answer: news, without its words
 *     told          when those concerned had been told; written once
 *     v/<revision>  older answers
 *     ~/<id>        receipts
 * Table `answer_news`, one row: time, policy. Written with the answer that it announces, so it may be there without one, and is held
 * against the answer that stands.
 * A first answer whose write was lost on the way and arrives after the text is gone would stand there unseen: nobody is shown anything of a
 * policy that is deleted. */
#include "policies/answers.h"

#include "policies/policies_private.h"

enum { NEWS_COLUMN = 16, NEWS_LOOKED = 200 };

static const Slice NEWS_ROW = {"all", 3};
static const Slice ANSWER = {"answer", 6};
static const Slice DUE = {"due", 3};
static const Slice LATEST = {"latest", 6};
static const Slice TOLD = {"told", 4};

const char *const OUTCOME_WORDS[] = WORDS(ANSWER_OUTCOME_LIST, WORD_2);

const char *outcome_text(AnswerOutcome outcome)
{
    static const char *const TEXTS[] = WORDS(ANSWER_OUTCOME_LIST, WORD_3);
    return word_of(TEXTS, outcome);
}

static const RecordField ANSWER_FIELDS[] = {
    RECORD_WRITE_ID(Answer, version),
    RECORD_RANGE(Answer, revision, 4, 0, ANSWER_REVISIONS_MAX),
    RECORD_U64(Answer, author),
    RECORD_I64(Answer, time_us),
    RECORD_I64(Answer, first_us),
    RECORD_ENUM(Answer, outcome, OUTCOME_COUNT),
    RECORD_REST(Answer, text, 4 * ANSWER_MAX),
};
const Record ANSWER_RECORD = RECORD("answer", Answer, 1, ANSWER_FIELDS);

/* `due` and `told`. */
typedef struct AnswerNote {
    Id write;
    int64_t time_us, votes;
} AnswerNote;

static const RecordField NOTE_FIELDS[] = {
    RECORD_WRITE_ID(AnswerNote, write),
    RECORD_I64(AnswerNote, time_us),
    RECORD_I64(AnswerNote, votes),
};
const Record ANSWER_NOTE_RECORD = RECORD("answer note", AnswerNote, 1, NOTE_FIELDS);

static const RecordField NEWS_FIELDS[] = {
    RECORD_U32(AnswerNews, revision),
    RECORD_U64(AnswerNews, author),
    RECORD_I64(AnswerNews, time_us),
};
const Record ANSWER_NEWS_RECORD = RECORD("answer news", AnswerNews, 1, NEWS_FIELDS);

static RecordPlace place_of(const Record *record, uint64_t policy, Slice column, Arena *arena)
{
    return (RecordPlace){record, &TABLE_ANSWERS, policy_row_key(policy, arena), column};
}

/* ---- Reading --------------------------------------------------------------------------------------------------- */

typedef struct AnswerRow {
    AnswerState state;
    Slice value;   /* of `answer`, for conditions; empty: there is none */
    Answer stands; /* also when it is gone */
} AnswerRow;

static Status take_cell(const Cell *cell, AnswerRow *row)
{
    AnswerState *state = &row->state;
    AnswerNote note;
    if (slice_equal(cell->column, DUE) || slice_equal(cell->column, TOLD)) {
        TRY(record_decode(&ANSWER_NOTE_RECORD, cell->value, NULL, NULL, &note));
        if (slice_equal(cell->column, TOLD)) {
            state->is_told = true;
            return STATUS_OK;
        }
        state->is_due = true;
        state->due_us = note.time_us;
        state->due_votes = note.votes;
        return STATUS_OK;
    }
    if (!slice_equal(cell->column, ANSWER))
        return STATUS_OK; /* `latest` says nothing that `answer` does not */
    TRY(record_decode(&ANSWER_RECORD, cell->value, NULL, NULL, &row->stands));
    row->value = cell->value;
    state->is_answered = row->stands.revision > 0;
    if (state->is_answered)
        state->answer = row->stands;
    return STATUS_OK;
}

static Status read_row(Policies *policies, uint64_t policy, ReadMode mode, Arena *arena,
                       AnswerRow *ret_row)
{
    Query query = {.table = &TABLE_ANSWERS,
                   .row = policy_row_key(policy, arena),
                   .from = SLICE("a"),
                   .to = SLICE("v"),
                   .after = SLICE_EMPTY,
                   .limit = STORE_PAGE_MAX,
                   .mode = mode};
    Page page;
    AnswerRow row = {.value = SLICE_EMPTY, .state.answer.text = SLICE_EMPTY};
    TRY(store_slice(policies->store, &query, arena, &page));
    for (size_t i = 0; i < page.count; i++)
        TRY(take_cell(&page.cells[i], &row));
    *ret_row = row;
    return STATUS_OK;
}

Status answers_read(Policies *policies, uint64_t policy, Arena *arena, AnswerState *ret_state)
{
    AnswerRow row;
    TRY(read_row(policies, policy, STORE_NORMAL, arena, &row));
    *ret_state = row.state;
    return STATUS_OK;
}

Status answers_revision(Policies *policies, uint64_t policy, uint32_t revision, Arena *arena,
                        Answer *ret_answer)
{
    AnswerRow row;
    Records records = policies_records(policies);
    TRY(read_row(policies, policy, STORE_NORMAL, arena, &row));
    if (!row.state.is_answered || revision == 0)
        return STATUS_NOT_FOUND;
    Answer answer = row.state.answer;
    if (answer.revision != revision) {
        RecordPlace place =
            place_of(&ANSWER_RECORD, policy, policy_revision_column(revision, arena), arena);
        TRY(record_read(&records, &place, STORE_NORMAL, arena, &answer, NULL));
    }
    *ret_answer = answer;
    return STATUS_OK;
}

Status answers_news(Policies *policies, const uint64_t *ids, size_t count, Arena *arena,
                    AnswerNews *ret_news)
{
    enum { AT_ONCE = 256 };
    Read reads[AT_ONCE];
    ReadAnswer answers[AT_ONCE];
    for (size_t from = 0; from < count; from += AT_ONCE) {
        size_t part = count - from < AT_ONCE ? count - from : AT_ONCE;
        for (size_t i = 0; i < part; i++)
            reads[i] =
                (Read){&TABLE_ANSWERS, policy_row_key(ids[from + i], arena), LATEST, STORE_NORMAL};
        TRY(store_read_many(policies->store, reads, part, arena, answers));
        for (size_t i = 0; i < part; i++) {
            AnswerNews *news = &ret_news[from + i];
            if (answers[i].status != STATUS_OK ||
                record_decode(&ANSWER_NEWS_RECORD, answers[i].cell.value, NULL, NULL, news) !=
                    STATUS_OK)
                *news = (AnswerNews){0}; /* there is none to tell */
        }
    }
    return STATUS_OK;
}

/* An answer that was changed has been announced twice; only the last announcement fits. */
static Status take_recent(Policies *policies, Slice column, Arena *arena, RecentAnswer *ret_answer,
                          bool *ret_fits)
{
    Reader reader = reader_of(column);
    AnswerState state;
    int64_t time_us = reader_i64(&reader);
    uint64_t policy = reader_u64(&reader);
    if (!reader_done(&reader))
        return STATUS_CORRUPT;
    TRY(answers_read(policies, policy, arena, &state));
    *ret_fits = state.is_answered && state.answer.time_us == time_us;
    *ret_answer = (RecentAnswer){policy, state.answer};
    return STATUS_OK;
}

Status answers_recent(Policies *policies, size_t limit, Arena *arena, RecentAnswer *ret_answers,
                      size_t *ret_count)
{
    Query query = {.table = &TABLE_ANSWER_NEWS,
                   .row = NEWS_ROW,
                   .from = SLICE_EMPTY,
                   .to = SLICE_EMPTY,
                   .after = SLICE_EMPTY,
                   .reverse = true,
                   .limit = NEWS_LOOKED};
    Page page;
    size_t count = 0;
    CHECK(limit >= 1 && limit <= ANSWERS_RECENT_MAX);
    TRY(store_slice(policies->store, &query, arena, &page));
    for (size_t i = 0; i < page.count && count < limit; i++) {
        bool fits;
        TRY(take_recent(policies, page.cells[i].column, arena, &ret_answers[count], &fits));
        count += fits;
    }
    *ret_count = count;
    return STATUS_OK;
}

/* ---- Answering ------------------------------------------------------------------------------------------------- */

static Status check_wish(const AnswerRequest *want, Reason *reason)
{
    if (want->outcome >= OUTCOME_COUNT)
        return reason_set(reason, STATUS_INVALID, "outcome", "is not one of the outcomes");
    if (slice_trim(want->text).size == 0)
        return reason_set(reason, STATUS_INVALID, "text", "must say something");
    return policy_check_prose("text", want->text, ANSWER_MAX, reason);
}

static Status check_policy(Policies *policies, uint64_t policy, Arena *arena, Reason *reason)
{
    static const bool CAN[POLICY_STATE_COUNT] = {[POLICY_ACTIVE] = true,
                                                 [POLICY_MERGING] = true,
                                                 [POLICY_MERGED] = true,
                                                 [POLICY_RETIRED] = true};
    PolicyRow row;
    TRY(policy_row_read(policies, policy, STORE_SERIAL, arena, &row));
    PolicyState state = policy_last(&row)->state;
    if (!CAN[state])
        return reason_set(reason, STATUS_REFUSED, "state", "a policy that is %s is not answered",
                          policy_state_text(state));
    return STATUS_OK;
}

static Batch announce(Policies *policies, uint64_t policy, int64_t time_us, Arena *arena)
{
    RowChange *mark = ARENA_NEW(arena, RowChange);
    char *column = arena_bytes(arena, NEWS_COLUMN);
    bytes_put_u64(column, (uint64_t)time_us);
    bytes_put_u64(column + 8, policy);
    *mark = (RowChange){&TABLE_ANSWER_NEWS,
                        NEWS_ROW,
                        {.column = slice_of(column, NEWS_COLUMN),
                         .value = SLICE_EMPTY,
                         .timestamp = clock_now_us(policies->world.clock),
                         .ttl_s = ANSWERS_RECENT_DAYS * S_PER_DAY}};
    return (Batch){.changes = mark, .count = 1};
}

/* The answer that stood moves to its revision's cell, the new one takes its place; the receipt says whose it was. */
static Status replace(Policies *policies, uint64_t policy, const AnswerRow *row,
                      const AnswerRequest *want, Arena *arena)
{
    Records records = policies_records(policies);
    const Answer *before = &row->state.answer;
    int64_t now_us = clock_now_us(policies->world.clock);
    int64_t time_us = now_us > before->time_us ? now_us : before->time_us + 1;
    Answer next = {.outcome = want->outcome,
                   .text = want->text,
                   .revision = before->revision + 1,
                   .author = want->author,
                   .time_us = time_us,
                   .first_us = row->state.is_answered ? before->first_us : time_us};
    AnswerNews news = {next.revision, next.author, next.time_us};
    Change also[] = {
        {.column = LATEST, .value = record_encode(&ANSWER_NEWS_RECORD, &news, NULL, arena)},
        {.column = policy_revision_column(before->revision, arena), .value = row->value},
    };
    RecordWrite write = {.place = place_of(&ANSWER_RECORD, policy, ANSWER, arena),
                         .record = &next,
                         .before = row->value,
                         .also = also,
                         .also_count = row->state.is_answered ? 2 : 1,
                         .marks = announce(policies, policy, time_us, arena)};
    return record_write(&records, &write, arena, NULL);
}

static bool says_that(const AnswerState *state, const AnswerRequest *want)
{
    return state->is_answered && state->answer.outcome == want->outcome &&
           slice_equal(state->answer.text, want->text);
}

Status answers_give(Policies *policies, uint64_t policy, const AnswerRequest *want, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Status status = STATUS_CONFLICT;
    TRY(check_wish(want, reason));
    TRY(check_policy(policies, policy, arena, reason));
    /* After a conflict the row is read once more: an earlier request with these words may have arrived late. */
    for (int i = 0; i < 2 && status == STATUS_CONFLICT; i++) {
        AnswerRow row;
        TRY(read_row(policies, policy, STORE_SERIAL, arena, &row));
        if (says_that(&row.state, want))
            return STATUS_OK;
        if (!id_equal(row.state.answer.version, want->seen))
            break;
        if (row.state.answer.revision >= ANSWER_REVISIONS_MAX)
            return reason_set(reason, STATUS_REFUSED, "text",
                              "an answer is changed at most %d times", ANSWER_REVISIONS_MAX - 1);
        status = replace(policies, policy, &row, want, arena);
    }
    if (status == STATUS_CONFLICT)
        return reason_set(reason, status, "text", "somebody else has answered in the meantime");
    return status;
}

/* ---- When one is due ------------------------------------------------------------------------------------------- */

/* A cell that is written once; whoever was first said the same. */
static Status note(Policies *policies, uint64_t policy, Slice column, int64_t votes)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Records records = policies_records(policies);
    AnswerNote noted = {.time_us = clock_now_us(policies->world.clock), .votes = votes};
    RecordWrite write = {.place = place_of(&ANSWER_NOTE_RECORD, policy, column, arena),
                         .record = &noted,
                         .before = SLICE_EMPTY,
                         .proof = column};
    Status status = record_write(&records, &write, arena, NULL);
    return status == STATUS_CONFLICT ? STATUS_OK : status;
}

Status answers_note_due(Policies *policies, uint64_t policy, int64_t votes)
{
    return note(policies, policy, DUE, votes);
}

Status answers_note_told(Policies *policies, uint64_t policy)
{
    return note(policies, policy, TOLD, 0);
}

/* ---- The end --------------------------------------------------------------------------------------------------- */

/* A value without words takes the answer's place, not a delete: then a late answer finds its condition false. */
static Status remove_answer(Policies *policies, uint64_t policy, const AnswerRow *row, Arena *arena)
{
    Records records = policies_records(policies);
    uint32_t revision = row->state.answer.revision;
    Change *also = ARENA_ARRAY(arena, (size_t)revision + 1, Change);
    size_t count = 0;
    Answer gone = {.text = SLICE_EMPTY};
    also[count++] = (Change){.column = LATEST, .value = SLICE_EMPTY, .is_delete = true};
    for (uint32_t i = 1; i < revision; i++)
        also[count++] = (Change){
            .column = policy_revision_column(i, arena), .value = SLICE_EMPTY, .is_delete = true};
    RecordWrite write = {.place = place_of(&ANSWER_RECORD, policy, ANSWER, arena),
                         .record = &gone,
                         .before = row->value,
                         .also = also,
                         .also_count = count};
    return record_write(&records, &write, arena, NULL);
}

Status answers_obliterate(Policies *policies, uint64_t policy)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Status status = STATUS_CONFLICT;
    for (int i = 0; record_again(&status, i, arena, NULL); i++) {
        AnswerRow row;
        TRY(read_row(policies, policy, STORE_SERIAL, arena, &row));
        if (!row.state.is_answered)
            return STATUS_OK;
        status = remove_answer(policies, policy, &row, arena);
    }
    return status;
}
