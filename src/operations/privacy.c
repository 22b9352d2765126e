/* privacy.c -- see privacy.h. */
#include "operations/privacy.h"

#include "mail/mail.h"
#include "operations/vote_settings.h"
#include "reports/report_rules.h"
#include "votes/notices.h"

const PersonalRow PERSONAL_ROWS[PERSONAL_PARTS] = {
#define X(name, is_own, text) {is_own, text},
    PERSONAL_LIST(X)
#undef X
};

/* ---- Who sees what ------------------------------------------------------------------------------------------------------ */

typedef struct Viewers {
    bool everybody, oneself, by_command;
    uint32_t roles;
} Viewers;

static Viewers viewers_of(Personal part)
{
    Viewers viewers = {0};
    for (size_t i = 0; OPERATIONS[i] != NULL; i++) {
        const Operation *row = OPERATIONS[i];
        if ((row->shows & UINT32_C(1) << part) == 0)
            continue;
        viewers.everybody |= row->access == WEB_PUBLIC;
        viewers.oneself |= operation_is_own(row);
        viewers.by_command |= operation_is_own(row) && row->command.words != NULL;
        if (row->access == WEB_ROLE)
            viewers.roles |= row->roles | 1u << ROLE_ADMIN; /* see actor_has */
    }
    return viewers;
}

Slice personal_seen_by(Personal part, Arena *arena)
{
    BUFFER_SCOPE Buffer out = {0};
    Viewers viewers = viewers_of(part);
    const char *before =
        viewers.oneself ? ", by people with the role " : " by people with the role ";
    if (viewers.everybody)
        return SLICE("Seen by everybody.");
    buffer_text(&out, viewers.oneself ? "Seen by you" : "Seen");
    for (int role = 0; role < ROLE_COUNT; role++)
        if (viewers.roles >> role & 1) {
            buffer_print(&out, "%s%s", before, account_role_text((AccountRole)role));
            before = " or ";
        }
    if (viewers.roles != 0)
        buffer_text(&out, ", and by those who run the server.");
    else if (viewers.by_command)
        buffer_text(&out, " alone; by those who run the server only by a command that you are "
                          "told of.");
    else
        buffer_text(&out, " alone.");
    return arena_copy(arena, buffer_slice(&out));
}

Slice personal_words(uint32_t shows, Arena *arena)
{
    BUFFER_SCOPE Buffer out = {0};
    for (int part = 0; part < PERSONAL_PARTS; part++)
        if (shows >> part & 1)
            buffer_print(&out, "%s%c%s", out.size > 0 ? "; " : "",
                         PERSONAL_ROWS[part].text[0] - 'A' + 'a', PERSONAL_ROWS[part].text + 1);
    return arena_copy(arena, buffer_slice(&out));
}

/* ---- All of it ---------------------------------------------------------------------------------------------------------- */

/* Periods that nobody sets. */
static const struct {
    const char *about;
    int64_t seconds;
} FIXED[] = {
    {"Registrations that are not confirmed", ACCOUNT_PENDING_DAYS *S_PER_DAY},
    {"Your e-mail address before a change of it", ACCOUNT_EMAIL_BACK_DAYS *S_PER_DAY},
    {"What you told the moderators, after it was closed", REPORT_KEPT_DAYS *S_PER_DAY},
    {"Notices, unless you dismiss them", NOTICES_DAYS *S_PER_DAY},
    {"That an e-mail was sent to you, without its text", MAIL_REMEMBERED_S},
};
enum { FIXED_COUNT = sizeof FIXED / sizeof FIXED[0] };

static Status add_kept(Operations *ops, Arena *arena, PrivacyView *view)
{
    RetentionView retention;
    TRY(retention_view(ops, arena, &retention));
    view->kept = ARENA_ARRAY(arena, retention.count + FIXED_COUNT, KeptLine);
    for (size_t i = 0; i < retention.count; i++)
        view->kept[view->kept_count++] =
            (KeptLine){retention.periods[i].about, retention.periods[i].days * S_PER_DAY};
    for (size_t i = 0; i < FIXED_COUNT; i++)
        view->kept[view->kept_count++] = (KeptLine){FIXED[i].about, FIXED[i].seconds};
    return STATUS_OK;
}

Status privacy_view(Operations *ops, Arena *arena, PrivacyView *ret_view)
{
    PrivacyView view = {0};
    TRY(add_kept(ops, arena, &view));
    for (int i = 0; i < COOKIE_KINDS; i++)
        view.cookies[i] = (CookieLine){.name = COOKIE_ROWS[i].name,
                                       .purpose = COOKIE_ROWS[i].purpose,
                                       .when = COOKIE_ROWS[i].when,
                                       .seconds = COOKIE_ROWS[i].life_s};
    for (int i = 0; i < PERSONAL_PARTS; i++)
        view.seen[i] = (SeenLine){PERSONAL_ROWS[i].text, personal_seen_by((Personal)i, arena)};
    *ret_view = view;
    return STATUS_OK;
}
