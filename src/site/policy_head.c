/* policy_head.c -- what all pages of a policy begin with, and who may do what with it. See policy_views.h. */
#include "site/live.h"
#include "site/policy_views.h"

const Account *site_account(const WebRequest *request)
{
    const Viewer *viewer = site_viewer(request);
    return viewer->known ? &viewer->account : NULL;
}

Slice person_name(Site *site, uint64_t account, Arena *arena)
{
    Account found;
    if (account == 0)
        return SLICE("the site");
    Status status = accounts_recent(site->app->accounts, account, arena, &found);
    return status == STATUS_OK && found.name.size > 0 ? found.name : SLICE("a deleted account");
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

void policy_changed(Site *site, uint64_t id)
{
    cards_forget(site->cards, id);
    policies_forget(site->app->policies, id);
    (void)!ranking_policy_changed(site->app->ranking, id); /* the next load corrects it */
    sheets_changed(site->sheets, SHEET_POLICY, id); /* what is drawn from now on sees all of that */
    sheets_changed(site->sheets, SHEET_FRONT, 0);
    atomic_store(&site->changed_us, clock_steady_us(site->app->world.clock));
    live_changed(site->live);
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

PolicyRights policy_rights(uint64_t owner, const Account *viewer)
{
    if (viewer == NULL)
        return (PolicyRights){0};
    bool is_owner = viewer->id != 0 && owner == viewer->id;
    bool active = viewer->state == ACCOUNT_CONFIRMED;
    return (PolicyRights){
        .is_owner = is_owner,
        .may_edit = (is_owner && active) || account_has(viewer, ROLE_EDIT_POLICIES),
        .may_retire = (is_owner && active) || account_has(viewer, ROLE_MODERATE_POLICIES),
        .may_moderate = account_has(viewer, ROLE_MODERATE_POLICIES),
        .may_answer = account_has(viewer, ROLE_RESPOND)};
}

static void judge(PolicyHead *head, const Account *viewer)
{
    PolicyRights rights = policy_rights(head->policy.owner, viewer);
    head->is_owner = rights.is_owner;
    head->may_edit = rights.may_edit;
    head->may_retire = rights.may_retire;
}

static bool may_see_hidden(const PolicyHead *head, const Account *viewer)
{
    return viewer != NULL && (head->is_owner || account_has(viewer, ROLE_MODERATE_POLICIES));
}

/* Where a merged policy leads through all merges, and what a retired one was retired for. */
static void follow(Site *site, PolicyHead *head, Arena *arena)
{
    PoliciesReader reader = {.policies = site->app->policies, .arena = arena};
    PolicyBook book = policies_book(&reader);
    PolicyStanding standing;
    uint64_t to = head->move->other;
    if (head->state == POLICY_MERGED &&
        policy_standing(&book, head->policy.id, INT64_MAX, &standing))
        to = standing.root;
    if ((head->state == POLICY_MERGED || head->state == POLICY_RETIRED) && to != 0)
        head->leads = cards_one(site->cards, to, arena, &head->to) == STATUS_OK &&
                      head->to.state != POLICY_PENDING_DELETION;
}

static Status name_all(Site *site, PolicyHead *head, Arena *arena)
{
    const PolicyText *text = &head->policy.text;
    head->owner_name =
        head->policy.owner != 0 ? person_name(site, head->policy.owner, arena) : SLICE_EMPTY;
    Policies *policies = site->app->policies;
    TRY(policies_group_name(policies, GROUP_CATEGORY, text->category, arena, &head->category_name));
    head->party_name = SLICE_EMPTY;
    if (text->party != 0)
        TRY(policies_group_name(policies, GROUP_PARTY, text->party, arena, &head->party_name));
    head->category_address =
        group_address(GROUP_CATEGORY, text->category, head->category_name, arena);
    head->party_address = group_address(GROUP_PARTY, text->party, head->party_name, arena);
    head->address = policy_address(head->policy.id, text->name, arena);
    follow(site, head, arena);
    return STATUS_OK;
}

Status policy_head(Site *site, uint64_t id, const Account *viewer, Arena *arena,
                   PolicyHead *ret_head)
{
    PolicyHead head = {.now_us = clock_now_us(site->app->world.clock)};
    TRY(policies_read(site->app->policies, id, arena, &head.policy));
    head.move = &head.policy.facts.moves[head.policy.facts.move_count - 1];
    head.state = head.move->state;
    judge(&head, viewer);
    if (!is_there(&head))
        return STATUS_NOT_FOUND;
    if (head.state == POLICY_DELETED ||
        (head.state == POLICY_PENDING_DELETION && !may_see_hidden(&head, viewer)))
        hide(&head);
    TRY(name_all(site, &head, arena));
    *ret_head = head;
    return STATUS_OK;
}
