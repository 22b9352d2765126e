/* check_texts.c -- editors were told the truth, revisions are numbered through, and after a repair the lists show exactly the policies
 * that belong there. */
#include "site/site.h"

enum { LISTED_MAX = 100 };

/* ---- Revisions ------------------------------------------------------------------------------------------- */

/* Notes which edits are there; `there` has room for all. */
static void check_revisions(SiteInstance *instance, const Policy *policy, bool *there)
{
    for (uint32_t i = 1; i <= policy->revision; i++) {
        PolicyRevision revision;
        uint64_t number;
        Status status =
            policies_revision(instance->policies, policy->id, i, instance->arena, &revision);
        if (status != STATUS_OK || revision.revision != i) {
            run_violated(instance->run, "policy %llu: revision %u of %u answers %s",
                         (unsigned long long)policy->id, i, policy->revision, status_name(status));
            continue;
        }
        if (slice_starts_with(revision.text.description, SLICE("edit ")) &&
            slice_to_u64(slice_after(revision.text.description, 5), &number) == STATUS_OK)
            there[number] = true;
    }
}

/* An obliterated policy says nothing any more. */
static void check_edit(Run *run, const Policy *policy, const SiteEdit *edit, bool there)
{
    if (policy == NULL || policy->revision == 0 || !edit->answered ||
        edit->status == STATUS_UNKNOWN)
        return;
    if (there != (edit->status == STATUS_OK))
        run_violated(run, "policy %llu: edit %llu was told %s and is %s",
                     (unsigned long long)edit->policy, (unsigned long long)edit->number,
                     status_name(edit->status), there ? "there" : "not there");
}

/* ---- Lists ----------------------------------------------------------------------------------------------- */

static bool belongs(const Policy *policy)
{
    const PolicyFacts *facts = &policy->facts;
    return policy->revision > 0 && policy_state_listed(facts->moves[facts->move_count - 1].state);
}

static void check_list(SiteInstance *instance, const SiteFacts *facts, PolicyOrder order)
{
    PolicyQuery query = {.order = order,
                         .group = order == POLICIES_BY_CATEGORY ? 1 : 0,
                         .position = SLICE_EMPTY,
                         .limit = LISTED_MAX};
    PolicyPage page;
    size_t listed = 0;
    if (!site_instance_heard(instance, "policies_browse",
                             policies_browse(instance->policies, &query, instance->arena, &page)))
        return;
    for (size_t i = 0; i < facts->policy_count; i++)
        listed += belongs(&facts->policies[i]);
    if (page.count != listed)
        run_violated(instance->run, "list %d shows %zu policies of %zu", (int)order, page.count,
                     listed);
    for (size_t i = 0; i < page.count; i++)
        for (size_t k = 0; k < i; k++)
            if (page.policies[i].id == page.policies[k].id)
                run_violated(instance->run, "list %d shows policy %llu twice", (int)order,
                             (unsigned long long)page.policies[i].id);
}

static void repair_lists(SiteInstance *instance)
{
    Slice position = SLICE_EMPTY;
    for (bool more = true; more;)
        if (!site_instance_heard(instance, "policies_reindex_page",
                                 policies_reindex_page(instance->policies, position,
                                                       instance->arena, &position, &more)))
            return;
}

static void check(Run *run, Store *store, Arena *arena)
{
    const Site *site = run_state(run);
    const SiteFacts *facts = site_facts(run, store);
    SITE_INSTANCE_SCOPE SiteInstance instance;
    site_instance_open(&instance, run, NULL, store, arena);
    if (facts == NULL)
        return;
    bool *there = ARENA_ARRAY(arena, site->edit_count + 1, bool);
    for (size_t i = 0; i < facts->policy_count; i++)
        check_revisions(&instance, &facts->policies[i], there);
    for (const SiteEdit *edit = site->edits; edit != NULL; edit = edit->next)
        check_edit(run, facts_policy(facts, edit->policy), edit, there[edit->number]);
    repair_lists(&instance);
    check_list(&instance, facts, POLICIES_BY_NAME);
    check_list(&instance, facts, POLICIES_BY_DATE);
    check_list(&instance, facts, POLICIES_BY_CATEGORY);
}

const Checker CHECK_TEXTS = {"texts and lists", check};
