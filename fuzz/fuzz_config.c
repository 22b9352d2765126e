/* fuzz_config.c -- any text as a configuration file.
 *
 * A file that is read can be printed from the values in force and read again to the same values; one that is refused
 * changes nothing and says why. */
#include "base/config.h"

#include "fuzz.h"

static bool same(const Config *a, const Config *b, Arena *arena)
{
    for (size_t i = 0; i < CONFIG_SETTING_COUNT; i++)
        if (!slice_equal(config_value(a, i, arena), config_value(b, i, arena)))
            return false;
    return true;
}

static void check_prints_back(const Config *config, Arena *arena)
{
    BUFFER_SCOPE Buffer text = {0};
    Config back;
    for (size_t i = 0; i < CONFIG_SETTING_COUNT; i++) {
        buffer_print(&text, "%s = ", CONFIG_SETTINGS[i].name);
        buffer_bytes(&text, config_value(config, i, arena));
        buffer_u8(&text, '\n');
    }
    config_defaults(&back);
    CHECK(config_read_file(&back, "printed", buffer_slice(&text), arena, NULL) == STATUS_OK);
    CHECK(same(config, &back, arena));
}

/* The same text as one variable of the environment. */
static void feed_environment(const char *text, Arena *arena)
{
    char *variable = (char *)(uintptr_t)arena_print(arena, "OSTRAKA_%s", text).data;
    char *environment[] = {variable, NULL};
    Config config;
    config_defaults(&config);
    if (config_read_environment(&config, environment, arena, NULL) == STATUS_OK)
        check_prints_back(&config, arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice text = slice_of(data, size);
    Reason reason = {0};
    Config defaults, config;
    config_defaults(&defaults);
    config_defaults(&config);
    if (config_read_file(&config, "fuzz", text, arena, &reason) == STATUS_OK) {
        check_prints_back(&config, arena);
    } else {
        CHECK(reason.rule[0] != '\0');
        CHECK(same(&config, &defaults, arena));
    }
    feed_environment(arena_text(arena, text), arena);
    return 0;
}
