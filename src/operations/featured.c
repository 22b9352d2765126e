/* featured.c -- featuring policies on the front page: the list, setting one, removing one.
 *
 * A change is one conditional update of the list, written to the audit log before. A crash in between leaves an entry whose outcome is not
 * known; the same request again is safe. */
#include "operations/featured.h"

#include "operations/policy_summary.h"
#include "operations/schema_macros.h"

/* clang-format off */
static const ApiMember FEATURED[] = {
    FIELD("policy", FeaturedView, featured.policy, .help = "The policy."),
    FIELD("name", FeaturedView, name, .help = "What it is called."),
    FIELD("place", FeaturedView, place, .help = "1 for the first."),
    TIME("from", FeaturedView, featured.from_us, OR_NULL, .help = "From when; null: since it was set."),
    TIME("until", FeaturedView, featured.until_us, OR_NULL, .help = "Until when; null: without an end."),
    FIELD("shown", FeaturedView, is_shown, .help = "Whether the front page shows it now."),
};
SCHEMA(FEATURED, "Featured", FeaturedView, FEATURED, .help = "A policy that is featured.");

static const ApiMember FEATURED_LIST[] = {
    LIST("featured", FeaturedList, entries, count, FEATURED, .help = "In their order."),
};
SCHEMA(FEATURED_LIST, "FeaturedList", FeaturedList, FEATURED_LIST,
       .help = "All featured policies, also those that are not shown yet or any more.");
/* clang-format on */

Status featured_list(Operations *ops, Arena *arena, FeaturedList *ret_list)
{
    Featured *entries;
    FeaturedList list = {.now_us = clock_now_us(ops->app->world.clock)};
    TRY(policies_featured(ops->app->policies, arena, &entries, &list.count));
    list.entries = ARENA_ARRAY(arena, list.count, FeaturedView);
    for (size_t i = 0; i < list.count; i++) {
        FeaturedView *view = &list.entries[i];
        PolicySummary card;
        *view = (FeaturedView){.featured = entries[i], .place = (uint32_t)i + 1};
        policy_summary_in_public(ops->summaries, entries[i].policy, arena, &view->name,
                                 &view->address);
        view->is_there =
            policy_summary_name(ops->summaries, entries[i].policy, arena, &card) == STATUS_OK &&
            (card.state == POLICY_ACTIVE || card.state == POLICY_MERGING);
        view->is_over = featured_is_over(&entries[i], list.now_us);
        view->is_shown = view->is_there && featured_is_shown(&entries[i], list.now_us);
    }
    *ret_list = list;
    return STATUS_OK;
}

/* ---- Listing ------------------------------------------------------------------------------------------------------------------ */

static Status feature_list(Operations *ops, const Actor *actor, const Nothing *request,
                           Arena *arena, FeaturedList *ret_list, Reason *reason)
{
    (void)actor, (void)request, (void)reason;
    return featured_list(ops, arena, ret_list);
}

OPERATION(feature_list, Nothing, FeaturedList, .help = "List the featured policies in their order.",
          .asks = true, .answers = &SCHEMA_FEATURED_LIST,
          .api = {WEB_GET, "featured", .tag = "moderation", .cache_ms = 5000},
          .no_page = "the front page shows them", .command = {.words = "feature list"});

/* ---- Setting one -------------------------------------------------------------------------------------------------------------- */

typedef struct FeatureSet {
    uint64_t policy;
    uint32_t place;
    int64_t from_us, until_us;
    Slice reason;
} FeatureSet;

static Slice time_or(int64_t us, const char *none, Arena *arena)
{
    return us == 0 ? slice_from(none) : stamp_text(us, arena);
}

static Status feature_set(Operations *ops, const Actor *actor, const FeatureSet *request,
                          Arena *arena, FeaturedList *ret_list, Reason *reason)
{
    Id id;
    FeatureRequest wish = {.policy = request->policy,
                           .place = request->place,
                           .from_us = request->from_us,
                           .until_us = request->until_us,
                           .actor = actor_id(actor)};
    Slice from = time_or(wish.from_us, "now", arena),
          until = time_or(wish.until_us, "no end", arena);
    TRY(policies_feature_check(ops->app->policies, &wish, reason));
    AuditAct act = {.kind = AUDIT_FEATURE_SET,
                    .object = wish.policy,
                    .reason = request->reason,
                    .details = arena_print(arena, "place %u, from %.*s until %.*s", wish.place,
                                           SLICE_ARG(from), SLICE_ARG(until))};
    TRY(operation_audit(ops, actor, &act, &id, reason));
    TRY(operation_audit_end(ops, id, policies_feature(ops->app->policies, &wish, reason)));
    operation_done();
    operations_notify(ops, CHANGE_FRONT, 0);
    return featured_list(ops, arena, ret_list);
}

/* clang-format off */
#define WHY(type) INPUT("reason", type, reason, TEXT, .fallback = "", .most = AUDIT_REASON_MAX, .help = "Why; the public log shows it.")
OPERATION(feature_set, FeatureSet, FeaturedList, .help = "Feature a policy on the front page, or change its place or times.",
    .access = WEB_ROLE, .whose = WEB_ANYBODYS, .roles = 1u << ROLE_FEATURE, .audits = AUDITS(FEATURE_SET), .answers = &SCHEMA_FEATURED_LIST,
    .api = {WEB_PUT, "featured/{policy}", .tag = "moderation"}, .command = {.words = "feature set"},
    .page = {"/desk/featured", "featured", "The front page shows it from the time you chose."},
    .inputs = {
        INPUT("policy", FeatureSet, policy, POLICY, .operand = true, .help = "The policy."),
        INPUT("place", FeatureSet, place, SMALL, .optional = true, .least = 1, .most = FEATURED_MAX, .help = "1 for the first; left out: where it is, or last."),
        INPUT("from", FeatureSet, from_us, TIME, .optional = true, .help = "From when; left out: at once."),
        INPUT("until", FeatureSet, until_us, TIME, .optional = true, .help = "Until when; left out: without an end."),
        WHY(FeatureSet),
    });
/* clang-format on */

/* ---- Removing one ------------------------------------------------------------------------------------------------------------- */

typedef struct FeatureRemove {
    uint64_t policy;
    Slice reason;
} FeatureRemove;

static Status feature_remove(Operations *ops, const Actor *actor, const FeatureRemove *request,
                             Arena *arena, FeaturedList *ret_list, Reason *reason)
{
    Id id;
    AuditAct act = {
        .kind = AUDIT_FEATURE_REMOVE, .object = request->policy, .reason = request->reason};
    TRY(operation_audit(ops, actor, &act, &id, reason));
    TRY(operation_audit_end(ops, id, policies_unfeature(ops->app->policies, request->policy)));
    operation_done();
    operations_notify(ops, CHANGE_FRONT, 0);
    return featured_list(ops, arena, ret_list);
}

/* clang-format off */
OPERATION(feature_remove, FeatureRemove, FeaturedList, .help = "Take a policy off the front page.",
    .access = WEB_ROLE, .whose = WEB_ANYBODYS, .roles = 1u << ROLE_FEATURE, .audits = AUDITS(FEATURE_REMOVE), .answers = &SCHEMA_FEATURED_LIST,
    .api = {WEB_DELETE, "featured/{policy}", .tag = "moderation"}, .command = {.words = "feature remove"},
    .page = {"/desk/featured/{policy}/remove", "unfeatured", "The front page does not show it any more."},
    .inputs = {
        INPUT("policy", FeatureRemove, policy, POLICY, .operand = true, .help = "The policy."),
        INPUT("reason", FeatureRemove, reason, TEXT, .fallback = "", .most = AUDIT_REASON_MAX, .no_api = true, .no_page = true, .help = "Why; the public log shows it."),
    });
/* clang-format on */
