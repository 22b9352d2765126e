/* api_second.c -- /api/v1/me/second-factor: what the pages of second.c do. Only by a session: a token must not change who gets in. */
#include "site/api.h"
#include "site/people.h"

enum { FIELD_MOST = 1000, CODE_MOST = 100 };

static Status give_second(WebRequest *request)
{
    SecondView view = {.secret = SLICE_EMPTY, .link = SLICE_EMPTY};
    TRY(second_view(request, &view));
    if (site_viewer(request)->by_token)
        view.secret = view.link = SLICE_EMPTY;
    return api_answer(request, &SCHEMA_SECOND, &view);
}

static Status begin(WebRequest *request)
{
    SecondView view = {.secret = SLICE_EMPTY, .link = SLICE_EMPTY};
    TRY(api_refuse_token(request));
    TRY(second_begin(request, &view));
    return api_answer(request, &SCHEMA_SECOND, &view);
}

static Status answer_codes(WebRequest *request, Status (*act)(WebRequest *, RecoveryCodes *))
{
    ApiCodes view = {.count = SECOND_CODES};
    TRY(api_refuse_token(request));
    TRY(act(request, &view.codes));
    return api_answer(request, &SCHEMA_CODES, &view);
}

static Status confirm(WebRequest *request)
{
    return answer_codes(request, second_turn_on);
}

static Status renew(WebRequest *request)
{
    return answer_codes(request, second_new_codes);
}

static Status turn_off(WebRequest *request)
{
    TRY(api_refuse_token(request));
    TRY(second_turn_off(request));
    return api_answer_done(request);
}

/* clang-format off */
#define MINE(how, where, what, schema)                                                              \
    {how, API_PATH where, what, .access = WEB_LOGIN, .tag = "me", .answers = schema
#define CODE_ROW(words) {"code", WEB_JSON, WEB_LINE, .least = 1, .most = CODE_MOST, .help = words}

static const WebRoute ROUTES[] = {
    MINE(WEB_GET, "me/second-factor", give_second, "SecondFactor"), .help = "Whether you have a second factor."},
    MINE(WEB_POST, "me/second-factor", begin, "SecondFactor"), .help = "Offers a secret for your device; it counts when a code confirms it. Not by a token."},
    MINE(WEB_POST, "me/second-factor/confirm", confirm, "RecoveryCodes"), .body_bytes = WEB_BODY_DEFAULT,
     .help = "Turns it on, and tells ten codes on paper, once. Your other sessions end. Not by a token.",
     .params = {CODE_ROW("What your device shows.")}},
    MINE(WEB_POST, "me/second-factor/codes", renew, "RecoveryCodes"), .body_bytes = WEB_BODY_DEFAULT,
     .help = "Makes ten new codes on paper; the old ones are over. Not by a token.",
     .params = {CODE_ROW("Of your device, or one on paper.")}},
    MINE(WEB_POST, "me/second-factor/off", turn_off, "Done"), .threads = WEB_PASSWORD, .body_bytes = WEB_BODY_DEFAULT,
     .help = "Turns it off. Your other sessions end. Not by a token.",
     .params = {{"password", WEB_JSON, WEB_LINE, .least = 1, .most = FIELD_MOST, .help = "Yours."},
                CODE_ROW("Of your device, or one on paper.")}},
};
/* clang-format on */
const Room ROOM_API_SECOND = ROOM(ROUTES);
