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
const Group DEMO_PARTIES[] = {
    PARTY("Green Valley Alliance", "Nature first, and a town in which one can breathe."),
    PARTY("Fair Work Union", "Good pay, safe work, and time to live."),
    PARTY("Citizens for Clear Accounts", "Every coin of public money can be followed."),
    PARTY("Open City Movement", "Public spaces, public data, open doors."),
    PARTY("Country and Harbour", "Villages and coast deserve the same services as the capital."),
    PARTY("New Generation", "Decisions for those who will live with them."),
};
const size_t DEMO_PARTY_COUNT = COUNT_OF(DEMO_PARTIES);

/* ---- Policies -------------------------------------------------------------------------------------------------- */

enum { ACTIONS = 6, THINGS = 10, CATEGORIES = 10 };

/* In the order of POLICY_CATEGORIES. Every action goes with every thing of its row. */
static const struct {
    const char *actions[ACTIONS], *things[THINGS];
} PHRASES[CATEGORIES] = {
    {{"Free", "Better funding for", "More teachers for", "A legal right to", "Less paperwork for",
      "National standards for"},
     {"nursery schools", "evening classes", "school meals", "music lessons", "vocational schools",
      "school libraries", "swimming lessons", "language courses", "all-day schools",
      "science laboratories"}},
    {{"A simple form for", "Lower rates for", "No exceptions for", "A public register of",
      "A yearly report on", "A cap on"},
     {"small businesses", "inheritances", "second homes", "company cars", "capital gains",
      "overtime pay", "property sales", "fuel", "packaging", "financial transactions"}},
    {{"Shorter waiting times for", "Free access to", "More staff for", "Home visits for",
      "A national plan for", "Evening hours for"},
     {"general practices", "dental care", "mental health care", "maternity wards", "vaccinations",
      "rural clinics", "emergency rooms", "care homes", "physiotherapy", "hearing aids"}},
    {{"Protect", "Restore", "Plant along", "Measure and publish the state of", "Stop building on",
      "A fund for"},
     {"rivers and streams", "old forests", "wetlands", "city trees", "coastal dunes", "hedgerows",
      "mountain meadows", "drinking water sources", "bird reserves", "brownfield sites"}},
    {{"More frequent", "One ticket for all", "Step-free access to", "Night service on",
      "Affordable fares for", "Safe ways to"},
     {"regional trains", "city buses", "tram lines", "ferries", "school buses", "bicycle routes",
      "night trains", "village bus stops", "railway stations", "airport links"}},
    {{"Build more", "Renovate", "Fair rents for", "A public register of", "Insulate",
      "Quick permits for"},
     {"social housing", "student rooms", "empty flats", "family homes", "cooperative housing",
      "homes for the elderly", "apartment blocks", "small houses", "shared homes",
      "houses in village centres"}},
    {{"Faster decisions in", "Free advice on", "More judges for", "Plain language in",
      "Independent review of", "Online access to"},
     {"family courts", "tenancy disputes", "labour courts", "police complaints", "small claims",
      "consumer cases", "asylum cases", "traffic fines", "court records", "victim support"}},
    {{"Start-up help for", "Public contracts for", "Cheaper energy for", "Apprenticeships in",
      "A fair market for", "Less red tape for"},
     {"family farms", "craft workshops", "village shops", "repair businesses", "solar installers",
      "local food producers", "social enterprises", "small breweries", "shipyards",
      "independent bookshops"}},
    {{"Free entry to", "Lasting support for", "More space for", "Open the archives of",
      "Travelling", "Evenings of"},
     {"museums", "public libraries", "street festivals", "amateur theatres", "concert halls",
      "local newspapers", "youth orchestras", "film clubs", "dialect and minority languages",
      "art in public buildings"}},
    {{"Open source for", "A paper alternative to", "Fibre networks for", "Strict privacy in",
      "Open data from", "Easy access to"},
     {"public offices", "school software", "health records", "online forms", "villages",
      "public transport", "election systems", "digital identity", "city sensors",
      "video surveillance"}},
};

static const char *const QUALIFIERS[] = {
    "",
    "in every district",
    "within three years",
    "by 2035",
    "outside the big cities",
    "for people on low incomes",
    "with a yearly public report",
    "decided by local councils",
    "as a pilot in ten towns",
    "paid for by savings elsewhere",
};
static const char *const PROBLEMS[] = {
    "Today this depends too much on where one lives.",
    "For years this has been promised and put off again.",
    "Those who need it most wait longest.",
    "Other countries have shown that it can be done.",
    "The present rules were made for a different time.",
    "Small improvements here would be felt by very many people.",
    "Nobody can say at the moment how well the system works.",
};
static const char *const STEPS[] = {
    "We propose to begin where the need is greatest, and to extend it year by year.",
    "A small independent office should watch over it and answer questions from citizens.",
    "The state sets the goal; towns and districts decide how to reach it.",
    "Every step is published, with its cost and what came of it.",
    "After four years parliament looks at the results and decides whether it goes on.",
    "Those who do the work every day should have a say in the details.",
};
static const char *const COSTS[] = {
    "The cost is small beside what is lost by doing nothing.",
    "It can be paid for from existing budgets if old programmes end in time.",
    "A first estimate is less than one coffee for each citizen and year.",
    "It pays for itself within about eight years.",
    "We would rather pay for this than for another study.",
};
static const char *const RATIONALES[] = {
    "A society is judged by what it makes possible for everybody, not for a few.",
    "Prevention is cheaper than repair, here as elsewhere.",
    "People trust rules that they understand and numbers that they can check.",
    "What works in one town should not take twenty years to reach the next.",
    "It is a question of fairness between generations.",
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

void demo_policy_text(size_t category, uint64_t luck, Arena *arena, PolicyText *text)
{
    CHECK(category < CATEGORIES);
    const char *action = PHRASES[category].actions[take(&luck, ACTIONS)];
    const char *thing = PHRASES[category].things[take(&luck, THINGS)];
    const char *qualifier = QUALIFIERS[take(&luck, COUNT_OF(QUALIFIERS))];
    const char *problem = PROBLEMS[take(&luck, COUNT_OF(PROBLEMS))];
    const char *step = STEPS[take(&luck, COUNT_OF(STEPS))];
    const char *cost = COSTS[take(&luck, COUNT_OF(COSTS))];
    text->name =
        arena_print(arena, "%s %s%s%s", action, thing, *qualifier != '\0' ? " " : "", qualifier);
    text->description =
        arena_print(arena, "%s: **%s**\n\n%s %s\n\n%s", action, thing, problem, step, cost);
    text->rationale = slice_from(RATIONALES[take(&luck, COUNT_OF(RATIONALES))]);
}

Slice demo_addition(uint64_t luck)
{
    return slice_from(ADDITIONS[luck % COUNT_OF(ADDITIONS)]);
}

Slice demo_reason(DemoReason reason, uint64_t luck)
{
    return slice_from(REASONS[reason][luck % COUNT_OF(REASONS[reason])]);
}
