/* address.h -- network addresses as values, and who is behind a proxy.
 *
 * IPv4 addresses are kept as ::ffff:a.b.c.d, so that one comparison serves both families. All functions are pure
 * but address_of_socket, which only reads the given structure. */
#pragma once

#include <sys/socket.h>

#include "base/slice.h"

typedef struct Address {
    unsigned char bytes[16];
} Address;

enum { ADDRESS_TEXT = 46, ADDRESS_RANGES_MAX = 64 };

/* "192.0.2.1", "2001:db8::1"; also with a port, as some proxies write it ("192.0.2.1:80", "[2001:db8::1]:80"). */
MUST_USE Status address_parse(Slice text, Address *ret_address);
/* All zeros for families other than IPv4 and IPv6. */
Address address_of_socket(const struct sockaddr *socket_address);
/* Ended by NUL; IPv4 in its own form. */
void address_format(Address address, char to[ADDRESS_TEXT]);
bool address_equal(Address a, Address b);
bool address_is_loopback(Address address);
/* "localhost", or an address of loopback (127.0.0.0/8, [::1]), perhaps with a port: the host of a request or of a setting. A name that only
 * begins like one ("127.evil.example") is none. */
bool address_names_loopback(Slice host);
/* The network of so many bits that it is in, of 128: an IPv4 address has 96 before it, so its /24 is 120. */
Address address_network(Address address, unsigned bits);
bool address_is_ipv4(Address address);
/* The networks that somebody may have all of, from the narrowest on, and how many times as much as one customer each may ask for: an IPv4 address and
 * its /24, or an IPv6 /64, /56 and /48. */
enum { ADDRESS_NETWORKS = 3 };
typedef struct AddressNetwork {
    Address address;
    unsigned bits, times;
} AddressNetwork;
size_t address_networks(Address address, AddressNetwork ret_networks[ADDRESS_NETWORKS]);
/* Whom connections are counted for: an IPv4 address, or an IPv6 /64, since one customer gets a whole /64. */
Address address_group(Address address);

/* Addresses and networks ("10.0.0.0/8, ::1"), at most ADDRESS_RANGES_MAX. */
typedef struct AddressRanges {
    size_t count;
    struct {
        Address address;
        unsigned bits; /* of the 128 */
    } ranges[ADDRESS_RANGES_MAX];
} AddressRanges;

/* INVALID quotes the element that is no address. Empty elements are skipped. */
MUST_USE Status address_ranges_parse(Slice text, AddressRanges *ret_ranges, Reason *reason);
bool address_in_ranges(Address address, const AddressRanges *ranges);

/* Who sent the request. X-Forwarded-For is read only when the peer is trusted, from the right: trusted proxies are
 * skipped, the first other address is the client. Each proxy appends whom it saw, so what stands left of that was
 * written by strangers. Something that is no address ends the search at the last one believed. */
Address address_of_client(Address peer, Slice forwarded_for, const AddressRanges *trusted);
