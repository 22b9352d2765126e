/* check_audit.c -- the auditor finds nothing in a site that is well; finds a derived row that is not; and heals it. See site.h.
 *
 * This is the last check: it breaks something. */
#include <stdio.h>

#include "site/site.h"
#include "verify/verify.h"

enum { SETTLE_S = 1 };

typedef struct Finding {
    char first[256];
} Finding;

static void hear(void *self, const VerifyFault *fault)
{
    Finding *finding = self;
    if (finding->first[0] == '\0')
        snprintf(finding->first, sizeof finding->first, "%s: %s", verify_kind_text(fault->kind),
                 fault->words);
}

static VerifyOptions options_of(SiteInstance *instance, Finding *finding)
{
    return (VerifyOptions){.store = instance->store,
                           .world = instance->world,
                           .accounts = instance->accounts,
                           .policies = instance->policies,
                           .votes = instance->votes,
                           .ranking = instance->ranking,
                           .settle_s = SETTLE_S,
                           .fault = hear,
                           .self = finding};
}

static VerifyReport audit(SiteInstance *instance, Finding *finding)
{
    VerifyReport report = {0};
    VerifyOptions options = options_of(instance, finding);
    finding->first[0] = '\0';
    (void)site_instance_heard(instance, "verify_run", verify_run(&options, &report));
    return report;
}

static void expect_clean(SiteInstance *instance, const char *when)
{
    Finding finding;
    VerifyReport report = audit(instance, &finding);
    if (verify_faults(&report) > 0)
        run_violated(instance->run, "the auditor, %s: %s", when, finding.first);
}

/* ---- Ways to break a bucket -------------------------------------------------------------------------------- */

typedef struct Bucket {
    uint32_t generation;
    uint64_t policy, voter; /* who has a cell in it */
    uint8_t number;
    Slice row, sum_value;
    Sum sum;
} Bucket;

static void put_plain(SiteInstance *instance, RowChange change)
{
    (void)site_instance_heard(instance, "breaking",
                              store_write(instance->store, &(Batch){&change, 1, false}));
}

static void put_sum(SiteInstance *instance, const Bucket *bucket, Change other)
{
    BUFFER_SCOPE Buffer value = {0};
    Condition condition = {.column = SLICE("sum"), .value = bucket->sum_value};
    ledger_put_sum(&value, &bucket->sum);
    Change changes[2] = {{.column = SLICE("sum"), .value = buffer_slice(&value)}, other};
    Update update = {.table = &TABLE_POLICY_VOTERS,
                     .row = bucket->row,
                     .conditions = &condition,
                     .condition_count = 1,
                     .changes = changes,
                     .change_count = other.column.size > 0 ? 2 : 1};
    (void)site_instance_heard(instance, "breaking",
                              store_update_if(instance->store, &update, instance->arena, NULL));
}

/* A later change of the total that never was, whatever the stamp of the one that stands. */
static VerifyKind break_total(SiteInstance *instance, Bucket *bucket)
{
    BUFFER_SCOPE Buffer value = {0};
    Cell cell = {.timestamp = 0};
    Slice row = ledger_totals_row(instance->arena, bucket->generation, bucket->policy);
    Slice column = slice_of(&bucket->number, 1);
    Read read = {&TABLE_POLICY_TOTALS, row, column, STORE_NORMAL};
    (void)site_instance_heard(instance, "a total",
                              store_read(instance->store, &read, instance->arena, &cell));
    bucket->sum.count.total++;
    bucket->sum.ver++;
    ledger_put_sum(&value, &bucket->sum);
    put_plain(instance, (RowChange){&TABLE_POLICY_TOTALS,
                                    row,
                                    {.column = column,
                                     .value = buffer_slice(&value),
                                     .timestamp = cell.timestamp + 1}});
    return VERIFY_POLICY_TOTALS;
}

/* The sum has moved on, and nobody brought the total after it: only the numbers of the changes tell. */
static VerifyKind break_ver(SiteInstance *instance, Bucket *bucket)
{
    bucket->sum.ver++;
    put_sum(instance, bucket, (Change){.column = SLICE_EMPTY});
    return VERIFY_POLICY_TOTALS;
}

static VerifyKind break_cell(SiteInstance *instance, Bucket *bucket)
{
    BUFFER_SCOPE Buffer value = {0};
    ledger_put_taken(&value, &(Taken){.held = 4711, .seq = 1});
    put_sum(instance, bucket,
            (Change){.column = ledger_column(instance->arena, 'v', bucket->voter),
                     .value = buffer_slice(&value)});
    return VERIFY_POLICY_VOTERS;
}

static VerifyKind break_projected(SiteInstance *instance, Bucket *bucket)
{
    enum { FAR = 1000000 };
    put_plain(
        instance,
        (RowChange){
            &TABLE_PROJECTED,
            ledger_projected_row(instance->arena, bucket->generation, bucket->voter),
            {.column = SLICE("seq"), .value = ledger_u64(instance->arena, FAR), .timestamp = FAR}});
    return VERIFY_PROJECTED;
}

static VerifyKind (*const BREAKS[])(SiteInstance *, Bucket *) = {break_total, break_ver, break_cell,
                                                                 break_projected};

/* The first bucket in which somebody voted; false when nobody did. */
static bool find_bucket(SiteInstance *instance, const SiteFacts *facts, Bucket *ret_bucket)
{
    Bucket bucket = {.generation = votes_generation(instance->votes)};
    for (size_t i = 0; i < facts->account_count && bucket.policy == 0; i++)
        for (size_t k = 0; k < facts->chains[i].count && bucket.policy == 0; k++)
            if (facts->chains[i].entries[k].change_count > 0) {
                bucket.policy = facts->chains[i].entries[k].changes[0].policy;
                bucket.voter = facts->accounts[i].id;
            }
    if (bucket.policy == 0)
        return false;
    Cell cell;
    bucket.number = ledger_shard(bucket.voter);
    bucket.row = ledger_count_row(instance->arena, bucket.generation, bucket.policy, bucket.number);
    Read read = {&TABLE_POLICY_VOTERS, bucket.row, SLICE("sum"), STORE_SERIAL};
    if (!site_instance_heard(instance, "a sum",
                             store_read(instance->store, &read, instance->arena, &cell)))
        return false;
    bucket.sum_value = cell.value;
    *ret_bucket = bucket;
    return site_instance_heard(instance, "a sum", ledger_get_sum(cell.value, &ret_bucket->sum));
}

/* ---- The check ------------------------------------------------------------------------------------------- */

static void check_damage(SiteInstance *instance, const SiteFacts *facts)
{
    Bucket bucket;
    Finding finding;
    if (!find_bucket(instance, facts, &bucket))
        return;
    VerifyKind kind =
        BREAKS[run_draw(instance->run, sizeof BREAKS / sizeof BREAKS[0])](instance, &bucket);
    VerifyReport report = audit(instance, &finding);
    if (report.faults[kind] == 0)
        run_violated(instance->run, "the auditor sees nothing wrong with %s",
                     verify_kind_text(kind));
    VerifyOptions options = options_of(instance, &finding);
    (void)site_instance_heard(instance, "verify_repair", verify_repair(&options, &report));
    expect_clean(instance, "after its repair");
}

static void check(Run *run, Store *store, Arena *arena)
{
    const Site *site = run_state(run);
    const SiteFacts *facts = site_facts(run, store);
    if (!site->scheduled || facts == NULL)
        return;
    SITE_INSTANCE_SCOPE SiteInstance instance;
    site_instance_open(&instance, run, NULL, store, arena);
    if (!shown_refresh(&instance))
        return;
    expect_clean(&instance, "in a site that is well");
    check_damage(&instance, facts);
}

const Checker CHECK_AUDIT = {"the auditor finds what is wrong, and nothing else", check};
