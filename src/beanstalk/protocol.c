/* protocol.c -- see protocol.h. */
#include "beanstalk/protocol.h"

#include <ctype.h>

typedef enum OptionKind { NUMBER, PRIORITY, NAMED, NAMES, ESCAPED } OptionKind;

static const struct WordRow {
    Slice text;
    BeanstalkShape shape;
    uint32_t options;
} WORD_ROWS[BEANSTALK_WORDS] = {
#define O(option)                     (UINT32_C(1) << BEANSTALK_O_##option)
#define X(word, text, shape, options) {{text, sizeof(text) - 1}, BEANSTALK_##shape, options},
    BEANSTALK_WORD_LIST(X)
#undef X
#undef O
};

static const struct OptionRow {
    const char *text;
    OptionKind kind;
    uint64_t least, most;
} OPTION_ROWS[BEANSTALK_OPTIONS] = {
#define X(option, text, kind, least, most) {text, kind, least, most},
    BEANSTALK_OPTION_LIST(X)
#undef X
};

bool beanstalk_is_own(BeanstalkWord word)
{
    return word >= BEANSTALK_X_AUTH;
}

/* ---- Lines ------------------------------------------------------------------------------------------------- */

size_t beanstalk_line(Slice input, bool *ret_long)
{
    bool own = slice_starts_with(input, SLICE("x-"));
    size_t most = own ? BEANSTALK_OWN_LINE_MAX : BEANSTALK_LINE_MAX;
    size_t looked = input.size < most ? input.size : most;
    *ret_long = false;
    for (size_t at = 0; at + 1 < looked; at++) {
        const char *found = memchr(input.data + at, '\r', looked - at - 1);
        if (found == NULL)
            break;
        at = (size_t)(found - input.data);
        if (input.data[at + 1] == '\n')
            return at + 2;
    }
    *ret_long = looked == most;
    return 0;
}

/* ---- beanstalkd's arguments -------------------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void skip_spaces(Slice *rest)
{
    while (rest->size > 0 && rest->data[0] == ' ')
        *rest = slice_after(*rest, 1);
}

/* Spaces, digits; the rest begins behind them. */
static bool take_number(Slice *rest, uint64_t most, uint64_t *ret_number)
{
    uint64_t number = 0;
    skip_spaces(rest);
    if (rest->size == 0 || !is_digit(rest->data[0]))
        return false;
    for (; rest->size > 0 && is_digit(rest->data[0]); *rest = slice_after(*rest, 1))
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(rest->data[0] - '0'), &number))
            return false;
    *ret_number = number;
    return number <= most;
}

static bool take_u32(Slice *rest, uint32_t *ret_number)
{
    uint64_t number;
    if (!take_number(rest, UINT32_MAX, &number))
        return false;
    *ret_number = (uint32_t)number;
    return true;
}

/* As strtoul of the C library, which beanstalkd uses for kick: a sign, too, and what follows does not count. Then cut to 32 bits. */
static bool take_count(Slice rest, uint64_t *ret_count)
{
    bool minus = false;
    uint64_t number;
    while (rest.size > 0 && isspace((unsigned char)rest.data[0]))
        rest = slice_after(rest, 1);
    if (rest.size > 0 && (rest.data[0] == '-' || rest.data[0] == '+')) {
        minus = rest.data[0] == '-';
        rest = slice_after(rest, 1);
    }
    if (rest.size == 0 || !is_digit(rest.data[0]) || !take_number(&rest, UINT64_MAX, &number))
        return false;
    *ret_count = (uint32_t)(minus ? 0 - number : number);
    return true;
}

static bool take_tube_and_seconds(Slice rest, BeanstalkCommand *command)
{
    size_t size = 0;
    skip_spaces(&rest);
    while (size < rest.size && rest.data[size] != ' ')
        size++;
    command->tube = slice_of(rest.data, size);
    rest = slice_after(rest, size);
    return take_u32(&rest, &command->seconds) && rest.size == 0 && journal_is_name(command->tube);
}

static bool take_put(Slice rest, Arena *arena, BeanstalkCommand *command)
{
    if (!take_u32(&rest, &command->priority) || !take_u32(&rest, &command->delay_s) ||
        !take_u32(&rest, &command->ttr_s) || !take_number(&rest, UINT32_MAX, &command->bytes))
        return false;
    command->has_bytes = true;
    if (rest.size == 0)
        return true;
    skip_spaces(&rest);
    command->has_key = slice_starts_with(rest, SLICE("key:"));
    return command->has_key &&
           beanstalk_unescape(slice_after(rest, 4), arena, &command->key) == STATUS_OK;
}

/* By what follows the word. */
static bool take_arguments(Slice rest, BeanstalkShape shape, Arena *arena,
                           BeanstalkCommand *command)
{
    switch (shape) {
    case BEANSTALK_ALONE:
        return rest.size == 0;
    case BEANSTALK_ANYTHING:
        return true;
    case BEANSTALK_ID:
        return take_number(&rest, UINT64_MAX, &command->id) && rest.size == 0;
    case BEANSTALK_ID_PRI:
        return take_number(&rest, UINT64_MAX, &command->id) &&
               take_u32(&rest, &command->priority) && rest.size == 0;
    case BEANSTALK_ID_PRI_DELAY:
        return take_number(&rest, UINT64_MAX, &command->id) &&
               take_u32(&rest, &command->priority) && take_u32(&rest, &command->delay_s) &&
               rest.size == 0;
    case BEANSTALK_COUNT:
        return take_count(rest, &command->count);
    case BEANSTALK_SECONDS:
        return take_u32(&rest, &command->seconds) && command->seconds <= INT32_MAX;
    case BEANSTALK_TUBE:
        command->tube = rest;
        return journal_is_name(rest);
    case BEANSTALK_TUBE_SECONDS:
        return take_tube_and_seconds(rest, command);
    case BEANSTALK_BODY:
        return take_put(rest, arena, command);
    case BEANSTALK_OWN_SECRET:
    case BEANSTALK_OWN_BODY:
    case BEANSTALK_OWN_ALONE:
    case BEANSTALK_OWN_TOKENS:
    case BEANSTALK_OWN_NAMES:
        break;
    }
    return false;
}

/* ---- Our own arguments ------------------------------------------------------------------------------------- */

static int hexadecimal(char c)
{
    return is_digit(c)            ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

Status beanstalk_unescape(Slice text, Arena *arena, Slice *ret_text)
{
    char *to = arena_bytes(arena, text.size);
    size_t size = 0;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] != '%') {
            if (text.data[i] <= ' ' || text.data[i] == '\x7f')
                return STATUS_INVALID;
            to[size++] = text.data[i];
            continue;
        }
        int high = i + 2 < text.size ? hexadecimal(text.data[i + 1]) : -1;
        int low = i + 2 < text.size ? hexadecimal(text.data[i + 2]) : -1;
        if (high < 0 || low < 0)
            return STATUS_INVALID;
        to[size++] = (char)(high * 16 + low);
        i += 2;
    }
    *ret_text = slice_of(to, size);
    return STATUS_OK;
}

static size_t parts_of(Slice list)
{
    size_t count = list.size > 0;
    for (size_t i = 0; i < list.size; i++)
        count += list.data[i] == ',';
    return count;
}

static Status take_names(Slice list, const char *field, Arena *arena, BeanstalkCommand *command,
                         Reason *reason)
{
    size_t count = parts_of(list);
    if (count > JOURNAL_CLAIM_NAMES_MAX)
        return reason_set(reason, STATUS_INVALID, field, "at most %d names",
                          JOURNAL_CLAIM_NAMES_MAX);
    command->names = ARENA_ARRAY(arena, count, Slice);
    while (command->name_count < count) {
        size_t size = slice_find(list, ',');
        Slice name = slice_of(list.data, size);
        if (!journal_is_name(name))
            return reason_set(reason, STATUS_INVALID, field, "names separated by commas");
        command->names[command->name_count++] = name;
        list = slice_after(list, size + 1);
    }
    return STATUS_OK;
}

static Status take_tokens(Slice list, Arena *arena, BeanstalkCommand *command, Reason *reason)
{
    size_t count = parts_of(list);
    if (count == 0 || count > BEANSTALK_TOKENS_MAX)
        return reason_set(reason, STATUS_INVALID, "token", "1 to %d tokens", BEANSTALK_TOKENS_MAX);
    command->tokens = ARENA_ARRAY(arena, count, JournalToken);
    while (command->token_count < count) {
        size_t size = slice_find(list, ',');
        if (journal_token_from_text(slice_of(list.data, size),
                                    &command->tokens[command->token_count++]) != STATUS_OK)
            return reason_set(reason, STATUS_INVALID, "token",
                              "%d lower-case hexadecimal digits, separated by commas",
                              JOURNAL_TOKEN_TEXT);
        list = slice_after(list, size + 1);
    }
    return STATUS_OK;
}

static Status take_value(Slice value, BeanstalkOption option, Arena *arena,
                         BeanstalkCommand *command, Reason *reason)
{
    const struct OptionRow *row = &OPTION_ROWS[option];
    uint32_t priority;
    switch (row->kind) {
    case NUMBER:
        if (slice_to_u64(value, &command->numbers[option]) == STATUS_OK &&
            command->numbers[option] >= row->least && command->numbers[option] <= row->most)
            return STATUS_OK;
        return reason_set(reason, STATUS_INVALID, row->text, "a number from %llu to %llu",
                          (unsigned long long)row->least, (unsigned long long)row->most);
    case PRIORITY:
        if (journal_priority_from_text(value, &priority) != STATUS_OK)
            return reason_set(reason, STATUS_INVALID, row->text,
                              "a number below 4294967296 or the name of a priority");
        command->numbers[option] = priority;
        return STATUS_OK;
    case NAMED:
        command->texts[option] = value;
        return journal_is_name(value) ? STATUS_OK
                                      : reason_set(reason, STATUS_INVALID, row->text, "a name");
    case NAMES:
        if (value.size == 0)
            return reason_set(reason, STATUS_INVALID, row->text, "names separated by commas");
        return take_names(value, row->text, arena, command, reason);
    case ESCAPED:
        if (beanstalk_unescape(value, arena, &command->texts[option]) != STATUS_OK)
            return reason_set(reason, STATUS_INVALID, row->text, "percent-encoded text");
        if (command->texts[option].size > row->most)
            return reason_set(reason, STATUS_TOO_LARGE, row->text, "at most %llu bytes",
                              (unsigned long long)row->most);
        return STATUS_OK;
    }
    return STATUS_INVALID;
}

static Status take_option(Slice part, uint32_t allowed, Arena *arena, BeanstalkCommand *command,
                          Reason *reason)
{
    size_t equals = slice_find(part, '=');
    for (unsigned option = 0; option < BEANSTALK_OPTIONS; option++) {
        if ((allowed >> option & 1) == 0 || equals == part.size ||
            !slice_equal(slice_of(part.data, equals), slice_from(OPTION_ROWS[option].text)))
            continue;
        if (beanstalk_given(command, (BeanstalkOption)option))
            return reason_set(reason, STATUS_INVALID, OPTION_ROWS[option].text, "given twice");
        command->given |= UINT32_C(1) << option;
        return take_value(slice_after(part, equals + 1), (BeanstalkOption)option, arena, command,
                          reason);
    }
    return reason_set(reason, STATUS_INVALID, NULL, "this word has no such option: %.*s",
                      part.size > 40 ? 40 : (int)part.size, part.data);
}

static Status check_own(const BeanstalkCommand *command, Reason *reason)
{
    if (beanstalk_given(command, BEANSTALK_O_KEY) && beanstalk_given(command, BEANSTALK_O_KEYLEN))
        return reason_set(reason, STATUS_INVALID, "key", "not together with keylen");
    if (beanstalk_given(command, BEANSTALK_O_AT) && beanstalk_given(command, BEANSTALK_O_DELAY))
        return reason_set(reason, STATUS_INVALID, "at", "not together with delay");
    if (command->numbers[BEANSTALK_O_KEYLEN] > command->bytes)
        return reason_set(reason, STATUS_INVALID, "keylen", "at most BYTES");
    return STATUS_OK;
}

/* What stands before the options. */
static Status take_own_first(Slice first, BeanstalkShape shape, Arena *arena,
                             BeanstalkCommand *command, Reason *reason)
{
    if (shape == BEANSTALK_OWN_SECRET) {
        command->secret = first;
        return first.size > 0 && first.size <= BEANSTALK_SECRET_MAX
                   ? STATUS_OK
                   : reason_set(reason, STATUS_INVALID, "token", "1 to %d bytes",
                                BEANSTALK_SECRET_MAX);
    }
    if (shape == BEANSTALK_OWN_TOKENS)
        return take_tokens(first, arena, command, reason);
    if (shape == BEANSTALK_OWN_NAMES)
        return take_names(first, "names", arena, command, reason);
    uint64_t bytes;
    if (slice_to_u64(first, &bytes) != STATUS_OK || bytes > JOURNAL_DATA_MAX + JOURNAL_KEY_MAX)
        return reason_set(reason, STATUS_INVALID, "bytes", "a number from 0 to %d",
                          JOURNAL_DATA_MAX + JOURNAL_KEY_MAX);
    command->bytes = bytes;
    command->has_bytes = true;
    return STATUS_OK;
}

static Status take_own(Slice rest, const struct WordRow *row, Arena *arena,
                       BeanstalkCommand *command, Reason *reason)
{
    Slice part = SLICE_EMPTY;
    if (row->shape != BEANSTALK_OWN_ALONE) {
        while (slice_split(&rest, ' ', &part) && part.size == 0)
            ;
        TRY(take_own_first(part, row->shape, arena, command, reason));
    }
    while (slice_split(&rest, ' ', &part))
        if (part.size > 0)
            TRY(take_option(part, row->options, arena, command, reason));
    return check_own(command, reason);
}

/* ---- A line ------------------------------------------------------------------------------------------------ */

/* Our own words end with a space or the line. */
static bool begins_with(Slice line, const struct WordRow *row)
{
    return slice_starts_with(line, row->text) &&
           (row->shape < BEANSTALK_OWN_SECRET || line.size == row->text.size ||
            line.data[row->text.size] == ' ');
}

BeanstalkVerdict beanstalk_parse(Slice line, Arena *arena, BeanstalkCommand *ret_command,
                                 Reason *reason)
{
    unsigned word = 0;
    line = arena_copy(arena, line);
    memset(ret_command, 0, sizeof *ret_command);
    ret_command->word = BEANSTALK_WORDS;
    if (slice_find(line, '\0') < line.size)
        return BEANSTALK_BAD_FORMAT;
    while (word < BEANSTALK_WORDS && !begins_with(line, &WORD_ROWS[word]))
        word++;
    if (word == BEANSTALK_WORDS)
        return BEANSTALK_UNKNOWN;
    const struct WordRow *row = &WORD_ROWS[word];
    Slice rest = slice_after(line, row->text.size);
    ret_command->word = (BeanstalkWord)word;
    if (beanstalk_is_own(ret_command->word))
        return take_own(rest, row, arena, ret_command, reason) == STATUS_OK ? BEANSTALK_GOOD
                                                                            : BEANSTALK_REFUSED;
    return take_arguments(rest, row->shape, arena, ret_command) ? BEANSTALK_GOOD
                                                                : BEANSTALK_BAD_FORMAT;
}

/* ---- Answers ----------------------------------------------------------------------------------------------- */

void beanstalk_write_job(Buffer *to, const char *word, uint64_t id, Slice body)
{
    buffer_print(to, "%s %llu %zu\r\n", word, (unsigned long long)id, body.size);
    buffer_bytes(to, body);
    buffer_text(to, "\r\n");
}

void beanstalk_write_data(Buffer *to, Slice text)
{
    buffer_print(to, "OK %zu\r\n", text.size);
    buffer_bytes(to, text);
    buffer_text(to, "\r\n");
}

void beanstalk_write_status(Buffer *to, Status status)
{
    for (const char *name = status_name(status); *name != '\0'; name++)
        buffer_u8(to, (uint8_t)toupper((unsigned char)*name));
}

void beanstalk_write_date(Buffer *to, int64_t ms)
{
    if (ms == JOURNAL_NEVER)
        buffer_u8(to, '-');
    else
        buffer_decimal(to, ms);
}

static void write_words(Buffer *to, const char *text, size_t most, char instead)
{
    for (size_t i = 0; text[i] != '\0' && i < most; i++) {
        char c = text[i];
        bool is_odd = (unsigned char)c < ' ' || c == '\x7f' || (c == ' ' && instead != ' ');
        buffer_u8(to, (uint8_t)(is_odd ? instead : c));
    }
}

void beanstalk_write_error(Buffer *to, Status status, const Reason *reason)
{
    buffer_text(to, "X-ERROR ");
    beanstalk_write_status(to, status);
    buffer_u8(to, ' ');
    write_words(to, reason->field[0] == '\0' ? "-" : reason->field, sizeof reason->field, '_');
    buffer_u8(to, ' ');
    write_words(to, reason->rule[0] == '\0' ? status_text(status) : reason->rule,
                BEANSTALK_SENTENCE_MAX, ' ');
    buffer_text(to, "\r\n");
}
