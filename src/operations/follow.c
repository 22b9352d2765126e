/* follow.c -- following a category or party, and the list of those. See follow.h.
 *
 * A change is one conditional update of the person's own list; repeating it is safe. The notices are made when they are asked for
 * (votes/notices.h), so a new policy costs nothing, however many follow its category. */
#include "operations/follow.h"

#include "operations/policy_head.h"
#include "operations/schema_macros.h"

const char *const GROUP_WORDS[] = {"category", "party", NULL};

/* clang-format off */
static const ApiMember FOLLOWED[] = {
    WORD("kind", FollowedGroup, kind, GROUP_WORDS, .help = "What it is."),
    FIELD("group", FollowedGroup, group, .help = "Which."),
    FIELD("name", FollowedGroup, name, .help = "What it is called."),
    TIME("since", FollowedGroup, since_us, .help = "Since when it is followed."),
};
SCHEMA(FOLLOWED, "Followed", FollowedGroup, FOLLOWED, .help = "A category or party that you follow.");
static const ApiMember FOLLOWING[] = {LIST("following", Following, groups, count, FOLLOWED, .help = "In the order in which they were followed.")};
SCHEMA(FOLLOWING, "Following", Following, FOLLOWING, .help = "The categories and parties that you follow.");
/* clang-format on */

Status following_of(Operations *ops, const Actor *actor, Arena *arena, Following *ret_following)
{
    Followed *list;
    Following following;
    TRY(accounts_followed(ops->app->accounts, actor_id(actor), arena, &list, &following.count));
    following.groups = ARENA_ARRAY(arena, following.count, FollowedGroup);
    for (size_t i = 0; i < following.count; i++) {
        FollowedGroup *group = &following.groups[i];
        *group = (FollowedGroup){
            .kind = list[i].kind, .group = list[i].group, .since_us = list[i].since_us};
        TRY(policies_group_name(ops->app->policies, (GroupKind)group->kind, group->group, arena,
                                &group->name));
        group->address = group_address((GroupKind)group->kind, group->group, group->name, arena);
    }
    *ret_following = following;
    return STATUS_OK;
}

bool following_has(const Following *following, unsigned kind, uint64_t group)
{
    for (size_t i = 0; i < following->count; i++)
        if (following->groups[i].kind == kind && following->groups[i].group == group)
            return true;
    return false;
}

static Status follow_list(Operations *ops, const Actor *actor, const Nothing *request, Arena *arena,
                          Following *ret_following, Reason *reason)
{
    (void)request, (void)reason;
    return following_of(ops, actor, arena, ret_following);
}

typedef struct FollowSet {
    unsigned kind;
    uint64_t group;
    bool on;
} FollowSet;

static Status follow_set(Operations *ops, const Actor *actor, const FollowSet *request,
                         Arena *arena, Following *ret_following, Reason *reason)
{
    Slice name;
    Followed what = {request->kind, request->group, clock_now_us(ops->app->world.clock)};
    TRY(policies_group_name(ops->app->policies, (GroupKind)what.kind, what.group, arena, &name));
    if (name.size == 0)
        return reason_set(reason, STATUS_NOT_FOUND, "group", "there is no such %s",
                          word_of(GROUP_WORDS, what.kind));
    Status status = accounts_follow(ops->app->accounts, actor_id(actor), &what, request->on);
    if (status == STATUS_REFUSED)
        return reason_set(reason, status, "", "you can follow at most %d categories and parties",
                          FOLLOW_MAX);
    TRY(status);
    operation_done();
    return following_of(ops, actor, arena, ret_following);
}

/* clang-format off */
OPERATION(follow_list, Nothing, Following, .help = "List the categories and parties that somebody follows.", .access = WEB_LOGIN, .asks = true, .shows = SHOWS(LISTS),
    .answers = &SCHEMA_FOLLOWING, .api = {WEB_GET, "me/following", .tag = "me"}, .no_page = "the page of follow_set shows it", .command = {.words = "follow list"});
OPERATION(follow_set, FollowSet, Following, .help = "Follow a category or party, or stop: new policies there are in the notices and the digest.",
    .access = WEB_LOGIN, .shows = SHOWS(LISTS), .no_audits = "it is one's own list", .answers = &SCHEMA_FOLLOWING, .api = {WEB_PUT, "me/following", .tag = "me"},
    .page = {"/my/following", "followed", "Your list is saved."}, .command = {.words = "follow set"},
    .inputs = {INPUT("kind", FollowSet, kind, WORD, .words = GROUP_WORDS, .operand = true, .help = "category or party."),
               INPUT("group", FollowSet, group, ID, .operand = true, .help = "Its number."),
               INPUT("on", FollowSet, on, SWITCH, .fallback = "on", .help = "Off: stop following it.")});
/* clang-format on */
