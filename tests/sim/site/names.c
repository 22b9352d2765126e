/* names.c -- registrations that compete for a few names and e-mails, confirmations, other names. See site.h. */
#include "site/site.h"

enum { REGISTRATIONS_MOST = 120 };

static const Slice NAMES[] = {{"ann", 3}, {"Bob", 3}, {"ANN", 3}, {"cid", 3}};
static const Slice EMAILS[] = {{"a@example.org", 13}, {"b@example.org", 13}, {"A@example.org", 13}};

static Slice any_name(Hands *hands)
{
    return NAMES[hands_draw(hands, sizeof NAMES / sizeof NAMES[0])];
}

static Slice any_email(Hands *hands)
{
    if (hands_draw(hands, 2) == 0)
        return arena_print(hands->arena, "x%llu@example.org",
                           (unsigned long long)hands_draw(hands, 1000));
    return EMAILS[hands_draw(hands, sizeof EMAILS / sizeof EMAILS[0])];
}

void names_register(Hands *hands)
{
    Registration registration = {.name = any_name(hands),
                                 .email = any_email(hands),
                                 .password = SLICE("correct horse"),
                                 .confirmed = hands_draw(hands, 3) == 0,
                                 .address = SLICE("192.0.2.1"),
                                 .cookie = SLICE_EMPTY};
    Reason reason = {.rule = ""};
    uint64_t id;
    if (hands->site->person_count == SITE_PEOPLE_MOST ||
        hands->site->registrations++ >= REGISTRATIONS_MOST)
        return;
    if (!hands_heard(hands, "accounts_register",
                     accounts_register(hands->accounts, &registration, &id, &reason)) ||
        !hands_alive(hands))
        return;
    SitePerson *person = site_add_person(hands->site, id);
    if (person != NULL)
        person->confirmed = registration.confirmed;
}

void names_confirm(Hands *hands)
{
    SitePerson *person = site_any_person(hands);
    Reason reason = {.rule = ""};
    Status status = accounts_confirm(hands->accounts, person->account, &reason);
    if (hands_heard(hands, "accounts_confirm", status) && hands_alive(hands))
        person->confirmed = true;
}

/* Everybody goes to and fro between two names. */
static Slice favourite(Hands *hands, const SitePerson *person)
{
    uint64_t at = person->account + hands_draw(hands, 2);
    return NAMES[at % (sizeof NAMES / sizeof NAMES[0])];
}

void names_rename(Hands *hands)
{
    SitePerson *person = site_any_person(hands);
    Reason reason = {.rule = ""};
    Status status =
        hands_draw(hands, 3) == 0
            ? accounts_change_email(hands->accounts, person->account, any_email(hands), &reason)
            : accounts_rename(hands->accounts, person->account, favourite(hands, person), &reason);
    (void)hands_heard(hands, "another name", status);
}
