/* notices.c -- what happened to the policies that somebody voted for, watches or owns: listing and dismissing it. See notices.h.
 * So are commands in their name.
 *
 * A dismissal is one write, which can be repeated. */
#include "operations/notices.h"

#include "operations/schema_macros.h"

static const char *const NOTICE_WORDS[] = WORDS(NOTICE_KIND_LIST, WORD_2);

/* clang-format off */
static const ApiMember NOTICE[] = {
    FIELD("id", MyNotice, key, .help = "Names it, for dismissing it."),
    WORD("kind", MyNotice, kind, NOTICE_WORDS, .help = "What happened."),
    TIME("time", MyNotice, time_us, .help = "When it happened."),
    FIELD("policy", MyNotice, policy.id, WHEN(MyNotice, has_policy), .help = "To which policy; null: it is about the account."),
    FIELD("name", MyNotice, policy.name, WHEN(MyNotice, has_name), .help = "What that is called; of the account what was taken away and given back."),
    FIELD("other", MyNotice, other.id, WHEN(MyNotice, has_other), .help = "Where its votes went, or in favour of which it was retired."),
    FIELD("reason", MyNotice, reason, OR_NULL, .help = "Why."),
    FIELD("command", MyNotice, command, OR_NULL, .help = "Which command was given in the person's name."),
    FIELD("shown", MyNotice, shown, OR_NULL, .help = "What of the person that command shows."),
};
SCHEMA(NOTICE, "Notice", MyNotice, NOTICE, .help = "Something that happened to a policy, or to the account.");

static const ApiMember NOTICES[] = {
    LIST("notices", MyNotices, notices, count, NOTICE, .help = "The newest first."),
};
SCHEMA(NOTICES, "Notices", MyNotices, NOTICES, .help = "What happened to the policies that somebody has to do with.");
/* clang-format on */

/* Of one that this version does not know: nothing. */
static Slice shown_by(Slice command, Arena *arena)
{
    for (size_t i = 0; command.size > 0 && OPERATIONS[i] != NULL; i++)
        if (OPERATIONS[i]->command.words != NULL &&
            slice_equal(command, slice_from(OPERATIONS[i]->command.words)))
            return personal_words(OPERATIONS[i]->shows, arena);
    return SLICE_EMPTY;
}

static Status notice_of(Operations *ops, uint64_t account, const PolicyNotice *from, Arena *arena,
                        MyNotice *notice)
{
    *notice = (MyNotice){.key = from->key,
                         .kind = from->kind,
                         .has_policy = from->policy != 0,
                         .command = from->command,
                         .shown = shown_by(from->command, arena),
                         .has_other = from->other != 0,
                         .time_us = from->time_us,
                         .reason = from->reason};
    if (from->kind == NOTICE_RIGHTS)
        notice->policy = (MyPolicy){.name = from->name, .address = SLICE("/appeal")};
    notice->has_name = notice->has_policy || from->kind == NOTICE_RIGHTS;
    if (!notice->has_policy)
        return STATUS_OK;
    TRY(my_policy(ops, from->policy, account, arena, &notice->policy));
    if (notice->has_other)
        TRY(my_policy(ops, from->other, account, arena, &notice->other));
    PolicySummary summary;
    notice->may_appeal =
        from->kind == NOTICE_HIDDEN && notice->policy.state == POLICY_PENDING_DELETION &&
        policy_summary_name(ops->summaries, from->policy, arena, &summary) == STATUS_OK &&
        summary.owner == account;
    return STATUS_OK;
}

Status my_notices(Operations *ops, uint64_t account, Arena *arena, MyNotices *ret_notices)
{
    PolicyNotice *list;
    MyNotices notices = {.now_us = clock_now_us(ops->app->world.clock)};
    TRY(notices_list(ops->app->votes, account, arena, &list, &notices.count));
    notices.notices = ARENA_ARRAY(arena, notices.count, MyNotice);
    for (size_t i = 0; i < notices.count; i++)
        TRY(notice_of(ops, account, &list[i], arena, &notices.notices[i]));
    if (notices.count > 0)
        notices.until_us = list[0].time_us;
    *ret_notices = notices;
    return STATUS_OK;
}

/* ---- The operations ------------------------------------------------------------------------------------------------------ */

static Status notice_list(Operations *ops, const Actor *actor, const Nothing *request, Arena *arena,
                          MyNotices *ret_notices, Reason *reason)
{
    (void)request, (void)reason;
    return my_notices(ops, actor_id(actor), arena, ret_notices);
}

OPERATION(notice_list, Nothing, MyNotices,
          .help = "List what happened to the policies that somebody voted for, watches or owns.",
          .access = WEB_LOGIN, .asks = true, .shows = SHOWS(LISTS), .answers = &SCHEMA_NOTICES,
          .api = {WEB_GET, "me/notices", .tag = "me"}, .no_page = "/my/notices shows them",
          .command = {.words = "notice list"});

typedef struct NoticeDismiss {
    Slice notice;
} NoticeDismiss;

static Status notice_dismiss(Operations *ops, const Actor *actor, const NoticeDismiss *request,
                             Arena *arena, Done *ret_done, Reason *reason)
{
    (void)arena;
    if (actor->is_operator && slice_starts_with(request->notice, NOTICE_COMMAND_KEY))
        return reason_set(reason, STATUS_REFUSED, "notice",
                          "a command cannot dismiss what tells of a command; the person can");
    Status status = notices_dismiss(ops->app->votes, actor_id(actor), request->notice);
    if (status == STATUS_INVALID)
        return reason_set(reason, STATUS_NOT_FOUND, "notice", "there is no such notice");
    TRY(status);
    operations_notify(ops, CHANGE_NOTICES, actor_id(actor));
    ret_done->done = true;
    return STATUS_OK;
}

typedef struct NoticeDismissAll {
    Slice through;
    int64_t until_us;
} NoticeDismissAll;

/* The time of the newest that is dismissed; 0: there is nothing to dismiss. A command does not dismiss the notice of itself. */
static Status find_until(Operations *ops, const Actor *actor, const NoticeDismissAll *request,
                         Arena *arena, int64_t *ret_until_us, Reason *reason)
{
    PolicyNotice *list;
    size_t count, newest = 0;
    *ret_until_us = request->until_us;
    if (request->until_us > 0)
        return STATUS_OK;
    TRY(notices_list(ops->app->votes, actor_id(actor), arena, &list, &count));
    while (newest < count &&
           (request->through.size > 0 ? !slice_equal(list[newest].key, request->through)
                                      : actor->is_operator && list[newest].policy == 0))
        newest++;
    if (newest < count)
        *ret_until_us = list[newest].time_us;
    else if (request->through.size > 0)
        return reason_set(reason, STATUS_NOT_FOUND, "through", "there is no such notice");
    return STATUS_OK;
}

/* Those that come after the list was read stay, and so do all that are newer than what was named. */
static Status notice_dismiss_all(Operations *ops, const Actor *actor,
                                 const NoticeDismissAll *request, Arena *arena, Done *ret_done,
                                 Reason *reason)
{
    int64_t until_us;
    TRY(find_until(ops, actor, request, arena, &until_us, reason));
    if (until_us > 0)
        TRY(notices_dismiss_all(ops->app->votes, actor_id(actor), until_us));
    operations_notify(ops, CHANGE_NOTICES, actor_id(actor));
    ret_done->done = true;
    return STATUS_OK;
}

/* clang-format off */
OPERATION(notice_dismiss, NoticeDismiss, Done, .help = "Dismiss a notice.",
    .access = WEB_LOGIN, .whose = WEB_ANYBODYS, .no_audits = "it is one's own",
    .api = {WEB_DELETE, "me/notices/{notice}", .tag = "me"}, .command = {.words = "notice dismiss", .done = "dismissed"},
    .page = {"/my/notices/dismiss", "dismissed", "Dismissed."},
    .inputs = {INPUT("notice", NoticeDismiss, notice, OPAQUE, .operand = true, .least = 1, .most = NOTICE_KEY_BYTES, .help = "Its id.")});
OPERATION(notice_dismiss_all, NoticeDismissAll, Done, .help = "Dismiss all notices, or all up to one.",
    .access = WEB_LOGIN, .no_audits = "it is one's own",
    .api = {WEB_DELETE, "me/notices", .tag = "me"}, .command = {.words = "notice dismiss-all", .done = "dismissed"},
    .page = {"/my/notices", "dismissed", "Dismissed."},
    .inputs = {
        INPUT("through", NoticeDismissAll, through, OPAQUE, .optional = true, .least = 1, .most = NOTICE_KEY_BYTES, .no_page = true,
              .help = "The id of the newest that is dismissed; left out: all that there are."),
        INPUT("until", NoticeDismissAll, until_us, NUMBER, .optional = true, .least = 1, .most = SETTING_TIME_MAX, .no_api = true, .no_command = true,
              .help = "The time of the newest that is dismissed, in microseconds since 1970."),
    });
/* clang-format on */
