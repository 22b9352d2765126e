/* data.c -- /my/data: everything that the site keeps of somebody, as one file, for that person alone.
 *
 * It asks for the password again: who sits down at somebody's open browser must not carry all of it away. What it holds is what the pages and the API
 * show one by one, written by the same schemas (api_schemas.c). Bounded: at most DATA_EVENTS saves and salaries and DATA_POLICIES policies; where the
 * history goes on, the file says where. Secrets are in it in no form. */
#include "site/account/people.h"
#include "site/api/api.h"
#include "site/pages.h"

enum { FIELD_MAX = 1000, DATA_EVENTS = 20000, DATA_POLICIES = 1000 };

/* ---- What is kept ----------------------------------------------------------------------------------------------------- */

/* Page after page; what a page was made with stays until the answer is sent. */
static Status add_history(WebRequest *request, const Account *account, ApiData *data)
{
    Arena *arena = web_arena(request);
    MyEvent *events = ARENA_ARRAY(arena, DATA_EVENTS, MyEvent);
    VoteHistory ask = {.limit = MY_HISTORY_PAGE};
    MyHistory page;
    size_t count = 0;
    do {
        TRY(my_history(site_of(request)->ops, account, &ask, arena, &page));
        if (page.count > DATA_EVENTS - count)
            break;
        memcpy(events + count, page.events, page.count * sizeof *events);
        count += page.count;
        ask.before = page.before;
        data->history.next = page.next;
    } while (ask.before != 0);
    data->history.events = events;
    data->history.count = count;
    return STATUS_OK;
}

static Status add_policies(WebRequest *request, uint64_t account, ApiData *data)
{
    Arena *arena = web_arena(request);
    PolicyQuery query = {.order = POLICIES_BY_OWNER,
                         .group = account,
                         .position = SLICE_EMPTY,
                         .limit = POLICIES_BROWSE_MAX};
    data->policies = ARENA_ARRAY(arena, DATA_POLICIES, MyPolicy);
    for (bool more = true; more;) {
        PolicyPage page;
        TRY(policies_browse(site_of(request)->app->policies, &query, arena, &page));
        for (size_t i = 0; i < page.count && data->policy_count < DATA_POLICIES; i++)
            TRY(my_policy(site_of(request)->ops, page.policies[i].id, account, arena,
                          &data->policies[data->policy_count++]));
        query.position = page.position;
        more = page.more && data->policy_count < DATA_POLICIES;
    }
    return STATUS_OK;
}

static Status add_votes(WebRequest *request, ApiData *data)
{
    MyVotesQuery ask = {.voter = data->account.id};
    TRY(site_voter_state(request, &ask.state));
    return my_votes(site_of(request)->ops, &ask, web_arena(request), &data->votes);
}

static Status add_ways(WebRequest *request, ApiData *data)
{
    Arena *arena = web_arena(request);
    Operations *ops = site_of(request)->ops;
    TRY(own_sessions(ops, &data->account, arena, &data->sessions));
    TRY(logins_list(ops->app->accounts, data->account.id, arena, &data->logins,
                    &data->login_count));
    TRY(own_tokens(ops, &data->account, arena, &data->tokens));
    TRY(own_linked(ops, &data->account, arena, &data->connections));
    TRY(own_second(ops, &data->account, arena, &data->second));
    data->second.secret = data->second.link = SLICE_EMPTY;
    return STATUS_OK;
}

enum { P_PASSWORD }; /* of both */

static Status fill_data(WebRequest *request, ApiData *ret_data)
{
    Arena *arena = web_arena(request);
    Site *site = site_of(request);
    TRY(people_check_own_password(request, web_text(request, P_PASSWORD), "password"));
    ret_data->account = site_viewer(request)->account;
    ret_data->made_us = site_now_us(request);
    TRY(add_votes(request, ret_data));
    TRY(add_history(request, &ret_data->account, ret_data));
    TRY(add_policies(request, ret_data->account.id, ret_data));
    TRY(my_watching(site->ops, ret_data->account.id, arena, &ret_data->watching));
    TRY(my_notices(site->ops, ret_data->account.id, arena, &ret_data->notices));
    return add_ways(request, ret_data);
}

/* ---- Page and program ----------------------------------------------------------------------------------------------------- */

static Status answer_form(WebRequest *request, const PersonForm *form)
{
    Frame frame = {.title = SLICE("Download your data"), .is_narrow = true};
    if (form->fault.is_set)
        web_code(request, 422);
    Buffer *out = page_begin(request, &frame);
    data_page(out, form);
    page_end(request, out);
    return STATUS_OK;
}

static Status show_data(WebRequest *request)
{
    PersonForm form = {.csrf = site_viewer(request)->csrf};
    return answer_form(request, &form);
}

static Status do_data(WebRequest *request)
{
    ApiData *data = ARENA_NEW(web_arena(request), ApiData);
    Status status = fill_data(request, data);
    if (form_can_be_corrected(status)) {
        PersonForm form = {.csrf = site_viewer(request)->csrf,
                           .fault = form_fault(web_reason(request))};
        return answer_form(request, &form);
    }
    TRY(status);
    web_private(request);
    web_header(request, "Content-Disposition", "attachment; filename=\"my-data.json\"");
    JsonWriter json = web_write_json(request);
    schema_write(&json, &SCHEMA_DATA, data, web_arena(request));
    return STATUS_OK;
}

static Status give_data(WebRequest *request)
{
    ApiData *data = ARENA_NEW(web_arena(request), ApiData);
    TRY(api_refuse_token(request));
    TRY(fill_data(request, data));
    return api_answer(request, &SCHEMA_DATA, data);
}

static const WebRoute ROUTES[] = {
    {WEB_GET, "/my/data", show_data, .access = WEB_LOGIN,
     .help = "The form to download all that is kept of me."},
    {WEB_POST, "/my/data", do_data, .threads = WEB_PASSWORD, .access = WEB_LOGIN,
     .body_bytes = WEB_BODY_DEFAULT, .help = "All that is kept of me, as a file.",
     .params = {[P_PASSWORD] = {"password", WEB_FORM, WEB_LINE, .most = FIELD_MAX,
                                .help = "My password."}}},
    {WEB_POST, API_PATH "me/data", give_data, .threads = WEB_PASSWORD, .access = WEB_LOGIN,
     .body_bytes = WEB_BODY_DEFAULT, .asks = true, .tag = "me", .answers = "Data",
     .help = "All that is kept of you, at once. Not by a token.",
     .params = {[P_PASSWORD] = {"password", WEB_JSON, WEB_LINE, .least = 1, .most = FIELD_MAX,
                                .help = "Yours."}}},
};
ROUTE_TABLE(DATA, ROUTES);
