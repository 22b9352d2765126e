/* api_keys.c -- the header Idempotency-Key.
 *
 * A save's outcome is the answer, also when it is a no: stale 409, refused 422, unknown 503. Whoever sends an Idempotency-Key can send the
 * same request again after any answer, or none: it is one save. A crash between two steps is therefore nothing that a client must know
 * about. */
#include "access/request_keys.h"
#include "site/api/api.h"

static bool is_visible(Slice text)
{
    bool visible = true;
    for (size_t i = 0; i < text.size; i++)
        visible &= text.data[i] > ' ' && text.data[i] <= '~';
    return visible;
}

/* The same bytes to the same address, whoever sends them again. */
static RequestKey request_of(WebRequest *request)
{
    Slice path = web_path(request), body = web_body(request);
    return (RequestKey){.account = site_viewer(request)->account.id,
                        .key = web_head(request, HEAD_IDEMPOTENCY_KEY),
                        .request = arena_print(web_arena(request), "%s %.*s\n%.*s",
                                               route_method_name(web_route(request)->method),
                                               SLICE_ARG(path), SLICE_ARG(body))};
}

/* A keyed hash of account and key: nobody can make the token of somebody else, nor that of a form. */
Status api_key(WebRequest *request, Id *ret_token)
{
    Slice key = web_head(request, HEAD_IDEMPOTENCY_KEY);
    Arena *arena = web_arena(request);
    *ret_token = (Id){{0}};
    if (key.size == 0)
        return STATUS_OK;
    if (key.size > API_KEY_MAX || !is_visible(key))
        return reason_set(web_reason(request), STATUS_INVALID, "Idempotency-Key",
                          "has 1 to %d visible ASCII characters", API_KEY_MAX);
    RequestKey used = request_of(request);
    TRY(request_key_check(site_of(request)->app->accounts, &used, web_reason(request)));
    Slice of =
        arena_print(arena, "%llu %s %.*s", (unsigned long long)site_viewer(request)->account.id,
                    route_method_name(web_route(request)->method), SLICE_ARG(key));
    Slice hash = vault_hash(site_of(request)->app->vault, "idempotency", of, arena);
    return id_from_bytes(slice_of(hash.data, ID_BYTES), ret_token);
}

Status api_key_is_used(WebRequest *request, bool *ret_used)
{
    RequestKey used = request_of(request);
    return request_key_look(site_of(request)->app->accounts, &used, ret_used, web_reason(request));
}

void api_key_used(WebRequest *request)
{
    RequestKey used = request_of(request);
    if (used.key.size > 0)
        (void)!request_key_note(site_of(request)->app->accounts, &used); /* see request_keys.h */
}
