/* register.c -- joining: the form, the letter, the button behind its link; and the first admin of a new site.
 *
 * Names are public, so a taken one is said at its field. E-mail addresses are not: whoever registers with one that is taken sees the
 * same page as everybody, and its owner gets a letter that says so. So it is with an address that is not on the roll (electorate.h): nobody learns
 * by trying who is on it. Opening the link of a letter changes nothing, because mail
 * scanners open links; the button's POST confirms. */
#include "mail/mail.h"
#include "site/pages.h"
#include "site/people.h"

enum { FIELD_MOST = 1000, PASSWORD_MOST = 1000, TOKEN_MOST = 100 };

static PersonForm form_of(WebRequest *request)
{
    Site *site = site_of(request);
    return (PersonForm){.csrf = site_form_token(request),
                        .is_demo = site->options.is_demo,
                        .oidc = site->app->oidc,
                        .can_mail = mail_can_send(site->app->mail)};
}

/* With what it says about who may join. */
static Status answer_form(WebRequest *request, PersonForm *form)
{
    Frame frame = {.title = SLICE("Join"), .address = SLICE("/register"), .is_narrow = true};
    Electorate electorate;
    TRY(electorate_read(site_of(request)->app->accounts, web_arena(request), &electorate));
    form->electorate = &electorate;
    if (form->fault.is_set)
        web_code(request, 422);
    Buffer *out = page_begin(request, &frame);
    register_page(out, form);
    page_end(request, out);
    return STATUS_OK;
}

static Status show_register(WebRequest *request)
{
    if (site_viewer(request)->known) {
        web_redirect(request, 303, SLICE("/"));
        return STATUS_OK;
    }
    PersonForm form = form_of(request);
    return answer_form(request, &form);
}

/* The form as who was invited sees it: with the address that the invitation is for. */
static Status show_invitation(WebRequest *request)
{
    Invitation invitation;
    PersonForm form = form_of(request);
    if (site_viewer(request)->known) {
        web_redirect(request, 303, SLICE("/"));
        return STATUS_OK;
    }
    TRY(invitations_peek(site_of(request)->app->accounts, web_text(request, 0), web_arena(request),
                         &invitation, web_reason(request)));
    web_private(request);
    form.invitation = web_text(request, 0);
    form.email = invitation.email;
    return answer_form(request, &form);
}

/* The owner of an address that somebody registers again. */
static Status tell_owner(WebRequest *request, Slice email)
{
    Account account;
    Accounts *accounts = site_of(request)->app->accounts;
    TRY(accounts_find(accounts, email, web_arena(request), &account));
    TRY(people_throttle_letters(request, account.email));
    LinkMail mail = {.account = account.id, .name = account.name, .email = account.email};
    return people_letter(request, LETTER_ALREADY_REGISTERED, &mail, "/forgotten");
}

static Status send_confirmation(WebRequest *request, uint64_t account)
{
    LinkMail mail;
    Accounts *accounts = site_of(request)->app->accounts;
    TRY(accounts_begin_confirm(accounts, account, web_arena(request), &mail));
    return people_letter(request, LETTER_CONFIRM, &mail, "/confirm");
}

static bool is_about(const Reason *reason, const char *field)
{
    return strcmp(reason->field, field) == 0;
}

/* Whether somebody has that name; names are public. */
static Status check_free(WebRequest *request, Slice name, Reason *reason)
{
    Account account;
    if (accounts_find(site_of(request)->app->accounts, name, web_arena(request), &account) !=
        STATUS_OK)
        return STATUS_OK;
    return reason_set(reason, STATUS_REFUSED, "name", "this name is taken");
}

/* Somebody who wants to join: with a password, or by a connection. */
typedef struct Joiner {
    Registration registration;
    const NewConnection *connection; /* NULL: by a password */
    Slice verified;                  /* the address that the other site vouches for; empty: none */
    Slice invitation;                /* the secret of its link; empty: none */
} Joiner;

static Joiner joiner_of(WebRequest *request)
{
    SessionOrigin origin = people_origin(request);
    return (Joiner){.registration = {.name = web_text(request, 0),
                                     .email = web_text(request, 1),
                                     .address = origin.address,
                                     .cookie = web_cookie(request, DOOR_VISITOR)},
                    .verified = SLICE_EMPTY,
                    .invitation = SLICE_EMPTY};
}

/* What the form would be refused for in any case; the rest must look alike whoever the address belongs to. */
static Status check_fields(WebRequest *request, const Joiner *joiner)
{
    Slice folded;
    Reason *reason = web_reason(request);
    TRY(account_fold_name(joiner->registration.name, web_arena(request), &folded, reason));
    TRY(check_free(request, joiner->registration.name, reason));
    return joiner->connection != NULL
               ? STATUS_OK
               : account_check_password(joiner->registration.password, reason);
}

/* An address that is not on the roll: a letter says so, the page does not, and a password is computed as for everybody. */
static Status tell_not_on_roll(WebRequest *request, const Joiner *joiner)
{
    Account nobody;
    Slice email = slice_trim(joiner->registration.email);
    TRY(check_fields(request, joiner));
    if (joiner->connection == NULL)
        (void)!accounts_check_password(site_of(request)->app->accounts, SLICE("-"),
                                       joiner->registration.password, web_arena(request), &nobody);
    Status status = tell_owner(request, email);
    if (status == STATUS_NOT_FOUND)
        status = people_throttle_letters(request, email);
    else
        return status == STATUS_THROTTLED ? STATUS_OK : status;
    if (status == STATUS_OK)
        status = people_letter(request, LETTER_NOT_ON_ROLL,
                               &(LinkMail){.name = SLICE_EMPTY, .email = email}, "/");
    return status == STATUS_THROTTLED ? STATUS_OK : status;
}

/* Somebody who may join. */
static Status register_admitted(WebRequest *request, const Joiner *joiner,
                                const Admission *admission)
{
    Accounts *accounts = site_of(request)->app->accounts;
    const Registration *registration = &joiner->registration;
    Reason *reason = web_reason(request);
    uint64_t id;
    Status status =
        joiner->connection == NULL
            ? accounts_register(accounts, registration, &id, reason)
            : elsewhere_register(accounts, registration, joiner->connection, &id, reason);
    if (status == STATUS_REFUSED && is_about(reason, "email")) {
        status = tell_owner(request, registration->email);
        /* held and nobody's yet, or told often enough: not the visitor's business */
        return status == STATUS_NOT_FOUND || status == STATUS_THROTTLED ? STATUS_OK : status;
    }
    TRY(status);
    (void)!electorate_admitted(accounts, admission, id); /* one that stays open admits no other */
    (void)!people_throttle_letters(request, registration->email); /* counts; the first goes out */
    return send_confirmation(request, id);
}

/* Where the rule goes by addresses, the one that the other site has verified counts; what it has not is proved by our letter, as everybody's. */
static Status check_verified(WebRequest *request, const Joiner *joiner)
{
    Electorate electorate;
    Slice own, typed;
    Arena *arena = web_arena(request);
    Reason *reason = web_reason(request);
    if (joiner->verified.size == 0 || joiner->invitation.size > 0 ||
        account_fold_email(joiner->verified, arena, &own, NULL) != STATUS_OK)
        return STATUS_OK;
    TRY(electorate_read(site_of(request)->app->accounts, arena, &electorate));
    if (!electorate_goes_by_address(electorate.mode))
        return STATUS_OK;
    TRY(account_fold_email(slice_trim(joiner->registration.email), arena, &typed, reason));
    if (slice_equal(own, typed))
        return STATUS_OK;
    return reason_set(reason, STATUS_REFUSED, "email",
                      "who may join goes by the address that you have there: %.*s",
                      SLICE_ARG(joiner->verified));
}

static Status join(WebRequest *request, const Joiner *joiner)
{
    Admission admission;
    TRY(people_throttle(request, THROTTLE_REGISTER));
    TRY(check_verified(request, joiner));
    Status status =
        electorate_admit(site_of(request)->app->accounts, joiner->registration.email,
                         joiner->invitation, web_arena(request), &admission, web_reason(request));
    if (status == STATUS_REFUSED && is_about(web_reason(request), "roll"))
        return tell_not_on_roll(request, joiner);
    TRY(status);
    return register_admitted(request, joiner, &admission);
}

Status people_register(WebRequest *request)
{
    Joiner joiner = joiner_of(request);
    joiner.registration.password = web_text(request, 2);
    joiner.invitation = web_text(request, 3);
    return join(request, &joiner);
}

Status people_register_with(WebRequest *request, const ElsewhereJoiner *elsewhere)
{
    Joiner joiner = joiner_of(request);
    joiner.connection = &elsewhere->who;
    joiner.verified = elsewhere->verified;
    joiner.invitation = elsewhere->invitation;
    return join(request, &joiner);
}

/* The operation stops at the first fault; here all fields are looked at, in the order of the page. When it failed
 * for another reason, that is all there is to say. */
FormFault people_faults(WebRequest *request, const PersonForm *form, const Slice *password)
{
    Slice folded;
    Arena *arena = web_arena(request);
    FormFault faults = {.is_set = false};
    Reason reasons[3] = {0};
    Status name = account_fold_name(form->name, arena, &folded, &reasons[0]);
    bool is_wrong[] = {
        (name != STATUS_OK ? name : check_free(request, form->name, &reasons[0])) != STATUS_OK,
        account_fold_email(slice_trim(form->email), arena, &folded, &reasons[1]) != STATUS_OK,
        password != NULL && account_check_password(*password, &reasons[2]) != STATUS_OK};
    for (int i = 0; i < 3; i++)
        if (is_wrong[i])
            form_fault_add(&faults, form_fault(&reasons[i]), arena);
    bool is_told = form_fault_at(&faults, web_reason(request)->field) != NULL;
    FormFault fault = form_fault(web_reason(request));
    if (is_about(web_reason(request), "invitation")) /* no field that one could go to */
        fault.field = SLICE_EMPTY;
    return is_told ? faults : fault;
}

static Status do_register(WebRequest *request)
{
    PersonForm form = form_of(request);
    form.name = web_text(request, 0);
    form.email = web_text(request, 1);
    form.invitation = web_text(request, 3);
    Status status = people_register(request);
    if (form_can_be_corrected(status)) {
        Slice password = web_text(request, 2);
        form.fault = people_faults(request, &form, &password);
        return answer_form(request, &form);
    }
    TRY(status);
    web_redirect(request, 303, SLICE("/register/sent"));
    return STATUS_OK;
}

static Status show_sent(WebRequest *request)
{
    PersonForm form = form_of(request);
    Frame frame = {.title = SLICE("Look into your mailbox"), .is_narrow = true};
    Buffer *out = page_begin(request, &frame);
    register_sent_page(out, &form);
    page_end(request, out);
    return STATUS_OK;
}

/* Another letter for a registration that waits; the answer is the same when there is none. */
static Status do_again(WebRequest *request)
{
    Account account;
    Slice email = web_text(request, 0);
    int64_t begun_us = clock_steady_us(site_of(request)->app->world.clock);
    TRY(people_throttle(request, THROTTLE_MAIL));
    Status status =
        accounts_find(site_of(request)->app->accounts, email, web_arena(request), &account);
    if (status == STATUS_OK && account.state == ACCOUNT_PENDING)
        status = people_throttle_letters(request, account.email);
    if (status == STATUS_OK && account.state == ACCOUNT_PENDING)
        status = send_confirmation(request, account.id);
    people_floor(request, begun_us);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND && status != STATUS_INVALID &&
        status != STATUS_THROTTLED)
        return status;
    web_redirect(request, 303, SLICE("/register/sent"));
    return STATUS_OK;
}

/* ---- The link ------------------------------------------------------------------------------------------------------------ */

static Status show_confirm(WebRequest *request)
{
    Link link;
    PersonForm form = form_of(request);
    Frame frame = {.title = SLICE("Confirm your e-mail address"), .is_narrow = true};
    form.token = web_text(request, 0);
    Status status = links_peek(site_of(request)->app->accounts, LINK_CONFIRM, form.token,
                               web_arena(request), &link, web_reason(request));
    if (status == STATUS_NOT_FOUND)
        return reason_set(web_reason(request), status, "",
                          "this link is not known, or a newer letter was sent");
    TRY(status);
    web_private(request);
    Buffer *out = page_begin(request, &frame);
    confirm_page(out, &form);
    page_end(request, out);
    return STATUS_OK;
}

static Status do_confirm(WebRequest *request)
{
    uint64_t id;
    TRY(accounts_finish_confirm(site_of(request)->app->accounts, web_text(request, 0), &id,
                                web_reason(request)));
    site_done(request, SLICE("/login"), "welcome", 0);
    return STATUS_OK;
}

/* ---- The first admin ------------------------------------------------------------------------------------------------------- */

static Status answer_first_admin(WebRequest *request, const PersonForm *form)
{
    Frame frame = {.title = SLICE("The first admin"), .is_narrow = true};
    if (form->fault.is_set)
        web_code(request, 422);
    web_private(request);
    Buffer *out = page_begin(request, &frame);
    first_admin_page(out, form);
    page_end(request, out);
    return STATUS_OK;
}

static Status show_first_admin(WebRequest *request)
{
    Link link;
    PersonForm form = form_of(request);
    form.token = web_text(request, 0);
    TRY(links_peek(site_of(request)->app->accounts, LINK_ADMIN, form.token, web_arena(request),
                   &link, web_reason(request)));
    return answer_first_admin(request, &form);
}

static Status do_first_admin(WebRequest *request)
{
    uint64_t id;
    PersonForm form = form_of(request);
    Registration registration = {.name = web_text(request, 1),
                                 .email = web_text(request, 2),
                                 .password = web_text(request, 3)};
    form.token = web_text(request, 0);
    form.name = registration.name;
    form.email = registration.email;
    Status status = accounts_finish_first_admin(site_of(request)->app->accounts, form.token,
                                                &registration, &id, web_reason(request));
    if (form_can_be_corrected(status)) {
        form.fault = people_faults(request, &form, &registration.password);
        return answer_first_admin(request, &form);
    }
    TRY(status);
    site_done(request, SLICE("/login"), "admin", 0);
    return STATUS_OK;
}

#define PERSON_FIELDS                                                                            \
    {"name", WEB_FORM, WEB_LINE, .most = FIELD_MOST, .help = "The name to be known by."},        \
        {"email", WEB_FORM, WEB_LINE, .most = FIELD_MOST, .help = "Where letters go."},          \
    {                                                                                            \
        "password", WEB_FORM, WEB_LINE, .most = PASSWORD_MOST, .help = "At least 10 characters." \
    }
#define LINK_TOKEN(from)                                                                  \
    {                                                                                     \
        "token", from, WEB_OPAQUE, .least = 1, .most = TOKEN_MOST, .help = "Of the link." \
    }

static const WebRoute ROUTES[] = {
    {WEB_GET, "/register", show_register, .access = WEB_GUEST, .help = "The form to join."},
    {WEB_POST, "/register", do_register, .threads = WEB_PASSWORD, .access = WEB_GUEST,
     .body_bytes = WEB_BODY_DEFAULT, .help = "Joins; a letter with a link follows.",
     .params = {PERSON_FIELDS,
                {"invitation", WEB_FORM, WEB_OPAQUE, .optional = true, .most = TOKEN_MOST,
                 .help = "Of the link of an invitation."}}},
    {WEB_GET, "/invitation", show_invitation, .access = WEB_GUEST,
     .help = "The form to join, for who was invited; opening it uses nothing up.",
     .params = {LINK_TOKEN(WEB_QUERY)}},
    {WEB_GET, "/register/sent", show_sent, .access = WEB_GUEST,
     .help = "Says that a letter is on its way."},
    {WEB_POST, "/register/again", do_again, .threads = WEB_PASSWORD, .access = WEB_GUEST,
     .body_bytes = WEB_BODY_DEFAULT, .help = "Sends the letter again.",
     .params = {{"email", WEB_FORM, WEB_LINE, .most = FIELD_MOST, .help = "Where it goes."}}},
    {WEB_GET, "/confirm", show_confirm,
     .help = "A button that confirms; opening it changes nothing.",
     .params = {LINK_TOKEN(WEB_QUERY)}},
    {WEB_POST, "/confirm", do_confirm, .body_bytes = WEB_BODY_DEFAULT,
     .help = "Confirms an e-mail address.", .params = {LINK_TOKEN(WEB_FORM)}},
    {WEB_GET, "/first-admin", show_first_admin,
     .help = "The form for the first admin of a new site.", .params = {LINK_TOKEN(WEB_QUERY)}},
    {WEB_POST, "/first-admin", do_first_admin, .threads = WEB_PASSWORD,
     .body_bytes = WEB_BODY_DEFAULT, .help = "Makes the first admin.",
     .params = {LINK_TOKEN(WEB_FORM), PERSON_FIELDS}},
};
const Room ROOM_REGISTER = ROOM(ROUTES);
