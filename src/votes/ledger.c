/* ledger.c -- see ledger.h. */
#include "votes/ledger.h"

#include "base/mutant.h"

enum { FORMAT = 1 };
enum { FLAG_CLOSING = 1, FLAG_FENCE = 2, FLAG_TOKEN = 4, FLAG_CREATED = 8 };

static Id read_id(Reader *reader)
{
    Id id = {{0}};
    Slice bytes = reader_bytes(reader, ID_BYTES);
    if (bytes.size == ID_BYTES)
        memcpy(id.bytes, bytes.data, ID_BYTES);
    return id;
}

/* The end of every decoder: the format is ours, nothing is missing, nothing is left over. */
static Status whole(const Reader *reader, uint8_t format)
{
    return reader_done(reader) && format == FORMAT ? STATUS_OK : STATUS_CORRUPT;
}

void ledger_put_head(Buffer *to, const LedgerHead *head)
{
    buffer_u8(to, FORMAT);
    buffer_u64(to, head->seq);
    buffer_bytes(to, id_slice(&head->version));
    buffer_i64(to, head->time_us);
    buffer_i64(to, head->held);
    buffer_u8(to, head->closed);
    buffer_u32(to, head->day);
    buffer_u32(to, head->saves);
}

Status ledger_get_head(Slice value, LedgerHead *ret_head)
{
    Reader reader = reader_of(value);
    uint8_t format = reader_u8(&reader);
    LedgerHead head;
    head.seq = reader_u64(&reader);
    head.version = read_id(&reader);
    head.time_us = reader_i64(&reader);
    head.held = reader_i64(&reader);
    head.closed = reader_u8(&reader) != 0;
    head.day = reader_u32(&reader);
    head.saves = reader_u32(&reader);
    TRY(whole(&reader, format));
    *ret_head = head;
    return STATUS_OK;
}

void ledger_put_line(Buffer *to, const VoteLine *line, uint64_t seq)
{
    buffer_u8(to, FORMAT);
    buffer_i64(to, line->held);
    buffer_i64(to, line->withdrawn_centi);
    buffer_u64(to, seq);
}

/* The number behind "x/" in a column. */
static Status column_number(Slice column, uint64_t *ret_number)
{
    Reader reader = reader_of(slice_after(column, 2));
    *ret_number = reader_u64(&reader);
    return reader_done(&reader) ? STATUS_OK : STATUS_CORRUPT;
}

Status ledger_get_line(Slice column, Slice value, VoteLine *ret_line)
{
    Reader reader = reader_of(value);
    uint8_t format = reader_u8(&reader);
    VoteLine line;
    line.held = reader_i64(&reader);
    line.withdrawn_centi = reader_i64(&reader);
    (void)reader_u64(&reader);
    TRY(column_number(column, &line.policy));
    TRY(whole(&reader, format));
    if (line.held < 0 || line.withdrawn_centi < 0)
        return STATUS_CORRUPT;
    *ret_line = line;
    return STATUS_OK;
}

void ledger_put_entry(Buffer *to, const Entry *entry)
{
    bool token = !id_is_zero(entry->token);
    buffer_u8(to, FORMAT);
    buffer_u8(to, (uint8_t)((entry->closing ? FLAG_CLOSING : 0) | (entry->fence ? FLAG_FENCE : 0) |
                            (token ? FLAG_TOKEN : 0) | (entry->created != 0 ? FLAG_CREATED : 0)));
    buffer_bytes(to, id_slice(&entry->version));
    buffer_bytes(to, id_slice(&entry->prev));
    buffer_i64(to, entry->time_us);
    buffer_u32(to, entry->setting_version);
    if (token)
        buffer_bytes(to, id_slice(&entry->token));
    if (entry->created != 0)
        buffer_u64(to, entry->created);
    buffer_u16(to, (uint16_t)entry->change_count);
    for (size_t i = 0; i < entry->change_count; i++) {
        buffer_u64(to, entry->changes[i].policy);
        buffer_i64(to, entry->changes[i].before);
        buffer_i64(to, entry->changes[i].held);
        buffer_i64(to, entry->changes[i].withdrawn_centi);
    }
}

Status ledger_get_entry(Slice column, Slice value, Arena *arena, Entry *ret_entry)
{
    Reader reader = reader_of(value);
    Entry entry = {0};
    uint8_t format = reader_u8(&reader), flags = reader_u8(&reader);
    entry.version = read_id(&reader);
    entry.prev = read_id(&reader);
    entry.time_us = reader_i64(&reader);
    entry.setting_version = reader_u32(&reader);
    entry.closing = flags & FLAG_CLOSING;
    entry.fence = flags & FLAG_FENCE;
    if (flags & FLAG_TOKEN)
        entry.token = read_id(&reader);
    if (flags & FLAG_CREATED)
        entry.created = reader_u64(&reader);
    entry.change_count = reader_u16(&reader);
    if (entry.change_count > VOTE_PLAN_MAX)
        return STATUS_CORRUPT;
    entry.changes = ARENA_ARRAY(arena, entry.change_count, EntryChange);
    for (size_t i = 0; i < entry.change_count; i++) {
        EntryChange *change = &entry.changes[i];
        change->policy = reader_u64(&reader);
        change->before = reader_i64(&reader);
        change->held = reader_i64(&reader);
        change->withdrawn_centi = reader_i64(&reader);
    }
    TRY(column_number(column, &entry.seq));
    TRY(whole(&reader, format));
    *ret_entry = entry;
    return STATUS_OK;
}

void ledger_put_taken(Buffer *to, const Taken *taken)
{
    buffer_u8(to, FORMAT);
    buffer_i64(to, taken->held);
    buffer_u64(to, taken->seq);
}

Status ledger_get_taken(Slice value, Taken *ret_taken)
{
    Reader reader = reader_of(value);
    uint8_t format = reader_u8(&reader);
    Taken taken;
    taken.held = reader_i64(&reader);
    taken.seq = reader_u64(&reader);
    TRY(whole(&reader, format));
    *ret_taken = taken;
    return STATUS_OK;
}

/* Days are written up to the last that is not zero: most policies rest most of the time. */
void ledger_put_sum(Buffer *to, const Sum *sum)
{
    uint8_t days = COUNT_DAYS;
    while (days > 0 && sum->count.days[days - 1] == 0)
        days--;
    buffer_u8(to, FORMAT);
    buffer_u64(to, sum->ver);
    buffer_i64(to, sum->count.total);
    buffer_u32(to, sum->count.day);
    buffer_u8(to, days);
    for (uint8_t i = 0; i < days; i++)
        buffer_i64(to, sum->count.days[i]);
}

Status ledger_get_sum(Slice value, Sum *ret_sum)
{
    Reader reader = reader_of(value);
    Sum sum = {0};
    uint8_t format = reader_u8(&reader);
    sum.ver = reader_u64(&reader);
    sum.count.total = reader_i64(&reader);
    sum.count.day = reader_u32(&reader);
    uint8_t days = reader_u8(&reader);
    if (days > COUNT_DAYS)
        return STATUS_CORRUPT;
    for (uint8_t i = 0; i < days; i++)
        sum.count.days[i] = reader_i64(&reader);
    TRY(whole(&reader, format));
    *ret_sum = sum;
    return STATUS_OK;
}

void ledger_put_number(Buffer *to, int64_t number)
{
    buffer_u8(to, FORMAT);
    buffer_i64(to, number);
}

Status ledger_get_number(Slice value, int64_t *ret_number)
{
    Reader reader = reader_of(value);
    uint8_t format = reader_u8(&reader);
    int64_t number = reader_i64(&reader);
    TRY(whole(&reader, format));
    *ret_number = number;
    return STATUS_OK;
}

/* ---- Keys ------------------------------------------------------------------------------------------------ */

Slice ledger_u64(Arena *arena, uint64_t number)
{
    char *key = arena_bytes(arena, 8);
    bytes_put_u64(key, number);
    return slice_of(key, 8);
}

Slice ledger_column(Arena *arena, char kind, uint64_t number)
{
    char *column = arena_bytes(arena, 10);
    column[0] = kind;
    column[1] = '/';
    bytes_put_u64(column + 2, number);
    return slice_of(column, 10);
}

Slice ledger_token(Arena *arena, Id token)
{
    char *column = arena_bytes(arena, 2 + ID_BYTES);
    memcpy(column, "t/", 2);
    memcpy(column + 2, token.bytes, ID_BYTES);
    return slice_of(column, 2 + ID_BYTES);
}

static void put_u32(char *to, uint32_t number)
{
    bytes_put_u16(to, (uint16_t)(number >> 16));
    bytes_put_u16(to + 2, (uint16_t)number);
}

Slice ledger_totals_row(Arena *arena, uint32_t generation, uint64_t policy)
{
    char *row = arena_bytes(arena, 12);
    put_u32(row, generation);
    bytes_put_u64(row + 4, policy);
    return slice_of(row, 12);
}

Slice ledger_projected_row(Arena *arena, uint32_t generation, uint64_t voter)
{
    return ledger_totals_row(arena, generation, voter);
}

Slice ledger_count_row(Arena *arena, uint32_t generation, uint64_t policy, uint8_t bucket)
{
    char *row = arena_bytes(arena, 13);
    put_u32(row, generation);
    bytes_put_u64(row + 4, policy);
    row[12] = (char)bucket;
    return slice_of(row, 13);
}

Slice ledger_hour_row(Arena *arena, uint32_t generation, uint32_t hour, uint8_t shard)
{
    char *row = arena_bytes(arena, 9);
    put_u32(row, generation);
    put_u32(row + 4, hour);
    row[8] = (char)shard;
    return slice_of(row, 9);
}

Slice ledger_history_row(Arena *arena, uint32_t generation, uint64_t policy, uint32_t day)
{
    char *row = arena_bytes(arena, 16);
    put_u32(row, generation);
    bytes_put_u64(row + 4, policy);
    put_u32(row + 12, day);
    return slice_of(row, 16);
}

Slice ledger_mark_row(Arena *arena, uint32_t number, uint8_t shard)
{
    char *row = arena_bytes(arena, 5);
    put_u32(row, number);
    row[4] = (char)shard;
    return slice_of(row, 5);
}

uint8_t ledger_shard(uint64_t id)
{
    return (uint8_t)((id * UINT64_C(0x9E3779B97F4A7C15)) >> SIMULATED(60, 62));
}

uint32_t ledger_hour(int64_t time_us)
{
    return (uint32_t)(time_us / (3600 * US_PER_S));
}

/* ---- Counts ---------------------------------------------------------------------------------------------- */

uint32_t count_day(int64_t time_us)
{
    return (uint32_t)(time_us / (S_PER_DAY * US_PER_S));
}

/* Moves the days so that days[0] is `day`; what falls out at the end stays in the total. */
static void turn_to(Count *count, uint32_t day)
{
    uint32_t by = day - count->day;
    if (by > COUNT_DAYS)
        by = COUNT_DAYS;
    memmove(count->days + by, count->days, (COUNT_DAYS - by) * sizeof count->days[0]);
    memset(count->days, 0, by * sizeof count->days[0]);
    count->day = day;
}

static void add_on_day(Count *count, uint32_t day, int64_t change)
{
    if (change == 0)
        return;
    if (day > count->day)
        turn_to(count, day);
    if (count->day - day < COUNT_DAYS)
        count->days[count->day - day] += change;
}

void count_change(Count *count, int64_t time_us, int64_t change)
{
    count->total += change;
    add_on_day(count, count_day(time_us), change);
}

void count_add(Count *to, const Count *from)
{
    to->total += from->total;
    for (uint32_t i = 0; i < COUNT_DAYS && i <= from->day; i++)
        add_on_day(to, from->day - i, from->days[i]);
}

int64_t count_window(const Count *count, uint32_t today, uint32_t n)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < COUNT_DAYS && i <= count->day; i++) {
        uint32_t day = count->day - i;
        if (day <= today && today - day < n)
            sum += count->days[i];
    }
    return sum;
}
