/* digest_letters.c -- see digest_letters.h.
 *
 * What happened is what the list of notices says of that time (votes/notices.h); how ranks moved is told by comparing the ranking by all votes now with
 * that at the beginning of the period. To read that one sorts all policies, so its first RANKED places are kept for the letters that follow. */
#include "app/digest_letters.h"

#include <pthread.h>
#include <stdlib.h>

#include "mail/letters.h"
#include "votes/notices.h"

enum { RANKED = RANK_PAGE_MAX, S_PER_HOUR = 3600, POLICIES_MAX = 2000 };

typedef struct Place {
    uint64_t policy, rank;
} Place;

struct DigestWriter {
    App *app;
    pthread_mutex_t lock; /* held while the past is read, too: the others wait for the same */
    uint32_t hour;        /* 0: none */
    Place places[RANKED]; /* ascending by policy */
    size_t count;
};

typedef struct Digest {
    App *app;
    DigestWriter *writer;
    const DigestPeriod *period;
    const Account *account;
    Arena *arena;
    Slice items[DIGEST_ITEMS_MAX];
    uint64_t policies[DIGEST_ITEMS_MAX]; /* that they are about */
    size_t count;
} Digest;

DigestWriter *digest_writer_new(App *app)
{
    DigestWriter *writer = calloc(1, sizeof *writer);
    CHECK(writer != NULL && pthread_mutex_init(&writer->lock, NULL) == 0);
    writer->app = app;
    return writer;
}

void digest_writer_free(DigestWriter *writer)
{
    if (writer == NULL)
        return;
    CHECK(pthread_mutex_destroy(&writer->lock) == 0);
    free(writer);
}

static void add_item(Digest *digest, uint64_t policy, Slice item)
{
    if (digest->count == DIGEST_ITEMS_MAX)
        return;
    digest->policies[digest->count] = policy;
    digest->items[digest->count++] = item;
}

/* ---- What happened --------------------------------------------------------------------------------------------------- */

static Status add_notices(Digest *digest)
{
    PolicyNotice *notices;
    size_t count;
    TRY(notices_list(digest->app->votes, digest->account->id, digest->arena, &notices, &count));
    for (size_t i = 0; i < count; i++) {
        const PolicyNotice *notice = &notices[i];
        if (notice->time_us < digest->period->from_us || notice->time_us >= digest->period->to_us)
            continue;
        Slice name = notice->name.size > 0 ? notice->name
                     : notice->policy != 0 ? SLICE("A policy of yours")
                                           : SLICE("Your account");
        add_item(digest, notice->policy,
                 arena_print(digest->arena, "%.*s: %s.", SLICE_ARG(name),
                             notice_kind_text(notice->kind)));
    }
    return STATUS_OK;
}

/* ---- How ranks moved ---------------------------------------------------------------------------------------------------- */

typedef struct Moved {
    uint64_t policy, before, now;
} Moved;

static int64_t distance(const Moved *moved)
{
    return llabs((long long)moved->before - (long long)moved->now);
}

static int farthest_first(const void *a, const void *b)
{
    int64_t one = distance(a), other = distance(b);
    return one < other ? 1 : one > other ? -1 : 0;
}

/* The policies that the person holds votes on or watches. */
static Status find_policies(Digest *digest, uint64_t **ret_policies, size_t *ret_count)
{
    VoterState state;
    MergedLine *lines;
    size_t line_count, watched_count, count = 0;
    uint64_t *watched;
    TRY(votes_show(digest->app->votes, digest->account->id, digest->arena, &state));
    TRY(votes_merged_lines(digest->app->votes, &state, digest->arena, &lines, &line_count));
    TRY(accounts_watched(digest->app->accounts, digest->account->id, digest->arena, &watched,
                         &watched_count));
    uint64_t *policies = ARENA_ARRAY(digest->arena, line_count + watched_count, uint64_t);
    for (size_t i = 0; i < line_count && count < POLICIES_MAX; i++)
        if (lines[i].held > 0)
            policies[count++] = lines[i].policy;
    for (size_t i = 0; i < watched_count && count < POLICIES_MAX; i++) {
        size_t at = 0;
        while (at < count && policies[at] != watched[i])
            at++;
        if (at == count)
            policies[count++] = watched[i];
    }
    *ret_policies = policies;
    *ret_count = count;
    return STATUS_OK;
}

static int by_policy(const void *a, const void *b)
{
    const Place *one = a, *other = b;
    return one->policy < other->policy ? -1 : one->policy > other->policy;
}

static Status read_past(DigestWriter *writer, uint32_t hour)
{
    ARENA_SCOPE Arena *arena = arena_new();
    RankPage page;
    Ranking *ranking;
    TRY(app_ranking(writer->app, &ranking));
    TRY(ranking_page_at(ranking, &(RankQuery){0}, hour, 0, RANKED, arena, &page));
    for (size_t i = 0; i < page.count; i++)
        writer->places[i] = (Place){page.rows[i].policy, page.rows[i].rank};
    qsort(writer->places, page.count, sizeof *writer->places, by_policy);
    writer->count = page.count;
    writer->hour = hour;
    return STATUS_OK;
}

/* The ranks of these policies at the end of the hour; 0: it was not among the first. */
static Status ranks_then(DigestWriter *writer, uint32_t hour, Moved *moved, size_t count)
{
    CHECK(pthread_mutex_lock(&writer->lock) == 0);
    Status status = writer->hour == hour ? STATUS_OK : read_past(writer, hour);
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        Place key = {moved[i].policy, 0};
        const Place *found =
            bsearch(&key, writer->places, writer->count, sizeof *writer->places, by_policy);
        moved[i].before = found != NULL ? found->rank : 0;
    }
    CHECK(pthread_mutex_unlock(&writer->lock) == 0);
    return status;
}

/* Leaves those whose rank is another now, the farthest moved first. */
static Status compare(Digest *digest, Moved *moved, size_t *count)
{
    static const RankQuery EVER = {0};
    uint32_t hour = (uint32_t)(digest->period->from_us / (S_PER_HOUR * US_PER_S)) - 1;
    Ranking *ranking;
    size_t kept = 0;
    TRY(app_ranking(digest->app, &ranking));
    TRY(ranks_then(digest->writer, hour, moved, *count));
    for (size_t i = 0; i < *count; i++) {
        RankPlace place;
        if (moved[i].before == 0 ||
            ranking_place(ranking, &EVER, moved[i].policy, &place) != STATUS_OK ||
            place.self.rank == moved[i].before)
            continue;
        moved[kept] = moved[i];
        moved[kept++].now = place.self.rank;
    }
    *count = kept;
    qsort(moved, kept, sizeof *moved, farthest_first);
    return STATUS_OK;
}

static Status add_ranks(Digest *digest)
{
    uint64_t *policies;
    size_t count;
    TRY(find_policies(digest, &policies, &count));
    if (count == 0)
        return STATUS_OK;
    Moved *moved = ARENA_ARRAY(digest->arena, count, Moved);
    for (size_t i = 0; i < count; i++)
        moved[i].policy = policies[i];
    TRY(compare(digest, moved, &count));
    for (size_t i = 0; i < count && digest->count < DIGEST_ITEMS_MAX; i++) {
        Policy policy;
        if (policies_read(digest->app->policies, moved[i].policy, digest->arena, &policy) !=
            STATUS_OK)
            continue;
        add_item(digest, policy.id,
                 arena_print(digest->arena, "%.*s: rank %llu, before %llu.",
                             SLICE_ARG(policy.text.name), (unsigned long long)moved[i].now,
                             (unsigned long long)moved[i].before));
    }
    return STATUS_OK;
}

/* ---- The letter ------------------------------------------------------------------------------------------------------------ */

static Status send(Digest *digest, const DigestRequest *want, Reason *reason)
{
    App *app = digest->app;
    Arena *arena = digest->arena;
    Slice home = slice_from(app->home), token = digests_token(app->accounts, want->account, arena);
    MailMessage letter;
    LetterFacts facts = {.site = slice_from(app->config->site_name),
                         .home = home,
                         .name = digest->account->name,
                         .items = digest->items,
                         .item_count = digest->count,
                         .policies = digest->policies,
                         .policy_count = digest->count,
                         .link = arena_print(arena, "%.*s/my/votes", SLICE_ARG(home))};
    TRY(letter_write(LETTER_DIGEST, &facts, arena, &letter, reason));
    letter.to = digest->account->email;
    letter.once = arena_print(arena, "digest/%llu/%s/%lld", (unsigned long long)want->account,
                              digest_word(want->choice), (long long)digest->period->number);
    letter.unsubscribe =
        arena_print(arena, "%.*s/unsubscribe?token=%.*s", SLICE_ARG(home), SLICE_ARG(token));
    Status status = mail_send(app->mail, &letter, reason);
    return status == STATUS_REFUSED ? STATUS_OK : status; /* a suppressed address, or no mail */
}

Status app_send_digest(void *self, const DigestRequest *want, const DigestPeriod *period,
                       Reason *reason)
{
    DigestWriter *writer = self;
    App *app = writer->app;
    ARENA_SCOPE Arena *arena = arena_new();
    Account account;
    Digest digest = {
        .app = app, .writer = writer, .period = period, .account = &account, .arena = arena};
    Status status = accounts_read(app->accounts, want->account, arena, &account);
    if (status == STATUS_NOT_FOUND || (status == STATUS_OK && account.state == ACCOUNT_CLOSED))
        return STATUS_OK;
    TRY(status);
    if (account.state != ACCOUNT_CONFIRMED || !mail_can_send(app->mail))
        return STATUS_OK;
    TRY(add_notices(&digest));
    TRY(add_ranks(&digest));
    return digest.count == 0 ? STATUS_OK : send(&digest, want, reason);
}
