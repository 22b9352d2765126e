/* address.c -- see address.h. */
#include "net/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

static const unsigned char MAPPED[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};

static bool is_ipv4(Address address)
{
    return memcmp(address.bytes, MAPPED, sizeof MAPPED) == 0;
}

static Address from_ipv4(const void *four_bytes)
{
    Address address;
    memcpy(address.bytes, MAPPED, sizeof MAPPED);
    memcpy(address.bytes + sizeof MAPPED, four_bytes, 4);
    return address;
}

/* Without brackets and port. A bare IPv6 address has more than one colon, so one colon means a port. */
static Slice without_port(Slice text)
{
    size_t bracket = slice_find(text, ']');
    if (text.size > 0 && text.data[0] == '[' && bracket < text.size)
        return slice_of(text.data + 1, bracket - 1);
    size_t colon = slice_find(text, ':');
    Slice rest = slice_after(text, colon + 1);
    return slice_find(rest, ':') == rest.size ? slice_of(text.data, colon) : text;
}

Status address_parse(Slice text, Address *ret_address)
{
    char copy[ADDRESS_TEXT];
    Address address;
    text = without_port(slice_trim(text));
    if (text.size >= sizeof copy || slice_find(text, '\0') < text.size)
        return STATUS_INVALID;
    memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    if (inet_pton(AF_INET, copy, address.bytes) == 1)
        *ret_address = from_ipv4(address.bytes);
    else if (inet_pton(AF_INET6, copy, address.bytes) == 1)
        *ret_address = address;
    else
        return STATUS_INVALID;
    return STATUS_OK;
}

Address address_of_socket(const struct sockaddr *socket_address)
{
    Address address = {{0}};
    if (socket_address->sa_family == AF_INET) {
        struct sockaddr_in ipv4;
        memcpy(&ipv4, socket_address, sizeof ipv4);
        address = from_ipv4(&ipv4.sin_addr);
    } else if (socket_address->sa_family == AF_INET6) {
        struct sockaddr_in6 ipv6;
        memcpy(&ipv6, socket_address, sizeof ipv6);
        memcpy(address.bytes, &ipv6.sin6_addr, sizeof address.bytes);
    }
    return address;
}

/* By hand, because every line of the log has one, and the C library prints it by a format. */
static void format_ipv4(const unsigned char *bytes, char *to)
{
    for (int i = 0; i < 4; i++) {
        unsigned number = bytes[i];
        if (number >= 100)
            *to++ = (char)('0' + number / 100);
        if (number >= 10)
            *to++ = (char)('0' + number / 10 % 10);
        *to++ = (char)('0' + number % 10);
        *to++ = i < 3 ? '.' : '\0';
    }
}

void address_format(Address address, char to[ADDRESS_TEXT])
{
    if (is_ipv4(address))
        format_ipv4(address.bytes + sizeof MAPPED, to);
    else
        CHECK(inet_ntop(AF_INET6, address.bytes, to, ADDRESS_TEXT) != NULL);
}

bool address_equal(Address a, Address b)
{
    return memcmp(a.bytes, b.bytes, sizeof a.bytes) == 0;
}

bool address_is_loopback(Address address)
{
    static const Address ipv6 = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
    return address_equal(address, ipv6) || (is_ipv4(address) && address.bytes[12] == 127);
}

/* Nothing, or a colon and figures. */
static bool is_port(Slice text)
{
    for (size_t i = 1; i < text.size; i++)
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
    return text.size == 0 || text.data[0] == ':';
}

bool address_names_loopback(Slice host)
{
    Address address;
    bool bracketed = slice_starts_with(host, SLICE("["));
    size_t end = slice_find(host, bracketed ? ']' : ':');
    Slice name = bracketed ? slice_after(slice_of(host.data, end), 1) : slice_of(host.data, end);
    if (!is_port(slice_after(host, bracketed ? end + 1 : end)) || (bracketed && end == host.size) ||
        slice_trim(name).size != name.size)
        return false;
    return (!bracketed && slice_equal_ignoring_case(name, SLICE("localhost"))) ||
           (address_parse(name, &address) == STATUS_OK && address_is_loopback(address));
}

bool address_is_ipv4(Address address)
{
    return is_ipv4(address);
}

Address address_network(Address address, unsigned bits)
{
    for (unsigned i = 0; i < sizeof address.bytes; i++) {
        unsigned own = bits > 8 * i ? bits - 8 * i : 0;
        if (own < 8)
            address.bytes[i] &= (unsigned char)(0xFF00 >> own);
    }
    return address;
}

size_t address_networks(Address address, AddressNetwork ret_networks[ADDRESS_NETWORKS])
{
    static const AddressNetwork IPV4[] = {{.bits = 128, .times = 1}, {.bits = 120, .times = 4}},
                                IPV6[] = {{.bits = 64, .times = 1},
                                          {.bits = 56, .times = 2},
                                          {.bits = 48, .times = 4}};
    const AddressNetwork *networks = is_ipv4(address) ? IPV4 : IPV6;
    size_t count = is_ipv4(address) ? 2 : 3;
    for (size_t i = 0; i < count; i++) {
        ret_networks[i] = networks[i];
        ret_networks[i].address = address_network(address, networks[i].bits);
    }
    return count;
}

Address address_group(Address address)
{
    if (!is_ipv4(address))
        memset(address.bytes + 8, 0, 8);
    return address;
}

static Status add_range(AddressRanges *ranges, Slice text)
{
    size_t slash = slice_find(text, '/');
    Address address;
    uint64_t bits = 128;
    if (ranges->count == ADDRESS_RANGES_MAX)
        return STATUS_TOO_LARGE;
    TRY(address_parse(slice_of(text.data, slash), &address));
    if (slash < text.size) {
        TRY(slice_to_u64(slice_after(text, slash + 1), &bits));
        if (bits > (is_ipv4(address) ? 32 : 128))
            return STATUS_INVALID;
        bits += is_ipv4(address) ? 96 : 0;
    }
    ranges->ranges[ranges->count].address = address;
    ranges->ranges[ranges->count].bits = (unsigned)bits;
    ranges->count++;
    return STATUS_OK;
}

Status address_ranges_parse(Slice text, AddressRanges *ret_ranges, Reason *reason)
{
    AddressRanges ranges = {0};
    Slice element;
    while (slice_split(&text, ',', &element)) {
        element = slice_trim(element);
        Status status = element.size == 0 ? STATUS_OK : add_range(&ranges, element);
        if (status == STATUS_TOO_LARGE)
            return reason_set(reason, status, "trusted_proxies", "at most %d addresses",
                              ADDRESS_RANGES_MAX);
        if (status != STATUS_OK)
            return reason_set(reason, status, "trusted_proxies",
                              "\"%.*s\" is no address like 192.0.2.1, 2001:db8::1 or 10.0.0.0/8",
                              SLICE_ARG(element));
    }
    *ret_ranges = ranges;
    return STATUS_OK;
}

static bool same_bits(Address a, Address b, unsigned bits)
{
    unsigned whole = bits / 8, left = bits % 8;
    if (memcmp(a.bytes, b.bytes, whole) != 0)
        return false;
    return left == 0 || (a.bytes[whole] ^ b.bytes[whole]) >> (8 - left) == 0;
}

bool address_in_ranges(Address address, const AddressRanges *ranges)
{
    for (size_t i = 0; i < ranges->count; i++)
        if (same_bits(address, ranges->ranges[i].address, ranges->ranges[i].bits))
            return true;
    return false;
}

/* Cuts the last element off a list with commas; false when nothing is left. */
static bool split_last(Slice *rest, Slice *ret_element)
{
    if (rest->size == 0)
        return false;
    size_t start = rest->size;
    while (start > 0 && rest->data[start - 1] != ',')
        start--;
    *ret_element = slice_after(*rest, start);
    rest->size = start > 0 ? start - 1 : 0;
    return true;
}

Address address_of_client(Address peer, Slice forwarded_for, const AddressRanges *trusted)
{
    Address client = peer;
    Slice element;
    while (address_in_ranges(client, trusted) && split_last(&forwarded_for, &element))
        if (address_parse(element, &client) != STATUS_OK)
            break;
    return client;
}
