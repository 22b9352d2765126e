/* journal_access.c -- see journal_access.h. */
#include "access/journal_access.h"

const char *const JOURNAL_RIGHT_WORDS[] = WORDS(JOURNAL_RIGHT_LIST, WORD_2);

/* ---- Scopes of tokens --------------------------------------------------------------------------------------- */

static const Slice PREFIX = {"journal:", 8};

static bool next_scope(Slice *rest, Slice *ret_scope)
{
    while (slice_split(rest, ' ', ret_scope))
        if (ret_scope->size > 0)
            return true;
    return false;
}

static bool has_scope(Slice scopes, Slice scope)
{
    Slice one;
    while (next_scope(&scopes, &one))
        if (slice_equal(one, scope))
            return true;
    return false;
}

/* journal:NAME:RIGHT. Names have no colon. */
static bool is_scope(Slice scope)
{
    unsigned right;
    if (!slice_starts_with(scope, PREFIX))
        return false;
    Slice rest = slice_after(scope, PREFIX.size);
    size_t colon = slice_find(rest, ':');
    return colon < rest.size && journal_is_name(slice_of(rest.data, colon)) &&
           word_find(JOURNAL_RIGHT_WORDS, slice_after(rest, colon + 1), "", &right, NULL) ==
               STATUS_OK;
}

Status journal_scopes_read(Slice text, Arena *arena, Slice *ret_scopes, Reason *reason)
{
    Slice scopes = SLICE_EMPTY, part, scope;
    while (slice_split(&text, ',', &part))
        while (next_scope(&part, &scope)) {
            if (!is_scope(scope))
                return reason_set(reason, STATUS_INVALID, "journals",
                                  "\"%.*s\" is not journal:NAME:put, journal:NAME:claim or "
                                  "journal:NAME:admin",
                                  scope.size > 80 ? 80 : (int)scope.size, scope.data);
            if (!has_scope(scopes, scope))
                scopes = arena_print(arena, "%.*s%s%.*s", SLICE_ARG(scopes),
                                     scopes.size > 0 ? " " : "", SLICE_ARG(scope));
        }
    if (scopes.size == 0 || scopes.size > TOKEN_JOURNALS_MAX)
        return reason_set(reason, STATUS_INVALID, "journals",
                          "names what the token may, such as journal:NAME:put, in at most %d bytes",
                          TOKEN_JOURNALS_MAX);
    *ret_scopes = scopes;
    return STATUS_OK;
}

static bool token_allows(const JournalActor *actor, Slice journal, JournalRight right)
{
    ARENA_SCOPE Arena *arena = arena_new();
    return !actor->is_limited ||
           has_scope(actor->token_journals,
                     arena_print(arena, "%.*s%.*s:%s", SLICE_ARG(PREFIX), SLICE_ARG(journal),
                                 JOURNAL_RIGHT_WORDS[right]));
}

/* ---- Who may ------------------------------------------------------------------------------------------------ */

static bool is_admin(const JournalActor *actor)
{
    return actor->is_operator || (actor->roles & 1u << ROLE_ADMIN) != 0;
}

static bool fits(const JournalAccess *access, const JournalActor *actor)
{
    uint32_t role;
    switch (access->kind) {
    case JOURNAL_ACCESS_ADMIN:
        return is_admin(actor);
    case JOURNAL_ACCESS_TASK:
        return false;
    case JOURNAL_ACCESS_LOCAL:
        return actor->is_local;
    case JOURNAL_ACCESS_ANY:
        return true;
    case JOURNAL_ACCESS_ROLE:
        return account_roles_from(access->name, "role", &role, NULL) == STATUS_OK &&
               (actor->roles & role) != 0;
    case JOURNAL_ACCESS_TOKEN:
        return actor->by_token && is_admin(actor) && slice_equal(actor->token_name, access->name);
    }
    return false;
}

Status journal_access_check(const JournalAccessList *list, Slice journal, JournalRight right,
                            const JournalActor *actor, Reason *reason)
{
    bool allowed = (right == JOURNAL_RIGHT_ADMIN || list->count == 0) && is_admin(actor);
    for (size_t i = 0; right != JOURNAL_RIGHT_ADMIN && i < list->count; i++)
        allowed |= fits(&list->items[i], actor);
    if (!token_allows(actor, journal, right))
        return reason_set(reason, STATUS_DENIED, "Authorization",
                          "this token does not name journal:%.*s:%s", SLICE_ARG(journal),
                          JOURNAL_RIGHT_WORDS[right]);
    if (allowed)
        return STATUS_OK;
    if (!actor->is_known && !actor->is_operator)
        return reason_set(reason, STATUS_LOGIN, "", "log in first, or send a token");
    return reason_set(reason, STATUS_DENIED, "journal", "you may not %s journal %.*s",
                      right == JOURNAL_RIGHT_PUT     ? "put into"
                      : right == JOURNAL_RIGHT_CLAIM ? "claim from"
                                                     : "administer",
                      SLICE_ARG(journal));
}

Status journal_access(Journals *journals, Slice journal, JournalRight right,
                      const JournalActor *actor, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    JournalAccessList put, claim;
    TRY(journals_access(journals, journal, arena, &put, &claim, reason));
    return journal_access_check(right == JOURNAL_RIGHT_CLAIM ? &claim : &put, journal, right, actor,
                                reason);
}
