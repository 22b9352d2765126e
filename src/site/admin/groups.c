/* groups.c -- /admin/categories and /admin/parties: adding, editing, disabling. */
#include "site/admin/admin.h"
#include "site/pages.h"

static Status fill(WebRequest *request, GroupsPage *page, GroupKind kind, Frame *frame)
{
    page->kind = kind;
    page->path = kind == GROUP_CATEGORY ? "/admin/categories" : "/admin/parties";
    *frame = (Frame){.title = kind == GROUP_CATEGORY ? SLICE("Categories") : SLICE("Parties"),
                     .here = "/admin"};
    return policies_groups(site_of(request)->app->policies, kind, web_arena(request), &page->groups,
                           &page->count);
}

static Status fill_categories(WebRequest *request, void *view, Frame *frame)
{
    return fill(request, view, GROUP_CATEGORY, frame);
}

static Status fill_parties(WebRequest *request, void *view, Frame *frame)
{
    return fill(request, view, GROUP_PARTY, frame);
}

static void draw_page(Buffer *out, const void *view)
{
    admin_groups_page(out, view);
}

static Slice to_categories(WebRequest *request, const void *sent, const void *answer)
{
    (void)request, (void)sent, (void)answer;
    return SLICE("/admin/categories");
}

static Slice to_parties(WebRequest *request, const void *sent, const void *answer)
{
    (void)request, (void)sent, (void)answer;
    return SLICE("/admin/parties");
}

FORM(category_add, GroupsPage, .path = "/admin/categories", .fill = fill_categories,
     .draw = draw_page, .help = "All categories, with forms to change them and to add one.");
FORM(category_set, GroupsPage, .fill = fill_categories, .draw = draw_page, .leads = to_categories);
FORM(party_add, GroupsPage, .path = "/admin/parties", .fill = fill_parties, .draw = draw_page,
     .help = "All parties, with forms to change them and to add one.");
FORM(party_set, GroupsPage, .fill = fill_parties, .draw = draw_page, .leads = to_parties);
