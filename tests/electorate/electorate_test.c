/* electorate_test.c -- who may join: the rule, invitations, the roll; with calls of the store that go wrong. */
#include "access/closing.h"
#include "access/credentials.h"
#include "accounts_fixture.h"
#include "electorate/electorate.h"
#include "electorate/roll.h"
#include "interleaving_store.h"

/* ---- Short forms ------------------------------------------------------------------------------------------------ */

static Electorate rule(void)
{
    Electorate electorate = {.version = 0};
    EXPECT_STATUS(electorate_read(fixture.honest, contract_arena(), &electorate), STATUS_OK);
    return electorate;
}

static Status set_rule(Accounts *accounts, ElectorateMode mode, const char *domains)
{
    ElectorateChange change = {.mode = mode, .seen_version = rule().version};
    Slice *list = NULL;
    EXPECT_STATUS(electorate_domains(slice_from(domains), contract_arena(), &list,
                                     &change.domain_count, NULL),
                  STATUS_OK);
    change.domains = list;
    return electorate_set(accounts, &change, NULL);
}

static Status admit(const char *email, Slice secret, const char *field)
{
    Admission admission;
    Reason reason = {.rule = ""};
    Status status = electorate_admit(fixture.accounts, slice_from(email), secret, contract_arena(),
                                     &admission, &reason);
    if (status != STATUS_OK)
        EXPECT_SLICE(slice_from(reason.field), slice_from(field));
    return status;
}

static Invitation invite(const char *email, bool is_new)
{
    Invitation invitation = {.secret = SLICE_EMPTY};
    bool made = !is_new;
    EXPECT_STATUS(invitations_make(fixture.accounts, &(NewInvitation){.email = slice_from(email)},
                                   contract_arena(), &invitation, &made, NULL),
                  STATUS_OK);
    EXPECT_I64(made, is_new);
    return invitation;
}

static Status peek(Slice secret)
{
    Invitation invitation;
    Reason reason = {.rule = ""};
    return invitations_peek(fixture.accounts, secret, contract_arena(), &invitation, &reason);
}

/* A registration as the page makes it. */
static Status join(const char *word, Slice secret, uint64_t *ret_id)
{
    Registration registration = fixture_person(word);
    Admission admission;
    Reason reason = {.rule = ""};
    TRY(electorate_admit(fixture.accounts, registration.email, secret, contract_arena(), &admission,
                         &reason));
    TRY(accounts_register(fixture.accounts, &registration, ret_id, &reason));
    return electorate_admitted(fixture.accounts, &admission, *ret_id);
}

static ListReport roll(RollEdit act, const char *lines)
{
    PeopleText text = {slice_from(lines)};
    PEOPLE_LIST_SCOPE PeopleList list = {.source = people_from_text(&text), .bytes = SLICE_EMPTY};
    ListReport report = {0};
    Reason reason = {.rule = ""};
    contract_pass_s(1); /* the newest timestamp wins */
    EXPECT_STATUS(roll_change(fixture.accounts, act, &list, contract_arena(), &report, &reason),
                  STATUS_OK);
    return report;
}

static RollEntry on_roll(const char *email, const char *name)
{
    RollEntry entry = {.listed = false};
    EXPECT_STATUS(roll_find(fixture.honest, slice_from(email), slice_from(name), contract_arena(),
                            &entry, NULL),
                  STATUS_OK);
    return entry;
}

/* ---- The rule ---------------------------------------------------------------------------------------------------- */

TEST(a_new_site_is_open)
{
    fixture_begin();
    EXPECT_I64(rule().mode, ELECTORATE_OPEN);
    EXPECT_I64(rule().version, 0);
    EXPECT_STATUS(admit("alice@example.org", SLICE_EMPTY, ""), STATUS_OK);
    EXPECT_STATUS(admit("no address", SLICE_EMPTY, "email"), STATUS_INVALID);
    fixture_end();
}

TEST(of_two_who_change_the_rule_one_is_told)
{
    fixture_begin();
    ElectorateChange change = {.mode = ELECTORATE_INVITATION};
    EXPECT_STATUS(electorate_set(fixture.accounts, &change, NULL), STATUS_OK);
    change.mode = ELECTORATE_ROLL;
    EXPECT_STATUS(electorate_set(fixture.honest, &change, NULL), STATUS_CONFLICT);
    EXPECT_I64(rule().mode, ELECTORATE_INVITATION);
    EXPECT_I64(rule().version, 1);
    change.seen_version = 1;
    EXPECT_STATUS(electorate_set(fixture.honest, &change, NULL), STATUS_OK);
    EXPECT_I64(rule().mode, ELECTORATE_ROLL);
    fixture_restart();
    EXPECT_I64(rule().version, 2);
    fixture_end();
}

TEST(a_change_of_the_rule_whose_answer_is_lost_is_never_guessed)
{
    for (int fate = 0; fate < FAULT_FATES; fate++)
        for (int at = 1;; at++) {
            fixture_begin();
            faulty_plan(&fixture.faulty, at, (FaultFate)fate, FAULT_FOREVER);
            Status status = electorate_set(
                fixture.accounts, &(ElectorateChange){.mode = ELECTORATE_INVITATION}, NULL);
            bool struck = faulty_struck(&fixture.faulty);
            bool stands = rule().mode == ELECTORATE_INVITATION;
            EXPECT(status != STATUS_OK || stands);
            EXPECT(status != STATUS_UNAVAILABLE || !stands);
            EXPECT(status != STATUS_CONFLICT);
            fixture_end();
            if (!struck)
                break;
        }
}

TEST(domains_are_folded_and_bounded)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice *domains;
    size_t count;
    Reason reason = {.rule = ""};
    EXPECT_STATUS(electorate_domains(SLICE(" @Example.ORG, example.org\n*.uni.example;a-b.de "),
                                     arena, &domains, &count, &reason),
                  STATUS_OK);
    EXPECT_I64(count, 3);
    EXPECT_SLICE(domains[0], SLICE("example.org"));
    EXPECT_SLICE(domains[1], SLICE("*.uni.example"));
    static const char *const NONE[] = {"example",      ".org",   "a..b",    "a.b.",    "a b.c*",
                                       "*example.org", "-a.org", "a_b.org", "a/b.org", "*."};
    for (size_t i = 0; i < sizeof NONE / sizeof NONE[0]; i++) {
        EXPECT_STATUS(electorate_domains(slice_from(NONE[i]), arena, &domains, &count, &reason),
                      STATUS_INVALID);
        EXPECT_SLICE(slice_from(reason.field), SLICE("domains"));
    }
    EXPECT_STATUS(electorate_domains(SLICE_EMPTY, arena, &domains, &count, &reason), STATUS_OK);
    EXPECT_I64(count, 0);
}

TEST(by_domain_only_its_own_addresses_get_in)
{
    fixture_begin();
    EXPECT_STATUS(set_rule(fixture.accounts, ELECTORATE_DOMAIN, ""), STATUS_INVALID);
    EXPECT_STATUS(set_rule(fixture.accounts, ELECTORATE_DOMAIN, "example.org *.uni.example"),
                  STATUS_OK);
    EXPECT_STATUS(admit("Alice@Example.Org", SLICE_EMPTY, ""), STATUS_OK);
    EXPECT_STATUS(admit("a@b.uni.example", SLICE_EMPTY, ""), STATUS_OK);
    static const char *const OTHERS[] = {"a@example.com",     "a@notexample.org",
                                         "a@sub.example.org", "a@uni.example",
                                         "a@xuni.example",    "a@example.org.evil.example"};
    for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; i++)
        EXPECT_STATUS(admit(OTHERS[i], SLICE_EMPTY, "email"), STATUS_REFUSED);
    fixture_end();
}

TEST(a_change_of_the_rule_touches_nobody_who_is_there)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice"), bob = fixture_pending("bob");
    EXPECT_STATUS(set_rule(fixture.accounts, ELECTORATE_ROLL, ""), STATUS_OK);
    EXPECT_I64(fixture_state(alice), ACCOUNT_CONFIRMED);
    EXPECT_STATUS(accounts_confirm(fixture.accounts, bob, NULL), STATUS_OK);
    Account account;
    EXPECT_STATUS(credentials_check_password(fixture.accounts, SLICE("alice"),
                                             fixture_person("alice").password, contract_arena(),
                                             &account),
                  STATUS_OK);
    fixture_end();
}

/* ---- Invitations -------------------------------------------------------------------------------------------------- */

TEST(an_invitation_admits_its_own_address_once)
{
    fixture_begin();
    uint64_t id = 0;
    EXPECT_STATUS(set_rule(fixture.accounts, ELECTORATE_INVITATION, ""), STATUS_OK);
    EXPECT_STATUS(admit("alice@example.org", SLICE_EMPTY, "invitation"), STATUS_REFUSED);
    Invitation invitation = invite(" Alice@example.org ", true);
    for (int i = 0; i < 3; i++) /* a scanner opens it */
        EXPECT_STATUS(peek(invitation.secret), STATUS_OK);
    EXPECT_STATUS(admit("bob@example.org", invitation.secret, "email"), STATUS_REFUSED);
    EXPECT_STATUS(join("alice", invitation.secret, &id), STATUS_OK);
    EXPECT_STATUS(peek(invitation.secret), STATUS_REFUSED);
    EXPECT_STATUS(admit("alice@example.org", invitation.secret, "invitation"), STATUS_REFUSED);
    InvitationPage page;
    EXPECT_STATUS(invitations_list(fixture.honest, SLICE_EMPTY, contract_arena(), &page),
                  STATUS_OK);
    EXPECT_I64(page.count, 1);
    EXPECT_I64(page.invitations[0].account, id);
    EXPECT_I64(page.invitations[0].state, INVITATION_USED);
    EXPECT_SLICE(page.invitations[0].email, SLICE("Alice@example.org"));
    EXPECT_I64(page.invitations[0].secret.size, 0);
    fixture_end();
}

TEST(who_is_invited_gets_in_under_every_rule)
{
    fixture_begin();
    Slice secret = invite("alice@example.org", true).secret;
    for (int mode = 0; mode < ELECTORATE_MODES; mode++) {
        EXPECT_STATUS(set_rule(fixture.accounts, (ElectorateMode)mode, "example.com"), STATUS_OK);
        EXPECT_STATUS(admit("alice@example.org", secret, ""), STATUS_OK);
    }
    fixture_end();
}

TEST(inviting_again_gives_the_same_link_until_it_is_over)
{
    fixture_begin();
    Slice first = invite("alice@example.org", true).secret;
    fixture_pass_days(10);
    EXPECT_SLICE(invite("ALICE@example.org", false).secret, first);
    fixture_pass_days(INVITATION_DAYS);
    EXPECT_STATUS(peek(first), STATUS_REFUSED);
    Slice second = invite("alice@example.org", true).secret;
    EXPECT(!slice_equal(first, second));
    EXPECT_STATUS(peek(first), STATUS_NOT_FOUND);
    EXPECT_STATUS(peek(second), STATUS_OK);
    EXPECT_STATUS(invitations_withdraw(fixture.accounts, SLICE("alice@example.org"), NULL),
                  STATUS_OK);
    EXPECT_STATUS(invitations_withdraw(fixture.accounts, SLICE("alice@example.org"), NULL),
                  STATUS_OK);
    EXPECT_STATUS(peek(second), STATUS_REFUSED);
    EXPECT_STATUS(peek(invite("alice@example.org", true).secret), STATUS_OK);
    EXPECT_STATUS(invitations_withdraw(fixture.accounts, SLICE("bob@example.org"), NULL),
                  STATUS_NOT_FOUND);
    InvitationPage page; /* older places in the list are passed over */
    EXPECT_STATUS(invitations_list(fixture.honest, SLICE_EMPTY, contract_arena(), &page),
                  STATUS_OK);
    EXPECT_I64(page.count, 1);
    fixture_end();
}

TEST(an_invitation_whose_registration_lapsed_is_open_again)
{
    fixture_begin();
    uint64_t first = 0, second = 0;
    EXPECT_STATUS(set_rule(fixture.accounts, ELECTORATE_INVITATION, ""), STATUS_OK);
    Slice secret = invite("alice@example.org", true).secret;
    EXPECT_STATUS(join("alice", secret, &first), STATUS_OK);
    fixture_pass_days(8);
    EXPECT_STATUS(accounts_expire(fixture.accounts, first), STATUS_OK);
    EXPECT_STATUS(join("alice", secret, &second), STATUS_OK);
    EXPECT_STATUS(accounts_confirm(fixture.accounts, second, NULL), STATUS_OK);
    EXPECT_STATUS(peek(secret), STATUS_REFUSED);
    EXPECT_STATUS(access_close_account(fixture.accounts, second, NULL), STATUS_OK);
    EXPECT_STATUS(peek(secret), STATUS_REFUSED); /* once is once */
    fixture_end();
}

TEST(who_has_an_account_is_not_invited)
{
    fixture_begin();
    Invitation invitation;
    bool is_new;
    Reason reason = {.rule = ""};
    (void)fixture_confirmed("alice");
    EXPECT_STATUS(invitations_make(fixture.accounts,
                                   &(NewInvitation){.email = SLICE("alice@example.org")},
                                   contract_arena(), &invitation, &is_new, &reason),
                  STATUS_REFUSED);
    EXPECT_SLICE(slice_from(reason.field), SLICE("email"));
    NewInvitation wrong[] = {{.email = SLICE("nobody")},
                             {.email = SLICE("bob@example.org"), .days = INVITATION_DAYS_MAX + 1},
                             {.email = SLICE("bob@example.org"), .days = -1}};
    for (int i = 0; i < 3; i++)
        EXPECT_STATUS(invitations_make(fixture.accounts, &wrong[i], contract_arena(), &invitation,
                                       &is_new, &reason),
                      STATUS_INVALID);
    fixture_end();
}

TEST(secrets_of_others_open_nothing)
{
    fixture_begin();
    Slice secret = invite("alice@example.org", true).secret;
    Slice other = invite("bob@example.org", true).secret;
    char mixed[64];
    EXPECT_I64(secret.size, 43);
    memcpy(mixed, secret.data, 20); /* the row of one, the proof of the other */
    memcpy(mixed + 20, other.data + 20, 23);
    EXPECT_STATUS(peek(slice_of(mixed, 43)), STATUS_NOT_FOUND);
    EXPECT_STATUS(peek(SLICE("")), STATUS_NOT_FOUND);
    EXPECT_STATUS(peek(slice_of(secret.data, 42)), STATUS_NOT_FOUND);
    fixture_end();
}

TEST(an_invitation_cut_off_anywhere_is_made_by_inviting_again)
{
    for (int fate = 0; fate < FAULT_FATES; fate++)
        for (int at = 1;; at++) {
            Invitation invitation = {.secret = SLICE_EMPTY};
            NewInvitation want = {.email = SLICE("alice@example.org")};
            bool is_new;
            fixture_begin();
            faulty_plan(&fixture.faulty, at, (FaultFate)fate, FAULT_FOREVER);
            Status status = invitations_make(fixture.accounts, &want, contract_arena(), &invitation,
                                             &is_new, NULL);
            bool struck = faulty_struck(&fixture.faulty);
            EXPECT(status == STATUS_OK || status == STATUS_UNAVAILABLE || status == STATUS_UNKNOWN);
            Slice secret = invitation.secret;
            fixture_restart();
            EXPECT_STATUS(invitations_make(fixture.accounts, &want, contract_arena(), &invitation,
                                           &is_new, NULL),
                          STATUS_OK);
            EXPECT(status != STATUS_OK || slice_equal(secret, invitation.secret));
            EXPECT_STATUS(peek(invitation.secret), STATUS_OK);
            fixture_end();
            if (!struck)
                break;
        }
}

/* ---- The roll ------------------------------------------------------------------------------------------------------ */

TEST(only_who_is_on_the_roll_gets_in)
{
    fixture_begin();
    ListReport report =
        roll(ROLL_ADD, "E-Mail;Name\nAlice@Example.org;\"Alice; A.\"\nbob@example.org\n");
    EXPECT_I64(report.good, 2);
    EXPECT_I64(report.faults, 0);
    EXPECT_STATUS(set_rule(fixture.accounts, ELECTORATE_ROLL, ""), STATUS_OK);
    EXPECT_STATUS(admit("alice@example.org", SLICE_EMPTY, ""), STATUS_OK);
    EXPECT_STATUS(admit("carol@example.org", SLICE_EMPTY, "roll"), STATUS_REFUSED);
    EXPECT(on_roll("ALICE@example.org", " alice; a. ").name_fits);
    EXPECT(!on_roll("alice@example.org", "Bob").name_fits);
    EXPECT(!on_roll("bob@example.org", "").has_name);
    fixture_end();
}

TEST(a_broken_line_names_its_number_and_reason_and_the_others_go_in)
{
    fixture_begin();
    ListReport report =
        roll(ROLL_ADD, "alice@example.org\n\nnobody\n\"x\nbob@example.org,Bob\n,Name\n");
    EXPECT_I64(report.lines, 5);
    EXPECT_I64(report.good, 2);
    EXPECT_I64(report.faults, 3);
    EXPECT_I64(report.told[0].line, 3);
    EXPECT_I64(report.told[1].line, 4);
    EXPECT_I64(report.told[2].line, 6);
    EXPECT_SLICE(report.told[2].rule, SLICE("there is no e-mail address"));
    for (size_t i = 0; i < report.told_count; i++)
        EXPECT(report.told[i].rule.size > 0);
    EXPECT(on_roll("bob@example.org", "").listed);
    fixture_end();
}

TEST(importing_again_changes_nothing_and_people_can_be_taken_off)
{
    fixture_begin();
    uint64_t count = 0;
    for (int i = 0; i < 2; i++)
        EXPECT_I64(roll(ROLL_ADD, "a@example.org\nb@example.org\na@example.org\n").good, 3);
    EXPECT_STATUS(roll_count(fixture.honest, UINT64_MAX, &count), STATUS_OK);
    EXPECT_I64(count, 2);
    EXPECT_STATUS(roll_count(fixture.honest, 1, &count), STATUS_OK);
    EXPECT_I64(count, 1);
    (void)roll(ROLL_REMOVE, "A@example.org\n");
    EXPECT(!on_roll("a@example.org", "").listed);
    EXPECT(on_roll("b@example.org", "").listed);
    (void)roll(ROLL_ADD, "a@example.org\n");
    EXPECT(on_roll("a@example.org", "").listed);
    contract_pass_s(1);
    EXPECT_STATUS(roll_clear(fixture.accounts, &count), STATUS_OK);
    EXPECT_I64(count, 2);
    EXPECT(!on_roll("b@example.org", "").listed);
    fixture_end();
}

/* More than a chunk, so that what was cut off is a part of it. */
static PeopleText many_people(int count)
{
    BUFFER_SCOPE Buffer text = {0};
    for (int i = 0; i < count; i++)
        buffer_print(&text, "p%d@example.org,Person %d\n", i, i);
    return (PeopleText){arena_copy(contract_arena(), buffer_slice(&text))};
}

TEST(an_import_that_was_cut_off_is_mended_by_importing_again)
{
    enum { PEOPLE = 2 * ROLL_CHUNK + 10 };
    for (int at = 1; at <= 3; at++) {
        fixture_begin();
        PeopleText text = many_people(PEOPLE), again = text;
        PEOPLE_LIST_SCOPE PeopleList list = {.source = people_from_text(&text),
                                             .bytes = SLICE_EMPTY};
        PEOPLE_LIST_SCOPE PeopleList second = {.source = people_from_text(&again),
                                               .bytes = SLICE_EMPTY};
        ListReport report = {0};
        Reason reason = {.rule = ""};
        uint64_t count = 0;
        faulty_plan(&fixture.faulty, at, FAULT_DONE, FAULT_FOREVER);
        Status status =
            roll_change(fixture.accounts, ROLL_ADD, &list, contract_arena(), &report, &reason);
        EXPECT(status == STATUS_UNKNOWN || status == STATUS_UNAVAILABLE);
        EXPECT(report.good < PEOPLE && reason.rule[0] != '\0');
        report = (ListReport){0};
        EXPECT_STATUS(
            roll_change(fixture.honest, ROLL_ADD, &second, contract_arena(), &report, &reason),
            STATUS_OK);
        EXPECT_I64(report.good, PEOPLE);
        EXPECT_STATUS(roll_count(fixture.honest, UINT64_MAX, &count), STATUS_OK);
        EXPECT_I64(count, PEOPLE);
        fixture_end();
    }
}

/* ---- One entry, one account ----------------------------------------------------------------------------------------- */

/* As the pages do it: the letter to the old address goes out, the new one is confirmed. */
static Status move_by(Accounts *accounts, uint64_t id, Slice email, Slice *ret_back)
{
    LinkMail mail, back;
    Reason reason = {.rule = ""};
    TRY(electorate_admit_change(accounts, email, &reason));
    TRY(credentials_begin_email(accounts, id, email, contract_arena(), &mail, &reason));
    TRY(credentials_begin_back(accounts, mail.secret, contract_arena(), &back, &reason));
    *ret_back = back.secret;
    EmailMove move = {.secret = mail.secret, .back = back.secret};
    return credentials_finish_email(accounts, &move, &reason);
}

static Status move(uint64_t id, const char *email)
{
    Slice back;
    return move_by(fixture.accounts, id, slice_from(email), &back);
}

/* Somebody registers with the address, and presses the button behind the link. */
static Status join_with(Accounts *accounts, const char *name, const char *email, uint64_t *ret_id)
{
    Registration person = fixture_person(name);
    Admission admission;
    Reason reason = {.rule = ""};
    person.email = slice_from(email);
    TRY(electorate_admit(accounts, person.email, SLICE_EMPTY, contract_arena(), &admission,
                         &reason));
    TRY(accounts_register(accounts, &person, ret_id, &reason));
    return accounts_confirm(accounts, *ret_id, &reason);
}

/* The wish that keeps the old address is over. */
static void pass_back_days(uint64_t id)
{
    fixture_pass_days(ACCOUNT_EMAIL_BACK_DAYS + 1);
    EXPECT_STATUS(accounts_expire(fixture.honest, id), STATUS_OK);
}

TEST(an_address_on_the_roll_stands_for_one_account_for_ever)
{
    static const ElectorateMode MODES[] = {ELECTORATE_ROLL, ELECTORATE_DOMAIN};
    for (int i = 0; i < 2; i++) {
        fixture_begin();
        uint64_t one = 0, two = 0, three = 0;
        (void)roll(ROLL_ADD, "one@example.org\ntwo@example.org\n");
        EXPECT_STATUS(set_rule(fixture.accounts, MODES[i], "example.org"), STATUS_OK);
        EXPECT_STATUS(join_with(fixture.accounts, "anna", "one@example.org", &one), STATUS_OK);
        EXPECT_STATUS(move(one, "any@where.example"), STATUS_REFUSED); /* not admitted */
        EXPECT_STATUS(move(one, "two@example.org"), STATUS_OK);
        pass_back_days(one);
        /* The one that she left admits nobody, and neither does the one that she has. */
        EXPECT_STATUS(join_with(fixture.accounts, "bert", "one@example.org", &two), STATUS_REFUSED);
        EXPECT_STATUS(join_with(fixture.accounts, "bert", "two@example.org", &two), STATUS_REFUSED);
        fixture_restart();
        EXPECT_STATUS(join_with(fixture.accounts, "bert", "ONE@example.org", &two), STATUS_REFUSED);
        /* Both are hers: she can go back and forth. */
        EXPECT_STATUS(move(one, "one@example.org"), STATUS_OK);
        pass_back_days(one);
        EXPECT_STATUS(join_with(fixture.accounts, "bert", "two@example.org", &two), STATUS_REFUSED);
        /* Nobody else takes them by a change either. */
        (void)roll(ROLL_ADD, "three@example.org\n");
        EXPECT_STATUS(join_with(fixture.accounts, "carl", "three@example.org", &three), STATUS_OK);
        EXPECT_STATUS(move(three, "two@example.org"), STATUS_REFUSED);
        EXPECT_I64(fixture_holder("three@example.org"), three);
        EXPECT_STATUS(move(one, "three@example.org"), STATUS_REFUSED);
        fixture_end();
    }
}

TEST(who_left_returns_after_the_days_that_are_set)
{
    fixture_begin();
    uint64_t one = 0, two = 0;
    (void)roll(ROLL_ADD, "one@example.org\n");
    EXPECT_STATUS(set_rule(fixture.accounts, ELECTORATE_ROLL, ""), STATUS_OK);
    EXPECT_STATUS(join_with(fixture.accounts, "anna", "one@example.org", &one), STATUS_OK);
    EXPECT_STATUS(access_close_account(fixture.accounts, one, NULL), STATUS_OK);
    EXPECT_STATUS(access_close_account(fixture.accounts, one, NULL), STATUS_OK);
    EXPECT_STATUS(join_with(fixture.accounts, "anna", "one@example.org", &two), STATUS_REFUSED);
    fixture_pass_days(FIXTURE_RETURN_DAYS - 1);
    EXPECT_STATUS(join_with(fixture.accounts, "anna", "one@example.org", &two), STATUS_REFUSED);
    fixture_pass_days(2);
    EXPECT_STATUS(join_with(fixture.accounts, "anna", "one@example.org", &two), STATUS_OK);
    fixture_end();
}

TEST(where_everybody_may_join_an_address_that_was_left_is_anybodys)
{
    fixture_begin();
    uint64_t one = 0, two = 0;
    EXPECT_STATUS(join_with(fixture.accounts, "anna", "one@example.org", &one), STATUS_OK);
    EXPECT_STATUS(move(one, "any@where.example"), STATUS_OK);
    pass_back_days(one);
    EXPECT_STATUS(join_with(fixture.accounts, "bert", "one@example.org", &two), STATUS_OK);
    EXPECT_STATUS(access_close_account(fixture.accounts, two, NULL), STATUS_OK);
    EXPECT_STATUS(join_with(fixture.accounts, "carl", "one@example.org", &two), STATUS_OK);
    fixture_end();
}

/* ---- … under races and crashes -------------------------------------------------------------------------------------- */

/* Many runs on one store; each has people and addresses of its own. */
static InterleavingStore interleaved;
static Accounts *hooked;
static int run_number;
static uint64_t first_account, rival;
static Slice way_back;

static const char *named(const char *word)
{
    return arena_text(contract_arena(), arena_print(contract_arena(), "%s%d", word, run_number));
}

static const char *address(const char *word)
{
    return arena_text(contract_arena(),
                      arena_print(contract_arena(), "%s%d@example.org", word, run_number));
}

static Status leave_by_moving(Accounts *accounts)
{
    return move_by(accounts, first_account, slice_from(address("two")), &way_back);
}

static Status leave_by_closing(Accounts *accounts)
{
    return access_close_account(accounts, first_account, NULL);
}

static Status rival_joins(Accounts *accounts)
{
    return join_with(accounts, named("rival"), address("one"), &rival);
}

static Status (*const STEPS[])(Accounts *accounts) = {leave_by_moving, leave_by_closing,
                                                      rival_joins};
enum { MOVING, CLOSING, JOINING, STEP_COUNT };
static int other_step;

static void meanwhile(void)
{
    (void)!STEPS[other_step](fixture.honest);
}

static void begin_runs(void)
{
    fixture_begin();
    run_number = 0;
    EXPECT_STATUS(set_rule(fixture.honest, ELECTORATE_ROLL, ""), STATUS_OK);
    interleaving_store_init(&interleaved, fixture.store);
    AccountsOptions options = fixture_options(&interleaved.store);
    hooked = accounts_new(&options);
}

static void end_runs(void)
{
    accounts_free(hooked);
    hooked = NULL;
    fixture_end();
}

static void set_the_scene(void)
{
    run_number++;
    rival = 0;
    Slice lines = arena_print(contract_arena(), "%s\n%s\n", address("one"), address("two"));
    (void)roll(ROLL_ADD, arena_text(contract_arena(), lines));
    EXPECT_STATUS(join_with(fixture.honest, named("anna"), address("one"), &first_account),
                  STATUS_OK);
}

/* Afterwards everybody who still can joins. Two entries never make more than two voters, of whom one may have left; and no entry is lost: each stands
 * for somebody, or lets somebody in. */
static void expect_no_second_voter(bool may_move)
{
    uint64_t late[2] = {0, 0}, voters = 0;
    fixture_pass_days(ACCOUNT_EMAIL_BACK_DAYS + 1);
    for (uint64_t id = first_account; id < first_account + 4; id++)
        (void)!accounts_expire(fixture.honest, id);
    (void)!join_with(fixture.honest, named("late"), address("one"), &late[0]);
    (void)!join_with(fixture.honest, named("later"), address("two"), &late[1]);
    for (uint64_t id = first_account; id < first_account + 8; id++) {
        Account account;
        if (accounts_read(fixture.honest, id, contract_arena(), &account) == STATUS_OK)
            voters += account.state == ACCOUNT_CONFIRMED || account.state == ACCOUNT_CLOSED;
    }
    /* Anna alone has both only when she moved, perhaps before she left for good. */
    bool has_both = fixture_holder(address("two")) == first_account ||
                    (may_move && fixture_state(first_account) == ACCOUNT_CLOSED);
    if (voters > 2 || (voters < 2 && !has_both))
        test_fail(__FILE__, __LINE__, "run %d: %llu voters", run_number,
                  (unsigned long long)voters);
}

TEST(wherever_leaving_and_joining_meet_an_entry_makes_one_voter)
{
    begin_runs();
    for (int one = 0; one < STEP_COUNT; one++)
        for (int two = 0; two < STEP_COUNT; two++)
            for (int n = 1; one != two || one != JOINING; n++) {
                set_the_scene();
                other_step = two;
                interleaving_store_plan(&interleaved, n, meanwhile);
                (void)!STEPS[one](hooked);
                bool struck = interleaving_store_struck(&interleaved);
                interleaving_store_plan(&interleaved, 0, NULL);
                expect_no_second_voter(one == MOVING || two == MOVING);
                if (!struck)
                    break;
            }
    end_runs();
}

/* The process dies at a call, or an answer is lost there and what was asked comes late; then everybody tries again. */
TEST(an_entry_survives_a_crash_at_every_call)
{
    begin_runs();
    for (int step = 0; step < STEP_COUNT; step++)
        for (int fate = 0; fate < FAULT_FATES; fate++)
            for (int at = 1;; at++) {
                set_the_scene();
                faulty_plan(&fixture.faulty, at, (FaultFate)fate, FAULT_FOREVER);
                (void)!STEPS[step](fixture.accounts);
                bool struck = faulty_struck(&fixture.faulty);
                faulty_plan(&fixture.faulty, 0, FAULT_REFUSED, FAULT_ONCE);
                (void)!rival_joins(fixture.honest);
                faulty_deliver(&fixture.faulty);
                expect_no_second_voter(step == MOVING);
                if (!struck)
                    break;
            }
    end_runs();
}

/* Cut off before it was looked whether the address stands for somebody: "send it again" makes no voter of it. */
TEST(a_registration_that_was_cut_off_is_not_confirmed_with_somebodys_entry)
{
    begin_runs();
    for (int at = 1;; at++) {
        set_the_scene();
        EXPECT_STATUS(leave_by_moving(fixture.honest), STATUS_OK);
        pass_back_days(first_account);
        faulty_plan(&fixture.faulty, at, FAULT_REFUSED, FAULT_FOREVER);
        EXPECT(rival_joins(fixture.accounts) != STATUS_OK);
        bool struck = faulty_struck(&fixture.faulty);
        faulty_plan(&fixture.faulty, 0, FAULT_REFUSED, FAULT_ONCE);
        for (uint64_t id = first_account + 1; id < first_account + 3; id++)
            EXPECT(accounts_confirm(fixture.honest, id, NULL) != STATUS_OK);
        if (!struck)
            break;
    }
    end_runs();
}
