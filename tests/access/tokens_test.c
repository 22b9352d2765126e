/* tokens_test.c -- personal tokens for the API. */
#include "access/closing.h"
#include "access/credentials.h"
#include "access/tokens.h"

#include "accounts_fixture.h"

static Token make(uint64_t account, const char *name, int64_t ends_us)
{
    Token token = {.account = 0};
    Reason reason = {.rule = ""};
    NewToken new = {slice_from(name), TOKEN_WRITE, ends_us, false, SLICE_EMPTY};
    EXPECT_STATUS(tokens_make(fixture.accounts, account, &new, contract_arena(), &token, &reason),
                  STATUS_OK);
    return token;
}

static Status find(Slice secret)
{
    Token token;
    Account account;
    return tokens_find(fixture.accounts, secret, contract_arena(), &token, &account);
}

static size_t listed(uint64_t account, Token **ret_tokens)
{
    size_t count = 0;
    EXPECT_STATUS(tokens_list(fixture.accounts, account, contract_arena(), ret_tokens, &count),
                  STATUS_OK);
    return count;
}

TEST(a_token_acts_for_its_account_until_it_ends)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice");
    Token script = make(alice, "my script", 0),
          brief = make(alice, "brief", contract_now_us() + DAY_US);
    Token found, *tokens;
    Account account;
    EXPECT(slice_starts_with(script.secret, SLICE("ost_")));
    EXPECT_I64(script.secret.size, 47);
    EXPECT_STATUS(tokens_find(fixture.accounts, script.secret, contract_arena(), &found, &account),
                  STATUS_OK);
    EXPECT_SLICE(found.name, SLICE("my script"));
    EXPECT_I64(found.scope, TOKEN_WRITE);
    EXPECT_I64(account.id, alice);
    EXPECT_STATUS(find(brief.secret), STATUS_OK);
    fixture_pass_days(1);
    EXPECT_STATUS(find(brief.secret), STATUS_LOGIN);
    EXPECT_I64(listed(alice, &tokens), 1);
    EXPECT_STATUS(find(script.secret), STATUS_OK);
    EXPECT_STATUS(tokens_end(fixture.accounts, alice, script.id), STATUS_OK);
    EXPECT_STATUS(tokens_end(fixture.accounts, alice, script.id), STATUS_OK);
    EXPECT_STATUS(find(script.secret), STATUS_LOGIN);
    EXPECT_STATUS(find(SLICE_EMPTY), STATUS_LOGIN);
    EXPECT_STATUS(find(contract_filler(47, 'A')), STATUS_LOGIN);
    EXPECT_STATUS(find(slice_after(script.secret, 4)), STATUS_LOGIN);
    fixture_end();
}

TEST(a_use_is_noted_now_and_then)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice");
    Token token = make(alice, "t", 0), *tokens;
    EXPECT_I64(listed(alice, &tokens), 1);
    EXPECT_I64(tokens[0].used_us, 0);
    int64_t first_us = contract_now_us();
    for (int i = 0; i < 4; i++) {
        faulty_plan(&fixture.faulty, 0, FAULT_REFUSED, FAULT_ONCE);
        EXPECT_STATUS(find(token.secret), STATUS_OK);
        EXPECT_I64(fixture.faulty.calls, i == 0 ? 3 : 2);
        contract_pass_s(60);
    }
    listed(alice, &tokens);
    EXPECT_I64(tokens[0].used_us, first_us);
    contract_pass_s(300);
    EXPECT_STATUS(find(token.secret), STATUS_OK);
    listed(alice, &tokens);
    EXPECT_I64(tokens[0].used_us, contract_now_us());
    fixture_end();
}

TEST(bad_tokens_are_refused_with_the_field)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice"), pending = fixture_pending("bob");
    int64_t now_us = contract_now_us();
    const struct {
        NewToken token;
        const char *field;
    } BAD[] = {{{SLICE_EMPTY, TOKEN_READ, 0, false, SLICE_EMPTY}, "name"},
               {{contract_filler(61, 'n'), TOKEN_READ, 0, false, SLICE_EMPTY}, "name"},
               {{SLICE("a\nb"), TOKEN_READ, 0, false, SLICE_EMPTY}, "name"},
               {{SLICE(" a"), TOKEN_READ, 0, false, SLICE_EMPTY}, "name"},
               {{SLICE("a"), TOKEN_SCOPE_COUNT, 0, false, SLICE_EMPTY}, "scope"},
               {{SLICE("a"), TOKEN_READ, now_us, false, SLICE_EMPTY}, "ends"},
               {{SLICE("a"), TOKEN_READ, INT64_MAX, false, SLICE_EMPTY}, "ends"}};
    Token token;
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        Reason reason = {.rule = ""};
        EXPECT_STATUS(
            tokens_make(fixture.accounts, alice, &BAD[i].token, contract_arena(), &token, &reason),
            STATUS_INVALID);
        EXPECT_SLICE(slice_from(reason.field), slice_from(BAD[i].field));
    }
    NewToken good = {SLICE("good"), TOKEN_READ, 0, false, SLICE_EMPTY};
    EXPECT_STATUS(tokens_make(fixture.accounts, pending, &good, contract_arena(), &token, NULL),
                  STATUS_REFUSED);
    EXPECT_STATUS(tokens_make(fixture.accounts, 999, &good, contract_arena(), &token, NULL),
                  STATUS_NOT_FOUND);
    fixture_end();
}

static void make_some(int index, void *context)
{
    const uint64_t *account = context;
    ARENA_SCOPE Arena *arena = arena_new();
    for (int i = 0; i < 10; i++) {
        Token token;
        NewToken new = {arena_print(arena, "token %d %d", index, i), TOKEN_READ, 0, false,
                        SLICE_EMPTY};
        Status status = tokens_make(fixture.honest, *account, &new, arena, &token, NULL);
        CHECK(status == STATUS_OK || status == STATUS_REFUSED);
    }
}

TEST(there_are_never_more_than_fifty)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice");
    Token *tokens;
    contract_threads(8, make_some, &alice);
    EXPECT_I64(listed(alice, &tokens), TOKENS_MAX);
    EXPECT_STATUS(tokens_end(fixture.accounts, alice, tokens[7].id), STATUS_OK);
    make(alice, "one more", contract_now_us() + DAY_US);
    EXPECT_I64(listed(alice, &tokens), TOKENS_MAX);
    fixture_pass_days(2); /* one that has expired makes room */
    make(alice, "one more", 0);
    EXPECT_I64(listed(alice, &tokens), TOKENS_MAX);
    fixture_end();
}

TEST(tokens_end_with_the_account_and_the_right_to_log_in)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice"), bob = fixture_confirmed("bob");
    Token hers = make(alice, "t", 0), his = make(bob, "t", 0), *tokens;
    AccountRights rights = {.denied = 1U << RIGHT_LOG_IN};
    EXPECT_STATUS(accounts_set_rights(fixture.accounts, bob, &rights, NULL), STATUS_OK);
    EXPECT_STATUS(find(his.secret), STATUS_LOGIN);
    EXPECT_STATUS(access_close_account(fixture.accounts, alice, NULL), STATUS_OK);
    EXPECT_STATUS(find(hers.secret), STATUS_LOGIN);
    EXPECT_I64(listed(alice, &tokens), 0);
    fixture_end();
}

/* Whoever takes an account back takes back what programs have, too. */
TEST(a_reset_and_log_out_everywhere_end_tokens)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice");
    Account account;
    SessionOrigin home = {.address = SLICE("192.0.2.1"), .agent = SLICE("Browser")};
    Session session;
    LinkMail mail;
    Token *tokens;
    for (int way = 0; way < 4; way++) {
        Slice secret = make(alice, "t", 0).secret;
        EXPECT_STATUS(find(secret), STATUS_OK);
        account = fixture_read(alice);
        EXPECT_STATUS(sessions_begin(fixture.accounts, &account, &home, contract_arena(), &session),
                      STATUS_OK);
        if (way == 0) {
            EXPECT_STATUS(
                credentials_begin_reset(fixture.accounts, SLICE("alice"), contract_arena(), &mail),
                STATUS_OK);
            EXPECT_STATUS(credentials_finish_reset(fixture.accounts, mail.secret,
                                                   SLICE("battery staple"), NULL),
                          STATUS_OK);
        } else if (way == 1) {
            EXPECT_STATUS(sessions_end_others(fixture.accounts, &session), STATUS_OK);
        } else if (way == 2) {
            EXPECT_STATUS(sessions_end_all(fixture.accounts, alice, NULL), STATUS_OK);
        } else {
            EXPECT_STATUS(
                credentials_set_password(fixture.accounts, alice, SLICE("a third password"), NULL),
                STATUS_OK);
        }
        EXPECT_STATUS(find(secret), STATUS_LOGIN);
        EXPECT_I64(listed(alice, &tokens), 0);
    }
    Slice secret = make(alice, "t", 0).secret;
    PasswordChange change = {
        .account = alice, .old = SLICE("a third password"), .password = SLICE("a fourth one")};
    EXPECT_STATUS(credentials_change_password(fixture.accounts, &change, NULL), STATUS_OK);
    EXPECT_STATUS(find(secret), STATUS_OK); /* who knows the old one keeps them */
    fixture_end();
}

TEST(a_token_for_journals_says_what_it_may_and_nothing_else_does)
{
    fixture_begin();
    uint64_t alice = fixture_confirmed("alice");
    Token token, *tokens;
    Account account;
    NewToken wanted = {.name = SLICE("worker"),
                       .scope = TOKEN_JOURNALS,
                       .journals = SLICE("journal:recount:claim, journal:recount:put")};
    EXPECT_STATUS(tokens_make(fixture.accounts, alice, &wanted, contract_arena(), &token, NULL),
                  STATUS_OK);
    EXPECT_SLICE(token.journals, SLICE("journal:recount:claim journal:recount:put"));
    EXPECT_STATUS(tokens_find(fixture.accounts, token.secret, contract_arena(), &token, &account),
                  STATUS_OK);
    EXPECT_SLICE(token.name, SLICE("worker"));
    EXPECT_I64(token.scope, TOKEN_JOURNALS);
    EXPECT_SLICE(token.journals, SLICE("journal:recount:claim journal:recount:put"));
    EXPECT_I64(listed(alice, &tokens), 1);
    EXPECT_SLICE(tokens[0].name, SLICE("worker"));
    wanted.journals = SLICE_EMPTY;
    EXPECT_STATUS(tokens_make(fixture.accounts, alice, &wanted, contract_arena(), &token, NULL),
                  STATUS_INVALID);
    wanted = (NewToken){
        .name = SLICE("w"), .scope = TOKEN_WRITE, .journals = SLICE("journal:recount:put")};
    EXPECT_STATUS(tokens_make(fixture.accounts, alice, &wanted, contract_arena(), &token, NULL),
                  STATUS_INVALID);
    fixture_end();
}
