/* main.c -- the simulator as a program; `./dev sim` runs it.
 *
 * The last line is `sim: N runs, N violations`, or for --mutants which one got away. What broke is printed with the few faults that
 * are enough for it and the command that plays just those again. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "simulator.h"

enum { JOBS_MAX = 64, SHOWN_MAX = 3, FAULTS_MAX = 100000 };

static const char HELP[] =
    "sim [--runs N] [--seed S] [--workload W] [--mutant NAME] [--twice] [--brief] [--jobs N]\n"
    "        runs the seeds S, S + 1, …; --twice: each a second time, and both must be equal; "
    "--brief: says of every seed what broke,\n"
    "        and does not look for the few faults that are enough for it\n"
    "sim --mutants [--workload W] [--mutant NAME]\n"
    "        every known mistake, or that one, must be caught within its seeds\n"
    "sim --exhaustive [--workload W] [--mutant NAME]\n"
    "        two clients, and each way in which one thing goes wrong\n"
    "sim --replay SEED [--workload W] [--mutant NAME] [--without KEYS | --only KEYS]\n"
    "        one run again, without some of its faults, or with these alone (KEYS: "
    "drop/3.17.2,late/2.5.0,…)\n";

typedef struct Options {
    uint64_t runs, seed, jobs;
    const Workload *workload; /* NULL: all in turn */
    const char *mutant_name;
    bool twice, brief, mutants, exhaustive, replay, only;
    SimFired *listed;
    size_t listed_count;
} Options;

/* Shared by the processes that divide the seeds. */
typedef struct Totals {
    _Atomic uint64_t runs, violations, events, shown;
} Totals;

/* ---- Reading the command line ---------------------------------------------------------------------------- */

_Noreturn static void fail(const char *sentence, const char *what)
{
    fprintf(stderr, "sim: %s%s\n%s", sentence, what, HELP);
    exit(2);
}

static uint64_t number_from(const char *text)
{
    uint64_t number;
    if (slice_to_u64(slice_from(text), &number) != STATUS_OK)
        fail("not a number: ", text);
    return number;
}

static void list_from(Options *options, const char *text)
{
    Slice rest = slice_from(text), part;
    options->listed = calloc(strlen(text) + 1, sizeof(SimFired));
    CHECK(options->listed != NULL);
    while (slice_split(&rest, ',', &part)) {
        if (options->listed_count == FAULTS_MAX)
            fail("too many faults", "");
        if (sim_fired_from_text(part, &options->listed[options->listed_count++]) != STATUS_OK)
            fail("not a list of faults: ", text);
    }
}

static void read_value(Options *options, const char *name, const char *value)
{
    if (strcmp(name, "--runs") == 0) {
        options->runs = number_from(value);
    } else if (strcmp(name, "--seed") == 0) {
        options->seed = number_from(value);
    } else if (strcmp(name, "--jobs") == 0) {
        options->jobs = number_from(value);
    } else if (strcmp(name, "--replay") == 0) {
        options->replay = true;
        options->seed = number_from(value);
    } else if (strcmp(name, "--mutant") == 0) {
        options->mutant_name = value;
    } else if (strcmp(name, "--workload") == 0) {
        options->workload = workload_by_name(value);
        if (options->workload == NULL)
            fail("there is no workload ", value);
    } else if (strcmp(name, "--without") == 0 || strcmp(name, "--only") == 0) {
        options->only = strcmp(name, "--only") == 0;
        list_from(options, value);
    } else {
        fail("there is no option ", name);
    }
}

static Options read_options(int argc, char **argv)
{
    Options options = {.runs = 100, .seed = 1, .jobs = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN)};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--twice") == 0)
            options.twice = true;
        else if (strcmp(argv[i], "--brief") == 0)
            options.brief = true;
        else if (strcmp(argv[i], "--mutants") == 0)
            options.mutants = true;
        else if (strcmp(argv[i], "--exhaustive") == 0)
            options.exhaustive = true;
        else if (i + 1 < argc)
            read_value(&options, argv[i], argv[i + 1]), i++;
        else
            fail("not understood: ", argv[i]);
    }
    if (options.jobs < 1 || options.jobs > JOBS_MAX)
        fail("--jobs is from 1 to 64", "");
    return options;
}

/* ---- Showing what broke ---------------------------------------------------------------------------------- */

static void print_faults(const RunResult *result)
{
    ARENA_SCOPE Arena *arena = arena_new();
    for (size_t i = 0; i < result->fault_count; i++) {
        Slice text = sim_fired_text(&result->faults[i], arena);
        printf("    %10.3f s  %.*s\n", (double)result->faults[i].at_us / 1e6, SLICE_ARG(text));
    }
}

static void print_replay(const RunPlan *plan, const RunResult *result)
{
    ARENA_SCOPE Arena *arena = arena_new();
    printf("  ./dev sim --replay %llu --workload %s", (unsigned long long)plan->seed,
           plan->workload->name);
    if (plan->mutant != NULL)
        printf(" --mutant %s", plan->mutant->name);
    if (result->fault_count > 0)
        printf(" --only ");
    for (size_t i = 0; i < result->fault_count; i++)
        printf("%s%.*s", i > 0 ? "," : "", SLICE_ARG(sim_fired_text(&result->faults[i], arena)));
    printf("\n");
}

static void tell(const RunPlan *plan, const RunResult *broken)
{
    printf("seed %llu, %s: %s (%d violations, %zu faults)\n", (unsigned long long)plan->seed,
           plan->workload->name, broken->first, broken->violations, broken->fault_count);
    fflush(stdout);
}

static void show_least(const RunPlan *plan, const RunResult *broken)
{
    RunResult least;
    run_shrink(plan, broken, &least);
    printf("  with these faults alone: %s\n", least.first);
    print_faults(&least);
    print_replay(plan, &least);
    fflush(stdout);
    run_result_free(&least);
}

/* ---- Running --------------------------------------------------------------------------------------------- */

static const Mutant *find_mutant(const Workload *workload, const char *name)
{
    return name != NULL ? mutant_by_name(workload, name) : NULL;
}

/* A mutant decides the workload, otherwise the seed does. */
static RunPlan plan_of(const Options *options, uint64_t seed)
{
    const Workload *workload = options->workload;
    for (size_t i = 0; workload == NULL && options->mutant_name != NULL && WORKLOADS[i] != NULL;
         i++)
        if (find_mutant(WORKLOADS[i], options->mutant_name) != NULL)
            workload = WORKLOADS[i];
    if (workload == NULL)
        workload = workload_of(seed);
    RunPlan plan = {.workload = workload,
                    .seed = seed,
                    .mutant = find_mutant(workload, options->mutant_name),
                    .listed = options->listed,
                    .listed_count = options->listed_count,
                    .only_listed = options->only};
    if (options->mutant_name != NULL && plan.mutant == NULL)
        fail("there is no mutant ", options->mutant_name);
    return plan;
}

static void run_seed(const Options *options, uint64_t seed, Totals *totals)
{
    RunPlan plan = plan_of(options, seed);
    RunResult result, again;
    run_once(&plan, &result);
    totals->runs++;
    totals->events += result.events;
    if (options->twice) {
        run_once(&plan, &again);
        if (again.hash != result.hash) {
            totals->violations++;
            printf("seed %llu: two runs differ\n", (unsigned long long)seed);
        }
        run_result_free(&again);
    }
    if (result.violations > 0) {
        totals->violations++;
        bool shows = totals->shown++ < SHOWN_MAX;
        if (shows || options->brief)
            tell(&plan, &result);
        if (shows && !options->brief)
            show_least(&plan, &result);
    }
    run_result_free(&result);
}

static void run_share(const Options *options, uint64_t job, Totals *totals)
{
    for (uint64_t i = job; i < options->runs; i += options->jobs)
        run_seed(options, options->seed + i, totals);
}

/* The seeds are divided among processes: a run shares nothing. */
static void run_seeds(const Options *options, Totals *totals)
{
    fflush(stdout);
    for (uint64_t job = 0; job < options->jobs; job++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            run_share(options, job, totals);
            fflush(stdout);
            _exit(0);
        }
    }
    int status;
    for (pid_t child; (child = wait(&status)) > 0 || errno == EINTR;)
        if (child > 0 && (!WIFEXITED(status) || WEXITSTATUS(status) != 0))
            totals->violations++; /* it crashed: a bug, whatever else */
}

static int run_mutants(const Options *options)
{
    uint64_t runs = 0;
    char away[512] = "";
    for (size_t w = 0; WORKLOADS[w] != NULL; w++) {
        const Workload *workload = WORKLOADS[w];
        for (size_t i = 0; i < workload->mutant_count; i++) {
            RunPlan plan = {.workload = workload, .mutant = &workload->mutants[i]};
            RunResult result = {0};
            if ((options->workload != NULL && options->workload != workload) ||
                (options->mutant_name != NULL &&
                 strcmp(options->mutant_name, plan.mutant->name) != 0))
                continue;
            while (result.violations == 0 && plan.seed < plan.mutant->seeds) {
                run_result_free(&result);
                plan.seed++;
                run_once(&plan, &result);
                runs++;
            }
            printf("%-28s %s after %llu of %llu seeds: %s\n", plan.mutant->name,
                   result.violations > 0 ? "caught" : "NOT CAUGHT", (unsigned long long)plan.seed,
                   (unsigned long long)plan.mutant->seeds, result.first);
            if (result.violations == 0)
                snprintf(away + strlen(away), sizeof away - strlen(away), " %s", plan.mutant->name);
            run_result_free(&result);
        }
    }
    if (away[0] != '\0')
        printf("sim: %llu runs, got away:%s\n", (unsigned long long)runs, away);
    else
        printf("sim: %llu runs, every mutant caught\n", (unsigned long long)runs);
    return away[0] != '\0';
}

static int run_exhaustive(const Options *options)
{
    int runs = 0, violations = 0;
    for (size_t i = 0; WORKLOADS[i] != NULL; i++) {
        RunResult result;
        const Workload *workload = WORKLOADS[i];
        const Mutant *mutant = find_mutant(workload, options->mutant_name);
        if (options->workload != NULL && options->workload != workload)
            continue;
        if (options->mutant_name != NULL && mutant == NULL)
            continue;
        runs += run_exhaustively(workload, mutant, &result);
        if (result.violations > 0) {
            violations++;
            printf("%s: %s\n", workload->name, result.first);
            print_faults(&result);
        }
        run_result_free(&result);
    }
    if (runs == 0)
        fail("there is no mutant ", options->mutant_name);
    printf("sim: %d runs, %d violations\n", runs, violations);
    return violations > 0;
}

static int replay(const Options *options)
{
    RunPlan plan = plan_of(options, options->seed);
    RunResult result;
    run_once(&plan, &result);
    printf("seed %llu, %s, %llu events, hash %016llx, faults:\n", (unsigned long long)plan.seed,
           plan.workload->name, (unsigned long long)result.events, (unsigned long long)result.hash);
    print_faults(&result);
    if (result.violations > 0)
        printf("%s\n", result.first);
    printf("sim: 1 runs, %d violations\n", result.violations);
    bool broken = result.violations > 0;
    run_result_free(&result);
    return broken;
}

int main(int argc, char **argv)
{
    Options options = read_options(argc, argv);
    int failed;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (options.mutants) {
        failed = run_mutants(&options);
    } else if (options.exhaustive) {
        failed = run_exhaustive(&options);
    } else if (options.replay) {
        failed = replay(&options);
    } else {
        Totals *totals =
            mmap(NULL, sizeof *totals, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        CHECK(totals != MAP_FAILED);
        (void)plan_of(&options, options.seed); /* a wrong name is refused before anything runs */
        run_seeds(&options, totals);
        printf("%llu events\nsim: %llu runs, %llu violations\n", (unsigned long long)totals->events,
               (unsigned long long)totals->runs, (unsigned long long)totals->violations);
        failed = totals->violations > 0;
    }
    free(options.listed);
    return failed;
}
