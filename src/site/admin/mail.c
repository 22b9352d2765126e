/* mail.c -- /admin/mail: e-mails that could not be sent, and addresses that get only those about their log-in. */
#include "site/admin/admin.h"
#include "site/pages.h"

static Status fill_mail(WebRequest *request, void *view, Frame *frame)
{
    MailPage *page = view;
    *frame = (Frame){.title = SLICE("E-mails"), .here = "/admin"};
    page->arena = web_arena(request);
    return mail_queue(site_of(request)->ops, page->arena, &page->mail);
}

static void draw_mail(Buffer *out, const void *view)
{
    admin_mail_page(out, view);
}

static Slice back_to_mail(WebRequest *request, const void *sent, const void *answer)
{
    (void)request, (void)sent, (void)answer;
    return SLICE("/admin/mail");
}

FORM(address_suppress, MailPage, .path = "/admin/mail", .fill = fill_mail, .draw = draw_mail,
     .help = "E-mails that failed, and addresses that get none.");
FORM(address_allow, MailPage, .fill = fill_mail, .draw = draw_mail, .leads = back_to_mail);
FORM(mail_try_again, MailPage, .fill = fill_mail, .draw = draw_mail, .leads = back_to_mail);
