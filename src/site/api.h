/* api.h -- the JSON interface /api/v1: what its answers hold, and how they are written and documented.
 *
 * An answer is a view, the same that a page shows where there is one, written by a table: each schema lists its members with the
 * place that they have in the view. The OpenAPI document, docs/api.md and the page /api are printed from the same tables and from the
 * routes, so that what is written and what is promised cannot differ.
 *   1. Every member of a schema is in every answer; what is not there is null.
 *   2. Times are RFC 3339 in UTC, ids of policies and people are numbers, versions and tokens are 32 hexadecimal digits.
 *   3. Lists are bounded, and name by `next` the address that goes on, or null.
 *   4. Errors are {"error": {"status", "field", "rule", "request"}} (web/errors.h).
 *   5. An answer to a public GET may be read by scripts of other sites, without anybody's session; no other answer can. */
#pragma once

#include "site/acts.h"
#include "site/connections.h"
#include "site/edit_views.h"
#include "site/mailbox.h"
#include "site/my_views.h"
#include "site/policy_views.h"
#include "site/second.h"

/* ---- Schemas ------------------------------------------------------------------------------------------------------------ */

typedef enum ApiKind {
    API_COUNT,   /* uint64_t, size_t */
    API_NUMBER,  /* int64_t */
    API_SMALL,   /* uint32_t */
    API_SWITCH,  /* bool */
    API_TEXT,    /* Slice */
    API_WORDS,   /* const char * */
    API_ID,      /* Id */
    API_TIME,    /* int64_t, µs since 1970; 0 is "never" where it may be null */
    API_CHOICE,  /* an enum, told by `word` */
    API_OBJECT,  /* a struct inside the view, with `schema` */
    API_LIST,    /* a pointer to structs with `schema`, and at `count` the offset of how many */
    API_SOME,    /* the same for structs that stand in the view itself */
    API_TEXTS,   /* Slices that stand in the view itself, and at `count` the offset of how many */
    API_LABELS,  /* the same for const char * */
    API_NUMBERS, /* `count` int64_t that stand in the view itself */
    API_HOLDINGS, /* a pointer to SeenLines as {"POLICY": HELD}, and at `count` the offset of how many */
} ApiKind;

typedef struct ApiMember {
    const char *name;
    ApiKind kind;
    size_t offset, count;
    bool or_null;  /* zero, or empty, is null */
    bool has_when; /* null when the bool at `when` is false */
    size_t when;
    const struct ApiSchema *schema;
    const char *(*word)(unsigned value);
    unsigned words; /* how many values the enum has */
    const char *help;
} ApiMember;

typedef struct ApiSchema {
    const char *name, *help;
    size_t size; /* of the view */
    const ApiMember *members;
    size_t count;
    bool tells_failure; /* answers 409, 422 and 503 have it, too: an outcome is no error */
} ApiSchema;

/*    each is SCHEMA_name */
#define API_SCHEMA_LIST(X) \
    X(CARD)                \
    X(RANKING)             \
    X(PLACE)               \
    X(STANDING)            \
    X(POLICIES)            \
    X(POLICY)              \
    X(REVISION_ENTRY)      \
    X(REVISIONS)           \
    X(REVISION)            \
    X(POINT)               \
    X(HISTORY)             \
    X(ANSWER)              \
    X(ANSWERS)             \
    X(MERGE_SIDE)          \
    X(MERGE)               \
    X(GROUP)               \
    X(GROUPS)              \
    X(SETTINGS)            \
    X(ME)                  \
    X(LINE)                \
    X(VOTES)               \
    X(SAVE)                \
    X(COST)                \
    X(CHANGE)              \
    X(EVENT)               \
    X(MY_HISTORY)          \
    X(MY_POLICY)           \
    X(SALARY)              \
    X(PROFILE)             \
    X(WATCHED)             \
    X(WATCHING)            \
    X(NOTICE)              \
    X(NOTICES)             \
    X(SESSION)             \
    X(SESSIONS)            \
    X(TOKEN)               \
    X(TOKENS)              \
    X(SECOND)              \
    X(CODES)               \
    X(CONNECTION)          \
    X(CONNECTIONS)         \
    X(LOGIN)               \
    X(DATA)                \
    X(MAILBOX)             \
    X(FAILED_LETTER)       \
    X(SUPPRESSED)          \
    X(ADMIN_MAIL)          \
    X(VISIT)               \
    X(REPORT)              \
    X(REPORTS)             \
    X(ACT)                 \
    X(ACTS)                \
    X(FEATURED)            \
    X(FEATURED_LIST)       \
    X(ADMIN_PERSON_LINE)   \
    X(ADMIN_PEOPLE)        \
    X(ADMIN_SIGNAL)        \
    X(ADMIN_LOGIN)         \
    X(ADMIN_PERSON)        \
    X(ADMIN_ELECTORATE)    \
    X(ADMIN_INVITATION)    \
    X(ADMIN_INVITATIONS)   \
    X(ADMIN_INVITED)       \
    X(ADMIN_LIST_FAULT)    \
    X(ADMIN_LIST)          \
    X(ADMIN_SETTING)       \
    X(ADMIN_VERSION)       \
    X(ADMIN_KEPT)          \
    X(ADMIN_SETTINGS)      \
    X(ADMIN_TEXT)          \
    X(ADMIN_ACT)           \
    X(ADMIN_ACTIVITY)      \
    X(ADMIN_TASK)          \
    X(ADMIN_TASKS)         \
    X(ADMIN_INSTANCE)      \
    X(ADMIN_STORE)         \
    X(ADMIN_BACKUP)        \
    X(DONE)
#define X(name) extern const ApiSchema SCHEMA_##name;
API_SCHEMA_LIST(X)
#undef X
/* All of them, ended by NULL. */
extern const ApiSchema *const API_SCHEMAS[];

/* Writes one view. */
void api_write(JsonWriter *json, const ApiSchema *schema, const void *view, Arena *arena);
/* The whole answer of a route whose `answers` is this schema's name. */
MUST_USE Status api_answer(WebRequest *request, const ApiSchema *schema, const void *view);
/* The same for routes that have nothing else to say ("Done"). */
MUST_USE Status api_answer_done(WebRequest *request);
/* A handler `name` that does what pages do, too, and answers with no more than that it was done. */
#define API_DOES(name, operation)           \
    static Status name(WebRequest *request) \
    {                                       \
        TRY(operation(request));            \
        return api_answer_done(request);    \
    }

/* ---- Views of its own ----------------------------------------------------------------------------------------------------- */

enum { API_ROWS = 50, API_ROWS_MOST = 100, API_KEY_MOST = 255 };

typedef struct ApiRanking {
    RankQuery query;
    CardPage page;
    Slice next;
} ApiRanking;

typedef struct ApiPlace {
    bool is_there;
    uint32_t days;
    RankPlace place;
} ApiPlace;

typedef struct ApiStanding {
    uint64_t policy;
    int64_t total;
    ApiPlace recent, ever;
} ApiStanding;

typedef struct ApiPolicies {
    PolicyCard *cards;
    size_t count;
    Slice next;
} ApiPolicies;

typedef struct ApiRevisions {
    RevisionsView view;
    Slice next;
} ApiRevisions;

typedef struct ApiAnswers {
    AnswersView view;
    Slice next;
} ApiAnswers;

typedef struct ApiMe {
    Account account;
    int64_t balance;
    bool by_token;
    Slice csrf; /* for scripts of this site's own pages; empty for tokens */
} ApiMe;

typedef struct ApiVotes {
    Id version;
    uint64_t seq;
    int64_t balance;
    SeenLine *holdings;
    size_t holding_count;
    MyVotes votes;
} ApiVotes;

typedef struct ApiSave {
    const char *outcome;
    Id version; /* what stands now */
    uint64_t seq;
    int64_t balance;
    SeenLine *holdings;
    size_t holding_count;
    bool is_saved;
    uint64_t saved_seq;
    Id saved_version;
    bool has_price;
    VotePrice price;
    const char *rule, *reason;
    uint64_t policy, created;
} ApiSave;

typedef struct ApiCost {
    CostAnswer answer;
    const char *rule, *reason;
} ApiCost;

typedef struct ApiHistory {
    MyHistory history;
    Slice next;
} ApiHistory;

typedef struct ApiProfile {
    MyProfile profile;
    Account account;
} ApiProfile;

typedef struct ApiSessions {
    Session *sessions;
    size_t count;
} ApiSessions;

typedef struct ApiTokens {
    Token *tokens;
    size_t count;
} ApiTokens;

/* Codes on paper, told once. */
typedef struct ApiCodes {
    RecoveryCodes codes;
    size_t count;
} ApiCodes;

/* All that is kept of somebody. */
typedef struct ApiData {
    int64_t made_us;
    Account account;
    ApiVotes votes;
    ApiHistory history;
    MyPolicy *policies;
    size_t policy_count;
    MyWatching watching;
    MyNotices notices;
    ApiSessions sessions;
    Login *logins;
    size_t login_count;
    ApiTokens tokens;
    ConnectionsView connections;
    SecondView second;
} ApiData;

typedef struct ApiVisit {
    bool known;
    Slice name, csrf;
} ApiVisit;

/* For what has nothing else to say. */
typedef struct ApiDone {
    bool done;
} ApiDone;

/* ---- Requests ------------------------------------------------------------------------------------------------------------ */

/* The header Idempotency-Key, of this account, as a token: the same key is the same token. Zero without one; INVALID when it has more than
 * API_KEY_MOST characters or others than visible ASCII; REFUSED when it was used for another request. */
MUST_USE Status api_key(WebRequest *request, Id *ret_token);
/* What the key names is done, or perhaps done: from now on it is for this request alone. */
void api_key_used(WebRequest *request);
/* DENIED for what only a session may do. */
MUST_USE Status api_refuse_token(WebRequest *request);
/* Makes a save, and answers by its outcome: 200 (201 when it made a policy), 409, 422, 503. */
MUST_USE Status api_save(WebRequest *request, const SaveRequest *save);

/* ---- Documents (api_docs.c, api_page.c) ------------------------------------------------------------------------------------ */

#define API_PATH "/api/v1/"
/* OpenAPI 3.1. */
void api_document(const Site *site, Slice server, Buffer *out);
/* Headers that routes read beside their parameters. */
typedef struct ApiHeader {
    WebMethod method;
    const char *path, *name;
    bool required;
    const char *help;
} ApiHeader;
extern const ApiHeader API_HEADERS[]; /* ended by one without a name */
bool api_is_documented(const WebRoute *route);
const ApiSchema *api_schema_of(const WebRoute *route);

/* The groups of routes, in the order of the page; ended by one without a tag. */
typedef struct ApiTag {
    const char *tag, *title;
} ApiTag;
extern const ApiTag API_TAGS[];

typedef struct ApiPage {
    const WebRoute *routes;
    size_t route_count;
} ApiPage;

/* Words for people: "query", "For voters.", "list of". */
const char *api_place(WebFrom from);
const char *api_who(const WebRoute *route);
const char *api_type(const ApiMember *member);
bool api_header_is_of(const ApiHeader *header, const WebRoute *route);
bool api_takes_something(const WebRoute *route);
