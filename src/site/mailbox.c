/* mailbox.c -- /my/mail: which letters I get; /unsubscribe: the link in them, with one button, or one click of the mail program (RFC 8058).
 *
 * The link says by its token whose letters end, and does nothing else; so no log-in is asked for, and the POST needs no form's token: another site that
 * makes a browser send it would have to know the link. Opening the page changes nothing, because mail scanners open links. */
#include "site/mailbox.h"

#include "mail/mail.h"
#include "site/api.h"
#include "site/pages.h"

enum { TOKEN_MOST = 200 };

const char *const DIGEST_WORDS[] = {
#define X(name, word, days) word,
    DIGEST_LIST(X)
#undef X
        NULL};

static Accounts *accounts_of(const WebRequest *request)
{
    return site_of(request)->app->accounts;
}

static const Account *me(const WebRequest *request)
{
    return &site_viewer(request)->account;
}

/* ---- Mine ---------------------------------------------------------------------------------------------------------------- */

Status mailbox_view(WebRequest *request, MailboxView *ret_view)
{
    DigestWish wish;
    Mail *mail = site_of(request)->app->mail;
    MailboxView view = {.email = me(request)->email,
                        .can_mail = mail_can_send(mail),
                        .now_us = site_now_us(request)};
    TRY(digests_get(accounts_of(request), me(request)->id, &wish));
    view.choice = wish.choice;
    Status status = mail_suppressed(mail, view.email, web_arena(request), &view.suppressed);
    if (status != STATUS_NOT_FOUND)
        TRY(status);
    view.is_suppressed = status == STATUS_OK;
    *ret_view = view;
    return STATUS_OK;
}

static Status show_mailbox(WebRequest *request)
{
    MailboxView view;
    Frame frame = {.title = SLICE("Letters to you"), .is_narrow = true};
    TRY(mailbox_view(request, &view));
    view.csrf = site_viewer(request)->csrf;
    Buffer *out = page_begin(request, &frame);
    mailbox_page(out, &view);
    page_end(request, out);
    return STATUS_OK;
}

static Status do_mailbox(WebRequest *request)
{
    TRY(digests_set(accounts_of(request), me(request)->id, (DigestChoice)web_word(request, 0)));
    site_done(request, SLICE("/my/mail"), "mail", 0);
    return STATUS_OK;
}

static Status give_mailbox(WebRequest *request)
{
    MailboxView view;
    TRY(mailbox_view(request, &view));
    return api_answer(request, &SCHEMA_MAILBOX, &view);
}

static Status change_mailbox(WebRequest *request)
{
    TRY(digests_set(accounts_of(request), me(request)->id, (DigestChoice)web_word(request, 0)));
    return give_mailbox(request);
}

/* ---- The link ------------------------------------------------------------------------------------------------------------- */

static Status whose(WebRequest *request, uint64_t *ret_account)
{
    if (digests_from_token(accounts_of(request), web_text(request, 0), ret_account) != STATUS_OK)
        return reason_set(web_reason(request), STATUS_NOT_FOUND, "", "this link is not known");
    return STATUS_OK;
}

static Status answer_unsubscribe(WebRequest *request, bool is_done)
{
    MailboxView view = {.token = web_text(request, 0)};
    Frame frame = {.title =
                       is_done ? SLICE("No more such letters") : SLICE("No more such letters?"),
                   .is_narrow = true};
    web_private(request);
    Buffer *out = page_begin(request, &frame);
    if (is_done)
        unsubscribed_page(out, &view);
    else
        unsubscribe_page(out, &view);
    page_end(request, out);
    return STATUS_OK;
}

static Status show_unsubscribe(WebRequest *request)
{
    uint64_t account;
    TRY(whose(request, &account));
    return answer_unsubscribe(request, false);
}

/* An account that is closed gets no letters either way. */
static Status do_unsubscribe(WebRequest *request)
{
    uint64_t account;
    TRY(whose(request, &account));
    Status status = digests_set(accounts_of(request), account, DIGEST_NEVER);
    if (status != STATUS_REFUSED && status != STATUS_NOT_FOUND)
        TRY(status);
    return answer_unsubscribe(request, true);
}

#define TOKEN_ROW                                                          \
    {                                                                      \
        "token", WEB_QUERY, WEB_OPAQUE, .least = 1, .most = TOKEN_MOST,    \
                                        .help = "Of the link in a letter." \
    }
#define DIGEST_ROW(from)                                                            \
    {                                                                               \
        "digest", from, WEB_WORD, .words = DIGEST_WORDS,                            \
                                  .help = "How often a letter tells what happened." \
    }

static const WebRoute ROUTES[] = {
    {WEB_GET, "/my/mail", show_mailbox, .access = WEB_LOGIN, .help = "Which letters I get."},
    {WEB_POST, "/my/mail", do_mailbox, .access = WEB_LOGIN, .body_bytes = WEB_BODY_DEFAULT,
     .help = "Chooses which letters I get.", .params = {DIGEST_ROW(WEB_FORM)}},
    {WEB_GET, "/unsubscribe", show_unsubscribe,
     .help = "A button that ends letters; opening it changes nothing.", .params = {TOKEN_ROW}},
    {WEB_POST, "/unsubscribe", do_unsubscribe, .body_bytes = WEB_BODY_DEFAULT, .by_link = true,
     .help = "Ends letters; also one click of a mail program.", .params = {TOKEN_ROW}},
    {WEB_GET, API_PATH "me/mail", give_mailbox, .access = WEB_LOGIN, .tag = "me",
     .answers = "Mailbox", .help = "Which letters you get."},
    {WEB_PUT, API_PATH "me/mail", change_mailbox, .access = WEB_LOGIN,
     .body_bytes = WEB_BODY_DEFAULT, .tag = "me", .answers = "Mailbox",
     .help = "Chooses which letters you get.", .params = {DIGEST_ROW(WEB_JSON)}},
};
const Room ROOM_MAILBOX = ROOM(ROUTES);
