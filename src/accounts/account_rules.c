/* account_rules.c -- see account_rules.h. */
#include "accounts/account_rules.h"

#include <stdio.h>
#include <utf8proc.h>

#include "accounts/unicode_scripts.h"

enum {
    FOLD_TRIES = 8, /* folding settles after two; more would be a fault of the tables */
    MARKS_MAX = 4,  /* on one letter: enough for Myanmar and Tibetan, too few for a tower */
    LOCAL_MAX = 64, /* bytes before the @ */
    DOMAIN_MAX = 253,
    LABEL_MAX = 63,
    WORD_SHOWN = 40, /* bytes of a word that is none, at most */
    WORDS_BYTES = 200,
};

/* ---- Words ------------------------------------------------------------------------------------------------- */

const char *const ACCOUNT_STATE_WORDS[] = WORDS(ACCOUNT_STATE_LIST, WORD_2);
const char *const ACCOUNT_ROLE_WORDS[] = WORDS(ACCOUNT_ROLE_LIST, WORD_2);
const char *const ACCOUNT_RIGHT_WORDS[] = WORDS(ACCOUNT_RIGHT_LIST, WORD_2);

static const char *const ROLE_TEXTS[] = WORDS(ACCOUNT_ROLE_LIST, WORD_3);
static const char *const RIGHT_TEXTS[] = WORDS(ACCOUNT_RIGHT_LIST, WORD_3);

const char *account_state_text(AccountState state)
{
    return word_of(ACCOUNT_STATE_WORDS, state);
}

const char *account_role_text(AccountRole role)
{
    return word_of(ACCOUNT_ROLE_WORDS, role);
}

const char *account_right_text(AccountRight right)
{
    return word_of(ACCOUNT_RIGHT_WORDS, right);
}

const char *account_role_words(AccountRole role)
{
    return word_of(ROLE_TEXTS, role);
}

const char *account_right_words(AccountRight right)
{
    return word_of(RIGHT_TEXTS, right);
}

/* "admin,feature" to bits. A word that is not there gets all that are: they are few. */
static Status bits_from(const char *one, const char *const *words, Slice text, const char *field,
                        uint32_t *ret_bits, Reason *reason)
{
    Slice word;
    uint32_t bits = 0;
    while (slice_split(&text, ',', &word)) {
        unsigned value;
        if (word_find(words, slice_trim(word), field, &value, NULL) != STATUS_OK) {
            char all[WORDS_BYTES];
            int size = 0;
            for (int i = 0; words[i] != NULL; i++)
                size += snprintf(all + size, sizeof all - (size_t)size, "%s%s", i > 0 ? ", " : "",
                                 words[i]);
            if (word.size > WORD_SHOWN)
                return reason_set(reason, STATUS_INVALID, field,
                                  "there is no such %s; there are %s", one, all);
            return reason_set(reason, STATUS_INVALID, field,
                              "there is no %s \"%.*s\"; there are %s", one, SLICE_ARG(word), all);
        }
        bits |= 1u << value;
    }
    *ret_bits = bits;
    return STATUS_OK;
}

Status account_roles_from(Slice text, const char *field, uint32_t *ret_roles, Reason *reason)
{
    return bits_from("role", ACCOUNT_ROLE_WORDS, text, field, ret_roles, reason);
}

Status account_rights_from(Slice text, const char *field, uint32_t *ret_rights, Reason *reason)
{
    return bits_from("right", ACCOUNT_RIGHT_WORDS, text, field, ret_rights, reason);
}

/* ---- Characters -------------------------------------------------------------------------------------------- */

/* Walks over text that is valid UTF-8. */
static int32_t next_character(Slice *rest)
{
    utf8proc_int32_t character;
    utf8proc_ssize_t size = utf8proc_iterate((const utf8proc_uint8_t *)rest->data,
                                             (utf8proc_ssize_t)rest->size, &character);
    CHECK(size > 0);
    *rest = slice_after(*rest, (size_t)size);
    return character;
}

static int count_characters(Slice text)
{
    int count = 0;
    for (Slice rest = text; rest.size > 0; count++)
        next_character(&rest);
    return count;
}

/* NFKC and case folding in the arena's memory: decompose, then compose in place. */
static Slice map_text(Slice text, Arena *arena)
{
    const utf8proc_option_t options = (utf8proc_option_t)(UTF8PROC_STABLE | UTF8PROC_COMPOSE |
                                                          UTF8PROC_COMPAT | UTF8PROC_CASEFOLD);
    const utf8proc_uint8_t *bytes = (const utf8proc_uint8_t *)text.data;
    utf8proc_ssize_t size = (utf8proc_ssize_t)text.size;
    utf8proc_ssize_t count = utf8proc_decompose(bytes, size, NULL, 0, options);
    CHECK(count >= 0);
    utf8proc_int32_t *buffer = ARENA_ARRAY(arena, (size_t)count + 1, utf8proc_int32_t);
    CHECK(utf8proc_decompose(bytes, size, buffer, count, options) == count);
    utf8proc_ssize_t mapped = utf8proc_reencode(buffer, count, options);
    CHECK(mapped >= 0);
    return slice_of(buffer, (size_t)mapped);
}

/* Case folding takes the Turkish capital I with a dot to an i with a dot upon it; to a reader both are an i. */
static Slice without_dotted_i(Slice text, Arena *arena)
{
    const Slice dot = SLICE("\xCC\x87");
    char *to = arena_bytes(arena, text.size);
    size_t size = 0;
    while (text.size > 0) {
        bool dotted = size > 0 && to[size - 1] == 'i' && slice_starts_with(text, dot);
        if (!dotted)
            to[size++] = text.data[0];
        text = slice_after(text, dotted ? dot.size : 1);
    }
    return slice_of(to, size);
}

/* Composing after folding can make something that folds again, so until nothing changes. */
static Status fold(Slice text, Arena *arena, Slice *ret_folded)
{
    for (int i = 0; i < FOLD_TRIES; i++) {
        Slice before = text;
        text = without_dotted_i(map_text(text, arena), arena);
        if (slice_equal(before, text)) {
            *ret_folded = text;
            return STATUS_OK;
        }
    }
    return STATUS_INVALID;
}

/* ---- Names ------------------------------------------------------------------------------------------------- */

/* What was read of a name so far. */
typedef struct NameWalk {
    int script;   /* -1: none yet */
    int marks;    /* since the last letter */
    bool in_word; /* the last character was a letter, a digit or a mark */
    bool letter;  /* … of those, one that can carry marks */
} NameWalk;

static bool is_separator(int32_t character)
{
    return character == '-' || character == '_' || character == '.';
}

static bool walk_letter(NameWalk *walk, int32_t character)
{
    int script;
    ScriptPart part = script_part(character, &script);
    if (part == SCRIPT_NOTHING || (walk->script >= 0 && walk->script != script))
        return false;
    if (part == SCRIPT_MARK && (!walk->letter || ++walk->marks > MARKS_MAX))
        return false;
    if (part == SCRIPT_LETTER)
        walk->marks = 0;
    walk->script = script;
    walk->in_word = walk->letter = true;
    return true;
}

static bool walk_character(NameWalk *walk, int32_t character)
{
    if (character >= '0' && character <= '9') {
        walk->in_word = true;
        walk->letter = false;
        return true;
    }
    if (!is_separator(character))
        return walk_letter(walk, character);
    bool fits = walk->in_word;
    walk->in_word = walk->letter = false;
    return fits;
}

static bool name_is_well_formed(Slice folded)
{
    NameWalk walk = {.script = -1};
    for (Slice rest = folded; rest.size > 0;)
        if (!walk_character(&walk, next_character(&rest)))
            return false;
    return walk.in_word;
}

Status account_fold_name(Slice name, Arena *arena, Slice *ret_folded, Reason *reason)
{
    Slice folded = SLICE_EMPTY;
    bool short_enough = name.size <= ACCOUNT_NAME_BYTES;
    if (short_enough && !slice_is_utf8(name))
        return reason_set(reason, STATUS_INVALID, "name", "a name is UTF-8 text");
    bool settled = short_enough && fold(name, arena, &folded) == STATUS_OK;
    int count = count_characters(folded);
    if (!short_enough || (settled && (count < ACCOUNT_NAME_LEAST || count > ACCOUNT_NAME_MAX)))
        return reason_set(reason, STATUS_INVALID, "name", "a name has %d to %d characters",
                          ACCOUNT_NAME_LEAST, ACCOUNT_NAME_MAX);
    if (!settled || !name_is_well_formed(folded))
        return reason_set(reason, STATUS_INVALID, "name",
                          "a name has letters and digits of one script, and - _ . between them");
    *ret_folded = folded;
    return STATUS_OK;
}

/* A name with dots looks like a host when it ends like one: in two letters (the country codes), in a word that sites end in, or in letters
 * after two dots ("vote.town.example"). A name like anna.lind is left alone. What slips through is no link in a letter all the same (mail/letters.h). */
static bool is_host_end(Slice end, size_t dots)
{
    static const char *const ENDS[] = {
        "app",   "arpa",   "biz",     "blog",  "cloud", "com",   "coop",  "dev",
        "edu",   "eus",    "example", "gmbh",  "gov",   "group", "home",  "host",
        "info",  "int",    "jobs",    "lan",   "link",  "live",  "local", "localhost",
        "mil",   "mobi",   "museum",  "name",  "net",   "ngo",   "news",  "online",
        "onion", "org",    "page",    "party", "post",  "pro",   "shop",  "site",
        "space", "store",  "team",    "tech",  "tel",   "test",  "top",   "travel",
        "vote",  "voting", "web",     "wiki",  "work",  "world", "xyz",   "zip"};
    int count = count_characters(end);
    for (size_t i = 0; i < end.size; i++)
        if (end.data[i] >= '0' && end.data[i] <= '9')
            return false;
    if (count == 2 || (count > 2 && dots > 1))
        return true;
    for (size_t i = 0; i < sizeof ENDS / sizeof ENDS[0]; i++)
        if (slice_equal(end, slice_from(ENDS[i])))
            return true;
    return false;
}

Status account_check_new_name(Slice name, Arena *arena, Slice *ret_folded, Reason *reason)
{
    Slice folded, rest, end = SLICE_EMPTY;
    size_t dots = 0;
    TRY(account_fold_name(name, arena, &folded, reason));
    for (rest = folded; slice_find(rest, '.') < rest.size; dots++)
        rest = end = slice_after(rest, slice_find(rest, '.') + 1);
    if (dots > 0 && (slice_starts_with(folded, SLICE("www.")) || is_host_end(end, dots)))
        return reason_set(reason, STATUS_INVALID, "name",
                          "a name does not look like the name of a site; leave the dot out");
    *ret_folded = folded;
    return STATUS_OK;
}

/* ---- E-mails ----------------------------------------------------------------------------------------------- */

static bool is_foreign_letter(int32_t character)
{
    utf8proc_category_t category = utf8proc_category(character);
    return character >= 0x80 && category >= UTF8PROC_CATEGORY_LU &&
           category <= UTF8PROC_CATEGORY_NO;
}

static bool is_plain_letter(int32_t character)
{
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
           (character >= '0' && character <= '9');
}

/* Characters of `text` are letters, digits, or one of `more`. */
static bool has_only(Slice text, const char *more)
{
    for (Slice rest = text; rest.size > 0;) {
        int32_t character = next_character(&rest);
        if (!is_plain_letter(character) && !is_foreign_letter(character) &&
            (character >= 0x80 || strchr(more, character) == NULL))
            return false;
    }
    return true;
}

/* Parts between dots, none of them empty. */
static bool local_is_well_formed(Slice local)
{
    Slice part;
    if (local.size == 0 || local.size > LOCAL_MAX || local.data[local.size - 1] == '.')
        return false;
    while (slice_split(&local, '.', &part))
        if (part.size == 0 || !has_only(part, "!#$%&'*+/=?^_`{|}~-"))
            return false;
    return true;
}

static bool domain_is_well_formed(Slice domain)
{
    Slice label;
    if (domain.size == 0 || domain.size > DOMAIN_MAX || domain.data[domain.size - 1] == '.')
        return false;
    while (slice_split(&domain, '.', &label))
        if (label.size == 0 || label.size > LABEL_MAX || label.data[0] == '-' ||
            label.data[label.size - 1] == '-' || !has_only(label, "-"))
            return false;
    return true;
}

static bool email_is_well_formed(Slice email)
{
    size_t at = slice_find(email, '@');
    return email.size <= ACCOUNT_EMAIL_BYTES && at < email.size &&
           local_is_well_formed(slice_of(email.data, at)) &&
           domain_is_well_formed(slice_after(email, at + 1));
}

Status account_fold_email(Slice email, Arena *arena, Slice *ret_folded, Reason *reason)
{
    Slice folded = SLICE_EMPTY, written = slice_trim(email);
    if (written.size > ACCOUNT_EMAIL_BYTES)
        return reason_set(reason, STATUS_INVALID, "email", "an e-mail has at most %d bytes",
                          ACCOUNT_EMAIL_BYTES);
    /* Both forms: what was written is where mail goes, and what was folded is what must be unique. */
    if (!slice_is_utf8(written) || !email_is_well_formed(written) ||
        fold(written, arena, &folded) != STATUS_OK || !email_is_well_formed(folded))
        return reason_set(reason, STATUS_INVALID, "email", "an e-mail looks like name@example.org");
    *ret_folded = folded;
    return STATUS_OK;
}

Slice account_email_signal(Slice folded_email, Arena *arena)
{
    size_t at = slice_find(folded_email, '@'), size = 0;
    size_t tag = slice_find(slice_of(folded_email.data, at), '+');
    char *signal = arena_bytes(arena, folded_email.size);
    for (size_t i = 0; i < tag; i++)
        if (folded_email.data[i] != '.')
            signal[size++] = folded_email.data[i];
    if (size == 0) /* "+tag@…" */
        return arena_copy(arena, folded_email);
    memcpy(signal + size, folded_email.data + at, folded_email.size - at);
    return slice_of(signal, size + folded_email.size - at);
}

/* ---- Passwords --------------------------------------------------------------------------------------------- */

Status account_check_password(Slice password, Reason *reason)
{
    if (password.size > ACCOUNT_PASSWORD_BYTES)
        return reason_set(reason, STATUS_INVALID, "password", "a password has at most %d bytes",
                          ACCOUNT_PASSWORD_BYTES);
    if (!slice_is_utf8(password))
        return reason_set(reason, STATUS_INVALID, "password",
                          "a password is UTF-8 text without NUL");
    if (count_characters(password) < ACCOUNT_PASSWORD_LEAST)
        return reason_set(reason, STATUS_INVALID, "password",
                          "a password has at least %d characters", ACCOUNT_PASSWORD_LEAST);
    return STATUS_OK;
}

/* ---- Lines ------------------------------------------------------------------------------------------------- */

/* Control and format characters could turn the rest of a page around; the two joiners are a part of some scripts. */
static bool may_stand_in_line(utf8proc_int32_t code)
{
    enum { NON_JOINER = 0x200C, JOINER = 0x200D };
    utf8proc_category_t category = utf8proc_category(code);
    if (category == UTF8PROC_CATEGORY_CF)
        return code == NON_JOINER || code == JOINER;
    return category != UTF8PROC_CATEGORY_CC && category != UTF8PROC_CATEGORY_CS &&
           category != UTF8PROC_CATEGORY_ZL && category != UTF8PROC_CATEGORY_ZP;
}

Status account_check_line(const char *field, Slice text, size_t most, Reason *reason)
{
    if (text.size == 0)
        return STATUS_OK;
    if (text.size > 4 * most || !slice_is_utf8(text))
        return reason_set(reason, STATUS_INVALID, field, "at most %zu characters of UTF-8 text",
                          most);
    if (slice_trim(text).size != text.size)
        return reason_set(reason, STATUS_INVALID, field, "no blanks at the ends");
    size_t count = 0;
    for (Slice rest = text; rest.size > 0; count++) {
        utf8proc_int32_t code;
        (void)utf8proc_iterate((const utf8proc_uint8_t *)rest.data, (utf8proc_ssize_t)rest.size,
                               &code);
        if (!may_stand_in_line(code))
            return reason_set(reason, STATUS_INVALID, field, "no control characters");
        rest = slice_after(rest, slice_utf8_length(rest));
    }
    if (count > most)
        return reason_set(reason, STATUS_INVALID, field, "at most %zu characters", most);
    return STATUS_OK;
}
