/* journals.c -- opening, the declaration, and which group a request belongs to. */
#include "journal/catalogue.h"
#include "journal/engine.h"
#include "journal/rocksdb_log.h"

#include <stdlib.h>

#define X(name, label, help) #label,
const char *const JOURNAL_COUNTER_NAMES[JOURNAL_COUNTERS] = {JOURNAL_COUNTER_LIST(X)};
#undef X
#define X(name, label, help) help,
const char *const JOURNAL_COUNTER_HELP[JOURNAL_COUNTERS] = {JOURNAL_COUNTER_LIST(X)};
#undef X

const HistogramKind JOURNAL_SPANS = {
    {1, 5, 25, 100, 500, 1000, 5000, 30000, 120000, 600000, 3600000, 21600000, 86400000, 604800000},
    1e3};
const HistogramKind JOURNAL_COMMITS = {{100, 250, 500, 1000, 2500, 5000, 10000, 25000, 50000,
                                        100000, 250000, 1000000, 5000000, 30000000},
                                       1e6};
const HistogramKind JOURNAL_SIZES = {{0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096, 16384},
                                     1};

/* ---- Opening and closing ----------------------------------------------------------------------------------- */

static Status add_group(Journals *journals, Slice name, const JournalFiles *files,
                        const JournalDeclaration *declaration, Reason *reason)
{
    size_t count = atomic_load(&journals->group_count);
    JournalLog *log = journals->options.log;
    for (size_t i = 0; i < count; i++)
        if (slice_equal(slice_from(journals->groups[i]->name), name))
            return STATUS_OK;
    if (count == DECLARATION_GROUPS_MAX || (log != NULL && count > 0))
        return reason_set(reason, STATUS_INVALID, "group", "at most %zu groups", count);
    if (log == NULL)
        TRY(rocksdb_log_open(journals->world, journals->catalogue, name, files, &log, reason));
    TRY(group_open(journals, name, count, log, declaration, &journals->groups[count], reason));
    atomic_store(&journals->group_count, count + 1);
    return STATUS_OK;
}

/* Those that are declared, main first, and those that have files from before. */
static Status add_groups(Journals *journals, const JournalDeclaration *declaration, Reason *reason)
{
    static const JournalFiles PLAIN = {.shrink = JOURNAL_TRUNCATE, .shrink_above = 64 << 20};
    CatalogueGroup listed[DECLARATION_GROUPS_MAX];
    for (size_t i = 0; i < declaration->group_count; i++)
        TRY(add_group(journals, declaration->groups[i].name, &declaration->groups[i].files,
                      declaration, reason));
    size_t count = journals->catalogue == NULL ? 0 : catalogue_names(journals->catalogue, listed);
    for (size_t i = 0; i < count; i++)
        TRY(add_group(journals, slice_from(listed[i].name), &PLAIN, declaration, reason));
    return STATUS_OK;
}

static void free_journals(Journals *journals)
{
    for (size_t i = 0; i < atomic_load(&journals->group_count); i++)
        group_close(journals->groups[i]);
    if (journals->catalogue != NULL)
        catalogue_close(journals->catalogue);
    arena_free(journals->arena);
    pthread_rwlock_destroy(&journals->gate);
    free(journals);
}

Status journals_open(const JournalsOptions *options, Journals **ret_journals, Reason *reason)
{
    Journals *journals = calloc(1, sizeof *journals);
    CHECK(journals != NULL);
    journals->options = *options;
    journals->world = options->world;
    journals->arena = arena_new();
    pthread_rwlock_init(&journals->gate, NULL);
    journals->text = arena_copy(journals->arena, options->declaration);
    atomic_store(&journals->declarations, 1);
    const char *path = options->declaration_path == NULL ? "journals" : options->declaration_path;
    Status status = declaration_read(options->declaration, path, journals->arena,
                                     &journals->declaration, reason);
    if (status == STATUS_OK && options->log == NULL)
        status = catalogue_open(options->world, options->directory, &journals->catalogue, reason);
    if (status == STATUS_OK)
        status = add_groups(journals, journals->declaration, reason);
    if (status != STATUS_OK) {
        free_journals(journals);
        return status;
    }
    *ret_journals = journals;
    return STATUS_OK;
}

void journals_close(Journals *journals)
{
    free_journals(journals);
}

/* Groups first, so that each journal has a home before it is used; then every group takes the new text or says why not. One that has
 * taken it before another refuses gets the old one back. */
Status journals_reload(Journals *journals, Slice declaration, const char *path, Reason *reason)
{
    Arena *arena = arena_new();
    const JournalDeclaration *read, *old = journals->declaration;
    Status status = declaration_read(declaration, path, arena, &read, reason);
    pthread_rwlock_wrlock(&journals->gate);
    if (status == STATUS_OK)
        status = add_groups(journals, read, reason);
    size_t count = atomic_load(&journals->group_count), taken = 0;
    for (; taken < count && status == STATUS_OK; taken++)
        status = call_group(journals->groups[taken], JOURNAL_CALL_DECLARE, read, reason);
    Reason ignored;
    for (size_t i = 0; i < taken && status != STATUS_OK; i++)
        (void)!call_group(journals->groups[i], JOURNAL_CALL_DECLARE, old, &ignored);
    if (status == STATUS_OK) {
        arena_free(journals->arena);
        journals->arena = arena;
        journals->declaration = read;
        journals->text = arena_copy(arena, declaration);
        atomic_fetch_add(&journals->declarations, 1);
    } else {
        arena_free(arena);
    }
    pthread_rwlock_unlock(&journals->gate);
    return status;
}

const JournalDeclared *journals_declared(Journals *journals, Slice name)
{
    pthread_rwlock_rdlock(&journals->gate);
    const JournalDeclared *declared = declaration_find(journals->declaration, name);
    pthread_rwlock_unlock(&journals->gate);
    return declared;
}

uint64_t journals_declaration(Journals *journals, uint64_t seen, Arena *arena, Slice *ret_text)
{
    if (atomic_load(&journals->declarations) == seen)
        return seen;
    pthread_rwlock_rdlock(&journals->gate);
    uint64_t number = atomic_load(&journals->declarations);
    *ret_text = arena_copy(arena, journals->text);
    pthread_rwlock_unlock(&journals->gate);
    return number;
}

static JournalAccessList copy_access(const JournalAccessList *list, Arena *arena)
{
    JournalAccessList copy = {ARENA_ARRAY(arena, list->count, JournalAccess), list->count};
    for (size_t i = 0; i < list->count; i++)
        copy.items[i] =
            (JournalAccess){list->items[i].kind, arena_copy(arena, list->items[i].name)};
    return copy;
}

Status journals_access(Journals *journals, Slice name, Arena *arena, JournalAccessList *ret_put,
                       JournalAccessList *ret_claim, Reason *reason)
{
    pthread_rwlock_rdlock(&journals->gate);
    const JournalDeclared *declared = declaration_find(journals->declaration, name);
    if (declared == NULL && journals->declaration->has_tubes)
        declared = &journals->declaration->tubes;
    if (declared != NULL) {
        *ret_put = copy_access(&declared->put, arena);
        *ret_claim = copy_access(&declared->claim, arena);
    }
    pthread_rwlock_unlock(&journals->gate);
    if (declared == NULL)
        return reason_set(reason, STATUS_NOT_FOUND, "journal", "there is no such journal");
    return STATUS_OK;
}

/* ---- Which group ------------------------------------------------------------------------------------------- */

static Slice group_name(const Journals *journals, Slice journal)
{
    const JournalDeclared *declared = declaration_find(journals->declaration, journal);
    if (declared != NULL)
        return declared->group;
    return journals->declaration->has_tubes ? journals->declaration->tubes.group : SLICE("main");
}

static JournalGroup *group_of(const Journals *journals, Slice name)
{
    for (size_t i = 0; i < atomic_load(&journals->group_count); i++)
        if (slice_equal(slice_from(journals->groups[i]->name), name))
            return journals->groups[i];
    return journals->groups[0];
}

static Status same_group(Slice *name, Slice other, Reason *reason)
{
    if (name->size == 0)
        *name = other;
    if (slice_equal(*name, other))
        return STATUS_OK;
    return reason_set(reason, STATUS_INVALID, "journal",
                      "journals of different groups cannot be used in one call");
}

Status journals_group_of(Journals *journals, const Slice *names, size_t count,
                         JournalGroup **ret_group, Reason *reason)
{
    Slice name = SLICE_EMPTY;
    Status status = STATUS_OK;
    pthread_rwlock_rdlock(&journals->gate);
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        status = same_group(&name, group_name(journals, names[i]), reason);
    if (status == STATUS_OK)
        *ret_group = group_of(journals, name);
    pthread_rwlock_unlock(&journals->gate);
    return status;
}

static Status check_put(const Journals *journals, const JournalPut *put, Reason *reason)
{
    const JournalDeclaration *declaration = journals->declaration;
    const JournalDeclared *declared = declaration_find(declaration, put->journal);
    if (declared == NULL && put->on_use && declaration->has_tubes)
        declared = &declaration->tubes;
    return declared == NULL || put->is_checked
               ? STATUS_OK
               : declaration_check_data(declared, put->data, reason);
}

Status journal_check_put(Journals *journals, const JournalPut *put, Reason *reason)
{
    pthread_rwlock_rdlock(&journals->gate);
    Status status = check_put(journals, put, reason);
    pthread_rwlock_unlock(&journals->gate);
    return status;
}

/* Bounds that need no decider, and the group. */
static Status route(Journals *journals, JournalRequest *request, JournalGroup **ret_group)
{
    Slice name = SLICE_EMPTY;
    Reason *reason = &request->reason;
    bool many = request->call <= JOURNAL_CALL_REMOVE && request->call != JOURNAL_CALL_CLAIM &&
                request->call != JOURNAL_CALL_CLAIM_ID;
    *ret_group = journals->groups[0];
    if (many && (request->count == 0 || request->count > JOURNAL_MANY_MAX))
        return reason_set(reason, STATUS_INVALID, "count", "1 to %d in one call", JOURNAL_MANY_MAX);
    if (request->call == JOURNAL_CALL_PUT) {
        for (size_t i = 0; i < request->count; i++) {
            TRY(same_group(&name, group_name(journals, request->puts[i].journal), reason));
            TRY(check_put(journals, &request->puts[i], reason));
        }
    } else if (request->call == JOURNAL_CALL_CLAIM) {
        const JournalClaim *claim = &request->claim;
        if (claim->journal_count == 0 || claim->journal_count > JOURNAL_CLAIM_NAMES_MAX)
            return reason_set(reason, STATUS_INVALID, "journals", "1 to %d names",
                              JOURNAL_CLAIM_NAMES_MAX);
        if (claim->count > JOURNAL_MANY_MAX)
            return reason_set(reason, STATUS_INVALID, "n", "1 to %d", JOURNAL_MANY_MAX);
        if (claim->wait_ms < 0 || claim->wait_ms > (int64_t)JOURNAL_WAIT_MAX_MS * 1000)
            return reason_set(reason, STATUS_INVALID, "wait_ms", "0 to %lld",
                              (long long)JOURNAL_WAIT_MAX_MS * 1000);
        for (size_t i = 0; i < claim->journal_count; i++)
            TRY(same_group(&name, group_name(journals, claim->journals[i]), reason));
    } else if (request->call == JOURNAL_CALL_CANCEL) {
        if (request->cancelled->group != NULL)
            *ret_group = request->cancelled->group;
    } else if (request->call >= JOURNAL_CALL_KICK_SOME && request->call < JOURNAL_CALL_NAMES &&
               request->call != JOURNAL_CALL_GET && request->journal.size > 0) {
        name = group_name(journals, request->journal);
        if (request->call == JOURNAL_CALL_PAUSE &&
            (request->ms < 0 || journal_date(request->ms) != request->ms))
            return reason_set(reason, STATUS_INVALID, "seconds", "must not be negative");
    }
    if (name.size > 0)
        *ret_group = group_of(journals, name);
    return STATUS_OK;
}

void journal_submit(Journals *journals, JournalRequest *request)
{
    JournalGroup *group;
    request->wait = NULL;
    request->stats = (JournalStats){0};
    request->name_count = 0;
    request->claims = (JournalClaims){.next_ms = JOURNAL_NEVER};
    for (size_t i = 0; request->steps != NULL && i < request->count; i++)
        request->steps[i].status = STATUS_OK;
    pthread_rwlock_rdlock(&journals->gate);
    request->status = route(journals, request, &group);
    pthread_rwlock_unlock(&journals->gate);
    if (request->status == STATUS_OK) {
        group_hand_in(group, request);
        return;
    }
    for (size_t i = 0; request->answers != NULL && i < request->count; i++)
        request->answers[i] = (JournalAnswer){.status = request->status};
    for (size_t i = 0; request->steps != NULL && i < request->count; i++)
        request->steps[i].status = request->status;
    request->finish(request);
}

/* Of these every group has a part. */
static bool is_for_all(const JournalRequest *request)
{
    return request->call == JOURNAL_CALL_NAMES || request->call == JOURNAL_CALL_OWNER_END ||
           (request->call == JOURNAL_CALL_STATS && request->journal.size == 0 &&
            request->status == STATUS_OK);
}

/* Tokens and ids do not say in which group they are: what one does not know, the next is asked for. */
void group_answer(JournalGroup *group, JournalRequest *request)
{
    Journals *journals = group->journals;
    bool single = request->call == JOURNAL_CALL_GET || request->call == JOURNAL_CALL_CLAIM_ID;
    bool steps = request->call >= JOURNAL_CALL_EXTEND && request->call <= JOURNAL_CALL_REMOVE;
    bool missed = (single && request->status == STATUS_NOT_FOUND) || is_for_all(request);
    for (size_t i = 0; steps && i < request->count; i++)
        missed |= request->steps[i].status == STATUS_CONFLICT ||
                  request->steps[i].status == STATUS_NOT_FOUND;
    if (missed && group->index + 1 < atomic_load(&journals->group_count)) {
        group_hand_in(journals->groups[group->index + 1], request);
        return;
    }
    if (request->call == JOURNAL_CALL_OWNER_END)
        free(request->claim.owner);
    request->finish(request);
}
