/* electorate.c -- who may join: the rule, invitations one by one, and questions about the roll.
 *
 * Each change is in the audit log before it is done. The rule is one conditional update. An invitation is made first, then its e-mail is
 * queued; after a crash between them the same request again finds the invitation and queues the e-mail, once (app/invite.h). */
#include "operations/electorate.h"

#include "operations/positions.h"
#include "operations/schema_macros.h"

/* clang-format off */

static const ApiMember ELECTORATE[] = {
    WORD("mode", ElectorateView, mode, ELECTORATE_MODE_WORDS, .help = "The rule."),
    FIELD("version", ElectorateView, version, .help = "For a change."),
    MANY("domains", API_TEXTS, ElectorateView, domains, domain_count, NULL, .help = "For the rule of that name."),
    FIELD("roll", ElectorateView, roll, .help = "People on the roll."),
    FIELD("roll_is_more", ElectorateView, roll_is_more, .help = "Whether it was not counted to its end."),
};
SCHEMA(ADMIN_ELECTORATE, "AdminElectorate", ElectorateView, ELECTORATE, .help = "Who may join.");

static const ApiMember INVITATION[] = {
    FIELD("email", Invitation, email, .help = "Whom."),
    WORD("state", Invitation, state, INVITATION_STATE_WORDS, .help = "Whether it can be used."),
    TIME("made", Invitation, made_us, .help = "When."),
    TIME("ends", Invitation, ends_us, .help = "Until when it works."),
    FIELD("by", Invitation, by, OR_NULL, .help = "Who invited; null: an operator."),
    FIELD("account", Invitation, account, OR_NULL, .help = "Who registered with it."),
};
SCHEMA(ADMIN_INVITATION, "AdminInvitation", Invitation, INVITATION, .help = "An invitation.");

static const ApiMember INVITATIONS[] = {
    LIST("invitations", InvitationsView, invitations, count, ADMIN_INVITATION, .help = "The newest first."),
    NEXT(InvitationsView),
};
SCHEMA(ADMIN_INVITATIONS, "AdminInvitations", InvitationsView, INVITATIONS, .help = "A page of invitations.");

static const ApiMember INVITED[] = {
    FIELD("link", Invited, link, .help = "Where the invited one goes."),
    FIELD("new", Invited, is_new, .help = "Whether there was none that is open."),
    FIELD("sent", Invited, is_sent, .help = "Whether an e-mail is queued; else the link is to be handed over."),
};
SCHEMA(ADMIN_INVITED, "AdminInvited", Invited, INVITED, .help = "What came of an invitation.");

static const ApiMember ROLL_ENTRY[] = {
    FIELD("listed", RollEntry, listed, .help = "Whether the address is on the roll."),
    FIELD("has_name", RollEntry, has_name, .help = "Whether its line has a name."),
    FIELD("name_fits", RollEntry, name_fits, .help = "Whether that is the name that was asked about."),
};
SCHEMA(ADMIN_ROLL_ENTRY, "AdminRollEntry", RollEntry, ROLL_ENTRY, .help = "What the roll says of an address.");
/* clang-format on */

/* ---- The rule ----------------------------------------------------------------------------------------------------------------- */

Status electorate_view(Operations *ops, Arena *arena, ElectorateView *ret_view)
{
    Electorate electorate;
    TRY(electorate_read(ops->app->accounts, arena, &electorate));
    ret_view->mode = electorate.mode;
    ret_view->version = electorate.version;
    ret_view->domain_count = electorate.domain_count;
    for (size_t i = 0; i < electorate.domain_count; i++)
        ret_view->domains[i] = electorate.domains[i];
    TRY(roll_count(ops->app->accounts, ROLL_COUNTED, &ret_view->roll));
    ret_view->roll_is_more = ret_view->roll == ROLL_COUNTED;
    return STATUS_OK;
}

static Status electorate_show(Operations *ops, const Actor *actor, const Nothing *request,
                              Arena *arena, ElectorateView *ret_view, Reason *reason)
{
    (void)actor, (void)request, (void)reason;
    return electorate_view(ops, arena, ret_view);
}

OPERATION(electorate_show, Nothing, ElectorateView, .help = "Say who may join.", FOR_ADMINS,
          .asks = true, .answers = &SCHEMA_ADMIN_ELECTORATE,
          .api = {WEB_GET, "admin/electorate", .tag = "admin"},
          .no_page = "/admin/electorate shows it", .command = {.words = "electorate show"});

typedef struct ElectorateSet {
    ElectorateMode mode;
    InputTexts domains;
    bool has_domains, has_version;
    int64_t version;
    Slice reason;
} ElectorateSet;

static Status domains_from(const InputTexts *texts, Arena *arena, ElectorateChange *change,
                           Reason *reason)
{
    BUFFER_SCOPE Buffer text = {0};
    Slice *domains;
    for (size_t i = 0; i < texts->count; i++)
        buffer_print(&text, "%.*s\n", SLICE_ARG(texts->texts[i]));
    TRY(electorate_domains(arena_copy(arena, buffer_slice(&text)), arena, &domains,
                           &change->domain_count, reason));
    change->domains = domains;
    return STATUS_OK;
}

/* What is left out stays as it is. */
static Status electorate_change(Operations *ops, const ElectorateSet *request, Arena *arena,
                                ElectorateChange *ret_change, Reason *reason)
{
    Electorate before;
    TRY(electorate_read(ops->app->accounts, arena, &before));
    *ret_change =
        (ElectorateChange){request->mode, before.domains, before.domain_count,
                           request->has_version ? (uint64_t)request->version : before.version};
    return request->has_domains ? domains_from(&request->domains, arena, ret_change, reason)
                                : STATUS_OK;
}

static Status electorate_rule(Operations *ops, const Actor *actor, const ElectorateSet *request,
                              Arena *arena, Done *ret_done, Reason *reason)
{
    ElectorateChange change;
    Id id;
    TRY(electorate_change(ops, request, arena, &change, reason));
    AuditAct act = {.kind = AUDIT_ELECTORATE_SET,
                    .reason = request->reason,
                    .details = arena_print(arena, "%s, %zu domains",
                                           electorate_mode_text(change.mode), change.domain_count)};
    TRY(operation_audit(ops, actor, &act, &id, reason));
    ret_done->done = true;
    return operation_audit_end(ops, id, electorate_set(ops->app->accounts, &change, reason));
}

/* clang-format off */
OPERATION(electorate_rule, ElectorateSet, Done, .help = "Say who may join from now on: open, invitation, domain or roll. Touches nobody who is here.",
    FOR_ADMINS, .audits = AUDITS(ELECTORATE_SET), .api = {WEB_PUT, "admin/electorate", .tag = "admin"}, .command = {.words = "electorate set", .done = "the rule is set"},
    .page = {"/admin/electorate", "electorate", "The rule is set. It changes nothing for anybody who is here."},
    .inputs = {
        INPUT("mode", ElectorateSet, mode, WORD, .words = ELECTORATE_MODE_WORDS, .operand = true, .value = "MODE", .help = "The rule."),
        INPUT("domains", ElectorateSet, domains, TEXTS, .optional = true, .most = 1500, .most_count = ELECTORATE_DOMAINS_MAX, .lines = true,
              GIVEN(ElectorateSet, has_domains), .value = "LIST",
              .help = "Domains of e-mail addresses, for the rule of that name; *.example.org: all below it. Left out: as they are."),
        INPUT("version", ElectorateSet, version, NUMBER, .optional = true, .most = INT64_MAX, .no_command = true, GIVEN(ElectorateSet, has_version),
              .help = "That was seen; left out: whatever it is."),
        REASON_INPUT(ElectorateSet),
    });
/* clang-format on */

/* ---- Invitations -------------------------------------------------------------------------------------------------------------- */

Status invitations_view(Operations *ops, const InvitationsQuery *want, Arena *arena,
                        InvitationsView *ret_view)
{
    enum { POSITION_BYTES = 24 };
    InvitationsView view = {.next = SLICE_EMPTY, .next_page = SLICE_EMPTY};
    InvitationPage page;
    size_t room = 0;
    TRY(position_from(want->position, arena, &page.position));
    if (page.position.size != 0 && page.position.size != POSITION_BYTES)
        return STATUS_NOT_FOUND;
    do {
        TRY(invitations_list(ops->app->accounts, page.position, arena, &page));
        if (view.count + page.count > room) {
            room = 2 * room + page.count;
            Invitation *more = ARENA_ARRAY(arena, room, Invitation);
            for (size_t i = 0; i < view.count; i++)
                more[i] = view.invitations[i];
            view.invitations = more;
        }
        for (size_t i = 0; i < page.count; i++)
            view.invitations[view.count++] = page.invitations[i];
    } while (page.more && want->all);
    if (page.more) {
        Slice next = position_text(page.position, arena);
        view.next = arena_print(arena, "/api/v1/admin/invitations?position=%.*s", SLICE_ARG(next));
        view.next_page = arena_print(arena, "/admin/electorate?position=%.*s", SLICE_ARG(next));
    }
    *ret_view = view;
    return STATUS_OK;
}

static Status invite_list(Operations *ops, const Actor *actor, const InvitationsQuery *request,
                          Arena *arena, InvitationsView *ret_view, Reason *reason)
{
    (void)actor, (void)reason;
    return invitations_view(ops, request, arena, ret_view);
}

/* clang-format off */
OPERATION(invite_list, InvitationsQuery, InvitationsView, .help = "List invitations, newest first.", FOR_ADMINS, .asks = true,
    .answers = &SCHEMA_ADMIN_INVITATIONS, .api = {WEB_GET, "admin/invitations", .tag = "admin"}, .no_page = "/admin/electorate lists them",
    .command = {.words = "invite list"},
    .inputs = {
        INPUT("position", InvitationsQuery, position, OPAQUE, .fallback = "", .most = 64, .no_command = true, .help = "Where to go on."),
        INPUT("all", InvitationsQuery, all, SWITCH, .fallback = "on", .no_api = true, .help = "Every one at once, not a page."),
    });
/* clang-format on */

InviteHow how_to_invite(const Operations *ops, const Actor *actor, int64_t days)
{
    return (InviteHow){.site = slice_from(ops->config->site_name),
                       .home = slice_from(ops->app->home),
                       .days = days,
                       .by = actor_id(actor)};
}

typedef struct Invite {
    Slice email, reason;
    int64_t days;
} Invite;

static Status invite(Operations *ops, const Actor *actor, const Invite *request, Arena *arena,
                     Invited *ret_invited, Reason *reason)
{
    Id id;
    InviteHow how = how_to_invite(ops, actor, request->days);
    AuditAct act = {
        .kind = AUDIT_INVITE, .reason = request->reason, .details = SLICE("one person")};
    TRY(operation_audit(ops, actor, &act, &id, reason));
    return operation_audit_end(
        ops, id, app_invite(ops->app, &how, request->email, arena, ret_invited, reason));
}

static void print_invited(const void *answer, Arena *arena, Buffer *out)
{
    const Invited *invited = answer;
    (void)arena;
    buffer_print(out, "%s%s\n  %.*s\n", invited->is_new ? "invited" : "was invited before",
                 invited->is_sent ? "; the e-mail is queued"
                                  : "; this site sends no e-mail, so hand this link over",
                 SLICE_ARG(invited->link));
}

static Status invite_withdraw(Operations *ops, const Actor *actor, const Invite *request,
                              Arena *arena, Done *ret_done, Reason *reason)
{
    Id id;
    AuditAct act = {
        .kind = AUDIT_INVITE_WITHDRAW, .reason = request->reason, .details = SLICE_EMPTY};
    (void)arena;
    TRY(operation_audit(ops, actor, &act, &id, reason));
    ret_done->done = true;
    return operation_audit_end(ops, id,
                               invitations_withdraw(ops->app->accounts, request->email, reason));
}

/* clang-format off */
#define EMAIL_INPUT(type) INPUT("email", type, email, LINE, .operand = true, .least = 1, .most = 1000, .value = "ADDRESS", .help = "An e-mail address.")

OPERATION(invite, Invite, Invited, .help = "Invite somebody, and show the link that the e-mail has.", FOR_ADMINS, .audits = AUDITS(INVITE),
    .answers = &SCHEMA_ADMIN_INVITED, .api = {WEB_POST, "admin/invitations", .tag = "admin", .code = 201}, .page = {.path = "/admin/electorate/invite"},
    .command = {"invite", .print = print_invited},
    .inputs = {
        EMAIL_INPUT(Invite),
        INPUT("days", Invite, days, NUMBER, .fallback = "30", .no_page = true, .least = 1, .most = INVITATION_DAYS_MAX, .help = "How many days the invitation works."),
        REASON_NOT_ON_PAGE(Invite),
    });

OPERATION(invite_withdraw, Invite, Done, .help = "End somebody's invitation.", FOR_ADMINS, .audits = AUDITS(INVITE_WITHDRAW),
    .api = {WEB_POST, "admin/invitations/withdraw", .tag = "admin"}, .page = {"/admin/electorate/withdraw", "withdrawn", "That invitation does not work any more."},
    .command = {.words = "invite withdraw", .done = "the invitation does not work any more"}, .inputs = {EMAIL_INPUT(Invite), REASON_NOT_ON_PAGE(Invite)});
/* clang-format on */

/* ---- Questions about the roll ----------------------------------------------------------------------------------------------------- */

typedef struct RollSize {
    uint64_t count;
} RollSize;

static Status roll_size(Operations *ops, const Actor *actor, const Nothing *request, Arena *arena,
                        RollSize *ret_size, Reason *reason)
{
    (void)actor, (void)request, (void)arena, (void)reason;
    return roll_count(ops->app->accounts, UINT64_MAX, &ret_size->count);
}

typedef struct RollQuery {
    Slice email, name;
} RollQuery;

static Status roll_check(Operations *ops, const Actor *actor, const RollQuery *request,
                         Arena *arena, RollEntry *ret_entry, Reason *reason)
{
    (void)actor;
    return roll_find(ops->app->accounts, request->email, request->name, arena, ret_entry, reason);
}

/* clang-format off */
static const ApiMember ROLL_SIZE[] = {FIELD("count", RollSize, count, .help = "People on the roll.")};
SCHEMA(ADMIN_ROLL_SIZE, "AdminRollSize", RollSize, ROLL_SIZE, .help = "How long the roll is.");

OPERATION(roll_size, Nothing, RollSize, .help = "Count those on the roll.", FOR_ADMINS, .asks = true, .answers = &SCHEMA_ADMIN_ROLL_SIZE,
    .no_api = "admin/electorate says it, up to a bound", .no_page = "/admin/electorate says it, up to a bound", .command = {.words = "roll count"});

#define ASKING "left to who has the machine: nobody shall learn from the site who is on the roll"
OPERATION(roll_check, RollQuery, RollEntry, .help = "Say whether an address is on the roll.", FOR_ADMINS, .asks = true, .answers = &SCHEMA_ADMIN_ROLL_ENTRY,
    .no_api = ASKING, .no_page = ASKING, .command = {.words = "roll check"},
    .inputs = {
        EMAIL_INPUT(RollQuery),
        INPUT("name", RollQuery, name, LINE, .fallback = "", .most = 1000, .help = "And whether its line has this name."),
    });
/* clang-format on */
