/* client_private.h -- what the files of the client share. The tour: client.c (opening, handing over, the loop), calls.c (where a call goes and
 * what becomes of it), prepared.c (statements on nodes), hosts.c (nodes and their connections), control.c (who is in the
 * cluster). Below them link.h, which knows connections and nothing of calls.
 *
 * Everything here is done with the client's lock, by the I/O thread or by a caller, but for what says otherwise. Answers are read by
 * the I/O thread only. */
#pragma once

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "store/cql/link.h"
#include "store/cql/peers.h"

enum { HOST_NAME = 256, HOST_WORD = 64, PREPARED_ID_MAX = 64, STATEMENTS_MAX = 4096 };
enum { CONTROL_WORDS = CQL_WORDS + HOST_NAME + ENDPOINT_TEXT };
enum { HOST_BITS = CQL_HOSTS_MAX / 64 };

typedef struct Call Call;
typedef struct Host Host;

struct CqlStatement {
    Slice text;
    size_t index;
};

/* ---- Calls ------------------------------------------------------------------------------------------------- */

typedef struct CallList {
    Call *first, *last;
} CallList;

/* One cql_run: its caller sleeps until the last call is answered. */
typedef struct Run {
    sem_t answered;
    struct Run *next; /* among those that are to be woken */
    size_t left;
    Arena *arena; /* the I/O thread's until it is answered */
} Run;

/* Lives in the caller's arena. */
struct Call {
    Ticket ticket;
    Timer timer; /* the deadline; while it pauses, the end of the pause */
    Call *next, *previous;
    CallList *list; /* where it waits, or NULL */
    CqlClient *client;
    Run *run;
    const CqlCall *asked;
    CqlAnswer *answer; /* its error and words are kept from the last attempt */
    Slice body;        /* of RESULT: read by the caller */
    Host *host;        /* the one it was last sent to, or must go to */
    bool pinned;       /* to that host */
    bool refused;      /* a node says that its statement cannot be */
    uint8_t prepared_again;
    uint8_t pauses; /* so far, as far as they grow */
    int64_t token;
    int64_t deadline_us;
    int64_t patience_us; /* when to give up finding a node that takes it; 0: not needed yet */
    uint64_t tried[HOST_BITS];
};

void call_list_add(CallList *list, Call *call);
void call_list_remove(Call *call);
/* From the caller's hands: gives it a deadline and a first node. */
void call_start(Call *call);
/* Sends it to a node, or lets it wait, or gives it up. False: it waits for room. Unless it waits or is under way, it may be gone. */
bool call_place(Call *call);
/* This node cannot do it, and nothing was changed: on to the next. */
void call_try_next(Call *call, int32_t code, Slice words);
/* Ends it; the call is the caller's again and must not be touched. */
void call_finish(Call *call, Status status, int32_t code, Slice words);
/* Those that wait for room, as far as there is some. */
void calls_place_waiting(CqlClient *client);

/* ---- Hosts ------------------------------------------------------------------------------------------------- */

typedef enum PreparedState { PREPARED_NOT, PREPARED_ASKED, PREPARED_KNOWN } PreparedState;

typedef struct Prepared {
    PreparedState state;
    uint8_t size;
    char id[PREPARED_ID_MAX];
} Prepared;

struct Host {
    CqlClient *client;
    uint16_t index;
    /* Under hosts_lock, for cql_hosts: */
    bool used, listed, up;
    char address[ENDPOINT_TEXT];
    char version[HOST_WORD], data_center[HOST_WORD], rack[HOST_WORD];

    char id[PEERS_ID];
    Endpoint endpoint;
    char name[HOST_NAME]; /* for its certificate */
    Link **links;         /* client->connections seats */
    Timer retry;
    unsigned failures;  /* rounds of connecting since one stood */
    bool settled;       /* a first round of connecting is over */
    int64_t leaving_us; /* until then others are asked first: it goes, or has too much to do */
    Prepared *prepared; /* by the index of the statement */
    size_t prepared_count;
    CallList unprepared; /* calls that wait for a statement */
};

/* What the cluster's tables list now: adds, changes and removes hosts. */
void hosts_update(CqlClient *client, const Peer *peers, size_t count);
/* Connects where a connection is missing, now. */
void host_connect_soon(Host *host);
/* The host at an address, or NULL. */
Host *host_at(CqlClient *client, const Endpoint *endpoint);
bool host_is_usable(const Host *host);
/* The least busy connection that has room, or NULL. */
Link *host_link(const Host *host);
/* Ends its connections and frees it. */
void host_remove(Host *host);
/* 0, 1, 2 … failures: a pause that grows to some seconds, and is spread at random. */
int64_t host_pause_us(CqlClient *client, unsigned failures);

/* Whether all statements of the call are known on its host; otherwise they are asked for on the link, and the call waits. */
bool prepared_all(Call *call, Link *link);
Slice prepared_id(const Host *host, const CqlStatement *statement);
/* The node does not know an id any more. */
void prepared_forget(Host *host, Slice id);
void prepared_free(Host *host);

/* ---- Control ----------------------------------------------------------------------------------------------- */

enum { CONTROL_QUERY_LOCAL, CONTROL_QUERY_PEERS, CONTROL_QUERY_KEYSPACE, CONTROL_QUERY_COUNT };

typedef struct ControlQuery {
    Ticket ticket;
    struct Control *control;
    Slice body;
} ControlQuery;

/* A contact that was looked up. */
typedef struct Seed {
    Endpoint endpoint;
    char name[HOST_NAME];
} Seed;

typedef struct Control {
    CqlClient *client;
    Link *link;
    Endpoint endpoint; /* of the link */
    char name[HOST_NAME];
    size_t attempt; /* candidates tried since a connection stood */
    unsigned rounds;
    Timer retry, refresh;
    Ticket registration;
    ControlQuery asks[CONTROL_QUERY_COUNT];
    unsigned asked; /* answers that are missing */
    bool ask_again; /* something changed meanwhile */
    bool old_peers; /* there is no system.peers_v2 */
    Arena *arena;   /* of one refresh */
    Status worst;   /* of this round, for cql_open */
    char words[CONTROL_WORDS];
} Control;

void cql_control_start(CqlClient *client);
void cql_control_end(CqlClient *client);

/* ---- Seeds ------------------------------------------------------------------------------------------------- */

/* Looks the contacts up, by the thread that opens. UNAVAILABLE: none has an address. */
MUST_USE Status seeds_find(CqlClient *client, const CqlOptions *options, Reason *reason);
/* Looks them up again without waiting: what was found by the last time is taken, and a new look-up begun. */
void seeds_find_again(CqlClient *client);
void seeds_free(CqlClient *client);

/* ---- The client -------------------------------------------------------------------------------------------- */

/* X(name, help): counted by any thread. */
#define CQL_COUNTERS(X)                                                        \
    X(requests, "requests sent to nodes")                                      \
    X(conditional, "conditional writes among them")                            \
    X(repeated, "requests sent again to another node, since nothing was done") \
    X(prepared, "statements prepared on a node")                               \
    X(unprepared, "statements that a node had forgotten")                      \
    X(unknown, "writes whose outcome is unknown")                              \
    X(unavailable, "calls that no node could do")                              \
    X(connects, "connections begun")                                           \
    X(silences, "connections that fell silent")                                \
    X(refreshes, "times that the ring was read")

typedef struct CqlCounters {
#define X(name, help) _Atomic uint64_t name;
    CQL_COUNTERS(X)
#undef X
} CqlCounters;

static inline void cql_count(_Atomic uint64_t *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

struct CqlClient {
    pthread_mutex_t
        lock; /* for all but what is set when it opens, and what has a lock of its own */
    World world;
    char *keyspace; /* NULL: none */
    char *user, *password;
    Tls *tls;
    uint16_t port; /* where a table does not say */
    size_t connections;
    int64_t request_us;
    CqlContact *contacts; /* copies */
    size_t contact_count;
    Seed *seeds;
    size_t seed_count;
    struct Lookup *lookup; /* that is under way, or NULL */

    Loop loop;
    LinkSettings links;
    Control control;
    Host *hosts[CQL_HOSTS_MAX]; /* NULL: free */
    size_t host_count;          /* places in use, and free ones between them */
    Ring *ring;
    CallList waiting; /* for room on any link */
    Run *answered;    /* callers to be woken when the lock is free: they will want it */
    bool room;        /* some may have become free */
    unsigned turn;
    size_t active; /* calls that are not answered */
    CqlCounters counters;
    _Atomic int64_t in_flight; /* the same as active, for metrics */

    pthread_mutex_t hosts_lock;

    /* Handing over: */
    pthread_t thread;
    int64_t sleep_until_us;     /* the I/O thread, at the latest */
    pthread_mutex_t queue_lock; /* for the next two lines */
    CallList queue;
    bool asleep, closing;
    _Atomic int callers; /* in cql_run */

    /* Opening: */
    sem_t opened;
    bool is_opened; /* told */
    Status open_status;
    char open_words[CONTROL_WORDS]; /* why not */
    Timer settle;

    pthread_mutex_t statements_lock;
    CqlStatement *statements[STATEMENTS_MAX];
    size_t statement_count;
};

/* Tells cql_open how it went; later calls do nothing. */
void client_opened(CqlClient *client, Status status);
/* Tells it so once every host had its first try. */
void client_check_settled(CqlClient *client);
