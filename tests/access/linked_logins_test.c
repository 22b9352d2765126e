/* linked_logins_test.c -- log-ins at other sites: whose they are under races, crashes and late writes; and the journeys there. */
#include "access/closing.h"
#include "access/credentials.h"
#include "access/linked_logins.h"

#include <pthread.h>

#include "access/linked_login_journeys.h"
#include "accounts_fixture.h"

static NewLinkedLogin who(const char *subject)
{
    return (NewLinkedLogin){SLICE("town"), slice_from(subject), SLICE("a@b")};
}

static Status add(uint64_t account, const char *subject)
{
    NewLinkedLogin wanted = who(subject);
    return linked_login_add(fixture.accounts, account, &wanted, NULL);
}

static uint64_t holder(const char *subject)
{
    Account account;
    Status status = linked_login_find(fixture.honest, SLICE("town"), slice_from(subject),
                                      contract_arena(), &account);
    EXPECT(status == STATUS_OK || status == STATUS_NOT_FOUND);
    return status == STATUS_OK ? account.id : 0;
}

static size_t listed(uint64_t account, LinkedLogin **ret_connections)
{
    size_t count = 0;
    EXPECT_STATUS(
        linked_login_list(fixture.honest, account, contract_arena(), ret_connections, &count),
        STATUS_OK);
    return count;
}

static uint64_t without_password(const char *word, const char *subject)
{
    Registration person = fixture_person(word);
    NewLinkedLogin wanted = who(subject);
    uint64_t id = 0;
    EXPECT_STATUS(linked_login_register(fixture.accounts, &person, &wanted, &id, NULL), STATUS_OK);
    EXPECT_STATUS(accounts_confirm(fixture.accounts, id, NULL), STATUS_OK);
    return id;
}

TEST(one_account_has_it_until_it_is_ended)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice"), bob = fixture_confirmed("bob");
    LinkedLogin *list;
    EXPECT_I64(holder("s"), 0);
    EXPECT_STATUS(add(alice, "s"), STATUS_OK);
    EXPECT_STATUS(add(alice, "s"), STATUS_OK);
    EXPECT_I64(listed(alice, &list), 1);
    EXPECT_SLICE(list[0].label, SLICE("a@b"));
    EXPECT_STATUS(add(bob, "s"), STATUS_REFUSED);
    EXPECT_I64(holder("s"), alice);
    EXPECT_I64(holder("S"), 0);
    EXPECT_I64(listed(bob, &list), 0);
    listed(alice, &list);
    EXPECT_STATUS(linked_login_end(fixture.accounts, bob, list[0].id, NULL), STATUS_NOT_FOUND);
    EXPECT_STATUS(linked_login_end(fixture.accounts, alice, list[0].id, NULL), STATUS_OK);
    EXPECT_STATUS(linked_login_end(fixture.accounts, alice, list[0].id, NULL), STATUS_NOT_FOUND);
    EXPECT_I64(holder("s"), 0);
    EXPECT_STATUS(add(bob, "s"), STATUS_OK);
    EXPECT_I64(holder("s"), bob);
    EXPECT_STATUS(access_close_account(fixture.accounts, bob, NULL), STATUS_OK);
    EXPECT_I64(holder("s"), 0);
    EXPECT_STATUS(add(bob, "s"), STATUS_REFUSED);
    EXPECT_STATUS(add(alice, "s"), STATUS_OK);
    fixture_end();
}

TEST(the_last_way_in_is_kept)
{
    fixture_begin();
    uint64_t carol = without_password("carol", "one");
    LinkedLogin *list;
    Reason reason = {0};
    EXPECT_I64(listed(carol, &list), 1);
    EXPECT_STATUS(linked_login_end(fixture.accounts, carol, list[0].id, &reason), STATUS_REFUSED);
    EXPECT(strstr(reason.rule, "only way") != NULL);
    EXPECT_STATUS(add(carol, "two"), STATUS_OK);
    EXPECT_STATUS(linked_login_end(fixture.accounts, carol, list[0].id, NULL), STATUS_OK);
    EXPECT_I64(listed(carol, &list), 1);
    EXPECT_STATUS(linked_login_end(fixture.accounts, carol, list[0].id, NULL), STATUS_REFUSED);
    EXPECT_STATUS(credentials_set_password(fixture.accounts, carol, SLICE("long enough 1"), NULL),
                  STATUS_OK);
    EXPECT_STATUS(linked_login_end(fixture.accounts, carol, list[0].id, NULL), STATUS_OK);
    fixture_end();
}

TEST(a_registration_that_is_void_frees_it)
{
    fixture_begin();
    Registration person = fixture_person("dave");
    NewLinkedLogin wanted = who("s");
    uint64_t id = 0;
    EXPECT_STATUS(linked_login_register(fixture.accounts, &person, &wanted, &id, NULL), STATUS_OK);
    EXPECT_I64(holder("s"), id);
    fixture_pass_days(8);
    EXPECT_STATUS(accounts_expire(fixture.accounts, id), STATUS_OK);
    EXPECT_I64(fixture_state(id), ACCOUNT_VOID);
    EXPECT_I64(holder("s"), 0);
    uint64_t erin = fixture_confirmed("erin");
    EXPECT_STATUS(add(erin, "s"), STATUS_OK);
    EXPECT_I64(holder("s"), erin);
    /* What another has leaves no registration behind. */
    Registration late = fixture_person("late");
    EXPECT_STATUS(linked_login_register(fixture.accounts, &late, &wanted, &id, NULL),
                  STATUS_REFUSED);
    EXPECT_I64(fixture_holder("late"), 0);
    fixture_end();
}

TEST(bounds_hold)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice");
    LinkedLogin *list;
    char subject[] = "a";
    for (int i = 0; i < LINKED_LOGINS_MAX; i++, subject[0]++)
        EXPECT_STATUS(add(alice, subject), STATUS_OK);
    EXPECT_STATUS(add(alice, subject), STATUS_REFUSED);
    EXPECT_I64(listed(alice, &list), LINKED_LOGINS_MAX);
    NewLinkedLogin wrong[] = {
        {SLICE("town"), SLICE_EMPTY, SLICE_EMPTY},
        {SLICE("to:wn"), SLICE("s"), SLICE_EMPTY},
        {SLICE_EMPTY, SLICE("s"), SLICE_EMPTY},
        {SLICE("town"), contract_filler(LINKED_LOGIN_SUBJECT_BYTES + 1, 's'), SLICE_EMPTY}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        EXPECT_STATUS(linked_login_add(fixture.accounts, alice, &wrong[i], NULL), STATUS_INVALID);
    uint64_t bob = fixture_confirmed("bob");
    NewLinkedLogin big = {SLICE("town"), contract_filler(LINKED_LOGIN_SUBJECT_BYTES, 's'),
                          contract_filler(5000, 'l')};
    EXPECT_STATUS(linked_login_add(fixture.accounts, bob, &big, NULL), STATUS_OK);
    EXPECT_I64(listed(bob, &list), 1);
    EXPECT_I64(list[0].label.size, LINKED_LOGIN_LABEL_BYTES);
    fixture_end();
}

/* ---- Races -------------------------------------------------------------------------------------------------------- */

enum { RACERS = 6 };
typedef struct Racer {
    pthread_t thread;
    uint64_t account;
    Id id;
    bool ends;
    Status status;
} Racer;

static void *race(void *argument)
{
    Racer *racer = argument;
    NewLinkedLogin wanted = who("prize");
    racer->status = racer->ends ? linked_login_end(fixture.honest, racer->account, racer->id, NULL)
                                : linked_login_add(fixture.honest, racer->account, &wanted, NULL);
    return NULL;
}

static int run(Racer *racers, int count)
{
    int done = 0;
    for (int i = 0; i < count; i++)
        EXPECT(pthread_create(&racers[i].thread, NULL, race, &racers[i]) == 0);
    for (int i = 0; i < count; i++) {
        pthread_join(racers[i].thread, NULL);
        done += racers[i].status == STATUS_OK;
    }
    return done;
}

TEST(of_many_who_want_it_one_has_it)
{
    fixture_begin();
    Racer racers[RACERS] = {0};
    char name[] = "racera";
    for (int i = 0; i < RACERS; i++, name[5]++)
        racers[i].account = fixture_confirmed(name);
    EXPECT_I64(run(racers, RACERS), 1);
    for (int i = 0; i < RACERS; i++) {
        LinkedLogin *list;
        EXPECT(racers[i].status == STATUS_OK || racers[i].status == STATUS_REFUSED);
        EXPECT_I64(listed(racers[i].account, &list), racers[i].status == STATUS_OK ? 1 : 0);
        if (racers[i].status == STATUS_OK)
            EXPECT_I64(holder("prize"), racers[i].account);
    }
    fixture_end();
}

TEST(two_who_end_the_last_two_leave_one)
{
    fixture_begin();
    uint64_t carol = without_password("carol", "one");
    EXPECT_STATUS(add(carol, "two"), STATUS_OK);
    LinkedLogin *list;
    EXPECT_I64(listed(carol, &list), 2);
    Racer racers[2] = {{.account = carol, .id = list[0].id, .ends = true},
                       {.account = carol, .id = list[1].id, .ends = true}};
    EXPECT_I64(run(racers, 2), 1);
    EXPECT_I64(listed(carol, &list), 1);
    fixture_end();
}

/* ---- Faults -------------------------------------------------------------------------------------------------------- */

/* Whatever call goes wrong and however: OK means that it is there, REFUSED and UNAVAILABLE that it is not; nobody else's can be taken; and another try
 * gets there. */
static bool fault_at(int at, FaultFate fate, int lasts)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice"), bob = fixture_confirmed("bob");
    faulty_plan(&fixture.faulty, at, fate, lasts);
    Status status = add(alice, "s");
    bool struck = faulty_struck(&fixture.faulty);
    fixture_restart();
    uint64_t now = holder("s");
    EXPECT(now == 0 || now == alice);
    if (status == STATUS_OK)
        EXPECT_I64(now, alice);
    if (status == STATUS_REFUSED || status == STATUS_UNAVAILABLE)
        EXPECT_I64(now, 0);
    Status others = add(bob, "s");
    EXPECT(others == STATUS_OK || others == STATUS_REFUSED);
    EXPECT(others != STATUS_OK || now == 0);
    if (others == STATUS_REFUSED) {
        EXPECT_STATUS(add(alice, "s"), STATUS_OK);
        EXPECT_I64(holder("s"), alice);
    } else {
        EXPECT_I64(holder("s"), bob);
        EXPECT_STATUS(add(alice, "s"), STATUS_REFUSED);
    }
    fixture_end();
    return struck;
}

TEST(no_fault_gives_it_to_two_or_loses_what_was_told)
{
    static const int LASTS[] = {FAULT_ONCE, FAULT_OUTAGE, FAULT_FOREVER};
    for (int fate = FAULT_REFUSED; fate <= FAULT_DONE; fate++)
        for (int i = 0; i < 3; i++)
            for (int at = 1; fault_at(at, (FaultFate)fate, LASTS[i]); at++)
                EXPECT(at < 100);
}

/* ---- Journeys ------------------------------------------------------------------------------------------------------- */

static const LinkedLoginJourney MEANT = {{"town", 4}, {"nonce", 5},  {"verifier", 8}, {"/next", 5},
                                         7,           {"invited", 7}};

TEST(a_journey_without_an_invitation_comes_back_without_one)
{
    fixture_begin();
    Slice browser = linked_login_journey_browser(fixture.accounts, contract_arena()), state;
    LinkedLoginJourney plain = MEANT, meant;
    plain.invitation = SLICE_EMPTY;
    EXPECT_STATUS(
        linked_login_journey_begin(fixture.accounts, &plain, browser, contract_arena(), &state),
        STATUS_OK);
    EXPECT_STATUS(
        linked_login_journey_end(fixture.accounts, state, browser, contract_arena(), &meant, NULL),
        STATUS_OK);
    EXPECT_I64(meant.account, 7);
    EXPECT_I64(meant.invitation.size, 0);
    fixture_end();
}

TEST(a_journey_ends_once_in_its_browser_and_in_time)
{
    fixture_begin();
    Slice browser = linked_login_journey_browser(fixture.accounts, contract_arena()), state, late;
    LinkedLoginJourney meant;
    EXPECT_STATUS(
        linked_login_journey_begin(fixture.accounts, &MEANT, browser, contract_arena(), &state),
        STATUS_OK);
    EXPECT_STATUS(
        linked_login_journey_begin(fixture.accounts, &MEANT, browser, contract_arena(), &late),
        STATUS_OK);
    EXPECT(!slice_equal(state, late));
    Slice others[] = {SLICE_EMPTY, SLICE("x"),
                      linked_login_journey_browser(fixture.accounts, contract_arena())};
    for (size_t i = 0; i < 3; i++) {
        EXPECT_STATUS(linked_login_journey_end(fixture.accounts, state, others[i], contract_arena(),
                                               &meant, NULL),
                      STATUS_REFUSED);
        EXPECT_STATUS(linked_login_journey_end(fixture.accounts, others[i], browser,
                                               contract_arena(), &meant, NULL),
                      STATUS_REFUSED);
    }
    EXPECT_STATUS(
        linked_login_journey_end(fixture.honest, state, browser, contract_arena(), &meant, NULL),
        STATUS_OK);
    EXPECT_SLICE(meant.provider, MEANT.provider);
    EXPECT_SLICE(meant.nonce, MEANT.nonce);
    EXPECT_SLICE(meant.verifier, MEANT.verifier);
    EXPECT_SLICE(meant.next, MEANT.next);
    EXPECT_SLICE(meant.invitation, MEANT.invitation);
    EXPECT_I64(meant.account, 7);
    Reason reason = {0};
    EXPECT_STATUS(linked_login_journey_end(fixture.accounts, state, browser, contract_arena(),
                                           &meant, &reason),
                  STATUS_REFUSED);
    EXPECT(strstr(reason.rule, "finished already") != NULL);
    contract_pass_s(LINKED_LOGIN_JOURNEY_S + 1);
    EXPECT_STATUS(
        linked_login_journey_end(fixture.accounts, late, browser, contract_arena(), &meant, NULL),
        STATUS_REFUSED);
    fixture_end();
}

typedef struct Traveller {
    pthread_t thread;
    Slice state, browser;
    Status status;
} Traveller;

static void *travel(void *argument)
{
    Traveller *traveller = argument;
    ARENA_SCOPE Arena *arena = arena_new();
    LinkedLoginJourney meant;
    traveller->status = linked_login_journey_end(fixture.honest, traveller->state,
                                                 traveller->browser, arena, &meant, NULL);
    return NULL;
}

TEST(of_many_who_come_back_with_one_state_one_is_let_through)
{
    fixture_begin();
    Slice browser = linked_login_journey_browser(fixture.accounts, contract_arena()), state;
    Traveller travellers[RACERS];
    int through = 0;
    EXPECT_STATUS(
        linked_login_journey_begin(fixture.accounts, &MEANT, browser, contract_arena(), &state),
        STATUS_OK);
    for (int i = 0; i < RACERS; i++) {
        travellers[i] = (Traveller){.state = state, .browser = browser};
        EXPECT(pthread_create(&travellers[i].thread, NULL, travel, &travellers[i]) == 0);
    }
    for (int i = 0; i < RACERS; i++) {
        pthread_join(travellers[i].thread, NULL);
        through += travellers[i].status == STATUS_OK;
    }
    EXPECT_I64(through, 1);
    fixture_end();
}
