/* electorate.c -- who may join: the rule, invitations one by one or by a list, the roll. A list is text in a form, as a spreadsheet saves it; what is
 * wrong with it is told line by line, and the rest goes in. */
#include "site/admin/admin.h"
#include "site/pages.h"

enum { POSITION_BYTES = 24 };

/* ---- The view ------------------------------------------------------------------------------------------------------------- */

static Slice joined(const Electorate *electorate, Arena *arena)
{
    BUFFER_SCOPE Buffer out = {0};
    for (size_t i = 0; i < electorate->domain_count; i++)
        buffer_print(&out, "%s%.*s", i > 0 ? "\n" : "", SLICE_ARG(electorate->domains[i]));
    return arena_copy(arena, buffer_slice(&out));
}

static Slice position_text(Slice position, Arena *arena)
{
    BUFFER_SCOPE Buffer out = {0};
    for (size_t i = 0; i < position.size; i++)
        buffer_print(&out, "%02x", (unsigned char)position.data[i]);
    return arena_copy(arena, buffer_slice(&out));
}

static Status position_of(Slice text, Arena *arena, Slice *ret_position)
{
    char *bytes = arena_bytes(arena, POSITION_BYTES);
    if (text.size == 0) {
        *ret_position = SLICE_EMPTY;
        return STATUS_OK;
    }
    for (size_t i = 0; i < text.size; i++) {
        static const char DIGITS[] = "0123456789abcdef";
        const char *digit = strchr(DIGITS, text.data[i]);
        if (text.size != (size_t)2 * POSITION_BYTES || digit == NULL)
            return STATUS_NOT_FOUND;
        int value = (int)(digit - DIGITS);
        bytes[i / 2] = (char)(i % 2 == 0 ? value << 4 : (unsigned char)bytes[i / 2] | value);
    }
    *ret_position = slice_of(bytes, POSITION_BYTES);
    return STATUS_OK;
}

Status electorate_view(Site *site, Slice position, Arena *arena, ElectorateView *ret_view)
{
    Accounts *accounts = site->app->accounts;
    ElectorateView view = {.now_us = clock_now_us(site->app->world.clock),
                           .reason = SLICE_EMPTY,
                           .email = SLICE_EMPTY,
                           .lines = SLICE_EMPTY,
                           .next_address = SLICE_EMPTY,
                           .what = "",
                           .arena = arena,
                           .can_mail = mail_can_send(site->app->mail)};
    Slice from;
    TRY(position_of(position, arena, &from));
    TRY(electorate_read(accounts, arena, &view.electorate));
    view.mode = view.electorate.mode;
    view.domains = joined(&view.electorate, arena);
    TRY(roll_count(accounts, ROLL_COUNTED, &view.roll));
    view.roll_is_more = view.roll == ROLL_COUNTED;
    TRY(invitations_list(accounts, from, arena, &view.invitations));
    Slice next = position_text(view.invitations.position, arena);
    if (view.invitations.more)
        view.next_address = arena_print(arena, "/admin/electorate?position=%.*s", SLICE_ARG(next));
    *ret_view = view;
    return STATUS_OK;
}

static Status answer(WebRequest *request, ElectorateView *view, int code)
{
    Frame frame = {.title = SLICE("Who may join"), .here = "/admin"};
    view->viewer = site_viewer(request);
    web_code(request, code);
    Buffer *out = page_begin(request, &frame);
    admin_electorate_page(out, view);
    page_end(request, out);
    return STATUS_OK;
}

static Status show(WebRequest *request)
{
    ElectorateView view;
    TRY(electorate_view(site_of(request), web_text(request, 0), web_arena(request), &view));
    return answer(request, &view, 200);
}

/* A form that was refused: the page again, with the fault at the form `what`. The reason is kept apart, since making the view may overwrite it. */
static Status begin_refusal(WebRequest *request, const char *what, ElectorateView *view)
{
    Reason *reason = ARENA_NEW(web_arena(request), Reason);
    *reason = *web_reason(request);
    TRY(electorate_view(site_of(request), SLICE_EMPTY, web_arena(request), view));
    view->fault = form_fault(reason);
    view->what = what;
    return STATUS_OK;
}

/* ---- The rule --------------------------------------------------------------------------------------------------------------- */

Status admin_set_electorate(WebRequest *request, ElectorateMode mode, Slice domains, uint64_t seen,
                            Slice reason)
{
    ElectorateChange change = {.mode = mode, .seen_version = seen};
    Slice *list;
    Id act;
    TRY(electorate_domains(domains, web_arena(request), &list, &change.domain_count,
                           web_reason(request)));
    change.domains = list;
    Slice details = arena_print(web_arena(request), "%s, %zu domains", electorate_mode_text(mode),
                                change.domain_count);
    TRY(site_act(request, &(Act){.kind = ACT_ELECTORATE_SET, .reason = reason, .details = details},
                 &act));
    Status status = electorate_set(site_of(request)->app->accounts, &change, web_reason(request));
    site_act_end(request, act, status);
    return status;
}

/* Rows: 0 mode, 1 domains, 2 version, 3 reason. */
static Status take_rule(WebRequest *request)
{
    ElectorateMode mode = (ElectorateMode)web_word(request, 0);
    Status status =
        admin_set_electorate(request, mode, web_text(request, 1), (uint64_t)web_number(request, 2),
                             slice_trim(web_text(request, 3)));
    if (form_can_be_corrected(status)) {
        ElectorateView view;
        TRY(begin_refusal(request, "rule", &view));
        view.mode = mode;
        view.domains = web_text(request, 1);
        view.reason = web_text(request, 3);
        return answer(request, &view, 422);
    }
    TRY(status);
    site_done(request, SLICE("/admin/electorate"), "electorate", 0);
    return STATUS_OK;
}

/* ---- Invitations -------------------------------------------------------------------------------------------------------------- */

static InviteHow how_to_invite(WebRequest *request)
{
    return (InviteHow){.site = slice_from(site_of(request)->options.config->site_name),
                       .home = web_public_url(request),
                       .by = site_viewer(request)->account.id,
                       .most = INVITES_AT_ONCE};
}

Status admin_invite(WebRequest *request, Slice email, Slice reason, Invited *ret_invited)
{
    Id act;
    InviteHow how = how_to_invite(request);
    TRY(site_act(request,
                 &(Act){.kind = ACT_INVITE, .reason = reason, .details = SLICE("one person")},
                 &act));
    Status status = app_invite(site_of(request)->app, &how, email, web_arena(request), ret_invited,
                               web_reason(request));
    site_act_end(request, act, status);
    return status;
}

/* Rows: 0 address, 1 reason. The page itself, not a redirect, since it may have to show the link. */
static Status take_invite(WebRequest *request)
{
    ElectorateView view;
    Invited invited;
    Status status =
        admin_invite(request, web_text(request, 0), slice_trim(web_text(request, 1)), &invited);
    if (form_can_be_corrected(status)) {
        TRY(begin_refusal(request, "invite", &view));
        view.email = web_text(request, 0);
        return answer(request, &view, 422);
    }
    TRY(status);
    TRY(electorate_view(site_of(request), SLICE_EMPTY, web_arena(request), &view));
    view.invited = &invited;
    return answer(request, &view, 200);
}

Status admin_invite_all(WebRequest *request, Slice lines, Slice reason, ListReport *report)
{
    Id act;
    InviteHow how = how_to_invite(request);
    PeopleText text = {lines};
    PEOPLE_LIST_SCOPE PeopleList list = {.source = people_from_text(&text), .bytes = SLICE_EMPTY};
    TRY(site_act(request, &(Act){.kind = ACT_INVITE, .reason = reason, .details = SLICE("a list")},
                 &act));
    Status status = app_invite_all(site_of(request)->app, &how, &list, web_arena(request), report,
                                   web_reason(request));
    site_act_end(request, act, status);
    return status;
}

/* A list that went in, with what was left out; or the page with what was typed. */
static Status answer_list(WebRequest *request, Status status, const char *what,
                          const ListReport *report)
{
    ElectorateView view;
    if (form_can_be_corrected(status)) {
        TRY(begin_refusal(request, what, &view));
        view.lines = web_text(request, 0);
        return answer(request, &view, 422);
    }
    TRY(status);
    TRY(electorate_view(site_of(request), SLICE_EMPTY, web_arena(request), &view));
    view.what = what;
    view.report = report;
    return answer(request, &view, 200);
}

/* What was typed, or the file, which stands in row `file`. */
static Status lines_of(WebRequest *request, size_t file, Slice *ret_lines)
{
    Slice typed = web_text(request, 0), chosen = web_text(request, file);
    bool has_typed = slice_trim(typed).size > 0, has_chosen = slice_trim(chosen).size > 0;
    if (!has_typed && !has_chosen)
        return reason_set(web_reason(request), STATUS_INVALID, "lines", "there is no line in it");
    if (has_typed && has_chosen)
        return reason_set(web_reason(request), STATUS_INVALID, "lines",
                          "type lines or choose a file, not both");
    *ret_lines = has_typed ? typed : chosen;
    return STATUS_OK;
}

static Status take_invites(WebRequest *request)
{
    ListReport *report = ARENA_NEW(web_arena(request), ListReport);
    Slice lines;
    Status status = lines_of(request, 2, &lines);
    if (status == STATUS_OK)
        status = admin_invite_all(request, lines, slice_trim(web_text(request, 1)), report);
    return answer_list(request, status, "invites", report);
}

Status admin_withdraw(WebRequest *request, Slice email, Slice reason)
{
    Id act;
    TRY(site_act(request, &(Act){.kind = ACT_INVITE_WITHDRAW, .reason = reason}, &act));
    Status status =
        invitations_withdraw(site_of(request)->app->accounts, email, web_reason(request));
    site_act_end(request, act, status);
    return status;
}

static Status take_withdrawal(WebRequest *request)
{
    Status status = admin_withdraw(request, web_text(request, 0), SLICE_EMPTY);
    if (form_can_be_corrected(status)) {
        ElectorateView view;
        TRY(begin_refusal(request, "invite", &view));
        return answer(request, &view, 422);
    }
    TRY(status);
    site_done(request, SLICE("/admin/electorate"), "withdrawn", 0);
    return STATUS_OK;
}

/* ---- The roll ------------------------------------------------------------------------------------------------------------------ */

Status admin_roll(WebRequest *request, RollAct what, Slice lines, Slice reason, ListReport *report)
{
    Id act;
    PeopleText text = {lines};
    PEOPLE_LIST_SCOPE PeopleList list = {.source = people_from_text(&text), .bytes = SLICE_EMPTY};
    Slice details = what == ROLL_ADD ? SLICE("people were added") : SLICE("people were removed");
    TRY(site_act(request, &(Act){.kind = ACT_ROLL_CHANGE, .reason = reason, .details = details},
                 &act));
    Status status = roll_change(site_of(request)->app->accounts, what, &list, web_arena(request),
                                report, web_reason(request));
    site_act_end(request, act, status);
    return status;
}

/* Rows: 0 lines, 1 reason, 2 act, 3 file. */
static Status take_roll(WebRequest *request)
{
    ListReport *report = ARENA_NEW(web_arena(request), ListReport);
    RollAct act = slice_equal(web_text(request, 2), SLICE("remove")) ? ROLL_REMOVE : ROLL_ADD;
    Slice lines;
    Status status = lines_of(request, 3, &lines);
    if (status == STATUS_OK)
        status = admin_roll(request, act, lines, slice_trim(web_text(request, 1)), report);
    return answer_list(request, status, "roll", report);
}

/* clang-format off */
static const char *const MODES[] = {
#define X(name, word, sentence) word,
    ELECTORATE_MODE_LIST(X)
#undef X
    NULL};
#define LINES_ROW {"lines", WEB_FORM, WEB_TEXT, .fallback = "", .most = ROLL_BODY, .help = "Lines as a spreadsheet saves them: e-mail, name."}
#define FILE_ROW {"file", WEB_FORM, WEB_TEXT, .fallback = "", .most = ROLL_BODY, .help = "A file of such lines instead, as multipart/form-data."}
#define EMAIL_ROW {"email", WEB_FORM, WEB_LINE, .fallback = "", .most = 1000, .help = "An e-mail address."}

static const WebRoute ROUTES[] = {
    {WEB_GET, "/admin/electorate", show, ADMIN_ROW(ADMIN_ROLES), .threads = WEB_SAVE,
     .help = "Who may join, invitations, the roll.",
     .params = {{"position", WEB_QUERY, WEB_OPAQUE, .fallback = "", .most = 64, .help = "Where the list of invitations goes on."}}},
    {WEB_POST, "/admin/electorate", take_rule, ADMIN_ROW(ADMIN_ROLES), .body_bytes = WEB_BODY_DEFAULT,
     .help = "Says who may join from now on.",
     .params = {{"mode", WEB_FORM, WEB_WORD, .words = MODES, .help = "The rule."},
                {"domains", WEB_FORM, WEB_TEXT, .fallback = "", .most = 200000, .help = "Domains, for the rule of that name."},
                {"version", WEB_FORM, WEB_NUMBER, .fallback = "0", .most = INT64_MAX, .help = "That the form saw."},
                REASON_ROW(WEB_FORM)}},
    {WEB_POST, "/admin/electorate/invite", take_invite, ADMIN_ROW(ADMIN_ROLES), .body_bytes = WEB_BODY_DEFAULT,
     .help = "Invites somebody.", .params = {EMAIL_ROW, REASON_ROW(WEB_FORM)}},
    {WEB_POST, "/admin/electorate/invites", take_invites, ADMIN_ROW(ADMIN_ROLES), .body_bytes = ROLL_BODY, .files = true,
     .seconds = LIST_SECONDS, .help = "Invites everybody on a list.", .params = {LINES_ROW, REASON_ROW(WEB_FORM), FILE_ROW}},
    {WEB_POST, "/admin/electorate/withdraw", take_withdrawal, ADMIN_ROW(ADMIN_ROLES), .body_bytes = WEB_BODY_DEFAULT,
     .help = "Ends an invitation.", .params = {EMAIL_ROW}},
    {WEB_POST, "/admin/electorate/roll", take_roll, ADMIN_ROW(ADMIN_ROLES), .body_bytes = ROLL_BODY, .files = true, .seconds = LIST_SECONDS,
     .help = "Puts everybody of a list on the roll, or takes them off.",
     .params = {LINES_ROW, REASON_ROW(WEB_FORM), {"act", WEB_FORM, WEB_LINE, .fallback = "", .most = 20, .help = "remove takes them off."}, FILE_ROW}},
};
/* clang-format on */
const Room ROOM_ADMIN_ELECTORATE = ROOM(ROUTES);
