/* demo_crowd.c -- see demo_crowd.h. */
#include "cli/demo_crowd.h"

#include <stdlib.h>

#include "cli/demo_texts.h"

#define HOUR_US (INT64_C(3600) * US_PER_S)

/* How much is done in each hour of the day (UTC), in thousandths of the average. */
static const uint32_t RHYTHM[24] = {250,  150,  100,  80,   80,   120,  300,  650,
                                    1000, 1200, 1250, 1300, 1450, 1250, 1100, 1050,
                                    1100, 1300, 1700, 2100, 2300, 2000, 1420, 750};
enum { RHYTHM_SUM = 24000 };
/* Saves a day and 100 voters; one in so many policies is merged, retired, hidden, edited in the whole time. */
enum { SAVES_PERCENT = 40 };
enum { ONE_MERGED = 50, ONE_RETIRED = 40, ONE_HIDDEN = 150, ONE_EDITED = 8, NOON = 12 };
enum { WISHES_MAX = 3, TRIES = 40 };

/* A policy, as the crowd sees it. */
typedef struct Idea {
    uint64_t id, owner;
    size_t root; /* the idea that it was merged into, or itself */
    size_t category;
    bool open; /* can be voted on */
} Idea;

typedef struct Crowd {
    const DemoRun *run;
    App *app;
    uint64_t luck;
    Arena *arena; /* of one action */
    uint64_t *people;
    size_t people_count;
    Idea *ideas; /* ascending by id */
    size_t idea_count;
    size_t *order; /* open ideas, the most popular first */
    size_t order_count;
    uint64_t saves_due, merges_due, retirements_due, hidden_due, edits_due; /* in small parts */
    uint64_t categories[16], parties[16];
    uint64_t in_category[DEMO_CATEGORIES]; /* policies so far */
    DemoSummary summary;
} Crowd;

/* ---- Luck and time --------------------------------------------------------------------------------------------- */

/* SplitMix64. */
static uint64_t mixed(uint64_t number)
{
    number = (number ^ (number >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    number = (number ^ (number >> 27)) * UINT64_C(0x94D049BB133111EB);
    return number ^ (number >> 31);
}

static int64_t world_now_us(void *self)
{
    return atomic_load(&((DemoWorld *)self)->now_us);
}

static int64_t world_steady_us(void *self)
{
    DemoWorld *own = self;
    return clock_steady_us(own->real.clock) + atomic_load(&own->now_us) - own->began_us;
}

static void world_sleep_us(void *self, int64_t us)
{
    clock_sleep_us(((DemoWorld *)self)->real.clock, us);
}

static void world_fill(void *self, void *to, size_t size)
{
    DemoWorld *own = self;
    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
        uint64_t number = mixed(atomic_fetch_add(&own->luck, UINT64_C(0x9E3779B97F4A7C15)));
        memcpy((char *)to + at, &number, size - at < sizeof number ? size - at : sizeof number);
    }
}

static int64_t beginning_us(const DemoPlan *plan)
{
    return plan->until_us - (int64_t)plan->days * S_PER_DAY * US_PER_S;
}

World demo_world(DemoWorld *own, World real, const DemoPlan *plan)
{
    own->began_us = beginning_us(plan);
    atomic_store(&own->now_us, own->began_us);
    atomic_store(&own->luck, mixed(plan->seed ^ UINT64_C(0x1D5)));
    own->real = real;
    return (World){.clock = {world_now_us, world_steady_us, world_sleep_us, own, NULL},
                   .random = {world_fill, own},
                   .disk = real.disk};
}

static uint64_t luck(Crowd *crowd)
{
    return mixed(crowd->luck += UINT64_C(0x9E3779B97F4A7C15));
}

/* 0 … below - 1 */
static uint64_t below(Crowd *crowd, uint64_t most)
{
    return luck(crowd) % most;
}

/* 0 … count - 1, where place r is about as likely as 1 / r: each power of two of places has the same chance. */
static size_t popular_place(Crowd *crowd, size_t count)
{
    unsigned powers = 1;
    while ((UINT64_C(1) << powers) <= count)
        powers++;
    for (;;) {
        uint64_t width = UINT64_C(1) << below(crowd, powers);
        uint64_t place = width - 1 + below(crowd, width);
        if (place < count)
            return (size_t)place;
    }
}

/* ---- People ---------------------------------------------------------------------------------------------------- */

static Status join(Crowd *crowd, Reason *reason)
{
    uint64_t id;
    Slice name = demo_user_name(crowd->people_count, crowd->arena);
    Registration registration = {
        .name = name,
        .email = arena_print(crowd->arena, "%.*s@example.org", SLICE_ARG(name)),
        .password = SLICE_EMPTY,
        .without_password = true,
        .confirmed = true,
        .roles = crowd->people_count == 0 ? 1u << ROLE_MODERATE_POLICIES : 0,
        .address = SLICE_EMPTY,
        .cookie = SLICE_EMPTY};
    TRY(accounts_register(crowd->app->accounts, &registration, &id, reason));
    crowd->people[crowd->people_count++] = id;
    crowd->summary.voters++;
    return STATUS_OK;
}

/* The first to come do more than the last. */
static uint64_t somebody(Crowd *crowd)
{
    uint64_t count = crowd->people_count, one = below(crowd, count), other = below(crowd, count);
    return crowd->people[one < other ? one : other];
}

/* ---- Ideas ----------------------------------------------------------------------------------------------------- */

static size_t idea_of(const Crowd *crowd, uint64_t policy)
{
    size_t low = 0, high = crowd->idea_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (crowd->ideas[middle].id < policy)
            low = middle + 1;
        else
            high = middle;
    }
    CHECK(low < crowd->idea_count && crowd->ideas[low].id == policy);
    return low;
}

static size_t root_of(const Crowd *crowd, size_t idea)
{
    while (crowd->ideas[idea].root != idea)
        idea = crowd->ideas[idea].root;
    return idea;
}

static void put_in_order(Crowd *crowd, size_t idea, size_t place)
{
    memmove(&crowd->order[place + 1], &crowd->order[place],
            (crowd->order_count++ - place) * sizeof *crowd->order);
    crowd->order[place] = idea;
}

static size_t take_from_order(Crowd *crowd, size_t place)
{
    size_t idea = crowd->order[place];
    crowd->order_count--;
    memmove(&crowd->order[place], &crowd->order[place + 1],
            (crowd->order_count - place) * sizeof *crowd->order);
    return idea;
}

static Status save(Crowd *crowd, const SaveRequest *request, SaveResult *ret_result, Reason *reason)
{
    TRY(votes_save(crowd->app->votes, request, crowd->arena, ret_result, reason));
    if (ret_result->outcome != SAVE_SAVED)
        crowd->summary.refused++;
    else if (!id_equal(ret_result->version, request->seen)) /* else nothing was to change */
        crowd->summary.saves++;
    return STATUS_OK;
}

static Status create(Crowd *crowd, uint64_t voter, const VoterState *state, Reason *reason)
{
    SaveResult result;
    size_t category = below(crowd, POLICY_CATEGORY_COUNT);
    PolicyText text = {.category = crowd->categories[category]};
    demo_policy_text(&(DemoPolicy){category, crowd->in_category[category], luck(crowd)},
                     crowd->arena, &text);
    if (below(crowd, 5) < 2)
        text.party = crowd->parties[below(crowd, DEMO_PARTY_COUNT)];
    SaveRequest request = {.voter = voter,
                           .seen = state->version,
                           .create = &text,
                           .create_held = SETTINGS_AT_FIRST.create_cost};
    TRY(save(crowd, &request, &result, reason));
    if (result.outcome != SAVE_SAVED)
        return STATUS_OK;
    size_t idea = crowd->idea_count++;
    crowd->in_category[category]++;
    crowd->ideas[idea] = (Idea){result.created, voter, idea, category, true};
    put_in_order(crowd, idea, below(crowd, crowd->order_count + 1));
    crowd->summary.policies++;
    return STATUS_OK;
}

/* By somebody who can pay for it; when nobody is found, later. */
static Status create_by_somebody(Crowd *crowd, Reason *reason)
{
    for (int i = 0; i < TRIES; i++) {
        uint64_t voter = crowd->people[below(crowd, crowd->people_count)];
        VoterState state;
        arena_reset(crowd->arena);
        TRY(votes_show(crowd->app->votes, voter, crowd->arena, &state));
        if (state.balance >= SETTINGS_AT_FIRST.create_cost)
            return create(crowd, voter, &state, reason);
    }
    return STATUS_OK;
}

/* ---- Votes ----------------------------------------------------------------------------------------------------- */

/* What a voter sees as the line on an idea. */
static int64_t seen_on(const Crowd *crowd, const VoterState *state, size_t idea)
{
    int64_t held = 0;
    for (size_t i = 0; i < state->line_count; i++)
        if (root_of(crowd, idea_of(crowd, state->lines[i].policy)) == idea)
            held += state->lines[i].held;
    return held;
}

/* Mostly a few pollies more on something popular; now and then some are taken back. */
static VoteRequest wish_of(Crowd *crowd, const VoterState *state, int64_t *balance)
{
    if (state->line_count > 0 && below(crowd, 100) < 12) {
        const VoteLine *line = &state->lines[below(crowd, state->line_count)];
        size_t root = root_of(crowd, idea_of(crowd, line->policy));
        int64_t seen = seen_on(crowd, state, root);
        if (crowd->ideas[root].open && seen > 0)
            return (VoteRequest){
                .policy = crowd->ideas[root].id,
                .held = below(crowd, 2) == 0 ? 0 : (int64_t)below(crowd, (uint64_t)seen)};
    }
    size_t idea = crowd->order[popular_place(crowd, crowd->order_count)];
    int64_t most = *balance < 40 || below(crowd, 10) == 0 ? *balance : 40;
    int64_t more = most > 0 ? 1 + (int64_t)below(crowd, (uint64_t)most) : 0;
    *balance -= more;
    return (VoteRequest){.policy = crowd->ideas[idea].id,
                         .held = seen_on(crowd, state, idea) + more};
}

static Status vote(Crowd *crowd, Reason *reason)
{
    VoterState state;
    SaveResult result;
    VoteRequest vote_requests[WISHES_MAX];
    uint64_t voter = somebody(crowd), dice = below(crowd, 10);
    size_t wanted = dice < 7 ? 1 : dice < 9 ? 2 : 3, count = 0;
    if (crowd->order_count == 0)
        return STATUS_OK;
    TRY(votes_show(crowd->app->votes, voter, crowd->arena, &state));
    int64_t balance = state.balance;
    for (size_t i = 0; i < wanted; i++) {
        vote_requests[count] = wish_of(crowd, &state, &balance);
        bool twice = false;
        for (size_t k = 0; k < count; k++)
            twice |= vote_requests[k].policy == vote_requests[count].policy;
        count += !twice;
    }
    SaveRequest request = {.voter = voter,
                           .seen = state.version,
                           .vote_requests = vote_requests,
                           .vote_request_count = count};
    return save(crowd, &request, &result, reason);
}

/* ---- Moderation ------------------------------------------------------------------------------------------------ */

/* Of the less popular half. */
static size_t unpopular_place(Crowd *crowd)
{
    size_t half = crowd->order_count / 2;
    return half + (size_t)below(crowd, crowd->order_count - half);
}

static Status retire(Crowd *crowd, Reason *reason)
{
    size_t idea = take_from_order(crowd, unpopular_place(crowd));
    PolicyMove move = {.state = POLICY_RETIRED,
                       .actor = crowd->ideas[idea].owner,
                       .percent = SETTINGS_AT_FIRST.withdrawal_percent,
                       .reason = demo_reason(DEMO_RETIRE, luck(crowd))};
    crowd->ideas[idea].open = false;
    if (below(crowd, 2) == 0)
        move.other = crowd->ideas[crowd->order[popular_place(crowd, crowd->order_count)]].id;
    crowd->summary.retired++;
    return policies_move(crowd->app->policies, crowd->ideas[idea].id, POLICY_ACTIVE, &move, reason);
}

static Status hide(Crowd *crowd, Reason *reason)
{
    size_t idea = take_from_order(crowd, unpopular_place(crowd));
    PolicyMove move = {.state = POLICY_PENDING_DELETION,
                       .actor = crowd->people[0],
                       .reason = demo_reason(DEMO_DELETE, luck(crowd))};
    crowd->ideas[idea].open = false;
    crowd->summary.hidden++;
    return policies_move(crowd->app->policies, crowd->ideas[idea].id, POLICY_ACTIVE, &move, reason);
}

/* Into a more popular one of the same category, when there is one. */
static Status merge(Crowd *crowd, Reason *reason)
{
    size_t place = unpopular_place(crowd), target = 0;
    size_t category = crowd->ideas[crowd->order[place]].category;
    while (target < place && crowd->ideas[crowd->order[target]].category != category)
        target++;
    if (target == place)
        return STATUS_OK;
    size_t root = crowd->order[target], idea = take_from_order(crowd, place);
    crowd->ideas[idea].root = root;
    crowd->ideas[idea].open = false;
    crowd->summary.merged++;
    return policies_merge(crowd->app->policies, crowd->ideas[idea].id, crowd->ideas[root].id,
                          crowd->people[0], demo_reason(DEMO_MERGE, luck(crowd)), reason);
}

static Status edit(Crowd *crowd, Reason *reason)
{
    const Idea *idea = &crowd->ideas[crowd->order[below(crowd, crowd->order_count)]];
    Slice addition = demo_addition(luck(crowd));
    Policy policy;
    TRY(policies_fresh(crowd->app->policies, idea->id, crowd->arena, &policy));
    policy.text.description = arena_print(crowd->arena, "%.*s\n\n%.*s",
                                          SLICE_ARG(policy.text.description), SLICE_ARG(addition));
    crowd->summary.edited++;
    return policies_edit(crowd->app->policies, idea->id, policy.version, &policy.text, idea->owner,
                         reason);
}

/* What is fashionable changes: one in twenty moves half the way up. */
static void drift(Crowd *crowd)
{
    for (size_t i = 0; i < crowd->order_count / 20; i++) {
        size_t place = (size_t)below(crowd, crowd->order_count);
        put_in_order(crowd, take_from_order(crowd, place), place / 2);
    }
}

/* Once a day. */
static Status moderate(Crowd *crowd, Reason *reason)
{
    const struct {
        uint64_t *due, one_in;
        Status (*act)(Crowd *crowd, Reason *reason);
    } acts[] = {{&crowd->merges_due, ONE_MERGED, merge},
                {&crowd->retirements_due, ONE_RETIRED, retire},
                {&crowd->hidden_due, ONE_HIDDEN, hide},
                {&crowd->edits_due, ONE_EDITED, edit}};
    drift(crowd);
    for (size_t i = 0; i < sizeof acts / sizeof acts[0]; i++) {
        uint64_t one = acts[i].one_in * crowd->run->plan->days;
        *acts[i].due += crowd->run->plan->policies;
        for (; *acts[i].due >= one && crowd->order_count >= 8; *acts[i].due -= one) {
            arena_reset(crowd->arena);
            TRY(acts[i].act(crowd, reason));
        }
    }
    return STATUS_OK;
}

/* ---- Hours ----------------------------------------------------------------------------------------------------- */

/* How many of `all` there shall be after so many hours: a part in the first hours, the rest evenly. */
static uint64_t due_after(uint64_t all, uint64_t early, uint64_t early_hours, uint64_t hour,
                          uint64_t hours)
{
    uint64_t begun = hour < early_hours ? hour : early_hours;
    return hour >= hours ? all : early * begun / early_hours + (all - early) * hour / hours;
}

static void set_time(Crowd *crowd, int64_t hour_us, uint64_t part, uint64_t parts)
{
    atomic_store(&crowd->run->world->now_us,
                 hour_us + (int64_t)((uint64_t)HOUR_US * part / (parts + 1)));
}

/* Joins, creations and votes of an hour, mixed. */
static Status live_hour(Crowd *crowd, uint64_t hour, uint64_t hours, Reason *reason)
{
    const DemoPlan *plan = crowd->run->plan;
    int64_t hour_us = beginning_us(plan) + (int64_t)hour * HOUR_US;
    uint64_t joins = due_after(plan->voters, plan->voters / 4, 24, hour + 1, hours);
    uint64_t policies = due_after(plan->policies, plan->policies / 3, 48, hour + 1, hours);
    joins = joins > crowd->people_count ? joins - crowd->people_count : 0;
    if (hour == 0 && joins == 0)
        joins = 1;
    policies = policies > crowd->idea_count ? policies - crowd->idea_count : 0;
    crowd->saves_due +=
        (crowd->people_count + joins) * SAVES_PERCENT * RHYTHM[hour_us / HOUR_US % 24];
    uint64_t votes = crowd->saves_due / (100 * RHYTHM_SUM);
    crowd->saves_due %= 100 * RHYTHM_SUM;
    uint64_t left = joins + policies + votes, parts = left;
    set_time(crowd, hour_us, 0, parts);
    for (; left > 0; left--) {
        uint64_t dice = below(crowd, left);
        set_time(crowd, hour_us, parts - left + 1, parts);
        arena_reset(crowd->arena);
        if (joins > 0 && (crowd->people_count == 0 || dice < joins)) {
            joins--;
            TRY(join(crowd, reason));
        } else if (policies > 0 && dice < joins + policies) {
            policies--;
            TRY(create_by_somebody(crowd, reason));
        } else {
            TRY(vote(crowd, reason));
        }
    }
    return STATUS_OK;
}

static Status project_all(Crowd *crowd)
{
    size_t taken = 1;
    while (taken > 0)
        TRY(votes_project_waiting(crowd->app->votes, SIZE_MAX, &taken));
    return STATUS_OK;
}

static Status live(Crowd *crowd, Reason *reason)
{
    const DemoRun *run = crowd->run;
    uint64_t hours = (uint64_t)run->plan->days * 24;
    for (uint64_t hour = 0; hour < hours; hour++) {
        TRY(live_hour(crowd, hour, hours, reason));
        if (hour % 24 == NOON)
            TRY(moderate(crowd, reason));
        TRY(project_all(crowd));
        run->progress(run->self, hour + 1, hours, &crowd->summary);
    }
    return STATUS_OK;
}

/* ---- The whole ------------------------------------------------------------------------------------------------- */

static Status add_parties(Crowd *crowd, Reason *reason)
{
    for (size_t i = 0; i < DEMO_PARTY_COUNT; i++)
        TRY(policies_set_group(crowd->app->policies, GROUP_PARTY, &DEMO_PARTIES[i],
                               &crowd->parties[i], reason));
    return STATUS_OK;
}

static Status find_categories(Crowd *crowd)
{
    PolicyGroup *groups;
    size_t count;
    TRY(policies_groups(crowd->app->policies, GROUP_CATEGORY, crowd->arena, &groups, &count));
    for (size_t i = 0; i < POLICY_CATEGORY_COUNT; i++)
        for (size_t k = 0; k < count; k++)
            if (slice_equal(groups[k].name, POLICY_CATEGORIES[i]))
                crowd->categories[i] = groups[k].id;
    return STATUS_OK;
}

Status demo_run(const DemoRun *run, DemoSummary *ret_summary, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    const DemoPlan *plan = run->plan;
    Crowd crowd = {.run = run, .app = run->app, .luck = mixed(plan->seed), .arena = arena};
    CHECK(POLICY_CATEGORY_COUNT <= sizeof crowd.categories / sizeof crowd.categories[0] &&
          DEMO_PARTY_COUNT <= sizeof crowd.parties / sizeof crowd.parties[0]);
    crowd.people = calloc(plan->voters, sizeof *crowd.people);
    crowd.ideas = calloc(plan->policies + 1, sizeof *crowd.ideas);
    crowd.order = calloc(plan->policies + 1, sizeof *crowd.order);
    CHECK(crowd.people != NULL && crowd.ideas != NULL && crowd.order != NULL);
    Status status = add_parties(&crowd, reason);
    if (status == STATUS_OK)
        status = find_categories(&crowd);
    if (status == STATUS_OK)
        status = live(&crowd, reason);
    if (status == STATUS_OK)
        *ret_summary = crowd.summary;
    free(crowd.order);
    free(crowd.ideas);
    free(crowd.people);
    return status;
}
