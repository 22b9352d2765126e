/* mail_rules.c -- see mail_rules.h. */
#include "mail/mail_rules.h"

enum { LEASE_SPARE_S = 5, PARTS = 1 << 16 };

/* first_s, doubled for each further attempt. */
static int64_t doubled_s(uint32_t attempts, int64_t first_s, int64_t most_s)
{
    int64_t pause_s = first_s;
    for (uint32_t i = 1; i < attempts && pause_s < most_s; i++)
        pause_s *= 2;
    return pause_s < most_s ? pause_s : most_s;
}

int64_t mail_pause_us(uint32_t attempts, int64_t first_s, uint64_t luck)
{
    int64_t base_us = doubled_s(attempts, first_s, MAIL_PAUSE_MOST_S) * US_PER_S;
    int64_t pause_us = base_us - base_us / 4 + base_us / 2 / PARTS * (int64_t)(luck % PARTS);
    return pause_us < MAIL_PAUSE_MOST_S * US_PER_S ? pause_us : MAIL_PAUSE_MOST_S * US_PER_S;
}

int64_t mail_rest_us(uint32_t failures, int64_t first_s)
{
    return doubled_s(failures, first_s, MAIL_REST_MOST_S) * US_PER_S;
}

/* The transfer, the farewell, and the server's name, which libcurl may look up for longer than it was told. */
int64_t mail_lease_us(int64_t smtp_seconds)
{
    return (3 * smtp_seconds + LEASE_SPARE_S) * US_PER_S;
}

uint32_t mail_priority(Slice kind)
{
    return slice_equal(kind, SLICE(MAIL_KIND_DIGEST)) ? PRIORITY_SLOW : PRIORITY_NEW;
}

bool mail_is_due(int64_t due_us, int64_t now_us)
{
    return due_us <= now_us || due_us > now_us + (MAIL_PAUSE_MOST_S + MAIL_LATE_S) * US_PER_S;
}

bool mail_is_stale(int64_t since_us, int64_t now_us)
{
    return now_us > since_us + (MAIL_GIVE_UP_S + MAIL_LATE_S) * US_PER_S;
}

MailNext mail_next(const SmtpAnswer *answer, uint32_t attempts, const MailTimes *times)
{
    int64_t end_us = times->since_us + MAIL_GIVE_UP_S * US_PER_S;
    if (answer->taken)
        return (MailNext){MAIL_SENT, 0};
    if ((answer->about_message && answer->code >= 500) || times->now_us >= end_us)
        return (MailNext){MAIL_FAILED, 0};
    int64_t due_us = times->now_us + mail_pause_us(attempts, times->first_s, times->luck);
    return (MailNext){MAIL_WAITING, due_us < end_us ? due_us : end_us};
}

/* "550 5.1.1 nobody of that name": the code, a blank or a dash, and then perhaps three numbers. */
bool mail_is_bounce(const SmtpAnswer *answer)
{
    const char *words = answer->words;
    bool refused = answer->code == 550 || answer->code == 551 || answer->code == 553;
    if (answer->taken || !answer->about_message || answer->words_are_ours || !refused)
        return false;
    if (strlen(words) < strlen("550 5.1.") || words[4] != '5' || words[5] != '.')
        return true;
    return strncmp(words + 4, "5.1.", 4) == 0 || strncmp(words + 4, "5.2.1", 5) == 0;
}
