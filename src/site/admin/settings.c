/* settings.c -- the rules of the vote and how long things are kept. A change of a rule is shown with what it does, before and after, and when, before it is
 * made; it counts from 15 minutes on at the earliest (accounts.h), so that it never changes the past. */
#include "base/time_text.h"
#include "site/admin/admin.h"
#include "site/pages.h"

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

/* ---- The view ------------------------------------------------------------------------------------------------------------ */

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

static Status fill_periods(Site *site, Arena *arena, SettingsView *view)
{
    Retention retention;
    TRY(retention_read(site->app->accounts, arena, &retention));
    view->periods = ARENA_ARRAY(arena, RETENTION_ROW_COUNT, PeriodLine);
    view->period_count = RETENTION_ROW_COUNT;
    view->period_version = retention.version;
    for (size_t i = 0; i < RETENTION_ROW_COUNT; i++) {
        const RetentionRow *row = &RETENTION_ROWS[i];
        view->periods[i] = (PeriodLine){.name = row->name,
                                        .about = row->about,
                                        .least = row->least,
                                        .most = row->most,
                                        .deletes = row->deletes};
        memcpy(&view->periods[i].days, (const char *)&retention + RETENTION_ROWS[i].offset,
               sizeof(int64_t));
    }
    return STATUS_OK;
}

Status settings_view(Site *site, Arena *arena, SettingsView *ret_view)
{
    SettingsHistory history;
    SettingsView view = {.now_us = clock_now_us(site->app->world.clock),
                         .name = SLICE_EMPTY,
                         .value = SLICE_EMPTY,
                         .from = SLICE_EMPTY,
                         .reason = SLICE_EMPTY};
    TRY(accounts_settings(site->app->accounts, arena, &history));
    fill_lines(settings_at(&history, view.now_us), &view);
    fill_versions(&history, arena, &view);
    TRY(fill_periods(site, arena, &view));
    *ret_view = view;
    return STATUS_OK;
}

static Status answer(WebRequest *request, SettingsView *view, int code)
{
    Frame frame = {.title = view->is_preview ? SLICE("What this change does")
                                             : SLICE("Rules of the vote"),
                   .here = "/admin"};
    view->viewer = site_viewer(request);
    web_code(request, code);
    Buffer *out = page_begin(request, &frame);
    if (view->is_preview)
        admin_setting_preview(out, view);
    else
        admin_settings_page(out, view);
    page_end(request, out);
    return STATUS_OK;
}

static Status show_settings(WebRequest *request)
{
    SettingsView view;
    TRY(settings_view(site_of(request), web_arena(request), &view));
    return answer(request, &view, 200);
}

/* ---- A change ------------------------------------------------------------------------------------------------------------ */

/* Empty: as early as allowed (0). */
static Status time_of(Slice text, int64_t *ret_us, Reason *reason)
{
    *ret_us = 0;
    if (text.size == 0)
        return STATUS_OK;
    if (time_from_text(text, ret_us) != STATUS_OK)
        return reason_set(reason, STATUS_INVALID, "from",
                          "must be a day and time as in 2026-01-31T12:00, in UTC");
    return STATUS_OK;
}

/* What will stand then, and what the change makes of it. */
static Status preview(WebRequest *request, SettingsView *view)
{
    SettingsHistory history;
    VotingSettings after;
    Arena *arena = web_arena(request);
    int64_t earliest_us = view->now_us + SETTING_AHEAD_LEAST_S * US_PER_S;
    TRY(accounts_settings(site_of(request)->app->accounts, arena, &history));
    const VotingSettings *last = &history.versions[history.count - 1];
    TRY(settings_change(last, view->name, view->value, &after, web_reason(request)));
    if (view->from_us == 0)
        view->from_us = earliest_us > last->from_us ? earliest_us : last->from_us;
    if (view->from_us < earliest_us || view->from_us < last->from_us)
        return reason_set(web_reason(request), STATUS_REFUSED, "from",
                          view->from_us < earliest_us
                              ? "a setting counts at the earliest 15 minutes from now"
                              : "a setting does not count before the last change does");
    view->is_preview = true;
    view->effect_count = setting_effects(last, &after, arena, view->effects);
    return STATUS_OK;
}

static Status set_setting(WebRequest *request, Slice name, Slice value, int64_t from_us,
                          Slice reason)
{
    Id act;
    Slice details =
        arena_print(web_arena(request), "%.*s = %.*s", (int)(name.size < 100 ? name.size : 100),
                    name.data, (int)(value.size < 100 ? value.size : 100), value.data);
    TRY(site_act(request, &(Act){.kind = ACT_SETTING_SET, .reason = reason, .details = details},
                 &act));
    Status status = accounts_set_setting(site_of(request)->app->accounts, name, value, from_us,
                                         web_reason(request));
    site_act_end(request, act, status);
    return status;
}

/* Rows: 0 name, 1 value, 2 from, 3 reason, 4 act. */
static Status take_setting(WebRequest *request)
{
    SettingsView view;
    TRY(settings_view(site_of(request), web_arena(request), &view));
    view.name = web_text(request, 0);
    view.value = slice_trim(web_text(request, 1));
    view.from = slice_trim(web_text(request, 2));
    view.reason = slice_trim(web_text(request, 3));
    bool saves = slice_equal(web_text(request, 4), SLICE("save"));
    Status status = time_of(view.from, &view.from_us, web_reason(request));
    if (status == STATUS_OK)
        status = saves ? set_setting(request, view.name, view.value, view.from_us, view.reason)
                       : preview(request, &view);
    if (form_can_be_corrected(status)) {
        view.fault = form_fault(web_reason(request));
        return answer(request, &view, 422);
    }
    TRY(status);
    if (!saves)
        return answer(request, &view, 200);
    site_done(request, SLICE("/admin/settings"), "setting", 0);
    return STATUS_OK;
}

/* For programs: rows 0 to 3. */
Status admin_set_setting(WebRequest *request)
{
    int64_t from_us;
    TRY(time_of(slice_trim(web_text(request, 2)), &from_us, web_reason(request)));
    return set_setting(request, web_text(request, 0), slice_trim(web_text(request, 1)), from_us,
                       slice_trim(web_text(request, 3)));
}

/* ---- How long things are kept ---------------------------------------------------------------------------------------- */

/* Rows: 0 which, 1 days, 2 version that was seen, 3 reason; for the page and for programs. */
Status admin_set_period(WebRequest *request)
{
    Accounts *accounts = site_of(request)->app->accounts;
    Retention before, after;
    Id act;
    Slice name = web_text(request, 0);
    TRY(retention_read(accounts, web_arena(request), &before));
    if ((int64_t)before.version != web_number(request, 2))
        return reason_set(web_reason(request), STATUS_CONFLICT, "",
                          "somebody else changed it in between; this is what stands now");
    TRY(retention_change(&before, name, web_number(request, 1), &after, web_reason(request)));
    Slice details = arena_print(web_arena(request), "%.*s: %lld days", SLICE_ARG(name),
                                (long long)web_number(request, 1));
    TRY(site_act(request,
                 &(Act){.kind = ACT_RETENTION_SET,
                        .reason = slice_trim(web_text(request, 3)),
                        .details = details},
                 &act));
    Status status = retention_set(accounts, &after, web_reason(request));
    site_act_end(request, act, status);
    return status;
}

static Status take_period(WebRequest *request)
{
    Status status = admin_set_period(request);
    if (form_can_be_corrected(status)) {
        SettingsView view;
        TRY(settings_view(site_of(request), web_arena(request), &view));
        view.fault = form_fault(web_reason(request));
        return answer(request, &view, 422);
    }
    TRY(status);
    site_done(request, SLICE("/admin/settings"), "period", 0);
    return STATUS_OK;
}

/* clang-format off */
static const WebRoute ROUTES[] = {
    {WEB_GET, "/admin/settings", show_settings, ADMIN_ROW(ADMIN_ROLES),
     .help = "The rules of the vote, what is planned, and how long things are kept."},
    {WEB_POST, "/admin/settings", take_setting, ADMIN_ROW(ADMIN_ROLES), .body_bytes = WEB_BODY_DEFAULT,
     .help = "Shows what a change of a rule does, or makes it.",
     .params = {{"name", WEB_FORM, WEB_LINE, .fallback = "", .most = 100, .help = "Which rule."},
                {"value", WEB_FORM, WEB_LINE, .fallback = "", .most = 100, .help = "What it shall be."},
                {"from", WEB_FORM, WEB_LINE, .fallback = "", .most = 100, .help = "From when, UTC; empty: as early as allowed."},
                REASON_ROW(WEB_FORM),
                {"act", WEB_FORM, WEB_LINE, .fallback = "", .most = 20, .help = "save; anything else only shows."}}},
    {WEB_POST, "/admin/settings/retention", take_period, ADMIN_ROW(ADMIN_ROLES), .body_bytes = WEB_BODY_DEFAULT,
     .help = "Changes how long something is kept.",
     .params = {{"name", WEB_FORM, WEB_LINE, .fallback = "", .most = 60, .help = "What."},
                {"days", WEB_FORM, WEB_NUMBER, .fallback = "0", .least = INT64_MIN, .most = INT64_MAX, .help = "How many days."},
                {"version", WEB_FORM, WEB_NUMBER, .fallback = "0", .most = INT64_MAX, .help = "That the form saw."},
                REASON_ROW(WEB_FORM)}},
};
/* clang-format on */
const Room ROOM_ADMIN_SETTINGS = ROOM(ROUTES);
