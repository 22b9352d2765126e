/* rocks_error.c -- see rocks_error.h. */
#include "rocks/rocks_error.h"

#include <rocksdb/c.h>

Status rocks_error(char *error, const char *path, Reason *reason)
{
    Slice text = slice_from(error);
    Status status = STATUS_UNAVAILABLE;
    /* An error of the disk may come wrapped into another, or disguised: when CURRENT cannot be opened at first and then can,
     * RocksDB blames direct I/O, which we never ask for. What cannot be read now is not known to be damaged. A file that
     * is gone is. */
    bool disk_failed = (strstr(error, "IO error:") != NULL &&
                        strstr(error, "No such file or directory") == NULL) ||
                       strstr(error, "Direct I/O is not supported") != NULL;
    if (!disk_failed && (slice_starts_with(text, SLICE("Corruption:")) ||
                         slice_starts_with(text, SLICE("Invalid argument:")) ||
                         slice_starts_with(text, SLICE("IO error:"))))
        status = STATUS_CORRUPT;
    const char *what = status == STATUS_CORRUPT ? "damaged" : "not usable";
    (void)reason_set(reason, status, "data", "%s is %s: %s", path, what, error);
    rocksdb_free(error);
    return status;
}
