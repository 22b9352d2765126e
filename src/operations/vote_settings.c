/* vote_settings.c -- the rules of the vote: what is in force, what a change does, changing one.
 *
 * A change counts from 15 minutes on at the earliest (settings.h), so that it never changes the past. It is one conditional update, in the
 * audit log before it is done; a crash in between leaves an entry whose outcome is not known, and the list of versions tells. */
#include "operations/vote_settings.h"

#include "operations/policy_head.h"
#include "operations/schema_macros.h"
#include "web/put.h"

/* clang-format off */
static const ApiMember SETTING[] = {
    FIELD("name", SettingLine, name, .help = "The rule."),
    FIELD("value", SettingLine, now, .help = "What is in force now."),
    FIELD("least", SettingLine, least, .help = "The least that it may be."),
    FIELD("most", SettingLine, most, .help = "The most that it may be."),
    FIELD("help", SettingLine, help, .help = "What it means."),
};
SCHEMA(ADMIN_SETTING, "AdminSetting", SettingLine, SETTING, .help = "A rule of the vote.");

static const ApiMember VERSION[] = {
    FIELD("version", SettingVersion, version, .help = "Its number."),
    TIME("from", SettingVersion, from_us, .help = "From when it counts."),
    FIELD("planned", SettingVersion, is_ahead, .help = "Whether that is in the future."),
    FIELD("changes", SettingVersion, changes, .help = "What it changed, in words."),
};
SCHEMA(ADMIN_VERSION, "AdminVersion", SettingVersion, VERSION, .help = "A change of the rules.");

extern const ApiSchema SCHEMA_ADMIN_KEPT;
static const ApiMember SETTINGS[] = {
    MANY("settings", API_SOME, SettingsView, lines, line_count, &SCHEMA_ADMIN_SETTING, .help = "In force now."),
    LIST("versions", SettingsView, versions, version_count, ADMIN_VERSION, .help = "Planned and past changes, the newest first."),
    LIST("retention", SettingsView, retention.periods, retention.count, ADMIN_KEPT, .help = "How long things are kept."),
    FIELD("retention_version", SettingsView, retention.version, .help = "For a change of it."),
};
SCHEMA(ADMIN_SETTINGS, "AdminSettings", SettingsView, SETTINGS, .help = "The rules of the vote, and how long things are kept.");

static const ApiMember RULES[] = {
    FIELD("version", VotingSettings, version, .help = "Which version of the settings it is."),
#define X(name, fallback, least, most, text) FIELD(#name, VotingSettings, name, .help = text),
    SETTING_LIST(X)
#undef X
};
SCHEMA(SETTINGS, "Settings", VotingSettings, RULES, .help = "The rules of the vote that are in force now.");
/* clang-format on */

/* ---- What a change does: pure ------------------------------------------------------------------------------------------------ */

enum { EXAMPLE = 100 };

/* ---- What a change does: pure ------------------------------------------------------------------------------------------- */

/* As all figures on pages: with thin spaces. */
static Slice count_text(int64_t count, Arena *arena)
{
    BUFFER_SCOPE Buffer out = {0};
    html_number(&out, count);
    return arena_copy(arena, buffer_slice(&out));
}

static Slice pollies_text(int64_t pollies, Arena *arena)
{
    return arena_print(arena, "%.*s pollies", SLICE_ARG(count_text(pollies, arena)));
}

/* A rate with one decimal where it is not whole. */
static Slice rate_text(int64_t pollies, int64_t days, int64_t over, Arena *arena)
{
    int64_t tenths = pollies * over * 10 / days;
    if (tenths % 10 == 0)
        return pollies_text(tenths / 10, arena);
    return arena_print(arena, "%.*s.%lld pollies", SLICE_ARG(count_text(tenths / 10, arena)),
                       (long long)(tenths % 10));
}

static Slice salary_text(const VotingSettings *settings, Arena *arena)
{
    return arena_print(
        arena, "%.*s every %lld %s", SLICE_ARG(pollies_text(settings->salary, arena)),
        (long long)settings->salary_days, settings->salary_days == 1 ? "day" : "days");
}

static Slice week_text(const VotingSettings *settings, Arena *arena)
{
    return rate_text(settings->salary, settings->salary_days, 7, arena);
}

static Slice withdrawal_text(const VotingSettings *settings, Arena *arena)
{
    return pollies_text(EXAMPLE - EXAMPLE * settings->withdrawal_percent / 100, arena);
}

static Slice create_text(const VotingSettings *settings, Arena *arena)
{
    return pollies_text(settings->create_cost, arena);
}

/* How long somebody who earns nothing else saves for a policy of their own. */
static Slice saving_text(const VotingSettings *settings, Arena *arena)
{
    if (settings->salary == 0)
        return settings->create_cost == 0 ? SLICE("at once") : SLICE("never");
    int64_t periods = (settings->create_cost + settings->salary - 1) / settings->salary;
    return arena_print(arena, "%lld days",
                       (long long)(periods <= 1 ? 0 : (periods - 1) * settings->salary_days));
}

static Slice window_text(const VotingSettings *settings, Arena *arena)
{
    return arena_print(arena, "votes of the last %lld %s", (long long)settings->window_days,
                       settings->window_days == 1 ? "day" : "days");
}

static Slice appeal_text(const VotingSettings *settings, Arena *arena)
{
    return arena_print(arena, "%lld days", (long long)settings->appeal_days);
}

static const struct {
    const char *what;
    Slice (*text)(const VotingSettings *settings, Arena *arena);
} EFFECTS[] = {
    {"A voter earns", salary_text},
    {"That is, in a week", week_text},
    {"Taking back 100 votes gives", withdrawal_text},
    {"Creating a policy costs", create_text},
    {"A newcomer can create one after", saving_text},
    {"The front page ranks by", window_text},
    {"A deletion can be appealed for", appeal_text},
};

size_t setting_effects(const VotingSettings *before, const VotingSettings *after, Arena *arena,
                       SettingEffect *ret_effects)
{
    size_t count = 0;
    for (size_t i = 0; i < sizeof EFFECTS / sizeof EFFECTS[0]; i++) {
        Slice old = EFFECTS[i].text(before, arena), new = EFFECTS[i].text(after, arena);
        if (!slice_equal(old, new))
            ret_effects[count++] = (SettingEffect){EFFECTS[i].what, old, new};
    }
    return count;
}

/* ---- What is in force --------------------------------------------------------------------------------------------------------- */

static void fill_lines(const VotingSettings *now, SettingsView *view)
{
#define X(name, fallback, least, most, help) \
    view->lines[view->line_count++] = (SettingLine){#name, help, now->name, least, most};
    SETTING_LIST(X)
#undef X
}

static Slice changes_of(const VotingSettings *before, const VotingSettings *after, Arena *arena)
{
    BUFFER_SCOPE Buffer out = {0};
#define X(name, fallback, least, most, help)                                    \
    if (before->name != after->name)                                            \
        buffer_print(&out, "%s%s %lld → %lld", out.size > 0 ? ", " : "", #name, \
                     (long long)before->name, (long long)after->name);
    SETTING_LIST(X)
#undef X
    return arena_copy(arena, buffer_slice(&out));
}

/* The newest first. */
static void fill_versions(const SettingsHistory *history, Arena *arena, SettingsView *view)
{
    view->versions = ARENA_ARRAY(arena, SETTING_VERSIONS_SHOWN, SettingVersion);
    for (size_t i = history->count; i-- > 1 && view->version_count < SETTING_VERSIONS_SHOWN;) {
        const VotingSettings *version = &history->versions[i];
        view->versions[view->version_count++] =
            (SettingVersion){.version = version->version,
                             .from_us = version->from_us,
                             .is_ahead = version->from_us > view->now_us,
                             .changes = changes_of(&history->versions[i - 1], version, arena)};
    }
}

Status settings_view(Operations *ops, Arena *arena, SettingsView *ret_view)
{
    SettingsHistory history;
    SettingsView view = {.now_us = clock_now_us(ops->app->world.clock)};
    TRY(settings_read(accounts_settings(ops->app->accounts), arena, &history));
    fill_lines(settings_at(&history, view.now_us), &view);
    fill_versions(&history, arena, &view);
    TRY(retention_view(ops, arena, &view.retention));
    *ret_view = view;
    return STATUS_OK;
}

static Status setting_list(Operations *ops, const Actor *actor, const Nothing *request,
                           Arena *arena, SettingsView *ret_view, Reason *reason)
{
    (void)actor, (void)request, (void)reason;
    return settings_view(ops, arena, ret_view);
}

OPERATION(setting_list, Nothing, SettingsView,
          .help = "List the rules of the vote, planned changes, and how long things are kept.",
          FOR_ADMINS, .asks = true, .answers = &SCHEMA_ADMIN_SETTINGS,
          .api = {WEB_GET, "admin/settings", .tag = "admin"},
          .no_page = "/admin/settings shows them", .command = {.words = "setting list"});

/* ---- Changing one ------------------------------------------------------------------------------------------------------------- */

/* What will stand then, and what the change makes of it. */
Status setting_preview(Operations *ops, Slice name, Slice value, int64_t from_us, Arena *arena,
                       SettingPreview *ret_preview, Reason *reason)
{
    SettingsHistory history;
    VotingSettings after;
    int64_t earliest_us = clock_now_us(ops->app->world.clock) + SETTING_AHEAD_LEAST_S * US_PER_S;
    TRY(settings_read(accounts_settings(ops->app->accounts), arena, &history));
    const VotingSettings *last = &history.versions[history.count - 1];
    TRY(settings_change(last, name, value, &after, reason));
    if (from_us == 0)
        from_us = earliest_us > last->from_us ? earliest_us : last->from_us;
    if (from_us < earliest_us || from_us < last->from_us)
        return reason_set(reason, STATUS_REFUSED, "from",
                          from_us < earliest_us
                              ? "a setting counts at the earliest 15 minutes from now"
                              : "a setting does not count before the last change does");
    ret_preview->from_us = from_us;
    ret_preview->effect_count = setting_effects(last, &after, arena, ret_preview->effects);
    return STATUS_OK;
}

typedef struct SettingSet {
    Slice name, value, reason;
    int64_t from_us;
} SettingSet;

static Status setting_set(Operations *ops, const Actor *actor, const SettingSet *request,
                          Arena *arena, Done *ret_done, Reason *reason)
{
    Id id;
    AuditAct act = {.kind = AUDIT_SETTING_SET,
                    .reason = request->reason,
                    .details = arena_print(arena, "%.*s = %.*s", SLICE_ARG(request->name),
                                           SLICE_ARG(request->value))};
    TRY(operation_audit(ops, actor, &act, &id, reason));
    ret_done->done = true;
    return operation_audit_end(ops, id,
                               settings_set(accounts_settings(ops->app->accounts), request->name,
                                            request->value, request->from_us, reason));
}

/* clang-format off */
OPERATION(setting_set, SettingSet, Done, .help = "Change a rule of the vote, from 15 minutes on at the earliest.", FOR_ADMINS, .audits = AUDITS(SETTING_SET),
    .api = {WEB_POST, "admin/settings", .tag = "admin"}, .page = {"/admin/settings", "setting", "The change is planned. Nothing before its moment changes."},
    .command = {.words = "setting set", .done = "the change is planned; `setting list` says from when"},
    .inputs = {
        INPUT("name", SettingSet, name, LINE, .operand = true, .least = 1, .most = 100, .value = "NAME", .help = "Which rule."),
        INPUT("value", SettingSet, value, LINE, .operand = true, .least = 1, .most = 100, .value = "VALUE", .help = "What it shall be, as text."),
        INPUT("from", SettingSet, from_us, TIME, .optional = true, .help = "From when, as in 2026-01-31T12:00, UTC; left out: as early as allowed."),
        REASON_INPUT(SettingSet),
    });
/* clang-format on */

/* ---- For everybody ------------------------------------------------------------------------------------------------------------- */

static Status rules_show(Operations *ops, const Actor *actor, const Nothing *request, Arena *arena,
                         VotingSettings *ret_settings, Reason *reason)
{
    (void)actor, (void)request, (void)reason;
    return operations_settings(ops, arena, ret_settings);
}

OPERATION(rules_show, Nothing, VotingSettings,
          .help = "Show the rules of the vote that are in force now.", .asks = true,
          .answers = &SCHEMA_SETTINGS,
          .api = {WEB_GET, "settings", .tag = "rankings", .cache_ms = 10000},
          .no_page = "/about says them", .command = {.words = "setting rules"});
