/* desk_commands.c -- reports and featured policies. What is done stands in the log of acts before it is done. */
#include "base/log.h"
#include "cli/arguments.h"
#include "cli/ledger_commands.h"
#include "policies/featured.h"

static const char *time_of(int64_t us, Arena *arena)
{
    char *text = arena_bytes(arena, LOG_TIME_TEXT);
    log_format_time(us, text);
    return text;
}

static void put_number(JsonWriter *json, const char *key, uint64_t number)
{
    json_key(json, key);
    if (number == 0)
        json_put_null(json);
    else
        json_put_i64(json, (int64_t)number);
}

static void put_time(JsonWriter *json, const char *key, int64_t us, Arena *arena)
{
    json_key(json, key);
    if (us == 0)
        json_put_null(json);
    else
        json_put_string(json, slice_from(time_of(us, arena)));
}

/* One line, whatever somebody typed. */
static Slice one_line(Slice text, Arena *arena)
{
    char *line = arena_bytes(arena, text.size);
    for (size_t i = 0; i < text.size; i++)
        line[i] = (unsigned char)text.data[i] < ' ' ? ' ' : text.data[i];
    return slice_of(line, text.size);
}

/* Who does it, when --as says so; 0 is the operator. */
static Status actor_of(Context *context, uint64_t *ret_actor, Reason *reason)
{
    Account account;
    *ret_actor = 0;
    if (command_flag(context, "as").data == NULL)
        return STATUS_OK;
    TRY(argument_account(context, "as", &account, reason));
    *ret_actor = account.id;
    return STATUS_OK;
}

static Slice reason_of(const Context *context)
{
    Slice reason = command_flag(context, "reason");
    return reason.data != NULL ? slice_trim(reason) : SLICE_EMPTY;
}

/* ---- Reports --------------------------------------------------------------------------------------------------- */

static void put_report(JsonWriter *json, const Report *report, Arena *arena)
{
    json_object_begin(json);
    json_member_i64(json, "id", (int64_t)report->id);
    json_member_text(json, "kind", report_kind_word(report->kind));
    put_number(json, "policy", report->policy);
    put_number(json, "reporter", report->account);
    json_member_string(json, "email", report->email);
    json_member_string(json, "words", report->words);
    put_time(json, "made", report->made_us, arena);
    json_member_text(json, "state", report_state_word(report->state));
    put_time(json, "since", report->since_us, arena);
    put_number(json, "moderator", report->moderator);
    json_member_string(json, "reason", report->reason);
    json_object_end(json);
}

static void print_report(Context *context, const Report *report)
{
    Slice words = one_line(report->words, context->arena);
    command_print(context, "%6llu  %-9s %-7s policy %-6llu %s  %.*s\n",
                  (unsigned long long)report->id, report_state_word(report->state),
                  report_kind_word(report->kind), (unsigned long long)report->policy,
                  time_of(report->made_us, context->arena), SLICE_ARG(words));
}

static int tell_report(Context *context, const Report *report)
{
    BUFFER_SCOPE Buffer out = {0};
    JsonWriter json = json_writer(&out);
    put_report(&json, report, context->arena);
    if (context->parsed.json)
        command_json(context, &out);
    else
        print_report(context, report);
    return EXIT_DONE;
}

static Status list_reports(Context *context, ReportState state, JsonWriter *json)
{
    ReportQuery query = {.state = state, .limit = REPORTS_LIST_MOST};
    ReportPage page = {.more = true};
    for (; page.more; query.after = page.position) {
        TRY(reports_list(context->app->reports, &query, context->arena, &page));
        for (size_t i = 0; i < page.count; i++) {
            put_report(json, &page.reports[i], context->arena);
            if (!context->parsed.json)
                print_report(context, &page.reports[i]);
        }
    }
    return STATUS_OK;
}

int run_report_list(Context *context)
{
    ReportState state = REPORT_OPEN;
    Reason reason = {0};
    BUFFER_SCOPE Buffer out = {0};
    JsonWriter json = json_writer(&out);
    Slice word = command_flag(context, "state");
    Status status = STATUS_OK;
    if (word.data != NULL && report_state_from(word, &state) != STATUS_OK)
        status = reason_set(&reason, STATUS_INVALID, "state",
                            "is one of open, taken, acted and dismissed");
    json_array_begin(&json);
    if (status == STATUS_OK)
        status = list_reports(context, state, &json);
    if (status != STATUS_OK)
        return command_fail(context, status, &reason);
    json_array_end(&json);
    if (context->parsed.json)
        command_json(context, &out);
    return EXIT_DONE;
}

static Status read_report(Context *context, Report *ret_report, Reason *reason)
{
    uint64_t id;
    TRY(argument_id(context->parsed.operands[0], &id, reason));
    Status status = reports_read(context->app->reports, id, context->arena, ret_report);
    if (status == STATUS_NOT_FOUND)
        return reason_set(reason, status, "", "there is no report %llu", (unsigned long long)id);
    return status;
}

int run_report_show(Context *context)
{
    Report report;
    Reason reason = {0};
    Status status = read_report(context, &report, &reason);
    return status == STATUS_OK ? tell_report(context, &report)
                               : command_fail(context, status, &reason);
}

/* Into the log of acts as from the pages: dismissals of reports about policies are public. */
static Status note_move(Context *context, const Report *report, const ReportMove *move, Id *ret_id,
                        Reason *reason)
{
    static const ActKind KINDS[] = {[REPORT_OPEN] = ACT_REPORT_RETURN,
                                    [REPORT_TAKEN] = ACT_REPORT_TAKE,
                                    [REPORT_ACTED] = ACT_REPORT_ACT,
                                    [REPORT_DISMISSED] = ACT_TROUBLE_DISMISS};
    bool is_public = move->state == REPORT_DISMISSED && report->policy != 0;
    Act act = {.kind = is_public ? ACT_REPORT_DISMISS : KINDS[move->state],
               .actor = move->moderator,
               .object = is_public ? report->policy : report->id,
               .reason = move->reason,
               .details =
                   arena_print(context->arena, "report %llu", (unsigned long long)report->id)};
    return command_act(context, &act, ret_id, reason);
}

static Status move_report(Context *context, ReportState state, Report *ret_report, Reason *reason)
{
    Report before;
    Id id;
    bool write = false;
    ReportMove move = {.state = state,
                       .reason = report_is_closed(state) ? reason_of(context) : SLICE_EMPTY};
    TRY(actor_of(context, &move.moderator, reason));
    TRY(read_report(context, &before, reason));
    if (report_is_closed(state) && move.reason.size == 0)
        return reason_set(reason, STATUS_INVALID, "reason", "say why: --reason TEXT");
    TRY(policy_check_prose("reason", move.reason, REPORT_REASON_MOST, reason));
    TRY(report_judge(&before, &move, clock_now_us(context->world.clock), &write, reason));
    *ret_report = before;
    if (!write)
        return STATUS_OK;
    TRY(note_move(context, &before, &move, &id, reason));
    Status status =
        reports_move(context->app->reports, before.id, &move, context->arena, ret_report, reason);
    return command_act_end(context, id, status);
}

static int run_move(Context *context, ReportState state)
{
    Report report;
    Reason reason = {0};
    Status status = move_report(context, state, &report, &reason);
    return status == STATUS_OK ? tell_report(context, &report)
                               : command_fail(context, status, &reason);
}

int run_report_take(Context *context)
{
    return run_move(context, REPORT_TAKEN);
}

int run_report_return(Context *context)
{
    return run_move(context, REPORT_OPEN);
}

int run_report_dismiss(Context *context)
{
    return run_move(context, REPORT_DISMISSED);
}

int run_report_act(Context *context)
{
    return run_move(context, REPORT_ACTED);
}

/* ---- Featured policies ------------------------------------------------------------------------------------------ */

static void put_featured(JsonWriter *json, const Featured *featured, size_t place, Context *context)
{
    Arena *arena = context->arena;
    bool shown = featured_is_shown(featured, clock_now_us(context->world.clock));
    json_object_begin(json);
    json_member_i64(json, "policy", (int64_t)featured->policy);
    json_member_i64(json, "place", (int64_t)place);
    put_time(json, "from", featured->from_us, arena);
    put_time(json, "until", featured->until_us, arena);
    json_member_bool(json, "shown", shown);
    json_object_end(json);
    if (!context->parsed.json)
        command_print(context, "%2zu  policy %-6llu from %s until %s%s\n", place,
                      (unsigned long long)featured->policy,
                      featured->from_us == 0 ? "the beginning" : time_of(featured->from_us, arena),
                      featured->until_us == 0 ? "further notice"
                                              : time_of(featured->until_us, arena),
                      shown ? "" : ", not shown now");
}

int run_feature_list(Context *context)
{
    Featured *list;
    size_t count;
    BUFFER_SCOPE Buffer out = {0};
    JsonWriter json = json_writer(&out);
    Status status = policies_featured(context->app->policies, context->arena, &list, &count);
    if (status != STATUS_OK)
        return command_fail(context, status, NULL);
    json_array_begin(&json);
    for (size_t i = 0; i < count; i++)
        put_featured(&json, &list[i], i + 1, context);
    json_array_end(&json);
    if (context->parsed.json)
        command_json(context, &out);
    return EXIT_DONE;
}

static Status feature(Context *context, Reason *reason)
{
    FeatureWish wish = {0};
    int64_t place;
    Id id;
    TRY(argument_id(context->parsed.operands[0], &wish.policy, reason));
    TRY(argument_number(context, "place", 1, FEATURED_MOST, 0, &place, reason));
    TRY(argument_time(context, "from", 0, &wish.from_us, reason));
    TRY(argument_time(context, "until", 0, &wish.until_us, reason));
    TRY(actor_of(context, &wish.actor, reason));
    wish.place = (uint32_t)place;
    TRY(policies_feature_check(context->app->policies, &wish, reason));
    Act act = {.kind = ACT_FEATURE_SET,
               .actor = wish.actor,
               .object = wish.policy,
               .reason = reason_of(context)};
    TRY(command_act(context, &act, &id, reason));
    Status status = policies_feature(context->app->policies, &wish, reason);
    return command_act_end(context, id, status);
}

int run_feature_set(Context *context)
{
    Reason reason = {0};
    Status status = feature(context, &reason);
    return status == STATUS_OK ? run_feature_list(context) : command_fail(context, status, &reason);
}

static Status unfeature(Context *context, Reason *reason)
{
    Id id;
    Act act = {.kind = ACT_FEATURE_REMOVE, .reason = reason_of(context)};
    TRY(argument_id(context->parsed.operands[0], &act.object, reason));
    TRY(actor_of(context, &act.actor, reason));
    TRY(command_act(context, &act, &id, reason));
    Status status = policies_unfeature(context->app->policies, act.object);
    return command_act_end(context, id, status);
}

int run_feature_remove(Context *context)
{
    Reason reason = {0};
    Status status = unfeature(context, &reason);
    return status == STATUS_OK ? run_feature_list(context) : command_fail(context, status, &reason);
}
