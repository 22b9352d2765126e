/* moderation.c -- /moderation: the public log of what moderators did, and why. Not who: the site answers for it as a whole. */
#include "site/desk/desk.h"
#include "site/pages.h"

void policy_in_public(Site *site, uint64_t policy, Arena *arena, Slice *ret_name,
                      Slice *ret_address)
{
    PolicyCard card;
    bool is_shown = cards_name(site->cards, policy, arena, &card) == STATUS_OK &&
                    card.state != POLICY_PENDING_DELETION && card.state != POLICY_DELETED;
    *ret_name = is_shown ? card.name
                         : arena_print(arena, "Policy %llu, which is not shown",
                                       (unsigned long long)policy);
    *ret_address =
        is_shown ? card.address : arena_print(arena, "/policies/%llu", (unsigned long long)policy);
}

static ActView act_view(Site *site, const AuditEntry *entry, Arena *arena)
{
    ActView view = {.entry = *entry,
                    .sentence = act_kind_text(entry->act.kind),
                    .object_kind = act_kind_object(entry->act.kind),
                    .object_name = SLICE_EMPTY,
                    .object_address = SLICE_EMPTY,
                    .other_name = SLICE_EMPTY,
                    .other_address = SLICE_EMPTY};
    bool is_policy = strcmp(view.object_kind, "policy") == 0;
    view.has_object = is_policy && entry->act.object != 0;
    view.has_other = is_policy && entry->act.other != 0;
    if (view.has_object)
        policy_in_public(site, entry->act.object, arena, &view.object_name, &view.object_address);
    if (view.has_other)
        policy_in_public(site, entry->act.other, arena, &view.other_name, &view.other_address);
    return view;
}

static Slice next_page(const ActsWish *wish, Id last, Arena *arena)
{
    Slice before = id_text(last, arena);
    if (wish->policy == 0)
        return arena_print(arena, "%s?before=%.*s", wish->path, SLICE_ARG(before));
    return arena_print(arena, "%s?policy=%llu&before=%.*s", wish->path,
                       (unsigned long long)wish->policy, SLICE_ARG(before));
}

Status acts_view(Site *site, const ActsWish *wish, Arena *arena, ActsView *ret_view)
{
    AuditEntry *entries;
    size_t count;
    Slice address;
    AuditQuery query = {.public_only = true,
                        .object_kind = wish->policy != 0 ? "policy" : NULL,
                        .object = wish->policy,
                        .before = wish->before,
                        .limit = DESK_ROWS};
    TRY(audit_list(site->app->audit, &query, arena, &entries, &count));
    ActsView view = {.now_us = clock_now_us(site->app->world.clock),
                     .policy = wish->policy,
                     .policy_name = SLICE_EMPTY,
                     .acts = ARENA_ARRAY(arena, count, ActView),
                     .count = count,
                     .next = SLICE_EMPTY};
    for (size_t i = 0; i < count; i++)
        view.acts[i] = act_view(site, &entries[i], arena);
    if (wish->policy != 0)
        policy_in_public(site, wish->policy, arena, &view.policy_name, &address);
    if (count == DESK_ROWS)
        view.next = next_page(wish, entries[count - 1].id, arena);
    *ret_view = view;
    return STATUS_OK;
}

static Status show_acts(WebRequest *request)
{
    ActsView view;
    ActsWish wish = {.policy = web_id(request, 0), .path = "/moderation"};
    if (web_has(request, 1) && id_from_text(web_text(request, 1), &wish.before) != STATUS_OK)
        return reason_set(web_reason(request), STATUS_INVALID, "before",
                          "must be what a page before named");
    TRY(acts_view(site_of(request), &wish, web_arena(request), &view));
    Frame frame = {.title = SLICE("What moderators did"),
                   .description = SLICE("Every act of moderation, with its reason."),
                   .address = SLICE("/moderation")};
    Buffer *out = page_begin(request, &frame);
    acts_page(out, &view);
    page_end(request, out);
    return STATUS_OK;
}

/* clang-format off */
static const WebRoute ROUTES[] = {
    {WEB_GET, "/moderation", show_acts, .cache_ms = 5000, .help = "The public log of moderation: what was done, to what, why.",
     .params = {{"policy", WEB_QUERY, WEB_ID, .optional = true, .help = "Only what was done to this policy."},
                {"before", WEB_QUERY, WEB_OPAQUE, .optional = true, .least = ID_TEXT, .most = ID_TEXT, .help = "Where the page before ended."}}},
};
/* clang-format on */
const Room ROOM_MODERATION = ROOM(ROUTES);
