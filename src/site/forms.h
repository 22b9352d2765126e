/* forms.h -- the life of a form, the same for every operation that has a page.
 *
 *     FORM(feature_set, FeaturedPage, .path = "/desk/featured", .fill = fill_featured, .draw = draw_featured)
 * A form is shown (GET), and sent (POST) to the address that the operation's row names. Forms of several people whose operations share an
 * OperationRunMany are one call of operation_run_many. Sent, one of five things happens:
 *     done      303 to `leads`, where the next page says what was done (the row's page.told)
 *     refused   422 (too often: 429), the same page with everything that was typed, and each rule at its field
 *     stale     409 with form.status CONFLICT: somebody was first; the page shows both sides where it can
 *     unknown   503, and a page that sends exactly the same form again
 *     failed    an error page: not allowed, not there, not now
 * The page around a form is a view whose first member is its Form; `fill` reads what it shows, `draw` is its template. Templates draw
 * fields by the helpers of pages/forms.html from what the operation's row says of them. Nothing here decides; see operation.h. */
#pragma once

#include "operations/operation.h"
#include "site/site_private.h"

typedef struct Form {
    const Operation *operation;
    Slice action; /* where it is sent */
    Slice csrf;
    Slice typed
        [OPERATION_INPUTS_MAX]; /* by the row: as typed, or what the form begins with; secrets never come back */
    FormFault fault;  /* perhaps several */
    Status status;    /* of the last try; OK: there was none */
    bool is_sent;     /* by POST; else `typed` is what it begins with */
    bool is_preview;  /* sent to be looked at (FormPage.previews): nothing was done */
    bool is_question; /* by `fill`: nothing was done or refused, the page asks first */
    const void *sent; /* the operation's request, where all of it could be read; else NULL */
    /* Of the operation: where it tells another outcome than done, or by FormPage.shows_answer. */
    const void *answer;
    const char *focus; /* the field to begin with; NULL: none */
} Form;

/* The view of a page that shows one more thing around its form. */
typedef struct FormView {
    Form form;
    const void *of;
} FormView;

typedef struct FormPage {
    const Operation *operation;
    const char *
        path; /* where it is shown; NULL: it is a button on another page, and `fill` and `draw` are that page's */
    size_t size;      /* of the view */
    const char *help; /* of the GET; NULL: the operation's */
    const char
        *shows; /* the operation whose answer is on the page, too, as in WebRoute; NULL: none */
    /* Fills the rest of the view, and says what stands around it. Anything but OK is an error page. On a first showing form->typed may
     * be given values to begin with; what the address names (?policy=12) is there already, and form->fault may say what is wrong with it. The frame begins as `title` in one column; one
     * that answers by itself (web_redirect) leaves it without a title. NULL: there is nothing else to show. */
    Status (*fill)(WebRequest *request, void *view, Frame *frame);
    const char *title;
    /* NULL: there is no page, and what is refused is an error page. */
    void (*draw)(Buffer *out, const void *view);
    /* Where a form leads that was done: a path of ours, which may say by ?done= what that was. NULL: `to`, and without that `path`. */
    Slice (*leads)(WebRequest *request, const void *sent, const void *answer);
    const char *to;
    bool
        shows_answer; /* done, the same page is drawn with form->answer: for what must be read and is stored nowhere */
    /* Done, this is the answer, in place of a page: a file. */
    Status (*sends)(WebRequest *request, const struct FormPage *page, const void *answer);
    bool draws_unknown; /* by `draw`, where there is an answer that tells it */
    bool
        by_link; /* whoever has the link may send it: its inputs are in the address, and it has no token */
    bool
        previews; /* its button act=preview shows the page with what was typed, act=change the same once more to be changed */
} FormPage;

/* The view of a form that is only a button. */
typedef struct BareForm {
    Form form;
} BareForm;

#define FORM(id, view_type, ...)                                               \
    extern const Operation OPERATION_##id;                                     \
    const FormPage FORM_##id = {                                               \
        .operation = &OPERATION_##id, .size = sizeof(view_type), __VA_ARGS__}; \
    _Static_assert(offsetof(view_type, form) == 0, "a view begins with its form")

/* All of them, ended by NULL; made by the build. */
extern const FormPage *const FORMS[];

/* What was typed into the field, or what it begins with; empty where this form has no such input. */
Slice form_typed(const Form *form, const char *name);
void form_type(Form *form, const char *name, Slice value);
/* What was typed is a list: several fields of the name, or lines of one. Whether this value is among them. */
bool form_has(const Form *form, const char *name, const char *value);
/* The same of an input of NUMBERS, into the field of this id. */
Slice form_typed_at(const Form *form, const char *name, uint64_t id);
/* For pages with several forms: the first of them, on a page that is no form's own; and the others beside it, which are empty unless
 * they are the one that was sent. */
Form form_begin(WebRequest *request, const Operation *operation);
Form form_beside(const Form *form, const Operation *operation);
/* The policy, person or other thing that was typed, found as when the form is sent. */
MUST_USE Status form_thing(WebRequest *request, const Form *form, const char *name,
                           uint64_t *ret_id, Reason *reason);
/* A handler that shows the form of the route's row (WebRoute.row): for one that has a route of its own, with other parameters or access. */
MUST_USE Status form_show(WebRequest *request);
/* For a form that is shown at another address, too: its view as it begins, and the page. */
void *form_view(WebRequest *request, const FormPage *page);
MUST_USE Status form_draw(WebRequest *request, const FormPage *page, void *view, int code);
/* Has the browser keep what the operation says (Operation.cookies). */
void operation_set_cookies(WebRequest *request, const Operation *operation, const void *answer);
void site_set_cookies(WebRequest *request, const Cookies *cookies);

/* ---- Routes (forms.c, api_operations.c) ---------------------------------------------------------------------------------------- */

/* The parameters of a row: those that stand in the path first, then the others from `other`. Returns how many. */
size_t operation_params(const Operation *operation, const char *path, WebFrom other,
                        WebParam *ret_params);
WebRoute operation_route(const Operation *operation);
/* False where the form is not shown by itself. */
bool form_shown_route(const FormPage *page, WebRoute *ret_route);
WebRoute form_sent_route(const FormPage *page);
