/* check_names.c -- a name and an e-mail have one owner, whoever was told so is confirmed or closed, nothing stays pending. */
#include "site/site.h"

static void check_label(SiteInstance *instance, const Account *account, Slice label)
{
    Account found = {0};
    Status status = accounts_find(instance->accounts, label, instance->arena, &found);
    if (status != STATUS_OK || found.id != account->id)
        run_violated(instance->run, "account %llu bears %.*s, which %s %llu",
                     (unsigned long long)account->id, SLICE_ARG(label),
                     status == STATUS_OK ? "belongs to" : status_name(status),
                     (unsigned long long)found.id);
}

static Slice folded(SiteInstance *instance, Slice label)
{
    Slice form = label;
    if (slice_find(label, '@') < label.size)
        (void)!account_fold_email(label, instance->arena, &form, NULL);
    else
        (void)!account_fold_name(label, instance->arena, &form, NULL);
    return form;
}

static void check_pair(SiteInstance *instance, const Account *one, const Account *other)
{
    if (slice_equal(folded(instance, one->name), folded(instance, other->name)) ||
        slice_equal(folded(instance, one->email), folded(instance, other->email)))
        run_violated(instance->run, "accounts %llu and %llu share a name or an e-mail",
                     (unsigned long long)one->id, (unsigned long long)other->id);
}

static void check_account(SiteInstance *instance, const SiteFacts *facts, const Account *account)
{
    if (account->state == ACCOUNT_PENDING)
        run_violated(instance->run, "account %llu is still pending",
                     (unsigned long long)account->id);
    if (account->state != ACCOUNT_CONFIRMED)
        return;
    check_label(instance, account, account->name);
    check_label(instance, account, account->email);
    for (const Account *other = facts->accounts; other < account; other++)
        if (other->state == ACCOUNT_CONFIRMED)
            check_pair(instance, account, other);
}

static void check_person(Run *run, const SiteFacts *facts, const SitePerson *person)
{
    const SiteChain *chain = facts_chain(facts, person->account);
    if (chain == NULL) {
        run_violated(run, "account %llu is gone", (unsigned long long)person->account);
        return;
    }
    AccountState state = chain->account->state;
    if ((person->confirmed && state != ACCOUNT_CONFIRMED && state != ACCOUNT_CLOSED) ||
        (person->closed && state != ACCOUNT_CLOSED))
        run_violated(run, "account %llu was told that it is %s, and is %s",
                     (unsigned long long)person->account, person->closed ? "closed" : "confirmed",
                     account_state_text(state));
}

static void check(Run *run, Store *store, Arena *arena)
{
    const Site *site = run_state(run);
    const SiteFacts *facts = site_facts(run, store);
    SITE_INSTANCE_SCOPE SiteInstance instance;
    site_instance_open(&instance, run, NULL, store, arena);
    for (size_t i = 0; facts != NULL && i < facts->account_count; i++)
        check_account(&instance, facts, &facts->accounts[i]);
    for (size_t i = 0; facts != NULL && i < site->person_count; i++)
        check_person(run, facts, &site->people[i]);
}

const Checker CHECK_NAMES = {"one owner of a name", check};
