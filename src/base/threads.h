/* threads.h -- every thread that the process keeps, in one table.
 *
 *     mail->thread = thread_start(THREAD_MAIL, work, mail);
 *     …
 *     pthread_join(mail->thread, NULL);
 * A row has the name that `top -H` and gdb show, what the thread waits for, and what ends it; docs/threads.md is printed from it. Nothing
 * else in the product starts a thread (./dev lint).
 *   1. Threads take no signals but those of their own faults: the thread that began the process waits for the rest.
 *   2. What ends a thread is called before the parts that it uses are gone. `serve` starts them from the store upwards and ends them in the
 *      reverse order.
 * A thread that cannot be started is a bug of the limits that the process was given, and aborts. */
#pragma once

#include <pthread.h>

/* clang-format off */
/*    name, as the kernel shows it (at most 15 bytes), where, what it waits for, what ends it */
#define THREAD_LIST(X)                                                                                                                          \
    X(STORE_WRITER, "store-writer", "store/rocksdb/writer.c", "updates to write (condition)", "closing the store, when nothing is queued")     \
    X(STORE_COMMITTER, "store-commit", "store/rocksdb/writer.c", "a group that the writer has decided (condition)", "closing the store")       \
    X(JOURNAL, "journal", "journal/engine.c", "requests, a batch that is written, timers (an eventfd and timerfds)", "`journals_close`")          \
    X(JOURNAL_COMMITTER, "journal-commit", "journal/engine.c", "a batch that was decided (condition)", "`journals_close`")                      \
    X(JOURNAL_COMPACTOR, "journal-compact", "journal/rocksdb_log.c", "RocksDB; ends by itself", "`journals_close` waits for it")                \
    X(BEANSTALK, "beanstalk", "beanstalk/server.c", "its connections, answers of the journals, timers", "`beanstalk_stop`: a flag and a wake-up")      \
    X(BEANSTALK_AUTH, "beanstalk-auth", "beanstalk/auth.c", "tokens to look up (condition)", "`beanstalk_stop`")                                   \
    X(CQL, "cql", "store/cql/client.c", "sockets of the cluster, timers, an eventfd", "closing the store: a flag and the eventfd")              \
    X(CQL_LOOKUP, "cql-lookup", "store/cql/seeds.c", "names of the cluster's hosts; ends by itself", "closing the store waits for it")           \
    X(PROJECTOR, "projector", "app/app.c", "saves to carry to the counts (condition)", "`votes_projection_end_await`")                          \
    X(INSTANCE_SYNC, "instance-sync", "app/instance_sync.c", "a quarter of a second between looks", "a flag")                                 \
    X(TASKS, "tasks", "tasks/tasks.c", "the next piece in its journal, a heartbeat (an eventfd)", "`tasks_stop`: a flag between pieces, and the eventfd") \
    X(MAIL, "mail", "mail/worker.c", "the next e-mail in its journal (an eventfd)", "`mail_stop`: a flag, which also cuts an attempt off, and the eventfd") \
    X(WEB, "web", "web/loop.c", "its connections, an eventfd (`web_threads` of them)", "`loop_stop`: a flag and the eventfd")                   \
    X(WEB_ACCEPTOR, "web-acceptor", "web/listener.c", "new connections, the next deadline, an eventfd", "`web_server_stop`: a flag and the eventfd")          \
    X(WEB_SAVE, "web-save", "web/pool.c", "requests that write (condition)", "`pool_stop`: finishes what it has")                               \
    X(WEB_PASSWORD, "web-password", "web/pool.c", "requests that compute a password (condition)", "`pool_stop`")                                \
    X(WEB_OUTSIDE, "web-outside", "web/pool.c", "requests that ask another site (condition)", "`pool_stop`")                                    \
    X(WEB_PAGE, "web-page", "web/pool.c", "pages that take long to make (condition)", "`pool_stop`")                                            \
    X(WEB_EVENTS, "web-events", "web/events.c", "sockets of watchers, timers, an eventfd", "`events_stop`: a flag and the eventfd")              \
    X(REFRESHER, "refresher", "site/site.c", "a fifth of a second between looks", "`site_stop`: a flag")                                        \
    X(CONTROL, "control", "cli/control.c", "commands at `control.sock`, a pipe", "`control_stop`: the pipe")                                    \
    X(JOURNAL_BENCH, "journal-bench", "cli/journal_bench.c", "answers of the server that it measures", "ends by itself: `journal bench` waits for it") \
    X(CONTROL_CLIENT, "control-client", "cli/control.c", "one command each; ends with it", "`control_stop` waits for it")
/* clang-format on */

typedef enum ThreadKind {
#define X(name, word, where, waits_for, ends_by) THREAD_##name,
    THREAD_LIST(X)
#undef X
        THREAD_KINDS
} ThreadKind;

typedef struct ThreadRow {
    const char *name, *where, *waits_for, *ends_by;
} ThreadRow;

/* One for each kind. */
extern const ThreadRow THREADS[THREAD_KINDS];

pthread_t thread_start(ThreadKind kind, void *(*run)(void *self), void *self);
