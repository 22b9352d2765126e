/* book.h -- what a group of journals knows: every entry, and the indexes over them. One thread owns it.
 *
 *   book.c       entries and their indexes
 *   book_journals.c  journals and rules
 *   book_body.c  keys and data
 *   book_flush.c what has changed, for the log
 *   book_put.c   putting, merging, requeueing
 *   book_claim.c claiming
 *   book_work.c  ending, lapsing, failing, removing, kicking, pausing
 *   book_time.c  what the clocks bring about: leases, expiry, pauses, steps
 *   book_load.c  rebuilding it from a log
 *   book_read.c  what is shown to people
 *   book_check.c every index against the entries, for tests
 * A call changes memory at once and remembers what changed; book_flush turns that into changes for the log. An entry that was made
 * and done between two flushes never gets there. When the log fails, memory is ahead of it: the book is cleared and loaded again. */
#pragma once

#include "journal/heap.h"
#include "journal/ids.h"
#include "journal/journal.h"
#include "journal/order.h"
#include "journal/stored.h"
#include "journal/table.h"

typedef struct Journal Journal;
typedef struct Entry Entry;
typedef struct Book Book;

/* Some rules, of a journal, that entries were made under; the journal's own are `journal->rules`. */
typedef struct RuleSet {
    struct RuleSet *next; /* of the same journal */
    Journal *journal;
    JournalRules rules;
    uint64_t entries;
    uint32_t number;
    bool dirty;
} RuleSet;

/* An entry's key and data, as they are stored. */
typedef struct Body {
    struct Body *older, *newer; /* in the book's list of those in memory */
    Entry *entry;               /* NULL: it is gone, or has another one */
    uint32_t refs, size;
    char bytes[];
} Body;

/* What an entry has once it has been claimed, or failed. */
typedef struct Run {
    Entry *entry;
    Entry *held; /* the successor */
    JournalOwner *owner;
    char *error;
    JournalToken token;
    int64_t start_ms;
    int64_t begun_ms;    /* that by the clock that cannot be set; 0: before it was loaded */
    int64_t retry_ms;    /* W: not before; F: when it failed */
    int64_t released_ms; /* in memory only; 0: not, or forgotten */
    int64_t deadline_ms; /* of the clock that cannot be set */
    uint32_t lease_ms, claimed_version, timeouts_ever, reserves, releases, buries, kicks;
    uint32_t lease_at, owner_at; /* places in heaps */
    uint16_t error_size;
} Run;

enum {
    ENTRY_DIRTY = 1,      /* in the list of those to be flushed */
    ENTRY_STORED = 2,     /* the log has it */
    ENTRY_BODY_DIRTY = 4, /* but not this body */
    ENTRY_HIDDEN =
        8, /* expired, but the clock has just leapt: not to be handed out, not to be deleted */
    ENTRY_GIVEN_UP = 16,
    ENTRY_GONE = 32,
};

/* 112 bytes: there may be millions. */
struct Entry {
    uint64_t id;
    uint64_t hash[2];
    int64_t insertion_ms, expiration_ms, wanted_ms, update_ms;
    RuleSet *rules;
    Body *body; /* NULL: only in the log */
    Run *run;   /* NULL: never claimed */
    uint32_t priority, lease_ms, key_size, data_size, version;
    uint32_t place;     /* W: in the order, or among the hidden; F: in the dead list */
    uint32_t expiry_at; /* in the heap of expiry */
    uint8_t state, timeouts, slot, flags;
};

typedef enum StateIndex { INDEX_W, INDEX_P, INDEX_H, INDEX_F, INDEX_COUNT } StateIndex;

struct Journal {
    char *name;
    size_t name_size;
    RuleSet *rules; /* the declared ones; the head of the list of all */
    Order order;
    Heap dead;
    uint64_t counts[INDEX_COUNT];
    uint64_t bytes;
    uint64_t counters[JOURNAL_COUNTERS];
    Histogram wait, run;
    int64_t paused_until_ms; /* of the clock that cannot be set; 0: not paused */
    uint32_t pause_at, wake_at;
    bool on_use, declared;
    bool meta_dirty, touched, stored, forgotten;
    /* waits.c */
    int64_t wake_ms;
    struct WaitLink *first_wait, *last_wait;
    size_t waits;
    struct Listening *listenings;
};

typedef struct Now {
    int64_t wall_ms, boot_ms;
} Now;

/* Copies of an entry that an older generation still has. */
typedef struct Leftover {
    uint64_t id;
    uint8_t slot;
} Leftover;

typedef struct Pointers {
    void **items;
    size_t count, capacity;
} Pointers;

struct Book {
    World world;
    JournalLog *log;
    const JournalDeclaration *declaration;
    Slice group;
    size_t index; /* of the group */
    Now now;

    Ids ids;
    Table keys, tokens, names;
    Heap expiry, leases, pauses, hidden;
    JournalStart start;
    uint64_t next_token, next_id, end_id;
    uint32_t next_rules;
    uint64_t slot_entries[JOURNAL_SLOTS], slot_bytes[JOURNAL_SLOTS];

    Pointers dirty;   /* entries */
    Pointers touched; /* journals that something has happened to */
    Pointers changed; /* journals whose M or R is to be written */
    Leftover *leftovers;
    size_t leftover_count, leftover_capacity;
    Pointers alerts; /* of JournalAlert, each from malloc with its texts behind it */
    bool must_sync;  /* what has happened since the last flush must be synced */
    bool again;      /* a bound was reached: there is more to do at once */
    unsigned removed_this_turn;

    Body *oldest, *newest; /* in memory */
    size_t body_bytes, cache_bytes;

    int64_t offset_ms; /* wall - boot, as last seen */
    int64_t
        hold_until_ms; /* of the clock that cannot be set: nothing expired is deleted before; 0: no hold */
    uint64_t clock_steps;
    uint64_t counters[JOURNAL_COUNTERS]; /* of all journals, since it was opened */
};

enum {
    BOOK_TURN_MAX = 256, /* expired entries deleted in a turn, or moved between generations */
    BOOK_LAPSES_MAX = 4096,
    BOOK_HOLD_MS = 60 * 1000,
    BOOK_STEP_MS = 500, /* less is called drift */
    BOOK_JOURNALS_MAX = 100000,
};

struct JournalOwner {
    Journals *journals;
    Heap runs[DECLARATION_GROUPS_MAX]; /* by deadline; each belongs to the thread of its group */
};

extern const OrderKind ENTRY_ORDER;
extern const HeapKind ENTRY_EXPIRY, ENTRY_DEAD, RUN_LEASE, RUN_OWNER, JOURNAL_PAUSE;

/* ---- book.c ---- */
void book_init(Book *book, World world, JournalLog *log, Slice group, size_t index);
/* Forgets all entries, and what was to be flushed; keeps the journals. */
void book_clear(Book *book);
void book_free(Book *book);
/* ---- book_journals.c ---- */
uint64_t book_hash_text(Slice text);
uint64_t book_hash_of_name(const void *journal);
/* Its entries keep their rules; names that are no longer declared can still be emptied by id and token. */
MUST_USE Status book_declare(Book *book, const JournalDeclaration *declaration, Reason *reason);
/* NOT_FOUND unless it is declared; or on_use, and names may appear on use. */
MUST_USE Status book_journal(Book *book, Slice name, bool on_use, Journal **ret_journal,
                             Reason *reason);
Journal *book_find_journal(const Book *book, Slice name);
Journal *book_make_journal(Book *book, Slice name, bool on_use);
RuleSet *book_add_rules(Journal *journal, const JournalRules *rules, uint32_t number);
void book_forget_journal(Book *book, Journal *journal);
void book_touch(Book *book, Journal *journal);
void book_count(Book *book, Journal *journal, JournalCounter counter);
/* Its M or R is to be written. */
void book_meta_changed(Book *book, Journal *journal);

Entry *book_find(const Book *book, uint64_t id);
/* The W or P with this key, in journals that merge. */
MUST_USE Status book_find_key(Book *book, const Journal *journal, const uint64_t hash[2], Slice key,
                              Entry **ret_entry, Reason *reason);
void book_hash(const Book *book, const Journal *journal, Slice key, uint64_t ret_hash[2]);
Run *book_run(Entry *entry);
/* Into the indexes by its state, and out of them before anything that they are sorted by changes. */
void book_index(Book *book, Entry *entry);
void book_unindex(Book *book, Entry *entry);
void book_enter(Book *book, Entry *entry, JournalState state); /* a new one */
void book_state(Book *book, Entry *entry, JournalState state);
void book_dirty(Book *book, Entry *entry);
/* It is no more. Its successor must have been seen to. */
void book_gone(Book *book, Entry *entry, JournalCounter counter);
/* The owner of a run, when it ends. */
void book_disown(Book *book, Run *run);

/* The key and data, from memory or from the log; views that live until the next call. */
MUST_USE Status book_body(Book *book, Entry *entry, Slice *ret_key, Slice *ret_data,
                          Reason *reason);
void book_set_body(Book *book, Entry *entry, Slice key, Slice data);
void book_release_body(Body *body);
void book_forget_body(Book *book, Entry *entry);
/* Its bytes count, or do not any more. */
void book_weigh(Book *book, const Entry *entry, bool add);
void book_free_journal(Journal *journal);

/* ---- book_flush.c ---- */
/* What has changed, into `changes`; bodies that it points to are kept by references in `bodies`. */
void book_flush(Book *book, Arena *arena, Pointers *bodies, JournalChange **ret_changes,
                size_t *ret_count);
/* All M and R, for a new generation. */
void book_meta(const Book *book, Arena *arena, JournalChange **ret_changes, size_t *ret_count);
/* Moves up to BOOK_TURN_MAX entries of a generation into the newest. */
MUST_USE Status book_move(Book *book, uint8_t slot, Reason *reason);

/* An older generation has a copy of this id. */
void book_forget_copy(Book *book, uint64_t id, uint8_t slot);

void pointers_add(Pointers *pointers, void *item);
void pointers_free(Pointers *pointers);

static inline Journal *journal_of(const Entry *entry)
{
    return entry->rules->journal;
}
static inline Slice journal_name(const Journal *journal)
{
    return slice_of(journal->name, journal->name_size);
}
static inline bool entry_is(const Entry *entry, JournalState state)
{
    return entry->state == (uint8_t)state;
}
static inline bool entry_has_key(const Entry *entry)
{
    return entry->key_size > 0 && entry->rules->rules.merge;
}
static inline bool entry_expired(const Book *book, const Entry *entry)
{
    return journal_expired(entry->expiration_ms, book->now.wall_ms);
}
static inline int64_t entry_process_ms(const Entry *entry)
{
    int64_t retry_ms =
        entry->run == NULL || entry_is(entry, JOURNAL_FAILED) ? 0 : entry->run->retry_ms;
    return journal_process_ms(&entry->rules->rules, entry->insertion_ms, entry->wanted_ms,
                              retry_ms);
}
/* When it leaves by itself; JOURNAL_NEVER. */
int64_t entry_leaves_ms(const Entry *entry);

/* ---- book_put.c ---- */
void book_put(Book *book, const JournalPut *put, JournalAnswer *ret_answer, Reason *reason);
/* A live key for an entry that has none in the indexes: it becomes W, or H beside a P, or merges into what is there. */
MUST_USE Status book_place(Book *book, Entry *entry, Reason *reason);
/* `from` goes, `into` is both. The counter of `into` stays. */
MUST_USE Status book_absorb(Book *book, Entry *into, Entry *from, Reason *reason);

/* ---- book_claim.c ---- */
/* Up to claim->count entries of these journals. `ret_sync`: the answer must wait for the sync. */
MUST_USE Status book_claim(Book *book, Journal *const *journals, const JournalClaim *claim,
                           Arena *arena, JournalClaims *claims, bool *ret_sync, Reason *reason);
MUST_USE Status book_claim_id(Book *book, uint64_t id, JournalOwner *owner, Arena *arena,
                              JournalClaimed *ret_claimed, bool *ret_sync, Reason *reason);
/* An expired W: removed, or hidden while the clock is in doubt. False: enough were removed in this turn. */
bool book_set_aside(Book *book, Entry *entry);
int64_t book_next_ms(const Book *book, Journal *const *journals, size_t count, uint32_t most);

/* ---- book_work.c ---- */
/* With an owner, what ends runs names an id that the owner has claimed, and not a token. */
MUST_USE Status book_step(Book *book, JournalCall call, const JournalStep *step,
                          const JournalOwner *owner, Reason *reason);
void book_lapse(Book *book, Entry *entry);
/* To the dead list, or away when the journal keeps none. */
void book_give_up(Book *book, Entry *entry, Slice error, bool alert);
MUST_USE Status book_no_entry(Reason *reason);
void book_expire(Book *book, Entry *entry);
MUST_USE Status book_give_back(Book *book, Entry *entry, bool keep_counter, Reason *reason);
/* `kind`: JOURNAL_FAILED, JOURNAL_WAITING, or 0 for the first of these that there is; on return what was kicked. */
MUST_USE Status book_kick_some(Book *book, Journal *journal, uint64_t most, JournalState *kind,
                               uint64_t *ret_kicked, Reason *reason);
void book_pause(Book *book, Journal *journal, int64_t ms);
void book_owner_ends(Book *book, JournalOwner *owner);

/* ---- book_time.c ---- */
void book_tick(Book *book);
/* When the next tick has something to do: a date, and a moment of the other clock. */
Now book_next_tick(const Book *book);

/* ---- book_load.c ---- */
MUST_USE Status book_load(Book *book, Reason *reason);

/* ---- book_read.c ---- */
MUST_USE Status book_view(Book *book, Entry *entry, bool body, Arena *arena, JournalView *ret_view,
                          Reason *reason);
MUST_USE Status book_get(Book *book, uint64_t id, Arena *arena, JournalView *ret_view,
                         Reason *reason);
MUST_USE Status book_peek(Book *book, Journal *journal, JournalPeek which, Arena *arena,
                          JournalView *ret_view, Reason *reason);
MUST_USE Status book_list(Book *book, const JournalRequest *request, JournalList *ret_list,
                          Reason *reason);
void book_stats(const Book *book, const Journal *journal, JournalStats *ret_stats);
/* The sum over all journals is added; its counters are the book's. */
void book_stats_add(const Book *book, JournalStats *stats);
/* Every index compared with what the entries say. A sentence about the first difference, or NULL. */
const char *book_check(Book *book);
