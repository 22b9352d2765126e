/* providers.c -- the operator's file of providers. See oidc_rules.h. */
#include "oidc/oidc_rules.h"

enum { FIELDS = 6 };

static const struct {
    const char *name;
    bool required;
} FIELD_NAMES[FIELDS] = {{"title", true},     {"issuer", true},
                         {"client_id", true}, {"client_secret_file", false},
                         {"scope", false},    {"ca_file", false}};

static Slice *field_of(OidcSettings *provider, size_t index)
{
    Slice *fields[FIELDS] = {&provider->title,     &provider->issuer,
                             &provider->client_id, &provider->client_secret_file,
                             &provider->scope,     &provider->ca_file};
    return fields[index];
}

static Status wrong(size_t line, const char *rule, Reason *reason)
{
    return reason_set(reason, STATUS_INVALID, "oidc_file", "line %zu: %s", line, rule);
}

static bool is_key(Slice key)
{
    for (size_t i = 0; i < key.size; i++) {
        char c = key.data[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-')
            return false;
    }
    return key.size > 0 && key.size <= OIDC_KEY_MAX;
}

static Status begin_provider(Slice line, size_t number, OidcSettings *list, size_t *count,
                             Reason *reason)
{
    if (line.data[line.size - 1] != ']')
        return wrong(number, "[name] of a provider", reason);
    Slice key = slice_of(line.data + 1, line.size - 2);
    if (!is_key(key))
        return wrong(number, "a provider's name has 1 to 20 small letters, digits or -", reason);
    if (*count == OIDC_PROVIDERS_MAX)
        return wrong(number, "at most 8 providers", reason);
    for (size_t i = 0; i < *count; i++)
        if (slice_equal(list[i].key, key))
            return wrong(number, "this provider is there already", reason);
    OidcSettings *provider = &list[(*count)++];
    provider->key = key;
    for (size_t i = 0; i < FIELDS; i++)
        *field_of(provider, i) = SLICE_EMPTY;
    return STATUS_OK;
}

static bool is_value(Slice value)
{
    for (size_t i = 0; i < value.size; i++)
        if ((unsigned char)value.data[i] < ' ' || value.data[i] == 0x7F)
            return false;
    return value.size > 0 && value.size <= OIDC_TEXT_MAX && slice_is_utf8(value);
}

static Status set_field(Slice line, size_t number, OidcSettings *provider, Reason *reason)
{
    size_t at = slice_find(line, '='), i = 0;
    Slice name = slice_trim(slice_of(line.data, at)), value = slice_trim(slice_after(line, at + 1));
    if (at == line.size)
        return wrong(number, "name = value", reason);
    while (i < FIELDS && !slice_equal(name, slice_from(FIELD_NAMES[i].name)))
        i++;
    if (i == FIELDS)
        return wrong(number, "title, issuer, client_id, client_secret_file, scope or ca_file",
                     reason);
    Slice *field = field_of(provider, i);
    if (field->size > 0)
        return wrong(number, "this was said already", reason);
    if (!is_value(value))
        return wrong(number, "1 to 500 bytes of text", reason);
    *field = value;
    return STATUS_OK;
}

static Status finish_provider(OidcSettings *provider, Reason *reason)
{
    for (size_t i = 0; i < FIELDS; i++)
        if (FIELD_NAMES[i].required && field_of(provider, i)->size == 0)
            return reason_set(reason, STATUS_INVALID, "oidc_file", "[%.*s] needs %s",
                              SLICE_ARG(provider->key), FIELD_NAMES[i].name);
    if (!oidc_is_safe_url(provider->issuer))
        return reason_set(reason, STATUS_INVALID, "oidc_file",
                          "[%.*s] issuer must be an https:// address", SLICE_ARG(provider->key));
    if (provider->scope.size == 0)
        provider->scope = SLICE("openid email profile");
    return STATUS_OK;
}

Status providers_read(Slice text, Arena *arena, OidcSettings **ret_providers, size_t *ret_count,
                      Reason *reason)
{
    OidcSettings *list = ARENA_ARRAY(arena, OIDC_PROVIDERS_MAX, OidcSettings);
    Slice rest = arena_copy(arena, text), line;
    size_t count = 0;
    for (size_t number = 1; slice_split(&rest, '\n', &line); number++) {
        line = slice_trim(line);
        if (line.size == 0 || line.data[0] == '#')
            continue;
        if (line.data[0] == '[')
            TRY(begin_provider(line, number, list, &count, reason));
        else if (count == 0)
            return wrong(number, "begin with the [name] of a provider", reason);
        else
            TRY(set_field(line, number, &list[count - 1], reason));
    }
    for (size_t i = 0; i < count; i++)
        TRY(finish_provider(&list[i], reason));
    *ret_providers = list;
    *ret_count = count;
    return STATUS_OK;
}
