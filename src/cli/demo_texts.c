/* demo_texts.c -- see demo_texts.h. */
#include "cli/demo_texts.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* ---- People ---------------------------------------------------------------------------------------------------- */

static const char *const FIRST_NAMES[] = {
    "ada",   "amir",  "anna",  "ben",   "bruno", "carla", "chen",  "clara", "dario", "diana",
    "elena", "emil",  "erik",  "fatma", "felix", "greta", "hana",  "hugo",  "ida",   "ines",
    "ivan",  "jana",  "jonas", "karim", "klara", "lars",  "leila", "lena",  "luca",  "maja",
    "marco", "maria", "milan", "mina",  "nadia", "nils",  "nora",  "olga",  "omar",  "paula",
    "pedro", "rosa",  "samir", "sofia", "tara",  "theo",  "tom",   "vera",  "yusuf", "zoe",
};
static const char *const LAST_NAMES[] = {
    "adler",   "ahmadi", "bauer",  "becker", "berg",   "bianchi", "costa",  "demir",   "dubois",
    "eriksen", "ferrer", "fuchs",  "garcia", "haddad", "hansen",  "horvat", "ito",     "jansen",
    "kaya",    "keller", "klein",  "kovac",  "kowal",  "lang",    "larsen", "lindt",   "lopez",
    "marin",   "meyer",  "moreno", "moser",  "nagy",   "novak",   "okafor", "olsen",   "papas",
    "petrov",  "popa",   "reyes",  "ricci",  "rossi",  "santos",  "sato",   "schmidt", "silva",
    "sorel",   "tanaka", "toth",   "vidal",  "weber",  "wolf",
};

Slice demo_user_name(uint64_t number, Arena *arena)
{
    uint64_t names = COUNT_OF(FIRST_NAMES) * COUNT_OF(LAST_NAMES);
    uint64_t round = number / names;
    uint64_t pair = number % names * 1009 % names; /* 1009 is prime: every pair once, in no order */
    const char *first = FIRST_NAMES[pair % COUNT_OF(FIRST_NAMES)];
    const char *last = LAST_NAMES[pair / COUNT_OF(FIRST_NAMES)];
    if (round == 0)
        return arena_print(arena, "%s.%s", first, last);
    return arena_print(arena, "%s.%s%llu", first, last, (unsigned long long)round + 1);
}

#define PARTY(title, words)                                           \
    {                                                                 \
        0, {title, sizeof title - 1}, {words, sizeof words - 1}, true \
    }
const PolicyGroup DEMO_PARTIES[] = {
    PARTY("Green Valley Alliance", "Nature first, and a town in which one can breathe."),
    PARTY("Fair Work Union", "Good pay, safe work, and time to live."),
    PARTY("Citizens for Clear Accounts", "Every coin of public money can be followed."),
    PARTY("Open City Movement", "Public spaces, public data, open doors."),
    PARTY("Country and Harbour", "Villages and coast deserve the same services as the capital."),
    PARTY("New Generation", "Decisions for those who will live with them."),
};
const size_t DEMO_PARTY_COUNT = COUNT_OF(DEMO_PARTIES);

/* ---- Policies -------------------------------------------------------------------------------------------------- */

/* For more policies than there are titles: the same, narrower. */
static const char *const QUALIFIERS[] = {
    "",
    "in every district",
    "within three years",
    "outside the big cities",
    "for people on low incomes",
    "with a yearly public report",
    "decided by local councils",
    "tried in ten towns first",
    "paid for by savings elsewhere",
    "by law",
};
static const char *const PROBLEMS[] = {
    "Today this depends too much on where one lives.",
    "For years this has been promised and put off again.",
    "Those who need it most wait longest.",
    "Neighbouring countries have shown that it can be done.",
    "The present rules were made for a different time.",
    "Small improvements here would be felt by very many people.",
    "Nobody can say at the moment how well the present system works.",
    "Whoever has money finds a way around the problem; everybody else lives with it.",
    "Every study of the last ten years comes to the same conclusion, and nothing follows.",
    "The offices in charge point at each other.",
};
static const char *const VOICES[] = {
    "People who deal with this every day told us how much time is lost by it.",
    "In our neighbourhood we have collected more than two hundred examples.",
    "We have asked those who would have to carry it out. Most of them want it, too.",
    "It began as a letter to the town council, which never got an answer.",
    "A first version of this text was discussed on three open evenings.",
    "Some of us were against it at first. The figures convinced us.",
};
static const char *const STEPS[] = {
    "Begin where the need is greatest, and extend it year by year.",
    "A small independent office watches over it and answers questions from citizens.",
    "The state sets the goal; towns and districts decide how to reach it.",
    "Every step is published, with its cost and what came of it.",
    "After four years parliament looks at the results and decides whether it goes on.",
    "Those who do the work every day have a say in the details.",
    "Existing contracts run to their end; new ones follow the new rule.",
    "Whoever cannot keep the rule at once gets two years and help.",
    "No new authority: the existing one gets three posts and a clear task.",
    "A short form, on paper and online, is all that a citizen has to fill in.",
};
static const char *const COSTS[] = {
    "The cost is small beside what is lost by doing nothing.",
    "It can be paid for from existing budgets if old programmes end in time.",
    "A first estimate is less than one coffee for each citizen and year.",
    "It pays for itself within about eight years.",
    "We would rather pay for this than for another study.",
    "About a third of the cost is saved elsewhere: fewer forms, fewer disputes, fewer repairs.",
};
static const char *const RATIONALES[] = {
    "A society is judged by what it makes possible for everybody, not for a few.",
    "Prevention is cheaper than repair, here as elsewhere.",
    "People trust rules that they understand and numbers that they can check.",
    "What works in one town should not take twenty years to reach the next.",
    "It is a question of fairness between generations.",
    "Who decides should also carry the consequences.",
};
static const char *const OBJECTIONS[] = {
    "The usual objection is that it was tried before. It was, for one year and without money.",
    "It is called too expensive. What we do today is, too; it is only never added up.",
    "Some fear more bureaucracy. We think that one clear rule replaces several unclear ones.",
    "",
};
static const char *const ADDITIONS[] = {
    "Added what was asked most often: it applies to existing contracts, too.",
    "Clarified: nobody loses what they have today.",
    "The figures were brought up to date.",
    "The time for the first step is now two years instead of three.",
};
static const char *const REASONS[DEMO_REASON_COUNT][3] = {
    [DEMO_MERGE] = {"Both ask for the same thing.", "The wider proposal contains this one.",
                    "Agreed between the authors of both."},
    [DEMO_RETIRE] = {"Parliament has decided it.", "I no longer think that this is the right way.",
                     "Replaced by a better text."},
    [DEMO_DELETE] = {"Advertising.", "Insults a group of people.", "Not a proposal."},
};

/* Takes a number below `below` off the luck. */
static size_t take(uint64_t *luck, size_t below)
{
    size_t taken = (size_t)(*luck % below);
    *luck /= below;
    return taken;
}

#define ANY(array) ((array)[take(&luck, COUNT_OF(array))])

/* 7 shares no factor with the number of titles: every one comes once before one comes again. */
static Slice name_of(const DemoPolicy *policy, Arena *arena)
{
    uint64_t place = policy->number * 7 + policy->category * 11;
    const char *title = demo_title(policy->category, (size_t)(place % DEMO_TITLES_EACH));
    const char *qualifier = QUALIFIERS[policy->number / DEMO_TITLES_EACH % COUNT_OF(QUALIFIERS)];
    return arena_print(arena, "%s%s%s", title, *qualifier != '\0' ? ", " : "", qualifier);
}

/* A link that leads nowhere, as everything at example.org. */
static Slice link_of(const DemoPolicy *policy, const char *page, Arena *arena)
{
    return arena_print(arena, "https://example.org/%s/%zu-%llu", page, policy->category + 1,
                       (unsigned long long)policy->number + 1);
}

void demo_policy_text(const DemoPolicy *policy, Arena *arena, PolicyText *text)
{
    uint64_t luck = policy->luck;
    const char *problem = ANY(PROBLEMS);
    const char *voice = ANY(VOICES);
    const char *cost = ANY(COSTS);
    const char *rationale = ANY(RATIONALES);
    const char *objection = ANY(OBJECTIONS);
    size_t step = take(&luck, COUNT_OF(STEPS));
    Slice figures = link_of(policy, "figures", arena), report = link_of(policy, "reports", arena);
    text->name = name_of(policy, arena);
    text->description = arena_print(arena,
                                    "**%.*s.** %s %s\n\n"
                                    "### What we propose\n\n- %s\n- %s\n- %s\n\n"
                                    "### What it costs\n\n%s The figures are [here](%.*s).",
                                    SLICE_ARG(text->name), problem, voice, STEPS[step],
                                    STEPS[(step + 3) % COUNT_OF(STEPS)],
                                    STEPS[(step + 7) % COUNT_OF(STEPS)], cost, SLICE_ARG(figures));
    text->rationale = arena_print(arena, "%s%s%s\n\nMore in the [report](%.*s).", rationale,
                                  *objection != '\0' ? "\n\n" : "", objection, SLICE_ARG(report));
}

Slice demo_addition(uint64_t luck)
{
    return slice_from(ADDITIONS[luck % COUNT_OF(ADDITIONS)]);
}

Slice demo_reason(DemoReason reason, uint64_t luck)
{
    return slice_from(REASONS[reason][luck % COUNT_OF(REASONS[reason])]);
}
