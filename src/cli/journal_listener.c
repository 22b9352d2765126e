/* journal_listener.c -- from settings and accounts to the journals' listener. */
#include "cli/journal_listener.h"

#include <stdlib.h>

#include "access/journal_access.h"
#include "operations/operation.h"

/* ---- Tokens ------------------------------------------------------------------------------------------------ */

/* What x-auth found: the actor, with its texts. */
typedef struct Grants {
    Arena *arena;
    JournalActor actor;
} Grants;

static void forget(void *self, void *grants)
{
    (void)self;
    arena_free(((Grants *)grants)->arena);
}

/* A token whose scope is to read puts and claims nothing: both change something. */
static Status auth(void *self, Slice secret, void **ret_grants)
{
    App *app = self;
    Arena *arena = arena_new();
    Token token;
    Account account;
    bool missing;
    Status status = tokens_find(app->accounts, secret, arena, &token, &account);
    if (status == STATUS_OK && token.scope == TOKEN_READ)
        status = STATUS_LOGIN;
    if (status != STATUS_OK) {
        arena_free(arena);
        return status;
    }
    Grants *grants = ARENA_NEW(arena, Grants);
    *grants = (Grants){
        .arena = arena,
        .actor = {.roles = actor_roles(app, &account, token.second && account.second, &missing),
                  .is_known = true,
                  .by_token = true,
                  .token_name = token.name,
                  .is_limited = token.scope == TOKEN_JOURNALS,
                  .token_journals = token.journals}};
    *ret_grants = grants;
    return STATUS_OK;
}

static bool may(void *self, const void *grants, const JournalAccessList *list, Slice journal,
                bool put)
{
    (void)self;
    return journal_access_check(list, journal, put ? JOURNAL_RIGHT_PUT : JOURNAL_RIGHT_CLAIM,
                                &((const Grants *)grants)->actor, NULL) == STATUS_OK;
}

/* ---- Settings ---------------------------------------------------------------------------------------------- */

static Status listen_addresses(const char *text, Slice *addresses, size_t *ret_count,
                               Reason *reason)
{
    Slice rest = slice_from(text), part;
    size_t count = 0;
    while (slice_split(&rest, ',', &part)) {
        part = slice_trim(part);
        if (part.size == 0)
            continue;
        if (count == BEANSTALK_LISTENERS_MAX)
            return reason_set(reason, STATUS_INVALID, "journal_listen", "at most %d addresses",
                              BEANSTALK_LISTENERS_MAX);
        addresses[count++] = part;
    }
    *ret_count = count;
    return STATUS_OK;
}

Status journal_listener_start(const Config *config, App *app, BeanstalkOptions options,
                              BeanstalkServer **ret_server, Reason *reason)
{
    Slice addresses[BEANSTALK_LISTENERS_MAX];
    TRY(listen_addresses(config->journal_listen, addresses, &options.listen_count, reason));
    options.listen = addresses;
    options.open = config->journal_listen_open;
    options.connections = config->journal_connections;
    options.connections_per_address = config->journal_connections_per_address;
    options.memory = config->journal_bodies_bytes;
    if (app != NULL) {
        options.auth = auth;
        options.may = may;
        options.forget = forget;
        options.self = app;
    }
    return beanstalk_start(&options, ret_server, reason);
}
