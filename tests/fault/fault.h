/* fault.h -- a disk that fails or loses power when a test says so.
 *
 * libfault.so stands between a program and the C library (LD_PRELOAD) and watches the files below one directory.
 * Everything else passes untouched. A program needs no change; it is told by its environment:
 *   FAULT_ROOT      the watched directory: absolute, without links or dots. Without it nothing is watched.
 *   FAULT_FAIL_AT   n: fail the n-th call of the chosen kinds (from 1).
 *   FAULT_KINDS     which ones, separated by commas: the names below, `any` (all but read, the default), or `full`
 *                   (what needs space: create, write, allocate, mkdir, link).
 *   FAULT_ERRNO     EIO (the default), ENOSPC, EDQUOT, EROFS, EMFILE or EACCES.
 *   FAULT_STICKY    1: every chosen call from the n-th on fails, until cleared; 0 (the default): that one only.
 *   FAULT_SHORT     1: if the n-th call is a write, it writes one half and says so; the next chosen call fails.
 *   FAULT_LIE       1: syncs say that all is well and save nothing. A test of tests: what relies on syncs must notice.
 *   FAULT_CUT_AT    n: instead of the n-th call (reads not counted) the power fails.
 *   FAULT_KEEP      what a cut leaves of the bytes that were written but not synced: none (the default), all,
 *                   random (a length between the synced and the written one, for each file its own), or pages (each page of
 *                   4 KiB by itself is there, or not, or in part: zeros are where it was lost, or the file ends there).
 *   FAULT_DIRS      keep (the default): names survive a cut. undo: what was created, renamed, linked or removed since
 *                   the last sync of its directory is undone; a new file that was synced itself keeps its name, as
 *                   on ext4. strict: only the sync of the directory keeps the name, as POSIX has it.
 *   FAULT_SEED      a number that decides the random lengths, and which pages are lost.
 *   FAULT_CONTROL   a file that is looked at before each watched call; when it changes, its one line is obeyed:
 *                   `fail KINDS ERRNO` (all from now on), `clear`, or `cut`. Replace it by rename.
 *   FAULT_REPORT    a file that receives the counts at the end, one `name number` a line, and `failed KIND PATH`.
 * A setting that is not understood ends the program with exit code 70.
 *
 * What holds:
 *   1. A failed call has no effect; a failed close closes; a failed write after FAULT_SHORT has its first half.
 *   2. Bytes in a file at the start count as synced, and so do its names. Sync means fsync or fdatasync that began
 *      after the write; sync_file_range makes nothing durable.
 *   3. After a failed sync the bytes that it was to save are never counted as synced, however often the sync is
 *      repeated: the kernel forgets them as well.
 *   4. A power cut ends the program at once with exit code 137, and what the files then hold is all that remains.
 *   5. Synced bytes that were overwritten and not synced again come back: all of them with `none`, none with `all`, else each page
 *      by itself. More than 64 MiB of them end with exit code 70.
 * Not seen: writes through mmap, through stdio's own buffers, or through descriptors made by dup(). */
#pragma once

#include <dlfcn.h>
#include <stdint.h>

/* `create` is open with O_CREAT, `range` is sync_file_range, `unlink` is also rmdir. */
#define FAULT_KIND_LIST(X)  \
    X(OPEN, "open")         \
    X(CREATE, "create")     \
    X(WRITE, "write")       \
    X(SYNC, "sync")         \
    X(RANGE, "range")       \
    X(TRUNCATE, "truncate") \
    X(ALLOCATE, "allocate") \
    X(RENAME, "rename")     \
    X(UNLINK, "unlink")     \
    X(MKDIR, "mkdir")       \
    X(LINK, "link")         \
    X(CLOSE, "close")       \
    X(READ, "read")

typedef enum FaultKind {
#define X(name, text) FAULT_##name,
    FAULT_KIND_LIST(X)
#undef X
        FAULT_KIND_COUNT
} FaultKind;

/* Several kinds are a sum of bits. */
#define FAULT_BIT(kind) (1u << (kind))
#define FAULT_ANY       (FAULT_BIT(FAULT_KIND_COUNT) - 1 - FAULT_BIT(FAULT_READ))
#define FAULT_FULL                                                                  \
    (FAULT_BIT(FAULT_CREATE) | FAULT_BIT(FAULT_WRITE) | FAULT_BIT(FAULT_ALLOCATE) | \
     FAULT_BIT(FAULT_MKDIR) | FAULT_BIT(FAULT_LINK))

/* The same from inside the program. Safe from every thread. */
typedef struct FaultApi {
    uint64_t (*count)(unsigned kinds); /* watched calls since the start */
    uint64_t (*injected)(void);        /* how many of them failed or were cut short */
    void (*fail_from_now)(unsigned kinds, int error);
    void (*clear)(void);
    void (*cut)(void); /* does not return */
} FaultApi;

/* NULL when the library is not preloaded. */
static inline const FaultApi *fault_api(void)
{
    return dlsym(RTLD_DEFAULT, "fault_api_table");
}
