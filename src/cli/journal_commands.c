/* journal_commands.c -- `journal run`: a worker made of any command. See journal_commands.h.
 *
 * One thread, one poll: the claim under way (a connection to control.sock that will be answered), the commands' input and stderr, signals, and
 * the next heartbeat. A claim waits for CLAIM_S at most, so that what is handed out to a worker which was killed is little. */
#include "cli/journal_commands.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sodium.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/control.h"
#include "journal/journal.h"

enum {
    JOBS_MAX = 100,
    CLAIM_S = 5,
    ERROR_BYTES = JOURNAL_ERROR_MAX,
    EXIT_TRY_LATER = 75, /* EX_TEMPFAIL */
    BACKOFF_MAX_S = 3600,
    RETRY_MS = 1000, /* after a claim that failed: the server may be starting again */
    FAILURES_MAX = 60,
};

typedef struct Job {
    pid_t pid; /* 0: the slot is free */
    Arena *arena;
    uint64_t id;
    const char *token;
    Slice data;       /* what is not written yet */
    int input, error; /* our ends of its pipes; -1: closed */
    int64_t lease_ms, beat_us;
    bool is_lost, has_failed_beat;
    int status;  /* of waitpid */
    Buffer tail; /* the end of its stderr */
} Job;

typedef struct Runner {
    Context *context;
    const char *journal;
    char **command;
    Job jobs[JOBS_MAX];
    size_t job_count; /* slots in use at most */
    int64_t backoff_s;
    int claim_fd; /* -1: none is under way */
    int64_t claim_at_us;
    int failures, signals, signal_fd;
    bool has_failed;
} Runner;

/* ---- Asking the server ---------------------------------------------------------------------------------------------------------- */

/* What a command printed. */
typedef struct Printed {
    Buffer out, err;
} Printed;

static void keep_output(void *self, int stream, Slice bytes)
{
    Printed *printed = self;
    if (stream == STDOUT_FILENO)
        buffer_bytes(&printed->out, bytes);
    else if (stream == STDERR_FILENO)
        buffer_bytes(&printed->err, bytes);
}

static void complain(Runner *runner, Slice what)
{
    runner->context->output.write(runner->context->output.self, STDERR_FILENO, what);
}

static ControlRequest request_of(Runner *runner, const char *const *words, Slice *slices)
{
    ControlRequest request = {
        .words = slices, .directory = runner->context->directory, .input = SLICE_EMPTY};
    while (words[request.count] != NULL) {
        slices[request.count] = slice_from(words[request.count]);
        request.count++;
    }
    return request;
}

/* The exit code, or -1 where nobody answers. */
static int ask(Runner *runner, const char *const *words, Printed *printed)
{
    Slice slices[16];
    ControlRequest request = request_of(runner, words, slices);
    Reason reason = {0};
    int code = -1;
    Status status = control_call(runner->context->config->data, &request,
                                 (Output){keep_output, printed}, &code, &reason);
    return status == STATUS_OK ? code : -1;
}

static void free_printed(Printed *printed)
{
    buffer_free(&printed->out);
    buffer_free(&printed->err);
}
#define PRINTED_SCOPE __attribute__((cleanup(free_printed)))

/* True: it was done. What was not is said, and left to the lease. */
static bool tell(Runner *runner, const char *const *words)
{
    PRINTED_SCOPE Printed printed = {0};
    int code = ask(runner, words, &printed);
    if (code != EXIT_DONE)
        complain(runner, code < 0 ? SLICE("ostraka: the server does not answer\n")
                                  : buffer_slice(&printed.err));
    return code == EXIT_DONE;
}

static int64_t now_us(const Runner *runner)
{
    return clock_steady_us(runner->context->world.clock);
}

/* ---- Ends ----------------------------------------------------------------------------------------------------------------------- */

/* How often the entry has been run, by the journal's own count, so that it holds over restarts. */
static int64_t runs_of(Runner *runner, const Job *job)
{
    PRINTED_SCOPE Printed printed = {0};
    JSON_SCOPE Json *json = NULL;
    int64_t runs = 1;
    const char *id = arena_print(job->arena, "%llu%c", (unsigned long long)job->id, '\0').data;
    if (ask(runner, (const char *const[]){"journal", "show", id, "--json", NULL}, &printed) ==
            EXIT_DONE &&
        json_parse(buffer_slice(&printed.out), (JsonBounds){SIZE_MAX, 1000}, &json, NULL) ==
            STATUS_OK)
        (void)!json_get_i64(json, "runs", 1, UINT32_MAX, &runs, NULL);
    return runs;
}

static void release(Runner *runner, Job *job, int64_t delay_s)
{
    const char *delay = arena_print(job->arena, "%lld%c", (long long)delay_s, '\0').data;
    (void)!tell(runner,
                (const char *const[]){"journal", "release", job->token, "--delay", delay, NULL});
}

static int64_t backoff_of(Runner *runner, const Job *job)
{
    int64_t delay_s = runner->backoff_s;
    for (int64_t runs = runs_of(runner, job); runs > 1 && delay_s < BACKOFF_MAX_S; runs--)
        delay_s *= 2;
    return delay_s < BACKOFF_MAX_S ? delay_s : BACKOFF_MAX_S;
}

/* As text: other bytes, and what was cut in the middle, become a question mark. */
static const char *error_of(Job *job)
{
    Slice rest = buffer_slice(&job->tail);
    if (rest.size > ERROR_BYTES)
        rest = slice_after(rest, rest.size - ERROR_BYTES);
    char *text = arena_bytes(job->arena, rest.size + 64);
    size_t size = 0;
    while (rest.size > 0) {
        size_t length = slice_utf8_length(rest);
        bool is_control = length == 1 && (unsigned char)rest.data[0] < ' ' && rest.data[0] != '\n';
        if (length == 0 || is_control || rest.data[0] == 0x7F)
            text[size++] = '?';
        else
            for (size_t i = 0; i < length; i++)
                text[size++] = rest.data[i];
        rest = slice_after(rest, length == 0 ? 1 : length);
    }
    text[size] = '\0';
    if (slice_trim(slice_of(text, size)).size > 0)
        return text;
    int status = job->status;
    return arena_print(job->arena, "%s %d%c", WIFSIGNALED(status) ? "ended by signal" : "exit code",
                       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), '\0')
        .data;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void end_job(Runner *runner, Job *job)
{
    bool exited = WIFEXITED(job->status);
    int code = exited ? WEXITSTATUS(job->status) : -1;
    if (job->is_lost)
        complain(runner, SLICE("ostraka: a lease was lost; the entry is somebody else's now\n"));
    else if (code == 0)
        (void)!tell(runner, (const char *const[]){"journal", "done", job->token, NULL});
    else if (code == EXIT_TRY_LATER)
        release(runner, job, backoff_of(runner, job));
    else if (!exited && runner->signals > 1)
        release(runner, job, 0);
    else
        (void)!tell(runner, (const char *const[]){"journal", "fail", job->token, "--error",
                                                  error_of(job), NULL});
    close_fd(&job->input);
    close_fd(&job->error);
    buffer_free(&job->tail);
    arena_free(job->arena);
    *job = (Job){.input = -1, .error = -1};
}

/* ---- Starting ------------------------------------------------------------------------------------------------------------------- */

/* The environment without older names of ours, and with the entry's. */
static char **environment_of(Job *job, Slice key, bool has_key, const char *journal,
                             int64_t priority)
{
    static const char *const OURS[] = {
        "OSTRAKA_JOURNAL=", "OSTRAKA_KEY=", "OSTRAKA_ID=", "OSTRAKA_PRIORITY="};
    size_t count = 0, kept = 0;
    while (environ[count] != NULL)
        count++;
    char **list = ARENA_ARRAY(job->arena, count + 5, char *);
    for (size_t i = 0; i < count; i++) {
        bool is_ours = false;
        for (size_t j = 0; j < sizeof OURS / sizeof *OURS; j++)
            is_ours |= slice_starts_with(slice_from(environ[i]), slice_from(OURS[j]));
        if (!is_ours)
            list[kept++] = environ[i];
    }
    Slice set[] = {arena_print(job->arena, "OSTRAKA_JOURNAL=%s", journal),
                   arena_print(job->arena, "OSTRAKA_ID=%llu", (unsigned long long)job->id),
                   arena_print(job->arena, "OSTRAKA_PRIORITY=%lld", (long long)priority),
                   arena_print(job->arena, "OSTRAKA_KEY=%.*s", SLICE_ARG(key))};
    for (size_t i = 0; i < 3 + (size_t)has_key; i++)
        list[kept++] = arena_bytes(job->arena, set[i].size + 1);
    for (size_t i = 0; i < 3 + (size_t)has_key; i++) {
        char *to = list[kept - 3 - (size_t)has_key + i];
        memcpy(to, set[i].data, set[i].size);
        to[set[i].size] = '\0';
    }
    list[kept] = NULL;
    return list;
}

static bool spawn(Runner *runner, Job *job, char **environment)
{
    int input[2], error[2];
    sigset_t none;
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    CHECK(pipe2(input, O_CLOEXEC) == 0 && pipe2(error, O_CLOEXEC) == 0);
    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, input[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, error[1], STDERR_FILENO);
    posix_spawnattr_init(&attributes);
    sigset_t usual = none;
    sigaddset(&usual, SIGPIPE);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setpgroup(&attributes, 0); /* Ctrl-C is for us */
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                              POSIX_SPAWN_SETPGROUP);
    int failed = posix_spawnp(&job->pid, runner->command[0], &files, &attributes, runner->command,
                              environment);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    close(input[0]);
    close(error[1]);
    job->input = input[1];
    job->error = error[0];
    (void)fcntl(job->input, F_SETFL, O_NONBLOCK);
    (void)fcntl(job->error, F_SETFL, O_NONBLOCK);
    if (failed == 0)
        return true;
    job->pid = 0;
    errno = failed;
    return false;
}

/* Text, or the same as base64. False: neither. */
static bool read_bytes(const Json *entry, const char *name, Arena *arena, Slice *ret_bytes)
{
    Slice text;
    const char *other = arena_print(arena, "%s64%c", name, '\0').data;
    if (json_get_string(entry, name, SIZE_MAX, &text, NULL) == STATUS_OK) {
        *ret_bytes = arena_copy(arena, text);
        return true;
    }
    if (json_get_string(entry, other, SIZE_MAX, &text, NULL) != STATUS_OK)
        return false;
    unsigned char *bytes = (unsigned char *)arena_bytes(arena, text.size + 1);
    size_t size;
    if (sodium_base642bin(bytes, text.size + 1, text.data, text.size, NULL, &size, NULL,
                          sodium_base64_VARIANT_ORIGINAL) != 0)
        return false;
    *ret_bytes = slice_of(bytes, size);
    return true;
}

static void start_job(Runner *runner, Job *job, const Json *entry)
{
    int64_t id = 0, priority = 0;
    Slice token = SLICE_EMPTY, key = SLICE_EMPTY;
    *job = (Job){.input = -1, .error = -1, .arena = arena_new(), .data = SLICE_EMPTY};
    CHECK(json_get_i64(entry, "id", 1, INT64_MAX, &id, NULL) == STATUS_OK &&
          json_get_string(entry, "token", JOURNAL_TOKEN_TEXT, &token, NULL) == STATUS_OK &&
          json_get_i64(entry, "lease_ms", 0, INT64_MAX, &job->lease_ms, NULL) == STATUS_OK &&
          json_get_i64(entry, "priority", 0, UINT32_MAX, &priority, NULL) == STATUS_OK);
    job->id = (uint64_t)id;
    job->token = arena_text(job->arena, token);
    job->beat_us = now_us(runner) + job->lease_ms * US_PER_MS / 3;
    bool has_key = read_bytes(entry, "key", job->arena, &key) && key.size > 0 &&
                   slice_find(key, '\0') == key.size;
    (void)read_bytes(entry, "data", job->arena, &job->data);
    char **environment = environment_of(job, key, has_key, runner->journal, priority);
    if (runner->signals > 0) {
        release(runner, job, 0);
        arena_free(job->arena);
        *job = (Job){.input = -1, .error = -1};
    } else if (!spawn(runner, job, environment)) {
        complain(runner, arena_print(runner->context->arena, "ostraka: %s: %s\n",
                                     runner->command[0], strerror(errno)));
        release(runner, job, 0);
        close_fd(&job->input);
        close_fd(&job->error);
        arena_free(job->arena);
        *job = (Job){.input = -1, .error = -1};
        runner->has_failed = true; /* the next would go the same way */
        runner->signals++;
    }
}

/* ---- Claims --------------------------------------------------------------------------------------------------------------------- */

static size_t free_slots(const Runner *runner)
{
    size_t count = 0;
    for (size_t i = 0; i < runner->job_count; i++)
        count += runner->jobs[i].pid == 0;
    return count;
}

static void claim_failed(Runner *runner, Slice why)
{
    if (runner->failures == 0 || ++runner->failures > FAILURES_MAX)
        complain(runner, why);
    runner->failures += runner->failures == 0;
    runner->claim_at_us = now_us(runner) + RETRY_MS * US_PER_MS;
    if (runner->failures > FAILURES_MAX) {
        runner->has_failed = true;
        runner->signals++;
    }
}

static void begin_claim(Runner *runner)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice slices[16];
    Reason reason = {0};
    size_t slots = free_slots(runner);
    if (runner->claim_fd >= 0 || slots == 0 || runner->signals > 0 ||
        now_us(runner) < runner->claim_at_us)
        return;
    const char *count = arena_print(arena, "%zu%c", slots, '\0').data,
               *wait = arena_print(arena, "%d%c", CLAIM_S, '\0').data;
    ControlRequest request =
        request_of(runner,
                   (const char *const[]){"journal", "claim", runner->journal, "--n", count,
                                         "--wait", wait, "--json", NULL},
                   slices);
    if (control_ask(runner->context->config->data, &request, &runner->claim_fd, &reason) !=
        STATUS_OK) {
        runner->claim_fd = -1;
        claim_failed(runner, arena_print(arena, "ostraka: no server runs on %s: %s\n",
                                         runner->context->config->data, reason.rule));
    }
}

static Job *free_job(Runner *runner)
{
    size_t i = 0;
    while (i < runner->job_count && runner->jobs[i].pid != 0)
        i++;
    CHECK(i < runner->job_count); /* no more were asked for */
    return &runner->jobs[i];
}

static void take_claim(Runner *runner)
{
    PRINTED_SCOPE Printed printed = {0};
    JSON_SCOPE Json *json = NULL;
    const Json *entries = NULL;
    Reason reason = {0};
    int code = EXIT_FAILED;
    Status status = control_take(runner->claim_fd, (Output){keep_output, &printed}, &code, &reason);
    runner->claim_fd = -1;
    if (status != STATUS_OK || code != EXIT_DONE ||
        json_parse(buffer_slice(&printed.out), (JsonBounds){SIZE_MAX, 100 * JOBS_MAX}, &json,
                   &reason) != STATUS_OK ||
        json_get_array(json, "entries", JOBS_MAX, &entries, &reason) != STATUS_OK) {
        claim_failed(runner, printed.err.size > 0 ? buffer_slice(&printed.err)
                                                  : SLICE("ostraka: the server went away\n"));
        if (code == EXIT_USAGE || (status == STATUS_OK && code == EXIT_FAILED)) {
            runner->has_failed = true; /* no such journal, or no right to it */
            runner->signals++;
        }
        return;
    }
    runner->failures = 0;
    for (size_t i = 0; i < json_count(entries); i++)
        start_job(runner, free_job(runner), json_at(entries, i));
}

/* ---- While commands run --------------------------------------------------------------------------------------------------------- */

static void feed(Job *job)
{
    ssize_t sent = write(job->input, job->data.data, job->data.size);
    if (sent > 0)
        job->data = slice_after(job->data, (size_t)sent);
    if (job->data.size == 0 || (sent < 0 && errno != EAGAIN && errno != EINTR))
        close_fd(&job->input);
}

/* What it says is shown, and its end is kept. */
static void hear(Runner *runner, Job *job)
{
    char bytes[4096];
    ssize_t got = read(job->error, bytes, sizeof bytes);
    if (got > 0) {
        complain(runner, slice_of(bytes, (size_t)got));
        buffer_bytes(&job->tail, slice_of(bytes, (size_t)got));
        if (job->tail.size > 8 * sizeof bytes) {
            BUFFER_SCOPE Buffer end = {0};
            buffer_bytes(&end, slice_after(buffer_slice(&job->tail), job->tail.size - ERROR_BYTES));
            buffer_clear(&job->tail);
            buffer_bytes(&job->tail, buffer_slice(&end));
        }
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        close_fd(&job->error);
    }
}

/* Whether the answer says that the token is of no use any more. Everything else (the server restarts, the journal is read-only) may pass, and
 * says nothing of the lease. */
static bool says_lost(Slice answer)
{
    JSON_SCOPE Json *json = NULL;
    const Json *outcomes;
    Slice outcome;
    return json_parse(answer, (JsonBounds){SIZE_MAX, 100}, &json, NULL) == STATUS_OK &&
           json_get_array(json, "outcomes", 1, &outcomes, NULL) == STATUS_OK &&
           json_count(outcomes) == 1 &&
           json_get_string(json_at(outcomes, 0), "outcome", SIZE_MAX, &outcome, NULL) ==
               STATUS_OK &&
           slice_equal(outcome, SLICE("lost"));
}

/* One that failed is tried again soon, and complained of once. */
static void beat_job(Runner *runner, Job *job)
{
    PRINTED_SCOPE Printed printed = {0};
    const char *const words[] = {"journal", "extend", job->token, "--json", NULL};
    int64_t third_ms = job->lease_ms / 3;
    int code = ask(runner, words, &printed);
    bool failed = code != EXIT_DONE;
    job->is_lost = failed && says_lost(buffer_slice(&printed.out));
    if (job->is_lost)
        kill(-job->pid, SIGTERM);
    else if (failed && !job->has_failed_beat)
        complain(runner, code < 0 ? SLICE("ostraka: the server does not answer\n")
                                  : buffer_slice(&printed.err));
    job->has_failed_beat = failed;
    job->beat_us =
        now_us(runner) + (failed && third_ms > RETRY_MS ? RETRY_MS : third_ms) * US_PER_MS;
}

static void beat(Runner *runner)
{
    for (size_t i = 0; i < runner->job_count; i++) {
        Job *job = &runner->jobs[i];
        if (job->pid != 0 && !job->is_lost && now_us(runner) >= job->beat_us)
            beat_job(runner, job);
    }
}

static void reap(Runner *runner)
{
    for (size_t i = 0; i < runner->job_count; i++) {
        Job *job = &runner->jobs[i];
        if (job->pid == 0 || waitpid(job->pid, &job->status, WNOHANG) != job->pid)
            continue;
        for (int rounds = 0; job->error >= 0 && rounds < 64; rounds++) { /* what is there still */
            struct pollfd there = {job->error, POLLIN, 0};
            if (poll(&there, 1, 0) <= 0)
                break;
            hear(runner, job);
        }
        end_job(runner, job);
    }
}

static void take_signals(Runner *runner)
{
    struct signalfd_siginfo info;
    while (read(runner->signal_fd, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo == SIGCHLD)
            continue;
        runner->signals++;
        for (size_t i = 0; i < runner->job_count && runner->signals > 1; i++)
            if (runner->jobs[i].pid != 0)
                kill(-runner->jobs[i].pid, SIGTERM);
    }
    reap(runner);
}

static int wait_ms(const Runner *runner)
{
    int64_t at_us = INT64_MAX, now = now_us(runner);
    bool claims = runner->claim_fd < 0 && runner->signals == 0 && free_slots(runner) > 0;
    if (claims)
        at_us = runner->claim_at_us;
    for (size_t i = 0; i < runner->job_count; i++)
        if (runner->jobs[i].pid != 0 && !runner->jobs[i].is_lost && runner->jobs[i].beat_us < at_us)
            at_us = runner->jobs[i].beat_us;
    if (at_us == INT64_MAX)
        return -1;
    return at_us <= now ? 0 : (int)((at_us - now) / US_PER_MS) + 1;
}

static void look(Runner *runner)
{
    struct pollfd fds[2 + 2 * JOBS_MAX];
    nfds_t count = 2;
    fds[0] = (struct pollfd){runner->signal_fd, POLLIN, 0};
    fds[1] = (struct pollfd){runner->claim_fd, POLLIN, 0}; /* a negative one is passed over */
    for (size_t i = 0; i < runner->job_count; i++) {
        fds[count++] = (struct pollfd){runner->jobs[i].input, POLLOUT, 0};
        fds[count++] = (struct pollfd){runner->jobs[i].error, POLLIN, 0};
    }
    if (poll(fds, count, wait_ms(runner)) < 0)
        return; /* a signal */
    for (size_t i = 0; i < runner->job_count; i++) {
        if (fds[2 + 2 * i].revents != 0)
            feed(&runner->jobs[i]);
        if (fds[3 + 2 * i].revents != 0)
            hear(runner, &runner->jobs[i]);
    }
    if (fds[0].revents != 0)
        take_signals(runner);
    if (fds[1].revents != 0)
        take_claim(runner);
}

/* ---- The command ---------------------------------------------------------------------------------------------------------------- */

static Status read_words(Context *context, Runner *runner, Reason *reason)
{
    const Parsed *parsed = &context->parsed;
    size_t at = 1;
    int64_t jobs = 1;
    Slice backoff = command_flag(context, "backoff");
    runner->backoff_s = 10;
    if (parsed->operand_count > 2 && slice_equal(parsed->operands[1], SLICE("-j"))) {
        if (slice_to_i64(parsed->operands[2], &jobs) != STATUS_OK || jobs < 1 || jobs > JOBS_MAX)
            return reason_set(reason, STATUS_INVALID, "-j", "must be from 1 to %d", JOBS_MAX);
        at = 3;
    }
    if (backoff.data != NULL && (slice_to_i64(backoff, &runner->backoff_s) != STATUS_OK ||
                                 runner->backoff_s < 0 || runner->backoff_s > BACKOFF_MAX_S))
        return reason_set(reason, STATUS_INVALID, "backoff", "must be from 0 to %d", BACKOFF_MAX_S);
    if (at == parsed->operand_count)
        return reason_set(reason, STATUS_INVALID, "",
                          "say which command: journal run NAME -- COMMAND");
    runner->job_count = (size_t)jobs;
    runner->journal = arena_text(context->arena, parsed->operands[0]);
    runner->command = ARENA_ARRAY(context->arena, parsed->operand_count - at + 1, char *);
    for (size_t i = at; i < parsed->operand_count; i++) {
        Slice word = parsed->operands[i];
        char *text = arena_bytes(context->arena, word.size + 1);
        memcpy(text, word.data, word.size);
        text[word.size] = '\0';
        runner->command[i - at] = text;
    }
    runner->command[parsed->operand_count - at] = NULL;
    return STATUS_OK;
}

int run_journal_run(Context *context)
{
    static Runner runner;
    Reason reason = {0};
    sigset_t signals;
    runner = (Runner){.context = context, .claim_fd = -1};
    Status status = read_words(context, &runner, &reason);
    if (status != STATUS_OK)
        return command_fail(context, status, &reason);
    for (size_t i = 0; i < JOBS_MAX; i++)
        runner.jobs[i] = (Job){.input = -1, .error = -1};
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGCHLD);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    runner.signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    CHECK(runner.signal_fd >= 0);
    while (runner.signals == 0 || runner.claim_fd >= 0 || free_slots(&runner) < runner.job_count) {
        begin_claim(&runner);
        look(&runner);
        beat(&runner);
    }
    close(runner.signal_fd);
    return runner.has_failed ? EXIT_FAILED : EXIT_DONE;
}
