/* mailbox.c -- /my/mail: which e-mails I get; /unsubscribe: the link in them, with one button, or one click of the mail program (RFC 8058).
 *
 * The link says by its token whose e-mails end, and does nothing else; so no log-in is asked for, and the POST needs no form's token: another site that
 * makes a browser send it would have to know the link. Opening the page changes nothing, because mail scanners open links. */
#include "site/my/my_pages.h"
#include "site/pages.h"

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

static Status fill_unsubscribe(WebRequest *request, void *view, Frame *frame)
{
    const Form *form = view;
    uint64_t account;
    web_private(request);
    frame->title =
        form->answer != NULL ? SLICE("No more such e-mails") : SLICE("No more such e-mails?");
    return form->answer != NULL
               ? STATUS_OK
               : unsubscribe_whose(site_of(request)->ops, form_typed(form, "token"), &account,
                                   web_reason(request));
}

static void draw_unsubscribe(Buffer *out, const void *view)
{
    unsubscribe_page(out, view);
}

FORM(unsubscribe, BareForm, .path = "/unsubscribe", .by_link = true, .fill = fill_unsubscribe,
     .draw = draw_unsubscribe, .shows_answer = true,
     .help = "A button that ends e-mails; opening it changes nothing.");
