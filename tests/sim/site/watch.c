/* watch.c -- what is looked at while things happen: entries that must stay, counts that must not show a polly twice. See
 * site.h. */
#include "site/site.h"

void watch_history(SiteInstance *instance)
{
    SitePerson *person = site_any_person(instance);
    Entry *entries;
    size_t count;
    if (!site_instance_heard(instance, "votes_history",
                             votes_history(instance->votes, person->account, 0, 1000,
                                           instance->arena, &entries, &count)) ||
        !site_instance_alive(instance))
        return;
    for (size_t i = 0; i < count; i++)
        site_saw_entry(instance->run, person, &entries[i]);
}

/* A confirmed account has its name and its e-mail, always: unless its row changed while we looked. */
void watch_names(SiteInstance *instance)
{
    SitePerson *person = site_any_person(instance);
    Account before, after, found = {0};
    if (accounts_read(instance->accounts, person->account, instance->arena, &before) != STATUS_OK ||
        before.state != ACCOUNT_CONFIRMED)
        return;
    Slice label = site_instance_draw(instance, 2) == 0 ? before.name : before.email;
    Status status = accounts_find(instance->accounts, label, instance->arena, &found);
    if ((status != STATUS_OK && status != STATUS_NOT_FOUND) ||
        accounts_read(instance->accounts, person->account, instance->arena, &after) != STATUS_OK)
        return;
    if (site_instance_alive(instance) && before.version == after.version && found.id != before.id)
        run_violated(instance->run, "account %llu has %.*s, which belongs to %llu",
                     (unsigned long long)before.id, SLICE_ARG(label), (unsigned long long)found.id);
}

/* ---- Counts ---------------------------------------------------------------------------------------------- */

static Read *reads_of(SiteInstance *instance, const SitePicture *picture)
{
    Read *reads = ARENA_ARRAY(instance->arena, picture->count, Read);
    char *column = arena_bytes(instance->arena, 1);
    *column = (char)picture->bucket;
    for (size_t i = 0; i < picture->count; i++)
        reads[i] =
            (Read){&TABLE_POLICY_TOTALS,
                   ledger_totals_row(instance->arena, picture->generation, picture->policies[i]),
                   slice_of(column, 1), STORE_NORMAL};
    return reads;
}

static bool look(SiteInstance *instance, SitePicture *picture)
{
    ReadAnswer *answers = ARENA_ARRAY(instance->arena, picture->count, ReadAnswer);
    if (store_read_many(instance->store, reads_of(instance, picture), picture->count,
                        instance->arena, answers) != STATUS_OK)
        return false;
    picture->totals = ARENA_ARRAY(run_arena(instance->run), picture->count, int64_t);
    picture->vers = ARENA_ARRAY(run_arena(instance->run), picture->count, int64_t);
    for (size_t i = 0; i < picture->count; i++) {
        Sum sum = {0};
        if (answers[i].status == STATUS_OK &&
            !site_instance_heard(instance, "a count", ledger_get_sum(answers[i].cell.value, &sum)))
            return false;
        if (answers[i].status != STATUS_OK && answers[i].status != STATUS_NOT_FOUND)
            return false;
        picture->totals[i] = sum.count.total;
        picture->vers[i] = (int64_t)sum.ver;
    }
    return true;
}

/* Looks twice: when nothing moved in between, all of it stood at one moment. */
void watch_counts(SiteInstance *instance)
{
    Site *site = instance->site;
    SitePicture *picture = ARENA_NEW(run_arena(instance->run), SitePicture);
    *picture = (SitePicture){.bucket = ledger_shard(site_any_person(instance)->account),
                             .generation = votes_generation(instance->votes),
                             .count = site->policy_count,
                             .policies = site->policies};
    SitePicture again = *picture;
    if (!look(instance, picture) || !look(instance, &again) || !site_instance_alive(instance) ||
        memcmp(picture->vers, again.vers, picture->count * sizeof *again.vers) != 0)
        return;
    picture->next = site->pictures;
    site->pictures = picture;
}

/* ---- The past -------------------------------------------------------------------------------------------- */

/* Order does not count: policies come as they come. */
static void add_change(void *context, uint64_t policy, int64_t change)
{
    uint64_t *digest = context;
    *digest += (policy + 1) * UINT64_C(0x9E3779B97F4A7C15) * (uint64_t)change;
}

static bool read_late(SiteInstance *instance, SitePast *past)
{
    LateDay *days;
    size_t count;
    if (votes_late_days(instance->votes, instance->arena, &days, &count) != STATUS_OK)
        return false;
    past->late = 0;
    for (size_t i = 0; i < count && days[i].day <= past->day; i++)
        past->late = days[i].digest;
    return true;
}

bool past_read(SiteInstance *instance, SitePast *past)
{
    const Site *site = instance->site;
    if (!read_late(instance, past))
        return false;
    past->hours = 0;
    for (size_t i = 0; i < past->hour_count; i++) {
        uint64_t digest = 0;
        if (site->hours[i] / 24 != past->day)
            continue;
        if (votes_hour_changes(instance->votes, site->hours[i], add_change, &digest) != STATUS_OK)
            return false;
        past->hours = past->hours * 31 + digest;
    }
    return true;
}

/* A day with something in it that is over by this clock. */
void watch_past(SiteInstance *instance)
{
    Site *site = instance->site;
    uint32_t over = count_day(clock_now_us(instance->world.clock));
    if (site->hour_count == 0)
        return;
    SitePast *past = ARENA_NEW(run_arena(instance->run), SitePast);
    *past = (SitePast){.generation = votes_generation(instance->votes),
                       .day = site->hours[site_instance_draw(instance, site->hour_count)] / 24,
                       .hour_count = site->hour_count};
    if (past->day >= over || !past_read(instance, past) || !site_instance_alive(instance) ||
        votes_generation(instance->votes) != past->generation)
        return;
    past->next = site->pasts;
    site->pasts = past;
}
