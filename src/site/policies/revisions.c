/* revisions.c -- the pages of all revisions of a policy's text, and of one of them. */
#include "site/pages.h"
#include "site/policies/policy_views.h"

enum { P_POLICY, P_BEFORE, P_NEWER, P_OLDER }; /* of the list */
enum { P_REVISION = P_POLICY + 1, P_AGAINST }; /* of one, after its policy */

/* The form of the list names two; they have an address of their own. */
static bool lead_to_two(WebRequest *request, const PolicyHead *head)
{
    uint32_t newer = (uint32_t)web_number(request, P_NEWER),
             older = (uint32_t)web_number(request, P_OLDER);
    Slice address = head->address;
    if (newer == 0 || older == 0)
        return false;
    web_redirect(request, 303,
                 arena_print(web_arena(request), "%.*s/revisions/%u?against=%u", SLICE_ARG(address),
                             newer, older));
    return true;
}

static Status show_revisions(WebRequest *request)
{
    RevisionsPage page;
    RevisionsView *view = &page.list;
    Arena *arena = web_arena(request);
    TRY(revisions_view(site_of(request)->ops, web_id(request, P_POLICY),
                       (uint32_t)web_number(request, P_BEFORE), site_actor(request), arena, view));
    if (lead_to_two(request, &view->head))
        return STATUS_OK;
    Frame frame = {
        .title = arena_print(arena, "%.*s: revisions", SLICE_ARG(view->head.policy.text.name))};
    Slice address = view->head.address;
    uint32_t all = view->head.policy.revision, newest = view->entries[0].revision,
             oldest = view->entries[view->count - 1].revision;
    page.pager = (Pager){.from = all - newest + 1,
                         .to = all - oldest + 1,
                         .all = all,
                         .before = SLICE_EMPTY,
                         .after = SLICE_EMPTY};
    if (newest < all)
        page.pager.before = arena_print(arena, "%.*s/revisions?before=%u", SLICE_ARG(address),
                                        newest + REVISIONS_PAGE + 1);
    if (oldest > 1)
        page.pager.after =
            arena_print(arena, "%.*s/revisions?before=%u", SLICE_ARG(address), oldest);
    Buffer *out = page_begin(request, &frame);
    revisions_page(out, &page);
    page_end(request, out);
    return STATUS_OK;
}

static Status show_revision(WebRequest *request)
{
    RevisionView view;
    Arena *arena = web_arena(request);
    RevisionQuery want = {.policy = web_id(request, P_POLICY),
                          .revision = (uint32_t)web_number(request, P_REVISION),
                          .against = (uint32_t)web_number(request, P_AGAINST)};
    TRY(revision_view(site_of(request)->ops, &want, site_actor(request), arena, &view));
    Frame frame = {.title =
                       arena_print(arena, "%.*s: revision %u",
                                   SLICE_ARG(view.head.policy.text.name), view.revision.revision)};
    Buffer *out = page_begin(request, &frame);
    revision_page(out, &view);
    page_end(request, out);
    return STATUS_OK;
}

#define REVISION(field, place, words)                                         \
    {                                                                         \
        field, place, WEB_NUMBER, .optional = place == WEB_QUERY, .least = 1, \
                                  .most = POLICY_REVISIONS_MAX, .help = words \
    }

static const WebRoute ROUTES[] = {
    {WEB_GET, "/policies/{policy}/revisions", show_revisions, .cache_ms = 1000,
     .shows = "revision_list", .help = "All revisions of a policy's text, the newest first.",
     .params = {[P_POLICY] = {"policy", WEB_PATH, WEB_SLUG, .help = "The policy."},
                [P_BEFORE] = {"before", WEB_QUERY, WEB_NUMBER, .optional = true, .least = 2,
                              .most = POLICY_REVISIONS_MAX + REVISIONS_PAGE + 1,
                              .help = "Only revisions before this one."},
                [P_NEWER] =
                    REVISION("newer", WEB_QUERY, "Leads to this one compared with `older`."),
                [P_OLDER] = REVISION("older", WEB_QUERY, "See `newer`.")}},
    {WEB_GET, "/policies/{policy}/revisions/{revision}", show_revision, .cache_ms = 10000,
     .shows = "revision_show", .threads = WEB_COMPUTE, /* a comparison of long texts */
     .help = "One revision, and what it changed.",
     .params = {[P_POLICY] = {"policy", WEB_PATH, WEB_SLUG, .help = "The policy."},
                [P_REVISION] = REVISION("revision", WEB_PATH, "1, 2, …"),
                [P_AGAINST] = REVISION("against", WEB_QUERY,
                                       "The revision to compare with; the one before it.")}},
};
ROUTE_TABLE(REVISIONS, ROUTES);
