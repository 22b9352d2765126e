/* config_test.c -- settings from texts, files and the environment. */
#include "base/config.h"

#include "test.h"

typedef struct Fixture {
    Arena *arena;
    Config config;
    Reason reason;
} Fixture;

#define FIXTURE_SCOPE __attribute__((cleanup(fixture_end)))

static Fixture fixture_new(void)
{
    Fixture fixture = {.arena = arena_new()};
    config_defaults(&fixture.config);
    return fixture;
}

static void fixture_end(Fixture *fixture)
{
    arena_free(fixture->arena);
}

static Status set(Fixture *f, Slice name, Slice value)
{
    f->reason = (Reason){.rule = ""};
    return config_set(&f->config, name, value, f->arena, &f->reason);
}

static Status read_file(Fixture *f, Slice text)
{
    f->reason = (Reason){.rule = ""};
    return config_read_file(&f->config, "test.conf", text, f->arena, &f->reason);
}

static Status read_variables(Fixture *f, const char *first, const char *second)
{
    char *environment[] = {(char *)(uintptr_t)first, (char *)(uintptr_t)second, NULL};
    f->reason = (Reason){.rule = ""};
    return config_read_environment(&f->config, environment, f->arena, &f->reason);
}

static bool says(const Fixture *f, const char *field, const char *words)
{
    return strcmp(f->reason.field, field) == 0 && strstr(f->reason.rule, words) != NULL;
}

TEST(defaults_are_those_of_the_table)
{
    FIXTURE_SCOPE Fixture f = fixture_new();
    EXPECT_SLICE(slice_from(f.config.listen), SLICE("127.0.0.1:8080"));
    EXPECT_SLICE(slice_from(f.config.trusted_proxies), SLICE(""));
    EXPECT_I64(f.config.cache_bytes, 256 * 1024 * 1024);
    EXPECT_I64(f.config.request_seconds, 30);
    for (size_t i = 0; i < CONFIG_SETTING_COUNT; i++)
        EXPECT_SLICE(config_value(&f.config, i, f.arena), slice_from(CONFIG_SETTINGS[i].fallback));
}

TEST(every_setting_can_be_set_to_its_bounds_and_not_beyond)
{
    FIXTURE_SCOPE Fixture f = fixture_new();
    for (size_t i = 0; i < CONFIG_SETTING_COUNT; i++) {
        const ConfigSetting *setting = &CONFIG_SETTINGS[i];
        Slice name = slice_from(setting->name);
        if (setting->type != CONFIG_NUMBER && setting->type != CONFIG_SIZE)
            continue;
        Slice least = arena_print(f.arena, "%" PRId64, setting->least);
        Slice most = arena_print(f.arena, "%" PRId64, setting->most);
        EXPECT_STATUS(set(&f, name, least), STATUS_OK);
        EXPECT_STATUS(set(&f, name, most), STATUS_OK);
        Slice below = arena_print(f.arena, "%" PRId64, setting->least - 1);
        Slice above = arena_print(f.arena, "%" PRId64, setting->most + 1);
        EXPECT_STATUS(set(&f, name, below), STATUS_INVALID);
        EXPECT(says(&f, setting->name, "must be from "));
        EXPECT_STATUS(set(&f, name, above), STATUS_INVALID);
    }
}

TEST(sizes_take_units)
{
    FIXTURE_SCOPE Fixture f = fixture_new();
    EXPECT_STATUS(set(&f, SLICE("cache_bytes"), SLICE("2G")), STATUS_OK);
    EXPECT_I64(f.config.cache_bytes, INT64_C(2) << 30);
    EXPECT_STATUS(set(&f, SLICE("cache_bytes"), SLICE(" 1025K ")), STATUS_OK);
    EXPECT_I64(f.config.cache_bytes, 1025 * 1024);
    EXPECT_STATUS(set(&f, SLICE("cache_bytes"), SLICE("1048577")), STATUS_OK);
    EXPECT_I64(f.config.cache_bytes, 1048577);
}

TEST(what_is_not_a_size_is_refused)
{
    static const Slice bad[] = {{"", 0},   {"K", 1},    {"1k", 2},  {"1MB", 3},  {"1 M", 3},
                                {"-1", 2}, {"1.5M", 4}, {"0x1", 3}, {"1M\0", 3}, {"MM", 2}};
    FIXTURE_SCOPE Fixture f = fixture_new();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        EXPECT_STATUS(set(&f, SLICE("cache_bytes"), bad[i]), STATUS_INVALID);
    EXPECT_STATUS(set(&f, SLICE("cache_bytes"), SLICE("9223372036854775807G")), STATUS_INVALID);
    EXPECT_I64(f.config.cache_bytes, 256 << 20);
}

TEST(what_is_not_a_number_is_refused)
{
    static const Slice bad[] = {{"", 0}, {"ten", 3}, {"1.5", 3}, {"1K", 2}, {"+1", 2}, {"1\0", 2}};
    FIXTURE_SCOPE Fixture f = fixture_new();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        EXPECT_STATUS(set(&f, SLICE("web_threads"), bad[i]), STATUS_INVALID);
    EXPECT_STATUS(set(&f, SLICE("web_threads"), SLICE("many")), STATUS_INVALID);
    EXPECT(says(&f, "web_threads", "must be a whole number"));
    EXPECT_I64(f.config.web_threads, 2);
}

TEST(texts_are_bounded_utf8_without_control_characters)
{
    FIXTURE_SCOPE Fixture f = fixture_new();
    char text[1001];
    memset(text, 'x', sizeof text);
    EXPECT_STATUS(set(&f, SLICE("data"), slice_of(text, 1000)), STATUS_OK);
    EXPECT_I64(strlen(f.config.data), 1000);
    EXPECT_STATUS(set(&f, SLICE("data"), slice_of(text, 1001)), STATUS_INVALID);
    EXPECT(says(&f, "data", "1 to 1000 bytes"));
    EXPECT_STATUS(set(&f, SLICE("data"), SLICE("")), STATUS_INVALID);
    EXPECT_STATUS(set(&f, SLICE("data"), SLICE("a\0b")), STATUS_INVALID);
    EXPECT(says(&f, "data", "UTF-8"));
    EXPECT_STATUS(set(&f, SLICE("data"), SLICE("a\xFF")), STATUS_INVALID);
    EXPECT_STATUS(set(&f, SLICE("data"), SLICE("a\nb")), STATUS_INVALID);
    EXPECT_STATUS(set(&f, SLICE("data"), SLICE("a\x7F")), STATUS_INVALID);
    EXPECT_STATUS(set(&f, SLICE("data"), SLICE("d\xC3\xA4ta")), STATUS_OK);
    EXPECT_SLICE(slice_from(f.config.data), SLICE("d\xC3\xA4ta"));
}

TEST(an_unknown_setting_suggests_the_nearest)
{
    FIXTURE_SCOPE Fixture f = fixture_new();
    char text[5000];
    memset(text, 'x', sizeof text);
    EXPECT_STATUS(set(&f, SLICE("lisen"), SLICE("x")), STATUS_INVALID);
    EXPECT(says(&f, "lisen", "did you mean listen?"));
    EXPECT_STATUS(set(&f, SLICE("log-levl"), SLICE("x")), STATUS_INVALID);
    EXPECT(says(&f, "log-levl", "did you mean log_level?"));
    EXPECT_STATUS(set(&f, SLICE("log-lev"), SLICE("x")), STATUS_INVALID);
    EXPECT(says(&f, "log-lev", "there is no such setting"));
    EXPECT(strstr(f.reason.rule, "mean") == NULL);
    EXPECT_STATUS(set(&f, slice_of(text, sizeof text), SLICE("x")), STATUS_INVALID);
    EXPECT_STATUS(set(&f, SLICE(""), SLICE("x")), STATUS_INVALID);
    EXPECT_STATUS(set(&f, SLICE("listen\0"), SLICE("x")), STATUS_INVALID);
}

TEST(a_file_sets_what_it_names)
{
    FIXTURE_SCOPE Fixture f = fixture_new();
    EXPECT_STATUS(read_file(&f, SLICE("# comment = no\n\n  listen = [::1]:80 \r\n\tdata=a = b\n"
                                      "grace_days = 3")),
                  STATUS_OK);
    EXPECT_SLICE(slice_from(f.config.listen), SLICE("[::1]:80"));
    EXPECT_SLICE(slice_from(f.config.data), SLICE("a = b"));
    EXPECT_I64(f.config.grace_days, 3);
    EXPECT_STATUS(read_file(&f, SLICE("")), STATUS_OK);
    EXPECT_STATUS(read_file(&f, SLICE("trusted_proxies =")), STATUS_OK);
}

TEST(an_error_in_a_file_names_the_line_and_changes_nothing)
{
    static const struct {
        Slice text;
        const char *field, *words;
    } bad[] = {
        {{"grace_days = 3\nlisten", 21}, "", "test.conf, line 2: a line must be: name = value"},
        {{"grace_days = 3\n\ngrace_days = 4", 30},
         "grace_days",
         "line 3: is already set in line 1"},
        {{"grace_days = 3\nlistem = x", 25}, "listem", "line 2: there is no such setting; did you"},
        {{"grace_days = x", 14}, "grace_days", "line 1: must be a whole number"},
        {{"grace_days = 0", 14}, "grace_days", "line 1: must be from 1 to 3650"},
        {{"data = a\0b", 10}, "data", "line 1: must be UTF-8"},
        {{"= x", 3}, "", "line 1: there is no such setting"},
        {{"\xEF\xBB\xBFgrace_days = 3", 17}, "\xEF\xBB\xBFgrace_days", "no such setting"},
    };
    FIXTURE_SCOPE Fixture f = fixture_new();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        EXPECT_STATUS(read_file(&f, bad[i].text), STATUS_INVALID);
        EXPECT(says(&f, bad[i].field, bad[i].words));
        EXPECT_I64(f.config.grace_days, 10);
    }
}

TEST(a_line_has_at_most_4096_bytes)
{
    FIXTURE_SCOPE Fixture f = fixture_new();
    char text[4098];
    memset(text, 'x', sizeof text);
    text[0] = '#';
    text[4096] = '\n';
    EXPECT_STATUS(read_file(&f, slice_of(text, sizeof text - 1)), STATUS_OK);
    text[4096] = 'x';
    EXPECT_STATUS(read_file(&f, slice_of(text, sizeof text - 1)), STATUS_INVALID);
    EXPECT(says(&f, "", "longer than 4096 bytes"));
}

TEST(the_environment_sets_what_it_names)
{
    FIXTURE_SCOPE Fixture f = fixture_new();
    EXPECT_STATUS(read_variables(&f, "OSTRAKA_LOG_LEVEL=debug", "OSTRAKA_DATA=a=b"), STATUS_OK);
    EXPECT_SLICE(slice_from(f.config.log_level), SLICE("debug"));
    EXPECT_SLICE(slice_from(f.config.data), SLICE("a=b"));
    EXPECT_STATUS(read_variables(&f, "OSTRAKA_CONFIG=/no/setting", "PATH=/bin"), STATUS_OK);
    EXPECT_STATUS(read_variables(&f, "OSTRAKA=x", "NOT_OSTRAKA_X=y"), STATUS_OK);
}

TEST(an_unknown_or_wrong_variable_is_refused_and_changes_nothing)
{
    FIXTURE_SCOPE Fixture f = fixture_new();
    EXPECT_STATUS(read_variables(&f, "OSTRAKA_DATA=x", "OSTRAKA_LISTN=x"), STATUS_INVALID);
    EXPECT(says(&f, "listn", "environment, OSTRAKA_LISTN: "));
    EXPECT(says(&f, "listn", "did you mean listen?"));
    EXPECT_SLICE(slice_from(f.config.data), SLICE("data"));
    EXPECT_STATUS(read_variables(&f, "OSTRAKA_GRACE_DAYS=x", NULL), STATUS_INVALID);
    EXPECT(says(&f, "grace_days", "OSTRAKA_GRACE_DAYS: must be a whole number"));
    EXPECT_STATUS(read_variables(&f, "OSTRAKA_listen=x:1", NULL), STATUS_INVALID);
    EXPECT_STATUS(read_variables(&f, "OSTRAKA_=x", NULL), STATUS_INVALID);
    EXPECT_STATUS(read_variables(&f, "OSTRAKA_GRACE_DAYS", NULL), STATUS_INVALID);
}

TEST(a_value_is_printed_as_one_would_write_it)
{
    FIXTURE_SCOPE Fixture f = fixture_new();
    BUFFER_SCOPE Buffer file = {0};
    f.config.cache_bytes = 1048577;
    f.config.body_bytes = 3 << 20;
    f.config.write_buffer_bytes = INT64_C(3) << 30;
    f.config.data = "x y";
    for (size_t i = 0; i < CONFIG_SETTING_COUNT; i++) {
        Slice value = config_value(&f.config, i, f.arena);
        buffer_print(&file, "%s = %.*s\n", CONFIG_SETTINGS[i].name, SLICE_ARG(value));
    }
    buffer_u8(&file, '\0');
    EXPECT(strstr(file.data, "\nwrite_buffer_bytes = 3G\n") != NULL);
    EXPECT(strstr(file.data, "\nbody_bytes = 3M\n") != NULL);
    file.size--;
    FIXTURE_SCOPE Fixture back = fixture_new();
    EXPECT_STATUS(read_file(&back, buffer_slice(&file)), STATUS_OK);
    EXPECT_I64(back.config.cache_bytes, 1048577);
    EXPECT_I64(back.config.body_bytes, 3 << 20);
    EXPECT_SLICE(slice_from(back.config.data), SLICE("x y"));
}

TEST(help_and_documentation_have_every_setting)
{
    BUFFER_SCOPE Buffer help = {0}, page = {0};
    config_help(&help);
    config_markdown(&page);
    buffer_u8(&help, '\0');
    buffer_u8(&page, '\0');
    for (size_t i = 0; i < CONFIG_SETTING_COUNT; i++) {
        BUFFER_SCOPE Buffer row = {0};
        buffer_print(&row, "| `%s` |%c", CONFIG_SETTINGS[i].name, '\0');
        EXPECT(strstr(page.data, row.data) != NULL);
        EXPECT(strstr(page.data, CONFIG_SETTINGS[i].reason) != NULL);
        EXPECT(strchr(CONFIG_SETTINGS[i].reason, '|') == NULL);
        buffer_clear(&row);
        buffer_print(&row, "\n%s = %s\n%c", CONFIG_SETTINGS[i].name, CONFIG_SETTINGS[i].fallback,
                     '\0');
        EXPECT(strstr(help.data, row.data) != NULL);
    }
}
