/* operation.h -- what people do here: one function for each use case, one row of a table for its doors.
 *
 * A use case (featuring a policy, hiding one, changing a setting) is an Operation: a function that takes a request struct and fills an
 * answer struct, and a row that says who may do it, what its inputs are, what its answer holds and where it can be reached: as a form on
 * a page, as a JSON route, as a command. The three doors translate and decide nothing; all of them call operation_run.
 *
 *     typedef struct FeatureRemove { uint64_t policy; Slice reason; } FeatureRemove;
 *     static Status feature_remove(Operations *ops, const Actor *actor, const FeatureRemove *request, Arena *arena,
 *                                  FeaturedList *ret_list, Reason *reason) { … }
 *     OPERATION(feature_remove, FeatureRemove, FeaturedList, .help = "Take a policy off the front page.",
 *               .access = WEB_ROLE, .roles = 1u << ROLE_FEATURE, .audits = AUDITS(FEATURE_REMOVE), .answers = &SCHEMA_FEATURED_LIST,
 *               .api = {.method = WEB_DELETE, .path = "featured/{policy}"}, .page = {.path = "/desk/featured/{policy}/remove"}, .command = {.words = "feature remove"},
 *               .inputs = {INPUT("policy", FeatureRemove, policy, POLICY, .operand = true, .help = "The policy."), …})
 *
 * Promises, for each call of operation_run and each of operation_run_many:
 *   1. It checks the row's access with the rights that count here (actor_roles), whichever door the request came by.
 *   2. What an operation does for others is in the audit log before it is done. What a command does in somebody's name is, too, and the
 *      person has a notice of it. Where it shows what is theirs (`shows`) the entry comes before the look, with the reason or that none was
 *      given, and the person gets an e-mail: what cannot be noted is not shown.
 *   3. An input that breaks its bounds never reaches the function; the reason names the input and the rule.
 *   4. After OK whatever this process keeps in memory of the thing has been dropped (operations_notify); other instances and those who
 *      come after a crash learn of it from the store.
 *   5. The answer is the same struct for every door, and its JSON is written by the same schema.
 *   6. Once something was changed nothing that fails makes "nothing was changed" of it: operation_run looks at what the store was asked to
 *      write (store_effects; of several calls their function says it), and a failure that comes after a change is UNKNOWN. A function that
 *      reads more for its answer calls operation_done first; what fails then is only the answer (OperationCall.is_unread), and the doors say so.
 * Rows are collected by the build (tools/collect.py): a new file in this folder with an OPERATION in it is all that is needed.
 * A row that has no page, route or command says why in `.no_page`, `.no_api`, `.no_command`; tests/doors refuses a row that does not. */
#pragma once

#include <stdatomic.h>

#include "access/sessions.h"
#include "access/throttle.h"
#include "app/app.h"
#include "operations/personal.h"
#include "operations/schema.h"
#include "web/cookies.h"
#include "web/route.h"

typedef struct Operations Operations;
typedef struct Operation Operation;

/* ---- Who acts -------------------------------------------------------------------------------------------------------------- */

typedef enum Door { DOOR_PAGE, DOOR_API, DOOR_COMMAND } Door;

typedef struct Actor {
    Door door;
    bool is_operator; /* the command line: every role, in its own name or somebody's (--as) */
    const Account *
        account; /* the person who acts, or in whose name it is done; NULL: a visitor, or the operator */
    uint32_t roles;         /* those that count here: actor_roles */
    bool second_missing;    /* some role does not count, because the second factor was not shown */
    Slice origin;           /* network address, or "command line" */
    Slice agent;            /* the program, as a browser names itself; empty: not known */
    const Session *session; /* that the request came by; NULL: none */
    bool by_token;          /* a program with a personal token, whose name this is: */
    Slice token_name;
    bool is_limited;      /* and whose scope is journals, these: */
    Slice token_journals; /* access/journal_access.h */
    bool is_local;        /* it is on this machine */
    Slice why;            /* of a command in somebody's name: its reason; empty: none was given */
    /* Reads a cookie of the browser; NULL: there is no browser. See actor_cookie. */
    Slice (*cookie)(const void *from, CookieKind kind);
    const void *cookies_from;
} Actor;

/* A cookie that the actor's browser sent; empty: it has none. */
Slice actor_cookie(const Actor *actor, CookieKind kind);

/* The roles of an account that count (app_roles): those that need a second factor only where it was shown. */
uint32_t actor_roles(const App *app, const Account *account, bool second_shown, bool *ret_missing);
/* Both take NULL as a visitor. Whether one of these roles counts; admins have all of them, and so has the operator in its own name. */
bool actor_has(const Actor *actor, uint32_t roles);
/* 0: a visitor, or the operator in its own name. */
uint64_t actor_id(const Actor *actor);

/* What the door shall have the browser keep, where a row names it (Operation.cookies); doors without a browser drop it. */
typedef struct Cookies {
    struct Cookie {
        CookieKind kind;
        CookieLife life;
        Slice value;
    } list[COOKIE_KINDS];
    size_t count;
} Cookies;
void cookies_add(Cookies *cookies, CookieKind kind, Slice value, CookieLife life);
void cookies_end(Cookies *cookies, CookieKind kind);

/* ---- Inputs ---------------------------------------------------------------------------------------------------------------- */

/* clang-format off */
/* What an input is, and the type of the member that it is bound to. */
typedef enum InputKind {
    INPUT_ID,     /* uint64_t: the number of a thing */
    INPUT_POLICY, /* uint64_t: a policy; on a form its number or the beginning of its name */
    INPUT_ACCOUNT, /* uint64_t: a person; for programs the number, on forms and command lines the name or e-mail */
    INPUT_CATEGORY, /* uint64_t: a category, by number; on command lines also by name */
    INPUT_PARTY,    /* uint64_t: the same of a party */
    INPUT_NUMBER,   /* int64_t: a whole number within least and most */
    INPUT_SMALL,    /* uint32_t: the same */
    INPUT_LINE,     /* Slice: trimmed text without line ends, least to most characters */
    INPUT_TEXT,     /* Slice: trimmed text, least to most characters */
    INPUT_SECRET,   /* Slice: text that is never shown again, and not trimmed; command lines read it from stdin */
    INPUT_OPAQUE,   /* Slice: letters, digits, - and _ */
    INPUT_WORD,     /* an enum: one of `words` */
    INPUT_SWITCH,   /* bool */
    INPUT_TIME,     /* int64_t, µs: 2026-01-31T12:00:00Z; 0 when it is left out */
    INPUT_VERSION,  /* Id: 32 hexadecimal digits, also zeros; zero when it is left out */
    INPUT_ONCE,     /* Id: the same one again is the same act. A form carries it, programs send Idempotency-Key; otherwise a new one */
    INPUT_NUMBERS,  /* InputNumbers: whole numbers by id; on command lines ID=NUMBER… */
    INPUT_TEXTS,    /* InputTexts */
    INPUT_FILE,     /* Slice: the content of a file; on command lines its path */
    INPUT_BYTES,    /* Slice: as it came, at most so many bytes; on command lines - is what comes on stdin. Not for other doors */
    INPUT_STREAM,   /* InputStream: text that may be long; on command lines the path of a file, which is not read as a whole */
    INPUT_KINDS
} InputKind;
/* clang-format on */

typedef struct InputNumbers {
    const WebNumber *numbers; /* ascending by id, none twice */
    size_t count;
} InputNumbers;

typedef struct InputTexts {
    const Slice *texts;
    size_t count;
} InputTexts;

typedef struct InputStream {
    Slice text;       /* by pages and programs */
    const char *path; /* by command; else NULL */
} InputStream;

typedef struct Input {
    const char *name;
    InputKind kind;
    size_t offset, size; /* of the member */
    bool optional;       /* left out it is zero or empty */
    bool operand;        /* on a command line it stands without a flag, in the order of the row */
    bool piped; /* on a command line it is read from stdin: --NAME-stdin; secrets always are */
    bool no_api, no_command,
        no_page; /* this door does not have it; there it is its fallback, or zero or empty */
    bool command_optional; /* a command may leave it out, the other doors may not */
    bool
        if_match; /* VERSION: programs send it as the header If-Match, an ETag or the version alone */
    bool or_none;       /* a category or party: 0 is none */
    bool in_body;       /* ONCE: programs may send it in the body, in place of Idempotency-Key */
    bool lines;         /* of TEXTS: on a form one field with a line for each, not several fields */
    bool form_optional; /* a form may leave it empty, and the function judges it */
    const char
        *form_fallback; /* what a form means that does not say it; NULL: nothing in particular */
    bool or_number;     /* of a LINE: programs may send a whole number */
    bool computes;      /* with it the answer takes long to make, by other threads than without */
    int64_t least, most;
    int most_count;           /* of lists */
    const char *const *words; /* ended by NULL */
    const char *fallback;     /* the value when it is left out; implies optional */
    size_t given;             /* offset of a bool that says whether it was given; 0: none */
    const char *flag;         /* its name on a command line where that differs; NULL: `name` */
    const char *value;        /* what the usage calls it, "TEXT"; NULL: by its kind */
    const char *missing;      /* what people are told who leave it out; NULL: "is missing" */
    const char *help;
} Input;

#define INPUT(key, type, member, what, ...)                                    \
    {                                                                          \
        .name = (key), .kind = INPUT_##what, .offset = offsetof(type, member), \
        .size = sizeof(((type *)NULL)->member), __VA_ARGS__                    \
    }
#define GIVEN(type, member) .given = offsetof(type, member)

/* ---- The row --------------------------------------------------------------------------------------------------------------- */

/* Where the JSON routes are. */
#define API_PATH "/api/v1/"

enum { OPERATION_INPUTS_MAX = WEB_PARAMS_MAX, OPERATION_FAULTS_MAX = 6 };

/* An answer that takes its time to come, and for which no thread waits. `start` is called once, then `ready` once, from any thread and perhaps
 * before `start` has returned; then `end` once. `cancel` may come at any time between the end of `start` and `end`, also several times: `ready`
 * is called soon then. */
typedef struct OperationLater {
    void (*start)(void *work);
    void (*cancel)(void *work);
    /* is_gone: nobody waits for the answer any more. */
    Status (*end)(void *work, bool is_gone, void *ret_answer, Reason *reason);
    void *work;
    void (*ready)(void *self); /* the door's; must not wait */
    void *self;
} OperationLater;
/* *ret_later without ready and self, which the door adds before `start`; in the arena. */
typedef Status OperationBegin(Operations *ops, const Actor *actor, const void *request,
                              Arena *arena, OperationLater **ret_later, Reason *reason);

typedef Status OperationRun(Operations *ops, const Actor *actor, const void *request, Arena *arena,
                            void *ret_answer, Reason *reason);

/* What a door asks for, and what it gets. */
typedef struct OperationCall {
    const Operation *operation;
    const Actor *actor;
    const void *request;
    void *answer; /* zeroed by the door */
    Arena *arena;
    Reason *reason;
    Status status; /* out */
    /* Out: the same; where that is OK, what came of it by the answer (Operation.outcome). */
    Status outcome;
    /* Out, with OK: it is done, and what is there now could not be read; the answer says nothing of it. */
    bool is_unread;
    /* By OperationRunMany: what was asked for is done, as operation_done says it; the store was asked to change something for it, and
     * perhaps did. */
    bool is_done, has_effects;
} OperationCall;
/* Several calls, of different people, that wait for the store once. Sets the status of each and what it did; whatever is wrong with one is
 * nothing to the others. */
typedef void OperationRunMany(Operations *ops, OperationCall *const *calls, size_t count);

struct Operation {
    const char *name; /* "feature_remove" */
    const char *help; /* one sentence, imperative */
    OperationRun *run;
    OperationRunMany *run_many; /* in place of `run` */
    OperationBegin *begin; /* the same for doors that need not wait; NULL: it is done at once */
    size_t request_size, answer_size;
    const ApiSchema *answers; /* NULL: only that it was done */
    /* For operations whose answer tells more than OK does (stale, refused, unknown, each with what is stored now): which status it is. The
     * function itself then returns OK, with the reason set for the doors that show only that. NULL: OK is OK. */
    Status (*outcome)(const void *answer);
    /* For forms, which say all that is wrong at once: after the function has refused, fills in what each field broke, in the order of the
     * form, and returns how many. It shows only where the function's own reason is among them. NULL: that reason is all. */
    size_t (*faults)(Operations *ops, const Actor *actor, const void *request, Arena *arena,
                     Reason ret_reasons[OPERATION_FAULTS_MAX]);
    size_t cookies; /* offset of a Cookies in the answer, which is not its first member; 0: none */
    WebAccess access;
    WebWhose whose;
    uint32_t roles;
    /* What programs are let by before their body is read: by the input that stands first in the API's path, or empty where there is none. The
     * function judges it again. Must not wait. NULL: nothing but what the row says. */
    Status (*admits)(Operations *ops, const Actor *actor, Slice first, Reason *reason);
    uint32_t
        needs; /* ordinary rights, bits of AccountRight, that must not have been taken from whoever is logged in; WEB_VOTER: also that to vote */
    bool
        by_session; /* not by a personal token, which must not change who gets in, nor outlive its own end */
    bool by_program; /* also by a token for journals alone, or by nobody, as the function judges */
    bool asks;       /* changes nothing */
    uint32_t shows;  /* what of somebody is in its answer: SHOWS(PART) | …, see personal.h */
    bool always;     /* works in maintenance mode, too */
    uint64_t audits; /* what it may write into the audit log: AUDITS(KIND) | … */
    const char *no_audits; /* why it writes nothing there although it changes something */
    WebThreads threads;    /* also of the GET that shows the form */
    /* The rule by which its tries are counted for each network address. Doors refuse whoever has none left by the head of the request, before a body is read
     * or a place among `threads` is taken; it is counted by the function. 0, which is no such rule: there is none. */
    ThrottleRule origin_rule;
    int64_t body_bytes; /* 0: the setting body_bytes */
    int64_t seconds;
    /* What it did takes at least as long, so that the time of an answer does not tell strangers what there is. Needs `threads`. */
    int64_t least_ms;
    bool files; /* a form may carry a file */
    struct {
        WebMethod method;
        const char *path; /* below /api/v1/; NULL: none */
        const char *tag;  /* the group of the documentation */
        int code;         /* 0: 200 */
        int64_t cache_ms;
        /* What an ETag is made of: changes whenever the answer does. NULL: it has none. */
        Slice (*etag)(const void *answer, Arena *arena);
        /* Whether the answer has nothing: it is 204, and what the header X-Next-At says, or empty. NULL: it always has. */
        bool (*nothing)(const void *answer, Arena *arena, Slice *ret_next_at);
    } api;
    const char *no_api;
    struct {
        const char *path; /* where the form is sent; NULL: none */
        const char *done; /* the word in the address after it was done: "featured" */
        const char *told; /* the sentence for it */
    } page;
    const char *no_page;
    struct {
        const char *words; /* "feature remove"; NULL: none */
        const char *
            done; /* what is printed in place of the answer where that says nothing; NULL: the answer */
        /* Prints the answer for people; NULL: schema_print does it by the schema. */
        void (*print)(const void *answer, Arena *arena, Buffer *out);
        bool creates; /* makes the data directory when there is none */
    } command;
    const char *no_command;
    Input inputs[OPERATION_INPUTS_MAX]; /* up to the first without a name */
};

#define AUDITS(kind) (UINT64_C(1) << AUDIT_##kind)

/* Defines OPERATION_name, whose function is the static `name`; its type is checked here, and once. */
#define OPERATION(id, request_type, answer_type, ...)                                              \
    static Status id##_run(Operations *ops, const Actor *actor, const void *request, Arena *arena, \
                           void *ret_answer, Reason *reason)                                       \
    {                                                                                              \
        return id(ops, actor, (const request_type *)request, arena, (answer_type *)ret_answer,     \
                  reason);                                                                         \
    }                                                                                              \
    const Operation OPERATION_##id = {.name = #id,                                                 \
                                      .run = id##_run,                                             \
                                      .request_size = sizeof(request_type),                        \
                                      .answer_size = sizeof(answer_type),                          \
                                      __VA_ARGS__}

/* The same with an OperationRunMany, which several rows may share; they have the types in common. */
#define OPERATION_MANY(id, function, request_type, answer_type, ...)        \
    const Operation OPERATION_##id = {.name = #id,                          \
                                      .run_many = (function),               \
                                      .request_size = sizeof(request_type), \
                                      .answer_size = sizeof(answer_type),   \
                                      __VA_ARGS__}

/* For operations whose answer is only that it was done, or that ask for nothing. */
typedef struct Done {
    bool done;
} Done;
typedef struct Nothing {
    char none;
} Nothing;

/* All rows, ended by NULL; made by the build. */
extern const Operation *const OPERATIONS[];
size_t operation_input_count(const Operation *operation);
const Input *operation_input(const Operation *operation, const char *name);

/* Checks access, notes a command that acts in somebody's name, runs the function; returns call->status. */
MUST_USE Status operation_run(Operations *ops, OperationCall *call);
/* The same for several, of which those beside each other that share their OperationRunMany are one call of it. */
void operation_run_many(Operations *ops, OperationCall *const *calls, size_t count);
/* Called by a function when what was asked for is done, before it reads what is there now for the answer: see promise 6. */
void operation_done(void);
/* Waits for what `begin` began: what `run` of such a row does. */
MUST_USE Status operation_wait(Operations *ops, OperationLater *later, void *ret_answer,
                               Reason *reason);
/* Whether it is about the one who does it. */
bool operation_is_own(const Operation *operation);
/* The first part alone: who may. LOGIN, DENIED. */
MUST_USE Status operation_admit(const Operation *operation, const Actor *actor, Reason *reason);
/* Of that what ordinary rights decide: DENIED. OK for visitors. */
MUST_USE Status actor_check_rights(const Actor *actor, WebAccess access, uint32_t needs,
                                   Reason *reason);

/* ---- What operations work with ----------------------------------------------------------------------------------------------- */

/* What the one who runs the site can do to it; members may be NULL, and what needs them is then refused. */
typedef struct SiteControl {
    /* The message when maintenance is on, data NULL when it is off. */
    Status (*maintenance)(void *self, Arena *arena, Slice *ret_message);
    /* data NULL turns it off. */
    Status (*set_maintenance)(void *self, Slice message, Reason *reason);
    void *self;
} SiteControl;

struct Operations {
    App *app;
    const Config *config;
    struct PolicySummaries *summaries; /* policies as lists show them */
    struct RankCache *rank_cache;      /* the past of policies */
    Throttle *throttle;                /* how often strangers may try; see tries.h */
    SiteControl control;
    struct OperationWaits *waits; /* under way in operation_wait */
    _Atomic bool refuses_puts;    /* operations_refuse_puts */
};

/* All that is pointed to must outlive it, and it the app's threads. */
typedef struct OperationsOptions {
    App *app;
    const Config *config;
    SiteControl control;
} OperationsOptions;
Operations *operations_new(const OperationsOptions *options);
void operations_free(Operations *ops);
/* From now on operation_wait waits for nothing: before the doors are closed. */
void operations_drain(Operations *ops);
/* From now on nobody puts into journals but this process itself; what is there is still worked off. */
void operations_refuse_puts(Operations *ops);
/* After a change by this process: drops what is kept of the thing, tells the ranking, then whoever listens (app/changes.h). Any thread. */
void operations_notify(Operations *ops, ChangeKind kind, uint64_t id);

/* Writes the entry before anything is done; `act` has kind, object, other, reason and details, the rest is the actor's. Anything but OK:
 * do not do it. */
MUST_USE Status operation_audit(Operations *ops, const Actor *actor, const AuditAct *act,
                                Id *ret_id, Reason *reason);
/* The same for what needs no site; NULL: the site's key is not here. */
MUST_USE Status operation_audit_in(Audit *audit, const Actor *actor, const AuditAct *act,
                                   Id *ret_id, Reason *reason);
/* The entry for what belongs to the one who does it: only commands that act in somebody's name have one, *ret_id is zero for all else.
 * `what` is the command. */
MUST_USE Status operation_audit_own(Operations *ops, const Actor *actor, const char *what,
                                    Id *ret_id, Reason *reason);
/* Notes what came of it, which it returns. `id` zero: there is no entry. */
MUST_USE Status operation_audit_end(Operations *ops, Id id, Status outcome);

/* ---- Between the doors and the request struct (inputs.c) ------------------------------------------------------------------------ */

/* The row as a parameter that `web` reads and documents. */
WebParam input_param(const Input *input, WebFrom from);
/* Binds a value that web has read; INVALID where it names nothing. */
MUST_USE Status input_bind(Operations *ops, const Input *input, const WebValue *value, Arena *arena,
                           void *request, Reason *reason);
/* Binds what was typed, on a form or a command line: `texts` are all values that were given for this input, in order; none: it was left
 * out. */
MUST_USE Status input_bind_texts(Operations *ops, const Input *input, const Slice *texts,
                                 size_t count, Arena *arena, void *request, Reason *reason);
/* For a door that does not have this input. */
MUST_USE Status input_bind_left_out(Operations *ops, const Input *input, Arena *arena,
                                    void *request, Reason *reason);
/* Every row's inputs fit their members, every door is there or explained, names are unique: for the tests. */
MUST_USE Status operations_check(Reason *reason);
