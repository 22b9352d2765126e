/* tries.c -- how tries with a password are counted, so that guessing is slow and nobody can lock somebody else out.
 *
 * Whoever tries is counted
 *   1. by network address, for whatever name, and by the networks around it;
 *   2. on a device that this name has logged in on before, by that device, and by nothing else of the name's;
 *   3. elsewhere by name and address together, and by name alone with a bound that is wide but holds against many addresses at once.
 * So a stranger uses up what strangers have: the owner still comes in where they were before, and from elsewhere by the e-mail for a
 * forgotten password, whose link makes the device a known one. A name that nobody has is counted in the same way.
 *
 * A known device has the cookie `device`: a random number, and of that number with the folded name and with the folded e-mail a hash that
 * needs the site's key. It says nothing about who it is, needs no look-up, and lets nobody in: it only decides which count is used. It is of
 * the last account that logged in there. */
#include "operations/tries.h"

#include <sodium.h>

#include "access/credentials.h"
#include "access/second_factor.h"
#include "net/address.h"

enum { DEVICE_TEXT = 3 * ID_TEXT };

/* However it is written, it is one name. */
static Slice name_key(Slice name_or_email, Arena *arena)
{
    Slice result = name_or_email;
    bool is_email = slice_find(name_or_email, '@') < name_or_email.size;
    (void)!(is_email
                ? account_fold_email(name_or_email, arena, &result, NULL)
                : account_fold_name(name_or_email, arena, &result, NULL)); /* neither: as it is */
    return result;
}

/* ---- Known devices ------------------------------------------------------------------------------------------------------- */

static Slice mark_of(Operations *ops, Slice number, Slice name, Arena *arena)
{
    Id mark;
    Slice key = name_key(name, arena);
    Slice of = arena_print(arena, "%.*s %.*s", SLICE_ARG(number), SLICE_ARG(key));
    Slice hash = vault_hash(ops->app->vault, "device", of, arena);
    CHECK(id_from_bytes(slice_of(hash.data, ID_BYTES), &mark) == STATUS_OK);
    return id_text(mark, arena);
}

/* The number of this device, when the name has logged in on it; else empty. */
static Slice device_of(Operations *ops, const Actor *actor, Slice name, Arena *arena)
{
    Slice cookie = actor_cookie(actor, COOKIE_DEVICE);
    if (cookie.size != DEVICE_TEXT)
        return SLICE_EMPTY;
    Slice number = slice_of(cookie.data, ID_TEXT), mark = mark_of(ops, number, name, arena);
    bool is_name = sodium_memcmp(cookie.data + ID_TEXT, mark.data, ID_TEXT) == 0;
    bool is_email = sodium_memcmp(cookie.data + 2 * (size_t)ID_TEXT, mark.data, ID_TEXT) == 0;
    return is_name || is_email ? number : SLICE_EMPTY;
}

void know_device(Operations *ops, const Actor *actor, const Account *account, Arena *arena,
                 Cookies *cookies)
{
    Id fresh;
    if (device_of(ops, actor, account->name, arena).size > 0 &&
        device_of(ops, actor, account->email, arena).size > 0)
        return;
    random_fill(ops->app->world.random, fresh.bytes, sizeof fresh.bytes);
    Slice number = id_text(fresh, arena), name = mark_of(ops, number, account->name, arena),
          email = mark_of(ops, number, account->email, arena);
    cookies_add(
        cookies, COOKIE_DEVICE,
        arena_print(arena, "%.*s%.*s%.*s", SLICE_ARG(number), SLICE_ARG(name), SLICE_ARG(email)),
        COOKIE_KEPT);
}

/* ---- Counting ------------------------------------------------------------------------------------------------------------ */

/* The networks that the actor is in; none for this machine itself. */
static size_t networks_of(const Actor *actor, AddressNetwork ret_networks[ADDRESS_NETWORKS])
{
    Address address;
    if (address_parse(actor->origin, &address) != STATUS_OK || address_is_loopback(address))
        return 0;
    return address_networks(address, ret_networks);
}

static Slice network_key(const AddressNetwork *network, Arena *arena)
{
    char text[ADDRESS_TEXT];
    address_format(network->address, text);
    return arena_print(arena, "%s/%u", text, network->bits);
}

/* The counts of an address and of a name from everywhere are others' tries, too: a success takes back no more than its own. */
Status tries_end(Operations *ops, const Tries *tries, Status status, Status wrong)
{
    for (size_t i = 0; status != wrong && i < tries->count; i++) {
        const Try *one = &tries->taken[i];
        bool is_shared = one->rule == THROTTLE_LOGIN_ADDRESS || one->rule == THROTTLE_LOGIN_NAME;
        if (status == STATUS_OK && !is_shared)
            throttle_forget(ops->throttle, one->rule, one->key);
        else
            throttle_return_times(ops->throttle, one->rule, one->times, one->key);
    }
    return status;
}

/* What is refused counts nowhere. */
static Status take_times(Operations *ops, ThrottleRule rule, unsigned times, Slice key,
                         Tries *tries, Reason *reason)
{
    Status status = throttle_take_times(ops->throttle, rule, times, key, reason);
    if (status != STATUS_OK)
        return tries_end(ops, tries, status, STATUS_OK);
    CHECK(tries->count < TRIES_MAX);
    tries->taken[tries->count++] = (Try){rule, times, key};
    return STATUS_OK;
}

static Status take(Operations *ops, ThrottleRule rule, Slice key, Tries *tries, Reason *reason)
{
    return take_times(ops, rule, 1, key, tries, reason);
}

/* Somebody who has a /48 has 65,536 times a /64: so each of its networks is counted, too, and may do more. */
static Status take_networks(Operations *ops, const Actor *actor, ThrottleRule rule, Arena *arena,
                            Tries *tries, Reason *reason)
{
    AddressNetwork networks[ADDRESS_NETWORKS];
    size_t count = networks_of(actor, networks);
    for (size_t i = 0; i < count; i++)
        TRY(take_times(ops, rule, networks[i].times, network_key(&networks[i], arena), tries,
                       reason));
    return STATUS_OK;
}

Status throttle_origin(Operations *ops, const Actor *actor, ThrottleRule rule, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Tries tries = {.count = 0};
    return take_networks(ops, actor, rule, arena, &tries, reason);
}

Status throttle_origin_look(Operations *ops, const Actor *actor, ThrottleRule rule, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    AddressNetwork networks[ADDRESS_NETWORKS];
    size_t count = networks_of(actor, networks);
    for (size_t i = 0; i < count; i++)
        TRY(throttle_look(ops->throttle, rule, networks[i].times, network_key(&networks[i], arena),
                          reason));
    return STATUS_OK;
}

Status throttle_mailbox(Operations *ops, Slice email, Arena *arena, Reason *reason)
{
    return throttle_take(ops->throttle, THROTTLE_MAIL_TO, name_key(email, arena), reason);
}

/* The network address, with a name or without. */
static Slice address_key(const Actor *actor, Slice name, Arena *arena)
{
    char text[ADDRESS_TEXT] = "";
    Address address;
    if (address_parse(actor->origin, &address) == STATUS_OK)
        address_format(address_group(address), text);
    return arena_print(arena, "%s %.*s", text, SLICE_ARG(name));
}

/* Somebody wants to log in by this name or e-mail. */
static Status tries_begin(Operations *ops, const Actor *actor, Slice name, Arena *arena,
                          Tries *tries, Reason *reason)
{
    Slice key = name_key(name, arena), device = device_of(ops, actor, name, arena);
    TRY(take_networks(ops, actor, THROTTLE_LOGIN_ADDRESS, arena, tries, reason));
    if (device.size > 0)
        return take(ops, THROTTLE_LOGIN_DEVICE, device, tries, reason);
    TRY(take(ops, THROTTLE_LOGIN, address_key(actor, key, arena), tries, reason));
    return take(ops, THROTTLE_LOGIN_NAME, key, tries, reason);
}

Status tries_begin_inside(Operations *ops, const Actor *actor, Arena *arena, Tries *ret_tries,
                          Reason *reason)
{
    const Account *account = actor->account;
    Slice key = name_key(account->name, arena);
    *ret_tries = (Tries){.count = 0};
    TRY(take(ops, THROTTLE_PASSWORD, slice_of(&account->id, sizeof account->id), ret_tries,
             reason));
    return take(ops, THROTTLE_LOGIN, address_key(actor, key, arena), ret_tries, reason);
}

Status tries_begin_code(Operations *ops, const Actor *actor, const Account *account, Arena *arena,
                        Tries *ret_tries, Reason *reason)
{
    Slice device = device_of(ops, actor, account->name, arena);
    *ret_tries = (Tries){.count = 0};
    if (device.size > 0)
        return take(ops, THROTTLE_CODE_DEVICE, device, ret_tries, reason);
    return take(ops, THROTTLE_CODE, slice_of(&account->id, sizeof account->id), ret_tries, reason);
}

/* ---- What is shown ---------------------------------------------------------------------------------------------------------- */

SessionOrigin actor_session_origin(const Actor *actor)
{
    return (SessionOrigin){.address = actor->origin, .agent = actor->agent};
}

static void note_failure(Operations *ops, const Actor *actor, uint64_t account)
{
    SessionOrigin origin = actor_session_origin(actor);
    (void)!logins_note_failure(ops->app->accounts, account, &origin);
}

Status check_password(Operations *ops, const Actor *actor, Slice name, Slice password, Arena *arena,
                      Account *ret_account, Reason *reason)
{
    Accounts *accounts = ops->app->accounts;
    Account known;
    Tries tries = {.count = 0};
    TRY(tries_begin(ops, actor, name, arena, &tries, reason));
    Status status = credentials_check_password(accounts, name, password, arena, ret_account);
    status = tries_end(ops, &tries, status, STATUS_LOGIN);
    if (status != STATUS_LOGIN)
        return status;
    if (accounts_find(accounts, name, arena, &known) == STATUS_OK &&
        known.state == ACCOUNT_CONFIRMED) /* a name that is held looks like one that waits */
        note_failure(ops, actor, known.id);
    return reason_set(reason, STATUS_REFUSED, "name",
                      "The name or the password is not right, or the address is not confirmed yet");
}

Status check_own_password(Operations *ops, const Actor *actor, Slice password, const char *field,
                          Arena *arena, Reason *reason)
{
    Account account;
    Tries tries;
    if (actor->account->password_hash.size == 0)
        return reason_set(reason, STATUS_REFUSED, field,
                          "You have no password yet; choose one by \"Forgotten your password?\"");
    TRY(tries_begin_inside(ops, actor, arena, &tries, reason));
    Status status = credentials_check_password(ops->app->accounts, actor->account->name, password,
                                               arena, &account);
    status = tries_end(ops, &tries, status, STATUS_LOGIN);
    if (status == STATUS_LOGIN)
        return reason_set(reason, STATUS_REFUSED, field, "That is not your password");
    return status;
}

Status check_any_password(Operations *ops, const Actor *actor, Slice password, Arena *arena,
                          Reason *reason)
{
    if (actor->is_operator || actor->account->password_hash.size == 0)
        return STATUS_OK;
    if (password.size == 0)
        return reason_set(reason, STATUS_REFUSED, "password", "Type your password once more");
    return check_own_password(ops, actor, password, "password", arena, reason);
}

Status check_own_ways(Operations *ops, const Actor *actor, const OwnWays *shown, Arena *arena,
                      Reason *reason)
{
    TRY(check_any_password(ops, actor, shown->password, arena, reason));
    if (actor->is_operator || !actor->account->second)
        return STATUS_OK;
    if (shown->code.size == 0)
        return reason_set(reason, STATUS_REFUSED, "code",
                          "this account has a second factor; send its code, too");
    return check_code(ops, actor, actor->account, shown->code, arena, reason);
}

Status check_code(Operations *ops, const Actor *actor, const Account *account, Slice code,
                  Arena *arena, Reason *reason)
{
    Tries tries;
    TRY(tries_begin_code(ops, actor, account, arena, &tries, reason));
    Status status = second_factor_check(ops->app->accounts, account->id, code, reason);
    status = tries_end(ops, &tries, status, STATUS_REFUSED);
    if (status == STATUS_REFUSED)
        note_failure(ops, actor, account->id);
    return status;
}
