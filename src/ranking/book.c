/* book.c -- records and their counts: see book.h. */
#include <stdlib.h>

#include "ranking/book_inside.h"

Book *book_new(uint32_t window_days, uint32_t today)
{
    Book *book = calloc(1, sizeof *book);
    CHECK(book != NULL && window_days >= 1 && window_days < BOOK_WINDOWS);
    book->users = 1;
    book->window_days = window_days;
    book->today = today;
    book->first_us = INT64_MAX;
    shelves_new(book);
    return book;
}

Book *book_share(Book *book)
{
    book->users++;
    return book;
}

static void record_free(Record *record)
{
    if (record->own != NULL)
        tally_clear(record->own);
    free(record->own);
    tally_clear(&record->sum);
    free(record->steps);
    free(record);
}

void book_free(Book *book)
{
    if (book == NULL || --book->users > 0)
        return;
    for (size_t i = 0; i < book->count; i++)
        record_free(book->records[i]);
    free(book->records);
    map_free(&book->numbers);
    shelves_free(book);
    free(book);
}

/* ---- Records ------------------------------------------------------------------------------------------------------ */

Record *book_find(const Book *book, uint64_t policy)
{
    uint64_t number = map_get(&book->numbers, policy);
    return number == 0 ? NULL : book->records[number - 1];
}

Record *book_record(Book *book, uint64_t policy)
{
    Record *record = book_find(book, policy);
    if (record != NULL)
        return record;
    if (book->count == book->room) {
        book->room = 2 * book->room + 64;
        book->records = realloc(book->records, book->room * sizeof(Record *));
        CHECK(book->records != NULL);
    }
    record = calloc(1, sizeof *record);
    CHECK(record != NULL);
    record->id = policy;
    record->number = book->count;
    book->records[book->count++] = record;
    map_put(&book->numbers, policy, book->count);
    return record;
}

size_t book_count(const Book *book)
{
    return book->count;
}

Record *book_at(const Book *book, size_t number)
{
    CHECK(number < book->count);
    return book->records[number];
}

int64_t book_first_us(const Book *book)
{
    return book->first_us;
}

int64_t book_votes(const Book *book, const Record *record, uint32_t days)
{
    return tally_window(&record->sum, book->today, days);
}

uint32_t book_today(const Book *book)
{
    return book->today;
}

/* ---- Counts ------------------------------------------------------------------------------------------------------- */

static Record *root_of(Record *record)
{
    while (record->target != NULL)
        record = record->target;
    return record;
}

/* Adds to the sums of a record and of all that it leads to, and moves the root in its trees. */
static void add_upwards(Book *book, Record *record, const Tally *change, int sign)
{
    Record *root = root_of(record);
    Standing before = shelves_standing(book, root);
    for (Record *at = record; at != NULL; at = at->target)
        tally_add_tally(&at->sum, change, sign);
    Standing after = shelves_standing(book, root);
    shelves_move(book, root->id, &before, &after);
}

static void add_own(Book *book, Record *record, const Tally *change)
{
    if (record->own != NULL)
        tally_add_tally(record->own, change, 1);
    add_upwards(book, record, change, 1);
}

void book_change(Book *book, uint64_t policy, int64_t time_us, int64_t change)
{
    Tally tally = {0};
    tally_change(&tally, time_us, change);
    add_own(book, book_record(book, policy), &tally);
    tally_clear(&tally);
}

void book_add_count(Book *book, uint64_t policy, const Count *part)
{
    Tally tally = {0};
    tally_add(&tally, part, 1);
    add_own(book, book_record(book, policy), &tally);
    tally_clear(&tally);
}

/* By the difference to what is there, so that sums above get the same. */
void book_set_count(Book *book, uint64_t policy, const Count *count)
{
    Record *record = book_record(book, policy);
    Tally difference = {0};
    tally_add(&difference, count, 1);
    tally_add_tally(&difference, record->own != NULL ? record->own : &record->sum, -1);
    add_own(book, record, &difference);
    tally_clear(&difference);
    record->counted = true;
}

/* ---- Merges ------------------------------------------------------------------------------------------------------- */

static void unlink_record(Book *book, Record *record)
{
    Record *target = record->target;
    if (target == NULL)
        return;
    record->target = NULL;
    add_upwards(book, target, &record->sum, -1);
}

/* Whether following `from` leads to `record`: the moves allow no cycle, but what is stored may be damaged. */
static bool leads_to(const Record *from, const Record *record)
{
    for (int i = 0; from != NULL && i < POLICY_MERGE_DEPTH; i++, from = from->target)
        if (from == record)
            return true;
    return from != NULL;
}

static void link_record(Book *book, Record *record, uint64_t target_id)
{
    Record *target = book_record(book, target_id);
    if (leads_to(target, record))
        return;
    if (target->own == NULL) {
        target->own = calloc(1, sizeof *target->own);
        CHECK(target->own != NULL);
        tally_add_tally(target->own, &target->sum, 1);
    }
    add_upwards(book, target, &record->sum, 1);
    record->target = target;
}

/* ---- Facts -------------------------------------------------------------------------------------------------------- */

/* Moves that change nothing that rankings see (pending, merging) are left out. */
static void set_steps(Record *record, const PolicyFacts *facts)
{
    Step last = {0};
    free(record->steps);
    record->steps = calloc(facts->move_count, sizeof *record->steps);
    CHECK(record->steps != NULL);
    record->step_count = 0;
    for (size_t i = 0; i < facts->move_count; i++) {
        const PolicyMove *move = &facts->moves[i];
        Step step = {move->time_us, move->state == POLICY_MERGED ? move->other : 0,
                     policy_state_listed(move->state)};
        if (step.target == last.target && step.listed == last.listed)
            continue;
        record->steps[record->step_count++] = step;
        last = step;
    }
}

static void set_moves(Book *book, Record *record, const PolicyFacts *facts)
{
    const PolicyMove *last = &facts->moves[facts->move_count - 1];
    unlink_record(book, record);
    Standing before = shelves_standing(book, record);
    record->listed = policy_state_listed(last->state);
    Standing after = shelves_standing(book, record);
    shelves_move(book, record->id, &before, &after);
    if (last->state == POLICY_MERGED)
        link_record(book, record, last->other);
    set_steps(record, facts);
    record->move_count = facts->move_count;
    if (facts->moves[0].time_us < book->first_us)
        book->first_us = facts->moves[0].time_us;
}

static void set_groups(Book *book, Record *record, const Policy *policy)
{
    Standing before = shelves_standing(book, record);
    record->category = policy->text.category;
    record->party = policy->text.party;
    record->revision = policy->revision;
    Standing after = shelves_standing(book, record);
    shelves_move(book, record->id, &before, &after);
}

void book_set_policy(Book *book, const Policy *policy)
{
    Record *record = book_record(book, policy->id);
    if (policy->facts.move_count > record->move_count)
        set_moves(book, record, &policy->facts);
    if (policy->revision > record->revision)
        set_groups(book, record, policy);
}

void book_turn(Book *book, uint32_t today)
{
    uint32_t yesterday = book->today;
    for (size_t i = 0; i < book->count && today != yesterday; i++) {
        Record *record = book->records[i];
        if (record->sum.recent == NULL)
            continue;
        book->today = yesterday;
        Standing before = shelves_standing(book, record);
        book->today = today;
        Standing after = shelves_standing(book, record);
        shelves_move(book, record->id, &before, &after);
    }
    book->today = today;
}
