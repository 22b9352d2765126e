/* settle.h -- waits until RocksDB has no flush or compaction to do, so that what was done before is not in what is measured. */
#pragma once

#include "store/store.h"

void bench_settle(Store *store);
