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
                (VoteWish){state->lines[i].policy, state->lines[i].held};
}

/* No later serial read may see less than an earlier one did. */
static void saw_head(Hands *hands, SitePerson *person, uint64_t seq, uint64_t seen_before)
{
    if (!hands_alive(hands))
        return;
    if (seq < seen_before)
        run_violated(hands->run, "voter %llu: a read sees seq %llu after %llu was seen",
                     (unsigned long long)person->account, (unsigned long long)seq,
                     (unsigned long long)seen_before);
    if (seq > person->seen_seq)
        person->seen_seq = seq;
}

void people_look(Hands *hands)
{
    SitePerson *person = site_any_voter(hands);
    SiteTab *tab = &person->tabs[hands_draw(hands, SITE_TABS)];
    VoterState state;
    uint64_t seen_before = person->seen_seq;
    if (!hands_heard(hands, "votes_show",
                     votes_show(hands->votes, person->account, hands->arena, &state)))
        return;
    saw_head(hands, person, state.seq, seen_before);
    show_in_tab(tab, &state);
}

/* ---- Forms ----------------------------------------------------------------------------------------------- */

static void wish(Hands *hands, SiteForm *form, uint64_t policy)
{
    int64_t held = HELD[hands_draw(hands, HELD_COUNT)];
    for (size_t i = 0; i < form->wish_count; i++)
        if (form->wishes[i].policy == policy)
            return;
    if (form->wish_count < SITE_WISHES)
        form->wishes[form->wish_count++] = (VoteWish){policy, held};
}

/* Mostly moves from what the tab shows to something else, so that pollies travel. */
static SiteForm *fill_form(Hands *hands, const SitePerson *person)
{
    Site *site = hands->site;
    const SiteTab *tab = &person->tabs[hands_draw(hands, SITE_TABS)];
    SiteForm *form = ARENA_NEW(run_arena(hands->run), SiteForm);
    *form = (SiteForm){.voter = person->account,
                       .seen = tab->version,
                       .token = id_new(hands->world.clock, hands->world.random),
                       .number = site->form_count};
    if (tab->line_count > 0 && hands_draw(hands, 3) > 0) {
        const VoteWish *line = &tab->lines[hands_draw(hands, tab->line_count)];
        form->wishes[form->wish_count++] =
            (VoteWish){line->policy, hands_draw(hands, 2) == 0 ? 0 : line->held / 2};
    }
    for (uint64_t more = 1 + hands_draw(hands, SITE_WISHES - 1); more > 0; more--)
        wish(hands, form, site_any_policy(hands));
    site->forms[site->form_count++ % SITE_FORMS] = form;
    return form;
}

static SiteTry *new_try(Hands *hands, uint64_t voter, Id token)
{
    SiteTry *try = ARENA_NEW(run_arena(hands->run), SiteTry);
    *try = (SiteTry){.voter = voter,
                     .token = token,
                     .began_us = sim_world_now_us(sim_world(run_sim(hands->run))),
                     .next = hands->site->tries};
    hands->site->tries = try;
    hands->try = try;
    return try;
}

static void end_try(Hands *hands, SiteTry *try, Status status)
{
    hands->try = NULL;
    try->status = status;
    try->answered = hands_alive(hands);
    try->ended_us = sim_world_now_us(sim_world(run_sim(hands->run)));
}

static void hear(Hands *hands, SiteTry *try, const SaveResult *result)
{
    try->outcome = result->outcome;
    try->told_seq = result->seq;
    try->told_version = result->version;
    if (result->outcome == SAVE_REFUSED && result->rule == VOTE_RULE_TWICE)
        run_violated(hands->run, "a form names no policy twice, but is told so");
}

static void send_form(Hands *hands, const SiteForm *form)
{
    SitePerson *person = site_person(hands->site, form->voter);
    PolicyText text = {.name = arena_print(hands->arena, "policy %u", form->number),
                       .description = SLICE("A text."),
                       .rationale = SLICE_EMPTY,
                       .category = 1};
    SaveRequest request = {.voter = form->voter,
                           .seen = form->seen,
                           .wishes = form->wishes,
                           .wish_count = form->wish_count,
                           .token = form->token,
                           .create = form->create_held > 0 ? &text : NULL,
                           .create_held = form->create_held};
    SiteTry *try = new_try(hands, form->voter, form->token);
    SaveResult result;
    Reason reason = {.rule = ""};
    uint64_t seen_before = person->seen_seq;
    Status status = votes_save(hands->votes, &request, hands->arena, &result, &reason);
    end_try(hands, try, status);
    if (!hands_heard(hands, "votes_save", status) || !try->answered)
        return;
    hear(hands, try, &result);
    if (result.outcome != SAVE_UNKNOWN)
        saw_head(hands, person, result.state.seq, seen_before);
    /* A person who was told "stale" or "saved" goes on from what stands now; in a rush nobody waits for that. */
    if (!run_is_exhaustive(hands->run))
        show_in_tab(&person->tabs[hands_draw(hands, SITE_TABS)], &result.state);
}

/* Half of the time the instance projects what it saved at once, as it should. */
static void after_saving(Hands *hands)
{
    if (hands_draw(hands, 2) == 0)
        sweeps_waiting(hands);
}

void people_save(Hands *hands)
{
    const Site *site = hands->site;
    SitePerson *person = site_any_voter(hands);
    int64_t now_us = sim_world_now_us(sim_world(run_sim(hands->run)));
    if (site->lone && person->saved_us / site->meeting_us == now_us / site->meeting_us &&
        hands_draw(hands, 16) > 0)
        return;
    person->saved_us = now_us;
    send_form(hands, fill_form(hands, person));
    after_saving(hands);
}

void people_send_again(Hands *hands)
{
    const SiteForm *form = hands->site->forms[hands_draw(hands, SITE_FORMS)];
    if (form == NULL)
        return;
    send_form(hands, form);
    after_saving(hands);
}

void people_create(Hands *hands)
{
    if (hands->site->policy_count >= POLICIES_ENOUGH)
        return;
    SiteForm *form = fill_form(hands, site_any_voter(hands));
    if (hands_draw(hands, 2) == 0)
        form->wish_count = 0;
    form->create_held = CREATE_HELD + (int64_t)hands_draw(hands, 2) * 10;
    send_form(hands, form);
    after_saving(hands);
}

/* ---- One version, many hands ----------------------------------------------------------------------------- */

static SiteForm *fill_fixed(Hands *hands, const VoteWish *wishes, size_t count)
{
    SitePerson *person = &hands->site->people[0];
    SiteForm *form = ARENA_NEW(run_arena(hands->run), SiteForm);
    *form = (SiteForm){.voter = person->account,
                       .seen = person->tabs[0].version,
                       .token = id_new(hands->world.clock, hands->world.random),
                       .wish_count = count};
    memcpy(form->wishes, wishes, count * sizeof *wishes);
    return form;
}

void people_begin_rush(Hands *hands)
{
    SitePerson *person = &hands->site->people[0];
    VoteWish wish = {hands->site->policies[0], 50};
    send_form(hands, fill_fixed(hands, &wish, 1));
    sweeps_waiting(hands);
    person->tabs[0] = (SiteTab){.version = hands->site->tries->told_version};
}

/* From the first policy to the second, so that there is something to take away and something to add. */
void people_rush(Hands *hands)
{
    const uint64_t *policies = hands->site->policies;
    VoteWish wishes[] = {{policies[0], 10 + (int64_t)hands_draw(hands, 9)}, {policies[1], 10}};
    send_form(hands, fill_fixed(hands, wishes, 2));
    sweeps_waiting(hands);
}

/* ---- Leaving --------------------------------------------------------------------------------------------- */

static void disown_all(Hands *hands, uint64_t account)
{
    for (size_t i = 0; i < hands->site->policy_count; i++)
        (void)hands_heard(hands, "policies_disown",
                          policies_disown(hands->policies, hands->site->policies[i], account));
}

/* Somebody always stays. */
void people_leave(Hands *hands)
{
    SitePerson *person = site_any_person(hands);
    Reason reason = {.rule = ""};
    if (person == &hands->site->people[0])
        return;
    SiteTry *try = new_try(hands, person->account, (Id){{0}});
    Status status = votes_leave(hands->votes, person->account, &reason);
    end_try(hands, try, status);
    try->outcome = status == STATUS_OK ? SAVE_SAVED : SAVE_STALE;
    try->told_version = try->version;
    if (!hands_heard(hands, "votes_leave", status) || !try->answered)
        return;
    disown_all(hands, person->account);
    status = accounts_close(hands->accounts, person->account, &reason);
    if (hands_heard(hands, "accounts_close", status) && hands_alive(hands))
        person->closed = true;
}
