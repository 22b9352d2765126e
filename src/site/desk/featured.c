/* featured.c -- /desk/featured: which policies stand first on the front page, in which order, from when and until when.
 *
 * A change is one conditional update of the list, noted before in the log of acts; the same again is done once. */
#include "base/time_text.h"
#include "site/desk/desk.h"
#include "site/live.h"
#include "site/pages.h"

/* ---- The view ---------------------------------------------------------------------------------------------------------------- */

Status featured_view(Site *site, Arena *arena, FeaturedList *ret_list)
{
    Featured *entries;
    FeaturedList list = {.now_us = clock_now_us(site->app->world.clock), .next = SLICE_EMPTY};
    TRY(policies_featured(site->app->policies, arena, &entries, &list.count));
    list.entries = ARENA_ARRAY(arena, list.count, FeaturedView);
    for (size_t i = 0; i < list.count; i++) {
        FeaturedView *view = &list.entries[i];
        PolicyCard card;
        *view = (FeaturedView){.featured = entries[i], .place = (uint32_t)i + 1};
        policy_in_public(site, entries[i].policy, arena, &view->name, &view->address);
        view->is_there = cards_name(site->cards, entries[i].policy, arena, &card) == STATUS_OK &&
                         policy_is_open(card.state);
        view->is_over = featured_is_over(&entries[i], list.now_us);
        view->is_shown = view->is_there && featured_is_shown(&entries[i], list.now_us);
    }
    *ret_list = list;
    return STATUS_OK;
}

/* ---- Changing ---------------------------------------------------------------------------------------------------------------- */

static void front_changed(Site *site)
{
    sheets_changed(site->sheets, SHEET_FRONT, 0);
    live_changed(site->live);
}

static Slice time_or_none(int64_t us, const char *none, Arena *arena)
{
    return us == 0 ? slice_from(none) : stamp_text(us, arena);
}

Status desk_feature(WebRequest *request, const FeatureWish *wish, Slice reason)
{
    Site *site = site_of(request);
    Arena *arena = web_arena(request);
    FeatureWish full = *wish;
    Id id;
    Slice from = time_or_none(wish->from_us, "now", arena),
          until = time_or_none(wish->until_us, "no end", arena);
    full.actor = site_viewer(request)->account.id;
    TRY(policies_feature_check(site->app->policies, &full, web_reason(request)));
    Act act = {.kind = ACT_FEATURE_SET,
               .object = wish->policy,
               .reason = reason,
               .details = arena_print(arena, "place %u, from %.*s until %.*s", wish->place,
                                      SLICE_ARG(from), SLICE_ARG(until))};
    TRY(site_act(request, &act, &id));
    Status status = policies_feature(site->app->policies, &full, web_reason(request));
    site_act_end(request, id, status);
    front_changed(site);
    return status;
}

Status desk_unfeature(WebRequest *request, uint64_t policy, Slice reason)
{
    Site *site = site_of(request);
    Id id;
    Act act = {.kind = ACT_FEATURE_REMOVE, .object = policy, .reason = reason};
    TRY(site_act(request, &act, &id));
    Status status = policies_unfeature(site->app->policies, policy);
    site_act_end(request, id, status);
    front_changed(site);
    return status;
}

/* ---- The page ---------------------------------------------------------------------------------------------------------------- */

static Status show(WebRequest *request, FeaturedPage *page, int code)
{
    page->viewer = site_viewer(request);
    TRY(featured_view(site_of(request), web_arena(request), &page->list));
    Frame frame = {.title = SLICE("Featured policies"), .here = "/desk"};
    Buffer *out = page_begin(request, &frame);
    featured_page(out, page);
    page_end(request, out);
    web_code(request, code);
    return STATUS_OK;
}

static Status show_featured(WebRequest *request)
{
    FeaturedPage page = {.policy = SLICE_EMPTY,
                         .place = SLICE_EMPTY,
                         .from = SLICE_EMPTY,
                         .until = SLICE_EMPTY,
                         .reason = SLICE_EMPTY};
    if (web_has(request, 0))
        page.policy =
            arena_print(web_arena(request), "%llu", (unsigned long long)web_id(request, 0));
    return show(request, &page, 200);
}

/* By its number, or the beginning of its name when only one has it. */
static Status find_policy(WebRequest *request, Slice typed, uint64_t *ret_id)
{
    PolicyPage found;
    Reason *reason = web_reason(request);
    PolicyQuery query = {
        .order = POLICIES_BY_NAME, .prefix = typed, .position = SLICE_EMPTY, .limit = 2};
    if (typed.size == 0)
        return reason_set(reason, STATUS_INVALID, "policy",
                          "must be its number, or the beginning of its name");
    if (slice_to_u64(typed, ret_id) == STATUS_OK && *ret_id != 0)
        return STATUS_OK;
    if (typed.size > 4 * (size_t)POLICY_NAME_MOST)
        return reason_set(reason, STATUS_INVALID, "policy", "no policy has such a long name");
    TRY(policies_browse(site_of(request)->app->policies, &query, web_arena(request), &found));
    if (found.count == 0)
        return reason_set(reason, STATUS_INVALID, "policy", "no policy has a name that begins so");
    if (found.count > 1 && !slice_equal_ignoring_case(found.policies[0].text.name, typed))
        return reason_set(
            reason, STATUS_INVALID, "policy",
            "several policies have a name that begins so; write more of it, or its number");
    *ret_id = found.policies[0].id;
    return STATUS_OK;
}

static Status read_time(const char *field, Slice typed, int64_t *ret_us, Reason *reason)
{
    *ret_us = 0;
    if (typed.size == 0)
        return STATUS_OK;
    if (time_from_text(typed, ret_us) != STATUS_OK)
        return reason_set(reason, STATUS_INVALID, field,
                          "must be a date, or date and time, as in 2026-01-31T12:00 (UTC)");
    return STATUS_OK;
}

static Status read_wish(WebRequest *request, const FeaturedPage *page, FeatureWish *wish)
{
    uint64_t place = 0;
    Reason *reason = web_reason(request);
    TRY(find_policy(request, page->policy, &wish->policy));
    if (page->place.size > 0 &&
        (slice_to_u64(page->place, &place) != STATUS_OK || place == 0 || place > FEATURED_MOST))
        return reason_set(reason, STATUS_INVALID, "place", "must be from 1 to %d", FEATURED_MOST);
    wish->place = (uint32_t)place;
    TRY(read_time("from", page->from, &wish->from_us, reason));
    return read_time("until", page->until, &wish->until_us, reason);
}

static Status show_unknown(WebRequest *request)
{
    Frame frame = {.title = SLICE("We do not know whether it was saved"), .is_narrow = true};
    Buffer *out = page_begin(request, &frame);
    desk_unknown_page(out, SLICE("/desk/featured"));
    page_end(request, out);
    web_code(request, 503);
    return STATUS_OK;
}

static Status answer(WebRequest *request, FeaturedPage *page, Status status, const char *done)
{
    if (status == STATUS_UNKNOWN)
        return show_unknown(request);
    if (form_can_be_corrected(status) || (status == STATUS_NOT_FOUND && page != NULL)) {
        page->fault = form_fault(web_reason(request));
        return show(request, page, 422);
    }
    TRY(status);
    site_done(request, SLICE("/desk/featured"), done, 0);
    return STATUS_OK;
}

static FeaturedPage typed(WebRequest *request)
{
    return (FeaturedPage){.policy = slice_trim(web_text(request, 0)),
                          .place = slice_trim(web_text(request, 1)),
                          .from = slice_trim(web_text(request, 2)),
                          .until = slice_trim(web_text(request, 3)),
                          .reason = slice_trim(web_text(request, 4))};
}

static Status set(WebRequest *request)
{
    FeatureWish wish = {0};
    FeaturedPage page = typed(request);
    Status status = read_wish(request, &page, &wish);
    if (status == STATUS_OK)
        status = desk_feature(request, &wish, page.reason);
    return answer(request, &page, status, "featured");
}

static Status remove_one(WebRequest *request)
{
    FeaturedPage page = {.policy = SLICE_EMPTY,
                         .place = SLICE_EMPTY,
                         .from = SLICE_EMPTY,
                         .until = SLICE_EMPTY,
                         .reason = SLICE_EMPTY};
    return answer(request, &page, desk_unfeature(request, web_id(request, 0), SLICE_EMPTY),
                  "unfeatured");
}

/* clang-format off */
#define FOR_FEATURE .access = WEB_ROLE, .roles = DESK_FEATURE
#define LINE(name, words) {name, WEB_FORM, WEB_LINE, .fallback = "", .most = DESK_LINE_MOST, .help = words}

static const WebRoute ROUTES[] = {
    {WEB_GET, "/desk/featured", show_featured, FOR_FEATURE, .help = "The policies that stand first on the front page.",
     .params = {{"policy", WEB_QUERY, WEB_ID, .optional = true, .help = "What the form begins with."}}},
    {WEB_POST, "/desk/featured", set, FOR_FEATURE, .body_bytes = WEB_BODY_DEFAULT, .help = "Features a policy, or changes its place or times.",
     .params = {LINE("policy", "Its number, or the beginning of its name."), LINE("place", "1 for the first; empty: where it is, or last."),
                LINE("from", "From when (UTC); empty: at once."), LINE("until", "Until when (UTC); empty: without an end."),
                {"reason", WEB_FORM, WEB_TEXT, .fallback = "", .most = DESK_FIELD_MOST, .help = "Why; the public log shows it."}}},
    {WEB_POST, "/desk/featured/{policy}/remove", remove_one, FOR_FEATURE, .whose = WEB_ANYBODYS, .body_bytes = WEB_BODY_DEFAULT,
     .help = "Takes a policy off the front page.", .params = {{"policy", WEB_PATH, WEB_ID, .help = "The policy."}}},
};
/* clang-format on */
const Room ROOM_FEATURED = ROOM(ROUTES);
