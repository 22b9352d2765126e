/* retention.c -- how long things are kept: one conditional update, in the audit log before it is done. A crash in between leaves an entry
 * whose outcome is not known; the same request again is safe. */
#include "operations/schema_macros.h"
#include "operations/vote_settings.h"

/* clang-format off */
static const ApiMember KEPT[] = {
    FIELD("name", PeriodLine, name, .help = "What."),
    FIELD("days", PeriodLine, days, .help = "How long."),
    FIELD("deletes", PeriodLine, deletes, .help = "Whether a task deletes what is older; else it goes when it was to go when it was written."),
    FIELD("about", PeriodLine, about, .help = "The same in words."),
};
SCHEMA(ADMIN_KEPT, "AdminKept", PeriodLine, KEPT, .help = "Something that is kept for a time.");

static const ApiMember RETENTION[] = {
    LIST("retention", RetentionView, periods, count, ADMIN_KEPT, .help = "How long things are kept."),
    FIELD("version", RetentionView, version, .help = "For a change of it."),
};
SCHEMA(ADMIN_RETENTION, "AdminRetention", RetentionView, RETENTION, .help = "How long things are kept.");
/* clang-format on */

Status retention_view(Operations *ops, Arena *arena, RetentionView *ret_view)
{
    Retention retention;
    TRY(retention_read(accounts_settings(ops->app->accounts), arena, &retention));
    *ret_view = (RetentionView){.periods = ARENA_ARRAY(arena, RETENTION_ROW_COUNT, PeriodLine),
                                .count = RETENTION_ROW_COUNT,
                                .version = retention.version};
    for (size_t i = 0; i < RETENTION_ROW_COUNT; i++) {
        const RetentionRow *row = &RETENTION_ROWS[i];
        ret_view->periods[i] = (PeriodLine){.name = row->name,
                                            .about = row->about,
                                            .least = row->least,
                                            .most = row->most,
                                            .deletes = row->deletes};
        memcpy(&ret_view->periods[i].days, (const char *)&retention + row->offset, sizeof(int64_t));
    }
    return STATUS_OK;
}

static Status retention_list(Operations *ops, const Actor *actor, const Nothing *request,
                             Arena *arena, RetentionView *ret_view, Reason *reason)
{
    (void)actor, (void)request, (void)reason;
    return retention_view(ops, arena, ret_view);
}

OPERATION(retention_list, Nothing, RetentionView, .help = "Say how long things are kept.",
          FOR_ADMINS, .asks = true, .answers = &SCHEMA_ADMIN_RETENTION,
          .api = {WEB_GET, "admin/retention", .tag = "admin"},
          .no_page = "/admin/settings shows it", .command = {.words = "retention list"});

typedef struct RetentionChange {
    Slice name, reason;
    int64_t days, version;
    bool has_version;
} RetentionChange;

static Status period_set(Operations *ops, const Actor *actor, const RetentionChange *request,
                         Arena *arena, Done *ret_done, Reason *reason)
{
    Settings *settings = accounts_settings(ops->app->accounts);
    Retention before, after;
    Id id;
    TRY(retention_read(settings, arena, &before));
    if (request->has_version && (int64_t)before.version != request->version)
        return reason_set(reason, STATUS_CONFLICT, "",
                          "somebody else changed it in between; this is what stands now");
    TRY(retention_change(&before, request->name, request->days, &after, reason));
    AuditAct act = {.kind = AUDIT_RETENTION_SET,
                    .reason = request->reason,
                    .details = arena_print(arena, "%.*s: %lld days", SLICE_ARG(request->name),
                                           (long long)request->days)};
    TRY(operation_audit(ops, actor, &act, &id, reason));
    ret_done->done = true;
    TRY(operation_audit_end(ops, id, retention_set(settings, &after, reason)));
    operations_notify(ops, CHANGE_TEXT, 0); /* the page on privacy says it */
    return STATUS_OK;
}

/* clang-format off */
OPERATION(period_set, RetentionChange, Done, .help = "Change how long something is kept.", FOR_ADMINS, .audits = AUDITS(RETENTION_SET),
    .api = {WEB_PUT, "admin/retention", .tag = "admin"}, .page = {"/admin/settings/retention", "period", "New ones are kept for that time from now on."},
    .command = {.words = "retention set", .done = "new ones are kept so long; instances learn of it within a minute"},
    .inputs = {
        INPUT("name", RetentionChange, name, LINE, .operand = true, .least = 1, .most = 60, .value = "NAME", .help = "What."),
        INPUT("days", RetentionChange, days, NUMBER, .operand = true, .least = INT64_MIN, .most = INT64_MAX, .value = "DAYS", .help = "How many days."),
        INPUT("version", RetentionChange, version, NUMBER, .optional = true, .most = INT64_MAX, .no_command = true, GIVEN(RetentionChange, has_version),
              .help = "That was seen; left out: whatever it is."),
        REASON_NOT_ON_PAGE(RetentionChange),
    });
/* clang-format on */
