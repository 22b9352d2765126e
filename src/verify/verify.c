/* verify.c -- the stages, the second look, and repair. */
#include "verify/verify.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mutant.h"
#include "verify/verify_private.h"

enum { SUSPECTS_MAX = 1000, LOOKS = 20, LOOK_PAUSE_US = 50000, SWEEPS = 2, SWEEP_HOURS = 3 };
enum { PROGRESS_ROWS = 1000 };

typedef enum Heal { HEAL_NOTHING, HEAL_ROWS, HEAL_REBUILD, HEAL_LISTS, HEAL_LOAD } Heal;

static const struct {
    const char *text;
    Heal heal;
} KINDS[] = {
#define X(name, text, heal) {text, HEAL_##heal},
    VERIFY_KIND_LIST(X)
#undef X
};

const char *verify_kind_text(VerifyKind kind)
{
    return KINDS[kind].text;
}

bool verify_kind_heals(VerifyKind kind)
{
    return KINDS[kind].heal != HEAL_NOTHING;
}

uint64_t verify_faults(const VerifyReport *report)
{
    uint64_t sum = 0;
    for (int i = 0; i < VERIFY_KIND_COUNT; i++)
        sum += report->faults[i];
    return sum;
}

/* ---- Differences ------------------------------------------------------------------------------------------------- */

static UnitCheck *const CHECKS[UNIT_KINDS] = {
    [UNIT_VOTER] = check_voter,   [UNIT_PROJECTED] = check_projected,
    [UNIT_BUCKET] = check_bucket, [UNIT_TOTALS] = check_totals,
    [UNIT_HOUR] = check_hour,     [UNIT_HISTORY] = check_history,
    [UNIT_POLICY] = check_policy, [UNIT_RANK] = check_rank,
};

typedef struct Suspect {
    Unit unit;
    Findings found;
} Suspect;

typedef struct Suspects {
    Suspect list[SUSPECTS_MAX];
    size_t count;
} Suspects;

void audit_differs(Audit *audit, Difference difference, const char *format, ...)
{
    Findings *found = &audit->found;
    bool behind = difference.need > 1; /* as opposed to wrong */
    if (found->count == DIFFERENCES_MAX || (behind && MUTANT(verify_ignores_seq)))
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(found->words[found->count], WORDS_MAX, format, arguments);
    va_end(arguments);
    found->differences[found->count++] = difference;
}

void audit_fault(Audit *audit, VerifyKind kind, const char *format, ...)
{
    char words[WORDS_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    audit->report.faults[kind]++;
    if (audit->options->fault != NULL)
        audit->options->fault(audit->options->self, &(VerifyFault){kind, words});
}

void audit_forget(Audit *audit)
{
    audit->found.count = 0;
}

static Status check_unit(Audit *audit, const Unit *unit)
{
    ARENA_SCOPE Arena *arena = arena_new();
    audit_forget(audit);
    return CHECKS[unit->kind](audit, unit, arena);
}

/* ---- The second look --------------------------------------------------------------------------------------------- */

/* Keeps of `before` what is there again and has not come to where it should have been by now. */
static void keep_same(Findings *before, const Findings *now)
{
    size_t kept = 0;
    for (size_t i = 0; i < before->count; i++)
        for (size_t k = 0; k < now->count; k++) {
            const Difference *old = &before->differences[i], *new = &now->differences[k];
            if (old->kind != new->kind || old->key != new->key || new->have >= old->need)
                continue;
            before->differences[kept] = *old;
            memcpy(before->words[kept], now->words[k], WORDS_MAX);
            kept++;
            break;
        }
    before->count = kept;
}

static Status look_again(Audit *audit, Suspect *suspect)
{
    for (int i = 0; i < LOOKS && suspect->found.count > 0; i++) {
        if (i > 0)
            clock_sleep_us(audit->options->world.clock, LOOK_PAUSE_US);
        TRY(check_unit(audit, &suspect->unit));
        keep_same(&suspect->found, &audit->found);
    }
    VerifyReport *report = &audit->report;
    for (size_t i = 0; i < suspect->found.count; i++) {
        VerifyKind kind = suspect->found.differences[i].kind;
        audit_fault(audit, kind, "%s", suspect->found.words[i]);
        if (kind == VERIFY_VOTER_ROWS && report->damaged_count < VOTES_DAMAGED_MAX)
            report->damaged[report->damaged_count++] = suspect->unit.id;
    }
    return STATUS_OK;
}

/* What the tasks would do within two minutes; and whoever sees a voter behind carries them on. Failures show at the second look. */
static void sweep(Audit *audit)
{
    Votes *votes = audit->options->votes;
    uint32_t hour = ledger_hour(clock_now_us(audit->options->world.clock));
    size_t taken = 1, behind;
    while (votes_project_waiting(votes, SIZE_MAX, &taken) == STATUS_OK && taken > 0)
        ;
    for (uint32_t back = 0; back < SWEEP_HOURS; back++)
        (void)!votes_sweep_hour(votes, hour - back, &behind);
}

static Status settle(Audit *audit)
{
    Suspects *suspects = audit->suspects;
    if (suspects->count == 0)
        return STATUS_OK;
    for (size_t i = 0; i < suspects->count; i++)
        if (suspects->list[i].unit.kind == UNIT_VOTER)
            (void)!votes_project(audit->options->votes, &suspects->list[i].unit.id, 1);
    for (int i = 0; i < SWEEPS; i++) {
        sweep(audit);
        clock_sleep_us(audit->options->world.clock, audit->options->settle_s * US_PER_S);
    }
    uint64_t entries = audit->report.entries, cells = audit->report.cells;
    audit->report.again += suspects->count;
    for (size_t i = 0; i < suspects->count; i++)
        TRY(look_again(audit, &suspects->list[i]));
    audit->report.entries = entries; /* they were counted at the first look */
    audit->report.cells = cells;
    suspects->count = 0;
    return STATUS_OK;
}

Status audit_look(Audit *audit, Unit unit)
{
    TRY(check_unit(audit, &unit));
    if (audit->found.count == 0)
        return STATUS_OK;
    audit->suspects->list[audit->suspects->count++] = (Suspect){unit, audit->found};
    return audit->suspects->count == SUSPECTS_MAX ? settle(audit) : STATUS_OK;
}

/* ---- Logs --------------------------------------------------------------------------------------------------------- */

Status audit_entries(Audit *audit, EntryRead *reads, size_t count, Arena *arena)
{
    Read *cells = ARENA_ARRAY(arena, count, Read);
    ReadAnswer *answers = ARENA_ARRAY(arena, count, ReadAnswer);
    for (size_t i = 0; i < count; i++)
        cells[i] = (Read){&TABLE_VOTERS, ledger_u64(arena, reads[i].voter),
                          ledger_column(arena, 'z', reads[i].seq), STORE_SERIAL};
    TRY(store_read_many(audit->options->store, cells, count, arena, answers));
    for (size_t i = 0; i < count; i++) {
        reads[i].found = false;
        if (answers[i].status == STATUS_NOT_FOUND)
            continue;
        TRY(answers[i].status);
        reads[i].found = ledger_get_entry(cells[i].column, answers[i].cell.value, arena,
                                          &reads[i].entry) == STATUS_OK;
    }
    return STATUS_OK;
}

const EntryChange *audit_change(const Entry *entry, uint64_t policy)
{
    for (size_t i = 0; i < entry->change_count; i++)
        if (entry->changes[i].policy == policy)
            return &entry->changes[i];
    return NULL;
}

/* ---- Stages ------------------------------------------------------------------------------------------------------- */

/* A row's key: [generation,] id [, number of 1 or 4 bytes]. */
typedef struct Stage {
    const char *name;
    const Table *table;
    VerifyKind kind;
    enum UnitKind unit;
    bool generation, hour; /* hour: the id has 4 bytes */
    size_t number;         /* bytes of the number */
    const char *counter;   /* of ids, to know about how many rows to expect; or NULL */
    bool needs_ranking;
} Stage;

static const Stage STAGES[] = {
    {"voters", &TABLE_VOTERS, VERIFY_VOTERS, UNIT_VOTER, false, false, 0, "accounts", false},
    {"projected", &TABLE_PROJECTED, VERIFY_PROJECTED, UNIT_PROJECTED, true, false, 0, "accounts",
     false},
    {"policies", &TABLE_POLICIES, VERIFY_POLICIES, UNIT_POLICY, false, false, 0, "policies", false},
    {"counts", &TABLE_POLICY_VOTERS, VERIFY_POLICY_VOTERS, UNIT_BUCKET, true, false, 1, NULL,
     false},
    {"totals", &TABLE_POLICY_TOTALS, VERIFY_POLICY_TOTALS, UNIT_TOTALS, true, false, 0, "policies",
     false},
    {"history", &TABLE_POLICY_HISTORY, VERIFY_POLICY_HISTORY, UNIT_HISTORY, true, false, 4, NULL,
     false},
    {"hours", &TABLE_HOUR_CHANGES, VERIFY_HOUR_CHANGES, UNIT_HOUR, true, true, 1, NULL, false},
    {"rankings", &TABLE_POLICIES, VERIFY_RANKING, UNIT_RANK, false, false, 0, "policies", true},
};

/* false for a row of another generation. CORRUPT: not a key of this table. */
static Status unit_of(const Audit *audit, const Stage *stage, Slice row, Unit *ret_unit,
                      bool *ret_current)
{
    Reader reader = reader_of(row);
    uint32_t generation = stage->generation ? reader_u32(&reader) : audit->generation;
    Unit unit = {.kind = stage->unit};
    unit.id = stage->hour ? reader_u32(&reader) : reader_u64(&reader);
    if (stage->number == 1)
        unit.number = reader_u8(&reader);
    else if (stage->number == 4)
        unit.number = reader_u32(&reader);
    if (!reader_done(&reader))
        return STATUS_CORRUPT;
    *ret_unit = unit;
    *ret_current = generation == audit->generation;
    return STATUS_OK;
}

static uint64_t expected_rows(const Audit *audit, const Stage *stage, Arena *arena)
{
    Cell cell;
    if (stage->counter == NULL)
        return 0;
    Read read = {&TABLE_COUNTERS, slice_from(stage->counter), SLICE("next"), STORE_SERIAL};
    if (store_read(audit->options->store, &read, arena, &cell) != STATUS_OK)
        return 0;
    Reader reader = reader_of(slice_after(cell.value, ID_BYTES));
    return reader_u64(&reader) - 1;
}

static void tell_progress(const Audit *audit, const Stage *stage, uint64_t done, uint64_t expected)
{
    if (audit->options->progress != NULL)
        audit->options->progress(audit->options->self,
                                 &(VerifyProgress){stage->name, done, expected});
}

static Status look_at_row(Audit *audit, const Stage *stage, Slice row)
{
    Unit unit;
    bool current;
    if (unit_of(audit, stage, row, &unit, &current) != STATUS_OK) {
        audit_fault(audit, stage->kind, "a row of %zu bytes has no key of this table", row.size);
        return STATUS_OK;
    }
    audit->report.voters += unit.kind == UNIT_VOTER;
    audit->report.policies += unit.kind == UNIT_POLICY;
    if (unit.kind == UNIT_HOUR && current && unit.id < audit->first_hour)
        audit->first_hour = (uint32_t)unit.id;
    return current ? audit_look(audit, unit) : STATUS_OK;
}

/* Rows come one after the other, each as often as it has cells. */
static Status run_stage(Audit *audit, const Stage *stage)
{
    ARENA_SCOPE Arena *arena = arena_new();
    BUFFER_SCOPE Buffer position = {0}, last = {0};
    uint64_t rows = 0, expected = expected_rows(audit, stage, arena);
    for (bool more = true; more;) {
        ScanPage page;
        arena_reset(arena);
        TRY(store_scan(audit->options->store, stage->table, buffer_slice(&position), STORE_PAGE_MAX,
                       arena, &page));
        for (size_t i = 0; i < page.count; i++) {
            if (rows > 0 && slice_equal(page.cells[i].row, buffer_slice(&last)))
                continue;
            buffer_clear(&last);
            buffer_bytes(&last, page.cells[i].row);
            TRY(look_at_row(audit, stage, page.cells[i].row));
            if (++rows % PROGRESS_ROWS == 0)
                tell_progress(audit, stage, rows, expected);
        }
        more = page.more;
        buffer_clear(&position);
        buffer_bytes(&position, page.position);
    }
    tell_progress(audit, stage, rows, rows);
    return STATUS_OK;
}

static Status run_stages(Audit *audit)
{
    Generations before, after;
    TRY(votes_generations(audit->options->votes, &before));
    audit->generation = before.current;
    audit->report.old = before.last - before.has_also;
    audit->first_hour = UINT32_MAX;
    TRY(settings_read(accounts_settings(audit->options->accounts), audit->arena, &audit->settings));
    for (size_t i = 0; i < sizeof STAGES / sizeof STAGES[0]; i++)
        if (!STAGES[i].needs_ranking || audit->options->ranking != NULL)
            TRY(run_stage(audit, &STAGES[i]));
    TRY(audit_index(audit));
    TRY(settle(audit));
    TRY(audit_past(audit));
    TRY(votes_generations(audit->options->votes, &after));
    return before.current == after.current ? STATUS_OK : STATUS_CONFLICT;
}

Status verify_run(const VerifyOptions *options, VerifyReport *ret_report)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Audit *audit = calloc(1, sizeof *audit);
    CHECK(audit != NULL);
    audit->options = options;
    audit->arena = arena;
    audit->suspects = calloc(1, sizeof *audit->suspects);
    CHECK(audit->suspects != NULL);
    Status status = run_stages(audit);
    *ret_report = audit->report;
    free(audit->suspects);
    free(audit);
    return status;
}

/* ---- Repair ------------------------------------------------------------------------------------------------------- */

static bool needs(const VerifyReport *report, Heal heal)
{
    for (int i = 0; i < VERIFY_KIND_COUNT; i++)
        if (report->faults[i] > 0 && KINDS[i].heal == heal)
            return true;
    return false;
}

static Status heal_lists(const VerifyOptions *options)
{
    BUFFER_SCOPE Buffer position = {0};
    for (bool more = true; more;) {
        ARENA_SCOPE Arena *arena = arena_new();
        Slice next;
        Status status =
            policies_reindex_page(options->policies, buffer_slice(&position), arena, &next, &more);
        if (status != STATUS_CORRUPT) /* a policy cannot be read: its places stay as they are */
            TRY(status);
        buffer_clear(&position);
        buffer_bytes(&position, next);
    }
    return STATUS_OK;
}

static void tell_rebuilt(void *self, uint64_t voters)
{
    const VerifyOptions *options = self;
    if (options->progress != NULL)
        options->progress(options->self, &(VerifyProgress){"rebuild", voters, 0});
}

Status verify_repair(const VerifyOptions *options, const VerifyReport *report)
{
    VerifyOptions copy = *options;
    RebuildOptions rebuild = {
        .settle_s = options->settle_s, .progress = tell_rebuilt, .self = &copy};
    bool rebuilds = needs(report, HEAL_REBUILD);
    Status mended = STATUS_OK;
    for (size_t i = 0; i < report->damaged_count; i++) {
        Status status = votes_mend(options->votes, report->damaged[i]);
        if (status != STATUS_OK)
            mended = status;
    }
    if (rebuilds)
        TRY(votes_rebuild(options->votes, &rebuild));
    if (needs(report, HEAL_LISTS))
        TRY(heal_lists(options));
    if (options->ranking != NULL && (rebuilds || needs(report, HEAL_LOAD)))
        TRY(ranking_load(options->ranking, options->votes));
    return mended;
}
