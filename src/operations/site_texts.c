/* site_texts.c -- showing and writing the pages on privacy and on terms.
 *
 * A new revision is one conditional update on the one that was seen, in the audit log before it is done. A crash in between leaves an
 * entry whose outcome is not known; the same request again is CONFLICT when it was done. */
#include "operations/site_texts.h"

#include "operations/schema_macros.h"

/* clang-format off */
static const ApiMember TEXT[] = {
    WORD("text", SiteTextView, kind, TEXT_KIND_WORDS, .help = "Which."),
    FIELD("revision", SiteTextView, text.revision, .help = "Its number; 0: it comes with the software."),
    TIME("time", SiteTextView, text.time_us, OR_NULL, .help = "When it was written."),
    FIELD("words", SiteTextView, text.text, .help = "Markdown."),
};
SCHEMA(ADMIN_TEXT, "AdminText", SiteTextView, TEXT, .help = "A text of the site.");
/* clang-format on */

typedef struct TextQuery {
    TextKind kind;
} TextQuery;

static Status text_show(Operations *ops, const Actor *actor, const TextQuery *request, Arena *arena,
                        SiteTextView *ret_view, Reason *reason)
{
    (void)actor, (void)reason;
    ret_view->kind = request->kind;
    return texts_read(ops->app->store, request->kind, arena, &ret_view->text);
}

static void print_text(const void *answer, Arena *arena, Buffer *out)
{
    (void)arena;
    buffer_bytes(out, ((const SiteTextView *)answer)->text.text);
}

/* clang-format off */
OPERATION(text_show, TextQuery, SiteTextView, .help = "Print the page on privacy or on terms, as Markdown.", FOR_ADMINS, .asks = true,
    .answers = &SCHEMA_ADMIN_TEXT, .api = {WEB_GET, "admin/texts", .tag = "admin"}, .no_page = "/privacy and /terms show them",
    .command = {"text show", .print = print_text},
    .inputs = {INPUT("text", TextQuery, kind, WORD, .fallback = "privacy", .words = TEXT_KIND_WORDS, .operand = true, .value = "KIND", .help = "Which.")});
/* clang-format on */

typedef struct TextWrite {
    TextKind kind;
    InputStream words;
    int64_t revision;
    bool has_revision;
    Slice reason;
} TextWrite;

/* Without a revision it replaces whichever stands. */
static Status text_write(Operations *ops, const Actor *actor, const TextWrite *request,
                         Arena *arena, Done *ret_done, Reason *reason)
{
    SiteText stands;
    NewText want = {.kind = request->kind,
                    .text = request->words.text,
                    .seen = (uint32_t)request->revision,
                    .editor = actor_id(actor)};
    Id id;
    AuditAct act = {.kind = AUDIT_TEXT_WRITE,
                    .reason = request->reason,
                    .details = slice_from(text_kind_word(want.kind))};
    if (request->words.path != NULL)
        TRY(disk_read(ops->app->world.disk, request->words.path, TEXT_BYTES, arena, &want.text,
                      reason));
    if (!request->has_revision) {
        TRY(texts_read(ops->app->store, want.kind, arena, &stands));
        want.seen = stands.revision;
    }
    TRY(operation_audit(ops, actor, &act, &id, reason));
    TRY(operation_audit_end(ops, id, texts_write(ops->app->store, ops->app->world, &want, reason)));
    operations_notify(ops, CHANGE_TEXT, 0);
    ret_done->done = true;
    return STATUS_OK;
}

/* clang-format off */
OPERATION(text_write, TextWrite, Done, .help = "Replace the page on privacy or on terms; the older one is kept.", FOR_ADMINS, .audits = AUDITS(TEXT_WRITE),
    .api = {WEB_PUT, "admin/texts", .tag = "admin"}, .page = {"/admin/texts", "text", "The text is saved."},
    .command = {.words = "text write", .done = "the text stands; the older ones are kept"},
    .inputs = {
        INPUT("text", TextWrite, kind, WORD, .words = TEXT_KIND_WORDS, .operand = true, .value = "KIND", .help = "Which."),
        INPUT("words", TextWrite, words, STREAM, .operand = true, .least = 1, .most = 200000, .help = "Markdown."),
        INPUT("revision", TextWrite, revision, NUMBER, .optional = true, .most = TEXT_REVISIONS_MAX, .no_command = true, GIVEN(TextWrite, has_revision),
              .help = "The one that it replaces; left out: whichever stands."),
        REASON_INPUT(TextWrite),
    });
/* clang-format on */
