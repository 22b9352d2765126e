/* api_acts.c -- /api/v1/moderation/policies: merging, deleting, restoring and answering, as on the pages; and answers for everybody.
 *
 * The Idempotency-Key names the move, as the token of a form does; without one each request is an act of its own. */
#include "site/acts.h"
#include "site/api.h"

static Id fresh_id(WebRequest *request)
{
    World world = site_of(request)->app->world;
    return id_new(world.clock, world.random);
}

static Status token_of(WebRequest *request, Id *ret_token)
{
    Id token;
    TRY(api_key(request, &token));
    *ret_token = id_is_zero(token) ? fresh_id(request) : token;
    return STATUS_OK;
}

/* What the act left, as GET tells it. */
static Status answer_policy(WebRequest *request, uint64_t policy, Status status)
{
    PolicyHead head;
    if (status == STATUS_OK || status == STATUS_UNKNOWN)
        api_key_used(request);
    TRY(status);
    TRY(policy_head(site_of(request), policy, site_account(request), web_arena(request), &head));
    return api_answer(request, &SCHEMA_POLICY, &head);
}

/* ---- Merging ------------------------------------------------------------------------------------------------------------- */

static Status preview_merge(WebRequest *request)
{
    MergeView view;
    uint64_t policy = web_id(request, 0), other = web_id(request, 1);
    if (policy == other)
        return reason_set(web_reason(request), STATUS_INVALID, "other", "must be another policy");
    TRY(merge_view(site_of(request), policy, other, site_account(request), web_arena(request),
                   &view, web_reason(request)));
    return api_answer(request, &SCHEMA_MERGE, &view);
}

enum { M_POLICY, M_OTHER, M_INTO, M_NAME, M_REASON, M_REPORT };

static Status merge_policies(WebRequest *request)
{
    uint64_t target = 0;
    MergeAct act = {.policy = web_id(request, M_POLICY),
                    .other = web_id(request, M_OTHER),
                    .into = (MergeInto)web_word(request, M_INTO),
                    .name = slice_trim(web_text(request, M_NAME)),
                    .reason = slice_trim(web_text(request, M_REASON)),
                    .report = web_id(request, M_REPORT)};
    TRY(token_of(request, &act.token));
    Status status = act_merge(request, &act, &target, web_reason(request));
    return answer_policy(request, target, status);
}

/* ---- Deleting and restoring ------------------------------------------------------------------------------------------------ */

enum { P_POLICY, P_REASON, P_REPORT };

static Status read_act(WebRequest *request, PolicyAct *ret_act)
{
    PolicyAct act = {.policy = web_id(request, P_POLICY),
                     .reason = slice_trim(web_text(request, P_REASON)),
                     .report = web_id(request, P_REPORT)};
    TRY(token_of(request, &act.token));
    *ret_act = act;
    return STATUS_OK;
}

static Status delete_policy(WebRequest *request)
{
    PolicyAct act;
    TRY(read_act(request, &act));
    return answer_policy(request, act.policy, act_delete(request, &act, web_reason(request)));
}

static Status restore_policy(WebRequest *request)
{
    PolicyAct act;
    TRY(read_act(request, &act));
    return answer_policy(request, act.policy, act_restore(request, &act, web_reason(request)));
}

/* ---- Answers ---------------------------------------------------------------------------------------------------------------- */

static Status give_answer(WebRequest *request)
{
    AnswerView view;
    PolicyHead head;
    Arena *arena = web_arena(request);
    uint64_t policy = web_id(request, 0);
    TRY(policy_head(site_of(request), policy, site_account(request), arena, &head));
    if (head.is_hidden)
        return STATUS_NOT_FOUND;
    TRY(answer_view(site_of(request), policy, arena, &view));
    return api_answer(request, &SCHEMA_ANSWER, &view);
}

static Status give_answers(WebRequest *request)
{
    ApiAnswers answers = {.next = SLICE_EMPTY};
    uint64_t policy = web_id(request, 0);
    TRY(answers_view(site_of(request), policy, (uint32_t)web_number(request, 1),
                     site_account(request), web_arena(request), &answers.view));
    if (answers.view.before > 0)
        answers.next = arena_print(web_arena(request), API_PATH "policies/%llu/answers?before=%u",
                                   (unsigned long long)policy, answers.view.before);
    return api_answer(request, &SCHEMA_ANSWERS, &answers);
}

enum { A_POLICY, A_TEXT, A_OUTCOME, A_SEEN };

static Status put_answer(WebRequest *request)
{
    uint64_t policy = web_id(request, A_POLICY);
    AnswerWish wish = {.outcome = (AnswerOutcome)web_word(request, A_OUTCOME),
                       .text = slice_trim(web_text(request, A_TEXT)),
                       .author = site_account(request)->id};
    if (id_from_text(web_text(request, A_SEEN), &wish.seen) != STATUS_OK)
        return reason_set(web_reason(request), STATUS_INVALID, "seen",
                          "32 hexadecimal digits: the version of the answer");
    TRY(act_answer(request, policy, &wish, web_reason(request)));
    return give_answer(request);
}

/* clang-format off */
#define POLICY_ROW {"policy", WEB_PATH, WEB_ID, .help = "The policy."}
#define REASON_ROW {"reason", WEB_JSON, WEB_TEXT, .least = 1, .most = POLICY_REASON_MOST, .help = "Why; everybody sees it."}
#define REPORT_ROW {"report", WEB_JSON, WEB_ID, .optional = true, .help = "The report that led to it, and is closed by it."}
#define MODERATORS .access = WEB_ROLE, .roles = 1u << ROLE_MODERATE_POLICIES, .whose = WEB_ANYBODYS, .tag = "moderation"
#define ACT(word, handler, words)                                                                   \
    {WEB_POST, API_PATH "moderation/policies/{policy}/" word, handler, MODERATORS, .body_bytes = WEB_BODY_DEFAULT, \
     .answers = "Policy", .help = words,                                                            \
     .params = {[P_POLICY] = POLICY_ROW, [P_REASON] = REASON_ROW, [P_REPORT] = REPORT_ROW}}

static const WebRoute ROUTES[] = {
    {WEB_GET, API_PATH "moderation/policies/{policy}/merge", preview_merge, MODERATORS, .answers = "Merge",
     .help = "What merging it with another would do: votes, voters and ranks, before and after.",
     .params = {POLICY_ROW, {"other", WEB_QUERY, WEB_ID, .help = "With which."}}},
    {WEB_POST, API_PATH "moderation/policies/{policy}/merge", merge_policies, MODERATORS, .body_bytes = WEB_BODY_DEFAULT,
     .answers = "Policy", .help = "Merges it with another; the answer is the policy that both became.",
     .params = {[M_POLICY] = POLICY_ROW,
                [M_OTHER] = {"other", WEB_JSON, WEB_ID, .help = "With which."},
                [M_INTO] = {"into", WEB_JSON, WEB_WORD, .words = MERGE_INTO_WORDS, .fallback = "other",
                            .help = "What both become: the other one, this one, or a new policy without an owner."},
                [M_NAME] = {"name", WEB_JSON, WEB_LINE, .fallback = "", .least = 0, .most = POLICY_NAME_MOST,
                            .help = "What a new policy is called; empty: as this one."},
                [M_REASON] = REASON_ROW, [M_REPORT] = REPORT_ROW}},
    ACT("delete", delete_policy, "Hides it at once; when the time for appeals is over it is deleted, and everybody gets their votes back."),
    ACT("restore", restore_policy, "Brings it back while it waits for its deletion."),
    {WEB_PUT, API_PATH "moderation/policies/{policy}/answer", put_answer, .access = WEB_ROLE, .roles = 1u << ROLE_RESPOND,
     .whose = WEB_ANYBODYS, .tag = "moderation", .body_bytes = 512 * 1024, .answers = "Answer",
     .help = "Answers it officially. An answer that stood before stays among its revisions.",
     .params = {[A_POLICY] = POLICY_ROW,
                [A_TEXT] = {"text", WEB_JSON, WEB_TEXT, .least = 1, .most = ANSWER_MOST, .help = "The answer, in Markdown."},
                [A_OUTCOME] = {"outcome", WEB_JSON, WEB_WORD, .words = OUTCOME_WORDS, .fallback = "none", .help = "What comes of it."},
                [A_SEEN] = {"seen", WEB_JSON, WEB_OPAQUE, .least = ID_TEXT, .most = ID_TEXT,
                            .help = "The version of the answer that this is a change of; 32 zeros for the first."}}},
    {WEB_GET, API_PATH "policies/{policy}/answer", give_answer, .cache_ms = 1000, .tag = "policies", .answers = "Answer",
     .help = "Its official answer, or whether one is due.", .params = {POLICY_ROW}},
    {WEB_GET, API_PATH "policies/{policy}/answers", give_answers, .cache_ms = 1000, .tag = "policies", .answers = "Answers",
     .help = "Its official answer and what that was before.",
     .params = {POLICY_ROW, {"before", WEB_QUERY, WEB_NUMBER, .least = 0, .most = INT32_MAX, .fallback = "0",
                             .help = "Only answers before this one; 0: from the newest."}}},
};
/* clang-format on */
const Room ROOM_API_ACTS = ROOM(ROUTES);
