/* address.c -- see address.h. Pure. */
#include "store/cassandra/address.h"

enum { PORT = 9042 };

static Status wrong(Reason *reason, const char *rule)
{
    return reason_set(reason, STATUS_INVALID, "store",
                      "%s; an address is cassandra://[user@]host1[:port],host2/keyspace", rule);
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_host_byte(char c)
{
    return is_lower(c) || is_digit(c) || (c >= 'A' && c <= 'Z') || c == '.' || c == '-' || c == '_';
}

/* What may stand in brackets: an IPv6 address, perhaps with the name of an interface. */
static bool is_bracket_byte(char c)
{
    return is_host_byte(c) || c == ':' || c == '%';
}

static bool all_of(Slice text, bool (*is_good)(char c))
{
    for (size_t i = 0; i < text.size; i++)
        if (!is_good(text.data[i]))
            return false;
    return true;
}

static void copy_text(char *to, Slice text)
{
    memcpy(to, text.data, text.size);
    to[text.size] = '\0';
}

static Status take_port(Slice text, uint16_t *ret_port, Reason *reason)
{
    uint64_t port;
    if (text.size == 0) {
        *ret_port = PORT;
        return STATUS_OK;
    }
    if (text.data[0] != ':' || text.size > 6 ||
        slice_to_u64(slice_after(text, 1), &port) != STATUS_OK || port < 1 || port > UINT16_MAX)
        return wrong(reason, "a port is a number from 1 to 65535");
    *ret_port = (uint16_t)port;
    return STATUS_OK;
}

/* A name, or [an IPv6 address], and perhaps a port. */
static Status take_host(Slice text, CassandraHost *ret_host, Reason *reason)
{
    bool bracket = text.size > 0 && text.data[0] == '[';
    size_t end = slice_find(text, bracket ? ']' : ':');
    if (bracket && end == text.size)
        return wrong(reason, "a [ has no ]");
    size_t start = bracket ? 1 : 0;
    Slice name = slice_of(text.data + start, end - start);
    if (name.size == 0 || name.size > CASSANDRA_HOST_MAX)
        return wrong(reason, "a host has 1 to 253 characters");
    if (!all_of(name, bracket ? is_bracket_byte : is_host_byte))
        return wrong(reason, "a host is a name or an address, IPv6 in brackets");
    TRY(take_port(slice_after(text, end + start), &ret_host->port, reason));
    copy_text(ret_host->name, name);
    return STATUS_OK;
}

static Status take_hosts(Slice text, CassandraAddress *address, Reason *reason)
{
    bool more = true;
    while (more) {
        size_t comma = slice_find(text, ',');
        if (address->host_count == CASSANDRA_HOSTS_MAX)
            return wrong(reason, "at most 16 hosts are named");
        TRY(take_host(slice_of(text.data, comma), &address->hosts[address->host_count], reason));
        address->host_count++;
        more = comma < text.size;
        text = slice_after(text, comma + 1);
    }
    return STATUS_OK;
}

static bool is_keyspace(Slice text)
{
    if (text.size == 0 || text.size > CASSANDRA_KEYSPACE_MAX || !is_lower(text.data[0]))
        return false;
    for (size_t i = 0; i < text.size; i++)
        if (!is_lower(text.data[i]) && !is_digit(text.data[i]) && text.data[i] != '_')
            return false;
    return true;
}

static bool is_user_byte(char c)
{
    return is_host_byte(c) || c == '+' || c == '@';
}

Status cassandra_address(Slice text, CassandraAddress *ret_address, Reason *reason)
{
    CassandraAddress address = {.host_count = 0};
    const Slice scheme = SLICE("cassandra://");
    if (!slice_starts_with(text, scheme))
        return wrong(reason, "it does not begin with cassandra://");
    text = slice_after(text, scheme.size);
    size_t slash = slice_find(text, '/');
    Slice keyspace = slice_after(text, slash + 1);
    if (!is_keyspace(keyspace))
        return wrong(reason,
                     "a keyspace has 1 to 48 lower-case letters, digits and _, a letter first");
    Slice hosts = slice_of(text.data, slash);
    size_t at = hosts.size;
    while (at > 0 && hosts.data[at - 1] != '@')
        at--;
    if (at > 0) {
        Slice user = slice_of(hosts.data, at - 1);
        if (user.size == 0 || user.size > CASSANDRA_USER_MAX || !all_of(user, is_user_byte))
            return wrong(reason, "a user has 1 to 100 letters, digits, . - _ + and @; its password "
                                 "comes from cassandra_password_file");
        copy_text(address.user, user);
        hosts = slice_after(hosts, at);
    }
    TRY(take_hosts(hosts, &address, reason));
    copy_text(address.keyspace, keyspace);
    *ret_address = address;
    return STATUS_OK;
}
