/* protocol_test.c -- lines, as beanstalkd reads them, and our own. */
#include "beanstalk/protocol.h"

#include "test.h"

static BeanstalkVerdict parse(const char *line, BeanstalkCommand *command)
{
    static Arena *arena;
    Reason reason;
    if (arena == NULL)
        arena = arena_new();
    return beanstalk_parse(slice_from(line), arena, command, &reason);
}

static const struct {
    const char *line;
    BeanstalkVerdict verdict;
    BeanstalkWord word;
} LINES[] = {
    {"put 1 2 3 4", BEANSTALK_GOOD, BEANSTALK_PUT},
    {"put   1 2  3 4", BEANSTALK_GOOD, BEANSTALK_PUT},
    {"put 1 2 3 4 ", BEANSTALK_BAD_FORMAT, BEANSTALK_PUT},
    {"put 1 2 3", BEANSTALK_BAD_FORMAT, BEANSTALK_PUT},
    {"put 1 2 3 4x", BEANSTALK_BAD_FORMAT, BEANSTALK_PUT},
    {"put -1 2 3 4", BEANSTALK_BAD_FORMAT, BEANSTALK_PUT},
    {"put +1 2 3 4", BEANSTALK_BAD_FORMAT, BEANSTALK_PUT},
    {"put 4294967295 4294967295 4294967295 4294967295", BEANSTALK_GOOD, BEANSTALK_PUT},
    {"put 4294967296 0 0 0", BEANSTALK_BAD_FORMAT, BEANSTALK_PUT},
    {"put 0 0 0 99999999999999999999999", BEANSTALK_BAD_FORMAT, BEANSTALK_PUT},
    {"put 1 2 3 4 key:a", BEANSTALK_GOOD, BEANSTALK_PUT},
    {"put 1 2 3 4 key:", BEANSTALK_GOOD, BEANSTALK_PUT},
    {"put 1 2 3 4 key:a%2", BEANSTALK_BAD_FORMAT, BEANSTALK_PUT},
    {"put 1 2 3 4 key:a b", BEANSTALK_BAD_FORMAT, BEANSTALK_PUT},
    {"put 1 2 3 4 kex:a", BEANSTALK_BAD_FORMAT, BEANSTALK_PUT},
    {"put", BEANSTALK_UNKNOWN, BEANSTALK_WORDS},
    {"PUT 1 2 3 4", BEANSTALK_UNKNOWN, BEANSTALK_WORDS},
    {"", BEANSTALK_UNKNOWN, BEANSTALK_WORDS},
    {" reserve", BEANSTALK_UNKNOWN, BEANSTALK_WORDS},
    {"reserve", BEANSTALK_GOOD, BEANSTALK_RESERVE},
    {"reserve ", BEANSTALK_BAD_FORMAT, BEANSTALK_RESERVE},
    {"reserved", BEANSTALK_BAD_FORMAT, BEANSTALK_RESERVE},
    {"reserve-with-timeout", BEANSTALK_BAD_FORMAT, BEANSTALK_RESERVE},
    {"reserve-with-timeout 5", BEANSTALK_GOOD, BEANSTALK_RESERVE_WITH_TIMEOUT},
    {"reserve-with-timeout 5x", BEANSTALK_GOOD, BEANSTALK_RESERVE_WITH_TIMEOUT},
    {"reserve-with-timeout -1", BEANSTALK_BAD_FORMAT, BEANSTALK_RESERVE_WITH_TIMEOUT},
    {"reserve-with-timeout 2147483647", BEANSTALK_GOOD, BEANSTALK_RESERVE_WITH_TIMEOUT},
    {"reserve-with-timeout 2147483648", BEANSTALK_BAD_FORMAT, BEANSTALK_RESERVE_WITH_TIMEOUT},
    {"reserve-job 18446744073709551615", BEANSTALK_GOOD, BEANSTALK_RESERVE_JOB},
    {"reserve-job 18446744073709551616", BEANSTALK_BAD_FORMAT, BEANSTALK_RESERVE_JOB},
    {"delete 1", BEANSTALK_GOOD, BEANSTALK_DELETE},
    {"delete 1 ", BEANSTALK_BAD_FORMAT, BEANSTALK_DELETE},
    {"delete", BEANSTALK_UNKNOWN, BEANSTALK_WORDS},
    {"delete ", BEANSTALK_BAD_FORMAT, BEANSTALK_DELETE},
    {"release 1 2 3", BEANSTALK_GOOD, BEANSTALK_RELEASE},
    {"release 1 2", BEANSTALK_BAD_FORMAT, BEANSTALK_RELEASE},
    {"bury 1 2", BEANSTALK_GOOD, BEANSTALK_BURY},
    {"bury 1 2 3", BEANSTALK_BAD_FORMAT, BEANSTALK_BURY},
    {"kick 5 is enough", BEANSTALK_GOOD, BEANSTALK_KICK},
    {"kick -1", BEANSTALK_GOOD, BEANSTALK_KICK},
    {"kick 18446744073709551616", BEANSTALK_BAD_FORMAT, BEANSTALK_KICK},
    {"kick x", BEANSTALK_BAD_FORMAT, BEANSTALK_KICK},
    {"kick-job 5", BEANSTALK_GOOD, BEANSTALK_KICK_JOB},
    {"touch 5", BEANSTALK_GOOD, BEANSTALK_TOUCH},
    {"stats", BEANSTALK_GOOD, BEANSTALK_STATS},
    {"stats-job 5", BEANSTALK_GOOD, BEANSTALK_STATS_JOB},
    {"stats-tube a", BEANSTALK_GOOD, BEANSTALK_STATS_TUBE},
    {"stats-tube", BEANSTALK_BAD_FORMAT, BEANSTALK_STATS},
    {"use a", BEANSTALK_GOOD, BEANSTALK_USE},
    {"use  a", BEANSTALK_BAD_FORMAT, BEANSTALK_USE},
    {"use -a", BEANSTALK_BAD_FORMAT, BEANSTALK_USE},
    {"use a b", BEANSTALK_BAD_FORMAT, BEANSTALK_USE},
    {"watch A-Za-z0+/;.$_()", BEANSTALK_GOOD, BEANSTALK_WATCH},
    {"watch a,b", BEANSTALK_BAD_FORMAT, BEANSTALK_WATCH},
    {"ignore a", BEANSTALK_GOOD, BEANSTALK_IGNORE},
    {"list-tubes", BEANSTALK_GOOD, BEANSTALK_LIST_TUBES},
    {"list-tubes-watched", BEANSTALK_GOOD, BEANSTALK_LIST_TUBES_WATCHED},
    {"list-tube-used", BEANSTALK_GOOD, BEANSTALK_LIST_TUBE_USED},
    {"list-tubes-", BEANSTALK_BAD_FORMAT, BEANSTALK_LIST_TUBES},
    {"quit now", BEANSTALK_GOOD, BEANSTALK_QUIT},
    {"pause-tube a 5", BEANSTALK_GOOD, BEANSTALK_PAUSE_TUBE},
    {"pause-tubea 5", BEANSTALK_GOOD, BEANSTALK_PAUSE_TUBE},
    {"pause-tube a", BEANSTALK_BAD_FORMAT, BEANSTALK_PAUSE_TUBE},
    {"pause-tube a 5 ", BEANSTALK_BAD_FORMAT, BEANSTALK_PAUSE_TUBE},
    {"pause-tube -a 5", BEANSTALK_BAD_FORMAT, BEANSTALK_PAUSE_TUBE},
    {"x-claims", BEANSTALK_UNKNOWN, BEANSTALK_WORDS},
};

TEST(a_line_is_what_beanstalkd_makes_of_it)
{
    for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++) {
        BeanstalkCommand command;
        BeanstalkVerdict verdict = parse(LINES[i].line, &command);
        if (verdict != LINES[i].verdict || command.word != LINES[i].word)
            test_fail(__FILE__, __LINE__, "%s: verdict %d, word %d", LINES[i].line, verdict,
                      command.word);
    }
}

TEST(a_put_says_its_numbers_and_its_key)
{
    BeanstalkCommand command;
    EXPECT_I64(parse("put 1 2 3 4 key:a%20b%00%ff/:c", &command), BEANSTALK_GOOD);
    EXPECT_I64(command.priority, 1);
    EXPECT_I64(command.delay_s, 2);
    EXPECT_I64(command.ttr_s, 3);
    EXPECT_I64(command.bytes, 4);
    EXPECT_SLICE(command.key, SLICE("a b\0\xff/:c"));
    EXPECT_I64(parse("put 0 0 0 70000 x", &command), BEANSTALK_BAD_FORMAT);
    EXPECT(command.has_bytes);
    EXPECT_I64(command.bytes, 70000);
    EXPECT_I64(parse("kick -1", &command), BEANSTALK_GOOD);
    EXPECT_I64(command.count, UINT32_MAX);
    EXPECT_I64(parse("pause-tube  a.b 7", &command), BEANSTALK_GOOD);
    EXPECT_SLICE(command.tube, SLICE("a.b"));
    EXPECT_I64(command.seconds, 7);
}

TEST(a_name_has_at_most_200_bytes)
{
    char line[300] = "use ";
    BeanstalkCommand command;
    memset(line + 4, 'a', 200);
    line[204] = '\0';
    EXPECT_I64(parse(line, &command), BEANSTALK_GOOD);
    line[204] = 'a';
    line[205] = '\0';
    EXPECT_I64(parse(line, &command), BEANSTALK_BAD_FORMAT);
}

TEST(a_nul_is_a_bad_format)
{
    ARENA_SCOPE Arena *arena = arena_new();
    BeanstalkCommand command;
    EXPECT_I64(beanstalk_parse(SLICE("list\0-tubes"), arena, &command, NULL), BEANSTALK_BAD_FORMAT);
    EXPECT_I64(beanstalk_parse(SLICE("quit\0"), arena, &command, NULL), BEANSTALK_BAD_FORMAT);
}

TEST(a_line_ends_with_cr_lf_within_its_bound)
{
    char text[BEANSTALK_OWN_LINE_MAX + 10];
    bool is_long;
    EXPECT_I64(beanstalk_line(SLICE("stats\r\nstats\r\n"), &is_long), 7);
    EXPECT_I64(beanstalk_line(SLICE("a\rb\nc\r\r\n"), &is_long), 8);
    EXPECT_I64(beanstalk_line(SLICE("stats\r"), &is_long), 0);
    EXPECT(!is_long);
    EXPECT_I64(beanstalk_line(SLICE(""), &is_long), 0);
    for (int own = 0; own < 2; own++) {
        size_t most = own ? BEANSTALK_OWN_LINE_MAX : BEANSTALK_LINE_MAX;
        memset(text, 'a', sizeof text);
        if (own)
            memcpy(text, "x-", 2);
        memcpy(text + most - 2, "\r\n", 2);
        EXPECT_I64(beanstalk_line(slice_of(text, most), &is_long), most);
        EXPECT_I64(beanstalk_line(slice_of(text, most - 1), &is_long), 0);
        EXPECT(!is_long);
        memcpy(text + most - 2, "a\r\n", 3);
        EXPECT_I64(beanstalk_line(slice_of(text, most + 1), &is_long), 0);
        EXPECT(is_long);
    }
}

/* ---- Our own words ----------------------------------------------------------------------------------------- */

#define TOKEN_A "00112233445566778899aabbccddeeff"

TEST(own_words_take_their_options)
{
    BeanstalkCommand command;
    EXPECT_I64(
        parse("x-put 12 to=a keylen=3  pri=NEW delay=5 expire=9 lease=7 inserted=6 ", &command),
        BEANSTALK_GOOD);
    EXPECT_I64(command.bytes, 12);
    EXPECT_SLICE(command.texts[BEANSTALK_O_TO], SLICE("a"));
    EXPECT_I64(command.numbers[BEANSTALK_O_KEYLEN], 3);
    EXPECT_I64(command.numbers[BEANSTALK_O_PRI], 20);
    EXPECT_I64(command.numbers[BEANSTALK_O_INSERTED], 6);
    EXPECT_I64(parse("x-claim from=a,b/c n=1000 max=0 wait=2147483647", &command), BEANSTALK_GOOD);
    EXPECT_I64(command.name_count, 2);
    EXPECT_SLICE(command.names[1], SLICE("b/c"));
    EXPECT(beanstalk_given(&command, BEANSTALK_O_MAX));
    EXPECT_I64(parse("x-claim", &command), BEANSTALK_GOOD);
    EXPECT_I64(parse("x-fail " TOKEN_A "," TOKEN_A " error=a%0Ab", &command), BEANSTALK_GOOD);
    EXPECT_I64(command.token_count, 2);
    EXPECT_I64(command.tokens[1].bytes[15], 0xff);
    EXPECT_SLICE(command.texts[BEANSTALK_O_ERROR], SLICE("a\nb"));
    EXPECT_I64(parse("x-listen", &command), BEANSTALK_GOOD);
    EXPECT_I64(command.name_count, 0);
    EXPECT_I64(parse("x-auth secret=not-an-option", &command), BEANSTALK_GOOD);
    EXPECT_SLICE(command.secret, SLICE("secret=not-an-option"));
}

TEST(own_words_refuse_with_the_field)
{
    static const struct {
        const char *line, *field;
    } CASES[] = {
        {"x-put", "bytes"},
        {"x-put x", "bytes"},
        {"x-put 67174401", "bytes"},
        {"x-put 5 keylen=6", "keylen"},
        {"x-put 5 key=a keylen=1", "key"},
        {"x-put 5 at=1 delay=1", "at"},
        {"x-put 5 pri=4294967296", "pri"},
        {"x-put 5 pri=1 pri=1", "pri"},
        {"x-put 5 to=a,b", "to"},
        {"x-put 5 lease=0", "lease"},
        {"x-put 5 n=1", ""},
        {"x-put 5 key", ""},
        {"x-put 5 key=%zz", "key"},
        {"x-put 5 key=\xc3\xa4", "key"},
        {"x-claim n=0", "n"},
        {"x-claim n=1001", "n"},
        {"x-claim from=", "from"},
        {"x-claim from=a,,b", "from"},
        {"x-claim wait=2147483648", "wait"},
        {"x-claim 5", ""},
        {"x-done", "token"},
        {"x-done " TOKEN_A ",", "token"},
        {"x-done " TOKEN_A " pri=1", ""},
        {"x-done 00112233445566778899AABBCCDDEEFF", "token"},
        {"x-auth", "token"},
        {"x-listen a b", ""},
        {"x-listen -a", "names"},
    };
    ARENA_SCOPE Arena *arena = arena_new();
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        BeanstalkCommand command;
        Reason reason = {0};
        BeanstalkVerdict verdict =
            beanstalk_parse(slice_from(CASES[i].line), arena, &command, &reason);
        if (verdict != BEANSTALK_REFUSED || strcmp(reason.field, CASES[i].field) != 0)
            test_fail(__FILE__, __LINE__, "%s: verdict %d, field \"%s\"", CASES[i].line, verdict,
                      reason.field);
    }
}

TEST(an_error_is_one_line)
{
    BUFFER_SCOPE Buffer out = {0};
    Reason reason;
    (void)reason_set(&reason, STATUS_TOO_LARGE, "a field", "two\r\nlines\x01");
    beanstalk_write_error(&out, STATUS_TOO_LARGE, &reason);
    EXPECT_SLICE(buffer_slice(&out), SLICE("X-ERROR TOO_LARGE a_field two  lines \r\n"));
}
