/* config.c -- the table of settings at work: parsing, printing, help. Nothing here knows a setting by name. */
#include "base/config.h"

#include <inttypes.h>

/* CONFIG_LINE_MAX bounds a line of the file; SUGGESTION_MAX a name that is worth a suggestion. */
enum { CONFIG_LINE_MAX = 4096, SUGGESTION_MAX = 40, NEAR = 2 };

const ConfigSetting CONFIG_SETTINGS[] = {
#define X(type, name, fallback, least, most, reason) \
    {CONFIG_##type, #name, fallback, least, most, reason},
    CONFIG_LIST(X)
#undef X
};

static const size_t OFFSETS[] = {
#define X(type, name, fallback, least, most, reason) offsetof(Config, name),
    CONFIG_LIST(X)
#undef X
};

enum { COUNT = sizeof OFFSETS / sizeof *OFFSETS };
const size_t CONFIG_SETTING_COUNT = COUNT;

/* What a person calls the types. */
static const char *const TYPES[] = {"text", "number", "size", "on or off"};

/* A value on its way from text into its field. */
typedef struct Value {
    Slice text;
    int64_t number;
} Value;

static const ConfigSetting *find(Slice name)
{
    for (size_t i = 0; i < COUNT; i++)
        if (slice_equal(name, slice_from(CONFIG_SETTINGS[i].name)))
            return &CONFIG_SETTINGS[i];
    return NULL;
}

static size_t least_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How many letters must be added, dropped or changed to get from one name to the other. */
static size_t edit_distance(Slice a, Slice b)
{
    size_t row[SUGGESTION_MAX + 1];
    for (size_t j = 0; j <= b.size; j++)
        row[j] = j;
    for (size_t i = 1; i <= a.size; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.size; j++) {
            size_t changed = diagonal + (a.data[i - 1] != b.data[j - 1]);
            diagonal = row[j];
            row[j] = least_of(changed, least_of(row[j], row[j - 1]) + 1);
        }
    }
    return row[b.size];
}

/* The setting that was probably meant, or NULL. */
static const ConfigSetting *nearest(Slice name)
{
    const ConfigSetting *found = NULL;
    size_t best = NEAR + 1;
    for (size_t i = 0; i < COUNT && name.size <= SUGGESTION_MAX; i++) {
        size_t distance = edit_distance(name, slice_from(CONFIG_SETTINGS[i].name));
        if (distance < best) {
            best = distance;
            found = &CONFIG_SETTINGS[i];
        }
    }
    return found;
}

static Status unknown_setting(Slice name, Arena *arena, Reason *reason)
{
    const ConfigSetting *meant = nearest(name);
    const char *field = arena_text(arena, name);
    if (meant == NULL)
        return reason_set(reason, STATUS_INVALID, field, "there is no such setting");
    return reason_set(reason, STATUS_INVALID, field, "there is no such setting; did you mean %s?",
                      meant->name);
}

Status config_size(Slice text, int64_t *ret_bytes)
{
    static const char UNITS[] = "KMG";
    int64_t number, factor = 1;
    const char *unit = text.size > 1 ? strchr(UNITS, text.data[text.size - 1]) : NULL;
    if (unit != NULL) {
        factor = INT64_C(1) << (10 * (unit - UNITS + 1));
        text.size--;
    }
    TRY(slice_to_i64(text, &number));
    return __builtin_mul_overflow(number, factor, ret_bytes) ? STATUS_INVALID : STATUS_OK;
}

static Status switch_from(Slice text, int64_t *ret_on)
{
    bool on = slice_equal(text, SLICE("on"));
    if (!on && !slice_equal(text, SLICE("off")))
        return STATUS_INVALID;
    *ret_on = on;
    return STATUS_OK;
}

static bool has_control(Slice text)
{
    for (size_t i = 0; i < text.size; i++)
        if ((unsigned char)text.data[i] < ' ' || text.data[i] == 0x7F)
            return true;
    return false;
}

/* The bounds as one writes values of the type: bytes of a text, the numbers themselves, sizes with units. */
static void print_number(Buffer *out, ConfigType type, int64_t number)
{
    int unit = 0;
    while (type == CONFIG_SIZE && number != 0 && number % 1024 == 0 && unit < 3) {
        number /= 1024;
        unit++;
    }
    buffer_decimal(out, number);
    if (unit > 0)
        buffer_u8(out, (uint8_t) "KMG"[unit - 1]);
}

static void print_bounds(Buffer *out, const ConfigSetting *setting)
{
    if (setting->type == CONFIG_SWITCH)
        return;
    print_number(out, setting->type, setting->least);
    buffer_text(out, " to ");
    print_number(out, setting->type, setting->most);
    if (setting->type == CONFIG_TEXT)
        buffer_text(out, " bytes");
}

static Status out_of_bounds(const ConfigSetting *setting, Reason *reason)
{
    BUFFER_SCOPE Buffer bounds = {0};
    print_bounds(&bounds, setting);
    return reason_set(reason, STATUS_INVALID, setting->name, "must be %s%.*s",
                      setting->type == CONFIG_TEXT ? "text of " : "from ",
                      SLICE_ARG(buffer_slice(&bounds)));
}

/* The text's type, then its bounds. The text of a TEXT is a view of what came in. */
static Status value_from(const ConfigSetting *setting, Slice text, Value *ret_value, Reason *reason)
{
    Value value = {.text = slice_trim(text)};
    Status parsed = STATUS_OK;
    const char *wanted = "";
    if (!slice_is_utf8(value.text) || has_control(value.text))
        return reason_set(reason, STATUS_INVALID, setting->name,
                          "must be UTF-8 text without control characters");
    switch (setting->type) {
    case CONFIG_TEXT:
        value.number = (int64_t)value.text.size;
        break;
    case CONFIG_NUMBER:
        parsed = slice_to_i64(value.text, &value.number);
        wanted = "a whole number";
        break;
    case CONFIG_SIZE:
        parsed = config_size(value.text, &value.number);
        wanted = "a number of bytes, with K, M or G for 1024, 1024 K, 1024 M";
        break;
    case CONFIG_SWITCH:
        parsed = switch_from(value.text, &value.number);
        wanted = "on or off";
        break;
    }
    if (parsed != STATUS_OK)
        return reason_set(reason, parsed, setting->name, "must be %s", wanted);
    if (setting->type != CONFIG_SWITCH &&
        (value.number < setting->least || value.number > setting->most))
        return out_of_bounds(setting, reason);
    *ret_value = value;
    return STATUS_OK;
}

static void store_value(Config *config, const ConfigSetting *setting, Value value, const char *text)
{
    void *field = (char *)config + OFFSETS[setting - CONFIG_SETTINGS];
    switch (setting->type) {
    case CONFIG_TEXT:
        *(const char **)field = text;
        break;
    case CONFIG_NUMBER:
    case CONFIG_SIZE:
        *(int64_t *)field = value.number;
        break;
    case CONFIG_SWITCH:
        *(bool *)field = value.number != 0;
        break;
    }
}

void config_defaults(Config *ret_config)
{
    for (size_t i = 0; i < COUNT; i++) {
        const ConfigSetting *setting = &CONFIG_SETTINGS[i];
        Value value;
        CHECK(value_from(setting, slice_from(setting->fallback), &value, NULL) == STATUS_OK);
        store_value(ret_config, setting, value, setting->fallback);
    }
}

Status config_set(Config *config, Slice name, Slice value, Arena *arena, Reason *reason)
{
    Value parsed;
    const ConfigSetting *setting = find(name);
    if (setting == NULL)
        return unknown_setting(name, arena, reason);
    TRY(value_from(setting, value, &parsed, reason));
    store_value(config, setting, parsed, arena_text(arena, parsed.text));
    return STATUS_OK;
}

/* One line of the file. `seen` holds for each setting the line that set it, or 0. */
static Status read_line(Config *config, Slice line, size_t number, size_t *seen, Arena *arena,
                        Reason *reason)
{
    if (line.size > CONFIG_LINE_MAX)
        return reason_set(reason, STATUS_INVALID, NULL, "the line is longer than %d bytes",
                          CONFIG_LINE_MAX);
    line = slice_trim(line);
    if (line.size == 0 || line.data[0] == '#')
        return STATUS_OK;
    size_t equals = slice_find(line, '=');
    if (equals == line.size)
        return reason_set(reason, STATUS_INVALID, NULL, "a line must be: name = value");
    Slice name = slice_trim(slice_of(line.data, equals));
    TRY(config_set(config, name, slice_after(line, equals + 1), arena, reason));
    size_t *first = &seen[find(name) - CONFIG_SETTINGS];
    if (*first != 0)
        return reason_set(reason, STATUS_INVALID, arena_text(arena, name),
                          "is already set in line %zu", *first);
    *first = number;
    return STATUS_OK;
}

/* Lines are read into a copy, so that a file with an error changes nothing. */
Status config_read_file(Config *config, const char *path, Slice text, Arena *arena, Reason *reason)
{
    Config changed = *config;
    size_t seen[COUNT] = {0}, number = 0;
    Slice line;
    while (slice_split(&text, '\n', &line)) {
        Reason rule;
        Status status = read_line(&changed, line, ++number, seen, arena, &rule);
        if (status != STATUS_OK)
            return reason_set(reason, status, rule.field, "%s, line %zu: %s", path, number,
                              rule.rule);
    }
    *config = changed;
    return STATUS_OK;
}

/* OSTRAKA_LOG_LEVEL is log_level. A small letter is made large, so that it is not taken for the name. */
static Slice name_from_variable(Slice variable, Arena *arena)
{
    char *name = arena_bytes(arena, variable.size);
    for (size_t i = 0; i < variable.size; i++) {
        char c = variable.data[i];
        bool large = c >= 'A' && c <= 'Z', small = c >= 'a' && c <= 'z';
        name[i] = large ? (char)(c + 32) : small ? (char)(c - 32) : c;
    }
    return slice_of(name, variable.size);
}

/* The file's name, and what a command that `journal run` starts is told. */
static bool is_no_setting(Slice variable)
{
    static const char *const NAMES[] = {"OSTRAKA_CONFIG", "OSTRAKA_JOURNAL", "OSTRAKA_KEY",
                                        "OSTRAKA_ID", "OSTRAKA_PRIORITY"};
    bool found = false;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        found |= slice_equal(variable, slice_from(NAMES[i]));
    return found;
}

Status config_read_environment(Config *config, char *const *environment, Arena *arena,
                               Reason *reason)
{
    const Slice prefix = SLICE("OSTRAKA_");
    Config changed = *config;
    for (; *environment != NULL; environment++) {
        Slice entry = slice_from(*environment);
        Slice variable = slice_of(entry.data, slice_find(entry, '='));
        if (!slice_starts_with(variable, prefix) || is_no_setting(variable))
            continue;
        Reason rule;
        Slice name = name_from_variable(slice_after(variable, prefix.size), arena);
        Slice value = slice_after(entry, variable.size + 1);
        Status status = config_set(&changed, name, value, arena, &rule);
        if (status != STATUS_OK)
            return reason_set(reason, status, rule.field, "environment, %.*s: %s",
                              SLICE_ARG(variable), rule.rule);
    }
    *config = changed;
    return STATUS_OK;
}

Slice config_value(const Config *config, size_t index, Arena *arena)
{
    CHECK(index < COUNT);
    const ConfigSetting *setting = &CONFIG_SETTINGS[index];
    const void *field = (const char *)config + OFFSETS[index];
    if (setting->type == CONFIG_TEXT)
        return slice_from(*(const char *const *)field);
    if (setting->type == CONFIG_SWITCH)
        return *(const bool *)field ? SLICE("on") : SLICE("off");
    BUFFER_SCOPE Buffer out = {0};
    print_number(&out, setting->type, *(const int64_t *)field);
    return arena_copy(arena, buffer_slice(&out));
}

void config_help(Buffer *out)
{
    buffer_text(
        out,
        "A setting comes from, later wins: its default, the configuration file (name = value),\n"
        "the environment (OSTRAKA_ + the name in capitals), a flag (--name, with - for _).\n");
    for (size_t i = 0; i < COUNT; i++) {
        const ConfigSetting *setting = &CONFIG_SETTINGS[i];
        buffer_print(out, "\n%s = %s\n    %s\n    %s", setting->name, setting->fallback,
                     setting->reason, TYPES[setting->type]);
        if (setting->type != CONFIG_SWITCH)
            buffer_text(out, ", ");
        print_bounds(out, setting);
        buffer_u8(out, '\n');
    }
}

void config_markdown(Buffer *out)
{
    buffer_text(out, "# Settings\n\n"
                     "<!-- Printed by `ostraka config --markdown`. -->\n\n"
                     "A value comes from, later wins: the default, the configuration file (lines "
                     "`name = value`, `#`\n"
                     "starts a comment line), the environment (`OSTRAKA_` and the name in "
                     "capitals), a flag (`--name`\n"
                     "with `-` for `_`). Sizes take K, M and G (1024). Anything unknown or out of "
                     "bounds is an error.\n\n"
                     "| setting | type | default | bounds | what it is for |\n"
                     "|---|---|---|---|---|\n");
    for (size_t i = 0; i < COUNT; i++) {
        const ConfigSetting *setting = &CONFIG_SETTINGS[i];
        const char *mark = setting->fallback[0] == '\0' ? "" : "`";
        buffer_print(out, "| `%s` | %s | %s%s%s | ", setting->name, TYPES[setting->type], mark,
                     setting->fallback, mark);
        print_bounds(out, setting);
        buffer_print(out, " | %s |\n", setting->reason);
    }
}
