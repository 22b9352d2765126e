/* answer_letters.c -- see answer_letters.h. */
#include "app/answer_letters.h"

#include "mail/letters.h"

/* Where the site is: the setting, or the address that it listens on. */
static Slice home_of(const Config *config, Arena *arena)
{
    if (config->public_url[0] != '\0')
        return slice_from(config->public_url);
    return arena_print(arena, "http://%s", config->listen);
}

static Status write_to(App *app, const Account *account, const Policy *policy, Arena *arena,
                       Reason *reason)
{
    MailMessage letter;
    Slice home = home_of(app->config, arena);
    unsigned long long id = policy->id;
    LetterFacts facts = {.site = slice_from(app->config->site_name),
                         .home = home,
                         .name = account->name,
                         .about = policy->text.name,
                         .link =
                             arena_print(arena, "%.*s/policies/%llu/answer", SLICE_ARG(home), id)};
    TRY(letter_write(LETTER_ANSWER_DUE, &facts, arena, &letter, reason));
    letter.to = account->email;
    letter.once = arena_print(arena, "answer-due/%llu/%llu", id, (unsigned long long)account->id);
    return mail_send(app->mail, &letter, reason);
}

Status app_tell_answer_due(void *self, uint64_t id, Reason *reason)
{
    App *app = self;
    ARENA_SCOPE Arena *arena = arena_new();
    ARENA_SCOPE Arena *scratch = arena_new();
    Policy policy;
    Slice position = SLICE_EMPTY;
    if (!mail_can_send(app->mail))
        return STATUS_OK;
    TRY(policies_read(app->policies, id, arena, &policy));
    for (bool more = true; more;) {
        Account *accounts;
        size_t count;
        arena_reset(scratch);
        TRY(accounts_list(app->accounts, position, scratch, &accounts, &count, &position, &more));
        position = arena_copy(arena, position);
        for (size_t i = 0; i < count; i++)
            if (accounts[i].state == ACCOUNT_CONFIRMED &&
                (accounts[i].roles & (1u << ROLE_RESPOND)) != 0)
                TRY(write_to(app, &accounts[i], &policy, scratch, reason));
    }
    return STATUS_OK;
}
