/* linked_log_in.c -- logging in by another site, joining by it, and which ones are linked.
 *
 * There and back: linked_log_in keeps what is meant (access/linked_login_journeys.h) and says where the browser goes; it comes back to
 * linked_return. Whoever is known there is logged in, through their second factor when they have one; whoever is not chooses a name, and
 * joins as everybody does, by an e-mail; an invitation travels with them. What the provider says of who they are is kept meanwhile in a
 * sealed cookie, for half an hour. A crash on the way costs the person another try. */
#include "operations/linked_log_in.h"

#include "access/linked_login_journeys.h"
#include "oidc/oidc_rules.h"
#include "operations/own_access.h"
#include "operations/register.h"
#include "operations/schema_macros.h"
#include "operations/tries.h"
#include "web/request.h"

enum { NEXT_MAX = LINKED_LOGIN_JOURNEY_NEXT_BYTES, FIELD_MAX = 1000, JOINING_TEXT = 3000 };
_Static_assert((int)COOKIE_JOURNEY_S == (int)LINKED_LOGIN_JOURNEY_S,
               "the cookie and what it opens end together");
static const char *const JOINING = "joining"; /* what its seal is for */

/* ---- There ------------------------------------------------------------------------------------------------------------- */

static Slice back_address(const Operations *ops, Slice provider, Arena *arena)
{
    return arena_print(arena, "%s/login/back/%.*s", ops->app->home, SLICE_ARG(provider));
}

/* What is meant, but for what is made here. Each time with a new secret in the cookie, so that of several tabs the last one counts. */
static Status leave_for(Operations *ops, const Actor *actor, LinkedLoginJourney journey,
                        Arena *arena, LinkedLeave *ret_leave, Reason *reason)
{
    Oidc *oidc = ops->app->oidc;
    size_t provider;
    OidcLeave leave = {.back = back_address(ops, journey.provider, arena)};
    if (!oidc_find(oidc, journey.provider, &provider))
        return STATUS_NOT_FOUND;
    TRY(throttle_origin(ops, actor, THROTTLE_LOGIN_ADDRESS, reason));
    leave.secrets = oidc_secrets(oidc, arena);
    Slice browser = linked_login_journey_browser(ops->app->accounts, arena);
    journey.nonce = leave.secrets.nonce;
    journey.verifier = leave.secrets.verifier;
    TRY(linked_login_journey_begin(ops->app->accounts, &journey, browser, arena, &leave.state));
    ret_leave->title = oidc_provider(oidc, provider).title;
    TRY(oidc_leave(oidc, provider, &leave, arena, &ret_leave->address, reason));
    cookies_add(&ret_leave->cookies, COOKIE_JOURNEY, browser, COOKIE_KEPT);
    ret_leave->done = true;
    return STATUS_OK;
}

typedef struct LinkedLogIn {
    Slice provider, next, invitation;
} LinkedLogIn;

static Status linked_log_in(Operations *ops, const Actor *actor, const LinkedLogIn *request,
                            Arena *arena, LinkedLeave *ret_leave, Reason *reason)
{
    LinkedLoginJourney journey = {.provider = request->provider,
                                  .next = log_in_next(request->next),
                                  .invitation = request->invitation};
    return leave_for(ops, actor, journey, arena, ret_leave, reason);
}

typedef struct LinkedConnect {
    Slice provider;
    OwnWays ways;
} LinkedConnect;

static Status linked_connect(Operations *ops, const Actor *actor, const LinkedConnect *request,
                             Arena *arena, LinkedLeave *ret_leave, Reason *reason)
{
    LinkedLoginJourney journey = {.provider = request->provider,
                                  .next = SLICE("/my/connections"),
                                  .account = actor->account->id,
                                  .invitation = SLICE_EMPTY};
    TRY(check_own_ways(ops, actor, &request->ways, arena, reason));
    return leave_for(ops, actor, journey, arena, ret_leave, reason);
}

/* clang-format off */
#define WAY .no_audits = "it is one's own", .no_command = "a browser is led there and back", .no_api = "a browser is led there and back"
#define PROVIDER_INPUT(type) INPUT("provider", type, provider, OPAQUE, .least = 1, .most = OIDC_KEY_MAX, .help = "The site to log in by, as the settings name it.")
OPERATION(linked_log_in, LinkedLogIn, LinkedLeave, .help = "Lead to another site to log in there.", WAY, .access = WEB_GUEST, .whose = WEB_ANYBODYS,
    .threads = WEB_OUTSIDE, .origin_rule = THROTTLE_LOGIN_ADDRESS, .answers = &SCHEMA_DONE, .cookies = offsetof(LinkedLeave, cookies), .page = {.path = "/login/with/{provider}"},
    .inputs = {
        PROVIDER_INPUT(LinkedLogIn),
        INPUT("next", LinkedLogIn, next, LINE, .fallback = "", .most = NEXT_MAX, .help = "Where to go afterwards."),
        INPUT("invitation", LinkedLogIn, invitation, OPAQUE, .optional = true, .most = LINKED_LOGIN_JOURNEY_INVITATION_BYTES,
              .help = "Of the link of an invitation, for who joins."),
    });
OPERATION(linked_connect, LinkedConnect, LinkedLeave, .help = "Lead to another site to link it.", WAY, .access = WEB_LOGIN,
    .threads = WEB_OUTSIDE, .answers = &SCHEMA_DONE, .cookies = offsetof(LinkedLeave, cookies),
    .page = {"/my/connections", "connected", "That site is linked. You can now log in with it."},
    .inputs = {PROVIDER_INPUT(LinkedConnect), OWN_PASSWORD_INPUT(LinkedConnect), OWN_CODE_INPUT(LinkedConnect)});
/* clang-format on */

/* ---- Who joins by another site --------------------------------------------------------------------------------------------- */

/* The texts of one, in the order of the cookie. */
enum { JOINING_TEXTS = 6 };
static void joining_texts(Joining *joining, Slice *ret_texts[JOINING_TEXTS])
{
    Slice *const texts[JOINING_TEXTS] = {&joining->who.provider, &joining->who.subject,
                                         &joining->who.label,    &joining->name,
                                         &joining->verified,     &joining->invitation};
    memcpy(ret_texts, texts, sizeof texts);
}

static void keep_joining(Operations *ops, Joining *joining, Arena *arena, Cookies *cookies)
{
    BUFFER_SCOPE Buffer plain = {0};
    Slice *texts[JOINING_TEXTS];
    buffer_i64(&plain, clock_now_us(ops->app->world.clock));
    joining_texts(joining, texts);
    for (int i = 0; i < JOINING_TEXTS; i++) {
        buffer_u16(&plain, (uint16_t)texts[i]->size);
        buffer_bytes(&plain, *texts[i]);
    }
    Slice sealed = vault_seal(ops->app->vault, JOINING, buffer_slice(&plain), arena);
    cookies_add(cookies, COOKIE_JOINING, base64url_write(sealed, arena), COOKIE_KEPT);
}

Status linked_joining(Operations *ops, const Actor *actor, Arena *arena, Joining *ret_joining,
                      Reason *reason)
{
    Slice text = actor_cookie(actor, COOKIE_JOINING), sealed, plain, *texts[JOINING_TEXTS];
    (void)reason_set(reason, STATUS_REFUSED, "", "begin again: log in at the other site first");
    if (text.size == 0 || text.size > JOINING_TEXT || !base64url_read(text, arena, &sealed) ||
        vault_unseal(ops->app->vault, JOINING, sealed, arena, &plain) != STATUS_OK)
        return STATUS_REFUSED;
    Reader reader = reader_of(plain);
    int64_t age_us = clock_now_us(ops->app->world.clock) - reader_i64(&reader);
    joining_texts(ret_joining, texts);
    for (int i = 0; i < JOINING_TEXTS; i++)
        *texts[i] = reader_bytes(&reader, reader_u16(&reader));
    bool is_fresh = age_us >= 0 && age_us <= COOKIE_JOINING_S * US_PER_S;
    return reader_done(&reader) && is_fresh ? STATUS_OK : STATUS_REFUSED;
}

typedef struct RegisterLinked {
    Slice name, email;
} RegisterLinked;

static Status register_linked(Operations *ops, const Actor *actor, const RegisterLinked *request,
                              Arena *arena, LoggedIn *ret_joined, Reason *reason)
{
    Joining joining;
    TRY(linked_joining(ops, actor, arena, &joining, reason));
    Joiner joiner = {.name = request->name,
                     .email = request->email,
                     .linked = &joining.who,
                     .verified = joining.verified,
                     .invitation = joining.invitation};
    TRY(join(ops, actor, &joiner, arena, reason));
    cookies_end(&ret_joined->cookies, COOKIE_JOINING);
    ret_joined->done = true;
    return STATUS_OK;
}

static size_t linked_faults(Operations *ops, const Actor *actor, const void *request, Arena *arena,
                            Reason *ret_reasons)
{
    const RegisterLinked *sent = request;
    NewLinkedLogin some = {0};
    Joiner joiner = {.name = sent->name, .email = sent->email, .linked = &some};
    (void)actor;
    return join_faults(ops, &joiner, arena, ret_reasons);
}

/* clang-format off */
OPERATION(register_linked, RegisterLinked, LoggedIn, .help = "Join by a log-in at another site; an e-mail with a link follows.", WAY,
    .access = WEB_GUEST, .least_ms = JOIN_FLOOR_MS, .faults = linked_faults, .answers = &SCHEMA_DONE, .cookies = offsetof(LoggedIn, cookies), .page = {.path = "/register/with"},
    .inputs = {
        INPUT("name", RegisterLinked, name, LINE, .least = 1, .most = FIELD_MAX, .help = "3 to 30 letters and digits; public."),
        INPUT("email", RegisterLinked, email, LINE, .least = 1, .most = FIELD_MAX, .help = EMAIL_SEEN_BY),
    });
/* clang-format on */

/* ---- And back ---------------------------------------------------------------------------------------------------------------- */

static Status come_in_or_join(Operations *ops, const Actor *actor,
                              const LinkedLoginJourney *journey, const OidcPerson *person,
                              Arena *arena, LoggedIn *ret_in, Reason *reason)
{
    Account account;
    Slice folded;
    Status status =
        linked_login_find(ops->app->accounts, journey->provider, person->subject, arena, &account);
    if (status == STATUS_NOT_FOUND) {
        bool can_be_name = account_check_new_name(person->name, arena, &folded, NULL) == STATUS_OK;
        Joining joining = {.who = {journey->provider, person->subject, person->email},
                           .name = can_be_name ? person->name : SLICE_EMPTY,
                           .verified = person->verified,
                           .invitation = journey->invitation};
        keep_joining(ops, &joining, arena, &ret_in->cookies);
        ret_in->next = SLICE("/register/with");
        return STATUS_OK;
    }
    TRY(status);
    if (account.state == ACCOUNT_PENDING)
        return reason_set(
            reason, STATUS_REFUSED, "",
            "you have joined by this log-in, and it waits for you to press the button "
            "behind the link in the e-mail that was sent to you");
    if (!account_may(&account, RIGHT_LOG_IN))
        return STATUS_DENIED;
    return log_in_continue(ops, actor, &account, false, journey->next, arena, ret_in);
}

/* Only for who began it: the session must still be of that account. */
static Status add_linked(Operations *ops, const Actor *actor, const LinkedLoginJourney *journey,
                         const OidcPerson *person, LoggedIn *ret_in, Reason *reason)
{
    NewLinkedLogin wanted = {journey->provider, person->subject,
                             person->email.size > 0 ? person->email : person->name};
    if (actor_id(actor) != journey->account)
        return reason_set(reason, STATUS_REFUSED, "",
                          "you are not logged in any more as who began this; log in and begin "
                          "again");
    TRY(linked_login_add(ops->app->accounts, journey->account, &wanted, reason));
    ret_in->next = SLICE("/my/connections?done=connected");
    return STATUS_OK;
}

/* The state is used up first, whatever the provider says. */
Status linked_return(Operations *ops, const Actor *actor, const LinkedReturn *request, Arena *arena,
                     LoggedIn *ret_in, Reason *reason)
{
    Oidc *oidc = ops->app->oidc;
    LinkedLoginJourney journey;
    OidcPerson person;
    size_t provider;
    if (!oidc_find(oidc, request->provider, &provider))
        return STATUS_NOT_FOUND;
    TRY(linked_login_journey_end(ops->app->accounts, request->state,
                                 actor_cookie(actor, COOKIE_JOURNEY), arena, &journey, reason));
    cookies_end(&ret_in->cookies, COOKIE_JOURNEY);
    if (!slice_equal(journey.provider, request->provider))
        return reason_set(reason, STATUS_REFUSED, "state", "this log-in was begun elsewhere");
    if (request->code.size == 0)
        return reason_set(reason, STATUS_REFUSED, "", "%.*s did not let you in; try again",
                          SLICE_ARG(oidc_provider(oidc, provider).title));
    OidcReturn back = {.code = request->code,
                       .secrets = {journey.nonce, journey.verifier},
                       .back = back_address(ops, request->provider, arena)};
    TRY(oidc_return(oidc, provider, &back, arena, &person, reason));
    return journey.account != 0
               ? add_linked(ops, actor, &journey, &person, ret_in, reason)
               : come_in_or_join(ops, actor, &journey, &person, arena, ret_in, reason);
}

/* ---- Mine ------------------------------------------------------------------------------------------------------------------------ */

/* clang-format off */
static const ApiMember CONNECTION[] = {
    FIELD("id", OwnLinked, connection.id, .help = "Names it; no secret."),
    FIELD("provider", OwnLinked, connection.provider, .help = "The other site, as the settings name it."),
    FIELD("title", OwnLinked, title, .help = "What people call it."),
    FIELD("subject", OwnLinked, connection.subject, .help = "Who you are there."),
    FIELD("label", OwnLinked, connection.label, OR_NULL, .help = "What that site calls you."),
    TIME("made", OwnLinked, connection.made_us, .help = "When it was connected."),
};
SCHEMA(CONNECTION, "Connection", OwnLinked, CONNECTION, .help = "A log-in at another site.");

static const ApiMember CONNECTIONS[] = {
    LIST("connections", LinkedList, connections, count, CONNECTION, .help = "In the order in which they were made."),
    FIELD("has_password", LinkedList, has_password, .help = "Without one, the last connection cannot be ended."),
};
SCHEMA(CONNECTIONS, "Connections", LinkedList, CONNECTIONS, .help = "All log-ins at other sites.");
/* clang-format on */

Slice provider_title(const Operations *ops, Slice key)
{
    size_t index;
    return oidc_find(ops->app->oidc, key, &index) ? oidc_provider(ops->app->oidc, index).title
                                                  : key;
}

Status own_linked(Operations *ops, const Account *account, Arena *arena, LinkedList *ret_list)
{
    LinkedLogin *found;
    TRY(linked_login_list(ops->app->accounts, account->id, arena, &found, &ret_list->count));
    ret_list->connections = ARENA_ARRAY(arena, ret_list->count, OwnLinked);
    for (size_t i = 0; i < ret_list->count; i++)
        ret_list->connections[i] = (OwnLinked){found[i], provider_title(ops, found[i].provider)};
    ret_list->has_password = account->password_hash.size > 0;
    return STATUS_OK;
}

static Status linked_list(Operations *ops, const Actor *actor, const Nothing *request, Arena *arena,
                          LinkedList *ret_list, Reason *reason)
{
    (void)request, (void)reason;
    return own_linked(ops, actor->account, arena, ret_list);
}

typedef struct LinkedEnd {
    Slice connection;
} LinkedEnd;

static Status linked_end(Operations *ops, const Actor *actor, const LinkedEnd *request,
                         Arena *arena, Done *ret_done, Reason *reason)
{
    Id id;
    (void)arena;
    TRY(own_id(request->connection, &id));
    TRY(linked_login_end(ops->app->accounts, actor->account->id, id, reason));
    ret_done->done = true;
    return STATUS_OK;
}

/* clang-format off */
#define OWN .access = WEB_LOGIN, .no_audits = "it is one's own"
OPERATION(linked_list, Nothing, LinkedList, .help = "List the other sites that you can log in by.", OWN, .asks = true, .shows = SHOWS(ACCESS),
    .answers = &SCHEMA_CONNECTIONS, .api = {WEB_GET, "me/connections", .tag = "me"}, .no_page = "/my/connections shows them", .command = {.words = "connection list"});
OPERATION(linked_end, LinkedEnd, Done, .help = "End one; never your last way in. Not by a token.", OWN, .by_session = true, .whose = WEB_OWN,
    .api = {WEB_DELETE, "me/connections/{connection}", .tag = "me"},
    .page = {"/my/connections/{connection}", "disconnected", "You can no longer log in with that site."}, .command = {.words = "connection end"},
    .inputs = {INPUT("connection", LinkedEnd, connection, OPAQUE, .operand = true, .least = ID_TEXT, .most = ID_TEXT, .help = "Its id.")});
/* clang-format on */
