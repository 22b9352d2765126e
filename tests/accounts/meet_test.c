/* meet_test.c -- two operations meet: one runs as a whole between any two calls of the other, for all pairs and all points.
 *
 * It runs on the simulated store, which has no disk to wait for; what meets is the same on every engine. */
#include "access/closing.h"
#include "accounts_fixture.h"
#include "interleaving_store.h"

__attribute__((constructor)) static void choose_engine(void)
{
    CHECK(setenv("OSTRAKA_TEST_STORE", "sim", 1) == 0);
}

enum { IDS_MAX = 12 }; /* that a run uses up */

static InterleavingStore interleaved;
static Accounts *hooked;
static int run_number;
static uint64_t first, ann, ben,
    pat; /* of this run: two confirmed accounts, and one that is pending for long */

static const char *word(const char *prefix)
{
    return arena_text(contract_arena(), arena_print(contract_arena(), "%s%d", prefix, run_number));
}

static Slice email(const char *prefix)
{
    return arena_print(contract_arena(), "%s%d@example.org", prefix, run_number);
}

static Status rename_to(Accounts *accounts, uint64_t id, const char *prefix)
{
    return accounts_rename(accounts, id, slice_from(word(prefix)), NULL);
}

static Status register_as(Accounts *accounts, const char *prefix)
{
    Registration person = fixture_person(word(prefix));
    uint64_t id;
    person.confirmed = true;
    return accounts_register(accounts, &person, &id, NULL);
}

/* ---- What meets ---------------------------------------------------------------------------------------------- */

static Status register_new(Accounts *accounts)
{
    return register_as(accounts, "new");
}
static Status register_ann(Accounts *accounts)
{
    return register_as(accounts, "ann");
}
static Status ann_to_new(Accounts *accounts)
{
    return rename_to(accounts, ann, "new");
}
static Status ann_to_third(Accounts *accounts)
{
    return rename_to(accounts, ann, "third");
}
static Status ann_to_ann(Accounts *accounts)
{
    return rename_to(accounts, ann, "ann");
}
static Status ben_to_new(Accounts *accounts)
{
    return rename_to(accounts, ben, "new");
}
static Status ben_to_ann(Accounts *accounts)
{
    return rename_to(accounts, ben, "ann");
}
static Status ben_to_pat(Accounts *accounts)
{
    return rename_to(accounts, ben, "pat");
}
static Status ann_to_new_email(Accounts *accounts)
{
    return accounts_change_email(accounts, ann, email("new"), NULL);
}
static Status ann_closes(Accounts *accounts)
{
    return access_close_account(accounts, ann, NULL);
}
static Status pat_is_confirmed(Accounts *accounts)
{
    return accounts_confirm(accounts, pat, NULL);
}
static Status pat_expires(Accounts *accounts)
{
    return accounts_expire(accounts, pat);
}
static Status ann_expires(Accounts *accounts)
{
    return accounts_expire(accounts, ann);
}

static Status (*const OPERATIONS[])(Accounts *accounts) = {
    register_new,     register_ann, ann_to_new, ann_to_third,     ann_to_ann,
    ben_to_new,       ben_to_ann,   ben_to_pat, ann_to_new_email, ann_closes,
    pat_is_confirmed, pat_expires,  ann_expires};

/* ---- From where ---------------------------------------------------------------------------------------------- */

/* The n-th call and all later ones are refused: the process died there. */
static void die_at(int n, Status (*operation)(Accounts *accounts))
{
    faulty_plan(&fixture.faulty, n, FAULT_REFUSED, FAULT_FOREVER);
    (void)!operation(fixture.accounts);
    EXPECT(faulty_struck(&fixture.faulty));
    faulty_plan(&fixture.faulty, 0, FAULT_REFUSED, FAULT_ONCE);
}

static void from_nothing(void) {}
/* Ann wrote down a wish for the new name, claimed it, and died. */
static void from_a_wish(void)
{
    die_at(5, ann_to_new);
    EXPECT_I64(fixture_holder(word("new")), 0);
    EXPECT_STATUS(register_new(fixture.honest), STATUS_REFUSED);
}
/* Ann had the new name, went back to her old one, and died before the new one was free. */
static void from_a_stray_claim(void)
{
    EXPECT_STATUS(ann_to_new(fixture.honest), STATUS_OK);
    die_at(7, ann_to_ann);
    EXPECT_I64(fixture_holder(word("ann")), ann);
}
/* Somebody who is void had the new name. */
static void from_a_void_claim(void)
{
    uint64_t gone = fixture_pending(word("new"));
    fixture_pass_days(8);
    EXPECT_STATUS(accounts_expire(fixture.honest, gone), STATUS_OK);
}

static void (*const GROUNDS[])(void) = {from_nothing, from_a_wish, from_a_stray_claim,
                                        from_a_void_claim};

/* ---- A meeting ----------------------------------------------------------------------------------------------- */

static Status (*other)(Accounts *accounts);

static void meanwhile(void)
{
    (void)!other(fixture.honest);
}

static void set_the_scene(size_t ground)
{
    run_number++;
    first = pat = fixture_pending(word("pat"));
    fixture_pass_days(8);
    ann = fixture_confirmed(word("ann"));
    ben = fixture_confirmed(word("ben"));
    GROUNDS[ground]();
}

/* Whatever nobody has after the clean-up, the next one gets. */
static void expect_free_or_had(const char *prefix)
{
    uint64_t holder = fixture_holder(word(prefix));
    Registration rival = fixture_person(word(prefix));
    rival.email = email("rival");
    uint64_t id = 0;
    Status status = accounts_register(fixture.honest, &rival, &id, NULL);
    EXPECT_STATUS(status, holder != 0 ? STATUS_REFUSED : STATUS_OK);
    if (status == STATUS_OK) { /* the next rival has the same e-mail */
        EXPECT_STATUS(accounts_confirm(fixture.honest, id, NULL), STATUS_OK);
        EXPECT_STATUS(access_close_account(fixture.honest, id, NULL), STATUS_OK);
    }
}

static bool meet(size_t ground, size_t one, size_t two, int n)
{
    set_the_scene(ground);
    other = OPERATIONS[two];
    interleaving_store_plan(&interleaved, n, meanwhile);
    (void)!OPERATIONS[one](hooked);
    bool struck = interleaving_store_struck(&interleaved);
    interleaving_store_plan(&interleaved, 0, NULL);
    fixture_check(first, first + IDS_MAX);
    if (n % 4 != 0)
        return struck;
    fixture_pass_days(8);
    for (uint64_t id = first; id < first + IDS_MAX; id++)
        (void)!accounts_expire(fixture.honest, id);
    static const char *const PREFIXES[] = {"new", "ann", "third", "ben", "pat"};
    for (size_t i = 0; i < sizeof PREFIXES / sizeof PREFIXES[0]; i++)
        expect_free_or_had(PREFIXES[i]);
    fixture_check(first, first + IDS_MAX);
    return struck;
}

static void begin(void)
{
    fixture_begin();
    interleaving_store_init(&interleaved, fixture.store);
    AccountsOptions options = fixture_options(&interleaved.store);
    hooked = accounts_new(&options);
}

static void end(void)
{
    accounts_free(hooked);
    fixture_end();
}

TEST(wherever_two_operations_meet_no_name_is_had_by_two)
{
    enum { COUNT = sizeof OPERATIONS / sizeof OPERATIONS[0] };
    int meetings = 0;
    for (size_t ground = 0; ground < sizeof GROUNDS / sizeof GROUNDS[0]; ground++) {
        begin();
        for (size_t pair = 0; pair < COUNT * COUNT; pair++)
            for (int n = 1; meet(ground, pair / COUNT, pair % COUNT, n); n++)
                meetings++;
        end();
    }
    printf("# %d meetings\n", meetings);
    EXPECT(meetings > 2000);
}

/* ---- No answer about claims ---------------------------------------------------------------------------------- */

TEST(a_claim_that_is_unknown_is_no_claim)
{
    begin();
    set_the_scene(0);
    interleaved.lost = &TABLE_NAMES;
    EXPECT_STATUS(register_new(hooked), STATUS_UNAVAILABLE);
    EXPECT_STATUS(ann_to_new(hooked), STATUS_UNAVAILABLE);
    EXPECT_STATUS(ann_to_new_email(hooked), STATUS_UNAVAILABLE);
    EXPECT_STATUS(ann_closes(hooked), STATUS_UNKNOWN); /* closed, and not all released */
    interleaved.lost = NULL;
    EXPECT_I64(fixture_state(ann), ACCOUNT_CLOSED);
    EXPECT_STATUS(ann_closes(hooked), STATUS_OK);
    EXPECT_STATUS(register_new(hooked), STATUS_OK);
    end();
}

TEST(a_row_that_is_unknown_is_passed_on)
{
    begin();
    set_the_scene(0);
    interleaved.lost = &TABLE_ACCOUNTS;
    EXPECT_STATUS(register_new(hooked), STATUS_UNKNOWN);
    EXPECT_STATUS(ann_to_new(hooked), STATUS_UNKNOWN);
    EXPECT_STATUS(pat_is_confirmed(hooked), STATUS_UNKNOWN);
    EXPECT_STATUS(pat_expires(hooked), STATUS_UNKNOWN);
    EXPECT_STATUS(ann_closes(hooked), STATUS_UNKNOWN);
    EXPECT_STATUS(accounts_watch(hooked, ann, 5, true), STATUS_UNKNOWN);
    end();
}
