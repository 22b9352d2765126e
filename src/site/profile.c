/* profile.c -- /my/profile: what somebody has, created and voted for, their salary and their name. */
#include "site/my_pages.h"
#include "site/pages.h"

/* ---- The view --------------------------------------------------------------------------------------------------------- */

static MyPolicy own_policy(const Policy *policy, Arena *arena)
{
    return (MyPolicy){policy->id, policy->text.name,
                      policy_address(policy->id, policy->text.name, arena),
                      policy->facts.moves[policy->facts.move_count - 1].state};
}

/* The newest PROFILE_POLICIES with their names; the others are counted. */
static Status add_policies(Site *site, Arena *arena, MyProfile *profile)
{
    PolicyQuery query = {.order = POLICIES_BY_OWNER,
                         .group = profile->account->id,
                         .position = SLICE_EMPTY,
                         .limit = POLICIES_BROWSE_MOST};
    profile->policies = ARENA_ARRAY(arena, PROFILE_POLICIES, MyPolicy);
    for (bool more = true; more && profile->created < PROFILE_POLICIES_MOST;) {
        PolicyPage page;
        TRY(policies_browse(site->app->policies, &query, arena, &page));
        for (size_t i = 0; i < page.count && profile->policy_count < PROFILE_POLICIES; i++)
            profile->policies[profile->policy_count++] = own_policy(&page.policies[i], arena);
        profile->created += page.count;
        query.position = page.position;
        more = page.more;
    }
    return STATUS_OK;
}

static Status add_salaries(Site *site, Arena *arena, MyProfile *profile)
{
    SettingsHistory settings;
    int64_t registered_us = profile->account->registered_us;
    TRY(accounts_settings(site->app->accounts, arena, &settings));
    profile->salary_count = salary_entries(&settings, registered_us, profile->now_us,
                                           profile->salaries, PROFILE_SALARIES);
    profile->next_salary_us = salary_next_us(&settings, registered_us, profile->now_us);
    profile->next_salary = settings_at(&settings, profile->next_salary_us)->salary;
    return STATUS_OK;
}

Status my_profile(Site *site, const Account *account, const VoterState *state, Arena *arena,
                  MyProfile *ret_profile)
{
    SeenLine *lines;
    MyProfile profile = {.now_us = clock_now_us(site->app->world.clock),
                         .account = account,
                         .balance = state->balance};
    TRY(votes_seen(site->app->votes, state, arena, &lines, &profile.voted_for));
    TRY(add_policies(site, arena, &profile));
    TRY(add_salaries(site, arena, &profile));
    *ret_profile = profile;
    return STATUS_OK;
}

/* ---- The page --------------------------------------------------------------------------------------------------------- */

static Status write_profile(WebRequest *request, ProfilePage *page)
{
    MyProfile profile;
    const VoterState *state;
    Viewer *viewer = site_viewer(request);
    Frame frame = {.title = SLICE("Profile"), .here = "/my/profile"};
    TRY(site_voter_state(request, &state));
    TRY(my_profile(site_of(request), &viewer->account, state, web_arena(request), &profile));
    page->profile = &profile;
    page->viewer = viewer;
    Buffer *out = page_begin(request, &frame);
    profile_page(out, page);
    page_end(request, out);
    return STATUS_OK;
}

static Status show_profile(WebRequest *request)
{
    const Account *account = &site_viewer(request)->account;
    ProfilePage page = {.real_name = account->real_name, .shown = account->real_name_shown};
    return write_profile(request, &page);
}

enum { PROFILE_NAME, PROFILE_SHOWN };

static Status save_profile(WebRequest *request)
{
    Reason *reason = web_reason(request);
    ProfilePage page = {.real_name = web_text(request, PROFILE_NAME),
                        .shown = web_switch(request, PROFILE_SHOWN)};
    Status status =
        accounts_set_profile(site_of(request)->app->accounts, site_viewer(request)->account.id,
                             page.real_name, page.shown, reason);
    if (status == STATUS_OK)
        site_done(request, SLICE("/my/profile"), "profile", 0);
    if (!form_can_be_corrected(status))
        return status;
    page.fault = form_fault(reason);
    web_code(request, status_http(STATUS_REFUSED));
    return write_profile(request, &page);
}

/* clang-format off */
static const WebRoute ROUTES[] = {
    {WEB_GET, "/my/profile", show_profile, .access = WEB_LOGIN,
     .help = "What whoever is logged in has, created and voted for; salary and name."},
    {WEB_POST, "/my/profile", save_profile, .access = WEB_LOGIN, .body_bytes = WEB_BODY_DEFAULT,
     .help = "Changes the real name, and whether it is shown.",
     .params = {{"real_name", WEB_FORM, WEB_LINE, .optional = true, .least = 0, .most = 1000,
                 .help = "The real name."},
                {"shown", WEB_FORM, WEB_SWITCH, .fallback = "off",
                 .help = "Whether everybody may see it."}}},
};
/* clang-format on */
const Room ROOM_PROFILE = ROOM(ROUTES);
