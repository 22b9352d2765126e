/* inside.h -- what the files of site/ share: the site itself, who is asking, the frame of a page, forms. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "accounts/sessions.h"
#include "accounts/throttle.h"
#include "accounts/tokens.h"
#include "site/cards.h"
#include "site/curves.h"
#include "site/sheets.h"
#include "site/site.h"
#include "web/put.h"
#include "web/request.h"

struct Site {
    SiteOptions options;
    App *app;
    Cards *cards;
    Curves *curves;
    Sheets *sheets;
    Throttle *throttle;
    struct Hot *hot;                    /* hot.h */
    struct Live *live;                  /* live.h */
    struct NoticeCounts *notice_counts; /* notice_counts.h */
    WebRoute *routes;                   /* of all rooms, one after the other */
    size_t route_count;
    pthread_t keeper;
    _Atomic bool ends;
    _Atomic int64_t changed_us; /* steady clock: when a policy was last moved or edited here */
    _Atomic bool past_is_asked; /* a ranking of the past is being made (api_rankings.c) */
    bool started;
    const char
        *home; /* where the site is, for letters: web_server_public_url; from site_start on */
};

/* ---- The rooms: each file that has routes lists them; site.c puts them together ---------------------------------- */

typedef struct Room {
    const WebRoute *routes;
    size_t count;
} Room;
#define ROOM(table)                               \
    {                                             \
        (table), sizeof(table) / sizeof(table)[0] \
    }

/*    each defines `const Room ROOM_name` */
#define ROOM_LIST(X)    \
    X(ADMIN_MAIL)       \
    X(DATA)             \
    X(MAILBOX)          \
    X(ABOUT)            \
    X(ACCOUNT)          \
    X(ANSWER)           \
    X(API_ACCOUNT)      \
    X(API_ACTS)         \
    X(API_CONNECTIONS)  \
    X(API_DESK)         \
    X(API_DOCS)         \
    X(API_EDIT)         \
    X(API_ME)           \
    X(API_PAGE)         \
    X(API_PEOPLE)       \
    X(API_POLICIES)     \
    X(API_RANKINGS)     \
    X(API_SECOND)       \
    X(API_VOTES)        \
    X(APPEAL)           \
    X(BROWSE)           \
    X(CONNECTIONS)      \
    X(DELETE)           \
    X(DESK)             \
    X(EDIT)             \
    X(EMBED)            \
    X(FEATURED)         \
    X(FEED)             \
    X(FRONT)            \
    X(GROUPS)           \
    X(HISTORY)          \
    X(LIVE)             \
    X(LOGIN)            \
    X(MERGE)            \
    X(MODERATION)       \
    X(MY_HISTORY)       \
    X(MY_VOTES)         \
    X(NEW)              \
    X(NOTICES)          \
    X(POLICY)           \
    X(PROFILE)          \
    X(RANKING)          \
    X(REGISTER)         \
    X(REPORT)           \
    X(RETIRE)           \
    X(REVISIONS)        \
    X(SECOND)           \
    X(ADMIN_ACTIVITY)   \
    X(ADMIN_ELECTORATE) \
    X(ADMIN_GLANCE)     \
    X(ADMIN_MACHINE)    \
    X(ADMIN_PARTIES)    \
    X(ADMIN_PEOPLE)     \
    X(ADMIN_SETTINGS)   \
    X(ADMIN_TEXTS)      \
    X(API_ADMIN)        \
    X(WATCHING)
#define X(name) extern const Room ROOM_##name;
ROOM_LIST(X)
#undef X
/* The routes of all rooms, one after the other; given back by site_routes_free. */
WebRoute *site_routes(size_t *ret_count);
void site_routes_free(WebRoute *routes);

static inline Site *site_of(const WebRequest *request)
{
    return web_context(request);
}

/* ---- Who is asking (door.c) ----------------------------------------------------------------------------------------- */

typedef struct Viewer {
    bool known;        /* logged in, by a session or a token */
    bool by_token;     /* a program with a personal token: no forms, no cookie */
    bool was_known;    /* came with a session that is gone */
    bool second;       /* the session or token was made with the second factor, which is still on */
    bool needs_second; /* was refused for want of it */
    Account account;   /* when known */
    Session session;   /* when known and not by_token */
    Slice secret;      /* of the session */
    Slice
        csrf; /* what this viewer's forms carry; empty for a visitor without a cookie: ask site_form_token */
    bool has_state; /* the next is loaded */
    VoterState state;
    bool has_lines; /* the next two are */
    SeenLine *lines;
    size_t line_count;
    struct Saving *saving; /* a form of votes on its way into the ledger (my_votes.c) */
} Viewer;

/* Of every request that reaches a handler. */
Viewer *site_viewer(const WebRequest *request);
/* For pages with a form that visitors can send: gives them the cookie that its token is tied to. Call it before page_begin. */
Slice site_form_token(WebRequest *request);
/* Names of our cookies. */
#define DOOR_SESSION "session"
#define DOOR_VISITOR "visitor"
/* Lines and balance of the one who is logged in, read once a request. */
MUST_USE Status site_voter_state(WebRequest *request, const VoterState **ret_state);
/* What that person holds, as they see it (votes_seen): ascending by policy, read once a request. */
MUST_USE Status site_seen_lines(WebRequest *request, const SeenLine **ret_lines, size_t *ret_count);
/* How many notices that person has, at most half a minute old (notices.c). */
size_t site_notice_count(WebRequest *request);
/* WebOptions.admit. */
MUST_USE Status door_admit(WebRequest *request);
/* WebOptions.together: the votes of several people are saved by one call (my_votes.c). */
enum { SITE_TOGETHER_MOST = 16 };
void my_votes_together(WebRequest *const *requests, size_t count);

/* ---- The frame (frame.c) --------------------------------------------------------------------------------------------- */

/* What was done, said on the page that a form's redirect leads to: ?done=WORD, and ?number=N for some. The words are in a
 * table, so that an address can make a page say nothing else. */
typedef struct Notice {
    const char *text; /* NULL: nothing to say */
    bool has_number;
    int64_t number;
} Notice;

extern const char *const DONE_WORDS[]; /* ended by NULL */

typedef struct Frame {
    Slice title;
    Slice description; /* for search engines and link previews; empty: none */
    Slice address;     /* the page's own path; empty: not for search engines */
    const char *here;  /* the entry of the navigation that is this page, or NULL */
    const char *topic; /* live events that the page listens to, or NULL */
    bool is_narrow;    /* one column for reading or a decision */
} Frame;

/* What of the frame is the same for everybody. */
typedef struct FrameView {
    const Frame *frame;
    Slice site_name, canonical; /* the page's own full address */
    bool is_demo;
} FrameView;

/* What of it is the viewer's own. */
typedef struct FrameOwn {
    const Viewer *viewer;
    const char *here; /* as in Frame */
    int64_t balance;
    bool has_balance;
    size_t notice_count; /* of the viewer; 0: none, or nobody */
    Notice notice;
} FrameOwn;

typedef struct ErrorView {
    const char *title, *happened, *to_do;
    Slice field, rule, request_id;
    const char *way, *way_text; /* where to go from here */
} ErrorView;

/* Writes everything up to the content; the handler goes on with its template, and ends with page_end. Pages with a viewer are
 * marked as private. */
Buffer *page_begin(WebRequest *request, const Frame *frame);
void page_end(WebRequest *request, Buffer *out);
/* The same around a sheet (sheets.h) that is drawn for everybody: with gaps for what is the viewer's. */
typedef struct SheetDesk { /* what draws a sheet works with; no viewer among it */
    Site *site;
    Slice public_url;
} SheetDesk;
SheetDesk sheet_desk(const WebRequest *request);
void sheet_begin(const SheetDesk *desk, const Frame *frame, Arena *arena, SheetDraft *draft);
void sheet_end(const SheetDesk *desk, SheetDraft *draft);
/* For GAP_ME and GAP_NOTICE of a sheet, once a request: marks the answer as private when anything of the viewer's is on it. */
FrameOwn frame_own(WebRequest *request);
void frame_fill(const FrameOwn *own, Buffer *out, const Gap *gap);
/* WebOptions.error_page. */
void frame_error_page(WebRequest *request, const struct ErrorWords *words);

/* Names of sheets. */
#define SHEET_FRONT  "front"
#define SHEET_POLICY "policy"

/* ---- The log of acts (act.c) ------------------------------------------------------------------------------------------ */

/* Notes what the viewer is about to do, with who and from where; after it, site_act_end. Anything but OK: do not do it, and web_reason says
 * why: INVALID names `reason` when it is too long; UNAVAILABLE: it could not be noted. */
MUST_USE Status site_act(WebRequest *request, const Act *act, Id *ret_id);
/* What came of it (audit_end). */
void site_act_end(WebRequest *request, Id id, Status outcome);

/* ---- The desk (desk/) -------------------------------------------------------------------------------------------------- */

/* After an act that a report led to (?report=ID of its page): closes that report as acted upon, and the others about the same policy that
 * nobody else has. For 0, and for who does not work off reports, nothing; one that cannot be closed stays in the queue. */
void site_report_acted(WebRequest *request, uint64_t report, Slice reason);
/* Letters about reports that are due; by the site's own thread. */
void desk_post(Site *site);

/* ---- Forms ------------------------------------------------------------------------------------------------------------ */

/* A form that came back: which field broke which rule. Empty field: it is about the whole. There may be several, in the order of the
 * page; people should not have to send a form once for each. */
typedef struct FormFault {
    bool is_set;
    Slice field, rule;
    struct FormFault *next;
} FormFault;

/* From the reason of a refused operation. */
FormFault form_fault(const Reason *reason);
/* Appends a copy (faults.c). */
void form_fault_add(FormFault *faults, FormFault fault, Arena *arena);
/* The first that is about this field, or NULL. */
const FormFault *form_fault_at(const FormFault *faults, const char *field);
/* True for the statuses that mean "the person can correct it": INVALID, REFUSED, CONFLICT, THROTTLED. */
bool form_can_be_corrected(Status status);
/* 303 to `path`, with ?done=word (and the number), where the next page says so. */
void site_done(WebRequest *request, Slice path, const char *done, int64_t number);

/* Row 0 is the number and words of something with a name. True when the words are others than `slug`, and the answer leads to
 * `address`, with the query (slug.c): people share all sorts of spellings, and search engines should know one. */
bool site_leads_on(WebRequest *request, Slice slug, Slice address);

int64_t site_now_us(const WebRequest *request);
