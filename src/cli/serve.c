/* serve.c -- starts the parts in the order in which they need each other, waits for a signal, stops them in the
 * reverse order: no new requests or commands, those under way finish, lazy writes are synced, the directory is free. */
#include "cli/serve.h"

#include <signal.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/control.h"
#include "cli/maintenance.h"
#include "cli/open.h"
#include "web/server.h"

typedef struct Site {
    Context *context;
    Store *store;
    App app;
    WebServer *server;
    Control *control;
    Log *log;
} Site;

static void show_maintenance(void *self, const char *message)
{
    web_server_maintenance(((Site *)self)->server, message);
}

/* A command that came through the control socket, on the store that is open here. */
static int run_for_client(void *self, const ControlRequest *request, Output output)
{
    Site *site = self;
    ARENA_SCOPE Arena *arena = arena_new();
    Reason reason = {0};
    Context context = {.world = site->context->world,
                       .config = site->context->config,
                       .directory = request->directory,
                       .input = request->input,
                       .store = site->store,
                       .app = &site->app,
                       .output = output,
                       .arena = arena,
                       .maintenance = show_maintenance,
                       .maintenance_self = site};
    Status status = command_parse(request->words, request->count, arena, &context.parsed, &reason);
    if (status == STATUS_OK && context.parsed.command->needs == COMMAND_ALONE)
        status = reason_set(&reason, STATUS_INVALID, "", "\"%s\" does not run inside a server",
                            context.parsed.command->name);
    if (status != STATUS_OK) {
        (void)command_fail(&context, status, &reason);
        return EXIT_USAGE;
    }
    LogLine line = log_line(site->log, LOG_INFO, "command");
    log_text(&line, "name", context.parsed.command->name);
    log_end(&line);
    return context.parsed.command->run(&context);
}

static Status start_parts(Site *site, Reason *reason)
{
    Context *context = site->context;
    Slice message;
    TRY(web_server_check(context->config, reason)); /* before a data directory is made */
    TRY(open_store(context->config, context->world, true, &site->store, reason));
    TRY(site_maintenance(site->store, context->arena, &message));
    AppParts parts = {site->store, context->world, NULL, context->config};
    TRY(open_vault(parts.config, parts.world, parts.store, &parts.vault, reason));
    TRY(app_open(&parts, &site->app, reason));
    TRY(app_start(&site->app, site->log, context->config->listen, reason));
    WebOptions options = {.config = context->config,
                          .world = context->world,
                          .log = site->log,
                          .store = {site->store, store_health, store_metrics}};
    TRY(web_server_start(&options, &site->server, reason));
    if (message.data != NULL)
        show_maintenance(site, arena_text(context->arena, message));
    return control_start(context->config->data, context->world.clock, run_for_client, site,
                         &site->control, reason);
}

static void stop_parts(Site *site)
{
    if (site->control != NULL)
        control_stop(site->control);
    if (site->server != NULL)
        web_server_stop(site->server);
    app_close(&site->app);
    store_close(site->store);
}

/* Blocked in every thread from the start, so that only this wait sees them. */
static sigset_t stop_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    return set;
}

static LogLevel level_of(const char *name)
{
    static const char *const NAMES[] = {"debug", "info", "warning", "error"};
    for (int i = 0; i < 4; i++)
        if (strcmp(name, NAMES[i]) == 0)
            return (LogLevel)i;
    return LOG_INFO;
}

static void log_start(Site *site)
{
    LogLine line = log_line(site->log, LOG_INFO, "serving");
    log_text(&line, "version", OSTRAKA_VERSION);
    log_text(&line, "listen", site->context->config->listen);
    log_i64(&line, "port", web_server_port(site->server));
    log_text(&line, "data", site->context->config->data);
    log_end(&line);
}

int serve_run(Context *context)
{
    Site site = {
        .context = context,
        .log = log_new(STDERR_FILENO, level_of(context->config->log_level), context->world.clock)};
    Reason reason = {0};
    sigset_t signals = stop_signals();
    int received, code = EXIT_DONE;
    signal(SIGPIPE, SIG_IGN);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    Status status = start_parts(&site, &reason);
    if (status == STATUS_OK) {
        log_start(&site);
        command_print(context, "Ostraka is at http://%s/ (data in %s). Ctrl-C stops it.\n",
                      open_address(context->config, web_server_port(site.server), context->arena),
                      context->config->data);
        sigwait(&signals, &received);
        LogLine line = log_line(site.log, LOG_INFO, "stopping");
        log_i64(&line, "signal", received);
        log_end(&line);
    } else {
        code = command_fail(context, status, &reason);
    }
    stop_parts(&site);
    log_free(site.log);
    return code;
}
