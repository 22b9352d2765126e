/* journals.c -- what the operations on journals share: moments, bytes, rights. See journals.h. */
#include "operations/journals.h"

#include <sodium.h>

#include "base/time_text.h"

enum { VARIANT = sodium_base64_VARIANT_ORIGINAL, MS_PER_S_ = 1000 };

const char *const JOURNAL_STATE_WORDS[] = {"W", "P", "H", "F", NULL};

/* ---- Bytes, moments, priorities ----------------------------------------------------------------------------------------------- */

static bool is_plain_text(Slice bytes)
{
    return slice_is_utf8(bytes) && slice_find(bytes, '\0') == bytes.size;
}

JournalBytes journal_bytes(Slice bytes, Arena *arena)
{
    if (is_plain_text(bytes))
        return (JournalBytes){.text = bytes, .base64 = SLICE_EMPTY, .is_text = true};
    size_t size = sodium_base64_encoded_len(bytes.size, VARIANT);
    char *text = arena_bytes(arena, size);
    sodium_bin2base64(text, size, (const unsigned char *)bytes.data, bytes.size, VARIANT);
    return (JournalBytes){.text = SLICE_EMPTY, .base64 = slice_of(text, size - 1)};
}

Status journal_from_base64(Slice base64, const char *field, Arena *arena, Slice *ret_bytes,
                           Reason *reason)
{
    unsigned char *bytes = (unsigned char *)arena_bytes(arena, base64.size + 1);
    size_t size;
    const char *end;
    if (sodium_base642bin(bytes, base64.size + 1, base64.data, base64.size, NULL, &size, &end,
                          VARIANT) != 0 ||
        end != base64.data + base64.size)
        return reason_set(reason, STATUS_INVALID, field, "must be base64, with its padding");
    *ret_bytes = slice_of(bytes, size);
    return STATUS_OK;
}

Slice journal_moment(int64_t ms, Arena *arena)
{
    char text[UTC_TEXT];
    if (ms <= 0 || ms > INT64_MAX / US_PER_MS)
        return SLICE_EMPTY;
    utc_text(utc_of(ms * US_PER_MS), text);
    return arena_print(arena, "%s.%03dZ", text, (int)(ms % MS_PER_S_));
}

Status journal_moment_from(Slice text, const char *field, int64_t *ret_ms, Reason *reason)
{
    int64_t us, fraction = 0;
    size_t dot = slice_find(text, '.');
    Slice digits = slice_after(text, dot + 1);
    bool has_fraction = dot < text.size, good = true;
    if (has_fraction) {
        good = digits.size == 4 && digits.data[3] == 'Z' &&
               slice_to_i64(slice_of(digits.data, 3), &fraction) == STATUS_OK && fraction >= 0;
        text = slice_of(text.data, dot);
    }
    if (!good || time_from_text(text, &us) != STATUS_OK)
        return reason_set(reason, STATUS_INVALID, field,
                          "must be a time, as in 2026-01-31T12:00:00Z or 2026-01-31T12:00:00.250Z");
    *ret_ms = us / US_PER_MS + fraction;
    return STATUS_OK;
}

Status journal_priority_from(Slice text, const char *field, uint32_t *ret_priority, Reason *reason)
{
    if (journal_priority_from_text(text, ret_priority) == STATUS_OK)
        return STATUS_OK;
    return reason_set(reason, STATUS_INVALID, field,
                      "must be a whole number from 0 to 4294967295, or one of NOW, IMPORTANT, NEW, "
                      "RESET, UPDATES, SLOW, REVIEW and TIME_ALLOWS");
}

/* ---- Rights --------------------------------------------------------------------------------------------------------------------- */

Status operations_journals(Operations *ops, Journals **ret_journals, Reason *reason)
{
    return app_journals(ops->app, ret_journals, reason);
}

static JournalActor actor_of(const Actor *actor)
{
    return (JournalActor){.is_operator = actor->is_operator && actor->account == NULL,
                          .is_local = actor->is_local,
                          .roles = actor->roles,
                          .is_known = actor->account != NULL,
                          .by_token = actor->by_token,
                          .token_name = actor->token_name,
                          .is_limited = actor->is_limited,
                          .token_journals = actor->token_journals};
}

Status journal_admit(Operations *ops, const Actor *actor, Slice journal, JournalRight right,
                     Reason *reason)
{
    Journals *journals;
    JournalActor who = actor_of(actor);
    TRY(operations_journals(ops, &journals, reason));
    return journal_access(journals, journal, right, &who, reason);
}

Status journal_admits_claim(Operations *ops, const Actor *actor, Slice first, Reason *reason)
{
    if (first.size > 0)
        return journal_admit(ops, actor, first, JOURNAL_RIGHT_CLAIM, reason);
    if (actor->account != NULL || actor->is_operator || actor->is_local)
        return STATUS_OK;
    return reason_set(reason, STATUS_LOGIN, "",
                      "log in first, or send a token; one journal by its own address may be for "
                      "everybody");
}

bool journal_may(Operations *ops, const Actor *actor, Slice journal, JournalRight right)
{
    return journal_admit(ops, actor, journal, right, NULL) == STATUS_OK;
}
