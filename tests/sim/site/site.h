/* site.h -- the workload `votes`: a small site with voters, moderators and background work, on production code.
 *
 * Every client of the simulator is one instance of the program with handles (and caches) of its own. It plays people: tabs
 * that save, forms that are sent twice, moderators, registrations that compete for names; or it is a sweeper. Whatever was
 * told to people, and whatever was seen on the way, is written down here, outside of the store; the checkers compare it with
 * what stands in the end.
 *   workload.c    the table of mistakes and actions, set-up, a client's life
 *   instance.c       handles on the product for a client, or from outside
 *   people.c      voters: tabs, forms, leaving
 *   moderators.c  moves of policies, settings
 *   names.c       registrations, confirmations, other names
 *   sweeps.c      background work, and the bound on its lag
 *   schedule.c    the same by the site's own scheduler, in some of the runs
 *   shown.c       what instances show from memory: by their own saves, by a refresh, by following marks
 *   quick.c       a store that knows which rows nobody ever wrote
 *   watch.c       what is looked at while things happen
 *   facts.c       all that stands in the end
 *   check_*.c     what must hold, one file each */
#pragma once

#include "app/instance_sync.h"
#include "simulator.h"
#include "store/engine.h"
#include "tasks/leaving.h"
#include "tasks/tasks.h"
#include "votes/ledger.h"

enum {
    SITE_PEOPLE_MAX = 24,
    SITE_POLICIES_MAX = 40,
    SITE_TABS = 3,
    SITE_FORMS = 16, /* that may be sent again */
    SITE_WISHES = 3,
    SITE_HOURS_MAX = 4096, /* the clock of a run that tasks keep going jumps far */
    SITE_TOGETHER = 4,     /* saves that are sent by one call */
    SITE_VIEWS = 4,        /* clients of one process */
    SITE_HEADS = 32,
};

/* ---- What was told and seen ------------------------------------------------------------------------------ */

/* A voter's form: every sending of it is a SiteTry. */
typedef struct SiteForm {
    uint64_t voter;
    Id seen, token;
    VoteRequest vote_requests[SITE_WISHES];
    size_t vote_request_count;
    int64_t create_held; /* 0: creates nothing */
    uint32_t number;
} SiteForm;

/* One request to save or to leave. */
typedef struct SiteTry {
    uint64_t voter;
    Id seen, token; /* zero: none */
    int64_t began_us, ended_us;
    bool sent;     /* an entry was on its way: */
    Id version;    /* that one */
    bool answered; /* the client lived to hear */
    Status status; /* what it heard */
    SaveOutcome outcome;
    uint64_t told_seq; /* of "saved" */
    Id told_version;
    int64_t told_balance; /* of "saved" by this very request */
    struct SiteTry *next;
} SiteTry;

/* One request to move a policy. A merge has no id that its caller knows, but an actor of its own. */
typedef struct SiteMove {
    uint64_t policy, actor;
    Id id; /* zero: a merge */
    PolicyState to;
    bool answered;
    Status status;
    struct SiteMove *next;
} SiteMove;

/* What a person saw in a tab. */
typedef struct SiteTab {
    Id version;
    int64_t balance;
    VoteRequest lines[SITE_WISHES]; /* some that hold something */
    size_t line_count;
} SiteTab;

/* An entry as it was first seen. */
typedef struct SiteEntry {
    Id version;
    uint64_t digest; /* of all of it */
} SiteEntry;

/* When a head was first known to be there: told, or seen by a read. */
typedef struct SiteHead {
    int64_t at_us;
    uint64_t seq;
} SiteHead;

/* What a page showed of a voter. */
typedef struct SiteShown {
    uint64_t voter, seq;
    Id version;
    int64_t held; /* of all lines */
    struct SiteShown *next;
} SiteShown;

typedef struct SitePerson {
    uint64_t account;
    bool confirmed, closed; /* told so */
    int64_t saved_us;       /* when it last tried */
    SiteTab tabs[SITE_TABS];
    SiteEntry *entries; /* by seq - 1; a zero version: not seen */
    size_t entry_room;
    uint64_t seen_seq;          /* the highest head that a serial read has seen */
    SiteHead heads[SITE_HEADS]; /* a ring */
    size_t head_count;
} SitePerson;

/* The counts of one bucket at one moment, as everybody sees them. */
typedef struct SitePicture {
    uint8_t bucket;
    uint32_t generation; /* of the derived rows */
    size_t count;
    const uint64_t *policies;
    int64_t *totals, *vers;
    struct SitePicture *next;
} SitePicture;

/* One request to edit a policy's text; its description names it. */
typedef struct SiteEdit {
    uint64_t policy, number;
    bool answered;
    Status status;
    struct SiteEdit *next;
} SiteEdit;

/* The hours of a day that was over, and what told that they may have changed since. */
typedef struct SitePast {
    uint32_t generation, day;
    uint64_t late;     /* digest of the late days up to this one */
    uint64_t hours;    /* digest of the hours */
    size_t hour_count; /* of those that were known */
    struct SitePast *next;
} SitePast;

/* Hashes of rows that were written; see quick.c. */
typedef struct SiteRows {
    uint64_t *hashes; /* 0: free */
    size_t count, room;
} SiteRows;

typedef struct SiteFacts SiteFacts;

typedef struct Site {
    SitePerson people[SITE_PEOPLE_MAX];
    size_t person_count;
    uint64_t policies[SITE_POLICIES_MAX];
    size_t policy_count;
    SiteForm *forms[SITE_FORMS];
    uint32_t form_count;
    SiteTry *tries;
    SiteMove *moves;
    uint64_t move_count;
    SiteEdit *edits;
    uint64_t edit_count;
    SitePicture *pictures;
    SiteShown *showns;
    SitePast *pasts;
    uint32_t hours[SITE_HOURS_MAX]; /* in which marks may have been made */
    size_t hour_count;
    int64_t marked_us; /* when the last one was made */
    uint32_t *weights; /* of the actions, by the seed */
    bool crowd;        /* many voters, and all of them in each meeting */
    bool lone;         /* people save once in a meeting: nothing later repairs what went wrong */
    int64_t meeting_us, *periods_us, cache_s, grace_s, copies_us;
    size_t sweepers, sweepers_wanted;
    bool scheduled;  /* sweepers are schedulers, and instances have rankings */
    SimSolo *solo;   /* the store that nobody shares; NULL: a cluster */
    size_t beside;   /* clients of a process besides its first */
    int64_t turn_us; /* how often a scheduler wakes up */
    SiteRows rows;
    uint64_t storm[2]; /* policies that are about to be merged into each other */
    int64_t storm_us;  /* when */
    uint32_t storm_merges;
    uint32_t registrations;
    SiteFacts *facts;
} Site;

/* ---- instance.c --------------------------------------------------------------------------------------------- */

typedef struct SiteInstance SiteInstance;
typedef struct SiteProcess SiteProcess;

typedef struct Quick {
    Store store;
    StoreEngine engine; /* shared or not, as the real one */
    Store *real;
    SiteInstance *instance;
    SiteInstance *follower; /* looks between each mark and what it announces; NULL: nobody does */
    /* Happens once, when somebody has a voter's row in hand, or is about to change it; reader NULL: nothing does. */
    SiteInstance *reader;
    SitePerson *person; /* whose page it is about */
    bool at_update;
    void (*meanwhile)(SiteInstance *reader);
} Quick;

/* A client's view of an instance of the program, which it may share with other clients: they have the handles in common. */
struct SiteInstance {
    Run *run;
    Site *site;
    SimClient *client; /* NULL: from outside */
    SiteProcess *process;
    Store *store;
    Arena *arena; /* of one piece of work */
    World world;
    Accounts *accounts;
    Policies *policies;
    Votes *votes;
    Ranking *ranking;
    Tasks *tasks;                /* or NULL: nobody asked for them */
    SiteTry *try[SITE_TOGETHER]; /* under way */
    size_t try_count;
    bool marking;                     /* whatever hour the clock says may be that of a mark */
    int64_t shown[SITE_POLICIES_MAX]; /* by the changes of a save: before it */
    uint64_t shown_step;              /* of the process, then */
    Id shown_version;                 /* which save that was */
};

/* What the clients of an instance share. The last one to go frees it. */
struct SiteProcess {
    SiteInstance *views[SITE_VIEWS];
    size_t count;   /* that are open */
    uint64_t steps; /* of saves that the ranking was told */
    Store *own;     /* to be closed; or NULL */
    Changes *changes;
    struct InstanceSync
        *sync; /* of instances with rankings, else NULL; for the first client alone */
    Quick quick;
    SiteInstance first; /* the handles */
};

void site_instance_open(SiteInstance *instance, Run *run, SimClient *client, Store *store,
                        Arena *arena);
/* One more client of the same process. */
void site_instance_join(SiteInstance *instance, SiteProcess *process, SimClient *client,
                        Arena *arena);
void site_instance_close(SiteInstance *instance);
#define SITE_INSTANCE_SCOPE __attribute__((cleanup(site_instance_close)))
Store *quick_open(Quick *quick, SiteInstance *instance, Store *real);
bool site_instance_alive(const SiteInstance *instance);
uint64_t site_instance_draw(SiteInstance *instance, uint64_t below);
/* What no fault can explain is a violation. Returns whether it is OK. */
bool site_instance_heard(SiteInstance *instance, const char *what, Status status);

/* ---- Site ------------------------------------------------------------------------------------------------ */

SitePerson *site_person(Site *site, uint64_t account); /* NULL: not known */
SitePerson *site_add_person(Site *site, uint64_t account);
SitePerson *site_any_person(SiteInstance *instance);
/* Mostly somebody who can vote, and in each meeting others: who rests for some days may be forgotten. */
SitePerson *site_any_voter(SiteInstance *instance);
uint64_t site_any_policy(SiteInstance *instance);
void site_add_policy(Site *site, uint64_t policy);
/* A head that is there from now on, and the highest that was known at a moment. */
void site_note_head(SiteInstance *instance, SitePerson *person, uint64_t seq);
uint64_t site_head_at(const SitePerson *person, int64_t at_us);
/* P3: an entry that was seen before must be the same now. */
void site_saw_entry(Run *run, SitePerson *person, const Entry *entry);

/* ---- Actions: pieces of work ----------------------------------------------------------------------------- */

typedef void SiteAction(SiteInstance *instance);
SiteAction people_look, people_save, people_send_again, people_create, people_leave;
SiteAction people_together, people_page;
SiteAction moderators_add, moderators_move, moderators_merge, moderators_set, moderators_edit;
SiteAction names_register, names_confirm, names_rename;
SiteAction sweeps_waiting, sweeps_recent, sweeps_older, sweeps_slow, sweeps_policies,
    sweeps_accounts, sweeps_left, sweeps_rebuild;
SiteAction watch_counts, watch_history, watch_names, watch_past;
SiteAction watch_refresh, watch_ranking, watch_follow, watch_tasks;
/* A voter's head, and up to where it is projected; 0: never. */
/* What follows the closing entry. */
void sweeps_leave(SiteInstance *instance, uint64_t voter);
uint64_t marks_head(SiteInstance *instance, SitePerson *person, Status *ret_status);
uint64_t marks_projected(SiteInstance *instance, uint32_t generation, uint64_t voter,
                         Status *ret_status);

/* What a save tells the ranking. */
void shown_told(SiteInstance *instance, VoteStep step, const VoteNews *news);
bool shown_refresh(SiteInstance *instance);
/* One look at what others changed. */
void shown_look(SiteInstance *instance);
/* The ranking in memory has of every policy what the store counts; all must be projected. */
void shown_expect_counts(SiteInstance *instance);

void schedule_open(SiteInstance *instance);
SiteAction schedule_turns, schedule_quiet;
/* One task, now; whether it says that nothing was left out. */
bool schedule_run(SiteInstance *instance, const char *name);
/* What the late days and the known hours of a day say now; false when they could not be read. */
bool past_read(SiteInstance *instance, SitePast *past);

/* The exhaustive mode: one save from outside, and then all clients at once on that version. */
SiteAction people_begin_rush, people_rush;
/* Takes part in a storm of merges if one is coming; false otherwise. */
bool moderators_join_storm(SiteInstance *instance);

/* ---- facts.c --------------------------------------------------------------------------------------------- */

typedef struct SiteChain {
    const Account *account;
    LedgerHead head; /* all zero without one */
    Entry *entries;
    size_t count;
    VoteLine *lines; /* as the cells say */
    size_t line_count;
    uint64_t projected;
} SiteChain;

struct SiteFacts {
    SettingsHistory settings;
    Account *accounts;
    size_t account_count;
    SiteChain *chains; /* one an account */
    Policy *policies;
    size_t policy_count;
    PolicyLookup lookup;
};

/* All that stands, read once. NULL when it could not be read, which is a violation. */
const SiteFacts *site_facts(Run *run, Store *store);
const SiteChain *facts_chain(const SiteFacts *facts, uint64_t account);
const Policy *facts_policy(const SiteFacts *facts, uint64_t policy);
/* What a chain's first `count` entries hold on a policy. */
int64_t chain_held(const SiteChain *chain, size_t count, uint64_t policy);

extern const Checker CHECK_FINAL, CHECK_TOLD, CHECK_PAID, CHECK_MONEY, CHECK_PAGES, CHECK_TOTALS,
    CHECK_PICTURES, CHECK_PAST, CHECK_NAMES, CHECK_MOVES, CHECK_TEXTS, CHECK_RUSH, CHECK_CAUGHT_UP,
    CHECK_FOLLOWED, CHECK_COPIES, CHECK_AUDIT;
