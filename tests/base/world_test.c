/* world_test.c -- the machine behind the handles, and the tests' own world. */
#include "base/world.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "test.h"
#include "world.h"

/* What a disk test starts with: an empty directory and names in it. */
typedef struct Place {
    Arena *arena;
    Disk disk;
    const char *root;
    Reason reason;
} Place;

#define PLACE_SCOPE __attribute__((cleanup(place_end)))

static Place place_new(void)
{
    Place place = {.arena = arena_new(), .disk = world_real().disk};
    place.root = arena_text(place.arena, slice_from(test_directory()));
    return place;
}

static void place_end(Place *place)
{
    arena_free(place->arena);
}

static const char *name_in(Place *place, const char *name)
{
    return arena_print(place->arena, "%s/%s", place->root, name).data;
}

static Slice content_of(Place *place, const char *path)
{
    Slice content;
    EXPECT_STATUS(disk_read(place->disk, path, 1 << 20, place->arena, &content, &place->reason),
                  STATUS_OK);
    return content;
}

static size_t names_in(Place *place, const char *path)
{
    Slice *names;
    size_t count;
    EXPECT_STATUS(disk_list(place->disk, path, place->arena, &names, &count, &place->reason),
                  STATUS_OK);
    return count;
}

static bool mentions(const Reason *reason, const char *words)
{
    return strstr(reason->rule, words) != NULL;
}

TEST(replace_makes_a_file_and_replaces_it_with_the_mode_asked_for)
{
    PLACE_SCOPE Place place = place_new();
    const char *path = name_in(&place, "file");
    struct stat info;
    EXPECT_STATUS(disk_replace(place.disk, path, 0644, SLICE("old"), NULL), STATUS_OK);
    EXPECT(stat(path, &info) == 0 && (info.st_mode & 0777) == 0644);
    EXPECT_STATUS(disk_replace(place.disk, path, 0600, SLICE("a\0b"), NULL), STATUS_OK);
    EXPECT_SLICE(content_of(&place, path), SLICE("a\0b"));
    EXPECT(stat(path, &info) == 0 && (info.st_mode & 0777) == 0600);
    EXPECT_I64(names_in(&place, place.root), 1);
    EXPECT_STATUS(disk_replace(place.disk, path, 0600, SLICE(""), NULL), STATUS_OK);
    EXPECT_SLICE(content_of(&place, path), SLICE(""));
}

TEST(a_failed_replace_leaves_the_old_content_and_nothing_else)
{
    PLACE_SCOPE Place place = place_new();
    const char *path = name_in(&place, "file");
    static char large[100000];
    struct rlimit before, small = {4096, 4096};
    EXPECT_STATUS(disk_replace(place.disk, path, 0600, SLICE("old"), NULL), STATUS_OK);
    EXPECT(getrlimit(RLIMIT_FSIZE, &before) == 0);
    small.rlim_max = before.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    EXPECT(setrlimit(RLIMIT_FSIZE, &small) == 0);
    Status status =
        disk_replace(place.disk, path, 0600, slice_of(large, sizeof large), &place.reason);
    EXPECT(setrlimit(RLIMIT_FSIZE, &before) == 0);
    EXPECT_STATUS(status, STATUS_UNAVAILABLE);
    EXPECT(mentions(&place.reason, path) && mentions(&place.reason, "File too large"));
    EXPECT_SLICE(content_of(&place, path), SLICE("old"));
    EXPECT_I64(names_in(&place, place.root), 1);
}

TEST(replace_says_what_stands_in_the_way)
{
    PLACE_SCOPE Place place = place_new();
    const char *directory = name_in(&place, "directory");
    EXPECT_STATUS(disk_make_directory(place.disk, directory, 0700, NULL), STATUS_OK);
    EXPECT_STATUS(disk_replace(place.disk, directory, 0600, SLICE("x"), &place.reason),
                  STATUS_UNAVAILABLE);
    EXPECT(mentions(&place.reason, "Is a directory"));
    EXPECT_I64(names_in(&place, place.root), 1);
    EXPECT_STATUS(
        disk_replace(place.disk, name_in(&place, "no/file"), 0600, SLICE("x"), &place.reason),
        STATUS_UNAVAILABLE);
    EXPECT(mentions(&place.reason, "No such file or directory"));
}

TEST(read_takes_a_file_up_to_its_limit)
{
    PLACE_SCOPE Place place = place_new();
    const char *path = name_in(&place, "file");
    Slice content = SLICE("untouched");
    EXPECT_STATUS(disk_replace(place.disk, path, 0600, SLICE("12345"), NULL), STATUS_OK);
    EXPECT_STATUS(disk_read(place.disk, path, 4, place.arena, &content, &place.reason),
                  STATUS_TOO_LARGE);
    EXPECT(mentions(&place.reason, path));
    EXPECT_SLICE(content, SLICE("untouched"));
    EXPECT_STATUS(disk_read(place.disk, path, 5, place.arena, &content, NULL), STATUS_OK);
    EXPECT_SLICE(content, SLICE("12345"));
    EXPECT_STATUS(disk_read(place.disk, path, SIZE_MAX, place.arena, &content, NULL), STATUS_OK);
}

TEST(read_does_not_swallow_an_endless_file)
{
    PLACE_SCOPE Place place = place_new();
    Slice content;
    EXPECT_STATUS(disk_read(place.disk, "/dev/zero", 1000000, place.arena, &content, NULL),
                  STATUS_TOO_LARGE);
}

TEST(read_of_what_is_missing_or_no_file_is_told_apart)
{
    PLACE_SCOPE Place place = place_new();
    Slice content;
    EXPECT_STATUS(
        disk_read(place.disk, name_in(&place, "none"), 9, place.arena, &content, &place.reason),
        STATUS_NOT_FOUND);
    EXPECT(mentions(&place.reason, "none: No such file or directory"));
    EXPECT_STATUS(disk_read(place.disk, place.root, 9, place.arena, &content, &place.reason),
                  STATUS_UNAVAILABLE);
    EXPECT(mentions(&place.reason, "Is a directory"));
}

TEST(a_long_path_does_not_push_the_words_out_of_the_reason)
{
    PLACE_SCOPE Place place = place_new();
    char path[8000];
    Slice content;
    memset(path, 'x', sizeof path);
    memcpy(path + sizeof path - 5, "/end", 5);
    EXPECT_STATUS(disk_read(place.disk, path, 9, place.arena, &content, &place.reason),
                  STATUS_UNAVAILABLE);
    EXPECT(mentions(&place.reason, "x/end: File name too long"));
    EXPECT_STATUS(disk_replace(place.disk, path, 0600, SLICE("x"), &place.reason),
                  STATUS_UNAVAILABLE);
    EXPECT_STATUS(disk_make_directory(place.disk, path, 0700, &place.reason), STATUS_UNAVAILABLE);
    EXPECT_STATUS(disk_rename(place.disk, place.root, path, &place.reason), STATUS_UNAVAILABLE);
    EXPECT_STATUS(disk_rename(place.disk, path, place.root, &place.reason), STATUS_UNAVAILABLE);
}

TEST(directories_are_made_with_their_parents_and_may_exist)
{
    PLACE_SCOPE Place place = place_new();
    const char *path = name_in(&place, "a//b/c/");
    struct stat info;
    for (int i = 0; i < 2; i++) {
        EXPECT_STATUS(disk_make_directory(place.disk, path, 0700, &place.reason), STATUS_OK);
        EXPECT(stat(path, &info) == 0 && S_ISDIR(info.st_mode) && (info.st_mode & 0777) == 0700);
    }
    EXPECT_STATUS(disk_make_directory(place.disk, "/", 0700, NULL), STATUS_OK);
    EXPECT_STATUS(disk_make_directory(place.disk, ".", 0700, NULL), STATUS_OK);
}

TEST(a_file_in_the_place_of_a_directory_is_an_error)
{
    PLACE_SCOPE Place place = place_new();
    EXPECT_STATUS(disk_replace(place.disk, name_in(&place, "file"), 0600, SLICE("x"), NULL),
                  STATUS_OK);
    EXPECT_STATUS(disk_make_directory(place.disk, name_in(&place, "file"), 0700, &place.reason),
                  STATUS_UNAVAILABLE);
    EXPECT(mentions(&place.reason, "Not a directory"));
    EXPECT_STATUS(disk_make_directory(place.disk, name_in(&place, "file/a"), 0700, &place.reason),
                  STATUS_UNAVAILABLE);
    EXPECT_STATUS(disk_make_directory(place.disk, "", 0700, &place.reason), STATUS_UNAVAILABLE);
}

TEST(a_list_is_in_byte_order)
{
    PLACE_SCOPE Place place = place_new();
    static const char *const names[] = {"b", "a", "\xC3\xA4", "B", "ab", ".hidden"};
    static const char *const sorted[] = {".hidden", "B", "a", "ab", "b", "\xC3\xA4"};
    Slice *found;
    size_t count;
    EXPECT_I64(names_in(&place, place.root), 0);
    for (int i = 0; i < 6; i++)
        EXPECT_STATUS(disk_make_directory(place.disk, name_in(&place, names[i]), 0700, NULL),
                      STATUS_OK);
    EXPECT_STATUS(disk_list(place.disk, place.root, place.arena, &found, &count, NULL), STATUS_OK);
    EXPECT_I64(count, 6);
    for (size_t i = 0; i < count; i++)
        EXPECT_SLICE(found[i], slice_from(sorted[i]));
    EXPECT_STATUS(
        disk_list(place.disk, name_in(&place, "none"), place.arena, &found, &count, &place.reason),
        STATUS_NOT_FOUND);
    EXPECT(mentions(&place.reason, "none"));
}

TEST(rename_moves_but_never_onto_something)
{
    PLACE_SCOPE Place place = place_new();
    const char *from = name_in(&place, "from"), *to = name_in(&place, "to");
    EXPECT_STATUS(disk_rename(place.disk, from, to, &place.reason), STATUS_NOT_FOUND);
    EXPECT_STATUS(disk_replace(place.disk, from, 0600, SLICE("1"), NULL), STATUS_OK);
    EXPECT_STATUS(disk_rename(place.disk, from, to, &place.reason), STATUS_OK);
    EXPECT_STATUS(disk_replace(place.disk, from, 0600, SLICE("2"), NULL), STATUS_OK);
    EXPECT_STATUS(disk_rename(place.disk, from, to, &place.reason), STATUS_CONFLICT);
    EXPECT(mentions(&place.reason, to) && mentions(&place.reason, "File exists"));
    EXPECT_SLICE(content_of(&place, from), SLICE("2"));
    EXPECT_SLICE(content_of(&place, to), SLICE("1"));
}

TEST(remove_takes_a_whole_tree_but_follows_no_link)
{
    PLACE_SCOPE Place place = place_new();
    const char *tree = name_in(&place, "tree"), *kept = name_in(&place, "kept");
    EXPECT_STATUS(disk_make_directory(place.disk, name_in(&place, "tree/a/b"), 0700, NULL),
                  STATUS_OK);
    EXPECT_STATUS(disk_replace(place.disk, kept, 0600, SLICE("x"), NULL), STATUS_OK);
    for (int i = 0; i < 300; i++) {
        Slice path = arena_print(place.arena, "%s/a/%d", tree, i);
        EXPECT_STATUS(disk_replace(place.disk, path.data, 0600, SLICE("x"), NULL), STATUS_OK);
    }
    EXPECT(symlink(kept, name_in(&place, "tree/a/file")) == 0);
    EXPECT(symlink(place.root, name_in(&place, "tree/a/root")) == 0);
    EXPECT(symlink(place.root, name_in(&place, "link")) == 0);
    EXPECT_STATUS(disk_remove_tree(place.disk, name_in(&place, "link"), &place.reason), STATUS_OK);
    EXPECT_STATUS(disk_remove_tree(place.disk, tree, &place.reason), STATUS_OK);
    EXPECT_I64(names_in(&place, place.root), 1);
    EXPECT_SLICE(content_of(&place, kept), SLICE("x"));
    EXPECT_STATUS(disk_remove_tree(place.disk, tree, &place.reason), STATUS_OK);
    EXPECT_STATUS(disk_remove_tree(place.disk, kept, &place.reason), STATUS_OK);
    EXPECT_I64(names_in(&place, place.root), 0);
}

TEST(remove_stops_at_a_tree_of_absurd_depth)
{
    PLACE_SCOPE Place place = place_new();
    char path[1000];
    size_t size = (size_t)snprintf(path, sizeof path, "%s/deep", place.root);
    for (int i = 0; i < 100; i++)
        size += (size_t)snprintf(path + size, sizeof path - size, "/d");
    EXPECT_STATUS(disk_make_directory(place.disk, path, 0700, NULL), STATUS_OK);
    EXPECT_STATUS(disk_remove_tree(place.disk, name_in(&place, "deep"), &place.reason),
                  STATUS_UNAVAILABLE);
    EXPECT(mentions(&place.reason, "deep"));
}

TEST(free_bytes_are_those_of_the_file_system)
{
    PLACE_SCOPE Place place = place_new();
    uint64_t bytes = 0;
    EXPECT_STATUS(disk_free_bytes(place.disk, place.root, &bytes, NULL), STATUS_OK);
    EXPECT(bytes > 0);
    EXPECT_STATUS(disk_free_bytes(place.disk, name_in(&place, "none"), &bytes, &place.reason),
                  STATUS_NOT_FOUND);
}

static void on_alarm(int signal_number)
{
    (void)signal_number;
}

TEST(sleep_is_not_shortened_by_signals)
{
    Clock clock = world_real().clock;
    struct itimerval often = {{0, 2000}, {0, 2000}}, never = {{0, 0}, {0, 0}};
    signal(SIGALRM, on_alarm);
    EXPECT(setitimer(ITIMER_REAL, &often, NULL) == 0);
    int64_t start_us = clock_steady_us(clock);
    clock_sleep_us(clock, 30 * US_PER_MS);
    int64_t slept_us = clock_steady_us(clock) - start_us;
    EXPECT(setitimer(ITIMER_REAL, &never, NULL) == 0);
    EXPECT(slept_us >= 30 * US_PER_MS);
    clock_sleep_us(clock, 0);
    clock_sleep_us(clock, -5);
}

TEST(the_real_clock_is_in_this_century_and_steady)
{
    Clock clock = world_real().clock;
    EXPECT(clock_now_us(clock) > INT64_C(1735689600) * US_PER_S);
    EXPECT(clock_now_us(clock) < INT64_C(4102444800) * US_PER_S);
    for (int64_t i = 0, last = 0; i < 1000; i++) {
        int64_t now = clock_steady_us(clock);
        EXPECT(now >= last);
        last = now;
    }
}

TEST(real_randomness_does_not_repeat)
{
    Random random = world_real().random;
    char zeros[32] = {0}, bytes[32] = {0};
    random_fill(random, bytes, sizeof bytes);
    EXPECT(memcmp(bytes, zeros, sizeof bytes) != 0);
    EXPECT(random_u64(random) != random_u64(random));
}

TEST(the_same_seed_gives_the_same_luck)
{
    TestWorld one, two, three;
    Random a = test_world(&one, 7).random, b = test_world(&two, 7).random;
    Random c = test_world(&three, 8).random;
    char x[20], y[20];
    random_fill(a, x, sizeof x);
    random_fill(b, y, sizeof y);
    EXPECT_SLICE(slice_of(x, sizeof x), slice_of(y, sizeof y));
    uint64_t number = random_u64(a);
    EXPECT(number == random_u64(b));
    EXPECT(number != random_u64(a));
    random_fill(c, y, sizeof y);
    EXPECT(memcmp(x, y, sizeof x) != 0);
}

TEST(test_time_moves_only_when_told)
{
    TestWorld own;
    Clock clock = test_world(&own, 1).clock;
    int64_t steady_us = clock_steady_us(clock);
    EXPECT_I64(clock_now_us(clock), TEST_WORLD_START_US);
    EXPECT_I64(clock_now_us(clock), TEST_WORLD_START_US);
    clock_sleep_us(clock, 5);
    test_world_pass(&own, 10);
    test_world_step(&own, -100);
    EXPECT_I64(clock_now_us(clock), TEST_WORLD_START_US - 85);
    EXPECT_I64(clock_steady_us(clock), steady_us + 15);
    test_world_set(&own, 3);
    EXPECT_I64(clock_now_us(clock), 3);
}
