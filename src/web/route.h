/* route.h -- the table of addresses: what may be asked, with which parameters, and who answers.
 *
 * A route is one row of data; documentation is printed from it and parameters are checked by it, so a handler only
 * ever sees values that keep their bounds:
 *     static const WebRoute ROUTES[] = {
 *         {WEB_GET, "/policies/{id}", show_policy, .help = "One policy.",
 *          .params = {{"id", WEB_PATH, WEB_ID, .help = "The policy."}}},
 *     };
 * Promises:
 *   1. Before the handler runs, every required parameter is there, and every parameter keeps its kind and bounds;
 *      otherwise the answer is 400 and names field and rule.
 *   2. HEAD is answered by the GET route. A path that exists under other methods gives 405 with Allow.
 *   3. A path with one '/' too many at its end is redirected (308) when the shorter one exists.
 *   4. The first row that fits wins. In a pattern, {name} stands for exactly one non-empty segment, and a WEB_PATH
 *      parameter of that name says what it may hold.
 *   5. Query parameters that are not in the table are ignored (links carry all sorts); unknown members of a JSON body
 *      are refused, because there they are a client's mistake. A parameter that comes twice is refused.
 * A table that contradicts itself is refused at start (routes_check). */
#pragma once

#include "base/arena.h"
#include "base/json.h"

struct WebRequest;

typedef enum WebMethod { WEB_GET, WEB_POST, WEB_PUT, WEB_PATCH, WEB_DELETE, WEB_METHODS } WebMethod;

/* Who may ask. `web` does not interpret it: WebOptions.admit does, before the handler runs. */
typedef enum WebAccess {
    WEB_PUBLIC,
    WEB_GUEST, /* nobody who is logged in: forms to register and to log in */
    WEB_LOGIN, /* whoever is logged in */
    WEB_VOTER, /* a confirmed account that may vote */
    WEB_ROLE,  /* who has one of WebRoute.roles */
} WebAccess;

/* Whose the thing may be that {name} in the path stands for. The handler sees to it; documentation and the tests of access are made from
 * this. Every route that is not for everybody and has such a name says it. */
typedef enum WebWhose {
    WEB_UNSAID,
    WEB_ANYBODYS,
    WEB_OWN,         /* the viewer's; of another's the answer is as if it were not there, or 403 */
    WEB_OWN_OR_ROLE, /* the viewer's, or anybody's for who has one of WebRoute.roles; 403 otherwise */
} WebWhose;

/* Which threads run a handler. The few that answer (web_threads) must not wait for anything, or everybody waits; those that do have
 * threads of their own (pool.h), and when too many wait there, whoever comes next is told so at once. */
typedef enum WebThreads {
    WEB_BY_METHOD, /* a GET: ANSWER; any other method: SAVE, because what it writes waits for the disk */
    WEB_ANSWER,   /* reads at most */
    WEB_SAVE,     /* save_threads, and 503 when there are too many */
    WEB_PASSWORD, /* computes a password: password_threads, and 429 when there are too many */
    WEB_OUTSIDE,  /* asks another server: a few of its own, and 503 when there are too many */
    WEB_COMPUTE, /* a page that takes long to make: page_threads, and 503 when there are too many, 429 of one address */
    WEB_THREAD_KINDS
} WebThreads;

typedef enum WebFrom { WEB_PATH, WEB_QUERY, WEB_FORM, WEB_JSON } WebFrom;

/*   kind       holds                                        least, most */
typedef enum WebKind {
    WEB_ID,     /* a number from 1 to 2^63 - 1               (not used) */
    WEB_NUMBER, /* a whole number                            its bounds */
    WEB_LINE,   /* text without control characters           its length in characters */
    WEB_TEXT,   /* text with line ends; CRLF becomes LF      its length in characters */
    WEB_WORD,   /* one of `words`                            (not used) */
    WEB_SWITCH, /* on, off, true, false, 1, 0; JSON: a bool  (not used) */
    WEB_OPAQUE, /* letters, digits, - and _: tokens, cursors its length in characters */
    WEB_SLUG,   /* of a path: "12-clean-rivers", or "12"     (not used) */

    /* Lists, with most_count. A form left empty gives an empty list when the parameter is optional.
     * NUMBERS: whole numbers by id, in a form held[12]=30&held[7]=0, in JSON {"12": 30, "7": 0}; ids are 1 to 2^63 - 1, and
     * none comes twice. An empty field is refused: it could mean 0 as well as "as it was".
     * TEXTS: lines, in a form link=a&link=b (empty ones are skipped), in JSON ["a", "b"]. */
    WEB_NUMBERS, /*                                          bounds of each number */
    WEB_TEXTS,   /*                                          length of each in characters */
    WEB_KINDS
} WebKind;

enum { WEB_PARAMS_MAX = 16, WEB_CAPTURES_MAX = 4, WEB_COUNT_MAX = 1024 };

typedef struct WebParam {
    const char *name;
    WebFrom from;
    WebKind kind;
    bool optional;
    int64_t least, most;
    int most_count;           /* of a list, up to WEB_COUNT_MAX; 0 for all other kinds */
    const char *const *words; /* ended by NULL */
    const char *fallback;     /* the value when it is absent; implies optional */
    bool or_number;           /* a LINE that JSON may also give as a whole number, not negative */
    bool
        by_id; /* TEXTS of a form, each with an id in its name as NUMBERS have: "12=abc" is held[12]=abc */
    bool computes; /* of a query: with it the answer takes long to make (WEB_COMPUTE) */
    const char *help;
} WebParam;

/* How many requests one call may get (WebOptions.batch_max); statuses are as of handlers, one for each request. */
enum { WEB_BATCH_MAX = 16 };
typedef void WebBatch(struct WebRequest *const *requests, size_t count, Status *ret_statuses);

typedef struct WebRoute {
    WebMethod method;
    const char *path;
    Status (*handler)(struct WebRequest *request);
    WebAccess access;
    WebWhose whose;
    /* For WEB_ROLE and WEB_OWN_OR_ROLE: bits that are the application's; one of them is enough. */
    uint32_t roles;
    /* For `admit`: bits that are the application's; who is logged in and lacks one of them is refused. */
    uint32_t needs;
    /* What the body may hold at most; 0 is "no body", and WEB_BODY_DEFAULT the setting body_bytes. */
    int64_t body_bytes;
    /* A form with a file in it is taken, too (multipart.h): the file's text is the field of its name. */
    bool files;
    /* How long a request may take when that is longer than the setting request_seconds: for what is long to send or to do. 0: as all. */
    int64_t seconds;
    /* Answers also in maintenance mode and while the server stops. */
    bool always;
    /* Changes nothing, whatever its method: the body is a question. For `admit`. */
    bool asks;
    /* What it does is allowed by a secret in its address, and by nothing that a browser adds: no form's token is asked for. For `admit`. */
    bool by_link;
    /* The use case whose answer this page shows. What that knows and the page does not take is refused, and not ignored. For `admit`. */
    const char *shows;
    /* For programs: allowed by what the request itself carries, or to everybody. No form's token is asked of who is not logged in. For
     * `admit`. */
    bool by_program;
    /* The application's rule by which it counts tries for each network address; 0: none. For `admit`. */
    unsigned origin_rule;
    /* What else must hold before a byte of the body is waited for: judged by who asks and by the names in the path (web_path_text). For
     * `admit`, which calls it last; so it must not wait. NULL: nothing. */
    Status (*admits)(struct WebRequest *request);
    /* Who runs the handler, and admit before it; a row with `admits` is admitted before it takes a place there. */
    WebThreads threads;
    /* In place of `handler`: answers several requests that were admitted, of all routes that name the same function, and says what each
     * came to. One thread then waits once for what all of them wait for, such as the disk. */
    WebBatch *batch;
    /* A public GET whose answer depends only on its parameters and on whether it is JSON: requests without session and authorization
     * may get one that is this old, and seldom twice that (page_cache.h); the handler does not run for them, and admit only to see that a
     * session is none. Fields that stand in no row (but for WebOptions.page_variant) lead to the same answer; a list cannot be among the rows. What is
     * made for one visitor (a form's secret, a name) must not stand on it. 0: made for each request. */
    int64_t cache_ms;
    const char *help;
    /* For documentation, which the application prints from its table: the name of the answer's schema and the group that the
     * route stands in. */
    const char *answers;
    bool answers_lists; /* or a list of these, where a list was sent */
    const char *tag;
    /* The application's own, for a handler that serves many rows. */
    const void *row;
    WebParam params[WEB_PARAMS_MAX]; /* up to the first without a name */
} WebRoute;

enum { WEB_BODY_DEFAULT = -1 };

typedef struct WebNumber {
    uint64_t id;
    int64_t number;
} WebNumber;

/* A value that kept its kind and bounds. */
typedef struct WebValue {
    bool present;
    int64_t number; /* ID, NUMBER, SLUG; WORD: index in `words`; SWITCH: 0 or 1 */
    Slice text;     /* LINE, TEXT, WORD, OPAQUE; SLUG: what follows the number and its dash */
    size_t count;   /* of a list */
    union {
        WebNumber *numbers; /* ascending by id */
        Slice *texts;       /* in the order they came in */
    };
} WebValue;

typedef struct WebMatch {
    const WebRoute *route;            /* NULL: none fits this method and path */
    unsigned allowed;                 /* bit 1 << WebMethod of the routes that have this path */
    Slice captures[WEB_CAPTURES_MAX]; /* the {…} segments in order, still encoded */
} WebMatch;

/* What a request brought: everything still encoded. */
typedef struct WebInput {
    const Slice *captures;
    Slice query;
    Slice form;       /* empty when the body is not a form */
    const Json *json; /* NULL when the body is not JSON */
} WebInput;

/* INVALID names the row and what is wrong with it: a bug of the table's author. */
MUST_USE Status routes_check(const WebRoute *routes, size_t count, Reason *reason);
/* False when `text` is none of the five. */
bool route_method(Slice text, WebMethod *ret_method);
const char *route_method_name(WebMethod method);
/* "public", "guest", "login", "voter", "role" */
const char *route_access_name(WebAccess access);
/* A table that is searched often: by the number of segments, and then by the first bytes of each one's path. */
enum { WEB_SEGMENTS_MAX = 8 };
typedef struct Routes {
    struct RouteHead
        *heads; /* those with one segment, in the order of the table, then those with two, … */
    size_t ends[WEB_SEGMENTS_MAX + 1]; /* by segments: where they end */
} Routes;
/* The rows must outlive it. */
Routes routes_of(const WebRoute *rows, size_t count);
void routes_free(Routes *routes);
/* `path` is what http_parse_target gives, its segments still encoded. */
WebMatch routes_find(const Routes *routes, WebMethod method, Slice path);
size_t route_param_count(const WebRoute *route);
/* The threads that run it; never WEB_BY_METHOD. */
WebThreads route_threads(const WebRoute *route);
/* The same of a request with this query, still encoded: a parameter may make it take long. */
WebThreads route_threads_with(const WebRoute *route, Slice query, Arena *arena);
/* What the route takes of the query by this name, still encoded; NULL: nothing. */
const WebParam *route_query_param(const WebRoute *route, Slice name, Arena *arena);
/* Whether the route reads its body as this kind. */
bool route_takes(const WebRoute *route, WebFrom from);

/* Fills values[i] for params[i]. INVALID names field and rule. */
MUST_USE Status route_values(const WebRoute *route, const WebInput *input, Arena *arena,
                             WebValue *ret_values, Reason *reason);
/* One value from decoded texts: what was typed in a form's field or on a command line; none, or an empty one, is as if it were absent. A
 * list takes all of them, NUMBERS as ID=NUMBER. INVALID names field and rule. */
MUST_USE Status param_from_texts(const WebParam *param, const Slice *texts, size_t count,
                                 Arena *arena, WebValue *ret_value, Reason *reason);
