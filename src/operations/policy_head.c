/* policy_head.c -- what all views of a policy begin with, and who may do what with it. See policy_head.h. */
#include "operations/policy_head.h"

#include "draw/slug.h"

PersonName person_public_name(Operations *ops, uint64_t account, Arena *arena)
{
    Account found;
    if (account == 0)
        return (PersonName){SLICE("the site"), SLICE_EMPTY};
    Status status = accounts_recent(ops->app->accounts, account, arena, &found);
    if (status != STATUS_OK || found.name.size == 0)
        return (PersonName){SLICE("a deleted account"), SLICE_EMPTY};
    return (PersonName){found.name, found.real_name_shown ? found.real_name : SLICE_EMPTY};
}

Slice person_name(Operations *ops, uint64_t account, Arena *arena)
{
    return person_public_name(ops, account, arena).name;
}

bool policy_is_open(PolicyState state)
{
    return state == POLICY_ACTIVE || state == POLICY_MERGING;
}

Slice policy_title(const PolicyHead *head)
{
    return head->policy.text.name.size > 0 ? head->policy.text.name
                                           : SLICE("A policy that is not shown");
}

Slice policy_path(const PolicyHead *head, const char *below, Arena *arena)
{
    return arena_print(arena, "%.*s%s", SLICE_ARG(head->address), below);
}

/* ---- The head --------------------------------------------------------------------------------------------------------- */

/* Whether there is anything at this address for this viewer. */
static bool is_there(const PolicyHead *head)
{
    return head->state != POLICY_VOID && (head->state != POLICY_PENDING || head->is_owner);
}

static void hide(PolicyHead *head)
{
    head->is_hidden = true;
    head->policy.text = (PolicyText){.name = SLICE_EMPTY,
                                     .description = SLICE_EMPTY,
                                     .rationale = SLICE_EMPTY,
                                     .category = head->policy.text.category};
}

PolicyRights policy_rights(uint64_t owner, const Actor *actor)
{
    const Account *account = actor != NULL ? actor->account : NULL;
    bool is_owner = account != NULL && account->id != 0 && owner == account->id;
    bool active = account != NULL && account->state == ACCOUNT_CONFIRMED;
    return (PolicyRights){
        .is_owner = is_owner,
        .may_edit = (is_owner && active) || actor_has(actor, 1u << ROLE_EDIT_POLICIES),
        .may_retire = (is_owner && active) || actor_has(actor, 1u << ROLE_MODERATE_POLICIES),
        .may_moderate = actor_has(actor, 1u << ROLE_MODERATE_POLICIES),
        .may_answer = actor_has(actor, 1u << ROLE_RESPOND)};
}

static void judge(PolicyHead *head, const Actor *actor)
{
    PolicyRights rights = policy_rights(head->policy.owner, actor);
    head->is_owner = rights.is_owner;
    head->may_edit = rights.may_edit;
    head->may_retire = rights.may_retire;
}

static bool may_see_hidden(const PolicyHead *head, const Actor *actor)
{
    return head->is_owner || actor_has(actor, 1u << ROLE_MODERATE_POLICIES);
}

/* Where a merged policy leads through all merges, and what a retired one was retired for. */
static void follow(Operations *ops, PolicyHead *head, Arena *arena)
{
    PoliciesReader reader = {.policies = ops->app->policies, .arena = arena};
    PolicyLookup book = policies_lookup(&reader);
    PolicyStanding standing;
    uint64_t to = head->move->other;
    if (head->state == POLICY_MERGED &&
        policy_standing(&book, head->policy.id, INT64_MAX, &standing))
        to = standing.root;
    if ((head->state == POLICY_MERGED || head->state == POLICY_RETIRED) && to != 0)
        head->leads = policy_summary_get(ops->summaries, to, arena, &head->to) == STATUS_OK &&
                      head->to.state != POLICY_PENDING_DELETION;
}

static Status name_all(Operations *ops, PolicyHead *head, Arena *arena)
{
    const PolicyText *text = &head->policy.text;
    head->owner = head->policy.owner != 0 ? person_public_name(ops, head->policy.owner, arena)
                                          : (PersonName){SLICE_EMPTY, SLICE_EMPTY};
    Policies *policies = ops->app->policies;
    TRY(policies_group_name(policies, GROUP_CATEGORY, text->category, arena, &head->category_name));
    head->party_name = SLICE_EMPTY;
    if (text->party != 0)
        TRY(policies_group_name(policies, GROUP_PARTY, text->party, arena, &head->party_name));
    head->category_address =
        group_address(GROUP_CATEGORY, text->category, head->category_name, arena);
    head->party_address = group_address(GROUP_PARTY, text->party, head->party_name, arena);
    head->address = policy_address(head->policy.id, text->name, arena);
    follow(ops, head, arena);
    return STATUS_OK;
}

Status policy_head(Operations *ops, uint64_t id, const Actor *actor, Arena *arena,
                   PolicyHead *ret_head)
{
    PolicyHead head = {.now_us = clock_now_us(ops->app->world.clock)};
    TRY(policies_read(ops->app->policies, id, arena, &head.policy));
    head.move = &head.policy.facts.moves[head.policy.facts.move_count - 1];
    head.state = head.move->state;
    judge(&head, actor);
    if (!is_there(&head))
        return STATUS_NOT_FOUND;
    if (head.state == POLICY_DELETED ||
        (head.state == POLICY_PENDING_DELETION && !may_see_hidden(&head, actor)))
        hide(&head);
    TRY(name_all(ops, &head, arena));
    *ret_head = head;
    return STATUS_OK;
}

Slice group_address(GroupKind kind, uint64_t id, Slice name, Arena *arena)
{
    return slug_address(kind == GROUP_CATEGORY ? "/categories" : "/parties", id, name, arena);
}

Status operations_settings(Operations *ops, Arena *arena, VotingSettings *ret_settings)
{
    SettingsHistory history;
    TRY(settings_read(accounts_settings(ops->app->accounts), arena, &history));
    *ret_settings = *settings_at(&history, clock_now_us(ops->app->world.clock));
    return STATUS_OK;
}
