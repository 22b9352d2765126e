/* check_past.c -- the days, the hours and the history of every policy say what the chains say, by the entries' own times. */
#include "site/site.h"

static int64_t changed_in(const SiteFacts *facts, uint64_t policy, int64_t from_us, int64_t to_us)
{
    int64_t change = 0;
    for (size_t i = 0; i < facts->account_count; i++)
        for (size_t k = 0; k < facts->chains[i].count; k++) {
            const Entry *entry = &facts->chains[i].entries[k];
            for (size_t c = 0; c < entry->change_count; c++)
                if (entry->changes[c].policy == policy && entry->time_us >= from_us &&
                    entry->time_us < to_us)
                    change += entry->changes[c].held - entry->changes[c].before;
        }
    return change;
}

/* ---- Days ------------------------------------------------------------------------------------------------ */

static uint32_t last_day(const SiteFacts *facts, uint64_t policy)
{
    uint32_t day = 0;
    for (size_t i = 0; i < facts->account_count; i++)
        for (size_t k = 0; k < facts->chains[i].count; k++) {
            const Entry *entry = &facts->chains[i].entries[k];
            for (size_t c = 0; c < entry->change_count; c++)
                if (entry->changes[c].policy == policy && count_day(entry->time_us) > day)
                    day = count_day(entry->time_us);
        }
    return day;
}

/* Days that lie further back than the longest window may be forgotten. */
static void check_days(SiteInstance *instance, const SiteFacts *facts, uint64_t policy)
{
    Count count;
    if (!site_instance_heard(instance, "votes_count",
                             votes_count(instance->votes, policy, instance->arena, &count)))
        return;
    uint32_t last = last_day(facts, policy);
    for (uint32_t i = 0; i < COUNT_DAYS && i <= last; i++) {
        int64_t from_us = (int64_t)(last - i) * S_PER_DAY * US_PER_S;
        int64_t change = changed_in(facts, policy, from_us, from_us + S_PER_DAY * US_PER_S);
        int64_t says = count_window(&count, last - i, 1);
        if (change != says)
            run_violated(instance->run, "policy %llu changed by %lld on a day that says %lld",
                         (unsigned long long)policy, (long long)change, (long long)says);
    }
}

/* ---- Hours ----------------------------------------------------------------------------------------------- */

typedef struct HourSum {
    uint64_t policy;
    int64_t change;
} HourSum;

static void add_hour(void *context, uint64_t policy, int64_t change)
{
    HourSum *sum = context;
    if (sum->policy == policy)
        sum->change += change;
}

static void check_hour(SiteInstance *instance, const SiteFacts *facts, const Entry *entry)
{
    uint32_t hour = ledger_hour(entry->time_us);
    int64_t from_us = (int64_t)hour * 3600 * US_PER_S;
    for (size_t i = 0; i < entry->change_count; i++) {
        HourSum sum = {.policy = entry->changes[i].policy};
        if (!site_instance_heard(instance, "votes_hour_changes",
                                 votes_hour_changes(instance->votes, hour, add_hour, &sum)))
            return;
        int64_t change = changed_in(facts, sum.policy, from_us, from_us + 3600 * US_PER_S);
        if (change != sum.change)
            run_violated(instance->run, "policy %llu changed by %lld in an hour that says %lld",
                         (unsigned long long)sum.policy, (long long)change, (long long)sum.change);
    }
}

/* ---- History --------------------------------------------------------------------------------------------- */

static void check_line(SiteInstance *instance, const SiteChain *chain, const Entry *entry,
                       const EntryChange *change)
{
    Cell cell = {.value = SLICE_EMPTY};
    Slice row = ledger_history_row(instance->arena, votes_generation(instance->votes),
                                   change->policy, count_day(entry->time_us));
    Read read = {&TABLE_POLICY_HISTORY, row, id_slice(&entry->version), STORE_NORMAL};
    Status status = store_read(instance->store, &read, instance->arena, &cell);
    Reader reader = reader_of(cell.value);
    bool same = status == STATUS_OK && reader_u64(&reader) == chain->account->id &&
                reader_i64(&reader) == change->held - change->before &&
                reader_i64(&reader) == change->held;
    if (!same)
        run_violated(instance->run, "policy %llu: its history lacks entry %llu of voter %llu",
                     (unsigned long long)change->policy, (unsigned long long)entry->seq,
                     (unsigned long long)chain->account->id);
}

static size_t scan_cells(SiteInstance *instance, const Table *table)
{
    ScanPage page = {.position = SLICE_EMPTY, .more = true};
    uint32_t generation = votes_generation(instance->votes);
    size_t count = 0;
    while (page.more) {
        if (!site_instance_heard(
                instance, "store_scan",
                store_scan(instance->store, table, page.position, 1000, instance->arena, &page)))
            break;
        for (size_t i = 0; i < page.count; i++) {
            Reader row = reader_of(page.cells[i].row);
            count += reader_u32(&row) == generation;
        }
    }
    return count;
}

/* Whoever kept a day by its digest, and finds the same digest now, has kept what is there. */
static void check_kept(SiteInstance *instance, const SitePast *kept)
{
    SitePast now = *kept;
    if (kept->generation != votes_generation(instance->votes))
        return;
    if (!past_read(instance, &now))
        run_violated(instance->run, "the past cannot be read though all is well");
    else if (now.late == kept->late && now.hours != kept->hours)
        run_violated(instance->run, "day %u changed after it was over, and nothing tells of it",
                     kept->day);
}

static void check(Run *run, Store *store, Arena *arena)
{
    const SiteFacts *facts = site_facts(run, store);
    SITE_INSTANCE_SCOPE SiteInstance instance;
    size_t lines = 0;
    site_instance_open(&instance, run, NULL, store, arena);
    if (facts == NULL)
        return;
    for (size_t i = 0; i < facts->policy_count; i++)
        check_days(&instance, facts, facts->policies[i].id);
    for (size_t i = 0; i < facts->account_count; i++)
        for (size_t k = 0; k < facts->chains[i].count; k++) {
            const Entry *entry = &facts->chains[i].entries[k];
            for (size_t c = 0; c < entry->change_count; c++, lines++)
                check_line(&instance, &facts->chains[i], entry, &entry->changes[c]);
            check_hour(&instance, facts, entry);
        }
    for (const SitePast *kept = ((const Site *)run_state(run))->pasts; kept != NULL;
         kept = kept->next)
        check_kept(&instance, kept);
    size_t stored = scan_cells(&instance, &TABLE_POLICY_HISTORY);
    if (stored != lines)
        run_violated(run, "the history has %zu lines, the chains have %zu", stored, lines);
}

const Checker CHECK_PAST = {"the past is what the chains say", check};
