/* frame.c -- what stands around every page, error pages, and what forms need. See site_private.h. */
#include "site/site_private.h"

#include "site/pages.h"
#include "web/errors.h"

/*    word in the address, sentence, whether the number follows it */
#define DONE_LIST(X)                                                                           \
    X("saved", "Your votes are saved. This is save number", true)                              \
    X("unchanged", "Nothing was changed.", false)                                              \
    X("reported", "Thank you. Moderators will look at it, and you are told what comes of it.", \
      false)                                                                                   \
    X("reported-unnamed", "Thank you. Moderators will look at it.", false)
static const struct {
    const char *word;
    const char *text;
    bool has_number;
} DONE[] = {
#define X(word, text, has_number) {word, text, has_number},
    DONE_LIST(X)
#undef X
};

enum { DONE_COUNT = sizeof DONE / sizeof DONE[0] };

/* Which of these words, or of the operations' behind them, the address says, from 1 on; 0: none that we know. */
static size_t done_of(WebRequest *request)
{
    Slice word = web_field(request, WEB_QUERY, "done");
    if (word.size == 0)
        return 0;
    for (size_t i = 0; i < DONE_COUNT; i++)
        if (slice_equal(word, slice_from(DONE[i].word)))
            return i + 1;
    for (size_t i = 0; OPERATIONS[i] != NULL; i++)
        if (OPERATIONS[i]->page.done != NULL &&
            slice_equal(word, slice_from(OPERATIONS[i]->page.done)))
            return DONE_COUNT + i + 1;
    return 0;
}

/* Nobody who is not logged in has done what has a number: for them it is as if nothing was said. */
static Notice notice_of(WebRequest *request, bool is_known)
{
    size_t done = done_of(request);
    Notice notice = {0};
    if (done == 0 || (done <= DONE_COUNT && DONE[done - 1].has_number && !is_known))
        return notice;
    if (done > DONE_COUNT)
        return (Notice){.text = OPERATIONS[done - DONE_COUNT - 1]->page.told};
    notice.text = DONE[done - 1].text;
    notice.has_number =
        DONE[done - 1].has_number &&
        slice_to_i64(web_field(request, WEB_QUERY, "number"), &notice.number) == STATUS_OK;
    return notice;
}

uint64_t frame_variant(WebRequest *request)
{
    return notice_of(request, false).text != NULL ? done_of(request) : 0;
}

/* The page of an error may come before anybody looked at who is asking. */
static const Viewer *viewer_or_nobody(const WebRequest *request)
{
    static const Viewer NOBODY = {0};
    const Viewer *viewer = web_viewer(request);
    return viewer != NULL ? viewer : &NOBODY;
}

/* ---- The frame ---------------------------------------------------------------------------------------------------------- */

SharedPageContext shared_page_context(const WebRequest *request)
{
    return (SharedPageContext){site_of(request), web_public_url(request)};
}

static FrameView view_of(const SharedPageContext *desk, const Frame *frame, Arena *arena)
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
    FrameOwn own = {.viewer = viewer_or_nobody(request)};
    own.notice = notice_of(request, own.viewer->known);
    if (own.viewer->known && site_voter_state(request, &state) == STATUS_OK) {
        own.has_balance = true;
        own.balance = state->balance;
    }
    if (own.viewer->known)
        own.notice_count = site_notice_count(request);
    if (own.viewer->known)
        web_private(request);
    return own;
}

Buffer *page_begin(WebRequest *request, const Frame *frame)
{
    SharedPageContext desk = shared_page_context(request);
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

void shared_page_begin(const SharedPageContext *desk, const Frame *frame, Arena *arena,
                       SharedPageDraft *draft)
{
    FrameView view = view_of(desk, frame, arena);
    frame_head(&draft->out, &view);
    slot_leave(&draft->slots, &draft->out, SLOT_ME, 0);
    frame_main(&draft->out, &view);
    slot_leave(&draft->slots, &draft->out, SLOT_NOTICE, 0);
}

void shared_page_end(const SharedPageContext *desk, SharedPageDraft *draft)
{
    put_bottom(desk->site, &draft->out);
}

void frame_fill(const FrameOwn *own, Buffer *out, const PageSlot *slot)
{
    if (slot->kind == SLOT_ME)
        frame_me(out, own);
    else if (slot->kind == SLOT_NOTICE)
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
    if (viewer_or_nobody(request)->lost_right) {
        view.way = "/appeal";
        view.way_text = "See why, and what you can do";
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

enum { P_SLUG }; /* the first parameter of every route that leads on */

/* Names change, and change back: whoever kept an earlier redirect would be led round in a circle, so nobody keeps one. And what is already
 * at the address that it would be led to stays there, however a proxy has rewritten the letters on the way. */
bool site_leads_on(WebRequest *request, Slice slug, Slice address)
{
    Arena *arena = web_arena(request);
    Slice target = web_target(request);
    if (slice_equal(web_text(request, P_SLUG), slug) || slice_equal(web_path(request), address))
        return false;
    Slice query = slice_after(target, slice_find(target, '?'));
    web_redirect(request, 308,
                 arena_print(arena, "%.*s%.*s", SLICE_ARG(address), SLICE_ARG(query)));
    web_private(request);
    return true;
}
