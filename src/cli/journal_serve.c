/* journal_serve.c -- `ostraka journal serve`: journals and their listener without a site, with the flags of beanstalkd. */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/journal_listener.h"

enum { CACHE_BYTES = 64 << 20, SOCKETS_FIRST = 3, JOB_BYTES = 65535 };

/* What holds for tubes without a declaration: as far as may be what beanstalkd does. */
#define TUBES                                                                           \
    "[tubes]\nput = local\nclaim = local\nmax_entries = 100000000\nmax_bytes = 1024G\n" \
    "max_waiters = 1000000\ndead_max = 1000000\ndead_days = 36500\nmax_data = %lld\nsync = %s\n"

typedef struct Flags {
    Slice address, port, directory, user;
    int64_t job_bytes, sync_ms; /* -1: not given */
    bool never_syncs, help, version;
} Flags;

/* ---- Flags ------------------------------------------------------------------------------------------------- */

static Status number_of(Slice value, char flag, int64_t most, int64_t *ret_number, Reason *reason)
{
    uint64_t number;
    if (slice_to_u64(value, &number) != STATUS_OK || number > INT64_MAX)
        return reason_set(reason, STATUS_INVALID, "", "-%c takes a number", flag);
    *ret_number = (int64_t)number > most ? most : (int64_t)number;
    return STATUS_OK;
}

static Status take_value(Flags *flags, char flag, Slice value, Reason *reason)
{
    int64_t ignored;
    switch (flag) {
    case 'b':
        flags->directory = value;
        return STATUS_OK;
    case 'f':
        return number_of(value, flag, INT32_MAX, &flags->sync_ms, reason);
    case 'l':
        flags->address = value;
        return STATUS_OK;
    case 'p':
        flags->port = value;
        return STATUS_OK;
    case 's': /* the size of a file is not ours to choose */
        return number_of(value, flag, INT64_MAX, &ignored, reason);
    case 'u':
        flags->user = value;
        return STATUS_OK;
    default:
        return number_of(value, flag, JOURNAL_DATA_MAX, &flags->job_bytes, reason);
    }
}

/* As getopt reads them: -VV, -p11300, -p 11300. */
static Status read_flags(const Parsed *parsed, Flags *flags, Reason *reason)
{
    *flags = (Flags){.job_bytes = -1, .sync_ms = -1};
    for (size_t i = 0; i < parsed->operand_count; i++) {
        Slice word = parsed->operands[i];
        if (word.size < 2 || word.data[0] != '-')
            return reason_set(reason, STATUS_INVALID, "", "unknown argument: %.*s",
                              SLICE_ARG(word));
        for (word = slice_after(word, 1); word.size > 0; word = slice_after(word, 1)) {
            char flag = word.data[0];
            if (strchr("cnFhvV", flag) != NULL) { /* c, n and V change nothing here */
                flags->never_syncs |= flag == 'F';
                flags->help |= flag == 'h';
                flags->version |= flag == 'v';
                continue;
            }
            if (strchr("bflpsuz", flag) == NULL)
                return reason_set(reason, STATUS_INVALID, "", "unknown option: -%c", flag);
            Slice value = slice_after(word, 1);
            if (value.size == 0 && ++i < parsed->operand_count)
                value = parsed->operands[i];
            if (value.size == 0)
                return reason_set(reason, STATUS_INVALID, "", "-%c takes a value", flag);
            TRY(take_value(flags, flag, value, reason));
            break;
        }
    }
    return STATUS_OK;
}

static void print_help(Context *context)
{
    command_print(
        context,
        "Use: ostraka journal serve [flags]\n"
        "Flags:\n"
        " -b DIR    the directory of the journals (default: journal in the data directory)\n"
        " -f MS     0: whatever ends a job is on disk before it is answered (default);\n"
        "           more: within 200 ms. What is put is on disk in either case\n"
        " -F        answer puts before they are on disk: a power cut may lose 200 ms of them\n"
        " -l ADDR   listen on this address, or unix:PATH (default: 127.0.0.1)\n"
        " -p PORT   listen on this port (default: 11300)\n"
        " -u USER   become this user and its primary group\n"
        " -z BYTES  the most that a job may have (default: %d, at most %d)\n"
        " -v        print the version\n"
        " -h        print this\n"
        " -c -n -s BYTES -V  are taken and change nothing\n"
        "LISTEN_FDS sockets of the system's manager take the place of -l and -p.\n"
        "SIGUSR1: puts are answered DRAINING from then on.\n",
        JOB_BYTES, JOURNAL_DATA_MAX);
}

/* ---- Where ------------------------------------------------------------------------------------------------- */

/* sd_listen_fds(3): sockets that listen already, from descriptor 3 on. */
static size_t given_sockets(int *sockets)
{
    uint64_t pid, count;
    const char *whose = getenv("LISTEN_PID"), *how_many = getenv("LISTEN_FDS");
    if (whose == NULL || how_many == NULL || slice_to_u64(slice_from(whose), &pid) != STATUS_OK ||
        pid != (uint64_t)getpid() || slice_to_u64(slice_from(how_many), &count) != STATUS_OK)
        return 0;
    count = count < BEANSTALK_LISTENERS_MAX ? count : BEANSTALK_LISTENERS_MAX;
    for (size_t i = 0; i < count; i++)
        sockets[i] = SOCKETS_FIRST + (int)i;
    return count;
}

/* "unix:/path", "127.0.0.1:11300", "[::1]:11300". */
static const char *address_of(const Flags *flags, Arena *arena)
{
    Slice host = flags->address.data != NULL ? flags->address : SLICE("127.0.0.1");
    Slice port = flags->port.data != NULL ? flags->port : SLICE("11300");
    bool is_v6 = slice_find(host, ':') < host.size && host.data[0] != '[';
    if (slice_starts_with(host, SLICE("unix:")))
        return arena_text(arena, host);
    return arena_text(arena, arena_print(arena, is_v6 ? "[%.*s]:%.*s" : "%.*s:%.*s",
                                         SLICE_ARG(host), SLICE_ARG(port)));
}

static Status become(Slice name, Arena *arena, Reason *reason)
{
    if (name.data == NULL)
        return STATUS_OK;
    const struct passwd *user = getpwnam(arena_text(arena, name));
    if (user == NULL)
        return reason_set(reason, STATUS_INVALID, "", "-u: there is no user %.*s", SLICE_ARG(name));
    if (setgroups(0, NULL) != 0 || setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0)
        return reason_set(reason, STATUS_DENIED, "", "-u %.*s: %s", SLICE_ARG(name),
                          strerrordesc_np(errno));
    return STATUS_OK;
}

/* ---- Serving ----------------------------------------------------------------------------------------------- */

static Status read_declaration(Context *context, const Flags *flags, Slice *ret_text,
                               Reason *reason)
{
    const char *path = context->config->journal_file;
    if (path[0] == '\0') {
        *ret_text = arena_print(context->arena, TUBES,
                                (long long)(flags->job_bytes < 0 ? JOB_BYTES : flags->job_bytes),
                                flags->sync_ms > 0 || flags->never_syncs ? "puts" : "ends");
        return STATUS_OK;
    }
    if (flags->job_bytes >= 0 || flags->sync_ms >= 0)
        return reason_set(reason, STATUS_INVALID, "",
                          "-z and -f are for tubes without a journal_file: %s says it", path);
    return disk_read(context->world.disk, path, DECLARATION_BYTES_MAX, context->arena, ret_text,
                     reason);
}

typedef struct Serving {
    Journals *journals;
    BeanstalkServer *server;
    const char *directory;
    Config config;
} Serving;

static Status start(Context *context, const Flags *flags, Serving *serving, Reason *reason)
{
    Slice text;
    int sockets[BEANSTALK_LISTENERS_MAX];
    size_t socket_count = given_sockets(sockets);
    Arena *arena = context->arena;
    serving->config = *context->config;
    serving->directory =
        flags->directory.data != NULL
            ? command_path(context, flags->directory)
            : arena_text(arena, arena_print(arena, "%s/journal", context->config->data));
    if (socket_count > 0)
        serving->config.journal_listen = "";
    else if (flags->address.data != NULL || flags->port.data != NULL ||
             serving->config.journal_listen[0] == '\0')
        serving->config.journal_listen = address_of(flags, arena);
    TRY(become(flags->user, arena, reason));
    TRY(read_declaration(context, flags, &text, reason));
    TRY(disk_make_directory(context->world.disk, serving->directory, 0700, reason));
    JournalsOptions options = {.directory = serving->directory,
                               .declaration = text,
                               .declaration_path = context->config->journal_file,
                               .world = context->world,
                               .cache_bytes = CACHE_BYTES,
                               .reopen_s = context->config->reopen_seconds};
    /* Whoever connects while the files are opened waits instead of being refused. */
    TRY(journal_listener_start(&serving->config, NULL,
                               (BeanstalkOptions){.world = context->world,
                                                  .sockets = sockets,
                                                  .socket_count = socket_count,
                                                  .lazy = flags->never_syncs},
                               &serving->server, reason));
    TRY(journals_open(&options, &serving->journals, reason));
    beanstalk_serve(serving->server, serving->journals);
    return STATUS_OK;
}

static void say_where(Context *context, const Flags *flags, const Serving *serving)
{
    const char *listen = serving->config.journal_listen;
    command_print(context, "Journals are at %s", listen[0] == '\0' ? "the sockets given" : listen);
    if (beanstalk_port(serving->server) != 0)
        command_print(context, ", port %u", beanstalk_port(serving->server));
    command_print(context, " (data in %s). Ctrl-C stops it.\n", serving->directory);
    if (flags->never_syncs)
        context->output.write(
            context->output.self, 2,
            SLICE("ostraka: -F: a power cut may lose puts of the last 200 ms that "
                  "were answered INSERTED\n"));
}

/* Blocked in every thread from the start, so that only this wait sees them. */
static void wait_for_stop(BeanstalkServer *server, const sigset_t *signals)
{
    int received;
    while ((received = sigwaitinfo(signals, NULL)) < 0 || received == SIGUSR1)
        if (received == SIGUSR1)
            beanstalk_drain(server);
}

int run_journal_serve(Context *context)
{
    Flags flags;
    Reason reason = {0};
    sigset_t signals;
    Status status = read_flags(&context->parsed, &flags, &reason);
    if (status != STATUS_OK) {
        (void)command_fail(context, status, &reason);
        return EXIT_USAGE;
    }
    if (flags.help || flags.version) {
        if (flags.help)
            print_help(context);
        else
            command_print(context, "beanstalkd %s\n", BEANSTALK_VERSION);
        return EXIT_DONE;
    }
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    Serving serving = {0};
    status = start(context, &flags, &serving, &reason);
    int code = status == STATUS_OK ? EXIT_DONE : command_fail(context, status, &reason);
    if (status == STATUS_OK) {
        say_where(context, &flags, &serving);
        wait_for_stop(serving.server, &signals);
    }
    if (serving.server != NULL)
        beanstalk_stop(serving.server);
    if (serving.journals != NULL)
        journals_close(serving.journals);
    return code;
}
