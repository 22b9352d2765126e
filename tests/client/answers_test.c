/* answers_test.c -- the lines that the client library understands, and those that it does not. */
#include "answers.h"
#include "test.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

static OjKind parse(const char *line, OjAnswer *ret_answer)
{
    return oj_answer_parse(line, strlen(line), ret_answer);
}

TEST(each_answer_has_its_fields)
{
    OjAnswer answer;
    EXPECT(parse("X-OK", &answer) == OJ_OK);
    EXPECT(parse("X-PUT held_merged 18446744073709551615 7", &answer) == OJ_PUT);
    EXPECT(answer.fields[0].number == OSTRAKA_JOURNAL_HELD_MERGED);
    EXPECT(answer.fields[1].number == UINT64_MAX && answer.fields[2].number == 7);
    EXPECT(parse("X-CLAIMED 0 -", &answer) == OJ_CLAIMED);
    EXPECT(answer.fields[1].number == OSTRAKA_JOURNAL_NEVER);
    EXPECT(parse("X-ENTRY 1 " TOKEN " a;b 4294967295 2 3 4 5 65536 67108864", &answer) == OJ_ENTRY);
    EXPECT_SLICE(slice_of(answer.fields[2].text, answer.fields[2].size), SLICE("a;b"));
    EXPECT_I64(answer.fields[9].number, 64 << 20);
    EXPECT(parse("X-LISTENING 3", &answer) == OJ_LISTENING);
    EXPECT(parse("X-READY j 0 - -", &answer) == OJ_READY && answer.fields[2].number == 0);
    EXPECT(parse("X-READY j 5 9 12", &answer) == OJ_READY && answer.fields[2].number == 9);
}

TEST(an_error_has_its_status_field_and_sentence)
{
    OjAnswer answer;
    EXPECT(parse("X-ERROR THROTTLED - the journal is full", &answer) == OJ_ERROR);
    EXPECT(answer.status == OSTRAKA_JOURNAL_THROTTLED);
    EXPECT_SLICE(slice_of(answer.fields[2].text, answer.fields[2].size),
                 SLICE("the journal is full"));
    EXPECT(parse("UNKNOWN_COMMAND", &answer) == OJ_WORD);
    EXPECT(answer.status == OSTRAKA_JOURNAL_UNSUPPORTED);
}

TEST(what_has_no_form_is_nonsense)
{
    static const char *const LINES[] = {
        "",
        " ",
        "X-OK ",
        "X-OK 1",
        "x-ok",
        "X-PUT created 1",
        "X-PUT created 1 2 3",
        "X-PUT created  1 2",
        "X-PUT Created 1 2",
        "X-PUT created 18446744073709551616 2",
        "X-PUT created -1 2",
        "X-PUT created 1 9223372036854775807",
        "X-CLAIMED 1",
        "X-CLAIMED - -",
        "X-ENTRY 1 0123 j 1 2 3 4 5 6 7",
        "X-ENTRY 1 0123456789ABCDEF0123456789ABCDEF j 1 2 3 4 5 6 7",
        "X-ENTRY 1 " TOKEN " -j 1 2 3 4 5 6 7",
        "X-ENTRY 1 " TOKEN " j 4294967296 2 3 4 5 6 7",
        "X-ENTRY 1 " TOKEN " j 1 2 3 4 5 65537 7",
        "X-ENTRY 1 " TOKEN " j 1 2 3 4 5 6 67108865",
        "X-DID",
        "X-DID ",
        "X-ERROR OK - fine",
        "X-ERROR MAYBE - hm",
        "X-ERROR INVALID -",
        "UNKNOWN_COMMAND ",
        "INSERTED 1",
    };
    OjAnswer answer;
    for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++)
        if (parse(LINES[i], &answer) != OJ_NONSENSE)
            test_fail(__FILE__, __LINE__, "\"%s\" is taken", LINES[i]);
}

TEST(steps_are_read_one_by_one_and_a_strange_word_is_unknown)
{
    OjField rest = {.text = "OK LOST WHAT", .size = 12};
    OstrakaJournalStatus status;
    EXPECT(oj_answer_next_step(&rest, &status) && status == OSTRAKA_JOURNAL_OK);
    EXPECT(oj_answer_next_step(&rest, &status) && status == OSTRAKA_JOURNAL_LOST);
    EXPECT(oj_answer_next_step(&rest, &status) && status == OSTRAKA_JOURNAL_UNKNOWN);
    EXPECT(!oj_answer_next_step(&rest, &status));
}

TEST(names_are_bounded)
{
    char name[OSTRAKA_JOURNAL_NAME_MAX + 1];
    memset(name, 'n', sizeof name);
    EXPECT(oj_name_is_valid(name, OSTRAKA_JOURNAL_NAME_MAX));
    EXPECT(!oj_name_is_valid(name, OSTRAKA_JOURNAL_NAME_MAX + 1));
    EXPECT(!oj_name_is_valid(name, 0));
    EXPECT(!oj_name_is_valid("a b", 3) && !oj_name_is_valid("a\r\n", 3));
}
