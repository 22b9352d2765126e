/* crash_test.c -- every operation, with its n-th call of the store going wrong, for n = 1, 2, 3 … until it is through.
 *
 * A call is refused, lost, done without an answer, or done much later; once, for as long as an outage, or for ever, as when the
 * process dies. Then: what was told must be true and stay true (promise 3), no name is had by two (promise 1), and after repeating,
 * or after the clean-up, the operation succeeds or its names are free again (promise 2). Each run has people and names of its
 * own. */
#include "access/closing.h"
#include "access/credentials.h"
#include "access/tokens.h"
#include "accounts_fixture.h"

enum { IDS_MAX = 10 }; /* that a run uses up */

static int run_number;
static uint64_t person, first; /* of this run: who it is about, and its first account */

/* Names of this run. */
static const char *word(const char *prefix)
{
    return arena_text(contract_arena(), arena_print(contract_arena(), "%s%d", prefix, run_number));
}

static const char *email(const char *prefix)
{
    return arena_text(contract_arena(),
                      arena_print(contract_arena(), "%s%d@example.org", prefix, run_number));
}

/* ---- The operations ------------------------------------------------------------------------------------------ */

static Status register_as(const char *prefix, bool confirmed)
{
    Registration registration = fixture_person(word(prefix));
    uint64_t id;
    registration.confirmed = confirmed;
    return accounts_register(fixture.accounts, &registration, &id, NULL);
}

static void prepare_nobody(void)
{
    first = person = fixture_confirmed(word("other"));
}
static void prepare_void(void)
{
    first = person = fixture_pending(word("new"));
    fixture_pass_days(8);
    EXPECT_STATUS(accounts_expire(fixture.honest, person), STATUS_OK);
}
static void prepare_pending(void)
{
    first = person = fixture_pending(word("old"));
}
static void prepare_old_pending(void)
{
    prepare_pending();
    fixture_pass_days(8);
}
static void prepare_confirmed(void)
{
    first = person = fixture_confirmed(word("old"));
}
/* The name that is wanted was somebody's who has left. */
static void prepare_closed_rival(void)
{
    first = fixture_confirmed(word("new"));
    person = fixture_confirmed(word("old"));
    EXPECT_STATUS(access_close_account(fixture.honest, first, NULL), STATUS_OK);
}

static Status do_register(void)
{
    return register_as("new", false);
}
static Status do_register_confirmed(void)
{
    return register_as("new", true);
}
static Status do_confirm(void)
{
    return accounts_confirm(fixture.accounts, person, NULL);
}
static Status do_rename(void)
{
    return accounts_rename(fixture.accounts, person, slice_from(word("new")), NULL);
}
static Status do_change_email(void)
{
    return accounts_change_email(fixture.accounts, person, slice_from(email("new")), NULL);
}
static Status do_close(void)
{
    return access_close_account(fixture.accounts, person, NULL);
}
static Status do_expire(void)
{
    return accounts_expire(fixture.accounts, person);
}
static Status do_rights(void)
{
    return accounts_set_rights(fixture.accounts, person, &(AccountRights){.roles = 2}, NULL);
}
/* The link is made by who works, and used by who does not. */
static Slice link_of(const LinkMail *mail)
{
    return arena_copy(contract_arena(), mail->secret);
}
static Slice secret;
static void prepare_confirm_link(void)
{
    LinkMail mail;
    prepare_pending();
    EXPECT_STATUS(credentials_begin_confirm(fixture.honest, person, contract_arena(), &mail),
                  STATUS_OK);
    secret = link_of(&mail);
}
static void prepare_reset_link(void)
{
    LinkMail mail;
    prepare_confirmed();
    EXPECT_STATUS(
        credentials_begin_reset(fixture.honest, slice_from(word("old")), contract_arena(), &mail),
        STATUS_OK);
    secret = link_of(&mail);
}
static void prepare_email_link(void)
{
    LinkMail mail;
    prepare_confirmed();
    EXPECT_STATUS(credentials_begin_email(fixture.honest, person, slice_from(email("new")),
                                          contract_arena(), &mail, NULL),
                  STATUS_OK);
    secret = link_of(&mail);
}
static Status do_confirm_link(void)
{
    uint64_t id;
    return credentials_finish_confirm(fixture.accounts, secret, &id, NULL);
}
static Status do_reset_link(void)
{
    return credentials_finish_reset(fixture.accounts, secret, SLICE("battery staple"), NULL);
}
static Status do_email_link(void)
{
    return credentials_finish_email(fixture.accounts, &(EmailMove){.secret = secret}, NULL);
}
static Status do_token(void)
{
    Token token;
    NewToken new = {SLICE("token"), TOKEN_READ, 0, false, SLICE_EMPTY};
    return tokens_make(fixture.accounts, person, &new, contract_arena(), &token, NULL);
}
static Status do_profile(void)
{
    return accounts_set_profile(fixture.accounts, person, SLICE("Old Name"), true, NULL);
}
static Status do_watch(void)
{
    return accounts_watch(fixture.accounts, person, 5, true);
}

static bool new_is_registered(void)
{
    uint64_t id = fixture_holder(word("new"));
    return id != 0 && fixture_holder(email("new")) == id;
}
static bool new_is_confirmed(void)
{
    return new_is_registered() && fixture_state(fixture_holder(word("new"))) == ACCOUNT_CONFIRMED;
}
static bool person_is_confirmed(void)
{
    return fixture_state(person) == ACCOUNT_CONFIRMED;
}
static bool person_is_renamed(void)
{
    return fixture_holder(word("new")) == person;
}
static bool person_has_new_email(void)
{
    return fixture_holder(email("new")) == person;
}
static bool person_is_closed(void)
{
    return fixture_state(person) == ACCOUNT_CLOSED;
}
static bool person_is_void(void)
{
    return fixture_state(person) == ACCOUNT_VOID;
}
static bool person_has_role(void)
{
    return fixture_read(person).roles == 2;
}
static bool link_is(LinkKind kind, Status expected)
{
    Link link;
    return links_peek(fixture.honest, kind, secret, contract_arena(), &link, NULL) == expected;
}
/* Whatever happens, a link and its effect go together. */
static bool person_confirmed_by_link(void)
{
    bool confirmed = person_is_confirmed();
    EXPECT(link_is(LINK_CONFIRM, confirmed ? STATUS_REFUSED : STATUS_OK));
    return confirmed;
}
static bool person_has_new_password(void)
{
    Account account;
    Status status = credentials_check_password(fixture.honest, slice_from(word("old")),
                                               SLICE("battery staple"), contract_arena(), &account);
    EXPECT(link_is(LINK_RESET, status == STATUS_OK ? STATUS_REFUSED : STATUS_OK));
    return status == STATUS_OK;
}
static bool person_moved_by_link(void)
{
    bool moved = person_has_new_email();
    EXPECT(link_is(LINK_EMAIL, moved ? STATUS_REFUSED : STATUS_OK));
    return moved;
}
static bool person_has_tokens(void)
{
    Token *tokens;
    size_t count = 0;
    EXPECT_STATUS(tokens_list(fixture.honest, person, contract_arena(), &tokens, &count),
                  STATUS_OK);
    return count >= 1;
}
static bool person_has_profile(void)
{
    return slice_equal(fixture_read(person).real_name, SLICE("Old Name"));
}
static bool person_watches(void)
{
    uint64_t *policies;
    size_t count = 0;
    EXPECT_STATUS(accounts_watched(fixture.honest, person, contract_arena(), &policies, &count),
                  STATUS_OK);
    return count == 1;
}

typedef struct Operation {
    const char *name;
    void (*prepare)(void);
    Status (*run)(void);
    bool (*is_done)(void); /* by an honest look */
    bool
        registers; /* repeating it may be refused: its own first attempt has the name, or used the link */
} Operation;

static const Operation OPERATIONS[] = {
    {"register", prepare_nobody, do_register, new_is_registered, true},
    {"register confirmed", prepare_nobody, do_register_confirmed, new_is_confirmed, true},
    {"take over", prepare_void, do_register_confirmed, new_is_confirmed, true},
    {"confirm", prepare_pending, do_confirm, person_is_confirmed, false},
    {"rename", prepare_confirmed, do_rename, person_is_renamed, false},
    {"take over by renaming", prepare_closed_rival, do_rename, person_is_renamed, false},
    {"change e-mail", prepare_confirmed, do_change_email, person_has_new_email, false},
    {"close", prepare_confirmed, do_close, person_is_closed, false},
    {"expire", prepare_old_pending, do_expire, person_is_void, false},
    {"rights", prepare_confirmed, do_rights, person_has_role, false},
    {"watch", prepare_confirmed, do_watch, person_watches, false},
    {"confirm by a link", prepare_confirm_link, do_confirm_link, person_confirmed_by_link, true},
    {"a new password by a link", prepare_reset_link, do_reset_link, person_has_new_password, true},
    {"another e-mail by a link", prepare_email_link, do_email_link, person_moved_by_link, true},
    {"token", prepare_confirmed, do_token, person_has_tokens, false},
    {"profile", prepare_confirmed, do_profile, person_has_profile, false},
};

/* ---- A run --------------------------------------------------------------------------------------------------- */

static void expect_told_truth(Status status, const Operation *operation)
{
    if (status == STATUS_OK && !operation->is_done())
        test_fail(__FILE__, __LINE__, "told ok, and it is not done");
    bool told_no = status != STATUS_OK && status != STATUS_UNKNOWN;
    if (told_no && operation->is_done())
        test_fail(__FILE__, __LINE__, "told %s, and it is done", status_name(status));
}

/* Whoever wants a name that nobody has gets it at once; and one that somebody has, never. */
static void expect_free_or_had(const char *prefix)
{
    Registration rival = fixture_person(word(prefix));
    uint64_t id, holder = fixture_holder(word(prefix)), by_email = fixture_holder(email(prefix));
    Status status = accounts_register(fixture.honest, &rival, &id, NULL);
    EXPECT_STATUS(status, holder != 0 || by_email != 0 ? STATUS_REFUSED : STATUS_OK);
    if (holder != 0)
        EXPECT_I64(fixture_holder(word(prefix)), holder);
    if (by_email != 0)
        EXPECT_I64(fixture_holder(email(prefix)), by_email);
}

/* Whoever has no right to it is refused. */
static void confirm_all(void)
{
    for (uint64_t id = first; id < first + IDS_MAX && run_number % 5 == 0; id++) {
        Status status = accounts_confirm(fixture.honest, id, NULL);
        if (status != STATUS_REFUSED && status != STATUS_NOT_FOUND)
            EXPECT_STATUS(status, STATUS_OK);
    }
}

static void clean_up(void)
{
    fixture_pass_days(8);
    for (uint64_t id = first; id < first + IDS_MAX; id++) {
        Status status = accounts_expire(fixture.honest, id);
        if (status != STATUS_NOT_FOUND)
            EXPECT_STATUS(status, STATUS_OK);
    }
    fixture_check(first, first + IDS_MAX);
}

/* A repeat by a process that works. */
static void expect_repeatable(Status told, const Operation *operation)
{
    Status again = operation->run();
    if (operation->registers && again == STATUS_REFUSED)
        EXPECT(told == STATUS_OK || told == STATUS_UNKNOWN);
    else
        EXPECT_STATUS(again, STATUS_OK);
    expect_told_truth(again == STATUS_OK ? again : told, operation);
}

static bool run_with_fault(const Operation *operation, int n, FaultFate fate, int lasts)
{
    run_number++;
    operation->prepare();
    faulty_plan(&fixture.faulty, n, fate, lasts);
    Status told = operation->run();
    bool struck = faulty_struck(&fixture.faulty);
    fixture.faulty.at = 0;
    expect_told_truth(told, operation);
    bool late_first = run_number % 2 == 0; /* what was late comes before the repeat, or after all */
    if (late_first) {
        faulty_deliver(&fixture.faulty);
        expect_told_truth(told, operation);
    }
    if (run_number % 4 < 2)
        expect_repeatable(told, operation);
    fixture_check(first, first + IDS_MAX);
    faulty_deliver(&fixture.faulty);
    fixture_check(first, first + IDS_MAX);
    confirm_all();
    fixture_check(first, first + IDS_MAX);
    /* A dead process may leave a registration or a wish that only the clean-up ends. */
    if (told != STATUS_OK)
        clean_up();
    expect_free_or_had("new");
    expect_free_or_had("old");
    return struck;
}

static const int LASTS[] = {FAULT_ONCE, FAULT_OUTAGE, FAULT_FOREVER};

TEST(a_fault_at_any_call_tells_nothing_wrong_and_leaves_nothing_stuck)
{
    int runs = 0;
    fixture_begin();
    for (size_t i = 0; i < sizeof OPERATIONS / sizeof OPERATIONS[0]; i++)
        for (int fate = 0; fate < FAULT_FATES; fate++)
            for (int k = 0; k < 3; k++)
                for (int n = 1, more = 1; more; n++, runs++) {
                    more = run_with_fault(&OPERATIONS[i], n, (FaultFate)fate, LASTS[k]);
                    if (n > 60)
                        test_fail(__FILE__, __LINE__, "%s never gets through", OPERATIONS[i].name);
                }
    printf("# %d runs\n", runs);
    EXPECT(runs > 500);
    fixture_end();
}
