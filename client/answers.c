/* answers.c -- the forms of the answers, and the one function that reads them. */
#include "answers.h"

#include <string.h>

/* Letters of a form, one a field:
 *   u a number    p a priority    e a priority or -    d a date    n a date or -    k bytes of a key    b bytes of data
 *   o an outcome    t a token    j a journal    s a status    w a word    r the rest of the line */
static const struct {
    const char *word, *form;
    OjKind kind;
} ANSWERS[] = {
    {"X-OK", "", OJ_OK},
    {"X-PUT", "oud", OJ_PUT},
    {"X-CLAIMED", "un", OJ_CLAIMED},
    {"X-ENTRY", "utjpuddukb", OJ_ENTRY},
    {"X-DID", "r", OJ_DID},
    {"X-LISTENING", "u", OJ_LISTENING},
    {"X-READY", "juen", OJ_READY},
    {"X-ERROR", "swr", OJ_ERROR},
};

static const struct {
    const char *word;
    OstrakaJournalStatus status;
} WORDS[] = {
    {"BAD_FORMAT", OSTRAKA_JOURNAL_INVALID},     {"UNKNOWN_COMMAND", OSTRAKA_JOURNAL_UNSUPPORTED},
    {"INTERNAL_ERROR", OSTRAKA_JOURNAL_UNKNOWN}, {"OUT_OF_MEMORY", OSTRAKA_JOURNAL_THROTTLED},
    {"DRAINING", OSTRAKA_JOURNAL_UNAVAILABLE},   {"JOB_TOO_BIG", OSTRAKA_JOURNAL_TOO_LARGE},
    {"EXPECTED_CRLF", OSTRAKA_JOURNAL_INVALID},  {"NOT_FOUND", OSTRAKA_JOURNAL_NOT_FOUND},
};

static const char *const STATUSES[] = {
    "OK",        "NOT_FOUND", "INVALID", "LOGIN",       "DENIED",  "TOO_LARGE", "REFUSED",
    "THROTTLED", "CONFLICT",  "LOST",    "UNAVAILABLE", "UNKNOWN", "CORRUPT",   "UNSUPPORTED"};
static const char *const OUTCOMES[] = {"created",     "merged", "held",
                                       "held_merged", "stale",  "ignored"};

#define COUNT(list) (sizeof(list) / sizeof *(list))

const char *ostraka_journal_status_name(OstrakaJournalStatus status)
{
    return (unsigned)status < COUNT(STATUSES) ? STATUSES[status] : "UNKNOWN";
}

static bool is(const char *text, size_t size, const char *word)
{
    return strlen(word) == size && memcmp(text, word, size) == 0;
}

/* Its place among the words, or -1. */
static int place(const char *text, size_t size, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is(text, size, words[i]))
            return (int)i;
    return -1;
}

static bool read_number(OjField *field, uint64_t max)
{
    uint64_t value = 0;
    if (field->size == 0)
        return false;
    for (size_t i = 0; i < field->size; i++) {
        unsigned digit = (unsigned char)field->text[i] - (unsigned)'0';
        if (digit > 9 || value > (max - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    field->number = value;
    return true;
}

static bool read_date(OjField *field, bool may_be_none)
{
    if (may_be_none && is(field->text, field->size, "-")) {
        field->number = OSTRAKA_JOURNAL_NEVER;
        return true;
    }
    return read_number(field, INT64_MAX - 1);
}

static bool read_place(OjField *field, const char *const *words, size_t count)
{
    int found = place(field->text, field->size, words, count);
    field->number = (uint64_t)found;
    return found >= 0;
}

static bool is_token(const OjField *field)
{
    for (size_t i = 0; i < field->size; i++)
        if (memchr("0123456789abcdef", field->text[i], 16) == NULL)
            return false;
    return field->size == sizeof((OstrakaJournalToken *)0)->text - 1;
}

bool oj_name_is_valid(const char *name, size_t size)
{
    static const char MAY[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-+/;.$_()";
    for (size_t i = 0; i < size; i++)
        if (memchr(MAY, name[i], sizeof MAY - 1) == NULL)
            return false;
    return size > 0 && size <= OSTRAKA_JOURNAL_NAME_MAX && name[0] != '-';
}

static bool read_field(char form, OjField *field)
{
    switch (form) {
    case 'u':
        return read_number(field, UINT64_MAX);
    case 'p':
        return read_number(field, UINT32_MAX);
    case 'e':
        return is(field->text, field->size, "-") || read_number(field, UINT32_MAX);
    case 'd':
    case 'n':
        return read_date(field, form == 'n');
    case 'k':
        return read_number(field, OSTRAKA_JOURNAL_KEY_MAX);
    case 'b':
        return read_number(field, OSTRAKA_JOURNAL_DATA_MAX);
    case 'o':
        return read_place(field, OUTCOMES, COUNT(OUTCOMES));
    case 's':
        return read_place(field, STATUSES, COUNT(STATUSES)) && field->number != OSTRAKA_JOURNAL_OK;
    case 't':
        return is_token(field);
    case 'j':
        return oj_name_is_valid(field->text, field->size);
    default:
        return field->size > 0;
    }
}

/* The next field of what is left, which begins with the space before it; `r` takes all. */
static bool next_field(char form, const char **rest, size_t *size, OjField *ret_field)
{
    if (*size == 0 || **rest != ' ')
        return false;
    const char *text = *rest + 1;
    const char *end = form == 'r' ? NULL : memchr(text, ' ', *size - 1);
    size_t length = end == NULL ? *size - 1 : (size_t)(end - text);
    *ret_field = (OjField){.text = text, .size = length};
    *size -= length + 1;
    *rest = text + length;
    return true;
}

static bool read_form(const char *form, const char *rest, size_t size, OjAnswer *answer)
{
    for (size_t i = 0; form[i] != 0; i++)
        if (!next_field(form[i], &rest, &size, &answer->fields[i]) ||
            !read_field(form[i], &answer->fields[i]))
            return false;
    return size == 0;
}

OjKind oj_answer_parse(const char *line, size_t size, OjAnswer *ret_answer)
{
    const char *space = memchr(line, ' ', size);
    size_t word = space == NULL ? size : (size_t)(space - line);
    *ret_answer = (OjAnswer){.kind = OJ_NONSENSE};
    for (size_t i = 0; i < COUNT(ANSWERS); i++)
        if (is(line, word, ANSWERS[i].word) &&
            read_form(ANSWERS[i].form, line + word, size - word, ret_answer)) {
            ret_answer->kind = ANSWERS[i].kind;
            if (ret_answer->kind == OJ_ERROR)
                ret_answer->status = (OstrakaJournalStatus)ret_answer->fields[0].number;
        }
    for (size_t i = 0; i < COUNT(WORDS); i++)
        if (is(line, size, WORDS[i].word)) {
            ret_answer->kind = OJ_WORD;
            ret_answer->status = WORDS[i].status;
            ret_answer->fields[0] = (OjField){.text = line, .size = size};
        }
    return ret_answer->kind;
}

bool oj_answer_next_step(OjField *rest, OstrakaJournalStatus *ret_status)
{
    if (rest->size == 0)
        return false;
    const char *end = memchr(rest->text, ' ', rest->size);
    size_t size = end == NULL ? rest->size : (size_t)(end - rest->text);
    int found = place(rest->text, size, STATUSES, COUNT(STATUSES));
    *ret_status = found < 0 ? OSTRAKA_JOURNAL_UNKNOWN : (OstrakaJournalStatus)found;
    size_t taken = end == NULL ? size : size + 1;
    rest->text += taken;
    rest->size -= taken;
    return true;
}
