/* mail.c -- /admin/mail: letters that could not be sent, and addresses that get nothing but what they must. For admins; each act is noted before it is
 * done. */
#include "mail/mail.h"

#include "site/api.h"
#include "site/mailbox.h"
#include "site/pages.h"

enum { FIELD_MOST = 1000 };

static Mail *mail_of(const WebRequest *request)
{
    return site_of(request)->app->mail;
}

/* ---- What there is ----------------------------------------------------------------------------------------------------- */

Status admin_mail_view(WebRequest *request, AdminMailView *ret_view)
{
    Mail *mail = mail_of(request);
    Arena *arena = web_arena(request);
    MailEntry *waiting;
    TRY(mail_list(mail, MAIL_FAILED, arena, &ret_view->failed, &ret_view->failed_count));
    TRY(mail_list(mail, MAIL_WAITING, arena, &waiting, &ret_view->waiting_count));
    TRY(mail_list_suppressed(mail, arena, &ret_view->suppressed, &ret_view->suppressed_count));
    ret_view->can_mail = mail_can_send(mail);
    return STATUS_OK;
}

/* ---- What is done -------------------------------------------------------------------------------------------------------- */

Status admin_mail_retry(WebRequest *request)
{
    Id id, act;
    Slice details = web_text(request, 0);
    if (id_from_text(details, &id) != STATUS_OK)
        return STATUS_NOT_FOUND;
    TRY(site_act(request, &(Act){.kind = ACT_MAIL_RETRY, .details = details}, &act));
    Status status = mail_retry(mail_of(request), id);
    site_act_end(request, act, status);
    return status;
}

/* The log has no address either: what is kept of it is a hash. */
static Status change(WebRequest *request, ActKind kind)
{
    Id act;
    Slice address = web_text(request, 0);
    TRY(message_check_address(slice_trim(address), "address", web_reason(request)));
    TRY(site_act(request, &(Act){.kind = kind}, &act));
    Status status =
        kind == ACT_MAIL_SUPPRESS
            ? mail_suppress(mail_of(request), address, SUPPRESS_OPERATOR, web_reason(request))
            : mail_allow(mail_of(request), address, web_reason(request));
    site_act_end(request, act, status);
    return status;
}

Status admin_mail_suppress(WebRequest *request)
{
    return change(request, ACT_MAIL_SUPPRESS);
}

Status admin_mail_allow(WebRequest *request)
{
    return change(request, ACT_MAIL_ALLOW);
}

/* ---- The page --------------------------------------------------------------------------------------------------------------- */

static Status answer_mail(WebRequest *request, AdminMailView *view)
{
    Frame frame = {.title = SLICE("Mail")};
    TRY(admin_mail_view(request, view));
    view->csrf = site_viewer(request)->csrf;
    view->now_us = site_now_us(request);
    view->arena = web_arena(request);
    if (view->fault.is_set)
        web_code(request, 422);
    Buffer *out = page_begin(request, &frame);
    admin_mail_page(out, view);
    page_end(request, out);
    return STATUS_OK;
}

static Status show_mail(WebRequest *request)
{
    AdminMailView view = {0};
    return answer_mail(request, &view);
}

static Status after(WebRequest *request, Status status, const char *done)
{
    if (form_can_be_corrected(status)) {
        AdminMailView view = {.fault = form_fault(web_reason(request)),
                              .address = web_text(request, 0)};
        return answer_mail(request, &view);
    }
    TRY(status);
    site_done(request, SLICE("/admin/mail"), done, 0);
    return STATUS_OK;
}

static Status do_retry(WebRequest *request)
{
    Status status = admin_mail_retry(request);
    if (status == STATUS_CONFLICT)
        return reason_set(web_reason(request), status, "",
                          "this letter does not wait to be retried");
    return after(request, status, "mail-retried");
}

static Status do_suppress(WebRequest *request)
{
    return after(request, admin_mail_suppress(request), "mail-suppressed");
}

static Status do_allow(WebRequest *request)
{
    return after(request, admin_mail_allow(request), "mail-allowed");
}

/* ---- For programs --------------------------------------------------------------------------------------------------------- */

static Status give_mail(WebRequest *request)
{
    AdminMailView view = {0};
    TRY(admin_mail_view(request, &view));
    return api_answer(request, &SCHEMA_ADMIN_MAIL, &view);
}

API_DOES(retry, admin_mail_retry)
API_DOES(suppress, admin_mail_suppress)
API_DOES(allow, admin_mail_allow)

/* clang-format off */
#define ADMINS .access = WEB_ROLE, .roles = 1u << ROLE_ADMIN
#define ADDRESS_ROW(from) {"address", from, WEB_LINE, .least = 1, .most = FIELD_MOST, .help = "An e-mail address."}
#define LETTER_ROW(from) {"letter", from, WEB_OPAQUE, .least = 1, .most = ID_TEXT, .help = "Which one."}
#define PROGRAM(how, where, what, schema) {how, API_PATH "admin/" where, what, ADMINS, .tag = "admin", .answers = schema

static const WebRoute ROUTES[] = {
    {WEB_GET, "/admin/mail", show_mail, ADMINS, .help = "Letters that failed, and addresses that get none."},
    {WEB_POST, "/admin/mail/retry", do_retry, ADMINS, .body_bytes = WEB_BODY_DEFAULT, .help = "Queues a failed letter again.",
     .params = {LETTER_ROW(WEB_FORM)}},
    {WEB_POST, "/admin/mail/suppress", do_suppress, ADMINS, .body_bytes = WEB_BODY_DEFAULT,
     .help = "An address gets only letters about its log-in.", .params = {ADDRESS_ROW(WEB_FORM)}},
    {WEB_POST, "/admin/mail/allow", do_allow, ADMINS, .body_bytes = WEB_BODY_DEFAULT, .help = "An address gets all letters again.",
     .params = {ADDRESS_ROW(WEB_FORM)}},
    PROGRAM(WEB_GET, "mail", give_mail, "AdminMail"), .help = "Letters that failed, and addresses that get none."},
    PROGRAM(WEB_POST, "mail/retry", retry, "Done"), .body_bytes = WEB_BODY_DEFAULT, .help = "Queues a failed letter again.",
     .params = {LETTER_ROW(WEB_JSON)}},
    PROGRAM(WEB_POST, "mail/suppress", suppress, "Done"), .body_bytes = WEB_BODY_DEFAULT,
     .help = "An address gets only letters about its log-in.", .params = {ADDRESS_ROW(WEB_JSON)}},
    PROGRAM(WEB_POST, "mail/allow", allow, "Done"), .body_bytes = WEB_BODY_DEFAULT, .help = "An address gets all letters again.",
     .params = {ADDRESS_ROW(WEB_JSON)}},
};
/* clang-format on */
const Room ROOM_ADMIN_MAIL = ROOM(ROUTES);
