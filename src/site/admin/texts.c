/* texts.c -- /privacy and /terms for everybody, and the room where admins write them: Markdown, a preview, every revision kept. */
#include "site/admin/admin.h"
#include "site/markdown.h"
#include "site/pages.h"

/* ---- For everybody ---------------------------------------------------------------------------------------------------------- */

static Status show_text(WebRequest *request, TextKind kind)
{
    TextPage page = {.title = text_kind_title(kind), .now_us = site_now_us(request)};
    Arena *arena = web_arena(request);
    TRY(texts_read(site_of(request)->app->store, kind, arena, &page.text));
    page.shown = markdown_html(page.text.text, arena);
    Frame frame = {.title = slice_from(page.title),
                   .description = markdown_words(page.text.text, 150, arena),
                   .address = arena_print(arena, "/%s", text_kind_word(kind)),
                   .is_narrow = true};
    Buffer *out = page_begin(request, &frame);
    site_text_page(out, &page);
    page_end(request, out);
    return STATUS_OK;
}

static Status show_privacy(WebRequest *request)
{
    return show_text(request, TEXT_PRIVACY);
}

static Status show_terms(WebRequest *request)
{
    return show_text(request, TEXT_TERMS);
}

/* ---- For admins --------------------------------------------------------------------------------------------------------------- */

static Status begin(WebRequest *request, TextKind kind, TextsView *view)
{
    Store *store = site_of(request)->app->store;
    Arena *arena = web_arena(request);
    *view = (TextsView){.viewer = site_viewer(request),
                        .now_us = site_now_us(request),
                        .kind = kind,
                        .reason = SLICE_EMPTY};
    TRY(texts_read(store, kind, arena, &view->stands));
    view->typed = view->stands.text;
    return texts_revisions(store, kind, arena, &view->revisions, &view->revision_count);
}

static Status answer(WebRequest *request, TextsView *view, int code)
{
    Frame frame = {.title = SLICE("Texts of the site"), .here = "/admin"};
    view->shown =
        markdown_html(view->is_preview ? view->typed : view->stands.text, web_arena(request));
    web_code(request, code);
    Buffer *out = page_begin(request, &frame);
    admin_texts_page(out, view);
    page_end(request, out);
    return STATUS_OK;
}

/* Rows: 0 which, 1 revision (0: the last). */
static Status show_editor(WebRequest *request)
{
    TextsView view;
    TRY(begin(request, (TextKind)web_word(request, 0), &view));
    if (web_number(request, 1) > 0) {
        SiteText old;
        TRY(texts_read_revision(site_of(request)->app->store, view.kind,
                                (uint32_t)web_number(request, 1), web_arena(request), &old));
        view.typed = old.text;
        view.is_preview = true;
    }
    return answer(request, &view, 200);
}

static Status write_text(WebRequest *request, const NewText *wish, Slice reason)
{
    Id act;
    TRY(site_act(request,
                 &(Act){.kind = ACT_TEXT_WRITE,
                        .reason = reason,
                        .details = slice_from(text_kind_word(wish->kind))},
                 &act));
    Status status = texts_write(site_of(request)->app->store, site_of(request)->app->world, wish,
                                web_reason(request));
    site_act_end(request, act, status);
    return status;
}

/* For programs, too: rows 0 which, 1 text, 2 revision seen, 3 reason. */
Status admin_write_text(WebRequest *request)
{
    NewText wish = {.kind = (TextKind)web_word(request, 0),
                    .text = web_text(request, 1),
                    .seen = (uint32_t)web_number(request, 2),
                    .editor = site_viewer(request)->account.id};
    return write_text(request, &wish, slice_trim(web_text(request, 3)));
}

static Status take_text(WebRequest *request)
{
    TextsView view;
    bool saves = slice_equal(web_text(request, 4), SLICE("save"));
    Status status = saves ? admin_write_text(request) : STATUS_OK;
    Reason *reason = ARENA_NEW(web_arena(request), Reason);
    *reason = *web_reason(request);
    if (saves && !form_can_be_corrected(status)) {
        TRY(status);
        site_done(
            request,
            arena_print(web_arena(request), "/%s", text_kind_word((TextKind)web_word(request, 0))),
            "text", 0);
        return STATUS_OK;
    }
    TRY(begin(request, (TextKind)web_word(request, 0), &view));
    view.typed = web_text(request, 1);
    view.reason = web_text(request, 3);
    view.is_preview = !saves;
    view.is_conflict = status == STATUS_CONFLICT;
    if (saves)
        view.fault = form_fault(reason);
    return answer(request, &view, saves ? 422 : 200);
}

/* clang-format off */
static const char *const KINDS[] = {
#define X(name, word, title) word,
    TEXT_KIND_LIST(X)
#undef X
    NULL};

static const WebRoute ROUTES[] = {
    {WEB_GET, "/privacy", show_privacy, .cache_ms = 10000, .help = "What is kept about people, and how long."},
    {WEB_GET, "/terms", show_terms, .cache_ms = 10000, .help = "The terms of this site."},
    {WEB_GET, "/admin/texts", show_editor, ADMIN_ROW(ADMIN_ROLES), .help = "The pages on privacy and terms, to be written.",
     .params = {{"text", WEB_QUERY, WEB_WORD, .fallback = "privacy", .words = KINDS, .help = "Which."},
                {"revision", WEB_QUERY, WEB_NUMBER, .fallback = "0", .most = TEXT_REVISIONS_MOST, .help = "One of the past."}}},
    {WEB_POST, "/admin/texts", take_text, ADMIN_ROW(ADMIN_ROLES), .body_bytes = WEB_BODY_DEFAULT, .help = "Shows a text as it would be, or saves it.",
     .params = {{"text", WEB_FORM, WEB_WORD, .words = KINDS, .help = "Which."},
                {"words", WEB_FORM, WEB_TEXT, .fallback = "", .most = 200000, .help = "Markdown."},
                {"revision", WEB_FORM, WEB_NUMBER, .fallback = "0", .most = TEXT_REVISIONS_MOST, .help = "That the form saw."},
                REASON_ROW(WEB_FORM),
                {"act", WEB_FORM, WEB_LINE, .fallback = "", .most = 20, .help = "save; anything else only shows."}}},
};
/* clang-format on */
const Room ROOM_ADMIN_TEXTS = ROOM(ROUTES);
