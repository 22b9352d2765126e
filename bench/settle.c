/* settle.c -- see settle.h. */
#include "settle.h"

#include <unistd.h>

#include "store/rocksdb/rocks.h"

void bench_settle(Store *store)
{
    static const char *const BUSY[] = {"rocksdb.num-running-compactions",
                                       "rocksdb.num-running-flushes", "rocksdb.compaction-pending",
                                       "rocksdb.mem-table-flush-pending"};
    rocksdb_t *db = rocks_of(store)->db;
    for (int quiet = 0; quiet < 5; usleep(100 * 1000)) {
        uint64_t busy = 0, one = 0;
        for (size_t i = 0; i < sizeof BUSY / sizeof *BUSY; i++)
            busy += rocksdb_property_int(db, BUSY[i], &one) == 0 ? one : 0;
        quiet = busy == 0 ? quiet + 1 : 0;
    }
}
