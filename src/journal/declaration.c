/* declaration.c -- the table of what a journal can say, and the reader of the file. */
#include "journal/declaration.h"

#include <stdlib.h>

#include "base/config.h"
#include "base/json.h"
#include "base/words.h"

#define GIB (INT64_C(1) << 30)

typedef enum SettingKind {
    SETTING_YES,
    SETTING_WORD,
    SETTING_SECONDS,
    SETTING_DAYS,
    SETTING_NUMBER,
    SETTING_SIZE,
    SETTING_PRIORITY,
    SETTING_TIMEOUTS,
    SETTING_GROUP,
    SETTING_KEY_FROM,
    SETTING_FIELD,
    SETTING_ACCESS,
} SettingKind;

typedef struct Setting {
    const char *name;
    SettingKind kind;
    size_t offset; /* in JournalDeclared */
    const char *fallback;
    int64_t least, most;
    const char *const *words;
} Setting;

static const char *const PROCESS_WORDS[] = {"latest", "earliest", "keep", NULL};
static const char *const ON_PROCESSING_WORDS[] = {"successor", "reject", "ignore", NULL};
static const char *const SYNC_WORDS[] = {"puts", "ends", "all", NULL};
static const char *const DEAD_WORDS[] = {"keep", "drop", NULL};
static const char *const SHRINK_WORDS[] = {"truncate", "delete", "reset", NULL};
static const char *const PERIOD_WORDS[] = {"none", "hour", "day", "month", NULL};
static const char *const FIELD_WORDS[] = {"u64", "i64", "text", "bool", "bytes", NULL};
static const char *const ACCESS_WORDS[] = {"admin", "task", "local", "any", NULL};
static const char *const KEY_WORDS[] = {"none", "body", "line1", NULL};

#define RULE(name)  offsetof(JournalDeclared, rules.name)
#define FILES(name) offsetof(JournalDeclared, files.name)
#define YEAR_S      (366 * S_PER_DAY)

static const Setting SETTINGS[] = {
    {"merge", SETTING_YES, RULE(merge), "yes", 0, 0, NULL},
    {"process", SETTING_WORD, RULE(process), "latest", 0, 0, PROCESS_WORDS},
    {"on_processing", SETTING_WORD, RULE(on_processing), "successor", 0, 0, ON_PROCESSING_WORDS},
    {"max_defer_s", SETTING_SECONDS, RULE(max_defer_ms), "0", 0, YEAR_S, NULL},
    {"lease_s", SETTING_SECONDS, RULE(lease_ms), "300", 1, S_PER_DAY, NULL},
    {"priority", SETTING_PRIORITY, RULE(priority), "100", 0, UINT32_MAX, NULL},
    {"timeouts", SETTING_TIMEOUTS, RULE(timeouts), "3", 0, 254, NULL},
    {"backoff_s", SETTING_SECONDS, RULE(backoff_ms), "0", 0, S_PER_DAY, NULL},
    {"backoff_max_s", SETTING_SECONDS, RULE(backoff_max_ms), "3600", 0, YEAR_S, NULL},
    {"expire_s", SETTING_SECONDS, RULE(expire_ms), "0", 0, 100 * YEAR_S, NULL},
    {"max_entries", SETTING_NUMBER, RULE(max_entries), "1000000", 1, 100000000, NULL},
    {"max_bytes", SETTING_SIZE, RULE(max_bytes), "4G", 1024, 1024 * GIB, NULL},
    {"max_data", SETTING_SIZE, RULE(max_data), "64K", 1, JOURNAL_DATA_MAX, NULL},
    {"max_waiters", SETTING_NUMBER, RULE(max_waiters), "10000", 1, 1000000, NULL},
    {"dead", SETTING_WORD, RULE(drop_dead), "keep", 0, 0, DEAD_WORDS},
    {"dead_max", SETTING_NUMBER, RULE(dead_max), "10000", 0, 1000000, NULL},
    {"dead_days", SETTING_DAYS, RULE(dead_ms), "30", 1, 36500, NULL},
    {"shrink", SETTING_WORD, FILES(shrink), "truncate", 0, 0, SHRINK_WORDS},
    {"shrink_above", SETTING_SIZE, FILES(shrink_above), "64M", 1 << 20, 1024 * GIB, NULL},
    {"wipe", SETTING_YES, FILES(wipe), "no", 0, 0, NULL},
    {"period", SETTING_WORD, FILES(period), "none", 0, 0, PERIOD_WORDS},
    {"sync", SETTING_WORD, RULE(sync), "ends", 0, 0, SYNC_WORDS},
    {"group", SETTING_GROUP, offsetof(JournalDeclared, group), "main", 0, 0, NULL},
    {"key_from", SETTING_KEY_FROM, offsetof(JournalDeclared, key_from), "none", 0, 0, NULL},
    {"field", SETTING_FIELD, 0, NULL, 0, 0, NULL},
    {"put", SETTING_ACCESS, offsetof(JournalDeclared, put), NULL, 0, 0, NULL},
    {"claim", SETTING_ACCESS, offsetof(JournalDeclared, claim), NULL, 0, 0, NULL},
};
enum { SETTING_COUNT = sizeof SETTINGS / sizeof *SETTINGS };

/* The section that is being read. */
typedef enum SectionKind {
    SECTION_NONE,
    SECTION_JOURNAL,
    SECTION_TUBES,
    SECTION_GROUP
} SectionKind;

typedef struct Reading {
    const char *path;
    Arena *arena;
    Reason *reason;
    JournalDeclaration *declaration;
    size_t line;
    SectionKind section;
    JournalDeclared *declared;      /* of the section */
    bool replicas;                  /* the group's section has said it */
    size_t seen[SETTING_COUNT];     /* the lines of the section's settings */
    size_t (*lines)[SETTING_COUNT]; /* the same for each journal, the last for tubes */
} Reading;

static Status wrong(const Reading *reading, const char *field, const char *rule)
{
    return reason_set(reading->reason, STATUS_INVALID, field, "%s, line %zu: %s", reading->path,
                      reading->line, rule);
}

/* ---- Values ------------------------------------------------------------------------------------------------ */

static Status wrong_number(const Reading *reading, const Setting *setting)
{
    return reason_set(reading->reason, STATUS_INVALID, setting->name,
                      "%s, line %zu: must be a whole number from %lld to %lld%s", reading->path,
                      reading->line, (long long)setting->least, (long long)setting->most,
                      setting->kind == SETTING_SIZE
                          ? " bytes, with K, M or G for 1024, 1024 K, 1024 M"
                      : setting->kind == SETTING_TIMEOUTS ? ", or none"
                      : setting->kind == SETTING_PRIORITY
                          ? ", or one of NOW, IMPORTANT, NEW, RESET, UPDATES, SLOW, REVIEW and "
                            "TIME_ALLOWS"
                          : "");
}

Status journal_priority_from_text(Slice text, uint32_t *ret_priority)
{
    static const struct {
        const char *word;
        uint32_t priority;
    } NAMED[] = {
#define X(name, number) {#name, number},
        JOURNAL_PRIORITY_LIST(X)
#undef X
    };
    for (size_t i = 0; i < sizeof NAMED / sizeof *NAMED; i++)
        if (slice_equal(text, slice_from(NAMED[i].word))) {
            *ret_priority = NAMED[i].priority;
            return STATUS_OK;
        }
    uint64_t number;
    TRY(slice_to_u64(text, &number));
    if (number > UINT32_MAX)
        return STATUS_INVALID;
    *ret_priority = (uint32_t)number;
    return STATUS_OK;
}

static Status number_of(const Reading *reading, const Setting *setting, Slice value,
                        int64_t *ret_number)
{
    int64_t number = 0;
    uint32_t priority = 0;
    Status status = setting->kind == SETTING_SIZE ? config_size(value, &number)
                    : setting->kind == SETTING_PRIORITY
                        ? journal_priority_from_text(value, &priority)
                        : slice_to_i64(value, &number);
    if (setting->kind == SETTING_PRIORITY)
        number = priority;
    if (status != STATUS_OK || number < setting->least || number > setting->most)
        return wrong_number(reading, setting);
    *ret_number = number;
    return STATUS_OK;
}

static Status read_key_from(const Reading *reading, Slice value)
{
    JournalDeclared *declared = reading->declared;
    Slice json = SLICE("json:");
    unsigned word;
    if (slice_starts_with(value, json)) {
        declared->key_from = JOURNAL_KEY_JSON;
        declared->key_pointer = slice_after(value, json.size);
        if (declared->key_pointer.size < 2 || declared->key_pointer.data[0] != '/')
            return wrong(reading, "key_from", "json: takes a pointer such as json:/policy");
        return STATUS_OK;
    }
    if (word_find(KEY_WORDS, value, "key_from", &word, NULL) != STATUS_OK)
        return wrong(reading, "key_from", "must be none, body, line1 or json:/pointer");
    declared->key_from = word;
    return STATUS_OK;
}

static bool is_plain_name(Slice name)
{
    for (size_t i = 0; i < name.size; i++) {
        char c = name.data[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
            c != '_' && c != '-')
            return false;
    }
    return name.size > 0 && name.size <= 64;
}

static bool next_word(Slice *rest, char separator, Slice *ret_word)
{
    do {
        if (!slice_split(rest, separator, ret_word))
            return false;
        *ret_word = slice_trim(*ret_word);
    } while (ret_word->size == 0);
    return true;
}

static Status read_field(const Reading *reading, Slice value)
{
    JournalDeclared *declared = reading->declared;
    Slice name = SLICE_EMPTY, type = SLICE_EMPTY, required = SLICE_EMPTY, more;
    unsigned word = 0;
    next_word(&value, ' ', &name);
    next_word(&value, ' ', &type);
    bool third = next_word(&value, ' ', &required);
    if (!is_plain_name(name) || word_find(FIELD_WORDS, type, "field", &word, NULL) != STATUS_OK ||
        (third && !slice_equal(required, SLICE("required"))) || next_word(&value, ' ', &more))
        return wrong(
            reading, "field",
            "must be: a name of up to 64 letters, digits, _ and -, then u64, i64, text, bool "
            "or bytes, then perhaps required");
    if (declared->field_count == DECLARATION_FIELDS_MAX)
        return wrong(reading, "field", "at most 32 fields");
    for (size_t i = 0; i < declared->field_count; i++)
        if (slice_equal(slice_from(declared->fields[i].name), name))
            return wrong(reading, "field", "this field was declared already");
    if (declared->fields == NULL)
        declared->fields = ARENA_ARRAY(reading->arena, DECLARATION_FIELDS_MAX, JournalField);
    declared->fields[declared->field_count++] =
        (JournalField){arena_text(reading->arena, name), word, third};
    return STATUS_OK;
}

static Status read_access_item(const Reading *reading, const char *field, Slice word,
                               JournalAccess *ret_access)
{
    Slice role = SLICE("role:"), token = SLICE("token:");
    unsigned kind;
    if (slice_starts_with(word, role))
        *ret_access = (JournalAccess){JOURNAL_ACCESS_ROLE, slice_after(word, role.size)};
    else if (slice_starts_with(word, token))
        *ret_access = (JournalAccess){JOURNAL_ACCESS_TOKEN, slice_after(word, token.size)};
    else if (word_find(ACCESS_WORDS, word, field, &kind, NULL) == STATUS_OK)
        *ret_access = (JournalAccess){kind, SLICE_EMPTY};
    else
        return wrong(reading, field,
                     "is a list of admin, role:NAME, token:NAME, task, local and any");
    if (ret_access->kind >= JOURNAL_ACCESS_ROLE && !is_plain_name(ret_access->name))
        return wrong(reading, field,
                     "role: and token: take a name of up to 64 letters, digits, _ and -");
    return STATUS_OK;
}

static Status read_access(const Reading *reading, const Setting *setting, Slice value)
{
    JournalAccessList *list = (JournalAccessList *)((char *)reading->declared + setting->offset);
    Slice word;
    list->items = ARENA_ARRAY(reading->arena, DECLARATION_ACCESS_MAX, JournalAccess);
    while (next_word(&value, ',', &word)) {
        if (list->count == DECLARATION_ACCESS_MAX)
            return wrong(reading, setting->name, "at most 16 names");
        TRY(read_access_item(reading, setting->name, word, &list->items[list->count++]));
    }
    return list->count > 0 ? STATUS_OK : wrong(reading, setting->name, "must name somebody");
}

static Status read_word(const Reading *reading, const Setting *setting, Slice value, void *field)
{
    Reason rule = {0};
    unsigned word;
    if (word_find(setting->words, value, setting->name, &word, &rule) != STATUS_OK)
        return wrong(reading, setting->name, rule.rule);
    if (setting->offset == RULE(drop_dead))
        *(bool *)field = word == 1;
    else
        *(unsigned *)field = word;
    return STATUS_OK;
}

static Status set_value(const Reading *reading, const Setting *setting, Slice value)
{
    void *field = (char *)reading->declared + setting->offset;
    int64_t number;
    switch (setting->kind) {
    case SETTING_YES:
        if (!slice_equal(value, SLICE("yes")) && !slice_equal(value, SLICE("no")))
            return wrong(reading, setting->name, "must be yes or no");
        *(bool *)field = value.size == 3;
        return STATUS_OK;
    case SETTING_WORD:
        return read_word(reading, setting, value, field);
    case SETTING_KEY_FROM:
        return read_key_from(reading, value);
    case SETTING_FIELD:
        return read_field(reading, value);
    case SETTING_ACCESS:
        return read_access(reading, setting, value);
    case SETTING_GROUP:
        if (!is_plain_name(value))
            return wrong(reading, setting->name, "up to 64 letters, digits, _ and -");
        *(Slice *)field = value;
        return STATUS_OK;
    case SETTING_TIMEOUTS:
        if (slice_equal(value, SLICE("none"))) {
            *(uint32_t *)field = JOURNAL_TIMEOUTS_NONE;
            return STATUS_OK;
        }
        break;
    case SETTING_SECONDS:
    case SETTING_DAYS:
    case SETTING_NUMBER:
    case SETTING_SIZE:
    case SETTING_PRIORITY:
        break;
    }
    TRY(number_of(reading, setting, value, &number));
    if (setting->kind == SETTING_SECONDS)
        *(int64_t *)field = number * 1000;
    else if (setting->kind == SETTING_DAYS)
        *(int64_t *)field = number * S_PER_DAY * 1000;
    else if (setting->kind == SETTING_NUMBER || setting->kind == SETTING_SIZE)
        *(uint64_t *)field = (uint64_t)number;
    else
        *(uint32_t *)field = (uint32_t)number;
    return STATUS_OK;
}

/* ---- Sections ---------------------------------------------------------------------------------------------- */

static JournalDeclared defaults(Slice name)
{
    JournalDeclared declared = {.name = name};
    Reading reading = {.path = "", .declared = &declared};
    for (size_t i = 0; i < SETTING_COUNT; i++)
        if (SETTINGS[i].fallback != NULL)
            CHECK(set_value(&reading, &SETTINGS[i], slice_from(SETTINGS[i].fallback)) == STATUS_OK);
    return declared;
}

/* A tube's job keeps its place, waits as long as it was told to, and is tried for ever, as beanstalkd has it. */
static JournalDeclared tube_defaults(void)
{
    JournalDeclared tubes = defaults(SLICE_EMPTY);
    tubes.rules.process = JOURNAL_EARLIEST;
    tubes.rules.timeouts = JOURNAL_TIMEOUTS_NONE;
    tubes.rules.lease_ms = 60 * 1000;
    return tubes;
}

static Status begin_journal(Reading *reading, Slice name)
{
    JournalDeclaration *declaration = reading->declaration;
    if (!journal_is_name(name))
        return wrong(reading, NULL,
                     "a journal's name has 1 to 200 of A-Z a-z 0-9 - + / ; . $ _ ( ), and does not "
                     "begin with -");
    for (size_t i = 0; i < declaration->count; i++)
        if (slice_equal(declaration->journals[i].name, name))
            return wrong(reading, NULL, "this journal was declared already");
    if (declaration->count == DECLARATION_JOURNALS_MAX)
        return wrong(reading, NULL, "at most 1000 journals");
    reading->declared = &declaration->journals[declaration->count++];
    *reading->declared = defaults(name);
    reading->declared->line = reading->line;
    reading->section = SECTION_JOURNAL;
    return STATUS_OK;
}

static Status begin_group(Reading *reading, Slice name)
{
    JournalDeclaration *declaration = reading->declaration;
    JournalGroupDeclared *group = NULL;
    if (!is_plain_name(name))
        return wrong(reading, NULL, "a group's name has up to 64 letters, digits, _ and -");
    for (size_t i = 0; i < declaration->group_count; i++)
        if (slice_equal(declaration->groups[i].name, name))
            group = &declaration->groups[i];
    if (group != NULL && group->line != 0)
        return wrong(reading, NULL, "this group was declared already");
    if (group == NULL && declaration->group_count == DECLARATION_GROUPS_MAX)
        return wrong(reading, NULL, "at most 8 groups");
    if (group == NULL)
        group = &declaration->groups[declaration->group_count++];
    *group = (JournalGroupDeclared){.name = name, .line = reading->line};
    reading->section = SECTION_GROUP;
    reading->replicas = false;
    return STATUS_OK;
}

/* What the section that ends here has said, kept for the checks across sections. */
static void end_section(Reading *reading)
{
    JournalDeclaration *declaration = reading->declaration;
    if (reading->section == SECTION_JOURNAL)
        memcpy(reading->lines[declaration->count - 1], reading->seen, sizeof reading->seen);
    else if (reading->section == SECTION_TUBES)
        memcpy(reading->lines[DECLARATION_JOURNALS_MAX], reading->seen, sizeof reading->seen);
    memset(reading->seen, 0, sizeof reading->seen);
}

static Status begin_section(Reading *reading, Slice line)
{
    Slice journal = SLICE("[journal "), group = SLICE("[group ");
    end_section(reading);
    if (line.data[line.size - 1] != ']')
        return wrong(reading, NULL, "a section is [journal NAME], [group NAME] or [tubes]");
    Slice inside = slice_of(line.data, line.size - 1);
    if (slice_starts_with(inside, journal))
        return begin_journal(reading, slice_trim(slice_after(inside, journal.size)));
    if (slice_starts_with(inside, group))
        return begin_group(reading, slice_trim(slice_after(inside, group.size)));
    if (!slice_equal(inside, SLICE("[tubes")))
        return wrong(reading, NULL, "a section is [journal NAME], [group NAME] or [tubes]");
    if (reading->declaration->has_tubes)
        return wrong(reading, NULL, "[tubes] is there already");
    reading->declaration->has_tubes = true;
    reading->declared = &reading->declaration->tubes;
    reading->declared->line = reading->line;
    reading->section = SECTION_TUBES;
    return STATUS_OK;
}

static Status read_group_setting(Reading *reading, Slice name, Slice value)
{
    if (!slice_equal(name, SLICE("replicas")))
        return wrong(reading, arena_text(reading->arena, name), "a group has the setting replicas");
    if (reading->replicas)
        return wrong(reading, "replicas", "is already set in this section");
    reading->replicas = true;
    if (!slice_equal(value, SLICE("1")))
        return wrong(reading, "replicas", "must be 1: a group is kept by this machine alone");
    return STATUS_OK;
}

static Status read_setting(Reading *reading, Slice line)
{
    size_t equals = slice_find(line, '=');
    Slice name = slice_trim(slice_of(line.data, equals)), value = slice_after(line, equals + 1);
    value = slice_trim(value);
    if (equals == line.size)
        return wrong(reading, NULL, "a line must be: name = value");
    if (reading->section == SECTION_NONE)
        return wrong(reading, NULL, "begin with a section, such as [journal NAME]");
    if (reading->section == SECTION_GROUP)
        return read_group_setting(reading, name, value);
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        if (!slice_equal(name, slice_from(SETTINGS[i].name)))
            continue;
        if (reading->seen[i] != 0 && SETTINGS[i].kind != SETTING_FIELD)
            return reason_set(reading->reason, STATUS_INVALID, SETTINGS[i].name,
                              "%s, line %zu: is already set in line %zu", reading->path,
                              reading->line, reading->seen[i]);
        reading->seen[i] = reading->line;
        return set_value(reading, &SETTINGS[i], value);
    }
    return wrong(reading, arena_text(reading->arena, name), "there is no such setting");
}

static Status read_line(Reading *reading, Slice line)
{
    if (line.size > DECLARATION_LINE_MAX)
        return wrong(reading, NULL, "the line is longer than 4096 bytes");
    line = slice_trim(line);
    if (!slice_is_utf8(line))
        return wrong(reading, NULL, "must be UTF-8 text");
    for (size_t i = 0; i < line.size; i++)
        if (((unsigned char)line.data[i] < ' ' && line.data[i] != '\t') || line.data[i] == 0x7F)
            return wrong(reading, NULL, "must be text without control characters");
    if (line.size == 0 || line.data[0] == '#')
        return STATUS_OK;
    return line.data[0] == '[' ? begin_section(reading, line) : read_setting(reading, line);
}

/* ---- What must fit together -------------------------------------------------------------------------------- */

static JournalGroupDeclared *group_of(JournalDeclaration *declaration, Slice name)
{
    for (size_t i = 0; i < declaration->group_count; i++)
        if (slice_equal(declaration->groups[i].name, name))
            return &declaration->groups[i];
    return NULL;
}

/* The journal's words about files become its group's; whoever says something else is refused. `said` has for each group and setting
 * the line that said it first. */
static Status join_files(Reading *reading, JournalDeclared *declared, const size_t *lines,
                         size_t (*said)[SETTING_COUNT])
{
    JournalGroupDeclared *group = group_of(reading->declaration, declared->group);
    reading->line = declared->line;
    if (group == NULL)
        return wrong(reading, "group", "there is no section [group NAME] of this name");
    size_t *first = said[group - reading->declaration->groups];
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        size_t at = SETTINGS[i].offset - offsetof(JournalDeclared, files);
        if (SETTINGS[i].offset < offsetof(JournalDeclared, files) || at >= sizeof(JournalFiles) ||
            lines[i] == 0)
            continue;
        size_t size = SETTINGS[i].kind == SETTING_YES    ? sizeof(bool)
                      : SETTINGS[i].kind == SETTING_SIZE ? sizeof(uint64_t)
                                                         : sizeof(unsigned);
        const char *mine = (const char *)&declared->files + at;
        char *theirs = (char *)&group->files + at;
        reading->line = lines[i];
        if (first[i] != 0 && memcmp(theirs, mine, size) != 0)
            return reason_set(reading->reason, STATUS_INVALID, SETTINGS[i].name,
                              "%s, line %zu: journals of one group share its files, and line %zu "
                              "says something else",
                              reading->path, lines[i], first[i]);
        memcpy(theirs, mine, size);
        first[i] = lines[i];
    }
    return STATUS_OK;
}

static Status check_wipe(Reading *reading)
{
    for (size_t i = 0; i < reading->declaration->group_count; i++) {
        const JournalFiles *files = &reading->declaration->groups[i].files;
        if (files->wipe && files->shrink != JOURNAL_DELETE && files->period == JOURNAL_PERIOD_NONE)
            return reason_set(
                reading->reason, STATUS_INVALID, "wipe",
                "%s, group %.*s: wipe needs shrink = delete or a period, since a key goes "
                "with its files",
                reading->path, SLICE_ARG(reading->declaration->groups[i].name));
    }
    return STATUS_OK;
}

static int by_name(const void *a, const void *b)
{
    const JournalDeclared *left = a, *right = b;
    return slice_compare(left->name, right->name);
}

static Status finish(Reading *reading)
{
    JournalDeclaration *declaration = reading->declaration;
    size_t said[DECLARATION_GROUPS_MAX][SETTING_COUNT] = {0};
    end_section(reading);
    const JournalFiles files = defaults(SLICE_EMPTY).files;
    for (size_t i = 0; i < declaration->group_count; i++)
        declaration->groups[i].files = files;
    for (size_t i = 0; i < declaration->count; i++)
        TRY(join_files(reading, &declaration->journals[i], reading->lines[i], said));
    if (declaration->has_tubes)
        TRY(join_files(reading, &declaration->tubes, reading->lines[DECLARATION_JOURNALS_MAX],
                       said));
    TRY(check_wipe(reading));
    for (size_t i = 0; i < declaration->count; i++) {
        const JournalGroupDeclared *group = group_of(declaration, declaration->journals[i].group);
        CHECK(group != NULL); /* join_files has looked */
        declaration->journals[i].files = group->files;
    }
    qsort(declaration->journals, declaration->count, sizeof *declaration->journals, by_name);
    return STATUS_OK;
}

Status declaration_read(Slice text, const char *path, Arena *arena,
                        const JournalDeclaration **ret_declaration, Reason *reason)
{
    Reading reading = {.path = path, .arena = arena, .reason = reason};
    if (text.size > DECLARATION_BYTES_MAX)
        return reason_set(reason, STATUS_INVALID, NULL, "%s: is longer than 1 MiB", path);
    reading.declaration = ARENA_NEW(arena, JournalDeclaration);
    reading.declaration->journals = ARENA_ARRAY(arena, DECLARATION_JOURNALS_MAX, JournalDeclared);
    reading.declaration->tubes = tube_defaults();
    reading.declaration->groups[0].name = SLICE("main");
    reading.declaration->group_count = 1;
    reading.lines = arena_zeroed(arena, DECLARATION_JOURNALS_MAX + 1, sizeof *reading.lines);
    Slice rest = arena_copy(arena, text), line;
    while (slice_split(&rest, '\n', &line)) {
        reading.line++;
        TRY(read_line(&reading, line));
    }
    TRY(finish(&reading));
    *ret_declaration = reading.declaration;
    return STATUS_OK;
}

const JournalDeclared *declaration_find(const JournalDeclaration *declaration, Slice name)
{
    JournalDeclared wanted = {.name = name};
    if (declaration->count == 0)
        return NULL;
    return bsearch(&wanted, declaration->journals, declaration->count, sizeof wanted, by_name);
}
