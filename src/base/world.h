/* world.h -- clock, randomness and disk, as handles that are passed in.
 *
 * Product code never asks the system for the time, for random bytes or for a file: it asks one of these. In
 * production they are world_real(); the tests and the simulator pass their own, and so run the same code at a
 * time and with a luck of their choosing. `./dev lint` refuses time(), rand(), open() and friends elsewhere.
 * Handles are small values; `self` belongs to whoever made them and must outlive their use. */
#pragma once

#include "base/arena.h"

#define US_PER_S  INT64_C(1000000)
#define US_PER_MS INT64_C(1000)
#define S_PER_DAY INT64_C(86400)

typedef struct Clock {
    int64_t (*now_us)(void *self);    /* since 1970, UTC; may step in either direction */
    int64_t (*steady_us)(void *self); /* since some start; never steps back */
    void (*sleep_us)(void *self, int64_t us);
    void *self;
    int64_t (*boot_us)(
        void *self); /* as steady, and goes on while the machine sleeps; NULL: steady */
} Clock;

static inline int64_t clock_now_us(Clock clock)
{
    return clock.now_us(clock.self);
}

static inline int64_t clock_steady_us(Clock clock)
{
    return clock.steady_us(clock.self);
}

static inline int64_t clock_boot_us(Clock clock)
{
    return clock.boot_us != NULL ? clock.boot_us(clock.self) : clock.steady_us(clock.self);
}

static inline void clock_sleep_us(Clock clock, int64_t us)
{
    clock.sleep_us(clock.self, us);
}

/* A moment by both clocks. What was read then is as old as the clock says that says more: the steady one may stand still while a
 * (virtual) machine is suspended, and the other one may be set back. So a wall clock that is set ahead makes what is kept too old, which costs a read, and no
 * step of either clock makes it young. All that is kept in memory for a time is aged by this. */
typedef struct ClockReading {
    int64_t now_us, steady_us;
} ClockReading;

static inline ClockReading clock_reading(Clock clock)
{
    return (ClockReading){clock_now_us(clock), clock_steady_us(clock)};
}

static inline int64_t clock_age_us(Clock clock, ClockReading since)
{
    int64_t now_us = clock_now_us(clock) - since.now_us;
    int64_t steady_us = clock_steady_us(clock) - since.steady_us;
    return now_us > steady_us ? now_us : steady_us;
}

/* Of two moments of one process the earlier; the steady clock decides. */
static inline ClockReading clock_earlier(ClockReading a, ClockReading b)
{
    return a.steady_us <= b.steady_us ? a : b;
}

typedef struct Random {
    void (*fill)(void *self, void *to, size_t size);
    void *self;
} Random;

static inline void random_fill(Random random, void *to, size_t size)
{
    random.fill(random.self, to, size);
}

uint64_t random_u64(Random random);

/* Whole small files and directories. Every failure names the path and the system's reason in `reason`.
 *   1. disk_replace is atomic and durable: after OK, and after a power cut at any moment, the file has either
 *      the old or the new content, and after OK the new one.
 *   2. disk_read refuses a file larger than `limit` (TOO_LARGE) and a missing one (NOT_FOUND). */
typedef struct DiskPart {
    uint64_t offset;
    size_t size;
} DiskPart;

typedef struct Disk {
    Status (*read)(void *self, const char *path, size_t limit, Arena *arena, Slice *ret_content,
                   Reason *reason);
    Status (*replace)(void *self, const char *path, int mode, Slice content, Reason *reason);
    Status (*make_directory)(void *self, const char *path, int mode, Reason *reason);
    Status (*list)(void *self, const char *path, Arena *arena, Slice **ret_names, size_t *ret_count,
                   Reason *reason);
    Status (*rename)(void *self, const char *from, const char *to, Reason *reason);
    Status (*remove_tree)(void *self, const char *path, Reason *reason);
    Status (*free_bytes)(void *self, const char *path, uint64_t *ret_bytes, Reason *reason);
    Status (*mode)(void *self, const char *path, int *ret_mode, Reason *reason);
    Status (*read_part)(void *self, const char *path, DiskPart part, Arena *arena,
                        Slice *ret_content, Reason *reason);
    void *self;
} Disk;

/* NOT_FOUND when there is no such file, TOO_LARGE when it holds more than `limit` bytes. */
MUST_USE Status disk_read(Disk disk, const char *path, size_t limit, Arena *arena,
                          Slice *ret_content, Reason *reason);
/* The only line of a file, such as a password, without what is blank around it: editors end it. Also INVALID when it has none, or more. */
MUST_USE Status disk_read_line(Disk disk, const char *path, size_t limit, Arena *arena,
                               Slice *ret_line, Reason *reason);
/* For files that are read piece by piece. Fewer bytes than asked for: the file ends there. */
MUST_USE Status disk_read_part(Disk disk, const char *path, DiskPart part, Arena *arena,
                               Slice *ret_content, Reason *reason);
MUST_USE Status disk_replace(Disk disk, const char *path, int mode, Slice content, Reason *reason);
/* With its parents; one that exists is fine. Durable after OK. */
MUST_USE Status disk_make_directory(Disk disk, const char *path, int mode, Reason *reason);
/* Names in byte order, without . and ..; NOT_FOUND when there is no such directory. */
MUST_USE Status disk_list(Disk disk, const char *path, Arena *arena, Slice **ret_names,
                          size_t *ret_count, Reason *reason);
/* Durable after OK. `to` must not exist. */
MUST_USE Status disk_rename(Disk disk, const char *from, const char *to, Reason *reason);
/* A file, or a directory with all that is in it; one that is not there is fine. Follows no links. */
MUST_USE Status disk_remove_tree(Disk disk, const char *path, Reason *reason);
MUST_USE Status disk_free_bytes(Disk disk, const char *path, uint64_t *ret_bytes, Reason *reason);
/* Who may do what with a file, as in chmod: 0600. NOT_FOUND when there is none. */
MUST_USE Status disk_mode(Disk disk, const char *path, int *ret_mode, Reason *reason);

/* Takes the file `lock` in a directory, until the descriptor is closed or the process ends. CONFLICT, with the owner's process id, when
 * another process has it. */
MUST_USE Status world_lock(const char *directory, int *ret_fd, Reason *reason);

typedef struct World {
    Clock clock;
    Random random;
    Disk disk;
} World;

/* The machine's own clock, the kernel's randomness (libsodium), the file system. */
World world_real(void);
