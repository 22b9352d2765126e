/* files_test.c -- the log in files: opening again, shrinking, generations, sealed data, the catalogue. */
#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "journal/catalogue.h"
#include "journal/engine.h"
#include "test.h"
#include "world.h"

typedef struct Place {
    const char *directory;
    const char *declaration;
    TestWorld own;
    World world;
    Journals *journals;
    Reason reason;
} Place;

static Status try_open(Place *place)
{
    JournalsOptions options = {.directory = place->directory,
                               .declaration = slice_from(place->declaration),
                               .world = place->world,
                               .cache_bytes = 1 << 20,
                               .reopen_s = 1,
                               .still = true};
    return journals_open(&options, &place->journals, &place->reason);
}

static void open_place(Place *place, const char *declaration)
{
    *place = (Place){.directory = test_directory(), .declaration = declaration};
    place->world = test_world(&place->own, 3);
    if (try_open(place) != STATUS_OK)
        test_fail(__FILE__, __LINE__, "does not open: %s", place->reason.rule);
}

static void reopen(Place *place)
{
    journals_close(place->journals);
    if (try_open(place) != STATUS_OK)
        test_fail(__FILE__, __LINE__, "does not open again: %s", place->reason.rule);
    const char *wrong = journals_check(place->journals);
    if (wrong != NULL)
        test_fail(__FILE__, __LINE__, "%s", wrong);
}

/* All files below the directory; with `text`, how many of them have these bytes in them. */
static uint64_t bytes_below(const char *path, Slice text, size_t *found)
{
    uint64_t sum = 0;
    DIR *directory = opendir(path);
    CHECK(directory != NULL);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        char below[4096];
        struct stat info;
        snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] == '.' || lstat(below, &info) != 0)
            continue;
        if (S_ISDIR(info.st_mode)) {
            sum += bytes_below(below, text, found);
            continue;
        }
        sum += (uint64_t)info.st_size;
        FILE *file = fopen(below, "rb");
        char *content = malloc((size_t)info.st_size + 1);
        CHECK(file != NULL && content != NULL);
        size_t size = fread(content, 1, (size_t)info.st_size, file);
        if (text.size > 0 && memmem(content, size, text.data, text.size) != NULL)
            ++*found;
        free(content);
        fclose(file);
    }
    closedir(directory);
    return sum;
}

static uint64_t size_of(const Place *place)
{
    size_t unused = 0;
    return bytes_below(place->directory, SLICE_EMPTY, &unused);
}

static bool has(const Place *place, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", place->directory, name);
    return access(path, F_OK) == 0;
}

static void put_some(Place *place, const char *journal, size_t count, size_t size)
{
    static char data[65536];
    JournalPut puts[50];
    JournalAnswer answers[50];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)(i * 7919 >> 3 ^ i);
    for (size_t done = 0; done < count;) {
        size_t many = count - done < 50 ? count - done : 50;
        for (size_t i = 0; i < many; i++) {
            random_fill(place->world.random, data, 4096); /* so that it does not pack well */
            puts[i] = (JournalPut){
                .journal = slice_from(journal), .data = slice_of(data, size), .lazy = true};
        }
        EXPECT_STATUS(journal_put_many(place->journals, puts, many, answers, &place->reason),
                      STATUS_OK);
        done += many;
    }
}

static size_t work_off(Place *place, const char *journal)
{
    Slice name = slice_from(journal);
    JournalClaim claim = {
        .journals = &name, .journal_count = 1, .count = 100, .max_priority = UINT32_MAX};
    size_t done = 0;
    for (;;) {
        ARENA_SCOPE Arena *arena = arena_new();
        JournalClaims claims;
        JournalStep steps[100] = {0};
        EXPECT_STATUS(journal_claim(place->journals, &claim, arena, &claims, &place->reason),
                      STATUS_OK);
        if (claims.count == 0)
            return done;
        for (size_t i = 0; i < claims.count; i++)
            steps[i].token = claims.entries[i].token;
        EXPECT_STATUS(journal_done(place->journals, steps, claims.count, &place->reason),
                      STATUS_OK);
        done += claims.count;
    }
}

static void shrink(Place *place, uint64_t below)
{
    for (int i = 0; i < 100 && size_of(place) > below; i++) {
        test_world_pass(&place->own, 11 * US_PER_S);
        journals_shrink(place->journals);
        usleep(100000); /* compaction has a thread of its own */
    }
    EXPECT(size_of(place) <= below);
}

TEST(I2_everything_is_there_again_after_opening)
{
    Place place;
    ARENA_SCOPE Arena *arena = arena_new();
    open_place(&place, "[journal j]\n[journal k]\n");
    put_some(&place, "j", 500, 100);
    JournalPut put = {.journal = SLICE("k"),
                      .key = SLICE("key"),
                      .data = SLICE("data"),
                      .priority = 5,
                      .has_priority = true};
    JournalAnswer answer;
    EXPECT_STATUS(journal_put(place.journals, &put, &answer, &place.reason), STATUS_OK);
    const Slice name = SLICE("k");
    JournalClaim claim = {.journals = &name, .journal_count = 1, .max_priority = UINT32_MAX};
    JournalClaims claims;
    EXPECT_STATUS(journal_claim(place.journals, &claim, arena, &claims, &place.reason), STATUS_OK);
    put.data = SLICE("newer");
    EXPECT_STATUS(journal_put(place.journals, &put, &answer, &place.reason), STATUS_OK);
    reopen(&place);
    JournalStats stats;
    EXPECT_STATUS(journal_stats(place.journals, name, &stats, &place.reason), STATUS_OK);
    EXPECT(stats.processing == 1 && stats.held == 1 && stats.counters[JOURNAL_COUNT_CREATED] == 2);
    JournalStep step = {.token = claims.entries[0].token};
    EXPECT_STATUS(journal_done(place.journals, &step, 1, &place.reason), STATUS_OK);
    EXPECT_STATUS(journal_claim(place.journals, &claim, arena, &claims, &place.reason), STATUS_OK);
    EXPECT_SLICE(claims.entries[0].data, SLICE("newer"));
    EXPECT_I64(work_off(&place, "j"), 500);
    journals_close(place.journals);
}

TEST(I10_files_are_small_again_when_the_work_is_done)
{
    Place place;
    open_place(&place, "[journal j]\n");
    put_some(&place, "j", 10000, 4096);
    EXPECT(size_of(&place) > 30 << 20);
    EXPECT_I64(work_off(&place, "j"), 10000);
    shrink(&place, 10 << 20);
    EXPECT(has(&place, "main.1"));
    reopen(&place);
    EXPECT_I64(work_off(&place, "j"), 0);
    journals_close(place.journals);
}

TEST(I10_an_empty_generation_is_deleted_whole_and_the_counters_go_along)
{
    Place place;
    JournalStats stats;
    open_place(&place, "[journal j]\nshrink = delete\n");
    put_some(&place, "j", 5000, 4096);
    EXPECT_I64(work_off(&place, "j"), 5000);
    shrink(&place, 2 << 20);
    EXPECT(!has(&place, "main.1") && has(&place, "main.2"));
    EXPECT_STATUS(journal_pause(place.journals, SLICE("j"), 0, &place.reason), STATUS_OK);
    reopen(&place);
    EXPECT_STATUS(journal_stats(place.journals, SLICE("j"), &stats, &place.reason), STATUS_OK);
    EXPECT_I64(stats.counters[JOURNAL_COUNT_DONE], 5000);
    journals_close(place.journals);
}

static void pass_hours(Place *place, int hours)
{
    test_world_pass(&place->own, hours * INT64_C(3600) * US_PER_S);
    journals_tick(place->journals);
    journals_shrink(place->journals);
}

TEST(periods_drain_and_the_oldest_of_more_than_four_is_moved)
{
    Place place;
    open_place(&place, "[journal j]\nperiod = hour\ntimeouts = none\n");
    for (int i = 0; i < 6; i++) {
        put_some(&place, "j", 300, 100);
        pass_hours(&place, 1);
        if (i == 2)
            EXPECT(has(&place, "main.1") && has(&place, "main.3"));
    }
    for (int i = 0; i < 10 && has(&place, "main.1"); i++)
        pass_hours(&place, 0);
    EXPECT(!has(&place, "main.1"));
    reopen(&place);
    EXPECT_I64(work_off(&place, "j"), 1800);
    pass_hours(&place, 0);
    EXPECT(!has(&place, "main.4"));
    journals_close(place.journals);
}

TEST(wiped_data_is_sealed_and_its_key_goes_with_the_generation)
{
    Place place;
    size_t found = 0;
    const Slice secret = SLICE("a secret that is easy to find");
    open_place(&place, "[journal j]\nwipe = yes\nshrink = delete\n");
    JournalPut put = {.journal = SLICE("j"), .data = secret};
    JournalAnswer answer;
    EXPECT_STATUS(journal_put(place.journals, &put, &answer, &place.reason), STATUS_OK);
    (void)bytes_below(place.directory, secret, &found);
    EXPECT(found == 0 && has(&place, "main.1.key"));
    reopen(&place);
    ARENA_SCOPE Arena *arena = arena_new();
    JournalView view;
    EXPECT_STATUS(journal_get(place.journals, answer.id, arena, &view, &place.reason), STATUS_OK);
    EXPECT_SLICE(view.data, secret);
    put_some(&place, "j", 3000, 4096);
    EXPECT_I64(work_off(&place, "j"), 3001);
    shrink(&place, 2 << 20);
    EXPECT(!has(&place, "main.1.key") && has(&place, "main.2.key"));
    journals_close(place.journals);
}

TEST(what_the_catalogue_does_not_name_is_removed)
{
    Place place;
    char path[4096];
    open_place(&place, "[journal j]\n");
    snprintf(path, sizeof path, "%s/main.7", place.directory);
    CHECK(mkdir(path, 0700) == 0);
    snprintf(path, sizeof path, "%s/mine.txt", place.directory);
    CHECK(mkdir(path, 0700) == 0);
    reopen(&place);
    EXPECT(!has(&place, "main.7") && has(&place, "mine.txt") && has(&place, "main.1"));
    journals_close(place.journals);
}

TEST(groups_have_files_of_their_own_and_ids_find_their_group)
{
    Place place;
    Slice names[] = {SLICE("j"), SLICE("k")};
    open_place(&place, "[group other]\n[journal j]\n[journal k]\ngroup = other\n");
    EXPECT(has(&place, "main.1") && has(&place, "other.1"));
    put_some(&place, "k", 1, 10);
    ARENA_SCOPE Arena *arena = arena_new();
    JournalClaim claim = {.journals = names, .journal_count = 2, .max_priority = UINT32_MAX};
    JournalClaims claims;
    EXPECT_STATUS(journal_claim(place.journals, &claim, arena, &claims, &place.reason),
                  STATUS_INVALID);
    claim = (JournalClaim){.journals = names + 1, .journal_count = 1, .max_priority = UINT32_MAX};
    EXPECT_STATUS(journal_claim(place.journals, &claim, arena, &claims, &place.reason), STATUS_OK);
    JournalView view;
    EXPECT_STATUS(journal_get(place.journals, claims.entries[0].id, arena, &view, &place.reason),
                  STATUS_OK);
    JournalStep step = {.token = claims.entries[0].token};
    EXPECT_STATUS(journal_done(place.journals, &step, 1, &place.reason), STATUS_OK);
    EXPECT_STATUS(journal_done(place.journals, &step, 1, &place.reason), STATUS_CONFLICT);
    put_some(&place, "k", 1, 10);
    EXPECT_STATUS(
        journals_reload(place.journals, SLICE("[journal j]\n[journal k]\n"), "f", &place.reason),
        STATUS_INVALID);
    journals_close(place.journals);
}

TEST(a_second_owner_and_a_damaged_catalogue_are_refused)
{
    Place place, other;
    char path[4096];
    open_place(&place, "[journal j]\n");
    other = place;
    EXPECT_STATUS(try_open(&other), STATUS_CONFLICT);
    journals_close(place.journals);
    snprintf(path, sizeof path, "%s/catalogue", place.directory);
    FILE *file = fopen(path, "ab");
    CHECK(file != NULL && fputs("generation 1 2 open\n", file) >= 0 && fclose(file) == 0);
    EXPECT_STATUS(try_open(&place), STATUS_CORRUPT);
}

static JournalClaimed put_and_claim(Place *place, Arena *arena)
{
    const Slice name = SLICE("j");
    const JournalClaim claim = {.journals = &name, .journal_count = 1, .max_priority = UINT32_MAX};
    JournalClaims claims;
    put_some(place, "j", 1, 10);
    EXPECT_STATUS(journal_claim(place->journals, &claim, arena, &claims, &place->reason),
                  STATUS_OK);
    EXPECT_I64(claims.count, 1);
    return claims.entries[0];
}

/* As after `restore`, which brings no journals back. */
TEST(a_directory_that_was_lost_repeats_no_id_and_no_token)
{
    Place place;
    ARENA_SCOPE Arena *arena = arena_new();
    open_place(&place, "[journal j]\n");
    JournalClaimed before = put_and_claim(&place, arena);
    put_some(&place, "j", 100000, 10); /* into another block of ids */
    EXPECT(before.id < INT64_C(1) << 53);
    journals_close(place.journals);
    EXPECT_STATUS(disk_remove_tree(place.world.disk, place.directory, &place.reason), STATUS_OK);
    test_world_pass(&place.own, 2 * US_PER_S);
    EXPECT_STATUS(try_open(&place), STATUS_OK);
    JournalClaimed after = put_and_claim(&place, arena);
    EXPECT(after.id > before.id + 100000);
    EXPECT(memcmp(after.token.bytes, before.token.bytes, 4) > 0); /* the epoch */
    journals_close(place.journals);
}

TEST(the_catalogue_reads_what_it_writes_and_nothing_else)
{
    BUFFER_SCOPE Buffer text = {0}, again = {0};
    CatalogueContent content = {.epoch = 4, .next_id = 65537, .group_count = 1}, back;
    content.groups[0] = (CatalogueGroup){.name = "main", .count = 2};
    content.groups[0].generations[0] = (CatalogueGeneration){1, 1000, true};
    content.groups[0].generations[1] = (CatalogueGeneration){2, 2000, false};
    catalogue_text(&content, &text);
    EXPECT_STATUS(catalogue_parse(buffer_slice(&text), &back), STATUS_OK);
    catalogue_text(&back, &again);
    EXPECT_SLICE(buffer_slice(&again), buffer_slice(&text));
    for (size_t cut = 0; cut + 1 < text.size; cut++) {
        Status status = catalogue_parse(slice_of(text.data, cut), &back);
        EXPECT(status == STATUS_CORRUPT || text.data[cut - 1] == '\n');
    }
}
