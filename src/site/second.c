/* second.c -- the second factor: setting it up, the codes on paper, turning it off; and the page between password and session.
 *
 * Whoever has shown the password of an account with a second factor gets no session yet, but a sealed cookie that says so for ten minutes: who,
 * in which epoch, since when. It opens nothing but the page that asks for a code, and a new password makes it worthless. Tries with codes are
 * counted by account, and on a device that the account has logged in on by that device (tries.c). */
#include <sodium.h>

#include "site/pages.h"
#include "site/people.h"
#include "site/qr.h"
#include "site/second.h"

enum { CODE_MOST = 100, NEXT_MOST = 2000, FIELD_MOST = 1000, HALF_S = 600, HALF_TEXT = 200 };
enum { VARIANT = sodium_base64_VARIANT_URLSAFE_NO_PADDING };
static const char *const HALF = "half";

static Accounts *accounts_of(const WebRequest *request)
{
    return site_of(request)->app->accounts;
}

static const Account *me(const WebRequest *request)
{
    return &site_viewer(request)->account;
}

/* ---- Between password and session ------------------------------------------------------------------------------------- */

typedef struct Half {
    uint64_t account, epoch;
    int64_t made_us;
    bool remember;
} Half;

static Slice half_text(WebRequest *request, const Half *half)
{
    BUFFER_SCOPE Buffer plain = {0};
    Arena *arena = web_arena(request);
    buffer_u64(&plain, half->account);
    buffer_u64(&plain, half->epoch);
    buffer_i64(&plain, half->made_us);
    buffer_u8(&plain, half->remember);
    Slice sealed = vault_seal(site_of(request)->app->vault, HALF, buffer_slice(&plain), arena);
    size_t size = sodium_base64_encoded_len(sealed.size, VARIANT);
    char *text = arena_bytes(arena, size);
    sodium_bin2base64(text, size, (const unsigned char *)sealed.data, sealed.size, VARIANT);
    return slice_of(text, size - 1);
}

static Status read_half(WebRequest *request, Half *ret_half)
{
    unsigned char sealed[HALF_TEXT];
    size_t size = 0;
    Slice text = web_cookie(request, HALF), plain;
    Half half;
    if (text.size == 0 || text.size > HALF_TEXT ||
        sodium_base642bin(sealed, sizeof sealed, text.data, text.size, NULL, &size, NULL,
                          VARIANT) != 0 ||
        vault_unseal(site_of(request)->app->vault, HALF, slice_of(sealed, size), web_arena(request),
                     &plain) != STATUS_OK)
        return STATUS_LOGIN;
    Reader reader = reader_of(plain);
    half.account = reader_u64(&reader);
    half.epoch = reader_u64(&reader);
    half.made_us = reader_i64(&reader);
    half.remember = reader_u8(&reader) != 0;
    int64_t age_us = site_now_us(request) - half.made_us;
    if (!reader_done(&reader) || age_us < 0 || age_us > HALF_S * US_PER_S)
        return STATUS_LOGIN;
    *ret_half = half;
    return STATUS_OK;
}

/* Who has shown the password lately. LOGIN: nobody has. */
static Status half_account(WebRequest *request, SessionOrigin *ret_origin, Account *ret_account)
{
    Half half;
    Account account;
    TRY(read_half(request, &half));
    TRY(accounts_read(accounts_of(request), half.account, web_arena(request), &account));
    if (account.epoch != half.epoch || !account.second || !account_may(&account, RIGHT_LOG_IN))
        return STATUS_LOGIN;
    *ret_origin = people_origin(request);
    ret_origin->remember = half.remember;
    *ret_account = account;
    return STATUS_OK;
}

Status people_come_in(WebRequest *request, const Account *account, const SessionOrigin *origin,
                      Slice next)
{
    BUFFER_SCOPE Buffer to = {0};
    if (!account->second) {
        TRY(people_log_in(request, account, origin));
        web_redirect(request, 303, next);
        return STATUS_OK;
    }
    Half half = {account->id, account->epoch, site_now_us(request), origin->remember};
    web_set_cookie(request, HALF, half_text(request, &half), HALF_S);
    buffer_text(&to, "/login/code?next=");
    url_part_put_slice(&to, next);
    web_redirect(request, 303, arena_copy(web_arena(request), buffer_slice(&to)));
    return STATUS_OK;
}

/* What came of a try, for the counts: a code that did not fit is one, a store that did not answer is none. */
static TryEnd end_of(Status status)
{
    return status == STATUS_OK ? TRY_RIGHT : status == STATUS_REFUSED ? TRY_WRONG : TRY_NONE;
}

Status people_check_code(WebRequest *request, const Account *account, Slice code,
                         const SessionOrigin *origin)
{
    Tries tries;
    TRY(tries_begin_code(request, account, &tries));
    Status status = second_check(accounts_of(request), account->id, code, web_reason(request));
    tries_end(request, &tries, end_of(status));
    if (status == STATUS_REFUSED)
        (void)!logins_note_failure(accounts_of(request), account->id, origin);
    return status;
}

static Status answer_code(WebRequest *request, const PersonForm *form, int code)
{
    Frame frame = {.title = SLICE("Your second factor"), .is_narrow = true};
    web_code(request, code);
    web_private(request);
    Buffer *out = page_begin(request, &frame);
    login_code_page(out, form);
    page_end(request, out);
    return STATUS_OK;
}

static Status show_code(WebRequest *request)
{
    Account account;
    SessionOrigin origin;
    PersonForm form = {.csrf = site_form_token(request), .next = people_next(web_text(request, 0))};
    Status status = half_account(request, &origin, &account);
    if (status == STATUS_LOGIN || status == STATUS_NOT_FOUND) {
        web_redirect(request, 303, SLICE("/login"));
        return STATUS_OK;
    }
    TRY(status);
    return answer_code(request, &form, 200);
}

static Status do_code(WebRequest *request)
{
    Account account;
    SessionOrigin origin;
    PersonForm form = {.csrf = site_form_token(request), .next = people_next(web_text(request, 1))};
    Status status = half_account(request, &origin, &account);
    if (status == STATUS_LOGIN || status == STATUS_NOT_FOUND) {
        web_redirect(request, 303, SLICE("/login"));
        return STATUS_OK;
    }
    TRY(status);
    status = people_check_code(request, &account, web_text(request, 0), &origin);
    if (form_can_be_corrected(status)) {
        form.fault = form_fault(web_reason(request));
        return answer_code(request, &form, status == STATUS_THROTTLED ? 429 : 422);
    }
    TRY(status);
    origin.second = true;
    TRY(people_log_in(request, &account, &origin));
    web_set_cookie(request, HALF, SLICE_EMPTY, WEB_COOKIE_GONE);
    web_redirect(request, 303, form.next);
    return STATUS_OK;
}

/* ---- Setting it up -------------------------------------------------------------------------------------------------------- */

static void fill_view(WebRequest *request, const SecondFactor *factor, SecondView *view)
{
    Arena *arena = web_arena(request);
    const Site *site = site_of(request);
    view->factor = *factor;
    view->is_required = (me(request)->roles & site->app->second_roles) != 0;
    if (!factor->is_offered)
        return;
    view->secret = totp_secret_text(factor->secret, arena);
    view->link = totp_link(factor->secret, slice_from(site->options.config->site_name),
                           me(request)->name, arena);
}

Status second_view(WebRequest *request, SecondView *ret_view)
{
    SecondFactor factor;
    TRY(second_read(accounts_of(request), me(request)->id, web_arena(request), &factor));
    fill_view(request, &factor, ret_view);
    return STATUS_OK;
}

Status second_begin(WebRequest *request, SecondView *ret_view)
{
    SecondFactor factor;
    TRY(second_offer(accounts_of(request), me(request)->id, web_arena(request), &factor,
                     web_reason(request)));
    fill_view(request, &factor, ret_view);
    return STATUS_OK;
}

static SecondChange change_of(WebRequest *request, Slice code)
{
    return (SecondChange){
        .account = me(request)->id, .code = code, .keep = &site_viewer(request)->session};
}

static void tell_me(WebRequest *request, LetterKind kind)
{
    const Account *account = me(request);
    LinkMail mail = {.account = account->id, .name = account->name, .email = account->email};
    (void)!people_letter(request, kind, &mail, "/my/second-factor"); /* a courtesy */
}

Status second_turn_on(WebRequest *request, RecoveryCodes *ret_codes)
{
    Tries tries;
    SecondChange change = change_of(request, web_text(request, 0));
    TRY(tries_begin_code(request, me(request), &tries));
    Status status = second_confirm(accounts_of(request), &change, web_arena(request), ret_codes,
                                   web_reason(request));
    tries_end(request, &tries, end_of(status));
    TRY(status);
    tell_me(request, LETTER_SECOND_ON);
    return STATUS_OK;
}

Status second_new_codes(WebRequest *request, RecoveryCodes *ret_codes)
{
    Tries tries;
    TRY(tries_begin_code(request, me(request), &tries));
    Status status = second_renew(accounts_of(request), me(request)->id, web_text(request, 0),
                                 web_arena(request), ret_codes, web_reason(request));
    tries_end(request, &tries, end_of(status));
    return status;
}

Status second_turn_off(WebRequest *request)
{
    Account account;
    Tries tries;
    SecondChange change = change_of(request, web_text(request, 1));
    TRY(people_check_own_password(request, "password", &account));
    TRY(tries_begin_code(request, me(request), &tries));
    Status status = second_drop(accounts_of(request), &change, web_reason(request));
    tries_end(request, &tries, end_of(status));
    TRY(status);
    tell_me(request, LETTER_SECOND_OFF);
    return STATUS_OK;
}

/* ---- The pages -------------------------------------------------------------------------------------------------------------- */

static Status answer_second(WebRequest *request, SecondView *view)
{
    Frame frame = {.title = SLICE("Second factor"), .is_narrow = true};
    Qr *qr = ARENA_NEW(web_arena(request), Qr);
    view->csrf = site_viewer(request)->csrf;
    view->now_us = site_now_us(request);
    view->has_picture = view->link.size > 0 && qr_encode(view->link, qr);
    if (view->has_picture)
        view->picture = qr_svg(qr, "QR code with the secret below", web_arena(request));
    if (view->fault.is_set)
        web_code(request, 422);
    Buffer *out = page_begin(request, &frame);
    second_page(out, view);
    page_end(request, out);
    return STATUS_OK;
}

static Status show_second(WebRequest *request)
{
    SecondView view = {.secret = SLICE_EMPTY, .link = SLICE_EMPTY};
    TRY(second_view(request, &view));
    return answer_second(request, &view);
}

static Status do_begin(WebRequest *request)
{
    SecondView view;
    TRY(second_begin(request, &view));
    web_redirect(request, 303, SLICE("/my/second-factor"));
    return STATUS_OK;
}

/* The page itself tells the codes, once; nothing that is kept or redirected to does. */
static Status answer_codes(WebRequest *request, Status status, const RecoveryCodes *codes)
{
    Frame frame = {.title = SLICE("Your codes on paper"), .is_narrow = true};
    SecondView view = {.secret = SLICE_EMPTY, .link = SLICE_EMPTY, .codes = codes};
    if (form_can_be_corrected(status)) {
        view.fault = form_fault(web_reason(request));
        TRY(second_view(request, &view));
        return answer_second(request, &view);
    }
    TRY(status);
    Buffer *out = page_begin(request, &frame);
    second_codes_page(out, &view);
    page_end(request, out);
    return STATUS_OK;
}

static Status do_confirm(WebRequest *request)
{
    RecoveryCodes codes;
    Status status = second_turn_on(request, &codes);
    return answer_codes(request, status, &codes);
}

static Status do_codes(WebRequest *request)
{
    RecoveryCodes codes;
    Status status = second_new_codes(request, &codes);
    return answer_codes(request, status, &codes);
}

static Status answer_off(WebRequest *request, const PersonForm *form)
{
    Frame frame = {.title = SLICE("Turn your second factor off"), .is_narrow = true};
    if (form->fault.is_set)
        web_code(request, 422);
    Buffer *out = page_begin(request, &frame);
    second_off_page(out, form);
    page_end(request, out);
    return STATUS_OK;
}

static Status show_off(WebRequest *request)
{
    PersonForm form = {.csrf = site_viewer(request)->csrf};
    return answer_off(request, &form);
}

static Status do_off(WebRequest *request)
{
    PersonForm form = {.csrf = site_viewer(request)->csrf};
    Status status = second_turn_off(request);
    if (form_can_be_corrected(status)) {
        form.fault = form_fault(web_reason(request));
        return answer_off(request, &form);
    }
    TRY(status);
    site_done(request, SLICE("/my/second-factor"), "second-off", 0);
    return STATUS_OK;
}

#define CODE_ROW                                                               \
    {                                                                          \
        "code", WEB_FORM, WEB_LINE, .most = CODE_MOST, .help = "Of the device" \
    }

static const WebRoute ROUTES[] = {
    {WEB_GET, "/login/code", show_code, .access = WEB_GUEST, .always = true,
     .help = "Asks for the second factor, after the password.",
     .params = {{"next", WEB_QUERY, WEB_LINE, .optional = true, .most = NEXT_MOST,
                 .help = "Where to go afterwards."}}},
    {WEB_POST, "/login/code", do_code, .access = WEB_GUEST, .always = true,
     .body_bytes = WEB_BODY_DEFAULT, .help = "Logs in, by a code of the device or on paper.",
     .params = {CODE_ROW,
                {"next", WEB_FORM, WEB_LINE, .optional = true, .most = NEXT_MOST,
                 .help = "Where to go afterwards."}}},
    {WEB_GET, "/my/second-factor", show_second, .access = WEB_LOGIN,
     .help = "My second factor: whether it is on, and how to set it up."},
    {WEB_POST, "/my/second-factor/begin", do_begin, .access = WEB_LOGIN,
     .body_bytes = WEB_BODY_DEFAULT, .help = "Makes a secret for my device."},
    {WEB_POST, "/my/second-factor/confirm", do_confirm, .access = WEB_LOGIN,
     .body_bytes = WEB_BODY_DEFAULT, .help = "Turns it on, and tells the codes on paper.",
     .params = {CODE_ROW}},
    {WEB_POST, "/my/second-factor/codes", do_codes, .access = WEB_LOGIN,
     .body_bytes = WEB_BODY_DEFAULT, .help = "Makes new codes on paper.", .params = {CODE_ROW}},
    {WEB_GET, "/my/second-factor/off", show_off, .access = WEB_LOGIN,
     .help = "Asks before the second factor is turned off."},
    {WEB_POST, "/my/second-factor/off", do_off, .threads = WEB_PASSWORD, .access = WEB_LOGIN,
     .body_bytes = WEB_BODY_DEFAULT, .help = "Turns it off.",
     .params = {{"password", WEB_FORM, WEB_LINE, .most = FIELD_MOST, .help = "My password."},
                CODE_ROW}},
};
const Room ROOM_SECOND = ROOM(ROUTES);
