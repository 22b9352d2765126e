/* policy_letters.c -- see policy_letters.h. */
#include "app/policy_letters.h"

#include "app/role_holders.h"
#include "mail/letters.h"

/* Writes `letter` about the policy's page, or what stands below it, to one account. */
typedef struct PolicyLetter {
    LetterKind kind;
    const Policy *policy;
    const char *below; /* "/answer" */
    int64_t valid_s;
    Slice once;
} PolicyLetter;

static Status write_to(App *app, const Account *account, const PolicyLetter *letter, Arena *arena,
                       Reason *reason)
{
    MailMessage message;
    const char *home = app->home;
    LetterFacts facts = {.site = slice_from(app->config->site_name),
                         .home = slice_from(home),
                         .name = account->name,
                         .about = letter->policy->text.name,
                         .link = arena_print(arena, "%s/policies/%llu%s", home,
                                             (unsigned long long)letter->policy->id, letter->below),
                         .valid_s = letter->valid_s,
                         .policies = &letter->policy->id,
                         .policy_count = 1};
    TRY(letter_write(letter->kind, &facts, arena, &message, reason));
    message.to = account->email;
    message.once = letter->once;
    Status status = mail_send(app->mail, &message, reason);
    return status == STATUS_REFUSED ? STATUS_OK : status; /* an address that takes no more */
}

static Status write_answer_due(App *app, const Account *account, const Policy *policy, Arena *arena,
                               Reason *reason)
{
    PolicyLetter letter = {.kind = LETTER_ANSWER_DUE,
                           .policy = policy,
                           .below = "/answer",
                           .once = arena_print(arena, "answer-due/%llu/%llu",
                                               (unsigned long long)policy->id,
                                               (unsigned long long)account->id)};
    return write_to(app, account, &letter, arena, reason);
}

Status app_tell_answer_due(void *self, uint64_t id, Reason *reason)
{
    App *app = self;
    ARENA_SCOPE Arena *arena = arena_new();
    Policy policy;
    Account *holders;
    size_t count;
    if (!mail_can_send(app->mail))
        return STATUS_OK;
    TRY(policies_read(app->policies, id, arena, &policy));
    TRY(app_find_holders(app, ROLE_RESPOND, arena, &holders, &count));
    for (size_t i = 0; i < count; i++)
        TRY(write_answer_due(app, &holders[i], &policy, arena, reason));
    return STATUS_OK;
}

Status app_tell_hidden(void *self, uint64_t id, Reason *reason)
{
    App *app = self;
    ARENA_SCOPE Arena *arena = arena_new();
    Policy policy;
    Account owner;
    SettingsHistory settings;
    if (!mail_can_send(app->mail))
        return STATUS_OK;
    TRY(policies_read(app->policies, id, arena, &policy));
    const PolicyMove *move = &policy.facts.moves[policy.facts.move_count - 1];
    if (move->state != POLICY_PENDING_DELETION || policy.owner == 0 || policy.owner == move->actor)
        return STATUS_OK;
    TRY(accounts_read(app->accounts, policy.owner, arena, &owner));
    if (owner.state != ACCOUNT_CONFIRMED)
        return STATUS_OK;
    TRY(settings_read(accounts_settings(app->accounts), arena, &settings));
    PolicyLetter letter = {.kind = LETTER_POLICY_HIDDEN,
                           .policy = &policy,
                           .below = "",
                           .valid_s =
                               settings_at(&settings, move->time_us)->appeal_days * S_PER_DAY,
                           .once = id_text(move->id, arena)};
    return write_to(app, &owner, &letter, arena, reason);
}
