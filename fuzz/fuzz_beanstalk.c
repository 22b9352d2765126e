/* fuzz_beanstalk.c -- what a client of the beanstalkd listener sends: lines one behind the other, and percent-encoded text.
 *
 * Where a line ends does not depend on what follows it. A command that is good has all of its values within their bounds; one that is refused is
 * refused with words that fit into one line. What a line means is decided by the line alone. Bytes that were percent-encoded are the same bytes. */
#include "beanstalk/protocol.h"

#include "fuzz.h"

static const struct {
    uint64_t least, most;
    bool is_number;
} OPTIONS[BEANSTALK_OPTIONS] = {
#define NUMBER                             true
#define PRIORITY                           true
#define NAMED                              false
#define NAMES                              false
#define ESCAPED                            false
#define X(option, text, kind, least, most) {least, most, kind},
    BEANSTALK_OPTION_LIST(X)
#undef X
};

static void check_options(const BeanstalkCommand *command)
{
    for (unsigned i = 0; i < BEANSTALK_OPTIONS; i++) {
        if (!beanstalk_given(command, (BeanstalkOption)i)) {
            CHECK(command->numbers[i] == 0 && command->texts[i].size == 0);
        } else if (OPTIONS[i].is_number) {
            CHECK(command->numbers[i] >= OPTIONS[i].least);
            CHECK(command->numbers[i] <= OPTIONS[i].most);
        } else if (i == BEANSTALK_O_TO) {
            CHECK(journal_is_name(command->texts[i]));
        } else if (i != BEANSTALK_O_FROM) {
            CHECK(command->texts[i].size <= OPTIONS[i].most);
        }
    }
}

static void check_good(const BeanstalkCommand *command)
{
    bool own = beanstalk_is_own(command->word);
    uint64_t most = own ? JOURNAL_DATA_MAX + JOURNAL_KEY_MAX : UINT32_MAX;
    CHECK(command->word < BEANSTALK_WORDS);
    CHECK(command->bytes <= most && command->key.size <= BEANSTALK_LINE_MAX);
    CHECK(command->tube.size == 0 || journal_is_name(command->tube));
    CHECK(command->secret.size <= BEANSTALK_SECRET_MAX);
    CHECK(command->token_count <= BEANSTALK_TOKENS_MAX);
    CHECK(command->name_count <= JOURNAL_CLAIM_NAMES_MAX);
    for (size_t i = 0; i < command->name_count; i++)
        CHECK(journal_is_name(command->names[i]));
    check_options(command);
    CHECK(command->numbers[BEANSTALK_O_KEYLEN] <= command->bytes || !own);
    CHECK(!beanstalk_given(command, BEANSTALK_O_AT) ||
          !beanstalk_given(command, BEANSTALK_O_DELAY));
}

static void check_words(const Reason *reason)
{
    BUFFER_SCOPE Buffer answer = {0};
    Slice line;
    CHECK(reason->rule[0] != '\0');
    beanstalk_write_error(&answer, STATUS_INVALID, reason);
    line = buffer_slice(&answer);
    CHECK(slice_find(line, '\n') == line.size - 1 && slice_find(line, '\r') == line.size - 2);
    CHECK(line.size < BEANSTALK_SENTENCE_MAX + sizeof reason->field + 32);
}

/* Compared is what has no pointers. */
static void check_same(const BeanstalkCommand *a, const BeanstalkCommand *b)
{
    CHECK(a->word == b->word && a->id == b->id && a->count == b->count && a->bytes == b->bytes);
    CHECK(a->priority == b->priority && a->delay_s == b->delay_s && a->ttr_s == b->ttr_s);
    CHECK(a->given == b->given && a->name_count == b->name_count);
    CHECK(a->token_count == b->token_count && a->has_bytes == b->has_bytes);
    CHECK(slice_equal(a->key, b->key) && slice_equal(a->tube, b->tube));
    CHECK(memcmp(a->numbers, b->numbers, sizeof a->numbers) == 0);
}

static void feed_line(Slice line)
{
    ARENA_SCOPE Arena *arena = arena_new(), *other = arena_new();
    BeanstalkCommand command, again;
    Reason reason = {0}, second = {0};
    BeanstalkVerdict verdict = beanstalk_parse(line, arena, &command, &reason);
    CHECK(beanstalk_parse(line, other, &again, &second) == verdict);
    check_same(&command, &again);
    if (slice_find(line, '\0') < line.size)
        CHECK(verdict == BEANSTALK_BAD_FORMAT);
    switch (verdict) {
    case BEANSTALK_GOOD:
        check_good(&command);
        break;
    case BEANSTALK_BAD_FORMAT:
        CHECK(!beanstalk_is_own(command.word) || command.word == BEANSTALK_WORDS);
        break;
    case BEANSTALK_UNKNOWN:
        CHECK(command.word == BEANSTALK_WORDS);
        break;
    case BEANSTALK_REFUSED:
        CHECK(beanstalk_is_own(command.word) && command.word < BEANSTALK_WORDS);
        check_words(&reason);
        break;
    }
}

/* As the listener does, which takes a body where there is one for the next lines: more lines are only harder. */
static void feed_lines(Slice input)
{
    while (input.size > 0) {
        bool is_long, again_long;
        size_t size = beanstalk_line(input, &is_long);
        if (size == 0) {
            CHECK(is_long == (input.size >= (slice_starts_with(input, SLICE("x-"))
                                                 ? (size_t)BEANSTALK_OWN_LINE_MAX
                                                 : (size_t)BEANSTALK_LINE_MAX)));
            feed_line(input);
            return;
        }
        CHECK(!is_long && size >= 2 && size <= input.size && size <= BEANSTALK_OWN_LINE_MAX);
        CHECK(memcmp(input.data + size - 2, "\r\n", 2) == 0);
        CHECK(memmem(input.data, size - 1, "\r\n", 2) == NULL);
        CHECK(beanstalk_line(slice_of(input.data, size), &again_long) == size);
        CHECK(beanstalk_line(slice_of(input.data, size - 1), &again_long) == 0);
        feed_line(slice_of(input.data, size - 2));
        input = slice_after(input, size);
    }
}

static void feed_escapes(Slice text)
{
    ARENA_SCOPE Arena *arena = arena_new();
    BUFFER_SCOPE Buffer escaped = {0};
    Slice plain;
    if (beanstalk_unescape(text, arena, &plain) == STATUS_OK)
        CHECK(plain.size <= text.size);
    for (size_t i = 0; i < text.size; i++)
        buffer_print(&escaped, i % 2 == 0 ? "%%%02x" : "%%%02X", (unsigned char)text.data[i]);
    CHECK(beanstalk_unescape(buffer_slice(&escaped), arena, &plain) == STATUS_OK);
    CHECK(slice_equal(plain, text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Slice input = slice_of(data, size);
    feed_lines(input);
    feed_escapes(input);
    return 0;
}
