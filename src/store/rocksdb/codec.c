/* codec.c -- see codec.h. */
#include "store/rocksdb/codec.h"

size_t codec_header(char *to, const StoredCell *cell)
{
    size_t at = 1;
    to[0] = (char)((cell->stamped ? STORED_STAMPED : 0) | (cell->death_us != 0 ? STORED_DEATH : 0) |
                   (cell->deleted ? STORED_DELETED : 0));
    if (cell->stamped) {
        bytes_put_u64(to + at, (uint64_t)cell->timestamp);
        at += 8;
    }
    if (cell->death_us != 0) {
        bytes_put_u64(to + at, (uint64_t)cell->death_us);
        at += 8;
    }
    return at;
}

/* On equal timestamps the higher kind wins: dead, then expiring, then living for ever. */
static int tie_kind(const StoredCell *cell, int64_t now_us)
{
    if (!codec_alive(cell, now_us))
        return 2;
    return cell->death_us != 0;
}

bool codec_wins(const StoredCell *incoming, const StoredCell *stored, int64_t now_us)
{
    if (incoming->timestamp != stored->timestamp)
        return incoming->timestamp > stored->timestamp;
    int incoming_kind = tie_kind(incoming, now_us), stored_kind = tie_kind(stored, now_us);
    if (incoming_kind != stored_kind)
        return incoming_kind > stored_kind;
    if (incoming_kind == 2) /* a delete outlasts a clock that steps back, an expiry does not */
        return incoming->deleted && !stored->deleted;
    if (incoming->death_us != stored->death_us)
        return incoming->death_us > stored->death_us;
    return slice_compare(incoming->data, stored->data) > 0;
}

CodecFate codec_fate(const StoredCell *cell, int64_t now_us, int64_t grace_s)
{
    if (codec_alive(cell, now_us))
        return CODEC_KEEP;
    if (!cell->stamped)
        return CODEC_FORGET;
    int64_t later = cell->death_us > cell->timestamp ? cell->death_us : cell->timestamp, end;
    if (!__builtin_add_overflow(later, grace_s * US_PER_S, &end) && now_us > end)
        return CODEC_FORGET;
    return cell->deleted ? CODEC_KEEP : CODEC_BURY;
}
