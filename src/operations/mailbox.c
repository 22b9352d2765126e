/* mailbox.c -- which e-mails somebody gets: showing it, choosing it, ending them by the link in one of them. See mailbox.h.
 *
 * A choice is one conditional update; the same request again is safe. */
#include "operations/mailbox.h"

#include "operations/schema_macros.h"

/* clang-format off */
static const ApiMember MAILBOX[] = {
    WORD("digest", MyMailbox, choice, DIGEST_WORDS, .help = "How often an e-mail tells what happened to your policies."),
    FIELD("email", MyMailbox, email, .help = "Where e-mails go."),
    FIELD("suppressed", MyMailbox, is_suppressed, .help = "Whether this address gets only e-mails about your log-in."),
};
SCHEMA(MAILBOX, "Mailbox", MyMailbox, MAILBOX, .help = "Which e-mails somebody gets.");
/* clang-format on */

Status my_mailbox(Operations *ops, const Account *account, Arena *arena, MyMailbox *ret_mailbox)
{
    DigestRequest want;
    MyMailbox mailbox = {.email = account->email};
    TRY(digests_get(ops->app->accounts, account->id, &want));
    mailbox.choice = want.choice;
    Status status = mail_suppressed(ops->app->mail, mailbox.email, arena, &mailbox.suppressed);
    if (status != STATUS_NOT_FOUND)
        TRY(status);
    mailbox.is_suppressed = status == STATUS_OK;
    *ret_mailbox = mailbox;
    return STATUS_OK;
}

static Status mailbox_show(Operations *ops, const Actor *actor, const Nothing *request,
                           Arena *arena, MyMailbox *ret_mailbox, Reason *reason)
{
    (void)request, (void)reason;
    return my_mailbox(ops, actor->account, arena, ret_mailbox);
}

OPERATION(mailbox_show, Nothing, MyMailbox, .help = "Show which e-mails somebody gets.",
          .access = WEB_LOGIN, .asks = true, .shows = SHOWS(LISTS) | SHOWS(EMAIL),
          .answers = &SCHEMA_MAILBOX, .api = {WEB_GET, "me/mail", .tag = "me"},
          .no_page = "/my/mail shows it", .command = {.words = "mailbox show"});

typedef struct MailboxSet {
    unsigned digest;
} MailboxSet;

static Status mailbox_set(Operations *ops, const Actor *actor, const MailboxSet *request,
                          Arena *arena, MyMailbox *ret_mailbox, Reason *reason)
{
    (void)reason;
    TRY(digests_set(ops->app->accounts, actor_id(actor), (DigestChoice)request->digest));
    operation_done();
    return my_mailbox(ops, actor->account, arena, ret_mailbox);
}

/* clang-format off */
OPERATION(mailbox_set, MailboxSet, MyMailbox, .help = "Choose which e-mails somebody gets.",
    .access = WEB_LOGIN, .shows = SHOWS(LISTS) | SHOWS(EMAIL), .no_audits = "it is one's own", .answers = &SCHEMA_MAILBOX,
    .api = {WEB_PUT, "me/mail", .tag = "me"}, .page = {"/my/mail", "mail", "Your choice is saved."}, .command = {.words = "mailbox set"},
    .inputs = {INPUT("digest", MailboxSet, digest, WORD, .words = DIGEST_WORDS, .help = "How often an e-mail tells what happened.")});
/* clang-format on */

/* ---- The link in an e-mail ------------------------------------------------------------------------------------------------------- */

typedef struct Unsubscribe {
    Slice token;
} Unsubscribe;

Status unsubscribe_whose(Operations *ops, Slice token, uint64_t *ret_account, Reason *reason)
{
    if (digests_from_token(ops->app->accounts, token, ret_account) != STATUS_OK)
        return reason_set(reason, STATUS_NOT_FOUND, "", "this link is not known");
    return STATUS_OK;
}

/* An account that is closed gets no e-mails either way. */
static Status unsubscribe(Operations *ops, const Actor *actor, const Unsubscribe *request,
                          Arena *arena, Done *ret_done, Reason *reason)
{
    uint64_t account;
    (void)actor, (void)arena;
    TRY(unsubscribe_whose(ops, request->token, &account, reason));
    Status status = digests_set(ops->app->accounts, account, DIGEST_NEVER);
    if (status != STATUS_REFUSED && status != STATUS_NOT_FOUND)
        TRY(status);
    ret_done->done = true;
    return STATUS_OK;
}

/* clang-format off */
OPERATION(unsubscribe, Unsubscribe, Done, .help = "End e-mails by the link in one of them; also one click of a mail program.",
    .no_audits = "it is one's own", .page = {.path = "/unsubscribe"},
    .no_api = "mail programs send the link itself (RFC 8058); PUT me/mail does it without the link",
    .no_command = "\"mailbox set --digest never\" does it without the link",
    .inputs = {INPUT("token", Unsubscribe, token, OPAQUE, .least = 1, .most = 200, .help = "Of the link in an e-mail.")});
/* clang-format on */
