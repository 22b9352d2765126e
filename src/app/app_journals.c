/* app_journals.c -- the journals of this instance: those of the site itself and those that the operator declares. */
#include "app/app.h"

/* Memory for keys and data beside their files. */
enum { CACHE_BYTES = 16 << 20 };

/* Follows the operator's text, so that the lines of that keep their numbers. Losing a put costs only time, so nobody waits for the disk more
 * than the journal itself does; what fails comes again as often as it takes, since the store's own marks say what is left to do. */
#define OWN_RULES "put = task\nclaim = task\ntimeouts = none\nsync = puts\n"
#define OWN_TEXT                                                                                 \
    "\n[journal " APP_JOURNAL_TASKS "]\n" OWN_RULES "[journal " APP_JOURNAL_MAIL "]\n" OWN_RULES \
    "[journal " APP_JOURNAL_DIGESTS "]\n" OWN_RULES
enum { OWN_COUNT = 3 };

static Status check_roles(const JournalDeclared *journal, const JournalAccessList *list,
                          const char *path, Reason *reason)
{
    uint32_t roles;
    Reason why = {0};
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].kind == JOURNAL_ACCESS_ROLE &&
            account_roles_from(list->items[i].name, "role", &roles, &why) != STATUS_OK)
            return reason_set(reason, STATUS_INVALID, "journal_file",
                              "%s, the section of line %zu: %s", path, journal->line, why.rule);
    return STATUS_OK;
}

static Status check_access(const JournalDeclared *journal, const char *path, Reason *reason)
{
    TRY(check_roles(journal, &journal->put, path, reason));
    return check_roles(journal, &journal->claim, path, reason);
}

/* The operator's part is read alone first, for what the whole could only say about lines that are not in the file. */
static Status check_operators(Slice text, const char *path, Arena *arena, Reason *reason)
{
    const JournalDeclaration *declaration;
    TRY(declaration_read(text, path, arena, &declaration, reason));
    if (declaration->count > DECLARATION_JOURNALS_MAX - OWN_COUNT)
        return reason_set(reason, STATUS_INVALID, "journal_file", "%s: at most %d journals", path,
                          DECLARATION_JOURNALS_MAX - OWN_COUNT);
    TRY(check_access(&declaration->tubes, path, reason));
    for (size_t i = 0; i < declaration->count; i++) {
        TRY(check_access(&declaration->journals[i], path, reason));
        if (slice_starts_with(declaration->journals[i].name, SLICE(APP_JOURNAL_PREFIX)))
            return reason_set(reason, STATUS_INVALID, "journal_file",
                              "%s, line %zu: names that begin with " APP_JOURNAL_PREFIX
                              " are the site's own",
                              path, declaration->journals[i].line);
    }
    return STATUS_OK;
}

static Status read_declaration(const App *app, Arena *arena, Slice *ret_text, Reason *reason)
{
    const char *path = app->config->journal_file;
    Slice text = SLICE_EMPTY;
    Reason why = {0};
    if (path[0] != '\0') {
        Status status = disk_read(app->world.disk, path, DECLARATION_BYTES_MAX - sizeof OWN_TEXT,
                                  arena, &text, &why);
        if (status != STATUS_OK)
            return reason_set(reason, status, "journal_file", "%s", why.rule);
        TRY(check_operators(text, path, arena, reason));
    }
    *ret_text = arena_print(arena, "%.*s" OWN_TEXT, SLICE_ARG(text));
    return STATUS_OK;
}

Status app_journals(App *app, Journals **ret_journals, Reason *reason)
{
    if (app->journals == NULL) {
        ARENA_SCOPE Arena *arena = arena_new();
        Slice text;
        TRY(read_declaration(app, arena, &text, reason));
        TRY(disk_make_directory(app->world.disk, app->config->data, 0700, reason));
        JournalsOptions options = {
            .directory = arena_text(arena, arena_print(arena, "%s/journal", app->config->data)),
            .declaration = text,
            .declaration_path = app->config->journal_file,
            .world = app->world,
            .cache_bytes = CACHE_BYTES,
            .reopen_s = app->config->reopen_seconds,
        };
        TRY(journals_open(&options, &app->journals, reason));
    }
    *ret_journals = app->journals;
    return STATUS_OK;
}

Status app_journals_reload(App *app, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Journals *journals;
    Slice text;
    TRY(app_journals(app, &journals, reason));
    TRY(read_declaration(app, arena, &text, reason));
    return journals_reload(journals, text, app->config->journal_file, reason);
}
