/* journal_access_test.c -- who may put and claim, and what a token's scopes leave of it. */
#include "access/journal_access.h"

#include "base/bytes.h"
#include "test.h"

typedef struct Case {
    const char *words; /* of the declaration */
    JournalActor actor;
    JournalRight right;
    Status status;
} Case;

static const JournalAccessList *list_of(const char *words, Arena *arena)
{
    const JournalDeclaration *declaration;
    Slice text = words[0] == '\0' ? SLICE("[journal a]\n")
                                  : arena_print(arena, "[journal a]\nput = %s\n", words);
    EXPECT_STATUS(declaration_read(text, "test", arena, &declaration, NULL), STATUS_OK);
    return &declaration->journals[0].put;
}

static void expect_all(const Case *cases, size_t count)
{
    ARENA_SCOPE Arena *arena = arena_new();
    for (size_t i = 0; i < count; i++) {
        Status status = journal_access_check(list_of(cases[i].words, arena), SLICE("a"),
                                             cases[i].right, &cases[i].actor, NULL);
        if (status != cases[i].status)
            test_fail(__FILE__, __LINE__, "case %zu (%s): %s", i, cases[i].words,
                      status_name(status));
    }
}

#define ADMIN    .is_known = true, .roles = 1u << ROLE_ADMIN
#define RESPOND  .is_known = true, .roles = 1u << ROLE_RESPOND
#define OPERATOR .is_operator = true, .is_local = true
#define TOKEN(name, scopes)                                                      \
    .by_token = true, .token_name = {name, sizeof name - 1}, .is_limited = true, \
    .token_journals = {scopes, sizeof scopes - 1}

TEST(each_word_lets_in_whom_it_names)
{
    static const Case CASES[] = {
        {"", {ADMIN}, JOURNAL_RIGHT_PUT, STATUS_OK},
        {"", {OPERATOR}, JOURNAL_RIGHT_PUT, STATUS_OK},
        {"", {RESPOND}, JOURNAL_RIGHT_PUT, STATUS_DENIED},
        {"", {0}, JOURNAL_RIGHT_PUT, STATUS_LOGIN},
        {"task", {ADMIN}, JOURNAL_RIGHT_PUT, STATUS_DENIED},
        {"task", {OPERATOR}, JOURNAL_RIGHT_PUT, STATUS_DENIED},
        {"task", {ADMIN}, JOURNAL_RIGHT_ADMIN, STATUS_OK},
        {"task, admin", {ADMIN}, JOURNAL_RIGHT_PUT, STATUS_OK},
        {"role:respond", {RESPOND}, JOURNAL_RIGHT_PUT, STATUS_OK},
        {"role:respond", {ADMIN}, JOURNAL_RIGHT_PUT, STATUS_DENIED},
        {"role:respond", {RESPOND}, JOURNAL_RIGHT_ADMIN, STATUS_DENIED},
        {"local", {.is_local = true}, JOURNAL_RIGHT_PUT, STATUS_OK},
        {"local", {0}, JOURNAL_RIGHT_PUT, STATUS_LOGIN},
        {"any", {0}, JOURNAL_RIGHT_PUT, STATUS_OK},
        {"any", {0}, JOURNAL_RIGHT_ADMIN, STATUS_LOGIN},
    };
    expect_all(CASES, sizeof CASES / sizeof *CASES);
}

TEST(a_token_is_let_in_by_name_only_as_an_admins)
{
    static const Case CASES[] = {
        {"token:mail", {ADMIN, TOKEN("mail", "journal:a:put")}, JOURNAL_RIGHT_PUT, STATUS_OK},
        {"token:mail", {RESPOND, TOKEN("mail", "journal:a:put")}, JOURNAL_RIGHT_PUT, STATUS_DENIED},
        {"token:mail", {ADMIN, TOKEN("mai", "journal:a:put")}, JOURNAL_RIGHT_PUT, STATUS_DENIED},
        {"token:mail", {ADMIN}, JOURNAL_RIGHT_PUT, STATUS_DENIED},
        {"token:mail",
         {ADMIN, .by_token = true, .token_name = {"mail", 4}},
         JOURNAL_RIGHT_PUT,
         STATUS_OK},
    };
    expect_all(CASES, sizeof CASES / sizeof *CASES);
}

TEST(scopes_take_away_and_never_add)
{
    static const Case CASES[] = {
        {"any", {ADMIN, TOKEN("t", "journal:b:put")}, JOURNAL_RIGHT_PUT, STATUS_DENIED},
        {"any", {ADMIN, TOKEN("t", "journal:a:claim")}, JOURNAL_RIGHT_PUT, STATUS_DENIED},
        {"any", {ADMIN, TOKEN("t", "journal:aa:put")}, JOURNAL_RIGHT_PUT, STATUS_DENIED},
        {"any", {ADMIN, TOKEN("t", "journal:b:put journal:a:put")}, JOURNAL_RIGHT_PUT, STATUS_OK},
        {"", {RESPOND, TOKEN("t", "journal:a:put")}, JOURNAL_RIGHT_PUT, STATUS_DENIED},
        {"", {RESPOND, TOKEN("t", "journal:a:admin")}, JOURNAL_RIGHT_ADMIN, STATUS_DENIED},
        {"", {ADMIN, TOKEN("t", "journal:a:admin")}, JOURNAL_RIGHT_ADMIN, STATUS_OK},
        {"", {ADMIN, TOKEN("t", "journal:a:admin")}, JOURNAL_RIGHT_PUT, STATUS_DENIED},
    };
    expect_all(CASES, sizeof CASES / sizeof *CASES);
}

TEST(scopes_are_read_as_people_write_them)
{
    ARENA_SCOPE Arena *arena = arena_new();
    static const char *const WRONG[] = {"",
                                        " , ",
                                        "journal:a",
                                        "journal:a:read",
                                        "journal::put",
                                        "journal:a:put:",
                                        "journal:-a:put",
                                        "read",
                                        "journal:a b:put",
                                        "journal:a:put x"};
    Slice scopes;
    EXPECT_STATUS(journal_scopes_read(SLICE(" journal:a/b:put,journal:c:claim  journal:a/b:put "),
                                      arena, &scopes, NULL),
                  STATUS_OK);
    EXPECT_SLICE(scopes, SLICE("journal:a/b:put journal:c:claim"));
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++)
        EXPECT_STATUS(journal_scopes_read(slice_from(WRONG[i]), arena, &scopes, NULL),
                      STATUS_INVALID);
    BUFFER_SCOPE Buffer many = {0};
    for (int i = 0; i < 60; i++)
        buffer_print(&many, "journal:number-%02d:put ", i);
    EXPECT_STATUS(journal_scopes_read(buffer_slice(&many), arena, &scopes, NULL), STATUS_INVALID);
}
