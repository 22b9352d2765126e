/* api_edit.c -- /api/v1/policies: proposing, changing and retiring a policy.
 *
 * A new policy and its first votes are one save (votes_save), whose outcome is the answer as for any other; a crash between two steps is
 * settled by votes, as in new.c. A change of the text is one conditional update on the version that If-Match names; a retirement is
 * one move, named by the Idempotency-Key. */
#include "site/api.h"
#include "web/errors.h"

enum { BODY_BYTES = 512 * 1024 };

/* Rows of the text, in the order of TEXT_ROWS below. */
enum { T_NAME, T_DESCRIPTION, T_RATIONALE, T_LINKS, T_CATEGORY, T_PARTY, T_ROWS };

/* What the body names replaces what stands in `text`. */
static Status read_text(WebRequest *request, size_t first, PolicyText *text)
{
    size_t count;
    Slice *const fields[] = {&text->name, &text->description, &text->rationale};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (web_has(request, first + i))
            *fields[i] = slice_trim(web_text(request, first + i));
    if (web_has(request, first + T_LINKS)) {
        const Slice *links = web_texts(request, first + T_LINKS, &count);
        CHECK(count <= POLICY_LINKS_MOST);
        text->link_count = count;
        for (size_t i = 0; i < count; i++)
            text->links[i] = slice_trim(links[i]);
    }
    if (web_has(request, first + T_CATEGORY))
        text->category = web_id(request, first + T_CATEGORY);
    if (web_has(request, first + T_PARTY))
        text->party = (uint64_t)web_number(request, first + T_PARTY);
    return policy_check_text(text, web_reason(request));
}

/* ---- Proposing ------------------------------------------------------------------------------------------------------------ */

enum { C_HELD = T_ROWS, C_SEEN };

/* `seen` also makes the key work: a save is known again by its key when the version that it was based on is not the last any more. */
static Status create_policy(WebRequest *request)
{
    VotingSettings settings;
    PolicyText text = {.description = SLICE_EMPTY, .rationale = SLICE_EMPTY};
    SaveRequest save = {.voter = site_viewer(request)->account.id, .create = &text};
    TRY(read_text(request, 0, &text));
    TRY(api_key(request, &save.token));
    TRY(site_settings(site_of(request), web_arena(request), &settings));
    save.create_held =
        web_has(request, C_HELD) ? web_number(request, C_HELD) : settings.create_cost;
    if (id_from_text(web_text(request, C_SEEN), &save.seen) != STATUS_OK)
        return reason_set(web_reason(request), STATUS_INVALID, "seen",
                          "32 hexadecimal digits: the version of your votes");
    return api_save(request, &save);
}

/* ---- Changing ------------------------------------------------------------------------------------------------------------- */

/* An ETag of GET, or the version alone; quotes and W/ may be there or not. */
static Status version_seen(WebRequest *request, Id *ret_version)
{
    Slice match = slice_trim(web_head(request, HEAD_IF_MATCH));
    if (slice_starts_with(match, SLICE("W/")))
        match = slice_after(match, 2);
    if (slice_starts_with(match, SLICE("\"")))
        match = slice_after(match, 1);
    Slice version = slice_of(match.data, match.size < ID_TEXT ? match.size : ID_TEXT);
    if (id_from_text(version, ret_version) == STATUS_OK)
        return STATUS_OK;
    return reason_set(web_reason(request), STATUS_INVALID, "If-Match",
                      "must be the ETag of the policy that this is a change of");
}

static Status open_for_edit(WebRequest *request, PolicyHead *ret_head)
{
    PolicyHead head;
    Reason *reason = web_reason(request);
    TRY(policy_head(site_of(request), web_id(request, 0), site_account(request), web_arena(request),
                    &head));
    if (!head.may_edit)
        return reason_set(reason, STATUS_DENIED, "",
                          "only its owner and editors change the text of this policy");
    if (!policy_is_open(head.state))
        return reason_set(reason, STATUS_REFUSED, "", "a policy that is %s cannot be edited",
                          policy_state_text(head.state));
    *ret_head = head;
    return STATUS_OK;
}

static Status edit_policy(WebRequest *request)
{
    PolicyHead head;
    Id seen;
    Site *site = site_of(request);
    uint64_t id = web_id(request, 0);
    TRY(version_seen(request, &seen));
    TRY(open_for_edit(request, &head));
    PolicyText text = head.policy.text;
    TRY(read_text(request, 1, &text));
    Status status = edit_save(request, &head.policy, &(TextEdit){seen, &text}, web_reason(request));
    if (status == STATUS_CONFLICT)
        return web_fail(request, ERROR_PRECONDITION,
                        reason_set(web_reason(request), status, "If-Match",
                                   "the text has changed meanwhile; read it again"));
    TRY(status);
    TRY(policy_head(site, id, site_account(request), web_arena(request), &head));
    return api_answer(request, &SCHEMA_POLICY, &head);
}

/* ---- Retiring ------------------------------------------------------------------------------------------------------------- */

enum { M_POLICY, M_OTHER, M_REASON };

static Status check_other(WebRequest *request, uint64_t other)
{
    PolicyCard card;
    if (other == 0)
        return STATUS_OK;
    if (other == web_id(request, M_POLICY))
        return reason_set(web_reason(request), STATUS_INVALID, "other", "must be another policy");
    Status status = cards_one(site_of(request)->cards, other, web_arena(request), &card);
    if (status == STATUS_NOT_FOUND || (status == STATUS_OK && card.state != POLICY_ACTIVE))
        return reason_set(web_reason(request), STATUS_INVALID, "other", "must be an active policy");
    return status;
}

static Status api_retire(WebRequest *request)
{
    PolicyHead head;
    VotingSettings settings;
    Site *site = site_of(request);
    uint64_t id = web_id(request, M_POLICY);
    PolicyMove move = {.state = POLICY_RETIRED,
                       .actor = site_account(request)->id,
                       .other = web_id(request, M_OTHER),
                       .reason = slice_trim(web_text(request, M_REASON))};
    TRY(policy_head(site, id, site_account(request), web_arena(request), &head));
    if (!head.may_retire)
        return reason_set(web_reason(request), STATUS_DENIED, "",
                          "only its owner and moderators retire this policy");
    TRY(api_key(request, &move.id));
    TRY(check_other(request, move.other));
    TRY(site_settings(site, web_arena(request), &settings));
    move.percent = settings.withdrawal_percent;
    if (id_is_zero(move.id))
        move.id = id_new(site->app->world.clock, site->app->world.random);
    Status status = retire_policy(request, &head, &move, web_reason(request));
    if (status == STATUS_OK || status == STATUS_UNKNOWN)
        api_key_used(request);
    TRY(status);
    TRY(policy_head(site, id, site_account(request), web_arena(request), &head));
    return api_answer(request, &SCHEMA_POLICY, &head);
}

/* clang-format off */
#define TEXT_ROWS(...)                                                                              \
    {"name", WEB_JSON, WEB_LINE, .least = POLICY_NAME_LEAST, .most = POLICY_NAME_MOST, __VA_ARGS__  \
     .help = "What it is called."},                                                                 \
    {"description", WEB_JSON, WEB_TEXT, .optional = true, .least = 0, .most = POLICY_TEXT_MOST, .help = "What it says, in Markdown."}, \
    {"rationale", WEB_JSON, WEB_TEXT, .optional = true, .least = 0, .most = POLICY_TEXT_MOST, .help = "Why, in Markdown."}, \
    {"links", WEB_JSON, WEB_TEXTS, .optional = true, .least = 1, .most = POLICY_LINK_MOST, .most_count = POLICY_LINKS_MOST, \
     .help = "Addresses to read on, http or https."},                                               \
    {"category", WEB_JSON, WEB_ID, __VA_ARGS__ .help = "Its category."},                            \
    {"party", WEB_JSON, WEB_NUMBER, .optional = true, .least = 0, .most = INT64_MAX, .help = "Its party; 0: none."}
#define POLICY_ROW {"policy", WEB_PATH, WEB_ID, .help = "The policy."}

static const WebRoute ROUTES[] = {
    {WEB_POST, API_PATH "policies", create_policy, .access = WEB_VOTER, .body_bytes = BODY_BYTES, .tag = "policies",
     .answers = "Save", .help = "Proposes a policy, with its first votes.",
     .params = {TEXT_ROWS(),
                {"held", WEB_JSON, WEB_NUMBER, .optional = true, .least = 0, .most = VOTE_HELD_MOST,
                 .help = "Its first votes; without it, what creating costs."},
                {"seen", WEB_JSON, WEB_OPAQUE, .least = ID_TEXT, .most = ID_TEXT,
                 .help = "The version of your votes that this is based on; 32 zeros before the first save."}}},
    {WEB_PATCH, API_PATH "policies/{policy}", edit_policy, .access = WEB_LOGIN, .whose = WEB_OWN_OR_ROLE, .roles = 1u << ROLE_EDIT_POLICIES, .body_bytes = BODY_BYTES, .tag = "policies",
     .answers = "Policy", .help = "Changes its text. What the body does not name stays; 412 when If-Match is not its version any more.",
     .params = {POLICY_ROW, TEXT_ROWS(.optional = true, )}},
    {WEB_POST, API_PATH "policies/{policy}/retire", api_retire, .access = WEB_LOGIN, .whose = WEB_OWN_OR_ROLE, .roles = 1u << ROLE_MODERATE_POLICIES, .body_bytes = WEB_BODY_DEFAULT,
     .tag = "policies", .answers = "Policy", .help = "Retires it: voters get their pollies back, its owner pays the usual price.",
     .params = {[M_POLICY] = POLICY_ROW,
                [M_OTHER] = {"other", WEB_JSON, WEB_ID, .optional = true, .help = "In favour of which."},
                [M_REASON] = {"reason", WEB_JSON, WEB_TEXT, .optional = true, .least = 0, .most = POLICY_REASON_MOST,
                              .help = "Why; shown on its page."}}},
};
/* clang-format on */
const Room ROOM_API_EDIT = ROOM(ROUTES);
