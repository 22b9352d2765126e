/* book_journals.c -- the journals of a book, and the rules that their entries are made under. */
#include <stdlib.h>

#include "journal/book.h"

/* Names are few and were declared by the operator, or are bounded in number. */
uint64_t book_hash_text(Slice text)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < text.size; i++)
        hash = (hash ^ (unsigned char)text.data[i]) * UINT64_C(1099511628211);
    return table_mix(hash);
}

uint64_t book_hash_of_name(const void *item)
{
    return book_hash_text(journal_name(item));
}

Journal *book_find_journal(const Book *book, Slice name)
{
    Journal *journal;
    for (size_t at = 0; (journal = table_next(&book->names, book_hash_text(name), &at)) != NULL;)
        if (slice_equal(journal_name(journal), name))
            return journal;
    return NULL;
}

Journal *book_make_journal(Book *book, Slice name, bool on_use)
{
    Journal *journal = calloc(1, sizeof *journal);
    CHECK(journal != NULL);
    journal->name = malloc(name.size);
    CHECK(journal->name != NULL);
    memcpy(journal->name, name.data, name.size);
    journal->name_size = name.size;
    journal->on_use = on_use;
    journal->wake_ms = JOURNAL_NEVER;
    journal->order.shape = random_u64(book->world.random);
    table_add(&book->names, journal);
    return journal;
}

RuleSet *book_add_rules(Journal *journal, const JournalRules *rules, uint32_t number)
{
    RuleSet *set = calloc(1, sizeof *set);
    CHECK(set != NULL);
    *set = (RuleSet){.journal = journal, .rules = *rules, .number = number, .next = journal->rules};
    journal->rules = set;
    return set;
}

void book_meta_changed(Book *book, Journal *journal)
{
    if (!journal->meta_dirty)
        pointers_add(&book->changed, journal);
    journal->meta_dirty = true;
}

static bool same_rules(const JournalRules *a, const JournalRules *b)
{
    BUFFER_SCOPE Buffer left = {0}, right = {0};
    stored_rules(&left, SLICE("x"), a);
    stored_rules(&right, SLICE("x"), b);
    return slice_equal(buffer_slice(&left), buffer_slice(&right));
}

/* The rules of new entries: those that are there already, moved to the front, or another number. */
static void set_rules(Book *book, Journal *journal, const JournalRules *rules)
{
    for (RuleSet **link = &journal->rules; *link != NULL; link = &(*link)->next) {
        RuleSet *set = *link;
        if (!same_rules(&set->rules, rules))
            continue;
        *link = set->next;
        set->next = journal->rules;
        journal->rules = set;
        return;
    }
    book_add_rules(journal, rules, book->next_rules++)->dirty = true;
    book_meta_changed(book, journal);
}

Status book_declare(Book *book, const JournalDeclaration *declaration, Reason *reason)
{
    for (size_t i = 0; i < book->names.capacity; i++) {
        Journal *journal = book->names.slots[i];
        if (journal == NULL)
            continue;
        const JournalDeclared *declared = declaration_find(declaration, journal_name(journal));
        bool lives = journal->counts[INDEX_W] + journal->counts[INDEX_P] +
                         journal->counts[INDEX_H] + journal->counts[INDEX_F] >
                     0;
        if (declared != NULL && lives && !slice_equal(declared->group, book->group))
            return reason_set(
                reason, STATUS_INVALID, "group",
                "the journal %.*s has entries in the group %.*s; it can move when it is "
                "empty",
                SLICE_ARG(declared->name), SLICE_ARG(book->group));
    }
    book->declaration = declaration;
    for (size_t i = 0; i < book->names.capacity; i++) {
        Journal *journal = book->names.slots[i];
        if (journal == NULL)
            continue;
        const JournalDeclared *declared = declaration_find(declaration, journal_name(journal));
        journal->declared = declared != NULL && slice_equal(declared->group, book->group);
        if (journal->declared)
            set_rules(book, journal, &declared->rules);
        else if (journal->on_use && declaration->has_tubes)
            set_rules(book, journal, &declaration->tubes.rules);
    }
    for (size_t i = 0; i < declaration->count; i++) {
        const JournalDeclared *declared = &declaration->journals[i];
        if (!slice_equal(declared->group, book->group) ||
            book_find_journal(book, declared->name) != NULL)
            continue;
        Journal *journal = book_make_journal(book, declared->name, false);
        journal->declared = true;
        set_rules(book, journal, &declared->rules);
    }
    return STATUS_OK;
}

Status book_journal(Book *book, Slice name, bool on_use, Journal **ret_journal, Reason *reason)
{
    Journal *journal = book_find_journal(book, name);
    const JournalDeclaration *declaration = book->declaration;
    bool may = on_use && declaration->has_tubes &&
               slice_equal(declaration->tubes.group, book->group) &&
               declaration_find(declaration, name) == NULL;
    if (journal != NULL && (journal->declared || may)) {
        *ret_journal = journal;
        return STATUS_OK;
    }
    if (!may)
        return reason_set(reason, STATUS_NOT_FOUND, "journal", "there is no journal %.*s",
                          SLICE_ARG(name));
    if (!journal_is_name(name))
        return reason_set(
            reason, STATUS_INVALID, "journal",
            "a name has 1 to 200 of A-Z a-z 0-9 - + / ; . $ _ ( ), and does not begin "
            "with -");
    if (book->names.count >= BOOK_JOURNALS_MAX)
        return reason_set(reason, STATUS_THROTTLED, "journal", "there are %d journals already",
                          BOOK_JOURNALS_MAX);
    journal = book_make_journal(book, name, true);
    set_rules(book, journal, &declaration->tubes.rules);
    book_touch(book, journal);
    *ret_journal = journal;
    return STATUS_OK;
}

void book_touch(Book *book, Journal *journal)
{
    if (!journal->touched)
        pointers_add(&book->touched, journal);
    journal->touched = true;
}

void book_count(Book *book, Journal *journal, JournalCounter counter)
{
    journal->counters[counter]++;
    book->counters[counter]++;
    book_meta_changed(book, journal);
}

/* One that appeared on use, with nothing in it and no one waiting. What the log has of it goes with the next flush. */
void book_forget_journal(Book *book, Journal *journal)
{
    book_meta_changed(book, journal);
    table_remove(&book->names, journal);
    journal->forgotten = true;
}
