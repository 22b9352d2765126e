/* journal_rules.c -- see journal_rules.h. */
#include "journal/journal_rules.h"

/* The end of the year 9999: sums of two such dates are far from the end of the numbers. */
#define DATE_MAX INT64_C(253402300799999)

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

int64_t journal_date(int64_t ms)
{
    return most(0, least(ms, DATE_MAX));
}

int64_t journal_after(int64_t ms, int64_t span_ms)
{
    return journal_date(journal_date(ms) + journal_date(span_ms));
}

JournalFields journal_fields(const JournalRules *rules, JournalFields put, int64_t now_ms,
                             bool *ret_ahead)
{
    *ret_ahead = put.insertion_ms > now_ms + JOURNAL_AHEAD_MS;
    int64_t inserted = put.insertion_ms == 0 || *ret_ahead ? now_ms : put.insertion_ms;
    put.insertion_ms = put.update_ms = journal_date(inserted);
    put.wanted_ms = put.wanted_ms == 0 ? now_ms : journal_date(put.wanted_ms);
    if (put.expiration_ms == 0 && rules->expire_ms > 0)
        put.expiration_ms = journal_after(put.insertion_ms, rules->expire_ms);
    put.expiration_ms = journal_date(put.expiration_ms);
    put.retry_ms = 0;
    if (put.lease_ms <= 0)
        put.lease_ms = rules->lease_ms;
    put.lease_ms = least(put.lease_ms, UINT32_MAX);
    return put;
}

static int64_t wanted_of_both(JournalProcess process, int64_t have, int64_t put)
{
    switch (process) {
    case JOURNAL_LATEST:
        return most(have, put);
    case JOURNAL_EARLIEST:
        return least(have, put);
    case JOURNAL_KEEP:
        return have;
    }
    return have;
}

JournalFields journal_merge(const JournalRules *rules, JournalFields have, JournalFields put,
                            bool *ret_data)
{
    JournalFields both = have;
    bool never = have.expiration_ms == 0 || put.expiration_ms == 0;
    *ret_data = put.update_ms > have.update_ms ||
                (put.update_ms == have.update_ms && slice_compare(put.data, have.data) > 0);
    both.insertion_ms = least(have.insertion_ms, put.insertion_ms);
    both.expiration_ms = never ? 0 : most(have.expiration_ms, put.expiration_ms);
    both.wanted_ms = wanted_of_both(rules->process, have.wanted_ms, put.wanted_ms);
    both.retry_ms = most(have.retry_ms, put.retry_ms);
    both.update_ms = most(have.update_ms, put.update_ms);
    both.lease_ms = most(have.lease_ms, put.lease_ms);
    both.priority = have.priority < put.priority ? have.priority : put.priority;
    if (*ret_data)
        both.data = put.data;
    return both;
}

int64_t journal_process_ms(const JournalRules *rules, int64_t insertion_ms, int64_t wanted_ms,
                           int64_t retry_ms)
{
    int64_t process_ms = wanted_ms;
    if (rules->max_defer_ms > 0)
        process_ms = least(process_ms, insertion_ms + rules->max_defer_ms);
    return most(most(process_ms, insertion_ms), retry_ms);
}

int64_t journal_backoff_ms(const JournalRules *rules, uint32_t failures)
{
    int64_t wait_ms = rules->backoff_ms;
    for (uint32_t i = 1; i < failures && wait_ms < rules->backoff_max_ms; i++)
        wait_ms *= 2;
    return least(wait_ms, rules->backoff_max_ms);
}

bool journal_before(JournalPlace a, JournalPlace b)
{
    if (a.priority != b.priority)
        return a.priority < b.priority;
    if (a.process_ms != b.process_ms)
        return a.process_ms < b.process_ms;
    return a.id < b.id;
}

static bool is_name_byte(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("-+/;.$_()", c) != NULL);
}

bool journal_is_name(Slice name)
{
    for (size_t i = 0; i < name.size; i++)
        if (!is_name_byte(name.data[i]))
            return false;
    return name.size > 0 && name.size <= JOURNAL_NAME_MAX && name.data[0] != '-';
}
