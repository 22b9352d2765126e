/* profile.c -- /my/profile: what somebody has, created and voted for, their salary and their name. */
#include "site/my/my_pages.h"
#include "site/pages.h"

static Status fill_profile(WebRequest *request, void *view, Frame *frame)
{
    ProfilePage *page = view;
    const Account *account = &site_viewer(request)->account;
    *frame = (Frame){.title = SLICE("Profile"), .here = "/my/profile"};
    if (page->form.status == STATUS_OK) {
        form_type(&page->form, "real_name", account->real_name);
        form_type(&page->form, "real_name_shown",
                  account->real_name_shown ? SLICE("on") : SLICE_EMPTY);
    }
    return my_profile(site_of(request)->ops, account, web_arena(request), &page->profile);
}

static void draw_profile(Buffer *out, const void *view)
{
    profile_page(out, view);
}

FORM(profile_set, ProfilePage, .path = "/my/profile", .fill = fill_profile, .draw = draw_profile,
     .help = "What whoever is logged in has, created and voted for; salary and name.");
