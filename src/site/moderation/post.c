/* post.c -- letters about reports: to moderators that there is one, to who reported what came of it.
 *
 * The site's own thread does it, soon after. A letter is known by report, occasion and reader (mail's `once`), so what a crash repeats, or two
 * instances do at once, is sent once. When all letters of a report are queued, its mark goes (reports_told). */
#include "mail/letters.h"
#include "site/moderation/moderation.h"

enum { MODERATORS_MAX = 100 };

typedef struct LetterReader {
    Slice name, email;
    uint64_t account; /* 0: somebody without one */
} LetterReader;

/* What all letters of one turn share. */
typedef struct Post {
    Site *site;
    Arena *arena;
    bool has_moderators;
    LetterReader moderators[MODERATORS_MAX];
    size_t moderator_count;
} Post;

/* All accounts are looked at: a site has few moderators and no list of them, and a report is rare. */
static Status find_moderators(Post *post)
{
    ARENA_SCOPE Arena *page = arena_new();
    Accounts *accounts = post->site->app->accounts;
    Slice position = SLICE_EMPTY;
    for (bool more = !post->has_moderators; more;) {
        Account *list;
        size_t count;
        arena_reset(page);
        TRY(accounts_list(accounts, position, page, &list, &count, &position, &more));
        position = arena_copy(post->arena, position);
        for (size_t i = 0; i < count && post->moderator_count < MODERATORS_MAX; i++)
            if (list[i].state == ACCOUNT_CONFIRMED && (list[i].roles & MODERATION_REPORTS) != 0)
                post->moderators[post->moderator_count++] =
                    (LetterReader){arena_copy(post->arena, list[i].name),
                                   arena_copy(post->arena, list[i].email), list[i].id};
    }
    post->has_moderators = true;
    return STATUS_OK;
}

/* "the policy “Clean rivers”", or what else it is about. Who reported it and who moderates know its name, also when it is hidden. */
static Slice about(const Post *post, const Report *report)
{
    PolicySummary summary;
    const char *what = report->kind == REPORT_OF_APPEAL ? "the deletion of " : "";
    if (report->policy == 0)
        return SLICE("trouble with logging in or joining");
    if (policy_summary_name(post->site->summaries, report->policy, post->arena, &summary) !=
        STATUS_OK)
        return arena_print(post->arena, "%sa policy that is gone", what);
    return arena_print(post->arena, "%sthe policy “%.*s”", what, SLICE_ARG(summary.name));
}

static Status send_one(const Post *post, const ReportLetter *letter, LetterKind kind,
                       const LetterReader *reader)
{
    Arena *arena = post->arena;
    const Report *report = &letter->report;
    Slice home = slice_from(post->site->home);
    MailMessage message;
    Reason reason = {0};
    LetterFacts facts = {.site = slice_from(post->site->options.config->site_name),
                         .home = home,
                         .name = reader->name,
                         .about = about(post, report),
                         .words = report->reason,
                         .link = kind == LETTER_REPORT
                                     ? arena_print(arena, "%.*s/desk/reports/%llu", SLICE_ARG(home),
                                                   (unsigned long long)report->id)
                                     : arena_print(arena, "%.*s/moderation", SLICE_ARG(home))};
    TRY(letter_write(kind, &facts, arena, &message, &reason));
    message.to = reader->email;
    message.once = arena_print(arena, "report/%c/%llu/%llu", (char)letter->kind,
                               (unsigned long long)report->id, (unsigned long long)reader->account);
    return mail_send(post->site->app->mail, &message, &reason);
}

static Status tell_moderators(Post *post, const ReportLetter *letter)
{
    TRY(find_moderators(post));
    for (size_t i = 0; i < post->moderator_count; i++)
        TRY(send_one(post, letter, LETTER_REPORT, &post->moderators[i]));
    return STATUS_OK;
}

static Status tell_reporter(const Post *post, const ReportLetter *letter)
{
    const Report *report = &letter->report;
    LetterKind kind = report->state == REPORT_ACTED ? LETTER_REPORT_ACTED : LETTER_REPORT_DISMISSED;
    LetterReader reader = {SLICE_EMPTY, report->email, report->account};
    Account account;
    if (report->account != 0) {
        TRY(accounts_read(post->site->app->accounts, report->account, post->arena, &account));
        reader.name = account.name;
        reader.email = account.email;
    }
    return reader.email.size == 0 ? STATUS_OK : send_one(post, letter, kind, &reader);
}

/* What may succeed later is left for the next turn; what never will is not. */
static bool is_settled(Status status)
{
    return status != STATUS_UNAVAILABLE && status != STATUS_UNKNOWN && status != STATUS_CONFLICT;
}

void moderation_post(Site *site)
{
    ARENA_SCOPE Arena *arena = arena_new();
    ReportLetter *letters;
    size_t count;
    Reports *reports = site->app->reports;
    if (reports_letters(reports, arena, &letters, &count) != STATUS_OK || count == 0)
        return;
    Post *post = ARENA_NEW(arena, Post);
    post->site = site;
    post->arena = arena;
    for (size_t i = 0; i < count; i++) {
        Status status = letters[i].kind == REPORT_LETTER_NEW ? tell_moderators(post, &letters[i])
                                                             : tell_reporter(post, &letters[i]);
        if (is_settled(status))
            reports_told(reports, &letters[i]);
    }
}
