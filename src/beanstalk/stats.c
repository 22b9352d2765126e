/* stats.c -- the YAML of stats, stats-tube, stats-job and lists: every key of beanstalkd 1.13, in its order. */
#include <sys/resource.h>
#include <unistd.h>

#include "beanstalk/beanstalk_private.h"

static void put_number(Buffer *to, const char *key, uint64_t number)
{
    buffer_print(to, "%s: %llu\n", key, (unsigned long long)number);
}

static uint64_t delayed(const JournalStats *stats)
{
    return stats->waiting - stats->due + stats->held;
}

/* The order of beanstalkd's keys, which is not that of its words. */
static void put_words(const BeanstalkServer *server, Buffer *to)
{
    static const struct {
        const char *key;
        BeanstalkWord word;
    } KEYS[] = {{"cmd-put", BEANSTALK_PUT},
                {"cmd-peek", BEANSTALK_PEEK},
                {"cmd-peek-ready", BEANSTALK_PEEK_READY},
                {"cmd-peek-delayed", BEANSTALK_PEEK_DELAYED},
                {"cmd-peek-buried", BEANSTALK_PEEK_BURIED},
                {"cmd-reserve", BEANSTALK_RESERVE},
                {"cmd-reserve-with-timeout", BEANSTALK_RESERVE_WITH_TIMEOUT},
                {"cmd-delete", BEANSTALK_DELETE},
                {"cmd-release", BEANSTALK_RELEASE},
                {"cmd-use", BEANSTALK_USE},
                {"cmd-watch", BEANSTALK_WATCH},
                {"cmd-ignore", BEANSTALK_IGNORE},
                {"cmd-bury", BEANSTALK_BURY},
                {"cmd-kick", BEANSTALK_KICK},
                {"cmd-touch", BEANSTALK_TOUCH},
                {"cmd-stats", BEANSTALK_STATS},
                {"cmd-stats-job", BEANSTALK_STATS_JOB},
                {"cmd-stats-tube", BEANSTALK_STATS_TUBE},
                {"cmd-list-tubes", BEANSTALK_LIST_TUBES},
                {"cmd-list-tube-used", BEANSTALK_LIST_TUBE_USED},
                {"cmd-list-tubes-watched", BEANSTALK_LIST_TUBES_WATCHED},
                {"cmd-pause-tube", BEANSTALK_PAUSE_TUBE}};
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++)
        put_number(to, KEYS[i].key, server->words[KEYS[i].word]);
}

static void put_time(Buffer *to, const char *key, struct timeval time)
{
    buffer_print(to, "%s: %lld.%06lld\n", key, (long long)time.tv_sec, (long long)time.tv_usec);
}

void stats_write(BeanstalkServer *server, const JournalStats *all, size_t tubes, Buffer *to)
{
    BUFFER_SCOPE Buffer text = {0};
    struct rusage usage = {0};
    const JournalDeclared *declared = tube_declared(server, SLICE("default"));
    (void)getrusage(RUSAGE_SELF, &usage);
    buffer_text(&text, "---\n");
    put_number(&text, "current-jobs-urgent", all->urgent);
    put_number(&text, "current-jobs-ready", all->due);
    put_number(&text, "current-jobs-reserved", all->processing);
    put_number(&text, "current-jobs-delayed", delayed(all));
    put_number(&text, "current-jobs-buried", all->failed);
    put_words(server, &text);
    put_number(&text, "job-timeouts", all->counters[JOURNAL_COUNT_LAPSED]);
    put_number(&text, "total-jobs", all->counters[JOURNAL_COUNT_CREATED]);
    put_number(&text, "max-job-size", declared == NULL ? 0 : declared->rules.max_data);
    put_number(&text, "current-tubes", tubes);
    put_number(&text, "current-connections", server->session_count);
    put_number(&text, "current-producers", server->producers);
    put_number(&text, "current-workers", server->workers);
    put_number(&text, "current-waiting", server->waiting);
    put_number(&text, "total-connections", server->connections);
    put_number(&text, "pid", (uint64_t)getpid());
    buffer_print(&text, "version: \"%s\"\n", BEANSTALK_VERSION);
    put_time(&text, "rusage-utime", usage.ru_utime);
    put_time(&text, "rusage-stime", usage.ru_stime);
    put_number(&text, "uptime", (uint64_t)((server->loop.now_us - server->started_us) / US_PER_S));
    static const char *const FILES[] = {"binlog-oldest-index", "binlog-current-index",
                                        "binlog-records-migrated", "binlog-records-written",
                                        "binlog-max-size"};
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++)
        put_number(&text, FILES[i], 0);
    buffer_print(&text, "draining: %s\n", atomic_load(&server->draining) ? "true" : "false");
    buffer_print(&text, "id: %s\nhostname: \"%s\"\nos: \"%s\"\nplatform: \"%s\"\n", server->id,
                 server->machine.nodename, server->machine.version, server->machine.machine);
    beanstalk_write_data(to, buffer_slice(&text));
}

void stats_write_tube(const Tube *tube, Slice name, const JournalStats *stats, Buffer *to)
{
    static const Tube NONE;
    BUFFER_SCOPE Buffer text = {0};
    uint64_t left_s = (uint64_t)stats->pause_left_ms / 1000;
    if (tube == NULL)
        tube = &NONE;
    buffer_print(&text, "---\nname: \"%.*s\"\n", SLICE_ARG(name));
    put_number(&text, "current-jobs-urgent", stats->urgent);
    put_number(&text, "current-jobs-ready", stats->due);
    put_number(&text, "current-jobs-reserved", stats->processing);
    put_number(&text, "current-jobs-delayed", delayed(stats));
    put_number(&text, "current-jobs-buried", stats->failed);
    put_number(&text, "total-jobs", tube->jobs);
    put_number(&text, "current-using", tube->using);
    put_number(&text, "current-watching", tube->watching);
    put_number(&text, "current-waiting", tube->waiting);
    put_number(&text, "cmd-delete", tube->deletes);
    put_number(&text, "cmd-pause-tube", tube->pauses);
    put_number(&text, "pause",
               stats->pause_left_ms == 0 ? 0
               : tube->pause_s > left_s  ? tube->pause_s
                                         : left_s);
    put_number(&text, "pause-time-left", left_s);
    beanstalk_write_data(to, buffer_slice(&text));
}

static int64_t not_negative(int64_t number)
{
    return number > 0 ? number : 0;
}

void stats_write_job(const JournalView *view, int64_t now_ms, Buffer *to)
{
    BUFFER_SCOPE Buffer text = {0};
    bool ready = view->state == JOURNAL_WAITING && view->process_ms <= now_ms;
    bool reserved = view->state == JOURNAL_PROCESSING, buried = view->state == JOURNAL_FAILED;
    int64_t since_ms = view->released_ms > 0 ? view->released_ms : view->insertion_ms;
    int64_t left_ms = reserved ? view->left_ms : ready || buried ? 0 : view->process_ms - now_ms;
    buffer_print(&text, "---\nid: %llu\ntube: \"%.*s\"\nstate: %s\n", (unsigned long long)view->id,
                 SLICE_ARG(view->journal),
                 ready      ? "ready"
                 : reserved ? "reserved"
                 : buried   ? "buried"
                            : "delayed");
    put_number(&text, "pri", view->priority);
    put_number(&text, "age", (uint64_t)not_negative(now_ms - view->insertion_ms) / 1000);
    put_number(&text, "delay", (uint64_t)not_negative(view->wanted_ms - since_ms) / 1000);
    put_number(&text, "ttr", (uint64_t)view->lease_ms / 1000);
    put_number(&text, "time-left", (uint64_t)not_negative(left_ms) / 1000);
    put_number(&text, "file", 0);
    put_number(&text, "reserves", view->reserves);
    put_number(&text, "timeouts", view->timeouts_ever);
    put_number(&text, "releases", view->releases);
    put_number(&text, "buries", view->buries);
    put_number(&text, "kicks", view->kicks);
    beanstalk_write_data(to, buffer_slice(&text));
}

void stats_write_names(const Slice *names, size_t count, Buffer *to)
{
    BUFFER_SCOPE Buffer text = {0};
    buffer_text(&text, "---\n");
    for (size_t i = 0; i < count; i++)
        buffer_print(&text, "- %.*s\n", SLICE_ARG(names[i]));
    beanstalk_write_data(to, buffer_slice(&text));
}
