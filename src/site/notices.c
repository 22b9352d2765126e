/* notices.c -- /my/notices: what happened to the policies that somebody voted for, watches or owns. */
#include "site/my_pages.h"
#include "site/notice_counts.h"
#include "site/pages.h"

/* ---- The view --------------------------------------------------------------------------------------------------------- */

static Status notice_of(Site *site, uint64_t account, const PolicyNotice *from, Arena *arena,
                        MyNotice *notice)
{
    *notice = (MyNotice){.key = from->key,
                         .kind = from->kind,
                         .has_other = from->other != 0,
                         .time_us = from->time_us,
                         .reason = from->reason};
    TRY(my_policy(site, from->policy, account, arena, &notice->policy));
    if (notice->has_other)
        TRY(my_policy(site, from->other, account, arena, &notice->other));
    PolicyCard card;
    notice->may_appeal =
        from->kind == NOTICE_HIDDEN && notice->policy.state == POLICY_PENDING_DELETION &&
        cards_name(site->cards, from->policy, arena, &card) == STATUS_OK && card.owner == account;
    return STATUS_OK;
}

Status my_notices(Site *site, uint64_t account, Arena *arena, MyNotices *ret_notices)
{
    PolicyNotice *list;
    MyNotices notices = {.now_us = clock_now_us(site->app->world.clock)};
    TRY(notices_list(site->app->votes, account, arena, &list, &notices.count));
    notices.notices = ARENA_ARRAY(arena, notices.count, MyNotice);
    for (size_t i = 0; i < notices.count; i++)
        TRY(notice_of(site, account, &list[i], arena, &notices.notices[i]));
    if (notices.count > 0)
        notices.until_us = list[0].time_us;
    notice_counts_put(site->notice_counts, account, notices.count);
    *ret_notices = notices;
    return STATUS_OK;
}

size_t site_notice_count(WebRequest *request)
{
    Site *site = site_of(request);
    uint64_t account = site_viewer(request)->account.id;
    PolicyNotice *list;
    size_t count = 0;
    if (notice_counts_find(site->notice_counts, account, &count))
        return count;
    if (notices_list(site->app->votes, account, web_arena(request), &list, &count) != STATUS_OK)
        count = 0; /* a header without a number; asked again after a while */
    notice_counts_put(site->notice_counts, account, count);
    return count;
}

/* ---- The page --------------------------------------------------------------------------------------------------------- */

static Status show_notices(WebRequest *request)
{
    MyNotices notices;
    Viewer *viewer = site_viewer(request);
    Frame frame = {.title = SLICE("Notices"), .here = "/my/notices"};
    TRY(my_notices(site_of(request), viewer->account.id, web_arena(request), &notices));
    Buffer *out = page_begin(request, &frame);
    notices_page(out, &(NoticesPage){&notices, viewer});
    page_end(request, out);
    return STATUS_OK;
}

enum { DISMISS_KEY, DISMISS_UNTIL };

static Status dismiss(WebRequest *request)
{
    Site *site = site_of(request);
    uint64_t account = site_viewer(request)->account.id;
    bool is_one = web_has(request, DISMISS_KEY);
    if (is_one == web_has(request, DISMISS_UNTIL))
        return reason_set(web_reason(request), STATUS_INVALID, "key",
                          "say which one, or up to when");
    TRY(is_one
            ? notices_dismiss(site->app->votes, account, web_text(request, DISMISS_KEY))
            : notices_dismiss_all(site->app->votes, account, web_number(request, DISMISS_UNTIL)));
    notice_counts_forget(site->notice_counts, account);
    site_done(request, SLICE("/my/notices"), "dismissed", 0);
    return STATUS_OK;
}

/* clang-format off */
static const WebRoute ROUTES[] = {
    {WEB_GET, "/my/notices", show_notices, .access = WEB_LOGIN,
     .help = "What happened to the policies that whoever is logged in voted for, watches or owns."},
    {WEB_POST, "/my/notices", dismiss, .access = WEB_LOGIN, .body_bytes = 4096,
     .help = "Dismisses one notice, or all up to a moment.",
     .params = {{"key", WEB_FORM, WEB_OPAQUE, .optional = true, .least = 1, .most = NOTICE_KEY_BYTES,
                 .help = "The notice."},
                {"until", WEB_FORM, WEB_NUMBER, .optional = true, .least = 0, .most = SETTING_TIME_MOST,
                 .help = "The time of the newest one that is dismissed, in microseconds since 1970."}}},
};
/* clang-format on */
const Room ROOM_NOTICES = ROOM(ROUTES);
