/* names.c -- registrations that compete for a few names and e-mails, confirmations, other names. See site.h. */
#include "site/site.h"

enum { REGISTRATIONS_MAX = 120 };

static const Slice NAMES[] = {{"ann", 3}, {"Bob", 3}, {"ANN", 3}, {"cid", 3}};
static const Slice EMAILS[] = {{"a@example.org", 13}, {"b@example.org", 13}, {"A@example.org", 13}};

static Slice any_name(SiteInstance *instance)
{
    return NAMES[site_instance_draw(instance, sizeof NAMES / sizeof NAMES[0])];
}

static Slice any_email(SiteInstance *instance)
{
    if (site_instance_draw(instance, 2) == 0)
        return arena_print(instance->arena, "x%llu@example.org",
                           (unsigned long long)site_instance_draw(instance, 1000));
    return EMAILS[site_instance_draw(instance, sizeof EMAILS / sizeof EMAILS[0])];
}

void names_register(SiteInstance *instance)
{
    Registration registration = {.name = any_name(instance),
                                 .email = any_email(instance),
                                 .password = SLICE("correct horse"),
                                 .confirmed = site_instance_draw(instance, 3) == 0,
                                 .address = SLICE("192.0.2.1"),
                                 .cookie = SLICE_EMPTY};
    Reason reason = {.rule = ""};
    uint64_t id;
    if (instance->site->person_count == SITE_PEOPLE_MAX ||
        instance->site->registrations++ >= REGISTRATIONS_MAX)
        return;
    if (!site_instance_heard(instance, "accounts_register",
                             accounts_register(instance->accounts, &registration, &id, &reason)) ||
        !site_instance_alive(instance))
        return;
    SitePerson *person = site_add_person(instance->site, id);
    if (person != NULL)
        person->confirmed = registration.confirmed;
}

void names_confirm(SiteInstance *instance)
{
    SitePerson *person = site_any_person(instance);
    Reason reason = {.rule = ""};
    Status status = accounts_confirm(instance->accounts, person->account, &reason);
    if (site_instance_heard(instance, "accounts_confirm", status) && site_instance_alive(instance))
        person->confirmed = true;
}

/* Everybody goes to and fro between two names. */
static Slice favourite(SiteInstance *instance, const SitePerson *person)
{
    uint64_t at = person->account + site_instance_draw(instance, 2);
    return NAMES[at % (sizeof NAMES / sizeof NAMES[0])];
}

void names_rename(SiteInstance *instance)
{
    SitePerson *person = site_any_person(instance);
    Reason reason = {.rule = ""};
    Status status = site_instance_draw(instance, 3) == 0
                        ? accounts_change_email(instance->accounts, person->account,
                                                any_email(instance), &reason)
                        : accounts_rename(instance->accounts, person->account,
                                          favourite(instance, person), &reason);
    (void)site_instance_heard(instance, "another name", status);
}
