/* glance.c -- the front room of those who run the site: how it is, what wants attention, what was done last. */
#include "site/admin/admin.h"
#include "site/pages.h"

Slice admin_name_of(Site *site, uint64_t account, Arena *arena)
{
    Account found;
    if (account == 0)
        return SLICE_EMPTY;
    if (accounts_recent(site->app->accounts, account, arena, &found) == STATUS_OK &&
        found.name.size > 0)
        return found.name;
    return arena_print(arena, "number %llu", (unsigned long long)account);
}

/* ---- Acts ---------------------------------------------------------------------------------------------------------------- */

/* What is not there any more is called by its number. */
static Slice policy_name(Site *site, uint64_t policy, Arena *arena)
{
    PolicyCard card;
    if (cards_name(site->cards, policy, arena, &card) == STATUS_OK && card.name.size > 0)
        return card.name;
    return arena_print(arena, "policy %llu", (unsigned long long)policy);
}

static Slice report_name(Site *site, uint64_t report, Arena *arena)
{
    (void)site;
    return arena_print(arena, "report %llu", (unsigned long long)report);
}

/* Where the object of an act can be looked at, and what it is called. */
static void fill_object(Site *site, const Act *act, Arena *arena, ActLine *line)
{
    static const struct {
        const char *object, *path;
        Slice (*name)(Site *site, uint64_t id, Arena *arena);
    } PLACES[] = {{"policy", "/policies/", policy_name},
                  {"account", "/admin/people/", admin_name_of},
                  {"report", "/desk/reports/", report_name}};
    line->object = line->about = SLICE_EMPTY;
    for (size_t i = 0; act->object != 0 && i < sizeof PLACES / sizeof PLACES[0]; i++)
        if (strcmp(act_kind_object(act->kind), PLACES[i].object) == 0) {
            line->object =
                arena_print(arena, "%s%llu", PLACES[i].path, (unsigned long long)act->object);
            line->about = PLACES[i].name(site, act->object, arena);
        }
}

Status act_lines(Site *site, const AuditQuery *query, Arena *arena, ActLine **ret_lines,
                 size_t *ret_count)
{
    AuditEntry *entries;
    size_t count;
    TRY(audit_list(site->app->audit, query, arena, &entries, &count));
    ActLine *lines = ARENA_ARRAY(arena, count, ActLine);
    for (size_t i = 0; i < count; i++) {
        lines[i] = (ActLine){.entry = entries[i],
                             .text = act_kind_text(entries[i].act.kind),
                             .actor = admin_name_of(site, entries[i].act.actor, arena),
                             .details = entries[i].act.details};
        fill_object(site, &entries[i].act, arena, &lines[i]);
    }
    *ret_lines = lines;
    *ret_count = count;
    return STATUS_OK;
}

/* ---- The view ------------------------------------------------------------------------------------------------------------ */

static Status count_tasks(Site *site, Arena *arena, uint64_t *ret_failing)
{
    TasksView view;
    uint64_t failing = 0;
    TRY(tasks_view(site, arena, &view));
    for (size_t i = 0; i < view.count; i++)
        failing += strcmp(view.tasks[i].state, "failed") == 0;
    *ret_failing = failing;
    return STATUS_OK;
}

static Status count_settings(Site *site, Arena *arena, uint64_t *ret_ahead)
{
    SettingsHistory history;
    uint64_t ahead = 0;
    TRY(accounts_settings(site->app->accounts, arena, &history));
    for (size_t i = 0; i < history.count; i++)
        ahead += history.versions[i].from_us > clock_now_us(site->app->world.clock);
    *ret_ahead = ahead;
    return STATUS_OK;
}

static Status fill_maintenance(Site *site, Arena *arena, GlanceView *view)
{
    const SiteHouse *house = &site->options.house;
    view->has_maintenance = house->maintenance != NULL;
    view->message = SLICE_EMPTY;
    if (view->has_maintenance)
        TRY(house->maintenance(house->self, arena, &view->message));
    view->in_maintenance = view->has_maintenance && view->message.data != NULL;
    return STATUS_OK;
}

Status glance_view(Site *site, Arena *arena, GlanceView *ret_view)
{
    App *app = site->app;
    GlanceView view = {.now_us = clock_now_us(app->world.clock)};
    AuditQuery query = {.instance = SLICE_EMPTY, .limit = GLANCE_ACTS};
    Instance *instances;
    MailEntry *failed;
    size_t count;
    store_health(app->store, &view.health);
    TRY(fill_maintenance(site, arena, &view));
    TRY(tasks_instances(app_tasks(app), arena, &instances, &count));
    view.instances = count;
    TRY(mail_list(app->mail, MAIL_FAILED, arena, &failed, &count));
    view.letters_failed = count;
    TRY(count_tasks(site, arena, &view.tasks_failing));
    TRY(count_settings(site, arena, &view.settings_ahead));
    TRY(electorate_read(app->accounts, arena, &view.electorate));
    TRY(act_lines(site, &query, arena, &view.acts, &view.act_count));
    *ret_view = view;
    return STATUS_OK;
}

static Status show_glance(WebRequest *request)
{
    GlanceView view;
    Frame frame = {.title = SLICE("Running this site"), .here = "/admin"};
    TRY(glance_view(site_of(request), web_arena(request), &view));
    view.viewer = site_viewer(request);
    Buffer *out = page_begin(request, &frame);
    admin_glance_page(out, &view);
    page_end(request, out);
    return STATUS_OK;
}

static const WebRoute ROUTES[] = {
    {WEB_GET, "/admin", show_glance, ADMIN_ROW(ADMIN_ROLES), .threads = WEB_SAVE,
     .help = "How the site is, at a glance, and the rooms of those who run it."},
};
const Room ROOM_ADMIN_GLANCE = ROOM(ROUTES);
