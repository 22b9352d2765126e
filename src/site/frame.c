/* frame.c -- what stands around every page, error pages, and what forms need. See inside.h. */
#include "site/inside.h"

#include "site/pages.h"
#include "web/errors.h"

/*    word in the address, sentence; %N: with the number */
static const struct {
    const char *word;
    const char *text;
    bool has_number;
} DONE[] = {
    {"saved", "Your votes are saved. This is save number", true},
    {"created", "Your policy is there, with its first votes. This is save number", true},
    {"edited", "The new text is there. The old one stays among the revisions.", false},
    {"unchanged", "Nothing was changed.", false},
    {"retired", "The policy is retired. Everyone got their votes back.", false},
    {"watching", "You watch this policy now.", false},
    {"unwatched", "You do not watch this policy any more.", false},
    {"welcome", "Welcome. Your address is confirmed, and your first pollies are there.", false},
    {"logged-in", "You are logged in.", false},
    {"logged-out", "You are logged out.", false},
    {"session-ended", "That session is ended.", false},
    {"sessions-ended", "All your other sessions are ended.", false},
    {"password", "Your new password counts from now on. Your other sessions are ended.", false},
    {"password-set", "Your new password counts. Log in with it.", false},
    {"admin", "You are the admin of this site now. Log in.", false},
    {"email", "Your new e-mail address is confirmed.", false},
    {"email-sent", "We sent a letter to the new address. It counts when you open its link.", false},
    {"profile", "Your profile is saved.", false},
    {"dismissed", "Dismissed.", false},
    {"token-ended", "That token does not work any more.", false},
    {"left", "Your account is deleted, and your votes are withdrawn.", false},
};

static Notice notice_of(WebRequest *request)
{
    Slice word = web_field(request, WEB_QUERY, "done"),
          number = web_field(request, WEB_QUERY, "number");
    Notice notice = {0};
    for (size_t i = 0; i < sizeof DONE / sizeof DONE[0]; i++) {
        if (!slice_equal(word, slice_from(DONE[i].word)))
            continue;
        notice.text = DONE[i].text;
        notice.has_number = DONE[i].has_number && slice_to_i64(number, &notice.number) == STATUS_OK;
    }
    return notice;
}

static Slice full_address(WebRequest *request, Slice path)
{
    Slice url = web_public_url(request);
    return arena_print(web_arena(request), "%.*s%.*s", SLICE_ARG(url), SLICE_ARG(path));
}

/* The page of an error may come before anybody looked at who is asking. */
static const Viewer *viewer_or_nobody(const WebRequest *request)
{
    static const Viewer NOBODY = {0};
    const Viewer *viewer = web_viewer(request);
    return viewer != NULL ? viewer : &NOBODY;
}

Buffer *page_begin(WebRequest *request, const Frame *frame)
{
    Site *site = site_of(request);
    const Viewer *viewer = viewer_or_nobody(request);
    const VoterState *state;
    FrameView view = {.frame = frame,
                      .viewer = viewer,
                      .site_name = slice_from(site->options.config->site_name),
                      .canonical = full_address(request, frame->address),
                      .is_demo = site->options.is_demo,
                      .back = web_path(request),
                      .notice = notice_of(request)};
    Buffer *out = web_html(request);
    if (viewer->known && site_voter_state(request, &state) == STATUS_OK) {
        view.has_balance = true;
        view.balance = state->balance;
    }
    if (viewer->known)
        view.notice_count = site_notice_count(request);
    if (viewer->known || view.notice.text != NULL)
        web_private(request);
    frame_top(out, &view);
    return out;
}

void page_end(WebRequest *request, Buffer *out)
{
    Site *site = site_of(request);
    FrameView view = {.site_name = slice_from(site->options.config->site_name),
                      .is_demo = site->options.is_demo};
    frame_bottom(out, &view);
}

void frame_error_page(WebRequest *request, const ErrorWords *words)
{
    const Reason *reason = web_reason(request);
    Frame frame = {.title = slice_from(words->title), .is_narrow = true};
    ErrorView view = {.title = words->title,
                      .happened = words->happened,
                      .to_do = words->to_do,
                      .rule = slice_from(reason->rule),
                      .field = slice_from(reason->field),
                      .request_id = web_request_id(request)};
    Buffer *out = page_begin(request, &frame);
    error_page(out, &view);
    page_end(request, out);
}

FormFault form_fault(const Reason *reason)
{
    return (FormFault){true, slice_from(reason->field), slice_from(reason->rule), NULL};
}

bool form_can_be_corrected(Status status)
{
    return status == STATUS_INVALID || status == STATUS_REFUSED || status == STATUS_CONFLICT ||
           status == STATUS_THROTTLED || status == STATUS_TOO_LARGE;
}

void site_done(WebRequest *request, Slice path, const char *done, int64_t number)
{
    Arena *arena = web_arena(request);
    web_redirect(request, 303,
                 number > 0 ? arena_print(arena, "%.*s?done=%s&number=%lld", SLICE_ARG(path), done,
                                          (long long)number)
                            : arena_print(arena, "%.*s?done=%s", SLICE_ARG(path), done));
}

int64_t site_now_us(const WebRequest *request)
{
    return clock_now_us(site_of(request)->app->world.clock);
}
