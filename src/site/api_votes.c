/* api_votes.c -- /api/v1/me/votes: what somebody holds, what a change costs, and saving it.
 *
 * A save is one call of votes_save, and its outcome is the answer, also when it is a no: saved 200, stale 409, refused 422,
 * unknown 503. Who sends an Idempotency-Key can send the same request again after any answer, or none: it is one save. A crash
 * between two steps is therefore nothing that a client must know about. */
#include "accounts/request_keys.h"
#include "site/api.h"

/* ---- Keys ---------------------------------------------------------------------------------------------------------------- */

static bool is_visible(Slice text)
{
    bool visible = true;
    for (size_t i = 0; i < text.size; i++)
        visible &= text.data[i] > ' ' && text.data[i] <= '~';
    return visible;
}

/* The same bytes to the same address, whoever sends them again. */
static RequestKey request_of(WebRequest *request)
{
    Slice path = web_path(request), body = web_body(request);
    return (RequestKey){.account = site_viewer(request)->account.id,
                        .key = web_head(request, HEAD_IDEMPOTENCY_KEY),
                        .request = arena_print(web_arena(request), "%s %.*s\n%.*s",
                                               route_method_name(web_route(request)->method),
                                               SLICE_ARG(path), SLICE_ARG(body))};
}

/* A keyed hash of account and key: nobody can make the token of somebody else, nor that of a form. */
Status api_key(WebRequest *request, Id *ret_token)
{
    Slice key = web_head(request, HEAD_IDEMPOTENCY_KEY);
    Arena *arena = web_arena(request);
    *ret_token = (Id){{0}};
    if (key.size == 0)
        return STATUS_OK;
    if (key.size > API_KEY_MOST || !is_visible(key))
        return reason_set(web_reason(request), STATUS_INVALID, "Idempotency-Key",
                          "has 1 to %d visible ASCII characters", API_KEY_MOST);
    RequestKey used = request_of(request);
    TRY(request_key_check(site_of(request)->app->accounts, &used, web_reason(request)));
    Slice of =
        arena_print(arena, "%llu %s %.*s", (unsigned long long)site_viewer(request)->account.id,
                    route_method_name(web_route(request)->method), SLICE_ARG(key));
    Slice hash = vault_hash(site_of(request)->app->vault, "idempotency", of, arena);
    return id_from_bytes(slice_of(hash.data, ID_BYTES), ret_token);
}

void api_key_used(WebRequest *request)
{
    RequestKey used = request_of(request);
    if (used.key.size > 0)
        (void)!request_key_note(site_of(request)->app->accounts, &used); /* see request_keys.h */
}

/* ---- What stands --------------------------------------------------------------------------------------------------------- */

static Status give_votes(WebRequest *request)
{
    ApiVotes votes;
    Site *site = site_of(request);
    Arena *arena = web_arena(request);
    MyVotesAsk ask = {.voter = site_viewer(request)->account.id};
    TRY(site_voter_state(request, &ask.state));
    votes = (ApiVotes){
        .version = ask.state->version, .seq = ask.state->seq, .balance = ask.state->balance};
    TRY(votes_seen(site->app->votes, ask.state, arena, &votes.holdings, &votes.holding_count));
    TRY(my_votes(site, &ask, arena, &votes.votes));
    return api_answer(request, &SCHEMA_VOTES, &votes);
}

/* ---- Saving -------------------------------------------------------------------------------------------------------------- */

static int code_of(const SaveResult *result)
{
    switch (result->outcome) {
    case SAVE_SAVED:
        return result->created != 0 ? 201 : 200;
    case SAVE_STALE:
        return status_http(STATUS_CONFLICT);
    case SAVE_REFUSED:
        return status_http(STATUS_REFUSED);
    case SAVE_UNKNOWN:
        break;
    }
    return status_http(STATUS_UNKNOWN);
}

static ApiSave view_of(const SaveResult *result)
{
    bool refused = result->outcome == SAVE_REFUSED;
    return (ApiSave){.outcome = save_outcome_text(result->outcome),
                     .version = result->state.version,
                     .seq = result->state.seq,
                     .balance = result->state.balance,
                     .is_saved = result->outcome == SAVE_SAVED,
                     .saved_seq = result->seq,
                     .saved_version = result->version,
                     .has_price = refused && (result->rule == VOTE_RULE_PRICE ||
                                              result->rule == VOTE_RULE_BALANCE),
                     .price = result->price,
                     .rule = refused ? vote_rule_name(result->rule) : NULL,
                     .reason = refused ? vote_rule_text(result->rule) : NULL,
                     .policy = refused ? result->refused_policy : 0,
                     .created = result->outcome == SAVE_SAVED ? result->created : 0};
}

Status api_save(WebRequest *request, const SaveRequest *save)
{
    SaveResult result;
    Site *site = site_of(request);
    Arena *arena = web_arena(request);
    TRY(votes_save(site->app->votes, save, arena, &result, web_reason(request)));
    ApiSave view = view_of(&result);
    if (result.outcome == SAVE_SAVED || result.outcome == SAVE_UNKNOWN)
        api_key_used(request);
    if (view.created != 0)
        policy_changed(site, view.created);
    /* What stands is only told beside the outcome: when it cannot be read, the outcome still must be. */
    if (votes_seen(site->app->votes, &result.state, arena, &view.holdings, &view.holding_count) !=
        STATUS_OK)
        view.holding_count = 0;
    web_code(request, code_of(&result));
    if (result.outcome == SAVE_UNKNOWN)
        web_header(request, "Retry-After", "5");
    return api_answer(request, &SCHEMA_SAVE, &view);
}

static VoteWish *wishes_of(WebRequest *request, size_t row, size_t *ret_count)
{
    const WebNumber *numbers = web_numbers(request, row, ret_count);
    VoteWish *wishes = ARENA_ARRAY(web_arena(request), *ret_count, VoteWish);
    for (size_t i = 0; i < *ret_count; i++)
        wishes[i] = (VoteWish){numbers[i].id, numbers[i].number};
    return wishes;
}

enum { S_LINES, S_SEEN, S_TOKEN, S_PRICE };

/* The key of the header, or the token of the body. */
static Status token_of(WebRequest *request, Id *ret_token)
{
    TRY(api_key(request, ret_token));
    if (!web_has(request, S_TOKEN))
        return STATUS_OK;
    if (!id_is_zero(*ret_token))
        return reason_set(web_reason(request), STATUS_INVALID, "token",
                          "is not for requests that have an Idempotency-Key");
    if (id_from_text(web_text(request, S_TOKEN), ret_token) != STATUS_OK)
        return reason_set(web_reason(request), STATUS_INVALID, "token", "32 hexadecimal digits");
    return STATUS_OK;
}

static Status save_votes(WebRequest *request)
{
    SaveRequest save = {.voter = site_viewer(request)->account.id,
                        .has_price = web_has(request, S_PRICE),
                        .price = web_number(request, S_PRICE)};
    save.wishes = wishes_of(request, S_LINES, &save.wish_count);
    if (id_from_text(web_text(request, S_SEEN), &save.seen) != STATUS_OK)
        return reason_set(
            web_reason(request), STATUS_INVALID, "seen",
            "32 hexadecimal digits: the version of the votes that this is a change of");
    TRY(token_of(request, &save.token));
    return api_save(request, &save);
}

static Status give_cost(WebRequest *request)
{
    ApiCost cost = {0};
    size_t count;
    const VoteWish *wishes = wishes_of(request, S_LINES, &count);
    TRY(votes_cost(site_of(request)->app->votes, site_viewer(request)->account.id, wishes, count,
                   web_arena(request), &cost.answer));
    if (cost.answer.rule != VOTE_RULE_NONE) {
        cost.rule = vote_rule_name(cost.answer.rule);
        cost.reason = vote_rule_text(cost.answer.rule);
    }
    return api_answer(request, &SCHEMA_COST, &cost);
}

/* clang-format off */
#define LINES_ROW                                                                                  \
    {"lines", WEB_JSON, WEB_NUMBERS, .least = 0, .most = VOTE_HELD_MOST, .most_count = VOTE_CHANGES_MOST, \
     .help = "What each line shall hold. Lines that are not named stay as they are."}

static const WebRoute ROUTES[] = {
    {WEB_GET, API_PATH "me/votes", give_votes, .access = WEB_LOGIN, .tag = "me", .answers = "Votes",
     .help = "All that you hold."},
    {WEB_PUT, API_PATH "me/votes", save_votes, .access = WEB_VOTER, .body_bytes = WEB_BODY_DEFAULT, .tag = "me",
     .answers = "Save", .help = "Saves any number of lines at once, all or none.",
     .params = {LINES_ROW,
                {"seen", WEB_JSON, WEB_OPAQUE, .least = ID_TEXT, .most = ID_TEXT,
                 .help = "The version of the votes that this is a change of; 32 zeros before the first save."},
                {"token", WEB_JSON, WEB_OPAQUE, .optional = true, .least = ID_TEXT, .most = ID_TEXT,
                 .help = "Instead of an Idempotency-Key: 32 hexadecimal digits, new for each save."},
                {"price", WEB_JSON, WEB_NUMBER, .optional = true, .least = 0, .most = INT64_MAX,
                 .help = "What taking back may cost; when it costs more, the save is refused. Without it: whatever it costs."}}},
    {WEB_POST, API_PATH "me/votes/cost", give_cost, .threads = WEB_ANSWER, .access = WEB_LOGIN, .body_bytes = WEB_BODY_DEFAULT, .asks = true, .tag = "me",
     .answers = "Cost", .help = "What such a save would cost, without saving.", .params = {LINES_ROW}},
};
/* clang-format on */
const Room ROOM_API_VOTES = ROOM(ROUTES);
