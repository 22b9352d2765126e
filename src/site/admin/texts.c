/* texts.c -- /privacy and /terms for everybody, and the page where admins write them: Markdown, a preview, every revision kept. Under the words on
 * privacy, whoever wrote them, stands what the software itself says (operations/privacy.h). */
#include "draw/markdown.h"
#include "site/admin/admin.h"
#include "site/pages.h"

/* ---- For everybody ---------------------------------------------------------------------------------------------------------- */

static Status show_text(WebRequest *request, TextKind kind)
{
    TextPage page = {.title = text_kind_title(kind), .now_us = site_now_us(request)};
    Arena *arena = web_arena(request);
    TRY(texts_read(site_of(request)->app->store, kind, arena, &page.text));
    page.shown = markdown_html(page.text.text, arena);
    if (kind == TEXT_PRIVACY) {
        PrivacyView *privacy = ARENA_NEW(arena, PrivacyView);
        TRY(privacy_view(site_of(request)->ops, arena, privacy));
        page.privacy = privacy;
    }
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

static Status kind_of(Slice word, TextKind *ret_kind)
{
    for (int i = 0; i < TEXT_KINDS; i++)
        if (slice_equal(word, slice_from(text_kind_word((TextKind)i)))) {
            *ret_kind = (TextKind)i;
            return STATUS_OK;
        }
    return STATUS_NOT_FOUND;
}

/* The form begins with what stands, or with a revision of the past that the address names. */
static Status begin(Store *store, Arena *arena, TextsPage *page)
{
    Slice wanted = form_typed(&page->form, "revision");
    SiteText text = page->stands;
    uint64_t number;
    if (wanted.size > 0) {
        if (slice_to_u64(wanted, &number) != STATUS_OK || number > TEXT_REVISIONS_MAX)
            return STATUS_NOT_FOUND;
        TRY(texts_read_revision(store, page->kind, (uint32_t)number, arena, &text));
        page->shows_typed = true;
    }
    form_type(&page->form, "words", text.text);
    return STATUS_OK;
}

static Status fill(WebRequest *request, void *view, Frame *frame)
{
    TextsPage *page = view;
    Form *form = &page->form;
    Store *store = site_of(request)->app->store;
    Arena *arena = web_arena(request);
    Slice word = form_typed(form, "text");
    *frame = (Frame){.title = SLICE("Texts of the site"), .here = "/admin"};
    page->now_us = site_now_us(request);
    TRY(kind_of(word.size > 0 || form->is_sent ? word : SLICE("privacy"), &page->kind));
    TRY(texts_read(store, page->kind, arena, &page->stands));
    TRY(texts_revisions(store, page->kind, arena, &page->revisions, &page->revision_count));
    page->shows_typed = form->is_preview;
    if (!form->is_sent)
        TRY(begin(store, arena, page));
    page->shown =
        markdown_html(page->shows_typed ? form_typed(form, "words") : page->stands.text, arena);
    return STATUS_OK;
}

static void draw(Buffer *out, const void *view)
{
    admin_texts_page(out, view);
}

static Slice to_the_text(WebRequest *request, const void *sent, const void *answer)
{
    (void)sent, (void)answer;
    return arena_print(web_arena(request), "/%.*s",
                       SLICE_ARG(web_field(request, WEB_FORM, "text")));
}

FORM(text_write, TextsPage, .path = "/admin/texts", .fill = fill, .draw = draw,
     .leads = to_the_text, .previews = true,
     .help = "The pages on privacy and terms, to be written.");

/* clang-format off */
static const WebRoute ROUTES[] = {
    {WEB_GET, "/privacy", show_privacy, .shows = "text_show", .cache_ms = 10000, .help = "What is kept about people, and how long."},
    {WEB_GET, "/terms", show_terms, .shows = "text_show", .cache_ms = 10000, .help = "The terms of this site."},
};
/* clang-format on */
ROUTE_TABLE(SITE_TEXTS, ROUTES);
