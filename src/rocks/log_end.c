/* log_end.c -- see log_end.h. A record of the log (log_record.h) is a batch: it begins with the number of its first change and how many
 * there are; then, in our case, comes the mark. */
#include "rocks/log_end.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/bytes.h"
#include "rocks/log_record.h"
#include "rocks/manifest.h"

static const char NAME[] = "synced";
static const char MAGIC[] = "OSTRAKA\1"; /* and the end of the string: not written */

enum {
    LOG_BYTES_MAX = INT32_MAX, /* of a file: RocksDB begins another long before */
    BATCH_HEADER = 12,
    LOG_DATA = 3, /* the kind of an entry in a batch that goes to the log and nowhere else */
    MAGIC_SIZE = sizeof MAGIC - 1,
    MARK_SIZE = MAGIC_SIZE + 4 * 8,
    BEGINNING = BATCH_HEADER + 2 + MARK_SIZE, /* of a batch: as much as is looked at */
    FILE_SIZE = MARK_SIZE + 4,
};

/* ---- Marks --------------------------------------------------------------------------------------------------- */

static void put_mark(char bytes[MARK_SIZE], const LogMark *mark)
{
    memcpy(bytes, MAGIC, MAGIC_SIZE);
    log_put_number(bytes + MAGIC_SIZE, mark->log, 8);
    log_put_number(bytes + MAGIC_SIZE + 8, mark->head, 8);
    log_put_number(bytes + MAGIC_SIZE + 16, mark->before, 8);
    log_put_number(bytes + MAGIC_SIZE + 24, mark->synced, 8);
}

static bool get_mark(const char *bytes, LogMark *ret_mark)
{
    if (memcmp(bytes, MAGIC, MAGIC_SIZE) != 0)
        return false;
    *ret_mark = (LogMark){
        log_number_at(bytes + MAGIC_SIZE, 8), log_number_at(bytes + MAGIC_SIZE + 8, 8),
        log_number_at(bytes + MAGIC_SIZE + 16, 8), log_number_at(bytes + MAGIC_SIZE + 24, 8)};
    return true;
}

/* The mark at the beginning of a batch. */
static bool batch_mark(Slice batch, LogMark *ret_mark)
{
    return batch.size >= BEGINNING && batch.data[BATCH_HEADER] == LOG_DATA &&
           batch.data[BATCH_HEADER + 1] == MARK_SIZE &&
           get_mark(batch.data + BATCH_HEADER + 2, ret_mark);
}

/* ---- Reading one file ------------------------------------------------------------------------------------------ */

typedef struct LogFile {
    uint64_t number;
    const char *path;
    size_t size,
        whole; /* bytes; from the start on, those of batches that are whole and follow each other */
    uint64_t first,
        next;      /* changes: the first of those, and the one behind them; 0: there are none */
    uint64_t head; /* the change that it begins with, as a mark says; 0: none does */
} LogFile;

typedef struct LogEnd {
    LogFile *files;
    size_t count;
    uint64_t synced; /* the highest of all marks; 0: there is no mark */
    uint64_t newest; /* the last file in which something was synced, as marks say */
    uint64_t opened; /* the file that was begun when the directory was opened, as marks say */
    uint64_t needed; /* files with lower numbers are not */
} LogEnd;

static LogFile *find_file(const LogEnd *end, uint64_t number)
{
    for (size_t i = 0; i < end->count; i++)
        if (end->files[i].number == number)
            return &end->files[i];
    return NULL;
}

static void need_from(LogEnd *end, uint64_t number)
{
    if (number > end->needed)
        end->needed = number;
}

/* A file that is gone was not needed any more, nor was any before it. */
static void note_mark(LogEnd *end, const LogMark *mark)
{
    if (mark->synced > end->synced)
        end->synced = mark->synced;
    if (mark->log == LOG_UNKNOWN)
        return;
    if (mark->synced >= mark->head && mark->log > end->newest)
        end->newest = mark->log;
    if (mark->before == 0 && mark->log > end->opened)
        end->opened = mark->log;
    LogFile *file = find_file(end, mark->log);
    if (file != NULL)
        file->head = mark->head;
    need_from(end, file == NULL || mark->before == 0 ? mark->log : 0);
    if (mark->before != LOG_UNKNOWN && find_file(end, mark->before) == NULL)
        need_from(end, mark->before);
}

/* The beginning of the batch at *at, over as many blocks as it goes, and *at behind it. False: it is not whole. */
static bool take_batch(Slice text, size_t *at, char beginning[BEGINNING], Slice *ret_batch)
{
    LogPart part;
    Slice bytes;
    size_t from = log_skip_trailer(text, *at), kept = 0;
    for (bool more = true, first = true; more; first = false) {
        from = log_skip_trailer(text, from);
        if (!log_record_at(text, from, &part, &bytes) ||
            first != (part == PART_FULL || part == PART_FIRST))
            return false;
        size_t room = BEGINNING - kept, size = bytes.size < room ? bytes.size : room;
        memcpy(beginning + kept, bytes.data, size);
        kept += size;
        from += LOG_HEADER + bytes.size;
        more = part == PART_FIRST || part == PART_MIDDLE;
    }
    *at = from;
    *ret_batch = slice_of(beginning, kept);
    return kept >= BATCH_HEADER;
}

/* As many batches as are whole and follow each other. One without changes is RocksDB's own and counts nothing. */
static void read_whole(LogEnd *end, LogFile *file, Slice text)
{
    char beginning[BEGINNING];
    Slice batch;
    LogMark mark;
    for (size_t at = 0; take_batch(text, &at, beginning, &batch); file->whole = at) {
        uint64_t first = log_number_at(batch.data, 8), count = log_number_at(batch.data + 8, 4);
        if (count > 0 && file->next != 0 && first != file->next)
            return;
        if (count > 0) {
            file->first = file->next == 0 ? first : file->first;
            file->next = first + count;
        }
        if (batch_mark(batch, &mark))
            note_mark(end, &mark);
    }
}

/* Behind the first damage: what batches begin there, wherever they stand? Their marks were true when they were written. */
static void read_behind(LogEnd *end, const LogFile *file, Slice text)
{
    enum { BEFORE = LOG_HEADER + BATCH_HEADER + 2 };
    LogPart part;
    Slice bytes;
    LogMark mark;
    for (size_t from = file->whole; from < text.size;) {
        const char *found = memmem(text.data + from, text.size - from, MAGIC, MAGIC_SIZE);
        if (found == NULL)
            return;
        size_t at = (size_t)(found - text.data);
        from = at + MAGIC_SIZE;
        if (at < file->whole + BEFORE)
            continue;
        bool begins = log_record_at(text, at - BEFORE, &part, &bytes) &&
                      (part == PART_FULL || part == PART_FIRST);
        if (begins && batch_mark(bytes, &mark))
            note_mark(end, &mark);
    }
}

/* ---- All files ------------------------------------------------------------------------------------------------- */

static const char *join(Arena *arena, const char *directory, Slice name)
{
    return arena_text(arena, arena_print(arena, "%s/%.*s", directory, SLICE_ARG(name)));
}

/* "000123.log" is the number 123; 0: no log. */
static uint64_t log_number(Slice name)
{
    Slice rest = name, digits;
    uint64_t number = 0;
    if (!slice_split(&rest, '.', &digits) || !slice_equal(rest, SLICE("log")))
        return 0;
    for (size_t i = 0; i < digits.size; i++) {
        if (digits.data[i] < '0' || digits.data[i] > '9' || number > UINT64_MAX / 10 - 1)
            return 0;
        number = number * 10 + (uint64_t)(digits.data[i] - '0');
    }
    return number;
}

/* In the order of their numbers. */
static Status find_files(Disk disk, const char *directory, Arena *arena, LogEnd *end,
                         Reason *reason)
{
    Slice *names;
    size_t count;
    const char *db = join(arena, directory, SLICE("db"));
    Status status = disk_list(disk, db, arena, &names, &count, reason);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    TRY(status);
    end->files = ARENA_ARRAY(arena, count, LogFile);
    for (size_t i = 0; i < count; i++) {
        LogFile file = {.number = log_number(names[i]), .path = join(arena, db, names[i])};
        size_t at = end->count;
        if (file.number == 0)
            continue;
        for (; at > 0 && end->files[at - 1].number > file.number; at--)
            end->files[at] = end->files[at - 1];
        end->files[at] = file;
        end->count++;
    }
    return STATUS_OK;
}

static Status read_files(Disk disk, LogEnd *end, Reason *reason)
{
    for (size_t i = 0; i < end->count; i++) {
        ARENA_SCOPE Arena *arena = arena_new();
        LogFile *file = &end->files[i];
        Slice text;
        TRY(disk_read(disk, file->path, LOG_BYTES_MAX, arena, &text, reason));
        file->size = text.size;
        read_whole(end, file, text);
        read_behind(end, file, text);
    }
    return STATUS_OK;
}

/* The mark of the last sync that the directory has; one that is not whole is as good as none. */
static Status read_synced(Disk disk, const char *directory, Arena *arena, LogEnd *end,
                          Reason *reason)
{
    Slice text;
    LogMark mark;
    Status status =
        disk_read(disk, join(arena, directory, slice_from(NAME)), FILE_SIZE, arena, &text, reason);
    if (status == STATUS_NOT_FOUND || status == STATUS_TOO_LARGE)
        return STATUS_OK;
    TRY(status);
    if (text.size == FILE_SIZE &&
        log_number_at(text.data + MARK_SIZE, 4) == log_crc(slice_of(text.data, MARK_SIZE)) &&
        get_mark(text.data, &mark))
        note_mark(end, &mark);
    return STATUS_OK;
}

/* ---- Where it ends ----------------------------------------------------------------------------------------------- */

typedef struct LogBreak {
    size_t file;   /* the first of which something is cut; `count`: none */
    size_t keep;   /* of its bytes */
    uint64_t lost; /* the first change that is not there; 0: nobody knows which */
} LogBreak;

/* The files one after the other, as long as each goes on where those before it ended. A torn end is fine where the next file goes on
 * just there: it was found torn before, and RocksDB began another. False: nobody knows what is lost, but there is more behind it. */
static bool find_break(const LogEnd *end, LogBreak *ret_break)
{
    LogBreak found = {.file = end->count};
    for (size_t i = 0; i < end->count; i++) {
        const LogFile *file = &end->files[i];
        bool is_torn = file->whole < file->size, has_changes = file->next != 0;
        if (file->number < end->needed)
            continue;
        if (has_changes && found.lost == 0 && found.file < i) {
            *ret_break = found;
            return false;
        }
        if (has_changes && found.lost != 0 && file->first != found.lost) {
            *ret_break = found.file < i ? found : (LogBreak){i, 0, found.lost};
            return true;
        }
        if (has_changes)
            found = (LogBreak){end->count, 0, file->next};
        else if (found.lost == 0)
            found.lost = file->head; /* what should be here, if anything should */
        if (is_torn && found.file == end->count)
            found = (LogBreak){i, file->whole, found.lost};
    }
    *ret_break = found;
    return true;
}

static Status cut_file(const char *path, size_t size, Reason *reason)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool done = fd >= 0 && ftruncate(fd, (off_t)size) == 0 && fsync(fd) == 0;
    Status status =
        done ? STATUS_OK
             : reason_set(reason, STATUS_UNAVAILABLE, "data", "%s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return status;
}

/* All changes from the file `first` on? That they follow each other, find_break has seen; here it is about those at the beginning. After an
 * opening `first` is a number below that of the file which was begun then, and 0 in a new directory. While it opens there is no
 * mark of it yet: then nothing was acknowledged from there on. */
static bool logs_are_there(const LogEnd *end, uint64_t first)
{
    const LogFile *opened = find_file(end, end->opened);
    if (opened != NULL && first <= end->opened)
        return end->needed == end->opened && (first > 0 || opened->head == 1);
    return end->needed <= first && (find_file(end, first) != NULL || end->newest < first);
}

/* The manifest may end before its first damage if everything is there that it names up to then: its tables, and the logs whose changes are in no
 * table. So it is after a power cut, for RocksDB removes files only when the change that makes them superfluous is synced; and if
 * it was synced and is damaged, nothing is lost either. Else all stays as it is, and RocksDB refuses it. */
static Status settle_manifest(Disk disk, const char *directory, const LogEnd *end, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Manifest manifest;
    TRY(manifest_read(disk, join(arena, directory, SLICE("db")), arena, &manifest, reason));
    if (!manifest.is_torn || !manifest.has_all_tables || !logs_are_there(end, manifest.log))
        return STATUS_OK;
    return cut_file(manifest.path, manifest.whole, reason);
}

static Status cut(const LogEnd *end, const LogBreak *where, Reason *reason)
{
    for (size_t i = end->count; i > where->file; i--) {
        const LogFile *file = &end->files[i - 1];
        size_t keep = i - 1 == where->file ? where->keep : 0;
        if (keep < file->size)
            TRY(cut_file(file->path, keep, reason));
    }
    return STATUS_OK;
}

static Status refuse(const char *directory, const LogEnd *end, const LogBreak *where,
                     Reason *reason)
{
    bool in_file = where->file < end->count;
    const LogFile *file = &end->files[in_file ? where->file : end->count - 1];
    return reason_set(reason, STATUS_CORRUPT, "data",
                      "%s is damaged: %s %s byte %zu, and what was acknowledged goes further; "
                      "restore a backup",
                      directory, file->path, in_file ? "cannot be read from" : "ends at",
                      in_file ? where->keep : file->size);
}

Status log_end_settle(Disk disk, const char *directory, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    LogEnd end = {0};
    TRY(find_files(disk, directory, arena, &end, reason));
    TRY(read_synced(disk, directory, arena, &end, reason));
    TRY(read_files(disk, &end, reason));
    if (end.synced == 0)
        return STATUS_OK;
    if (end.newest > (end.count > 0 ? end.files[end.count - 1].number : 0))
        return reason_set(reason, STATUS_CORRUPT, "data",
                          "%s is damaged: its log db/%06llu.log is missing; restore a backup",
                          directory, (unsigned long long)end.newest);
    LogBreak where;
    bool is_known = find_break(&end, &where);
    if (!is_known || (where.lost != 0 && end.synced >= where.lost))
        return refuse(directory, &end, &where, reason);
    TRY(settle_manifest(disk, directory, &end, reason));
    return cut(&end, &where, reason);
}

/* ---- Making marks ------------------------------------------------------------------------------------------------ */

/* The file that RocksDB writes to. */
static uint64_t newest_log(Disk disk, const char *directory)
{
    ARENA_SCOPE Arena *arena = arena_new();
    LogEnd end = {0};
    Reason ignored;
    if (find_files(disk, directory, arena, &end, &ignored) != STATUS_OK || end.count == 0)
        return LOG_UNKNOWN;
    return end.files[end.count - 1].number;
}

/* How many changes the open memtable has: a log begins together with it. */
static uint64_t changes_in_memtable(rocksdb_t *db)
{
    uint64_t changes = 0;
    return rocksdb_property_int(db, "rocksdb.num-entries-active-mem-table", &changes) == 0 ? changes
                                                                                           : 0;
}

static void put_file(char bytes[FILE_SIZE], const LogMark *mark)
{
    put_mark(bytes, mark);
    log_put_number(bytes + MARK_SIZE, log_crc(slice_of(bytes, MARK_SIZE)), 4);
}

Status log_marks_open(LogMarks *marks, Disk disk, const char *directory, rocksdb_t *db,
                      Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    char bytes[FILE_SIZE];
    const char *path = join(arena, directory, slice_from(NAME));
    log_marks_close(marks);
    uint64_t last = rocksdb_get_latest_sequence_number(db);
    marks->now =
        (LogMark){newest_log(disk, directory), last - changes_in_memtable(db) + 1, 0, last};
    put_file(bytes, &marks->now);
    TRY(disk_replace(disk, path, 0600, slice_of(bytes, sizeof bytes), reason));
    marks->fd = open(path, O_WRONLY | O_CLOEXEC);
    if (marks->fd < 0)
        return reason_set(reason, STATUS_UNAVAILABLE, "data", "%s: %s", path, strerror(errno));
    return STATUS_OK;
}

void log_marks_close(LogMarks *marks)
{
    if (marks->fd >= 0)
        close(marks->fd);
    marks->fd = -1;
}

void log_marks_put(const LogMarks *marks, rocksdb_writebatch_t *batch)
{
    char bytes[MARK_SIZE];
    put_mark(bytes, &marks->now);
    rocksdb_writebatch_put_log_data(batch, bytes, sizeof bytes);
}

void log_marks_wrote(LogMarks *marks, const char *directory, Disk disk, rocksdb_t *db,
                     size_t changed, bool synced)
{
    uint64_t last = rocksdb_get_latest_sequence_number(db);
    if (changed > 0 && changes_in_memtable(db) == changed) { /* it was the first of a new log */
        uint64_t newest = newest_log(disk, directory);
        marks->now.head = last - changed + 1;
        if (newest != marks->now.log)
            marks->now.before = marks->now.log;
        marks->now.log = newest;
    }
    if (!synced)
        return;
    char bytes[FILE_SIZE];
    marks->now.synced = last;
    put_file(bytes, &marks->now);
    /* When that fails the file says less than it could, which is no harm. */
    (void)!pwrite(marks->fd, bytes, sizeof bytes, 0);
}
