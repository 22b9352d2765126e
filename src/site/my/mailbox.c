/* mailbox.c -- /my/mail: which e-mails I get; /unsubscribe: the link in them, with one button, or one click of the mail program (RFC 8058).
 *
 * The link says by its token whose e-mails end, and does nothing else; so no log-in is asked for, and the POST needs no form's token: another site that
 * makes a browser send it would have to know the link. Opening the page changes nothing, because mail scanners open links. */
#include "site/my/my_pages.h"
#include "site/pages.h"

enum { TOKEN_MAX = 200 };

/* ---- Mine ---------------------------------------------------------------------------------------------------------------- */

static Status fill_mailbox(WebRequest *request, void *view, Frame *frame)
{
    MailboxPage *page = view;
    *frame = (Frame){.title = SLICE("E-mails to you"), .is_narrow = true};
    TRY(my_mailbox(site_of(request)->ops, &site_viewer(request)->account, web_arena(request),
                   &page->mailbox));
    if (page->form.status == STATUS_OK)
        form_type(&page->form, "digest", slice_from(digest_word(page->mailbox.choice)));
    return STATUS_OK;
}

static void draw_mailbox(Buffer *out, const void *view)
{
    mailbox_page(out, view);
}

FORM(mailbox_set, MailboxPage, .path = "/my/mail", .fill = fill_mailbox, .draw = draw_mailbox,
     .help = "Which e-mails I get.");

/* ---- The link ------------------------------------------------------------------------------------------------------------- */

enum { P_TOKEN };

static Status whose(WebRequest *request, uint64_t *ret_account)
{
    if (digests_from_token(site_of(request)->app->accounts, web_text(request, P_TOKEN),
                           ret_account) != STATUS_OK)
        return reason_set(web_reason(request), STATUS_NOT_FOUND, "", "this link is not known");
    return STATUS_OK;
}

static Status answer_unsubscribe(WebRequest *request, bool is_done)
{
    Slice token = web_text(request, P_TOKEN);
    Frame frame = {.title =
                       is_done ? SLICE("No more such e-mails") : SLICE("No more such e-mails?"),
                   .is_narrow = true};
    web_private(request);
    Buffer *out = page_begin(request, &frame);
    if (is_done)
        unsubscribed_page(out);
    else
        unsubscribe_page(out, token);
    page_end(request, out);
    return STATUS_OK;
}

static Status show_unsubscribe(WebRequest *request)
{
    uint64_t account;
    TRY(whose(request, &account));
    return answer_unsubscribe(request, false);
}

/* An account that is closed gets no e-mails either way. */
static Status do_unsubscribe(WebRequest *request)
{
    uint64_t account;
    TRY(whose(request, &account));
    Status status = digests_set(site_of(request)->app->accounts, account, DIGEST_NEVER);
    if (status != STATUS_REFUSED && status != STATUS_NOT_FOUND)
        TRY(status);
    return answer_unsubscribe(request, true);
}

#define TOKEN_ROW                                                           \
    {                                                                       \
        "token", WEB_QUERY, WEB_OPAQUE, .least = 1, .most = TOKEN_MAX,      \
                                        .help = "Of the link in an e-mail." \
    }
static const WebRoute ROUTES[] = {
    {WEB_GET, "/unsubscribe", show_unsubscribe,
     .help = "A button that ends e-mails; opening it changes nothing.",
     .params = {[P_TOKEN] = TOKEN_ROW}},
    {WEB_POST, "/unsubscribe", do_unsubscribe, .body_bytes = WEB_BODY_DEFAULT, .by_link = true,
     .help = "Ends e-mails; also one click of a mail program.", .params = {[P_TOKEN] = TOKEN_ROW}},
};
ROUTE_TABLE(MAILBOX, ROUTES);
