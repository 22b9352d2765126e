/* tubes.c -- the names that connections use and watch, what is counted for them, and who may do what with a journal.
 *
 * The journals know nothing of connections, and forget a name on use when it is empty; beanstalkd's counts of a tube live as long as a connection
 * refers to it or it has a job. So a name that nobody refers to keeps its counts here until `use` or `watch` finds that the journal is gone. */
#include <stdlib.h>

#include "beanstalk/beanstalk_private.h"

static uint64_t hash_text(Slice text)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < text.size; i++)
        hash = (hash ^ (unsigned char)text.data[i]) * UINT64_C(1099511628211);
    return table_mix(hash);
}

static uint64_t hash_of(const void *item)
{
    return hash_text(tube_name(item));
}

Tube *tube_find(BeanstalkServer *server, Slice name)
{
    Tube *tube;
    for (size_t at = 0; (tube = table_next(&server->tubes, hash_text(name), &at)) != NULL;)
        if (slice_equal(tube_name(tube), name))
            return tube;
    return NULL;
}

static void free_tube(Tube *tube)
{
    free(tube->name);
    free(tube);
}

/* Counts are worth less than memory. */
static void forget_idle(BeanstalkServer *server)
{
    Table kept = {.hash = hash_of};
    for (size_t i = 0; i < server->tubes.capacity; i++) {
        Tube *tube = server->tubes.slots[i];
        if (tube != NULL && tube_is_idle(tube))
            free_tube(tube);
        else if (tube != NULL)
            table_add(&kept, tube);
    }
    table_free(&server->tubes);
    server->tubes = kept;
}

Tube *tube_get(BeanstalkServer *server, Slice name)
{
    Tube *tube = tube_find(server, name);
    if (tube != NULL)
        return tube;
    server->tubes.hash = hash_of;
    if (server->tubes.count >= TUBES_MAX + server->referred)
        forget_idle(server);
    tube = calloc(1, sizeof *tube);
    CHECK(tube != NULL);
    tube->name = malloc(name.size);
    CHECK(tube->name != NULL);
    memcpy(tube->name, name.data, name.size);
    tube->name_size = name.size;
    table_add(&server->tubes, tube);
    return tube;
}

void tubes_free(BeanstalkServer *server)
{
    for (size_t i = 0; i < server->tubes.capacity; i++)
        if (server->tubes.slots[i] != NULL)
            free_tube(server->tubes.slots[i]);
    table_free(&server->tubes);
}

void tube_forget_counts(Tube *tube)
{
    tube->jobs = tube->deletes = tube->pauses = 0;
    tube->pause_s = 0;
}

/* ---- References -------------------------------------------------------------------------------------------- */

static void refer(Session *session, Tube *tube, size_t *count, bool more)
{
    bool before = tube_is_idle(tube);
    *count += more ? 1 : (size_t)-1;
    bool after = tube_is_idle(tube);
    if (before != after)
        session->server->referred += before ? 1 : (size_t)-1;
}

void tube_use(Session *session, Tube *tube)
{
    refer(session, tube, &tube->using, true);
    if (session->used != NULL)
        refer(session, session->used, &session->used->using, false);
    session->used = tube;
}

bool tube_watch(Session *session, Tube *tube)
{
    for (size_t i = 0; i < session->watched_count; i++)
        if (session->watched[i] == tube)
            return true;
    if (session->watched_count == JOURNAL_CLAIM_NAMES_MAX)
        return false;
    if (session->watched_count == session->watched_capacity) {
        session->watched_capacity = session->watched_capacity * 2 + 4;
        session->watched =
            realloc(session->watched, session->watched_capacity * sizeof(Tube *)); /* NOLINT */
        CHECK(session->watched != NULL);
    }
    session->watched[session->watched_count++] = tube;
    refer(session, tube, &tube->watching, true);
    return true;
}

/* The last takes the free place, as in beanstalkd. */
bool tube_ignore(Session *session, Slice name)
{
    size_t i = 0;
    while (i < session->watched_count && !slice_equal(tube_name(session->watched[i]), name))
        i++;
    if (i == session->watched_count)
        return true;
    if (session->watched_count == 1)
        return false;
    refer(session, session->watched[i], &session->watched[i]->watching, false);
    session->watched[i] = session->watched[--session->watched_count];
    return true;
}

void tubes_leave(Session *session)
{
    refer(session, session->used, &session->used->using, false);
    for (size_t i = 0; i < session->watched_count; i++)
        refer(session, session->watched[i], &session->watched[i]->watching, false);
    free(session->watched);
}

/* ---- Who may ----------------------------------------------------------------------------------------------- */

/* The declaration as it is now, read once for each time that it changes. */
static const JournalDeclaration *declaration_of(BeanstalkServer *server)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice text = SLICE_EMPTY;
    Reason reason;
    uint64_t number = journals_declaration(server->journals, server->declarations, arena, &text);
    if (number == server->declarations)
        return server->declaration;
    arena_reset(server->declaration_arena);
    /* The journals have taken it. */
    CHECK(declaration_read(text, "journals", server->declaration_arena, &server->declaration,
                           &reason) == STATUS_OK);
    server->declarations = number;
    return server->declaration;
}

const JournalDeclared *tube_declared(BeanstalkServer *server, Slice name)
{
    const JournalDeclaration *declaration = declaration_of(server);
    const JournalDeclared *declared = declaration_find(declaration, name);
    if (declared == NULL && declaration->has_tubes)
        return &declaration->tubes;
    return declared;
}

/* Without a token: any, and local. Tubes are for this machine unless [tubes] says otherwise. */
static bool allows_anybody(const Session *session, const JournalAccessList *list, bool is_tube)
{
    bool local = session->connection.local;
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].kind == JOURNAL_ACCESS_ANY ||
            (list->items[i].kind == JOURNAL_ACCESS_LOCAL && local))
            return true;
    return list->count == 0 && is_tube && local;
}

static bool allows(const Session *session, Slice name, const JournalDeclared *declared, bool put)
{
    const BeanstalkServer *server = session->server;
    const JournalAccessList *list = put ? &declared->put : &declared->claim;
    return allows_anybody(session, list, declared == &server->declaration->tubes) ||
           (session->grants != NULL &&
            server->options.may(server->options.self, session->grants, list, name, put));
}

bool tube_may(Session *session, Slice name, TubeRight right)
{
    const JournalDeclared *declared = tube_declared(session->server, name);
    return declared != NULL && allows(session, name, declared, right == RIGHT_PUT);
}

bool tube_may_all(Session *session)
{
    const JournalDeclaration *declaration = declaration_of(session->server);
    if (session->judged == session->server->declarations)
        return session->may_all;
    session->judged = session->server->declarations;
    /* Names that were on use, or declared, before, may still have entries. */
    session->may_all = declaration->has_tubes && session->grants == NULL &&
                       allows_anybody(session, &declaration->tubes.claim, true);
    for (size_t i = 0; i < declaration->count; i++)
        session->may_all &= allows_anybody(session, &declaration->journals[i].claim, false);
    return session->may_all;
}
