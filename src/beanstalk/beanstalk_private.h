/* beanstalk_private.h -- the inside of the listener, shared by these files:
 *   protocol.c   lines (pure)
 *   server.c     listening, the loop's thread, starting and stopping
 *   connection.c bytes in and out of a socket, deadlines, memory
 *   session.c    what a connection is doing: line, body, waiting for the journals; the order of answers
 *   commands.c   beanstalkd's words
 *   own_commands.c   ours
 *   listening.c  x-listen
 *   stats.c      the YAML of stats
 *   tubes.c      names that connections use or watch, and who may
 *   auth.c       the thread that looks tokens up
 * All but auth.c's thread and the journals' `finish` and `ring` run in the loop's thread. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <sys/utsname.h>

#include "beanstalk/beanstalk.h"
#include "beanstalk/protocol.h"
#include "journal/table.h"
#include "net/address_counts.h"
#include "net/listen.h"
#include "net/loop.h"

enum {
    READ_AHEAD = 64 * 1024,
    OUT_MAX = 256 * 1024, /* not read: no further command is begun */
    COMMAND_S = 60, /* a line or a body that was begun; a second more for each READ_AHEAD bytes */
    WRITE_S = 60,   /* without a byte that the client took */
    TUBES_MAX = 20000, /* that nobody refers to, kept for their counts */
    CLAIM_BYTES_MAX = 16 * 1024 * 1024,
    GRANTS_S = 60, /* then a token is looked up again */
};

/* A name that a connection uses or watches, or once did. */
typedef struct Tube {
    char *name;
    size_t name_size;
    size_t using, watching, waiting; /* connections */
    uint64_t jobs, deletes, pauses;  /* counted while the name is there */
    uint32_t pause_s;
} Tube;

static inline Slice tube_name(const Tube *tube)
{
    return slice_of(tube->name, tube->name_size);
}

typedef enum TubeRight { RIGHT_PUT, RIGHT_CLAIM } TubeRight;

typedef enum SessionState {
    SESSION_LINE,
    SESSION_BODY,
    SESSION_SKIP_LINE, /* until its end */
    SESSION_SKIP_BODY, /* `skip` bytes, then `late` is the answer */
} SessionState;

typedef struct Session Session;
typedef void SessionStep(Session *session);

typedef struct Connection {
    int fd; /* -1: closed */
    NetWatch watch;
    Timer timer;
    uint32_t events; /* that are watched */
    bool watched;
    bool eof;                        /* the client has sent all that it will */
    bool hangup;                     /* perhaps not all of it was read yet */
    int64_t read_by_us, write_by_us; /* 0: no deadline */
    Buffer in, out;
    size_t in_at, out_at;
    size_t charged;
    bool local, counted;
    Address peer;
} Connection;

struct Session {
    struct BeanstalkServer *server;
    Session *before, *after;
    Connection connection;
    Arena *arena; /* of the command under way */
    SessionState state;
    BeanstalkCommand command;
    uint64_t skip;
    Slice late, line; /* line: waits for auth.c */
    bool quits;       /* no more is read; closed when all is written */
    bool starved;     /* waits for memory */
    bool closing;     /* the socket is closed; freed when nothing is under way */
    bool producer, worker;

    Tube *used;
    Tube **watched;
    size_t watched_count, watched_capacity;
    JournalOwner *owner; /* made by the first reserve */

    /* The request under way, and another that cancels it. */
    JournalRequest request, cancel;
    JournalPut put;
    JournalAnswer answer;
    JournalStep step;
    NetPost finished, cancelled;
    SessionStep *then; /* when it is answered; NULL: nothing is under way */
    unsigned under_way;
    bool waits; /* in a claim that counts as waiting */
    bool cancelling;
    bool may_all; /* claim from every journal, by the declaration `judged` */
    uint64_t judged;
    uint64_t kicked; /* by the rounds before this one */
    JournalStats stats;

    JournalListener *listener;
    NetPost rung, ring_answered;
    JournalRequest ring_request;
    char rung_name[JOURNAL_NAME_MAX];
    size_t rung_size;
    _Atomic bool is_rung; /* from the ring until its line is written */

    void *grants; /* of the token; NULL: none */
    char secret[BEANSTALK_SECRET_MAX];
    size_t secret_size;
    int64_t granted_us;
    struct AuthRequest {
        struct AuthRequest *next;
        NetPost done;
        Slice secret;
        bool again;
        Status status;
        void *grants; /* what was found */
    } auth;
};

struct BeanstalkServer {
    BeanstalkOptions options;
    Journals *journals;
    NetLoop loop;
    pthread_t thread;
    bool serving; /* its threads run */
    _Atomic bool stopping, draining;
    struct Listener {
        NetListener net;
        BeanstalkServer *server;
        int fd;
        bool is_unix, given;
    } listeners[BEANSTALK_LISTENERS_MAX];
    size_t listener_count;
    uint16_t port;

    Session *sessions;
    size_t session_count;
    AddressCounts *addresses;
    int64_t memory; /* that is charged to connections */
    NetPost feed;   /* there is memory again */
    bool feeding;
    size_t starved; /* sessions that wait for it */

    Table tubes;
    size_t referred; /* of these, by connections */
    Arena *declaration_arena;
    const JournalDeclaration *declaration;
    uint64_t declarations;

    /* Counts since the start. */
    uint64_t words[BEANSTALK_WORDS], connections;
    size_t producers, workers, waiting;
    int64_t started_us;
    char id[17];
    struct utsname machine;

    struct Auth *auth;
};

/* server.c */
void server_forget(Session *session);
int64_t server_now_ms(const BeanstalkServer *server);

/* connection.c */
/* From now on the socket is the connection's. False: the kernel has no room. */
MUST_USE bool connection_open(Session *session, int fd);
void connection_close(Session *session);
/* The input that has not been used. Its bytes stay where they are until the next read. */
Slice connection_input(const Session *session);
void connection_used(Session *session, size_t size);
/* Reads what has come, until there are `wanted` bytes of input, or as many as are read ahead. False: nothing has, or there are. */
bool connection_read(Session *session, size_t wanted);
/* There is too much in memory for another command; or there is not any more. */
void connection_starve(Session *session, bool starved);
size_t connection_unsent(const Session *session);
/* Sends what it can, watches for what is wanted now, sets the deadline. Ends the session when all is said, or nobody is there: false,
 * and it may be freed. */
bool connection_settle(Session *session);

/* session.c */
/* Lets what is under way finish, and ends. */
void session_stop(Session *session);
Session *session_new(BeanstalkServer *server);
/* Goes on with what has come in, then settles. */
void session_run(Session *session);
/* Whether it takes input now. */
bool session_reads(const Session *session);
/* Bytes of the line or body that is not complete; 0: none was begun. */
uint64_t session_announced(const Session *session);
/* Ends what is under way, gives back, frees: at once, or when the journals have answered. */
void session_end(Session *session);
/* When it is ending, and something else that it waited for is over. */
void session_freed_if_idle(Session *session);
/* A claim that waits is answered now. */
void session_cancel(Session *session);
/* session->line is the command that begins. */
SessionStep session_begin_line;
/* Hands session->request in; `then` runs when it is answered. */
void session_submit(Session *session, SessionStep *then);
/* What was under way is over. */
void session_go_on(Session *session);
void session_write(Session *session, const char *line);
/* After UNKNOWN the connection is closed. */
void session_write_error(Session *session, Status status, const Reason *reason);
/* The bytes that follow are not used; then `late` is the answer. */
void session_skip(Session *session, uint64_t size, Slice late);

/* commands.c */
/* Begins what session->command says. */
void command_begin(Session *session);
void command_bad_format(Session *session);
/* The body is there; `ends`: with CR LF. */
void command_body(Session *session, Slice body, bool ends);
/* Puts session->put. */
void command_put(Session *session, SessionStep *then);
/* There is no memory for the body. */
void command_no_room(Session *session);
/* It begins or ends to wait for a job. */
void command_waits(Session *session, bool waits);
/* The watched names that it may claim from, in the arena. */
size_t command_watched(Session *session, Slice **ret_names);
/* The key of a put that names none. */
Slice command_key(Session *session, const JournalDeclared *declared, Slice data);

/* own_commands.c */
void own_begin(Session *session);
/* X-ERROR; a body that follows is skipped. */
void own_refuse(Session *session, Status status, const Reason *reason);
void own_body(Session *session, Slice body, bool ends);
SessionStep own_claimed;
/* Nobody is there any more for what x-claim has claimed. */
void own_give_back(Session *session);

/* listening.c */
MUST_USE Status listening_begin(Session *session, const Slice *names, size_t count, Reason *reason);
void listening_end(Session *session);

/* stats.c */
void stats_write(BeanstalkServer *server, const JournalStats *all, size_t tubes, Buffer *to);
void stats_write_tube(const Tube *tube, Slice name, const JournalStats *stats, Buffer *to);
void stats_write_job(const JournalView *view, int64_t now_ms, Buffer *to);
void stats_write_names(const Slice *names, size_t count, Buffer *to);

/* tubes.c */
/* Made when it is not there. */
Tube *tube_get(BeanstalkServer *server, Slice name);
Tube *tube_find(BeanstalkServer *server, Slice name);
static inline bool tube_is_idle(const Tube *tube)
{
    return tube->using + tube->watching == 0;
}
void tube_use(Session *session, Tube *tube);
MUST_USE bool tube_watch(Session *session, Tube *tube);
/* False: it is the last. */
MUST_USE bool tube_ignore(Session *session, Slice name);
void tubes_leave(Session *session);
/* Its counts begin anew. */
void tube_forget_counts(Tube *tube);
void tubes_free(BeanstalkServer *server);

/* What holds for a name by the declaration of this moment: the rules of [tubes] when it is not declared; NULL when there are none. */
const JournalDeclared *tube_declared(BeanstalkServer *server, Slice name);
bool tube_may(Session *session, Slice name, TubeRight right);
/* Whether this connection may claim from every journal that there is, so that an id needs no look at its journal first. */
bool tube_may_all(Session *session);

/* auth.c */
void auth_start(BeanstalkServer *server);
void auth_forget(Session *session);
void auth_stop(BeanstalkServer *server);
/* Looks the command's token up, or the session's own `again`; then `then` runs. */
void auth_submit(Session *session, bool again, SessionStep *then);
/* What the token may has to be asked again before the next command; then the line is begun. */
bool auth_is_old(const Session *session);
