/* watching.c -- the watch list: showing it, watching a policy, and stopping. See watching.h.
 *
 * A change is one conditional update of the list; the same request again is safe. */
#include "operations/watching.h"

#include "operations/policy_head.h"
#include "operations/schema_macros.h"

/* clang-format off */
static const ApiMember WATCHED[] = {
    FIELD("policy", MyWatched, policy.id, .help = "The policy."),
    FIELD("name", MyWatched, policy.name, .help = "What it is called."),
    FIELD("address", MyWatched, policy.address, .help = "Its page."),
    MY_STATE(MyWatched, policy.state),
    FIELD("rank", MyWatched, place.self.rank, WHEN(MyWatched, has_place), .help = "In the window of the front page."),
    FIELD("votes", MyWatched, place.self.votes, WHEN(MyWatched, has_place), .help = "In the same window."),
    FIELD("total", MyWatched, place.self.total, WHEN(MyWatched, has_place), .help = "All votes."),
};
SCHEMA(WATCHED, "Watched", MyWatched, WATCHED, .help = "A policy on the watch list.");

static const ApiMember WATCHING[] = {
    FIELD("days", MyWatching, window_days, .help = "The window that ranks and votes are of."),
    LIST("policies", MyWatching, policies, count, WATCHED, .help = "The last added first."),
};
SCHEMA(WATCHING, "Watching", MyWatching, WATCHING, .help = "The watch list.");
/* clang-format on */

Status my_watching(Operations *ops, uint64_t account, Arena *arena, MyWatching *ret_watching)
{
    VotingSettings settings;
    Ranking *ranking;
    uint64_t *policies;
    MyWatching watching = {0};
    TRY(app_ranking(ops->app, &ranking)); /* a command alone has none yet */
    TRY(operations_settings(ops, arena, &settings));
    TRY(accounts_watched(ops->app->accounts, account, arena, &policies, &watching.count));
    watching.window_days = (uint32_t)settings.window_days;
    watching.policies = ARENA_ARRAY(arena, watching.count, MyWatched);
    for (size_t i = 0; i < watching.count; i++) {
        MyWatched *watched = &watching.policies[i];
        uint64_t policy = policies[watching.count - 1 - i];
        TRY(my_policy(ops, policy, account, arena, &watched->policy));
        watched->has_place = ranking_place(ranking, &(RankQuery){.days = watching.window_days},
                                           policy, &watched->place) == STATUS_OK;
    }
    *ret_watching = watching;
    return STATUS_OK;
}

/* ---- The operations ------------------------------------------------------------------------------------------------------ */

static Status watch_list(Operations *ops, const Actor *actor, const Nothing *request, Arena *arena,
                         MyWatching *ret_watching, Reason *reason)
{
    (void)request, (void)reason;
    return my_watching(ops, actor_id(actor), arena, ret_watching);
}

OPERATION(watch_list, Nothing, MyWatching, .help = "List the policies that somebody watches.",
          .access = WEB_LOGIN, .asks = true, .shows = SHOWS(LISTS), .answers = &SCHEMA_WATCHING,
          .api = {WEB_GET, "me/watching", .tag = "me"}, .no_page = "/my/watching shows them",
          .command = {.words = "watch list"});

typedef struct Watch {
    uint64_t policy;
} Watch;

/* Only what can be seen; ending it is for all. */
static Status watch_add(Operations *ops, const Actor *actor, const Watch *request, Arena *arena,
                        Done *ret_done, Reason *reason)
{
    PolicyHead head;
    TRY(policy_head(ops, request->policy, actor, arena, &head));
    if (head.is_hidden)
        return STATUS_NOT_FOUND;
    Status status = accounts_watch(ops->app->accounts, actor_id(actor), request->policy, true);
    if (status == STATUS_REFUSED)
        return reason_set(reason, status, "",
                          "you watch %d policies already; stop watching one first", WATCH_MAX);
    TRY(status);
    ret_done->done = true;
    return STATUS_OK;
}

static Status watch_remove(Operations *ops, const Actor *actor, const Watch *request, Arena *arena,
                           Done *ret_done, Reason *reason)
{
    (void)arena, (void)reason;
    TRY(accounts_watch(ops->app->accounts, actor_id(actor), request->policy, false));
    ret_done->done = true;
    return STATUS_OK;
}

/* clang-format off */
OPERATION(watch_add, Watch, Done, .help = "Watch a policy: a notice says when it changes.",
    .access = WEB_LOGIN, .whose = WEB_ANYBODYS, .no_audits = "it is one's own list",
    .api = {WEB_PUT, "me/watching/{policy}", .tag = "me"}, .command = {.words = "watch add", .done = "watching it"},
    .page = {"/policies/{policy}/watch", "watching", "You watch this policy now."},
    .inputs = {INPUT("policy", Watch, policy, POLICY, .operand = true, .help = "The policy.")});
OPERATION(watch_remove, Watch, Done, .help = "Take a policy off the watch list.",
    .access = WEB_LOGIN, .whose = WEB_ANYBODYS, .no_audits = "it is one's own list",
    .api = {WEB_DELETE, "me/watching/{policy}", .tag = "me"}, .command = {.words = "watch remove", .done = "not watching it any more"},
    .page = {"/policies/{policy}/unwatch", "unwatched", "You no longer watch this policy."},
    .inputs = {INPUT("policy", Watch, policy, POLICY, .operand = true, .help = "The policy.")});
/* clang-format on */
