/* frame.c -- what stands around every page, error pages, and what forms need. See inside.h. */
#include "site/inside.h"

#include "site/pages.h"
#include "web/errors.h"

/*    word in the address, sentence, whether the number follows it */
#define DONE_LIST(X)                                                                             \
    X("saved", "Your votes are saved. This is save number", true)                                \
    X("created", "Your policy is there, with its first votes. This is save number", true)        \
    X("edited", "The new text is there. The old one stays among the revisions.", false)          \
    X("unchanged", "Nothing was changed.", false)                                                \
    X("retired", "The policy is retired. Everyone got their votes back.", false)                 \
    X("merged", "They are one now. Everybody keeps their votes, and is told.", false)            \
    X("hidden", "The policy is hidden. It is deleted when the time for appeals is over.", false) \
    X("restored", "The policy is back as it was.", false)                                        \
    X("appealed", "Your appeal is with the moderators. You are told what comes of it.", false)   \
    X("answered", "The answer is there for everybody.", false)                                   \
    X("watching", "You watch this policy now.", false)                                           \
    X("unwatched", "You do not watch this policy any more.", false)                              \
    X("welcome", "Welcome. Your address is confirmed, and your first pollies are there.", false) \
    X("logged-in", "You are logged in.", false)                                                  \
    X("logged-out", "You are logged out.", false)                                                \
    X("session-ended", "That session is ended.", false)                                          \
    X("sessions-ended", "All your other sessions are ended.", false)                             \
    X("password", "Your new password counts from now on. Your other sessions are ended.", false) \
    X("password-set", "Your new password counts. Log in with it.", false)                        \
    X("admin", "You are the admin of this site now. Log in.", false)                             \
    X("email", "Your new e-mail address is confirmed.", false)                                   \
    X("email-sent", "We sent a letter to the new address. It counts when you open its link.",    \
      false)                                                                                     \
    X("profile", "Your profile is saved.", false)                                                \
    X("dismissed", "Dismissed.", false)                                                          \
    X("token-ended", "That token does not work any more.", false)                                \
    X("connected", "That site is connected. You can log in by it.", false)                       \
    X("disconnected", "That site does not let you in any more.", false)                          \
    X("mail", "Your choice is saved.", false)                                                    \
    X("mail-retried", "That letter is tried again.", false)                                      \
    X("mail-suppressed", "That address gets only letters about its log-in.", false)              \
    X("mail-allowed", "That address gets all letters again.", false)                             \
    X("second-off", "Your second factor is off. Your other sessions are ended.", false)          \
    X("reported", "Thank you. Moderators will look at it, and you are told what comes of it.",   \
      false)                                                                                     \
    X("reported-unnamed", "Thank you. Moderators will look at it.", false)                       \
    X("trouble-told", "Thank you. We answer to the address that you gave.", false)               \
    X("report-taken", "You have taken this report on.", false)                                   \
    X("report-returned", "The report is back in the queue.", false)                              \
    X("report-dismissed", "The report is dismissed, and who reported is told.", false)           \
    X("report-acted", "The report is closed, and who reported is told.", false)                  \
    X("featured", "The front page shows it from the time you chose.", false)                     \
    X("unfeatured", "The front page does not show it any more.", false)                          \
    X("rights", "Their roles and rights are set.", false)                                        \
    X("logged-out-all", "They are logged out everywhere.", false)                                \
    X("party", "The party is saved.", false)                                                     \
    X("setting", "The change is planned. Nothing before its moment changes.", false)             \
    X("period", "So long it is kept from now on.", false)                                        \
    X("electorate", "The rule stands. Nobody who is here was touched.", false)                   \
    X("withdrawn", "That invitation does not work any more.", false)                             \
    X("text", "The text is saved.", false)                                                       \
    X("task", "The task begins in a moment.", false)                                             \
    X("backup", "The backup is made.", false)                                                    \
    X("closed", "The site is closed for visitors.", false)                                       \
    X("opened", "The site is open again.", false)                                                \
    X("left", "Your account is deleted, and your votes are withdrawn.", false)
static const struct {
    const char *word;
    const char *text;
    bool has_number;
} DONE[] = {
#define X(word, text, has_number) {word, text, has_number},
    DONE_LIST(X)
#undef X
};
const char *const DONE_WORDS[] = {
#define X(word, text, has_number) word,
    DONE_LIST(X)
#undef X
        NULL};

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

/* The page of an error may come before anybody looked at who is asking. */
static const Viewer *viewer_or_nobody(const WebRequest *request)
{
    static const Viewer NOBODY = {0};
    const Viewer *viewer = web_viewer(request);
    return viewer != NULL ? viewer : &NOBODY;
}

/* ---- The frame ---------------------------------------------------------------------------------------------------------- */

SheetDesk sheet_desk(const WebRequest *request)
{
    return (SheetDesk){site_of(request), web_public_url(request)};
}

static FrameView view_of(const SheetDesk *desk, const Frame *frame, Arena *arena)
{
    const Site *site = desk->site;
    return (FrameView){.frame = frame,
                       .site_name = slice_from(site->options.config->site_name),
                       .canonical = arena_print(arena, "%.*s%.*s", SLICE_ARG(desk->public_url),
                                                SLICE_ARG(frame->address)),
                       .is_demo = site->options.is_demo};
}

FrameOwn frame_own(WebRequest *request)
{
    const VoterState *state;
    FrameOwn own = {.viewer = viewer_or_nobody(request), .notice = notice_of(request)};
    if (own.viewer->known && site_voter_state(request, &state) == STATUS_OK) {
        own.has_balance = true;
        own.balance = state->balance;
    }
    if (own.viewer->known)
        own.notice_count = site_notice_count(request);
    if (own.viewer->known || own.notice.text != NULL)
        web_private(request);
    return own;
}

Buffer *page_begin(WebRequest *request, const Frame *frame)
{
    SheetDesk desk = sheet_desk(request);
    FrameView view = view_of(&desk, frame, web_arena(request));
    FrameOwn own = frame_own(request);
    Buffer *out = web_html(request);
    own.here = frame->here;
    frame_head(out, &view);
    frame_me(out, &own);
    frame_main(out, &view);
    frame_notice(out, &own);
    return out;
}

static void put_bottom(const Site *site, Buffer *out)
{
    FrameView view = {.site_name = slice_from(site->options.config->site_name),
                      .is_demo = site->options.is_demo};
    frame_bottom(out, &view);
}

void page_end(WebRequest *request, Buffer *out)
{
    put_bottom(site_of(request), out);
}

void sheet_begin(const SheetDesk *desk, const Frame *frame, Arena *arena, SheetDraft *draft)
{
    FrameView view = view_of(desk, frame, arena);
    frame_head(&draft->out, &view);
    gap_leave(&draft->gaps, &draft->out, GAP_ME, 0);
    frame_main(&draft->out, &view);
    gap_leave(&draft->gaps, &draft->out, GAP_NOTICE, 0);
}

void sheet_end(const SheetDesk *desk, SheetDraft *draft)
{
    put_bottom(desk->site, &draft->out);
}

void frame_fill(const FrameOwn *own, Buffer *out, const Gap *gap)
{
    if (gap->kind == GAP_ME)
        frame_me(out, own);
    else if (gap->kind == GAP_NOTICE)
        frame_notice(out, own);
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
                      .request_id = web_request_id(request),
                      .way = "/",
                      .way_text = "Go to the front page"};
    if (words->http == 404 && view.rule.size > 0) { /* a link in a letter */
        view.title = "This link does not work";
        view.field = SLICE_EMPTY;
        view.happened = "Nothing was changed. ";
        view.to_do = "Links in letters count for some time, and most of them once. Ask for a new "
                     "letter, or start from the front page.";
        frame.title = slice_from(view.title);
    }
    if (words->code == ERROR_MAINTENANCE)
        view.way_text = "Try again";
    if (viewer_or_nobody(request)->needs_second) {
        view.way = "/my/second-factor";
        view.way_text = "Go to your second factor";
    }
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
