/* log_record.c -- see log_record.h. */
#include "rocks/log_record.h"

enum { BLOCK = 32 * 1024 };

uint32_t log_crc(Slice bytes)
{
    static const uint32_t POLYNOMIAL = 0x82F63B78u;
    static _Thread_local uint32_t table[256];
    for (uint32_t i = 0; table[255] == 0 && i < 256; i++) {
        uint32_t entry = i;
        for (int bit = 0; bit < 8; bit++)
            entry = (entry >> 1) ^ ((entry & 1) != 0 ? POLYNOMIAL : 0);
        table[i] = entry;
    }
    uint32_t sum = UINT32_MAX;
    for (size_t i = 0; i < bytes.size; i++)
        sum = table[(sum ^ (unsigned char)bytes.data[i]) & 0xff] ^ (sum >> 8);
    sum = ~sum;
    return ((sum >> 15) | (sum << 17)) + 0xA282EAD8u;
}

uint64_t log_number_at(const char *bytes, int size)
{
    uint64_t number = 0;
    for (int i = size - 1; i >= 0; i--)
        number = number << 8 | (unsigned char)bytes[i];
    return number;
}

void log_put_number(char *bytes, uint64_t number, int size)
{
    for (int i = 0; i < size; i++)
        bytes[i] = (char)(number >> (8 * i));
}

bool log_record_at(Slice text, size_t at, LogPart *ret_part, Slice *ret_bytes)
{
    size_t left = BLOCK - at % BLOCK;
    if (left > text.size - at)
        left = text.size - at;
    if (left < LOG_HEADER)
        return false;
    const char *header = text.data + at;
    size_t size = (size_t)log_number_at(header + 4, 2);
    if (header[6] < PART_FULL || header[6] > PART_LAST || size > left - LOG_HEADER ||
        log_crc(slice_of(header + 6, 1 + size)) != log_number_at(header, 4))
        return false;
    *ret_part = (LogPart)header[6];
    *ret_bytes = slice_of(header + LOG_HEADER, size);
    return true;
}

size_t log_skip_trailer(Slice text, size_t at)
{
    static const char ZEROS[LOG_HEADER];
    size_t left = BLOCK - at % BLOCK;
    bool trailer =
        left < LOG_HEADER && left <= text.size - at && memcmp(text.data + at, ZEROS, left) == 0;
    return trailer ? at + left : at;
}
