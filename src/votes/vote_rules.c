/* vote_rules.c -- see vote_rules.h. */
#include "votes/vote_rules.h"

static const struct {
    const char *name, *text;
} RULES[] = {
#define X(name, word, text) {word, text},
    VOTE_RULE_LIST(X)
#undef X
};

const char *vote_rule_name(VoteRule rule)
{
    return RULES[rule].name;
}

const char *vote_rule_text(VoteRule rule)
{
    return RULES[rule].text;
}

/* ---- Balance --------------------------------------------------------------------------------------------- */

static int64_t rounded_up(int64_t centi)
{
    return (centi + 99) / 100;
}

int64_t vote_retire_cost(const VoteLine *line, int64_t percent)
{
    return rounded_up(line->withdrawn_centi + line->held * percent);
}

int64_t vote_line_cost(const VoteGround *ground, const VoteLine *line, int64_t time_us)
{
    PolicyStanding standing;
    if (!policy_standing(ground->policies, line->policy, time_us, &standing))
        return line->held + rounded_up(line->withdrawn_centi); /* not known: the stricter answer */
    switch (standing.before) {
    case POLICY_PENDING:
    case POLICY_ACTIVE:
    case POLICY_MERGING:
    case POLICY_MERGED:
        return line->held + rounded_up(line->withdrawn_centi);
    case POLICY_RETIRED:
        if (standing.move->payer != ground->voter || standing.root != line->policy)
            return 0;
        return vote_retire_cost(line, standing.move->percent);
    case POLICY_PENDING_DELETION:
    case POLICY_DELETED:
    case POLICY_VOID:
    case POLICY_STATE_COUNT:
        break;
    }
    return 0;
}

int64_t vote_balance(const VoteGround *ground, VoteLines lines, int64_t time_us)
{
    int64_t balance = salary_due(ground->settings, ground->registered_us, time_us);
    for (size_t i = 0; i < lines.count; i++)
        balance -= vote_line_cost(ground, &lines.lines[i], time_us);
    return balance;
}

static bool belongs_to(const VoteGround *ground, uint64_t policy, uint64_t root, int64_t time_us)
{
    PolicyStanding standing;
    return policy == root ||
           (policy_standing(ground->policies, policy, time_us, &standing) && standing.root == root);
}

int64_t vote_held_on(const VoteGround *ground, VoteLines lines, uint64_t policy, int64_t time_us)
{
    int64_t held = 0;
    for (size_t i = 0; i < lines.count; i++)
        if (lines.lines[i].held > 0 && belongs_to(ground, lines.lines[i].policy, policy, time_us))
            held += lines.lines[i].held;
    return held;
}

/* ---- The entry's time ------------------------------------------------------------------------------------ */

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

int64_t vote_entry_time(const VoteGround *ground, VoteLines lines, const VoteRequest *vote_requests,
                        size_t vote_request_count, int64_t head_time_us, int64_t clock_us)
{
    int64_t time_us = later(clock_us, head_time_us + 1);
    for (size_t i = 0; i < lines.count; i++)
        time_us = later(time_us, policy_standing_time(ground->policies, lines.lines[i].policy));
    for (size_t i = 0; i < vote_request_count; i++)
        time_us = later(time_us, policy_standing_time(ground->policies, vote_requests[i].policy));
    return time_us;
}

/* ---- A plan ---------------------------------------------------------------------------------------------- */

static const VoteLine *find_line(VoteLines lines, uint64_t policy)
{
    size_t low = 0, high = lines.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (lines.lines[middle].policy < policy)
            low = middle + 1;
        else
            high = middle;
    }
    return low < lines.count && lines.lines[low].policy == policy ? &lines.lines[low] : NULL;
}

/* Lines enter the plan in order of their policy, so that the same save always has the same bytes. */
static void add_to_plan(VotePlan *plan, VoteLine line)
{
    size_t at = plan->count++;
    CHECK(plan->count <= VOTE_PLAN_MAX);
    for (; at > 0 && plan->lines[at - 1].policy > line.policy; at--)
        plan->lines[at] = plan->lines[at - 1];
    plan->lines[at] = line;
}

/* When the member's way to the root began: the time of its own merge. */
static int64_t merged_at(const VoteGround *ground, uint64_t policy, int64_t time_us)
{
    const PolicyFacts *facts = ground->policies->find(ground->policies->self, policy);
    const PolicyMove *move = facts != NULL ? policy_move_at(facts, time_us) : NULL;
    return move != NULL ? move->time_us : INT64_MAX;
}

/* The member of `root` with something to take, merged longest ago (the lower id on a tie), that is not in the plan yet. */
static const VoteLine *oldest_member(const VoteGround *ground, VoteLines lines, uint64_t root,
                                     const VotePlan *plan)
{
    const VoteLine *oldest = NULL;
    VoteLines planned = {plan->lines, plan->count};
    for (size_t i = 0; i < lines.count; i++) {
        const VoteLine *line = &lines.lines[i];
        if (line->held == 0 || line->policy == root || find_line(planned, line->policy) != NULL ||
            !belongs_to(ground, line->policy, root, plan->time_us))
            continue;
        if (oldest == NULL || merged_at(ground, line->policy, plan->time_us) <
                                  merged_at(ground, oldest->policy, plan->time_us))
            oldest = line;
    }
    return oldest;
}

/* Takes `less` away: from the members, free, and what is left from the policy's own line, at a price. */
static void plan_less(const VoteGround *ground, VoteLines lines, VoteLine own, int64_t less,
                      VotePlan *plan)
{
    int64_t percent = settings_at(ground->settings, plan->time_us)->withdrawal_percent;
    const VoteLine *member;
    while (less > 0 && (member = oldest_member(ground, lines, own.policy, plan)) != NULL) {
        int64_t taken = member->held < less ? member->held : less;
        add_to_plan(plan,
                    (VoteLine){member->policy, member->held - taken, member->withdrawn_centi});
        less -= taken;
    }
    if (less > 0) {
        own.held -= less;
        own.withdrawn_centi += less * percent;
        add_to_plan(plan, own);
    }
}

static VoteRule plan_creation(const VoteGround *ground, const VoteRequest *want, VotePlan *plan)
{
    if (want->held < settings_at(ground->settings, plan->time_us)->create_cost)
        return VOTE_RULE_CREATE_COST;
    add_to_plan(plan, (VoteLine){.policy = want->policy, .held = want->held});
    return VOTE_RULE_NONE;
}

static VoteRule plan_wish(const VoteGround *ground, VoteLines lines, const VoteRequest *want,
                          VotePlan *plan)
{
    PolicyStanding standing;
    if (want->held < 0 || want->held > VOTE_HELD_MAX)
        return VOTE_RULE_HELD;
    if (plan->creates != 0 && want->policy == plan->creates)
        return plan_creation(ground, want, plan);
    if (!policy_standing(ground->policies, want->policy, plan->time_us, &standing))
        return VOTE_RULE_NO_POLICY;
    if (standing.root != want->policy)
        return want->has_seen ? VOTE_RULE_SEEN : VOTE_RULE_MERGED;
    int64_t seen = vote_held_on(ground, lines, want->policy, plan->time_us);
    if (want->has_seen && want->seen != seen)
        return VOTE_RULE_SEEN;
    if (want->held == seen)
        return VOTE_RULE_NONE;
    if (standing.state != POLICY_ACTIVE)
        return VOTE_RULE_NOT_ACTIVE;
    const VoteLine *found = find_line(lines, want->policy);
    VoteLine own = found != NULL ? *found : (VoteLine){.policy = want->policy};
    if (want->held < seen) {
        plan_less(ground, lines, own, seen - want->held, plan);
    } else {
        own.held += want->held - seen;
        add_to_plan(plan, own);
    }
    return VOTE_RULE_NONE;
}

/* Balance and number of lines after the plan. */
static VoteRule weigh(const VoteGround *ground, VoteLines lines, VotePlan *plan)
{
    VoteLines planned = {plan->lines, plan->count};
    int64_t balance = vote_balance(ground, lines, plan->time_us), penalty = 0;
    int64_t holding = 0;
    for (size_t i = 0; i < lines.count; i++)
        holding += lines.lines[i].held > 0;
    for (size_t i = 0; i < planned.count; i++) {
        const VoteLine *after = &planned.lines[i], *before = find_line(lines, after->policy);
        VoteLine none = {.policy = after->policy};
        if (before == NULL)
            before = &none;
        balance += vote_line_cost(ground, before, plan->time_us) -
                   vote_line_cost(ground, after, plan->time_us);
        penalty += rounded_up(after->withdrawn_centi) - rounded_up(before->withdrawn_centi);
        holding += (after->held > 0) - (before->held > 0);
    }
    plan->balance = balance;
    plan->penalty = penalty;
    if (holding > VOTE_LINES_MAX || lines.count + planned.count > VOTE_KEPT_MAX)
        return VOTE_RULE_LINES;
    return balance < 0 ? VOTE_RULE_BALANCE : VOTE_RULE_NONE;
}

VoteRule vote_judge(const VoteGround *ground, VoteLines lines, const VoteRequest *vote_requests,
                    size_t vote_request_count, VotePlan *plan)
{
    plan->count = 0;
    plan->setting_version = settings_at(ground->settings, plan->time_us)->version;
    plan->refused_policy = 0;
    if (vote_request_count > VOTE_CHANGES_MAX)
        return VOTE_RULE_CHANGES;
    for (size_t i = 0; i < vote_request_count; i++) {
        VoteRule rule = VOTE_RULE_NONE;
        for (size_t k = 0; k < i && rule == VOTE_RULE_NONE; k++)
            if (vote_requests[k].policy == vote_requests[i].policy)
                rule = VOTE_RULE_TWICE;
        if (rule == VOTE_RULE_NONE)
            rule = plan_wish(ground, lines, &vote_requests[i], plan);
        if (rule != VOTE_RULE_NONE) {
            plan->refused_policy = vote_requests[i].policy;
            return rule;
        }
    }
    return weigh(ground, lines, plan);
}

void vote_plan_leave(VoteLines lines, VotePlan *plan)
{
    plan->count = 0;
    for (size_t i = 0; i < lines.count && plan->count < VOTE_PLAN_MAX; i++)
        if (lines.lines[i].held > 0)
            add_to_plan(plan, (VoteLine){lines.lines[i].policy, 0, lines.lines[i].withdrawn_centi});
}
