/* site_private.h -- what the files of site/ share: the site itself, who is asking, the frame of a page, forms. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "access/sessions.h"
#include "access/tokens.h"
#include "operations/operation.h"
#include "operations/policy_summary.h"
#include "site/cached/shared_page.h"
#include "site/site.h"
#include "web/put.h"
#include "web/request.h"

/* What a route takes of somebody who need not be logged in: the longest form of these with its texts as long as they may be, each character
 * of four bytes that are twelve in a form, and again as much. */
enum { SITE_STRANGER_BODY = 64 * 1024 };

struct Site {
    SiteOptions options;
    App *app;
    Operations *ops;
    PolicySummaries *summaries; /* of ops */
    SharedPages *shared_pages;
    struct Trending *trending;          /* trending.h */
    struct Live *live;                  /* live.h */
    struct JournalLive *journal_live;   /* journal_live.h */
    struct JournalRates *journal_rates; /* journal_rates.h */
    struct NoticeCounts *notice_counts; /* notice_counts.h */
    pthread_t refresher;
    _Atomic bool ends;
    _Atomic int64_t
        changed_us; /* steady clock: when a policy, a text or a name was last changed here */
    bool started;
    const char
        *home; /* where the site is, for letters: web_server_public_url; from site_start on */
};

/* ---- The route tables: each file that has routes lists them ---------------------------------- */

typedef struct RouteTable {
    const WebRoute *routes;
    size_t count;
} RouteTable;
/* Defines one, as in ROUTE_TABLE(WATCHING, ROUTES); the build collects them. */
#define ROUTE_TABLE(name, table) \
    const RouteTable ROUTES_##name = {(table), sizeof(table) / sizeof(table)[0]}
extern const RouteTable *const ROUTE_TABLES[]; /* ended by NULL */
/* The routes of all tables, then those of the operations and their forms; made once. */
const WebRoute *site_routes(size_t *ret_count);

static inline Site *site_of(const WebRequest *request)
{
    return web_context(request);
}

/* What a route of this operation takes: of strangers little. */
static inline int64_t site_body_bytes(const Operation *operation)
{
    if (operation->body_bytes != 0)
        return operation->body_bytes;
    return operation->access <= WEB_GUEST ? SITE_STRANGER_BODY : WEB_BODY_DEFAULT;
}

/* ---- Who is asking (admission.c) ----------------------------------------------------------------------------------------- */

typedef struct Viewer {
    bool known;      /* logged in, by a session or a token */
    bool by_token;   /* a program with a personal token: no forms, no cookie */
    bool is_limited; /* whose scope is journals */
    Slice token_name, token_journals;
    bool was_known;    /* came with a session that is gone */
    bool second;       /* the session or token was made with the second factor, which is still on */
    bool needs_second; /* was refused for want of it */
    bool lost_right;   /* was refused because a right was taken away */
    Account account;   /* when known */
    Actor actor;       /* the same for operations: with the roles that count here */
    Session session;   /* when known and not by_token */
    Slice secret;      /* of the session */
    Slice
        csrf; /* what this viewer's forms carry; empty for a visitor without a cookie: ask site_form_token */
    bool csrf_in_body; /* the form itself must bring it: site_admit_body looks */
    bool has_state;    /* the next is loaded */
    VoterState state;
    bool has_lines; /* the next two are */
    MergedLine *lines;
    size_t line_count;
} Viewer;

/* Of every request that reaches a handler. */
Viewer *site_viewer(const WebRequest *request);
/* Who acts, by this request. */
const Actor *site_actor(const WebRequest *request);
/* For pages with a form that visitors can send: gives them the cookie that its token is tied to. Call it before page_begin. */
Slice site_form_token(WebRequest *request);
/* Where the request comes from, for sessions, signals and the audit log. */
SessionOrigin site_origin(WebRequest *request);
/* Lines and balance of the one who is logged in, read once a request. */
MUST_USE Status site_voter_state(WebRequest *request, const VoterState **ret_state);
/* What that person holds, as they see it (votes_merged_lines): ascending by policy, read once a request. */
MUST_USE Status site_merged_lines(WebRequest *request, const MergedLine **ret_lines,
                                  size_t *ret_count);
/* How many notices that person has, at most half a minute old (notices.c). */
size_t site_notice_count(WebRequest *request);
/* WebOptions.admit and admit_body. */
MUST_USE Status site_admit(WebRequest *request);
MUST_USE Status site_admit_body(WebRequest *request);

/* ---- The frame (frame.c) --------------------------------------------------------------------------------------------- */

/* What was done, said on the page that a form's redirect leads to: ?done=WORD, and ?number=N for some. The words are in a
 * table, so that an address can make a page say nothing else. */
typedef struct Notice {
    const char *text; /* NULL: nothing to say */
    bool has_number;
    int64_t number;
} Notice;

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
/* The same around a shared page (shared_page.h) that is drawn for everybody: with slots for what is the viewer's. */
typedef struct SharedPageContext { /* what draws a shared page works with; no viewer among it */
    Site *site;
    Slice public_url;
} SharedPageContext;
SharedPageContext shared_page_context(const WebRequest *request);
void shared_page_begin(const SharedPageContext *desk, const Frame *frame, Arena *arena,
                       SharedPageDraft *draft);
void shared_page_end(const SharedPageContext *desk, SharedPageDraft *draft);
/* For SLOT_ME and SLOT_NOTICE of a shared page, once a request: marks the answer as private when anything of the viewer's is on it. */
FrameOwn frame_own(WebRequest *request);
void frame_fill(const FrameOwn *own, Buffer *out, const PageSlot *slot);
/* WebOptions.page_variant: which notice the page shows to somebody who is not logged in. */
uint64_t frame_variant(WebRequest *request);
/* WebOptions.error_page. */
void frame_error_page(WebRequest *request, const struct ErrorWords *words);

/* Names of shared pages. */
#define SHARED_PAGE_FRONT  "front"
#define SHARED_PAGE_POLICY "policy"

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
 * `address`, with the query (frame.c): people share all sorts of spellings, and search engines should know one. */
bool site_leads_on(WebRequest *request, Slice slug, Slice address);

int64_t site_now_us(const WebRequest *request);
