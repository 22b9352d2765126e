/* address_test.c -- addresses, networks, and whom a forwarded request came from. */
#include "net/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>

#include "test.h"

static Address parsed(const char *text)
{
    Address address;
    if (address_parse(slice_from(text), &address) != STATUS_OK)
        test_fail(__FILE__, __LINE__, "%s was refused", text);
    return address;
}

static const char *formatted(Address address)
{
    static char text[ADDRESS_TEXT];
    address_format(address, text);
    return text;
}

#define EXPECT_TEXT(actual, expected) EXPECT_SLICE(slice_from(actual), slice_from(expected))

TEST(addresses_are_read_and_written_in_their_own_form)
{
    EXPECT_TEXT(formatted(parsed("192.0.2.1")), "192.0.2.1");
    EXPECT_TEXT(formatted(parsed("2001:DB8:0::1")), "2001:db8::1");
    EXPECT_TEXT(formatted(parsed("::ffff:192.0.2.1")), "192.0.2.1");
    EXPECT_TEXT(formatted(parsed(" 192.0.2.1 ")), "192.0.2.1");
}

TEST(every_number_of_an_ipv4_address_is_written_as_it_is_read)
{
    for (unsigned i = 0; i < 256; i++) {
        char text[ADDRESS_TEXT];
        snprintf(text, sizeof text, "%u.%u.%u.%u", i, 255 - i, i / 2, i % 100);
        EXPECT_TEXT(formatted(parsed(text)), text);
    }
}

TEST(a_port_is_left_out)
{
    EXPECT_TEXT(formatted(parsed("192.0.2.1:8080")), "192.0.2.1");
    EXPECT_TEXT(formatted(parsed("[2001:db8::1]:8080")), "2001:db8::1");
    EXPECT_TEXT(formatted(parsed("[2001:db8::1]")), "2001:db8::1");
}

TEST(what_is_no_address_is_refused)
{
    static const Slice cases[] = {{"", 0},          {"host", 4},
                                  {"1.2.3", 5},     {"1.2.3.4.5", 9},
                                  {"1.2.3.256", 9}, {":", 1},
                                  {"[", 1},         {"]", 1},
                                  {"[]", 2},        {"unknown", 7},
                                  {"1.2.3.4\0", 8}, {"_x", 2},
                                  {"[::1", 4},      {"1:2:3:4:5:6:7:8:9", 17}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Address address;
        EXPECT_STATUS(address_parse(cases[i], &address), STATUS_INVALID);
    }
}

TEST(a_host_is_loopback_by_its_address_and_not_by_how_it_begins)
{
    static const char *const OURS[] = {"127.0.0.1",  "127.0.0.1:8080", "127.9.8.7:1",
                                       "localhost",  "LocalHost:8080", "[::1]",
                                       "[::1]:8080", "127.0.0.1:"};
    static const char *const OTHERS[] = {"",
                                         ":8080",
                                         " 127.0.0.1",
                                         "[ ::1]",
                                         "127.evil.example",
                                         "127.0.0.1.evil.example",
                                         "127.0.0.1:80.evil.example",
                                         "localhost.evil.example",
                                         "localhostx",
                                         "[::1].evil.example",
                                         "[::1",
                                         "[]",
                                         "::1",
                                         "[localhost]",
                                         "[::2]:80",
                                         "0.0.0.0:80",
                                         "128.0.0.1",
                                         "vote.example.org"};
    for (size_t i = 0; i < sizeof OURS / sizeof OURS[0]; i++)
        if (!address_names_loopback(slice_from(OURS[i])))
            test_fail(__FILE__, __LINE__, "%s is loopback", OURS[i]);
    for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; i++)
        if (address_names_loopback(slice_from(OTHERS[i])))
            test_fail(__FILE__, __LINE__, "%s is not loopback", OTHERS[i]);
}

TEST(socket_addresses_of_both_families)
{
    struct sockaddr_in ipv4 = {.sin_family = AF_INET};
    struct sockaddr_in6 ipv6 = {.sin6_family = AF_INET6};
    inet_pton(AF_INET, "192.0.2.9", &ipv4.sin_addr);
    inet_pton(AF_INET6, "2001:db8::9", &ipv6.sin6_addr);
    EXPECT_TEXT(formatted(address_of_socket((struct sockaddr *)&ipv4)), "192.0.2.9");
    EXPECT_TEXT(formatted(address_of_socket((struct sockaddr *)&ipv6)), "2001:db8::9");
}

TEST(loopback_is_a_whole_network_in_ipv4)
{
    EXPECT(address_is_loopback(parsed("127.0.0.1")));
    EXPECT(address_is_loopback(parsed("127.9.9.9")));
    EXPECT(address_is_loopback(parsed("::1")));
    EXPECT(address_is_loopback(parsed("::ffff:127.0.0.1")));
    EXPECT(!address_is_loopback(parsed("128.0.0.1")));
    EXPECT(!address_is_loopback(parsed("::2")));
}

TEST(ipv6_neighbours_of_one_network_are_counted_together)
{
    EXPECT(address_equal(address_group(parsed("2001:db8::1")),
                         address_group(parsed("2001:db8::ffff:1"))));
    EXPECT(!address_equal(address_group(parsed("2001:db8::1")),
                          address_group(parsed("2001:db8:0:1::1"))));
    EXPECT(!address_equal(address_group(parsed("192.0.2.1")), address_group(parsed("192.0.2.2"))));
}

static AddressRanges ranges_of(const char *text)
{
    AddressRanges ranges;
    if (address_ranges_parse(slice_from(text), &ranges, NULL) != STATUS_OK)
        test_fail(__FILE__, __LINE__, "%s was refused", text);
    return ranges;
}

TEST(networks_hold_their_addresses)
{
    AddressRanges ranges = ranges_of("10.0.0.0/8, 192.0.2.128/25,, 2001:db8::/33 ,::1");
    EXPECT_I64(ranges.count, 4);
    EXPECT(address_in_ranges(parsed("10.255.0.1"), &ranges));
    EXPECT(!address_in_ranges(parsed("11.0.0.1"), &ranges));
    EXPECT(address_in_ranges(parsed("192.0.2.128"), &ranges));
    EXPECT(!address_in_ranges(parsed("192.0.2.127"), &ranges));
    EXPECT(address_in_ranges(parsed("2001:db8:7fff::"), &ranges));
    EXPECT(!address_in_ranges(parsed("2001:db8:8000::"), &ranges));
    EXPECT(address_in_ranges(parsed("::1"), &ranges));
    EXPECT(!address_in_ranges(parsed("::2"), &ranges));
}

TEST(a_network_of_no_bits_holds_its_family_only)
{
    AddressRanges ranges = ranges_of("0.0.0.0/0");
    EXPECT(address_in_ranges(parsed("203.0.113.5"), &ranges));
    EXPECT(!address_in_ranges(parsed("2001:db8::1"), &ranges));
}

TEST(a_broken_list_names_the_element)
{
    static const char *const cases[] = {"10.0.0.0/33", "10.0.0.0/", "10.0.0.0/x", "::1/129",
                                        "1.2.3.4, bad"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        AddressRanges ranges;
        Reason reason = {0};
        EXPECT_STATUS(address_ranges_parse(slice_from(cases[i]), &ranges, &reason), STATUS_INVALID);
        EXPECT_SLICE(slice_from(reason.field), SLICE("trusted_proxies"));
        EXPECT(strchr(reason.rule, '"') != NULL);
    }
}

TEST(too_many_networks_are_refused)
{
    char text[10 * (ADDRESS_RANGES_MAX + 1) + 1] = "";
    AddressRanges ranges;
    for (int i = 0; i <= ADDRESS_RANGES_MAX; i++)
        strcat(text, "10.0.0.1, ");
    EXPECT_STATUS(address_ranges_parse(slice_from(text), &ranges, NULL), STATUS_TOO_LARGE);
}

static const char *client_of(const char *peer, const char *forwarded_for)
{
    AddressRanges trusted = ranges_of("10.0.0.0/8, 2001:db8::1");
    return formatted(address_of_client(parsed(peer), slice_from(forwarded_for), &trusted));
}

TEST(a_stranger_cannot_choose_an_address)
{
    EXPECT_TEXT(client_of("192.0.2.1", "198.51.100.1"), "192.0.2.1");
    EXPECT_TEXT(client_of("10.0.0.1", "1.1.1.1, 192.0.2.1"), "192.0.2.1");
}

TEST(trusted_proxies_are_skipped_from_the_right)
{
    EXPECT_TEXT(client_of("10.0.0.1", "192.0.2.1, 10.2.3.4, 2001:db8::1"), "192.0.2.1");
    EXPECT_TEXT(client_of("2001:db8::1", "[2001:db8::2]:99"), "2001:db8::2");
    EXPECT_TEXT(client_of("10.0.0.1", "10.0.0.2"), "10.0.0.2");
}

TEST(nonsense_leaves_the_last_address_that_was_believed)
{
    EXPECT_TEXT(client_of("10.0.0.1", ""), "10.0.0.1");
    EXPECT_TEXT(client_of("10.0.0.1", "unknown"), "10.0.0.1");
    EXPECT_TEXT(client_of("10.0.0.1", "192.0.2.1, ,10.0.0.2"), "10.0.0.2");
    EXPECT_TEXT(client_of("10.0.0.1", ","), "10.0.0.1");
}

static Address network(const char *text, unsigned bits)
{
    return address_network(parsed(text), bits);
}

TEST(somebodys_networks_are_counted_with_their_addresses)
{
    AddressNetwork networks[ADDRESS_NETWORKS];
    EXPECT_I64(address_networks(parsed("192.0.2.7"), networks), 2);
    EXPECT(address_equal(networks[0].address, parsed("192.0.2.7")) && networks[0].times == 1);
    EXPECT(address_equal(networks[1].address, parsed("192.0.2.0")) && networks[1].times > 1);
    EXPECT_I64(address_networks(parsed("2001:db8:1:2ff:4::5"), networks), 3);
    EXPECT(address_equal(networks[0].address, parsed("2001:db8:1:2ff::")));
    EXPECT(address_equal(networks[1].address, parsed("2001:db8:1:200::")));
    EXPECT(address_equal(networks[2].address, parsed("2001:db8:1::")));
    EXPECT(address_equal(network("2001:db8::1", 128), parsed("2001:db8::1")));
    EXPECT(address_equal(network("ffff::1", 3), parsed("e000::")));
    EXPECT(address_equal(network("ffff::1", 0), parsed("::")));
}
