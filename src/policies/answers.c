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

#include "policies/policies_internal.h"

enum { FORMAT = 1, NEWS_COLUMN = 16, NEWS_LOOKED = 200 };

static const Slice NEWS_ROW = {"all", 3};
static const Slice ANSWER = {"answer", 6};
static const Slice DUE = {"due", 3};
static const Slice LATEST = {"latest", 6};
static const Slice TOLD = {"told", 4};

static const struct {
    const char *text;
} OUTCOMES[] = {
#define X(name, word, text) {text},
    ANSWER_OUTCOME_LIST(X)
#undef X
};
const char *const OUTCOME_WORDS[] = {
#define X(name, word, text) word,
    ANSWER_OUTCOME_LIST(X)
#undef X
        NULL};

const char *outcome_text(AnswerOutcome outcome)
{
    CHECK(outcome < OUTCOME_COUNT);
    return OUTCOMES[outcome].text;
}

/* ---- Bytes ----------------------------------------------------------------------------------------------------- */

static Id read_id(Reader *reader)
{
    Id id = {{0}};
    Slice bytes = reader_bytes(reader, ID_BYTES);
    if (bytes.size == ID_BYTES)
        memcpy(id.bytes, bytes.data, ID_BYTES);
    return id;
}

void answer_encode(Buffer *to, const Answer *answer)
{
    buffer_u8(to, FORMAT);
    buffer_bytes(to, id_slice(&answer->version));
    buffer_u32(to, answer->revision);
    buffer_u64(to, answer->author);
    buffer_i64(to, answer->time_us);
    buffer_i64(to, answer->first_us);
    buffer_u8(to, (uint8_t)answer->outcome);
    buffer_bytes(to, answer->text);
}

Status answer_decode(Slice value, Answer *ret_answer)
{
    Reader reader = reader_of(value);
    Answer answer;
    bool known = reader_u8(&reader) == FORMAT;
    answer.version = read_id(&reader);
    answer.revision = reader_u32(&reader);
    answer.author = reader_u64(&reader);
    answer.time_us = reader_i64(&reader);
    answer.first_us = reader_i64(&reader);
    uint8_t outcome = reader_u8(&reader);
    answer.text = reader_rest(&reader);
    if (!known || !reader_done(&reader) || outcome >= OUTCOME_COUNT ||
        answer.revision > ANSWER_REVISIONS_MOST || answer.text.size > 4 * ANSWER_MOST)
        return STATUS_CORRUPT;
    answer.outcome = (AnswerOutcome)outcome;
    *ret_answer = answer;
    return STATUS_OK;
}

static void encode_note(Buffer *to, Id id, int64_t time_us, int64_t votes)
{
    buffer_u8(to, FORMAT);
    buffer_bytes(to, id_slice(&id));
    buffer_i64(to, time_us);
    buffer_i64(to, votes);
}

static Status decode_note(Slice value, int64_t *ret_time_us, int64_t *ret_votes)
{
    Reader reader = reader_of(value);
    bool known = reader_u8(&reader) == FORMAT;
    (void)reader_bytes(&reader, ID_BYTES);
    int64_t time_us = reader_i64(&reader), votes = reader_i64(&reader);
    if (!known || !reader_done(&reader))
        return STATUS_CORRUPT;
    *ret_time_us = time_us;
    *ret_votes = votes;
    return STATUS_OK;
}

static void encode_news(Buffer *to, const Answer *answer)
{
    buffer_u8(to, FORMAT);
    buffer_u32(to, answer->revision);
    buffer_u64(to, answer->author);
    buffer_i64(to, answer->time_us);
}

static Status decode_news(Slice value, AnswerNews *ret_news)
{
    Reader reader = reader_of(value);
    bool known = reader_u8(&reader) == FORMAT;
    AnswerNews news = {.revision = reader_u32(&reader)};
    news.author = reader_u64(&reader);
    news.time_us = reader_i64(&reader);
    if (!known || !reader_done(&reader))
        return STATUS_CORRUPT;
    *ret_news = news;
    return STATUS_OK;
}

/* ---- Reading --------------------------------------------------------------------------------------------------- */

typedef struct AnswerRow {
    AnswerState state;
    Slice value; /* of `answer`, for conditions */
    bool has_value;
    Answer stands; /* also when it is gone */
} AnswerRow;

static Status take_cell(const Cell *cell, AnswerRow *row)
{
    AnswerState *state = &row->state;
    int64_t unused;
    if (slice_equal(cell->column, DUE)) {
        state->is_due = true;
        return decode_note(cell->value, &state->due_us, &state->due_votes);
    }
    if (slice_equal(cell->column, TOLD)) {
        state->is_told = true;
        return decode_note(cell->value, &unused, &unused);
    }
    if (!slice_equal(cell->column, ANSWER))
        return STATUS_OK; /* `latest` says nothing that `answer` does not */
    TRY(answer_decode(cell->value, &row->stands));
    row->value = cell->value;
    row->has_value = true;
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
                   .limit = STORE_PAGE_MOST,
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
    Cell cell;
    TRY(read_row(policies, policy, STORE_NORMAL, arena, &row));
    if (!row.state.is_answered || revision == 0)
        return STATUS_NOT_FOUND;
    Answer answer = row.state.answer;
    if (answer.revision != revision) {
        Read read = {&TABLE_ANSWERS, policy_row_key(policy, arena),
                     policy_revision_column(revision, arena), STORE_NORMAL};
        TRY(store_read(policies->store, &read, arena, &cell));
        TRY(answer_decode(cell.value, &answer));
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
            *news = (AnswerNews){0};
            if (answers[i].status == STATUS_OK)
                (void)!decode_news(answers[i].cell.value, news); /* else there is none to tell */
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
    CHECK(limit >= 1 && limit <= ANSWERS_RECENT_MOST);
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

static Status check_wish(const AnswerWish *wish, Reason *reason)
{
    if (wish->outcome >= OUTCOME_COUNT)
        return reason_set(reason, STATUS_INVALID, "outcome", "is not one of the outcomes");
    if (slice_trim(wish->text).size == 0)
        return reason_set(reason, STATUS_INVALID, "text", "must say something");
    return policy_check_prose("text", wish->text, ANSWER_MOST, reason);
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

static Status update(Policies *policies, uint64_t policy, Update *update, Arena *arena)
{
    update->table = &TABLE_ANSWERS;
    update->row = policy_row_key(policy, arena);
    return store_update(policies->store, update, POLICIES_TRIES, arena, NULL);
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
static Status write_answer(Policies *policies, uint64_t policy, const AnswerRow *row,
                           const Answer *next, Arena *arena)
{
    BUFFER_SCOPE Buffer value = {0}, news = {0};
    answer_encode(&value, next);
    encode_news(&news, next);
    Slice receipt = store_receipt(id_slice(&next->version), arena);
    Condition condition = {.column = ANSWER, .value = row->value, .absent = !row->has_value};
    Change changes[4] = {
        {.column = ANSWER, .value = buffer_slice(&value)},
        {.column = LATEST, .value = buffer_slice(&news)},
        {.column = receipt, .value = id_slice(&next->version), .ttl_s = STORE_RECEIPT_TTL_S},
    };
    size_t count = 3;
    if (row->state.is_answered)
        changes[count++] =
            (Change){.column = policy_revision_column(row->state.answer.revision, arena),
                     .value = row->value};
    return update(policies, policy,
                  &(Update){.conditions = &condition,
                            .condition_count = 1,
                            .changes = changes,
                            .change_count = count,
                            .proof = receipt,
                            .marks = announce(policies, policy, next->time_us, arena)},
                  arena);
}

static Status replace(Policies *policies, uint64_t policy, const AnswerRow *row,
                      const AnswerWish *wish, Arena *arena)
{
    const Answer *before = &row->state.answer;
    int64_t now_us = clock_now_us(policies->world.clock);
    int64_t time_us = now_us > before->time_us ? now_us : before->time_us + 1;
    Answer next = {.outcome = wish->outcome,
                   .text = wish->text,
                   .revision = before->revision + 1,
                   .version = id_new(policies->world.clock, policies->world.random),
                   .author = wish->author,
                   .time_us = time_us,
                   .first_us = row->state.is_answered ? before->first_us : time_us};
    return write_answer(policies, policy, row, &next, arena);
}

static bool says_that(const AnswerState *state, const AnswerWish *wish)
{
    return state->is_answered && state->answer.outcome == wish->outcome &&
           slice_equal(state->answer.text, wish->text);
}

Status answers_give(Policies *policies, uint64_t policy, const AnswerWish *wish, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Status status = STATUS_CONFLICT;
    TRY(check_wish(wish, reason));
    TRY(check_policy(policies, policy, arena, reason));
    /* After a conflict the row is read once more: an earlier request with these words may have arrived late. */
    for (int i = 0; i < 2 && status == STATUS_CONFLICT; i++) {
        AnswerRow row;
        TRY(read_row(policies, policy, STORE_SERIAL, arena, &row));
        if (says_that(&row.state, wish))
            return STATUS_OK;
        if (!id_equal(row.state.answer.version, wish->seen))
            break;
        if (row.state.answer.revision >= ANSWER_REVISIONS_MOST)
            return reason_set(reason, STATUS_REFUSED, "text",
                              "an answer is changed at most %d times", ANSWER_REVISIONS_MOST - 1);
        status = replace(policies, policy, &row, wish, arena);
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
    BUFFER_SCOPE Buffer value = {0};
    encode_note(&value, id_new(policies->world.clock, policies->world.random),
                clock_now_us(policies->world.clock), votes);
    Condition condition = {.column = column, .value = SLICE_EMPTY, .absent = true};
    Change change = {.column = column, .value = buffer_slice(&value)};
    Status status = update(policies, policy,
                           &(Update){.conditions = &condition,
                                     .condition_count = 1,
                                     .changes = &change,
                                     .change_count = 1,
                                     .proof = column},
                           arena);
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
    BUFFER_SCOPE Buffer value = {0};
    uint32_t revision = row->state.answer.revision;
    Change *changes = ARENA_ARRAY(arena, (size_t)revision + 3, Change);
    size_t count = 0;
    Answer gone = {.text = SLICE_EMPTY,
                   .version = id_new(policies->world.clock, policies->world.random)};
    Slice receipt = store_receipt(id_slice(&gone.version), arena);
    answer_encode(&value, &gone);
    changes[count++] = (Change){.column = ANSWER, .value = buffer_slice(&value)};
    changes[count++] = (Change){.column = LATEST, .value = SLICE_EMPTY, .is_delete = true};
    changes[count++] =
        (Change){.column = receipt, .value = id_slice(&gone.version), .ttl_s = STORE_RECEIPT_TTL_S};
    for (uint32_t i = 1; i < revision; i++)
        changes[count++] = (Change){
            .column = policy_revision_column(i, arena), .value = SLICE_EMPTY, .is_delete = true};
    Condition condition = {.column = ANSWER, .value = row->value};
    return update(policies, policy,
                  &(Update){.conditions = &condition,
                            .condition_count = 1,
                            .changes = changes,
                            .change_count = count,
                            .proof = receipt},
                  arena);
}

Status answers_obliterate(Policies *policies, uint64_t policy)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Status status = STATUS_CONFLICT;
    for (int i = 0; i < POLICIES_TRIES && status == STATUS_CONFLICT; i++) {
        AnswerRow row;
        TRY(read_row(policies, policy, STORE_SERIAL, arena, &row));
        if (!row.state.is_answered)
            return STATUS_OK;
        status = remove_answer(policies, policy, &row, arena);
    }
    return status;
}
