/* people.c -- voters: several tabs on one account, forms that are sent twice or on an old version, leaving. See site.h. */
#include "site/site.h"

static const int64_t HELD[] = {0, 0, 1, 5, 10, 20, 35, 50, 80, 100, 150};
enum { HELD_COUNT = sizeof HELD / sizeof HELD[0], CREATE_HELD = 100, POLICIES_ENOUGH = 24 };

/* ---- Looking --------------------------------------------------------------------------------------------- */

static void show_in_tab(SiteTab *tab, const VoterState *state)
{
    *tab = (SiteTab){.version = state->version, .balance = state->balance};
    for (size_t i = 0; i < state->line_count && tab->line_count < SITE_WISHES; i++)
        if (state->lines[i].held > 0)
            tab->lines[tab->line_count++] =
                (VoteRequest){.policy = state->lines[i].policy, .held = state->lines[i].held};
}

/* No later serial read may see less than an earlier one did. */
static void saw_head(SiteInstance *instance, SitePerson *person, uint64_t seq, uint64_t seen_before)
{
    if (!site_instance_alive(instance))
        return;
    if (seq < seen_before)
        run_violated(instance->run, "voter %llu: a read sees seq %llu after %llu was seen",
                     (unsigned long long)person->account, (unsigned long long)seq,
                     (unsigned long long)seen_before);
    if (seq > person->seen_seq)
        person->seen_seq = seq;
    site_note_head(instance, person, seq);
}

void people_look(SiteInstance *instance)
{
    SitePerson *person = site_any_voter(instance);
    SiteTab *tab = &person->tabs[site_instance_draw(instance, SITE_TABS)];
    VoterState state;
    uint64_t seen_before = person->seen_seq;
    if (!site_instance_heard(instance, "votes_show",
                             votes_show(instance->votes, person->account, instance->arena, &state)))
        return;
    saw_head(instance, person, state.seq, seen_before);
    show_in_tab(tab, &state);
}

/* By how much a copy may be older than it seems: no two clocks tell of a machine that slept and was set back meanwhile (base/world.h). */
static int64_t unseen_age_us(const Run *run)
{
    const SimSwarm *swarm = run_swarm(run);
    bool both = swarm->rate[SIM_SUSPEND] > 0 && swarm->rate[SIM_STEP] > 0;
    int64_t skew_us = swarm->rate[SIM_SKEW] > 0 ? swarm->most_us[SIM_SKEW] : 0;
    return both ? skew_us + 2 * swarm->most_us[SIM_STEP] : 0;
}

/* A page, perhaps from a copy in memory: of the process that alone writes it is what stands, else it is not older than copies may be. */
void people_page(SiteInstance *instance)
{
    const Site *site = instance->site;
    SitePerson *person = site_any_voter(instance);
    Account account;
    VoterState state;
    int64_t back_us = site->solo != NULL ? 0 : site->copies_us + unseen_age_us(instance->run);
    Status status = STATUS_OK;
    if (site->solo != NULL)
        (void)marks_head(instance, person, &status);
    uint64_t least =
        site_head_at(person, sim_world_now_us(sim_world(run_sim(instance->run))) - back_us);
    if (status == STATUS_OK)
        status = accounts_recent(instance->accounts, person->account, instance->arena, &account);
    if (status == STATUS_OK)
        status = votes_cached(instance->votes, &account, instance->arena, &state);
    if (!site_instance_heard(instance, "votes_cached", status) || !site_instance_alive(instance))
        return;
    if (state.seq < least)
        run_violated(instance->run, "voter %llu: a page shows entry %llu, and %llu was there",
                     (unsigned long long)person->account, (unsigned long long)state.seq,
                     (unsigned long long)least);
    SiteShown *shown = ARENA_NEW(run_arena(instance->run), SiteShown);
    *shown = (SiteShown){person->account, state.seq, state.version, 0, site->showns};
    for (size_t i = 0; i < state.line_count; i++)
        shown->held += state.lines[i].held;
    instance->site->showns = shown;
    show_in_tab(&person->tabs[site_instance_draw(instance, SITE_TABS)], &state);
}

/* ---- Forms ----------------------------------------------------------------------------------------------- */

static void want(SiteInstance *instance, SiteForm *form, uint64_t policy)
{
    int64_t held = HELD[site_instance_draw(instance, HELD_COUNT)];
    for (size_t i = 0; i < form->vote_request_count; i++)
        if (form->vote_requests[i].policy == policy)
            return;
    if (form->vote_request_count < SITE_WISHES)
        form->vote_requests[form->vote_request_count++] =
            (VoteRequest){.policy = policy, .held = held};
}

/* Mostly moves from what the tab shows to something else, so that pollies travel. */
static SiteForm *fill_form(SiteInstance *instance, const SitePerson *person)
{
    Site *site = instance->site;
    const SiteTab *tab = &person->tabs[site_instance_draw(instance, SITE_TABS)];
    SiteForm *form = ARENA_NEW(run_arena(instance->run), SiteForm);
    *form = (SiteForm){.voter = person->account,
                       .seen = tab->version,
                       .token = id_new(instance->world.clock, instance->world.random),
                       .number = site->form_count};
    if (tab->line_count > 0 && site_instance_draw(instance, 3) > 0) {
        const VoteRequest *line = &tab->lines[site_instance_draw(instance, tab->line_count)];
        form->vote_requests[form->vote_request_count++] =
            (VoteRequest){.policy = line->policy,
                          .held = site_instance_draw(instance, 2) == 0 ? 0 : line->held / 2};
    }
    for (uint64_t more = 1 + site_instance_draw(instance, SITE_WISHES - 1); more > 0; more--)
        want(instance, form, site_any_policy(instance));
    site->forms[site->form_count++ % SITE_FORMS] = form;
    return form;
}

static SiteTry *new_try(SiteInstance *instance, uint64_t voter, Id seen, Id token)
{
    SiteTry *try = ARENA_NEW(run_arena(instance->run), SiteTry);
    *try = (SiteTry){.voter = voter,
                     .seen = seen,
                     .token = token,
                     .began_us = sim_world_now_us(sim_world(run_sim(instance->run))),
                     .next = instance->site->tries};
    instance->site->tries = try;
    CHECK(instance->try_count < SITE_TOGETHER);
    instance->try[instance->try_count++] = try;
    return try;
}

static void end_try(SiteInstance *instance, SiteTry *try, Status status)
{
    instance->try_count = 0;
    try->status = status;
    try->answered = site_instance_alive(instance);
    try->ended_us = sim_world_now_us(sim_world(run_sim(instance->run)));
}

static void hear(SiteInstance *instance, SiteTry *try, const SaveResult *result)
{
    try->outcome = result->outcome;
    try->told_seq = result->seq;
    try->told_version = result->version;
    try->told_balance = result->state.balance;
    if (result->outcome == SAVE_REFUSED && result->rule == VOTE_RULE_TWICE)
        run_violated(instance->run, "a form names no policy twice, but is told so");
    if (result->outcome == SAVE_STALE && id_equal(result->state.version, try->seen))
        run_violated(
            instance->run,
            "voter %llu is told that a form is stale, and is shown the version that it is about",
            (unsigned long long)try->voter);
}

/* A request that lives in the arena, with what it points to. */
static SaveRequest *request_of(SiteInstance *instance, const SiteForm *form)
{
    SaveRequest *request = ARENA_NEW(instance->arena, SaveRequest);
    PolicyText *text = ARENA_NEW(instance->arena, PolicyText);
    *text = (PolicyText){.name = arena_print(instance->arena, "policy %u", form->number),
                         .description = SLICE("A text."),
                         .rationale = SLICE_EMPTY,
                         .category = 1};
    *request = (SaveRequest){.voter = form->voter,
                             .seen = form->seen,
                             .vote_requests = form->vote_requests,
                             .vote_request_count = form->vote_request_count,
                             .token = form->token,
                             .create = form->create_held > 0 ? text : NULL,
                             .create_held = form->create_held};
    return request;
}

static void hear_form(SiteInstance *instance, SiteTry *try, uint64_t seen_before,
                      const SaveResult *result)
{
    SitePerson *person = site_person(instance->site, try->voter);
    hear(instance, try, result);
    if (result->outcome != SAVE_UNKNOWN)
        saw_head(instance, person, result->state.seq, seen_before);
    /* A person who was told "stale" or "saved" goes on from what stands now; in a rush nobody waits for that. */
    if (!run_is_exhaustive(instance->run))
        show_in_tab(&person->tabs[site_instance_draw(instance, SITE_TABS)], &result->state);
}

static void send_form(SiteInstance *instance, const SiteForm *form)
{
    SiteTry *try = new_try(instance, form->voter, form->seen, form->token);
    SaveResult result;
    Reason reason = {.rule = ""};
    uint64_t seen_before = site_person(instance->site, form->voter)->seen_seq;
    Status status =
        votes_save(instance->votes, request_of(instance, form), instance->arena, &result, &reason);
    end_try(instance, try, status);
    if (site_instance_heard(instance, "votes_save", status) && try->answered)
        hear_form(instance, try, seen_before, &result);
}

/* Half of the time the instance projects what it saved at once, as it should. */
static void after_saving(SiteInstance *instance)
{
    if (site_instance_draw(instance, 2) == 0)
        sweeps_waiting(instance);
}

void people_save(SiteInstance *instance)
{
    const Site *site = instance->site;
    SitePerson *person = site_any_voter(instance);
    int64_t now_us = sim_world_now_us(sim_world(run_sim(instance->run)));
    if (site->lone && person->saved_us / site->meeting_us == now_us / site->meeting_us &&
        site_instance_draw(instance, 16) > 0)
        return;
    person->saved_us = now_us;
    send_form(instance, fill_form(instance, person));
    after_saving(instance);
}

void people_send_again(SiteInstance *instance)
{
    const SiteForm *form = instance->site->forms[site_instance_draw(instance, SITE_FORMS)];
    if (form == NULL)
        return;
    send_form(instance, form);
    after_saving(instance);
}

void people_create(SiteInstance *instance)
{
    if (instance->site->policy_count >= POLICIES_ENOUGH)
        return;
    SiteForm *form = fill_form(instance, site_any_voter(instance));
    if (site_instance_draw(instance, 2) == 0)
        form->vote_request_count = 0;
    form->create_held = CREATE_HELD + (int64_t)site_instance_draw(instance, 2) * 10;
    send_form(instance, form);
    after_saving(instance);
}

static bool is_under_way(const SiteInstance *instance, uint64_t voter)
{
    for (size_t i = 0; i < instance->try_count; i++)
        if (instance->try[i]->voter == voter)
            return true;
    return false;
}

/* Several people at once: begun one after the other, sent by one call. */
void people_together(SiteInstance *instance)
{
    SiteTry *tries[SITE_TOGETHER];
    Save *saves[SITE_TOGETHER];
    uint64_t seen_before[SITE_TOGETHER];
    size_t count = 0, wanted = 2 + site_instance_draw(instance, SITE_TOGETHER - 1);
    for (size_t i = 0; i < wanted; i++) {
        const SitePerson *person = site_any_voter(instance);
        Reason reason = {.rule = ""};
        if (is_under_way(instance, person->account))
            continue;
        const SiteForm *form = fill_form(instance, person);
        SiteTry *try = new_try(instance, form->voter, form->seen, form->token);
        seen_before[count] = site_person(instance->site, form->voter)->seen_seq;
        Status status = votes_save_begin(instance->votes, request_of(instance, form),
                                         instance->arena, &saves[count], &reason);
        if (status == STATUS_OK) {
            tries[count++] = try;
            continue;
        }
        size_t under_way = instance->try_count - 1;
        (void)site_instance_heard(instance, "votes_save_begin", status);
        end_try(instance, try, status);
        instance->try_count = under_way;
    }
    votes_save_send(saves, count);
    for (size_t i = 0; i < count; i++) {
        SaveResult result;
        Status status = votes_save_end(saves[i], &result);
        end_try(instance, tries[i], status);
        if (site_instance_heard(instance, "votes_save_end", status) && tries[i]->answered)
            hear_form(instance, tries[i], seen_before[i], &result);
    }
    instance->try_count = 0;
    after_saving(instance);
}

/* ---- One version, many hands ----------------------------------------------------------------------------- */

static SiteForm *fill_fixed(SiteInstance *instance, const VoteRequest *vote_requests, size_t count)
{
    SitePerson *person = &instance->site->people[0];
    SiteForm *form = ARENA_NEW(run_arena(instance->run), SiteForm);
    *form = (SiteForm){.voter = person->account,
                       .seen = person->tabs[0].version,
                       .token = id_new(instance->world.clock, instance->world.random),
                       .vote_request_count = count};
    memcpy(form->vote_requests, vote_requests, count * sizeof *vote_requests);
    return form;
}

void people_begin_rush(SiteInstance *instance)
{
    SitePerson *person = &instance->site->people[0];
    VoteRequest want = {.policy = instance->site->policies[0], .held = 50};
    send_form(instance, fill_fixed(instance, &want, 1));
    sweeps_waiting(instance);
    person->tabs[0] = (SiteTab){.version = instance->site->tries->told_version};
}

/* From the first policy to the second, so that there is something to take away and something to add. */
void people_rush(SiteInstance *instance)
{
    const uint64_t *policies = instance->site->policies;
    VoteRequest vote_requests[] = {
        {.policy = policies[0], .held = 10 + (int64_t)site_instance_draw(instance, 9)},
        {.policy = policies[1], .held = 10}};
    send_form(instance, fill_fixed(instance, vote_requests, 2));
    sweeps_waiting(instance);
}

/* ---- Leaving --------------------------------------------------------------------------------------------- */

/* As the operation does it: with the closing entry it is decided and told, and the rest is for whoever comes first. Somebody always
 * stays. */
void people_leave(SiteInstance *instance)
{
    SitePerson *person = site_any_person(instance);
    Reason reason = {.rule = ""};
    if (person == &instance->site->people[0])
        return;
    SiteTry *try = new_try(instance, person->account, (Id){{0}}, (Id){{0}});
    Status status = votes_leave(instance->votes, person->account, &reason);
    end_try(instance, try, status);
    try->outcome = status == STATUS_OK ? SAVE_SAVED : SAVE_STALE;
    try->told_version = try->version;
    if (!site_instance_heard(instance, "votes_leave", status) || !try->answered)
        return;
    person->closed = true;
    sweeps_leave(instance, person->account);
}
