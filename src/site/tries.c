/* tries.c -- how tries with a password are counted, so that guessing is slow and nobody can lock somebody else out.
 *
 * Whoever tries is counted
 *   1. by network address, for whatever name;
 *   2. on a device that this name has logged in on before, by that device, and by nothing else of the name's;
 *   3. elsewhere by name and address together, and by name alone with a bound that is wide but holds against many addresses at once.
 * So a stranger uses up what strangers have: the owner still comes in where they were before, and from elsewhere by the letter for a
 * forgotten password, whose link makes the device a known one. A name that nobody has is counted in the same way.
 *
 * A known device has the cookie `device`: a random number, and of that number with the folded name and with the folded e-mail a hash that
 * needs the site's key. It says nothing about who it is, needs no look-up, and lets nobody in: it only decides which count is used. It is of
 * the last account that logged in there. */
#include <sodium.h>

#include "site/people.h"

enum { DEVICE_TEXT = 3 * ID_TEXT, DEVICE_S = 400 * 86400 };
static const char *const DEVICE = "device";

/* ---- Known devices ------------------------------------------------------------------------------------------------------- */

static Slice mark_of(WebRequest *request, Slice number, Slice name)
{
    Id mark;
    Arena *arena = web_arena(request);
    Slice key = people_name_key(name, arena);
    Slice of = arena_print(arena, "%.*s %.*s", SLICE_ARG(number), SLICE_ARG(key));
    Slice hash = vault_hash(site_of(request)->app->vault, DEVICE, of, arena);
    CHECK(id_from_bytes(slice_of(hash.data, ID_BYTES), &mark) == STATUS_OK);
    return id_text(mark, arena);
}

/* The number of this device, when the name has logged in on it; else empty. */
static Slice device_of(WebRequest *request, Slice name)
{
    Slice cookie = web_cookie(request, DEVICE);
    if (cookie.size != DEVICE_TEXT)
        return SLICE_EMPTY;
    Slice number = slice_of(cookie.data, ID_TEXT), mark = mark_of(request, number, name);
    bool is_name = sodium_memcmp(cookie.data + ID_TEXT, mark.data, ID_TEXT) == 0;
    bool is_email = sodium_memcmp(cookie.data + 2 * (size_t)ID_TEXT, mark.data, ID_TEXT) == 0;
    return is_name || is_email ? number : SLICE_EMPTY;
}

void tries_know_device(WebRequest *request, const Account *account)
{
    World world = site_of(request)->app->world;
    Arena *arena = web_arena(request);
    Id fresh;
    if (device_of(request, account->name).size > 0 && device_of(request, account->email).size > 0)
        return;
    random_fill(world.random, fresh.bytes, sizeof fresh.bytes);
    Slice number = id_text(fresh, arena), name = mark_of(request, number, account->name),
          email = mark_of(request, number, account->email);
    web_set_cookie(
        request, DEVICE,
        arena_print(arena, "%.*s%.*s%.*s", SLICE_ARG(number), SLICE_ARG(name), SLICE_ARG(email)),
        DEVICE_S);
}

/* ---- Counting ------------------------------------------------------------------------------------------------------------ */

/* What is refused counts nowhere. */
static Status take(WebRequest *request, ThrottleRule rule, Slice key, Tries *tries)
{
    Status status = throttle_take(site_of(request)->throttle, rule, key, web_reason(request));
    if (status != STATUS_OK) {
        tries_end(request, tries, TRY_NONE);
        return status;
    }
    CHECK(tries->count < TRIES_MOST);
    tries->taken[tries->count++] = (Try){rule, key};
    return STATUS_OK;
}

/* The network address, with a name or without. */
static Slice address_key(WebRequest *request, Slice name)
{
    char text[ADDRESS_TEXT];
    address_format(address_group(web_client(request)), text);
    return arena_print(web_arena(request), "%s %.*s", text, SLICE_ARG(name));
}

Status tries_begin(WebRequest *request, Slice name, Tries *ret_tries)
{
    Slice key = people_name_key(name, web_arena(request)), device = device_of(request, name);
    Tries tries = {.count = 0};
    if (!address_is_loopback(web_client(request)))
        TRY(take(request, THROTTLE_LOGIN_ADDRESS, address_key(request, SLICE_EMPTY), &tries));
    if (device.size > 0) {
        TRY(take(request, THROTTLE_LOGIN_DEVICE, device, &tries));
    } else {
        TRY(take(request, THROTTLE_LOGIN, address_key(request, key), &tries));
        TRY(take(request, THROTTLE_LOGIN_NAME, key, &tries));
    }
    *ret_tries = tries;
    return STATUS_OK;
}

Status tries_begin_inside(WebRequest *request, Tries *ret_tries)
{
    const Account *account = &site_viewer(request)->account;
    Slice key = people_name_key(account->name, web_arena(request));
    Tries tries = {.count = 0};
    TRY(take(request, THROTTLE_PASSWORD, slice_of(&account->id, sizeof account->id), &tries));
    TRY(take(request, THROTTLE_LOGIN, address_key(request, key), &tries));
    *ret_tries = tries;
    return STATUS_OK;
}

Status tries_begin_code(WebRequest *request, const Account *account, Tries *ret_tries)
{
    Slice device = device_of(request, account->name);
    Tries tries = {.count = 0};
    if (device.size > 0)
        TRY(take(request, THROTTLE_CODE_DEVICE, device, &tries));
    else
        TRY(take(request, THROTTLE_CODE, slice_of(&account->id, sizeof account->id), &tries));
    *ret_tries = tries;
    return STATUS_OK;
}

/* The counts of an address and of a name from everywhere are others' tries, too: a success takes back no more than its own. */
void tries_end(WebRequest *request, const Tries *tries, TryEnd end)
{
    Throttle *throttle = site_of(request)->throttle;
    for (size_t i = 0; end != TRY_WRONG && i < tries->count; i++) {
        const Try *one = &tries->taken[i];
        bool is_shared = one->rule == THROTTLE_LOGIN_ADDRESS || one->rule == THROTTLE_LOGIN_NAME;
        if (end == TRY_RIGHT && !is_shared)
            throttle_forget(throttle, one->rule, one->key);
        else
            throttle_return(throttle, one->rule, one->key);
    }
}
