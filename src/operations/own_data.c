/* own_data.c -- everything that the site keeps of somebody, as one file, for that person alone.
 *
 * It asks for the password again: whoever sits down at somebody's open browser must not carry all of it away. The operator, who answers
 * somebody who asks by post, needs none, and is in the audit log (operation.c). What it holds is what the pages and the API show one by one, written by the
 * same schemas. Bounded: at most DATA_EVENTS saves and salaries and DATA_POLICIES policies; where the history goes on, the file says where.
 * Secrets are in it in no form. */
#include "operations/follow.h"
#include "operations/notices.h"
#include "operations/own_access.h"
#include "operations/schema_macros.h"
#include "operations/tries.h"
#include "operations/vote_history.h"
#include "operations/votes.h"
#include "operations/watching.h"

enum { PASSWORD_MAX = 1000, DATA_EVENTS = 20000, DATA_POLICIES = 1000 };

typedef struct OwnData {
    int64_t made_us;
    Account account;
    MyVotes votes;
    MyHistory history;
    MyPolicy *policies;
    size_t policy_count;
    MyWatching watching;
    MyNotices notices;
    SessionList sessions;
    Login *logins;
    size_t login_count;
    TokenList tokens;
    Following following;
    LinkedList connections;
    SecondView second;
} OwnData;

/* clang-format off */
static const ApiMember LOGIN[] = {
    TIME("time", Login, time_us, .help = "When it was."),
    FIELD("success", Login, success, .help = "Whether it succeeded."),
    FIELD("address", Login, origin.address, .help = "From which network address."),
    FIELD("agent", Login, origin.agent, .help = "With which program."),
};
SCHEMA(LOGIN, "Login", Login, LOGIN, .help = "A log-in that succeeded or failed.");

static const ApiMember DATA[] = {
    TIME("made", OwnData, made_us, .help = "When this was put together."),
    FIELD("id", OwnData, account.id, .help = "The account."),
    FIELD("name", OwnData, account.name, .help = "Its name."),
    FIELD("email", OwnData, account.email, .help = "Its e-mail address."),
    FIELD("real_name", OwnData, account.real_name, OR_NULL, .help = "The person's name, where it was given."),
    FIELD("real_name_shown", OwnData, account.real_name_shown, .help = "Whether everybody may see it."),
    WORD("state", OwnData, account.state, ACCOUNT_STATE_WORDS, .help = "The state of the account."),
    TIME("registered", OwnData, account.registered_us, .help = "Since when."),
    OBJECT("votes", OwnData, votes, VOTES, .help = "What you hold."),
    OBJECT("history", OwnData, history, MY_HISTORY, .help = "All that you saved and earned."),
    LIST("policies", OwnData, policies, policy_count, MY_POLICY, .help = "Those that you own."),
    OBJECT("watching", OwnData, watching, WATCHING, .help = "The policies that you watch."),
    LIST("following", OwnData, following.groups, following.count, FOLLOWED, .help = "The categories and parties that you follow."),
    OBJECT("notices", OwnData, notices, NOTICES, .help = "What you were told."),
    OBJECT("sessions", OwnData, sessions, SESSIONS, .help = "Where you are logged in."),
    LIST("logins", OwnData, logins, login_count, LOGIN, .help = "The last log-ins, the newest first."),
    OBJECT("tokens", OwnData, tokens, TOKENS, .help = "Your personal tokens, without their secrets."),
    OBJECT("connections", OwnData, connections, CONNECTIONS, .help = "Your log-ins at other sites."),
    OBJECT("second_factor", OwnData, second, SECOND, .help = "Your second factor, without its secret."),
};
SCHEMA(DATA, "Data", OwnData, DATA, .help = "All that is kept of somebody.");
/* clang-format on */

static Status add_policies(Operations *ops, Arena *arena, OwnData *data)
{
    PolicyQuery query = {.order = POLICIES_BY_OWNER,
                         .group = data->account.id,
                         .position = SLICE_EMPTY,
                         .limit = POLICIES_BROWSE_MAX};
    data->policies = ARENA_ARRAY(arena, DATA_POLICIES, MyPolicy);
    for (bool more = true; more;) {
        PolicyPage page;
        TRY(policies_browse(ops->app->policies, &query, arena, &page));
        for (size_t i = 0; i < page.count && data->policy_count < DATA_POLICIES; i++)
            TRY(my_policy(ops, page.policies[i].id, data->account.id, arena,
                          &data->policies[data->policy_count++]));
        query.position = page.position;
        more = page.more && data->policy_count < DATA_POLICIES;
    }
    return STATUS_OK;
}

static Status fill(Operations *ops, const Actor *actor, Arena *arena, OwnData *data)
{
    const Account *account = &data->account;
    VoterState state;
    MyVotesQuery votes = {.voter = account->id, .state = &state};
    TRY(votes_show(ops->app->votes, account->id, arena, &state));
    TRY(my_votes(ops, &votes, arena, &data->votes));
    /* Page after page; what a page was made with stays until the answer is sent. */
    MyEvent *events = ARENA_ARRAY(arena, DATA_EVENTS, MyEvent);
    VoteHistory ask = {.limit = MY_HISTORY_PAGE};
    MyHistory page;
    size_t count = 0;
    do {
        TRY(my_history(ops, &data->account, &ask, arena, &page));
        if (page.count > DATA_EVENTS - count)
            break;
        memcpy(events + count, page.events, page.count * sizeof *events);
        count += page.count;
        ask.before = page.before;
        data->history.next = page.next;
    } while (ask.before != 0);
    data->history.events = events;
    data->history.count = count;
    TRY(add_policies(ops, arena, data));
    TRY(my_watching(ops, account->id, arena, &data->watching));
    TRY(following_of(ops, actor, arena, &data->following));
    TRY(my_notices(ops, account->id, arena, &data->notices));
    TRY(own_sessions(ops, account, arena, &data->sessions));
    TRY(logins_list(ops->app->accounts, account->id, arena, &data->logins, &data->login_count));
    TRY(own_tokens(ops, account, arena, &data->tokens));
    TRY(own_linked(ops, account, arena, &data->connections));
    TRY(own_second(ops, account, arena, &data->second));
    data->second.secret = data->second.link = SLICE_EMPTY;
    return STATUS_OK;
}

typedef struct DataShow {
    Slice password;
} DataShow;

static Status data_show(Operations *ops, const Actor *actor, const DataShow *request, Arena *arena,
                        OwnData *ret_data, Reason *reason)
{
    if (!actor->is_operator)
        TRY(check_own_password(ops, actor, request->password, "password", arena, reason));
    ret_data->account = *actor->account;
    ret_data->made_us = clock_now_us(ops->app->world.clock);
    return fill(ops, actor, arena, ret_data);
}

/* clang-format off */
OPERATION(data_show, DataShow, OwnData, .help = "Give all that is kept of somebody, at once.",
    .access = WEB_LOGIN, .by_session = true, .asks = true, .shows = SHOWS_ALL & ~SHOWS(SIGNALS) & ~SHOWS(REPORTS) & ~SHOWS(RIGHTS), .threads = WEB_PASSWORD, .answers = &SCHEMA_DATA,
    .api = {WEB_POST, "me/data", .tag = "me"}, .page = {.path = "/my/data"}, .command = {.words = "data show"},
    .inputs = {INPUT("password", DataShow, password, SECRET, .no_command = true, .least = 1, .most = PASSWORD_MAX, .help = "The person's own.")});
/* clang-format on */
