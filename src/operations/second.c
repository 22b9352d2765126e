/* second.c -- somebody's second factor: setting it up, recovery codes, turning it off.
 *
 * Each step is one update (access/second_factor.h). A crash before the e-mail that tells of it leaves out only that e-mail; one after the
 * codes were made costs the person new codes. */
#include "operations/account_mail.h"
#include "operations/own_access.h"
#include "operations/schema_macros.h"
#include "operations/tries.h"

enum { FIELD_MAX = 1000, CODE_MAX = 100 };

/* clang-format off */
static const ApiMember SECOND[] = {
    FIELD("on", SecondView, factor.is_on, .help = "Whether logging in asks for a code."),
    FIELD("offered", SecondView, factor.is_offered, .help = "Whether a secret waits for the code that confirms it."),
    TIME("since", SecondView, factor.since_us, OR_NULL, .help = "When it was turned on, or offered."),
    FIELD("codes_left", SecondView, factor.codes_left, .help = "Recovery codes that were not used."),
    FIELD("required", SecondView, is_required, .help = "Whether a role of yours asks for it."),
    FIELD("secret", SecondView, secret, OR_NULL, .help = "What is offered, in base32; never by a token."),
    FIELD("link", SecondView, link, OR_NULL, .help = "The same as apps read it: otpauth://…"),
};
SCHEMA(SECOND, "SecondFactor", SecondView, SECOND, .help = "The second factor of an account.");

static const ApiMember CODES[] = {
    MANY("codes", API_TEXTS, CodeList, codes.codes, count, NULL, .help = "Each lets you in once, when your device is not at hand."),
};
SCHEMA(CODES, "RecoveryCodes", CodeList, CODES, .help = "Recovery codes; told only now.");
/* clang-format on */

static void fill_view(Operations *ops, const Account *account, const SecondFactor *factor,
                      Arena *arena, SecondView *view)
{
    bool is_required;
    (void)actor_roles(ops->app, account, false, &is_required);
    *view = (SecondView){
        .factor = *factor, .is_required = is_required, .secret = SLICE_EMPTY, .link = SLICE_EMPTY};
    if (!factor->is_offered)
        return;
    view->secret = totp_secret_text(factor->secret, arena);
    view->link =
        totp_link(factor->secret, slice_from(ops->config->site_name), account->name, arena);
}

Status own_second(Operations *ops, const Account *account, Arena *arena, SecondView *ret_view)
{
    SecondFactor factor;
    TRY(second_factor_read(ops->app->accounts, account->id, arena, &factor));
    fill_view(ops, account, &factor, arena, ret_view);
    return STATUS_OK;
}

static Status second_show(Operations *ops, const Actor *actor, const Nothing *request, Arena *arena,
                          SecondView *ret_view, Reason *reason)
{
    (void)request, (void)reason;
    TRY(own_second(ops, actor->account, arena, ret_view));
    if (actor->by_token)
        ret_view->secret = ret_view->link = SLICE_EMPTY;
    return STATUS_OK;
}

typedef struct SecondCode {
    OwnWays ways;
    Slice code;
} SecondCode;

/* The password is asked for here, too: whoever has read a secret that is only offered would know that of the owner who confirms it. */
static Status second_begin(Operations *ops, const Actor *actor, const SecondCode *request,
                           Arena *arena, SecondView *ret_view, Reason *reason)
{
    SecondFactor factor;
    TRY(check_any_password(ops, actor, request->ways.password, arena, reason));
    TRY(second_factor_offer(ops->app->accounts, actor->account->id, arena, &factor, reason));
    fill_view(ops, actor->account, &factor, arena, ret_view);
    return STATUS_OK;
}

static SecondFactorChange change_of(const Actor *actor, Slice code)
{
    return (SecondFactorChange){
        .account = actor->account->id, .code = code, .keep = actor->session};
}

static Status second_confirm(Operations *ops, const Actor *actor, const SecondCode *request,
                             Arena *arena, CodeList *ret_codes, Reason *reason)
{
    Tries tries;
    SecondFactorChange change = change_of(actor, request->code);
    TRY(check_any_password(ops, actor, request->ways.password, arena, reason));
    TRY(tries_begin_code(ops, actor, actor->account, arena, &tries, reason));
    Status status =
        second_factor_confirm(ops->app->accounts, &change, arena, &ret_codes->codes, reason);
    TRY(tries_end(ops, &tries, status, STATUS_REFUSED));
    account_mail_actor(ops, actor, LETTER_SECOND_ON, "/my/second-factor", arena);
    ret_codes->count = SECOND_FACTOR_CODES;
    return STATUS_OK;
}

static Status second_codes(Operations *ops, const Actor *actor, const SecondCode *request,
                           Arena *arena, CodeList *ret_codes, Reason *reason)
{
    Tries tries;
    TRY(tries_begin_code(ops, actor, actor->account, arena, &tries, reason));
    Status status = second_factor_renew(ops->app->accounts, actor->account->id, request->code,
                                        arena, &ret_codes->codes, reason);
    ret_codes->count = SECOND_FACTOR_CODES;
    return tries_end(ops, &tries, status, STATUS_REFUSED);
}

static Status second_off(Operations *ops, const Actor *actor, const SecondCode *request,
                         Arena *arena, Done *ret_done, Reason *reason)
{
    Tries tries;
    SecondFactorChange change = change_of(actor, request->code);
    TRY(check_own_password(ops, actor, request->ways.password, "password", arena, reason));
    TRY(tries_begin_code(ops, actor, actor->account, arena, &tries, reason));
    TRY(tries_end(ops, &tries, second_factor_drop(ops->app->accounts, &change, reason),
                  STATUS_REFUSED));
    account_mail_actor(ops, actor, LETTER_SECOND_OFF, "/my/second-factor", arena);
    ret_done->done = true;
    return STATUS_OK;
}

/* clang-format off */
#define OWN .access = WEB_LOGIN, .no_audits = "it is one's own"
#define SECRET .no_command = "its secrets are for the person's own device"
#define CODE_INPUT(words) INPUT("code", SecondCode, code, LINE, .least = 1, .most = CODE_MAX, .help = words)
OPERATION(second_show, Nothing, SecondView, .help = "Show whether you have a second factor.", OWN, .asks = true, .shows = SHOWS(ACCESS), .answers = &SCHEMA_SECOND,
    .api = {WEB_GET, "me/second-factor", .tag = "me"}, .no_page = "/my/second-factor shows it", .command = {.words = "second show"});
OPERATION(second_begin, SecondCode, SecondView, .help = "Offer a secret for your device; it counts when a code confirms it. Not by a token.",
    OWN, .by_session = true, .threads = WEB_PASSWORD, .answers = &SCHEMA_SECOND,
    .api = {WEB_POST, "me/second-factor", .tag = "me"}, .page = {.path = "/my/second-factor/begin"}, SECRET,
    .inputs = {OWN_PASSWORD_INPUT(SecondCode)});
OPERATION(second_confirm, SecondCode, CodeList, .help = "Turn it on, and tell ten recovery codes, once. Your other sessions end. Not by a token.",
    OWN, .by_session = true, .threads = WEB_PASSWORD, .answers = &SCHEMA_CODES,
    .api = {WEB_POST, "me/second-factor/confirm", .tag = "me"}, .page = {.path = "/my/second-factor/confirm"}, SECRET,
    .inputs = {OWN_PASSWORD_INPUT(SecondCode), CODE_INPUT("What your device shows.")});
OPERATION(second_codes, SecondCode, CodeList, .help = "Make ten new recovery codes; the old ones no longer work. Not by a token.",
    OWN, .by_session = true, .answers = &SCHEMA_CODES,
    .api = {WEB_POST, "me/second-factor/codes", .tag = "me"}, .page = {.path = "/my/second-factor/codes"}, SECRET,
    .inputs = {CODE_INPUT("Of your device, or a recovery code.")});
OPERATION(second_off, SecondCode, Done, .help = "Turn it off. Your other sessions end. Not by a token.", OWN, .by_session = true,
    .threads = WEB_PASSWORD, .api = {WEB_POST, "me/second-factor/off", .tag = "me"},
    .page = {"/my/second-factor/off", "second-off", "Your second factor is off. Your other sessions are ended."},
    .no_command = "\"user second-off\" does it without password and code",
    .inputs = {
        INPUT("password", SecondCode, ways.password, SECRET, .least = 1, .most = FIELD_MAX, .help = "Yours."),
        CODE_INPUT("Of your device, or a recovery code."),
    });
/* clang-format on */
