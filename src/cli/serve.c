/* serve.c -- starts the parts in the order in which they need each other, waits for a signal, stops them in the
 * reverse order: no new requests or commands, those under way finish, lazy writes are synced, the directory is free. */
#include "cli/serve.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "access/credentials.h"
#include "base/log.h"
#include "cli/control.h"
#include "cli/demo.h"
#include "cli/journal_listener.h"
#include "cli/open.h"
#include "cli/site_facts.h"
#include "site/site.h"
#include "web/server.h"

/* What another instance saved is shown within two seconds, and it takes about one to hear of it. */
enum { LOOK_S = 1, SHARED_CACHE_MS = 250 };

typedef struct Serving {
    Context *context;
    Config config; /* the context's, with what a demo changes */
    bool is_demo;
    int lock; /* of the data directory, where the store is elsewhere; else -1 */
    Store *store;
    App app;
    Operations *ops;
    Site *site;
    WebServer *server;
    Control *control;
    BeanstalkServer *journals; /* for clients of beanstalkd, or NULL */
    Log *log;
    pthread_mutex_t lock_of_message; /* for what follows */
    bool closed;                     /* for maintenance, as visitors see it */
    char message[SITE_MESSAGE_MAX + 1];
    uint64_t told; /* commands that changed it here */
} Serving;

/* ---- Maintenance ----------------------------------------------------------------------------------------------- */

/* With the lock. NULL: open. */
static void show(Serving *serving, const char *message)
{
    serving->closed = message != NULL;
    snprintf(serving->message, sizeof serving->message, "%s", message != NULL ? message : "");
    web_server_maintenance(serving->server, message);
}

/* A command has written it. */
static void show_maintenance(Serving *serving, const char *message)
{
    pthread_mutex_lock(&serving->lock_of_message);
    serving->told++;
    show(serving, message);
    pthread_mutex_unlock(&serving->lock_of_message);
}

static uint64_t times_told(Serving *serving)
{
    pthread_mutex_lock(&serving->lock_of_message);
    uint64_t told = serving->told;
    pthread_mutex_unlock(&serving->lock_of_message);
    return told;
}

/* Another instance may have been told. A look that began before a command of our own says nothing about what is true after it. */
static void follow_maintenance(Serving *serving)
{
    ARENA_SCOPE Arena *arena = arena_new();
    uint64_t before = times_told(serving);
    Slice found;
    if (site_maintenance(serving->store, arena, &found) != STATUS_OK)
        return;
    const char *message = found.data != NULL ? arena_text(arena, found) : NULL;
    pthread_mutex_lock(&serving->lock_of_message);
    bool news = (message != NULL) != serving->closed ||
                (message != NULL && strcmp(message, serving->message) != 0);
    if (news && serving->told == before)
        show(serving, message);
    pthread_mutex_unlock(&serving->lock_of_message);
}

static Status tell_maintenance(void *self, Arena *arena, Slice *ret_message)
{
    return site_maintenance(((Serving *)self)->store, arena, ret_message);
}

static Status change_maintenance(void *self, Slice message, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Serving *serving = self;
    TRY(site_set_maintenance(serving->store, serving->context->world, message, reason));
    show_maintenance(serving, message.data != NULL ? arena_text(arena, message) : NULL);
    return STATUS_OK;
}

/* ---- Commands ---------------------------------------------------------------------------------------------------- */

/* A command that came through the control socket, on the store that is open here. */
static int run_for_client(void *self, const ControlRequest *request, Output output)
{
    Serving *serving = self;
    ARENA_SCOPE Arena *arena = arena_new();
    Reason reason = {0};
    Context context = {.world = serving->context->world,
                       .config = serving->context->config,
                       .directory = request->directory,
                       .input = request->input,
                       .store = serving->store,
                       .app = &serving->app,
                       .ops = serving->ops,
                       .audit = serving->app.audit,
                       .output = output,
                       .arena = arena};
    Status status = command_parse(request->words, request->count, arena, &context.parsed, &reason);
    if (status == STATUS_OK && context.parsed.command->needs == COMMAND_ALONE)
        status = reason_set(&reason, STATUS_INVALID, "", "\"%s\" does not run inside a server",
                            context.parsed.command->name);
    if (status != STATUS_OK) {
        (void)command_fail(&context, status, &reason);
        return EXIT_USAGE;
    }
    LogLine line = log_line(serving->log, LOG_INFO, "command");
    log_text(&line, "name", context.parsed.command->name);
    log_end(&line);
    return context.parsed.command->run(&context);
}

/* A line for each attempt. Nobody's address is in it. */
static void log_mail(void *log, const MailAttempt *attempt)
{
    ARENA_SCOPE Arena *arena = arena_new();
    LogLine line = log_line(log, attempt->state == MAIL_SENT ? LOG_INFO : LOG_WARNING, "mail");
    log_string(&line, "id", id_text(attempt->id, arena));
    log_string(&line, "kind", attempt->kind);
    log_text(&line, "state", mail_state_text(attempt->state));
    log_i64(&line, "attempt", attempt->number);
    log_i64(&line, "code", attempt->code);
    log_text(&line, "words", attempt->words);
    log_end(&line);
}

/* A demo's passwords are known to everybody, so it stays on this machine; and nobody has to set up mail for it. */
static Status prepare_demo(Serving *serving, Reason *reason)
{
    Config *config = &serving->config;
    TRY(site_is_demo(serving->store, &serving->is_demo));
    if (!serving->is_demo)
        return STATUS_OK;
    if (!open_is_loopback(config))
        return reason_set(
            reason, STATUS_REFUSED, config->public_url[0] != '\0' ? "public_url" : "listen",
            "%s holds a demo, with passwords that everybody knows: it is served on loopback only",
            config->data);
    config->mail_outbox |= config->smtp_url[0] == '\0';
    return STATUS_OK;
}

static void log_advice(void *log, const char *sentence)
{
    LogLine line = log_line(log, LOG_WARNING, "store");
    log_text(&line, "words", sentence);
    log_end(&line);
}

static Status start_journals(Serving *serving, Reason *reason)
{
    BeanstalkOptions options = {.world = serving->context->world};
    if (serving->config.journal_listen[0] == '\0')
        return STATUS_OK;
    TRY(app_journals(&serving->app, &options.journals, reason));
    return journal_listener_start(&serving->config, &serving->app, options, &serving->journals,
                                  reason);
}

static Status start_parts(Serving *serving, Reason *reason)
{
    Context *context = serving->context;
    OpenHow how = {.create = true, .say = log_advice, .self = serving->log};
    Slice message;
    TRY(web_server_check(context->config, reason)); /* before a data directory is made */
    TRY(open_check_proxy(context->config, reason));
    TRY(demo_first_start(context, reason));
    TRY(open_claim(context->config, context->world, &serving->lock, reason));
    TRY(open_store(context->config, context->world, &how, &serving->store, reason));
    TRY(site_maintenance(serving->store, context->arena, &message));
    TRY(prepare_demo(serving, reason));
    AppParts parts = {serving->store, context->world, NULL, context->config};
    TRY(open_vault(parts.config, parts.world, parts.store, &parts.vault, reason));
    TRY(app_open(&parts, &serving->app, reason));
    mail_listen(serving->app.mail, (MailListener){log_mail, serving->log});
    TRY(app_start(&serving->app, serving->log, context->config->listen, reason));
    WebOptions options = {.config = context->config,
                          .world = context->world,
                          .log = serving->log,
                          .store = {serving->store, store_health, store_metrics},
                          .cache_most_ms = store_is_shared(serving->store) ? SHARED_CACHE_MS : 0};
    serving->ops = operations_new(
        &(OperationsOptions){.app = &serving->app,
                             .config = context->config,
                             .control = {tell_maintenance, change_maintenance, serving}});
    serving->site = site_new(&(SiteOptions){.app = &serving->app,
                                            .config = context->config,
                                            .log = serving->log,
                                            .ops = serving->ops,
                                            .is_demo = serving->is_demo});
    site_serve(serving->site, &options);
    TRY(web_server_start(&options, &serving->server, reason));
    app_set_home(&serving->app, web_server_public_url(serving->server));
    site_start(serving->site, serving->app.home);
    if (message.data != NULL)
        show_maintenance(serving, arena_text(context->arena, message));
    TRY(start_journals(serving, reason));
    return control_start(context->config->data, context->world.clock, run_for_client, serving,
                         &serving->control, reason);
}

/* When instances came and went stands in the audit log; not to know it is no reason not to serve. */
static void note_life(Serving *serving, AuditKind kind)
{
    Id id;
    AuditAct act = {.kind = kind};
    if (audit_begin(serving->app.audit, &act, &id) == STATUS_OK)
        audit_end(serving->app.audit, id, STATUS_OK);
}

static void stop_parts(Serving *serving)
{
    if (serving->app.mail != NULL) /* first: a command may be waiting for a mail server */
        mail_stop(serving->app.mail);
    operations_drain(serving->ops); /* or for an entry of a journal */
    if (serving->control != NULL)
        control_stop(serving->control);
    if (serving->journals != NULL)
        beanstalk_stop(serving->journals);
    if (serving->server != NULL)
        web_server_stop(serving->server);
    site_stop(serving->site); /* requests hand over to its live events until here */
    app_close(&serving->app);
    site_free(serving->site); /* the app's threads tell it of saves until here */
    operations_free(serving->ops);
    store_close(serving->store);
    if (serving->lock >= 0)
        close(serving->lock);
}

/* Blocked in every thread from the start, so that only this wait sees them. */
static sigset_t stop_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGUSR1); /* puts into journals are refused from then on */
    return set;
}

/* Until somebody wants it to stop. */
static int wait_for_stop(Serving *serving, const sigset_t *signals)
{
    const struct timespec pause = {.tv_sec = LOOK_S};
    bool shared = store_is_shared(serving->store);
    for (;;) {
        int received = shared ? sigtimedwait(signals, NULL, &pause) : sigwaitinfo(signals, NULL);
        if (received == SIGUSR1)
            operations_refuse_puts(serving->ops);
        if (received == SIGUSR1 && serving->journals != NULL)
            beanstalk_drain(serving->journals);
        if (received > 0 && received != SIGUSR1)
            return received;
        CHECK(received > 0 || errno == EAGAIN || errno == EINTR);
        if (shared)
            follow_maintenance(serving);
    }
}

static LogLevel level_of(const char *name)
{
    static const char *const NAMES[] = {"debug", "info", "warning", "error"};
    for (int i = 0; i < 4; i++)
        if (strcmp(name, NAMES[i]) == 0)
            return (LogLevel)i;
    return LOG_INFO;
}

static void log_start(Serving *serving)
{
    LogLine line = log_line(serving->log, LOG_INFO, "serving");
    log_text(&line, "version", OSTRAKA_VERSION);
    log_text(&line, "listen", serving->context->config->listen);
    log_i64(&line, "port", web_server_port(serving->server));
    log_text(&line, "data", serving->context->config->data);
    log_end(&line);
    const char *doubt = open_doubt(serving->context->config);
    if (doubt == NULL)
        return;
    line = log_line(serving->log, LOG_WARNING, "settings");
    log_text(&line, "field", "trusted_proxies");
    log_text(&line, "rule", doubt);
    log_end(&line);
}

/* What somebody needs who sees this site for the first time. */
static void greet(Serving *serving)
{
    Context *context = serving->context;
    Slice secret;
    if (serving->is_demo)
        command_print(context, "This is a demo. Log in as %s with the password %s.\n", DEMO_VOTER,
                      DEMO_PASSWORD);
    else if (credentials_begin_first_admin(serving->app.accounts, context->arena, &secret) ==
             STATUS_OK)
        command_print(context,
                      "Nobody is here yet. Whoever opens this link first becomes the admin:\n"
                      "  %s/first-admin?token=%.*s\n",
                      web_server_public_url(serving->server), SLICE_ARG(secret));
}

int serve_run(Context *context)
{
    Serving serving = {
        .context = context,
        .config = *context->config,
        .lock = -1,
        .lock_of_message = PTHREAD_MUTEX_INITIALIZER,
        .log = log_new(STDERR_FILENO, level_of(context->config->log_level), context->world.clock)};
    Reason reason = {0};
    sigset_t signals = stop_signals();
    int code = EXIT_DONE;
    context->config = &serving.config;
    signal(SIGPIPE, SIG_IGN);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    Status status = start_parts(&serving, &reason);
    if (status == STATUS_OK) {
        log_start(&serving);
        note_life(&serving, AUDIT_SITE_START);
        command_print(
            context, "Ostraka is at http://%s/ (data in %s). Ctrl-C stops it.\n",
            open_address(context->config, web_server_port(serving.server), context->arena),
            context->config->data);
        greet(&serving);
        int received = wait_for_stop(&serving, &signals);
        LogLine line = log_line(serving.log, LOG_INFO, "stopping");
        log_i64(&line, "signal", received);
        log_end(&line);
        note_life(&serving, AUDIT_SITE_STOP);
    } else {
        code = command_fail(context, status, &reason);
    }
    stop_parts(&serving);
    log_free(serving.log);
    return code;
}
