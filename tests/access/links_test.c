/* links_test.c -- one-time links, and what they let people do. */
#include "access/closing.h"
#include "access/credentials.h"
#include "access/linked_logins.h"
#include "access/second_factor.h"
#include "access/tokens.h"
#include "accounts_fixture.h"

static const SessionOrigin HOME = {{"192.0.2.1", 9}, {"Browser", 7}, true, false};

static LinkMail reset_mail(const char *who)
{
    LinkMail mail = {.account = 0};
    EXPECT_STATUS(
        credentials_begin_reset(fixture.accounts, slice_from(who), contract_arena(), &mail),
        STATUS_OK);
    return mail;
}

static LinkMail email_mail(uint64_t id, const char *email)
{
    LinkMail mail = {.account = 0};
    Reason reason = {.rule = ""};
    EXPECT_STATUS(credentials_begin_email(fixture.accounts, id, slice_from(email), contract_arena(),
                                          &mail, &reason),
                  STATUS_OK);
    return mail;
}

static Status peek(LinkKind kind, Slice secret)
{
    Link link;
    Reason reason = {.rule = ""};
    Status status = links_peek(fixture.accounts, kind, secret, contract_arena(), &link, &reason);
    EXPECT(status == STATUS_OK || reason.rule[0] != '\0');
    return status;
}

/* Without a way back. */
static Status finish_email(Slice secret, const Session *keep, Reason *reason)
{
    return credentials_finish_email(fixture.accounts, &(EmailMove){.secret = secret, .keep = keep},
                                    reason);
}

static Status log_in(const char *who, const char *password)
{
    Account account;
    return credentials_check_password(fixture.honest, slice_from(who), slice_from(password),
                                      contract_arena(), &account);
}

/* ---- Confirming ------------------------------------------------------------------------------------------------ */

TEST(a_registration_is_confirmed_by_its_link_once)
{
    fixture_begin();
    uint64_t alice = fixture_pending("alice"), id = 0;
    LinkMail mail;
    Reason reason = {.rule = ""};
    EXPECT_STATUS(credentials_begin_confirm(fixture.accounts, alice, contract_arena(), &mail),
                  STATUS_OK);
    EXPECT_SLICE(mail.email, SLICE("alice@example.org"));
    for (int i = 0; i < 3; i++) /* a scanner opens it */
        EXPECT_STATUS(peek(LINK_CONFIRM, mail.secret), STATUS_OK);
    EXPECT_I64(fixture_state(alice), ACCOUNT_PENDING);
    EXPECT_STATUS(credentials_finish_confirm(fixture.accounts, mail.secret, &id, &reason),
                  STATUS_OK);
    EXPECT_I64(id, alice);
    EXPECT_I64(fixture_state(alice), ACCOUNT_CONFIRMED);
    EXPECT_STATUS(peek(LINK_CONFIRM, mail.secret), STATUS_REFUSED);
    EXPECT_STATUS(credentials_finish_confirm(fixture.accounts, mail.secret, &id, &reason),
                  STATUS_REFUSED);
    EXPECT(strstr(reason.rule, "used") != NULL);
    EXPECT_STATUS(credentials_begin_confirm(fixture.accounts, alice, contract_arena(), &mail),
                  STATUS_REFUSED);
    fixture_end();
}

TEST(a_link_opens_only_what_it_is_for)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice");
    Slice reset = reset_mail("alice").secret, email = email_mail(alice, "new@example.org").secret;
    const Slice secrets[] = {[LINK_CONFIRM] = SLICE("x"),
                             [LINK_RESET] = reset,
                             [LINK_EMAIL] = email,
                             [LINK_ADMIN] = contract_filler(43, 'A'),
                             [LINK_BACK] = contract_filler(43, 'B')};
    for (int kind = 0; kind < LINK_KIND_COUNT; kind++)
        for (int other = 0; other < LINK_KIND_COUNT; other++)
            EXPECT_STATUS(peek((LinkKind)kind, secrets[other]),
                          kind == other && (kind == LINK_RESET || kind == LINK_EMAIL)
                              ? STATUS_OK
                              : STATUS_NOT_FOUND);
    fixture_end();
}

TEST(a_newer_link_and_time_end_a_link)
{
    fixture_begin();
    uint64_t alice = fixture_pending("alice"), id;
    LinkMail old, new;
    EXPECT_STATUS(credentials_begin_confirm(fixture.accounts, alice, contract_arena(), &old),
                  STATUS_OK);
    EXPECT_STATUS(credentials_begin_confirm(fixture.accounts, alice, contract_arena(), &new),
                  STATUS_OK);
    EXPECT_STATUS(peek(LINK_CONFIRM, old.secret), STATUS_NOT_FOUND);
    EXPECT_STATUS(credentials_finish_confirm(fixture.accounts, old.secret, &id, NULL),
                  STATUS_NOT_FOUND);
    fixture_pass_days(7);
    EXPECT_STATUS(peek(LINK_CONFIRM, new.secret), STATUS_REFUSED);
    EXPECT_STATUS(credentials_finish_confirm(fixture.accounts, new.secret, &id, NULL),
                  STATUS_REFUSED);
    EXPECT_I64(fixture_state(alice), ACCOUNT_PENDING);
    fixture_end();
}

/* ---- Passwords ------------------------------------------------------------------------------------------------- */

TEST(a_forgotten_password_is_replaced_by_a_link)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice");
    Account account = fixture_read(alice);
    Session session;
    Reason reason = {.rule = ""};
    LinkMail none = {.account = 77};
    EXPECT_STATUS(sessions_begin(fixture.accounts, &account, &HOME, contract_arena(), &session),
                  STATUS_OK);
    Slice secret = reset_mail("ALICE@example.org").secret;
    EXPECT_STATUS(credentials_finish_reset(fixture.accounts, secret, SLICE("short"), &reason),
                  STATUS_INVALID);
    EXPECT_STATUS(
        credentials_finish_reset(fixture.accounts, secret, SLICE("battery staple"), &reason),
        STATUS_OK);
    EXPECT_STATUS(log_in("alice", "battery staple"), STATUS_OK);
    EXPECT_STATUS(log_in("alice", "correct horse"), STATUS_LOGIN);
    EXPECT_STATUS(
        sessions_find(fixture.accounts, session.secret, contract_arena(), &session, &account),
        STATUS_LOGIN);
    EXPECT_STATUS(credentials_finish_reset(fixture.accounts, secret, SLICE("once again!"), &reason),
                  STATUS_REFUSED);
    EXPECT_STATUS(
        credentials_begin_reset(fixture.accounts, SLICE("nobody"), contract_arena(), &none),
        STATUS_NOT_FOUND);
    EXPECT_I64(none.account, 77);
    fixture_end();
}

TEST(a_new_password_ends_links_for_a_forgotten_one_and_for_an_email)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice");
    Slice reset = reset_mail("alice").secret, email = email_mail(alice, "new@example.org").secret;
    EXPECT_STATUS(credentials_set_password(fixture.accounts, alice, SLICE("battery staple"), NULL),
                  STATUS_OK);
    EXPECT_STATUS(peek(LINK_RESET, reset), STATUS_REFUSED);
    EXPECT_STATUS(peek(LINK_EMAIL, email), STATUS_REFUSED);
    EXPECT_STATUS(credentials_finish_reset(fixture.accounts, reset, SLICE("a third one"), NULL),
                  STATUS_REFUSED);
    EXPECT_STATUS(finish_email(email, NULL, NULL), STATUS_REFUSED);
    EXPECT_STATUS(log_in("alice", "battery staple"), STATUS_OK);
    fixture_end();
}

/* ---- E-mail ---------------------------------------------------------------------------------------------------- */

TEST(another_email_counts_when_its_link_is_used)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice"), bob = fixture_confirmed("bob");
    Account account = fixture_read(alice);
    Session home, cafe, found;
    Reason reason = {.rule = ""};
    LinkMail mail;
    EXPECT_STATUS(sessions_begin(fixture.accounts, &account, &HOME, contract_arena(), &home),
                  STATUS_OK);
    EXPECT_STATUS(sessions_begin(fixture.accounts, &account, &HOME, contract_arena(), &cafe),
                  STATUS_OK);
    EXPECT_STATUS(credentials_begin_email(fixture.accounts, alice, SLICE("ALICE@example.org"),
                                          contract_arena(), &mail, &reason),
                  STATUS_REFUSED);
    EXPECT_STATUS(credentials_begin_email(fixture.accounts, alice, SLICE("nowhere"),
                                          contract_arena(), &mail, &reason),
                  STATUS_INVALID);
    mail = email_mail(alice, " New@example.org ");
    EXPECT_SLICE(mail.email, SLICE("New@example.org"));
    EXPECT_I64(fixture_holder("new@example.org"), 0);
    EXPECT_STATUS(finish_email(mail.secret, &home, &reason), STATUS_OK);
    EXPECT_I64(fixture_holder("new@example.org"), alice);
    EXPECT_I64(fixture_holder("alice@example.org"), 0);
    EXPECT_STATUS(sessions_find(fixture.accounts, home.secret, contract_arena(), &found, &account),
                  STATUS_OK);
    EXPECT_STATUS(sessions_find(fixture.accounts, cafe.secret, contract_arena(), &found, &account),
                  STATUS_LOGIN);
    EXPECT_STATUS(finish_email(mail.secret, &home, &reason), STATUS_REFUSED);
    fixture_pass_days(ACCOUNT_EMAIL_BACK_DAYS); /* until then it stays */
    /* Taken: told at the end, and the link is still good when it is free again. */
    mail = email_mail(alice, "bob@example.org");
    EXPECT_STATUS(finish_email(mail.secret, NULL, &reason), STATUS_REFUSED);
    EXPECT_SLICE(slice_from(reason.field), SLICE("email"));
    EXPECT_STATUS(access_close_account(fixture.accounts, bob, NULL), STATUS_OK);
    EXPECT_STATUS(finish_email(mail.secret, NULL, &reason), STATUS_OK);
    EXPECT_I64(fixture_holder("bob@example.org"), alice);
    fixture_end();
}

/* ---- The way back ---------------------------------------------------------------------------------------------- */

/* Somebody moves the account to another address; the secret of the way back. */
static Slice move_away(uint64_t id, const char *email)
{
    Slice secret = email_mail(id, email).secret;
    LinkMail back = {.account = 0};
    Reason reason = {.rule = ""};
    EXPECT_STATUS(
        credentials_begin_back(fixture.accounts, secret, contract_arena(), &back, &reason),
        STATUS_OK);
    EXPECT_STATUS(credentials_finish_back(fixture.accounts, back.secret, &reason),
                  STATUS_NOT_FOUND); /* nothing has been changed yet */
    EmailMove move = {.secret = secret, .back = back.secret};
    EXPECT_STATUS(credentials_finish_email(fixture.accounts, &move, &reason), STATUS_OK);
    EXPECT_SLICE(back.email, SLICE("alice@example.org"));
    return back.secret;
}

TEST(a_change_of_the_email_is_taken_back_once)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice");
    Slice back = move_away(alice, "thief@example.org");
    Account account = fixture_read(alice);
    Session session;
    NewToken wanted = {.name = SLICE("token"), .scope = TOKEN_WRITE};
    Token token;
    EXPECT_I64(fixture_holder("thief@example.org"), alice);
    EXPECT_STATUS(sessions_begin(fixture.accounts, &account, &HOME, contract_arena(), &session),
                  STATUS_OK);
    EXPECT_STATUS(tokens_make(fixture.accounts, alice, &wanted, contract_arena(), &token, NULL),
                  STATUS_OK);
    for (int i = 0; i < 3; i++) /* a scanner opens it */
        EXPECT_STATUS(peek(LINK_BACK, back), STATUS_OK);
    EXPECT_STATUS(credentials_finish_back(fixture.accounts, back, NULL), STATUS_OK);
    EXPECT_I64(fixture_holder("alice@example.org"), alice);
    EXPECT_I64(fixture_holder("thief@example.org"), 0);
    EXPECT_STATUS(
        sessions_find(fixture.accounts, session.secret, contract_arena(), &session, &account),
        STATUS_LOGIN);
    EXPECT_STATUS(tokens_find(fixture.accounts, token.secret, contract_arena(), &token, &account),
                  STATUS_LOGIN);
    EXPECT_STATUS(credentials_finish_back(fixture.accounts, back, NULL), STATUS_REFUSED);
    (void)fixture_confirmed("thief");          /* whose address is free again */
    (void)move_away(alice, "new@example.org"); /* and the account may be moved again */
    fixture_end();
}

static Status link_to(uint64_t id, const char *subject)
{
    NewLinkedLogin one = {SLICE("elsewhere"), slice_from(subject), SLICE("who")};
    return linked_login_add(fixture.accounts, id, &one, NULL);
}

static Status turn_second_on(uint64_t id)
{
    SecondFactor factor;
    RecoveryCodes codes;
    char code[TOTP_DIGITS + 1];
    EXPECT_STATUS(second_factor_offer(fixture.accounts, id, contract_arena(), &factor, NULL),
                  STATUS_OK);
    totp_code(factor.secret, totp_step(contract_now_us()), code);
    SecondFactorChange change = {.account = id, .code = slice_from(code)};
    return second_factor_confirm(fixture.accounts, &change, contract_arena(), &codes, NULL);
}

static bool has_second(uint64_t id)
{
    SecondFactor factor;
    EXPECT_STATUS(second_factor_read(fixture.accounts, id, contract_arena(), &factor), STATUS_OK);
    EXPECT(factor.is_on == fixture_read(id).second);
    return factor.is_on || factor.is_offered;
}

static Status find_linked(const char *subject)
{
    Account account;
    return linked_login_find(fixture.accounts, SLICE("elsewhere"), slice_from(subject),
                             contract_arena(), &account);
}

TEST(what_was_set_up_since_the_change_goes_with_it)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice"), other = fixture_confirmed("other");
    EXPECT_STATUS(link_to(alice, "hers"), STATUS_OK);
    fixture_pass_days(1);
    Slice back = move_away(alice, "thief@example.org");
    fixture_pass_days(1);
    EXPECT_STATUS(link_to(alice, "thiefs"), STATUS_OK);
    EXPECT_STATUS(turn_second_on(alice), STATUS_OK);
    EXPECT(has_second(alice));
    EXPECT_STATUS(credentials_finish_back(fixture.accounts, back, NULL), STATUS_OK);
    EXPECT(!has_second(alice));
    EXPECT_STATUS(find_linked("hers"), STATUS_OK);
    EXPECT_STATUS(find_linked("thiefs"), STATUS_NOT_FOUND);
    EXPECT_STATUS(link_to(other, "thiefs"), STATUS_OK);
    EXPECT_STATUS(turn_second_on(alice), STATUS_OK); /* she sets it up anew */
    fixture_end();
}

TEST(a_second_factor_from_before_the_change_stays)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice");
    EXPECT_STATUS(turn_second_on(alice), STATUS_OK);
    fixture_pass_days(1);
    Slice back = move_away(alice, "thief@example.org");
    EXPECT_STATUS(credentials_finish_back(fixture.accounts, back, NULL), STATUS_OK);
    EXPECT(has_second(alice));
    fixture_end();
}

/* What only waits for its code would be known to whoever began it. */
TEST(an_offer_of_a_second_factor_goes_too)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice");
    SecondFactor factor;
    Slice back = move_away(alice, "thief@example.org");
    EXPECT_STATUS(second_factor_offer(fixture.accounts, alice, contract_arena(), &factor, NULL),
                  STATUS_OK);
    EXPECT(has_second(alice));
    EXPECT_STATUS(credentials_finish_back(fixture.accounts, back, NULL), STATUS_OK);
    EXPECT(!has_second(alice));
    fixture_end();
}

TEST(nobody_stands_in_the_way_of_who_takes_a_change_back)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice"), id;
    Slice back = move_away(alice, "thief@example.org");
    Registration person = fixture_person("alice");
    Reason reason = {.rule = ""};
    person.name = SLICE("rival");
    EXPECT_STATUS(accounts_register(fixture.honest, &person, &id, &reason), STATUS_REFUSED);
    EXPECT_SLICE(slice_from(reason.field), SLICE("email"));
    EXPECT_I64(fixture_holder("alice@example.org"), 0); /* it is no way to log in */
    /* A second move would push the first address out. */
    Slice second;
    LinkMail mail;
    EXPECT_STATUS(credentials_begin_email(fixture.accounts, alice, SLICE("third@example.org"),
                                          contract_arena(), &mail, &reason),
                  STATUS_REFUSED);
    EXPECT_STATUS(links_make(fixture.accounts,
                             &(NewLink){LINK_EMAIL, alice, SLICE("third@example.org")},
                             contract_arena(), &second),
                  STATUS_OK);
    EXPECT_STATUS(
        credentials_begin_back(fixture.accounts, second, contract_arena(), &mail, &reason),
        STATUS_REFUSED);
    EXPECT_STATUS(finish_email(second, NULL, &reason), STATUS_REFUSED);
    EXPECT_STATUS(accounts_change_email(fixture.accounts, alice, SLICE("x@example.org"), &reason),
                  STATUS_REFUSED);
    fixture_pass_days(ACCOUNT_EMAIL_BACK_DAYS - 1);
    EXPECT_STATUS(accounts_expire(fixture.accounts, alice), STATUS_OK);
    EXPECT_STATUS(credentials_finish_back(fixture.accounts, back, NULL), STATUS_OK);
    EXPECT_I64(fixture_holder("alice@example.org"), alice);
    fixture_end();
}

TEST(after_seven_days_the_old_address_is_anybodys)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice"), id;
    Slice back = move_away(alice, "new@example.org");
    Registration person = fixture_person("alice");
    person.name = SLICE("other");
    fixture_pass_days(ACCOUNT_EMAIL_BACK_DAYS + 1);
    EXPECT_STATUS(credentials_finish_back(fixture.accounts, back, NULL), STATUS_REFUSED);
    EXPECT_STATUS(accounts_expire(fixture.accounts, alice), STATUS_OK);
    EXPECT_STATUS(accounts_register(fixture.honest, &person, &id, NULL), STATUS_OK);
    EXPECT_STATUS(accounts_confirm(fixture.honest, id, NULL), STATUS_OK);
    fixture_check(alice, id);
    fixture_end();
}

/* Nothing but all of it, whatever answer is lost; and asking again finds out. */
TEST(a_way_back_that_is_cut_off_is_gone_again)
{
    for (int fate = 0; fate < FAULT_FATES; fate++)
        for (int at = 1;; at++) {
            fixture_begin();
            uint64_t alice = fixture_confirmed("alice");
            Slice back = move_away(alice, "thief@example.org");
            faulty_plan(&fixture.faulty, at, (FaultFate)fate, FAULT_FOREVER);
            Status status = credentials_finish_back(fixture.accounts, back, NULL);
            bool struck = faulty_struck(&fixture.faulty);
            faulty_plan(&fixture.faulty, 0, FAULT_REFUSED, FAULT_ONCE);
            faulty_deliver(&fixture.faulty);
            bool is_back = fixture_holder("alice@example.org") == alice;
            EXPECT(status != STATUS_OK || is_back);
            EXPECT(status != STATUS_UNAVAILABLE || !is_back);
            fixture_restart();
            Status again = credentials_finish_back(fixture.accounts, back, NULL);
            EXPECT_STATUS(again, is_back ? STATUS_REFUSED : STATUS_OK);
            EXPECT_I64(fixture_holder("alice@example.org"), alice);
            fixture_check(alice, alice);
            fixture_end();
            if (!struck)
                break;
        }
}

TEST(a_closed_account_has_no_links)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice");
    Slice reset = reset_mail("alice").secret, email = email_mail(alice, "new@example.org").secret;
    LinkMail mail;
    EXPECT_STATUS(access_close_account(fixture.accounts, alice, NULL), STATUS_OK);
    EXPECT_STATUS(peek(LINK_RESET, reset), STATUS_REFUSED);
    EXPECT_STATUS(peek(LINK_EMAIL, email), STATUS_NOT_FOUND);
    EXPECT_STATUS(credentials_finish_reset(fixture.accounts, reset, SLICE("battery staple"), NULL),
                  STATUS_REFUSED);
    EXPECT_STATUS(credentials_begin_email(fixture.accounts, alice, SLICE("new@example.org"),
                                          contract_arena(), &mail, NULL),
                  STATUS_REFUSED);
    Slice secret;
    EXPECT_STATUS(links_make(fixture.accounts, &(NewLink){LINK_RESET, alice, SLICE_EMPTY},
                             contract_arena(), &secret),
                  STATUS_REFUSED);
    EXPECT_STATUS(links_make(fixture.accounts, &(NewLink){LINK_RESET, 999, SLICE_EMPTY},
                             contract_arena(), &secret),
                  STATUS_NOT_FOUND);
    fixture_end();
}

/* ---- Races ----------------------------------------------------------------------------------------------------- */

enum { RACERS = 8 };
typedef struct Race {
    Slice secret;
    LinkKind kind;
    Status status[RACERS];
    uint64_t id[RACERS];
} Race;

static void use_link(int index, void *context)
{
    Race *race = context;
    ARENA_SCOPE Arena *arena = arena_new();
    Slice password = arena_print(arena, "password number %d", index);
    Registration person = {.name = arena_print(arena, "admin%d", index),
                           .email = arena_print(arena, "admin%d@example.org", index),
                           .without_password = true};
    Accounts *accounts = index % 2 == 0 ? fixture.honest : fixture.accounts;
    if (race->kind == LINK_RESET)
        race->status[index] = credentials_finish_reset(accounts, race->secret, password, NULL);
    else if (race->kind == LINK_EMAIL)
        race->status[index] =
            credentials_finish_email(accounts, &(EmailMove){.secret = race->secret}, NULL);
    else if (race->kind == LINK_ADMIN)
        race->status[index] =
            credentials_finish_first_admin(accounts, race->secret, &person, &race->id[index], NULL);
    else
        race->status[index] =
            credentials_finish_confirm(accounts, race->secret, &race->id[index], NULL);
}

/* Those who come too late are refused; who changes the same e-mail at the same time may also be told of the other. */
static int winners_of(Race *race)
{
    int winners = 0;
    contract_threads(RACERS, use_link, race);
    for (int i = 0; i < RACERS; i++) {
        winners += race->status[i] == STATUS_OK;
        EXPECT(race->status[i] == STATUS_OK || race->status[i] == STATUS_REFUSED ||
               (race->kind == LINK_EMAIL && race->status[i] == STATUS_CONFLICT));
    }
    return winners;
}

TEST(of_many_who_use_a_link_exactly_one_wins)
{
    fixture_begin();
    for (int round = 0; round < 5; round++) {
        const char *word =
            arena_text(contract_arena(), arena_print(contract_arena(), "user%d", round));
        uint64_t id = fixture_pending(word);
        Slice new_email = arena_print(contract_arena(), "new%d@example.org", round);
        LinkMail mail;
        EXPECT_STATUS(credentials_begin_confirm(fixture.accounts, id, contract_arena(), &mail),
                      STATUS_OK);
        Race confirm = {.secret = mail.secret, .kind = LINK_CONFIRM};
        EXPECT_I64(winners_of(&confirm), 1);
        Race reset = {.secret = reset_mail(word).secret, .kind = LINK_RESET};
        EXPECT_I64(winners_of(&reset), 1);
        for (int i = 0; i < RACERS; i++) {
            Slice password = arena_print(contract_arena(), "password number %d", i);
            EXPECT_STATUS(log_in(word, arena_text(contract_arena(), password)),
                          reset.status[i] == STATUS_OK ? STATUS_OK : STATUS_LOGIN);
        }
        EXPECT_STATUS(
            credentials_begin_email(fixture.accounts, id, new_email, contract_arena(), &mail, NULL),
            STATUS_OK);
        Race email = {.secret = mail.secret, .kind = LINK_EMAIL};
        int winners = winners_of(&email);
        EXPECT(winners >= 1); /* a late one may find that it is so already */
        EXPECT_I64(fixture_holder(arena_text(contract_arena(), new_email)), id);
    }
    fixture_end();
}

TEST(a_new_site_has_one_first_admin)
{
    fixture_begin();
    Slice old, secret;
    Registration bad = fixture_person("a!");
    uint64_t id;
    EXPECT_STATUS(credentials_begin_first_admin(fixture.accounts, contract_arena(), &old),
                  STATUS_OK);
    EXPECT_STATUS(credentials_begin_first_admin(fixture.accounts, contract_arena(), &secret),
                  STATUS_OK);
    EXPECT_STATUS(peek(LINK_ADMIN, old), STATUS_NOT_FOUND);
    EXPECT_STATUS(credentials_finish_first_admin(fixture.accounts, secret, &bad, &id, NULL),
                  STATUS_INVALID);
    EXPECT_STATUS(peek(LINK_ADMIN, secret), STATUS_OK);
    Race race = {.secret = secret, .kind = LINK_ADMIN};
    EXPECT_I64(winners_of(&race), 1);
    int admins = 0;
    for (uint64_t account = 1; account <= RACERS; account++) {
        Account found;
        if (accounts_read(fixture.honest, account, contract_arena(), &found) != STATUS_OK)
            continue;
        admins += account_has(&found, ROLE_ADMIN);
        EXPECT(account_has(&found, ROLE_ADMIN) || found.state == ACCOUNT_VOID);
    }
    EXPECT_I64(admins, 1);
    EXPECT_STATUS(credentials_begin_first_admin(fixture.accounts, contract_arena(), &secret),
                  STATUS_REFUSED);
    fixture_end();
}
