/* declaration_test.c -- the file of journals: its defaults, each of its bounds from both sides, and what it refuses with which words. */
#include <stdio.h>

#include "journal/declaration.h"
#include "test.h"

static Status read_text(const char *text, Arena *arena, const JournalDeclaration **ret,
                        Reason *reason)
{
    return declaration_read(slice_from(text), "journals.conf", arena, ret, reason);
}

TEST(a_journal_without_words_has_the_defaults)
{
    ARENA_SCOPE Arena *arena = arena_new();
    const JournalDeclaration *declaration;
    Reason reason;
    EXPECT_STATUS(
        read_text("# mine\n\n[journal b]\n[journal a]\n[tubes]\n", arena, &declaration, &reason),
        STATUS_OK);
    const JournalDeclared *a = declaration_find(declaration, SLICE("a"));
    EXPECT(a != NULL && a->rules.merge && a->rules.lease_ms == 300000 && a->rules.timeouts == 3 &&
           a->rules.priority == 100 && a->rules.max_data == 65536 && a->rules.dead_max == 10000 &&
           a->rules.dead_ms == 30 * INT64_C(86400000) && a->rules.sync == JOURNAL_SYNC_ENDS &&
           a->files.shrink == JOURNAL_TRUNCATE && a->files.shrink_above == 64 << 20 &&
           a->put.count == 0);
    EXPECT(declaration->has_tubes && declaration->tubes.rules.process == JOURNAL_EARLIEST &&
           declaration->tubes.rules.timeouts == JOURNAL_TIMEOUTS_NONE);
    EXPECT(declaration_find(declaration, SLICE("c")) == NULL && declaration->group_count == 1);
}

TEST(everything_that_can_be_said_is_heard)
{
    ARENA_SCOPE Arena *arena = arena_new();
    const JournalDeclaration *declaration;
    Reason reason;
    EXPECT_STATUS(
        read_text(
            "[group far]\nreplicas = 1\n[journal recount]\nmerge = no\nprocess = keep\n"
            "on_processing = ignore\nmax_defer_s = 60\nlease_s = 5\npriority = SLOW\ntimeouts = "
            "none\n"
            "backoff_s = 2\nbackoff_max_s = 9\nexpire_s = 7\nmax_entries = 10\nmax_bytes = 4G\n"
            "max_data = 1K\nmax_waiters = 3\ndead = drop\ndead_max = 0\ndead_days = 2\n"
            "shrink = delete\nshrink_above = 1M\nwipe = yes\nperiod = month\nsync = all\ngroup = "
            "far\n"
            "key_from = json:/policy\nfield = policy u64 required\nfield = note text\n"
            "put = task, token:mail\nclaim = role:worker,local , any\n",
            arena, &declaration, &reason),
        STATUS_OK);
    const JournalDeclared *it = &declaration->journals[0];
    EXPECT(!it->rules.merge && it->rules.process == JOURNAL_KEEP &&
           it->rules.on_processing == JOURNAL_IGNORE && it->rules.max_defer_ms == 60000 &&
           it->rules.priority == 200 && it->rules.drop_dead &&
           it->rules.max_bytes == UINT64_C(4) << 30 && it->rules.sync == JOURNAL_SYNC_ALL);
    EXPECT(it->files.wipe && it->files.period == JOURNAL_PERIOD_MONTH &&
           slice_equal(it->group, SLICE("far")));
    EXPECT(it->key_from == JOURNAL_KEY_JSON && slice_equal(it->key_pointer, SLICE("/policy")));
    EXPECT(it->field_count == 2 && it->fields[0].required &&
           it->fields[1].type == JOURNAL_FIELD_TEXT);
    EXPECT(it->put.count == 2 && it->put.items[1].kind == JOURNAL_ACCESS_TOKEN &&
           it->claim.count == 3);
}

static const struct {
    const char *text, *said;
} WRONG[] = {
    {"x = 1\n", "line 1: begin with a section"},
    {"[journal a]\nx = 1\n", "line 2: there is no such setting"},
    {"[journal a]\nlease_s = 5\nlease_s = 5\n", "line 3: is already set in line 2"},
    {"[journal a]\n[journal a]\n", "line 2: this journal was declared already"},
    {"[tubes]\n[tubes]\n", "line 2: [tubes] is there already"},
    {"[group g]\n[group g]\n", "line 2: this group was declared already"},
    {"[group g]\nreplicas = store\n", "line 2: must be 1"},
    {"[group g]\nreplicas = 1\nreplicas = 1\n", "line 3: is already set"},
    {"[group g]\nlisten = x\n", "line 2: a group has the setting replicas"},
    {"[journal a b]\n", "line 1: a journal's name has"},
    {"[journal -a]\n", "line 1: a journal's name has"},
    {"[other]\n", "line 1: a section is"},
    {"[journal a\n", "line 1: a section is"},
    {"[journal a]\nnothing\n", "line 2: a line must be: name = value"},
    {"[journal a]\nmerge = maybe\n", "line 2: must be yes or no"},
    {"[journal a]\nprocess = soon\n", "line 2: is one of latest, earliest and keep"},
    {"[journal a]\ngroup = g\n", "there is no section [group NAME]"},
    {"[journal a]\nkey_from = json:policy\n", "json: takes a pointer"},
    {"[journal a]\nkey_from = head\n", "must be none, body, line1 or json:/pointer"},
    {"[journal a]\nfield = n u32\n", "must be: a name of"},
    {"[journal a]\nfield = n u64\nfield = n text\n", "line 3: this field was declared already"},
    {"[journal a]\nput = nobody\n", "is a list of admin"},
    {"[journal a]\nput = ,\n", "must name somebody"},
    {"[journal a]\nwipe = yes\n", "wipe needs shrink = delete or a period"},
    {"[journal a]\nshrink = delete\n[journal b]\nshrink = reset\n",
     "line 4: journals of one group share its files"},
    {"[journal a]\npriority = LATER\n", "or one of NOW"},
    {"[journal \xff]\n", "line 1: must be UTF-8"},
    {"[journal a]\nput = \x01\n", "line 2: must be text without control"},
};

TEST(what_is_wrong_is_named_with_file_line_and_rule)
{
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        ARENA_SCOPE Arena *arena = arena_new();
        const JournalDeclaration *declaration;
        Reason reason = {0};
        EXPECT_STATUS(read_text(WRONG[i].text, arena, &declaration, &reason), STATUS_INVALID);
        if (strstr(reason.rule, WRONG[i].said) == NULL ||
            strncmp(reason.rule, "journals.conf", 13) != 0)
            test_fail(__FILE__, __LINE__, "\"%s\" says \"%s\", not \"%s\"", WRONG[i].text,
                      reason.rule, WRONG[i].said);
    }
}

static const struct {
    const char *name, *least, *most, *below, *above;
} BOUNDS[] = {
    {"max_defer_s", "0", "31622400", "-1", "31622401"},
    {"lease_s", "1", "86400", "0", "86401"},
    {"priority", "0", "4294967295", "-1", "4294967296"},
    {"timeouts", "0", "254", "-1", "255"},
    {"backoff_s", "0", "86400", "-1", "86401"},
    {"backoff_max_s", "0", "31622400", "-1", "31622401"},
    {"max_entries", "1", "100000000", "0", "100000001"},
    {"max_bytes", "1K", "1024G", "1023", "1025G"},
    {"max_data", "1", "64M", "0", "65M"},
    {"max_waiters", "1", "1000000", "0", "1000001"},
    {"dead_max", "0", "1000000", "-1", "1000001"},
    {"dead_days", "1", "36500", "0", "36501"},
    {"shrink_above", "1M", "1024G", "1023K", "1025G"},
    {"expire_s", "0", "3162240000", "-1", "3162240001"},
};

TEST(every_bound_holds_on_both_sides)
{
    for (size_t i = 0; i < sizeof BOUNDS / sizeof *BOUNDS; i++)
        for (int side = 0; side < 4; side++) {
            ARENA_SCOPE Arena *arena = arena_new();
            const JournalDeclaration *declaration;
            Reason reason = {0};
            char text[200];
            const char *values[] = {BOUNDS[i].least, BOUNDS[i].most, BOUNDS[i].below,
                                    BOUNDS[i].above};
            snprintf(text, sizeof text, "[journal a]\n%s = %s\n", BOUNDS[i].name, values[side]);
            Status status = read_text(text, arena, &declaration, &reason);
            if (status != (side < 2 ? STATUS_OK : STATUS_INVALID))
                test_fail(__FILE__, __LINE__, "%s: %s %s", text, status_name(status), reason.rule);
        }
}

TEST(lines_journals_and_groups_are_bounded)
{
    static char text[64 * 1024];
    ARENA_SCOPE Arena *arena = arena_new();
    const JournalDeclaration *declaration;
    Reason reason;
    size_t size = 0;
    memset(text, '#', DECLARATION_LINE_MAX);
    EXPECT_STATUS(
        declaration_read(slice_of(text, DECLARATION_LINE_MAX), "f", arena, &declaration, &reason),
        STATUS_OK);
    text[DECLARATION_LINE_MAX] = '#';
    EXPECT_STATUS(declaration_read(slice_of(text, DECLARATION_LINE_MAX + 1), "f", arena,
                                   &declaration, &reason),
                  STATUS_INVALID);
    for (int i = 0; i < DECLARATION_JOURNALS_MAX; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, "[journal %d]\n", i);
    EXPECT_STATUS(declaration_read(slice_of(text, size), "f", arena, &declaration, &reason),
                  STATUS_OK);
    size += (size_t)snprintf(text + size, sizeof text - size, "[journal x]\n");
    EXPECT_STATUS(declaration_read(slice_of(text, size), "f", arena, &declaration, &reason),
                  STATUS_INVALID);
    size = 0;
    for (int i = 0; i + 1 < DECLARATION_GROUPS_MAX; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, "[group %d]\n", i);
    EXPECT_STATUS(declaration_read(slice_of(text, size), "f", arena, &declaration, &reason),
                  STATUS_OK);
    size += (size_t)snprintf(text + size, sizeof text - size, "[group x]\n");
    EXPECT_STATUS(declaration_read(slice_of(text, size), "f", arena, &declaration, &reason),
                  STATUS_INVALID);
}
