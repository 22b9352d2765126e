/* log_record.h -- how RocksDB writes a log and its manifest (its log format).
 *
 * Such a file is made of blocks of 32 KiB. A piece in a block has a header (checksum, length, kind) and its bytes; a record that does
 * not fit goes on in the next block. Where less than a header is left of a block there are zeros. */
#pragma once

#include "base/slice.h"

enum { LOG_HEADER = 7 };

typedef enum LogPart { PART_FULL = 1, PART_FIRST, PART_MIDDLE, PART_LAST } LogPart;

/* CRC-32C, stored rotated so that a checksum of checksums is none. */
uint32_t log_crc(Slice bytes);
/* With the lowest byte first. */
uint64_t log_number_at(const char *bytes, int size);
void log_put_number(char *bytes, uint64_t number, int size);

/* The piece at `at`, if it is whole. */
bool log_record_at(Slice text, size_t at, LogPart *ret_part, Slice *ret_bytes);
/* Behind the zeros that end a block. */
size_t log_skip_trailer(Slice text, size_t at);
