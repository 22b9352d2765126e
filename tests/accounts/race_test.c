/* race_test.c -- many threads want the same: exactly one gets it, and nobody is told a wrong thing. */
#include "access/closing.h"
#include "accounts_fixture.h"

enum { THREADS = 32, ROUNDS = 6, RENAMES = 25, NAMES = 6, PEOPLE = 8 };

/* A thread that wants something, and what it was told. */
typedef struct Racer {
    const char *word;
    bool by_email; /* they differ in their names, and want one e-mail */
    Status status[THREADS];
    uint64_t id[THREADS];
} Racer;

static void register_one(int index, void *context)
{
    Racer *racer = context;
    ARENA_SCOPE Arena *arena = arena_new();
    Registration person = {.name = slice_from(racer->word),
                           .email = arena_print(arena, "%s%d@example.org", racer->word, index),
                           .password = SLICE("correct horse")};
    if (racer->by_email) {
        person.name = arena_print(arena, "%s%d", racer->word, index);
        person.email = arena_print(arena, "%s@example.org", racer->word);
    }
    person.confirmed = index % 2 == 0;
    racer->status[index] =
        accounts_register(fixture.honest, &person, &racer->id[index], &(Reason){.rule = ""});
}

static void expect_one_winner(Racer *racer, const char *label, uint64_t *first)
{
    int winners = 0;
    uint64_t id = 0, last = *first + THREADS - 1;
    for (int i = 0; i < THREADS; i++) {
        if (racer->status[i] != STATUS_OK) {
            EXPECT_STATUS(racer->status[i], STATUS_REFUSED);
            continue;
        }
        winners++;
        id = racer->id[i];
    }
    EXPECT_I64(winners, 1);
    EXPECT_I64(fixture_holder(label), id);
    for (uint64_t other = *first; other <= last; other++)
        EXPECT((fixture_state(other) == ACCOUNT_VOID) == (other != id));
    fixture_check(*first, last);
    *first = last + 1;
}

TEST(of_many_registrations_for_one_name_exactly_one_wins)
{
    static const char *const WORDS[ROUNDS] = {"alice", "bob", "carol", "dave", "erin", "frank"};
    uint64_t first = 1;
    fixture_begin();
    for (int round = 0; round < ROUNDS; round++) {
        Racer racer = {.word = WORDS[round], .by_email = round % 2 == 1};
        contract_threads(THREADS, register_one, &racer);
        expect_one_winner(
            &racer,
            racer.by_email ? arena_text(contract_arena(),
                                        arena_print(contract_arena(), "%s@example.org", racer.word))
                           : racer.word,
            &first);
    }
    fixture_end();
}

/* The claim of a void account is wanted by all at once. */
TEST(of_many_that_take_over_a_claim_exactly_one_wins)
{
    fixture_begin();
    uint64_t gone = fixture_pending("alice"), first = gone + 1;
    fixture_pass_days(8);
    EXPECT_STATUS(accounts_expire(fixture.honest, gone), STATUS_OK);
    Racer racer = {.word = "alice"};
    contract_threads(THREADS, register_one, &racer);
    expect_one_winner(&racer, "alice", &first);
    fixture_end();
}

/* ---- Confirming against the clean-up ------------------------------------------------------------------------- */

static void confirm_or_expire(int index, void *context)
{
    Racer *racer = context;
    racer->status[index] = index % 2 == 0 ? accounts_confirm(fixture.honest, racer->id[0], NULL)
                                          : accounts_expire(fixture.honest, racer->id[0]);
}

TEST(a_registration_is_confirmed_or_void_and_never_both)
{
    fixture_begin();
    for (int round = 0; round < 20; round++) {
        const char *word =
            arena_text(contract_arena(), arena_print(contract_arena(), "user%d", round));
        Racer racer = {.id = {fixture_pending(word)}};
        fixture_pass_days(8);
        contract_threads(8, confirm_or_expire, &racer);
        bool confirmed = fixture_state(racer.id[0]) == ACCOUNT_CONFIRMED;
        EXPECT(confirmed || fixture_state(racer.id[0]) == ACCOUNT_VOID);
        for (int i = 0; i < 8; i++)
            EXPECT_STATUS(racer.status[i], i % 2 == 1 || confirmed ? STATUS_OK : STATUS_REFUSED);
    }
    fixture_end();
}

/* ---- Everybody wants everybody's name ------------------------------------------------------------------------ */

static void swap_names(int index, void *context)
{
    uint64_t *people = context;
    ARENA_SCOPE Arena *arena = arena_new();
    for (int i = 0; i < RENAMES; i++) {
        uint64_t luck = random_u64(world_real().random);
        Slice name = arena_print(arena, "name%d", (int)(luck % NAMES));
        Slice email = arena_print(arena, "name%d@example.org", (int)(luck >> 8) % NAMES);
        uint64_t id = people[(luck >> 32) % PEOPLE]; /* also two threads for one person */
        Status status = index % 2 == 0 ? accounts_rename(fixture.honest, id, name, NULL)
                                       : accounts_change_email(fixture.honest, id, email, NULL);
        CHECK(status == STATUS_OK || status == STATUS_REFUSED || status == STATUS_CONFLICT);
    }
}

TEST(names_that_go_round_are_never_had_by_two)
{
    fixture_begin();
    uint64_t people[PEOPLE];
    for (int i = 0; i < PEOPLE; i++)
        people[i] = fixture_confirmed(
            arena_text(contract_arena(), arena_print(contract_arena(), "person%d", i)));
    for (int round = 0; round < 4; round++) {
        contract_threads(16, swap_names, people);
        fixture_check(people[0], people[PEOPLE - 1]);
    }
    /* Nothing is stuck: once all are gone, every name is free. */
    for (int i = 0; i < PEOPLE; i++)
        EXPECT_STATUS(access_close_account(fixture.honest, people[i], NULL), STATUS_OK);
    for (int i = 0; i < NAMES; i++)
        fixture_confirmed(arena_text(contract_arena(), arena_print(contract_arena(), "name%d", i)));
    fixture_end();
}

/* ---- One row ------------------------------------------------------------------------------------------------- */

static void watch_some(int index, void *context)
{
    const uint64_t *id = context;
    for (uint64_t i = 0; i < 20; i++)
        CHECK(accounts_watch(fixture.honest, *id, (uint64_t)index * 20 + i, true) == STATUS_OK);
}

TEST(no_watched_policy_is_lost_between_threads)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice"), *policies;
    size_t count;
    contract_threads(8, watch_some, &alice);
    EXPECT_STATUS(accounts_watched(fixture.honest, alice, contract_arena(), &policies, &count),
                  STATUS_OK);
    EXPECT_I64(count, 160);
    fixture_end();
}

static void set_setting(int index, void *context)
{
    Racer *racer = context;
    char value[16];
    snprintf(value, sizeof value, "%d", 1000 + index);
    racer->status[index] = settings_set(accounts_settings(fixture.honest), SLICE("salary"),
                                        slice_from(value), 0, NULL);
}

TEST(each_setting_that_was_said_to_be_made_is_a_version)
{
    fixture_begin();
    Racer racer = {.word = ""};
    SettingsHistory history;
    int made = 0;
    contract_threads(THREADS, set_setting, &racer);
    for (int i = 0; i < THREADS; i++) {
        if (racer.status[i] != STATUS_OK)
            EXPECT_STATUS(racer.status[i], STATUS_CONFLICT);
        made += racer.status[i] == STATUS_OK;
    }
    EXPECT_STATUS(settings_read(accounts_settings(fixture.honest), contract_arena(), &history),
                  STATUS_OK);
    EXPECT(made >= 1);
    EXPECT_I64(history.count, made + 1);
    for (size_t i = 1; i < history.count; i++)
        EXPECT_STATUS(racer.status[history.versions[i].salary - 1000], STATUS_OK);
    fixture_end();
}
