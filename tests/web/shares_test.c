/* shares_test.c -- who gets how much of what is bounded. */
#include "web/shares.h"

#include "test.h"

static AddressRanges proxies;

static Address of(const char *text)
{
    Address address;
    CHECK(address_parse(slice_from(text), &address) == STATUS_OK);
    return address;
}

static Shares *begin_test(int64_t total, int64_t per_address)
{
    EXPECT_STATUS(address_ranges_parse(SLICE("10.0.0.0/8"), &proxies, NULL), STATUS_OK);
    return shares_new(total, per_address, &proxies);
}

TEST(all_together_hold_the_total_and_no_more)
{
    Shares *shares = begin_test(10, 10);
    EXPECT(shares_take(shares, of("192.0.2.1"), 6) == SHARES_TAKEN);
    EXPECT(shares_take(shares, of("198.51.100.2"), 5) == SHARES_FULL);
    EXPECT(shares_take(shares, of("198.51.100.2"), 4) == SHARES_TAKEN);
    EXPECT(shares_take(shares, of("127.0.0.1"), 1) == SHARES_FULL);
    shares_give(shares, of("192.0.2.1"), 6);
    EXPECT(shares_take(shares, of("127.0.0.1"), 6) == SHARES_TAKEN);
    EXPECT_I64(shares_taken(shares), 10);
    shares_give(shares, of("127.0.0.1"), 6);
    shares_give(shares, of("198.51.100.2"), 4);
    shares_free(shares);
}

TEST(an_address_holds_its_share_and_no_more)
{
    Shares *shares = begin_test(100, 4);
    EXPECT(shares_take(shares, of("192.0.2.1"), 3) == SHARES_TAKEN);
    EXPECT(shares_take(shares, of("192.0.2.1"), 2) == SHARES_ADDRESS_FULL);
    EXPECT(shares_take(shares, of("192.0.2.1"), 1) == SHARES_TAKEN);
    EXPECT(shares_take(shares, of("198.51.100.2"), 4) == SHARES_TAKEN);
    for (int i = 0; i < 20; i++) { /* loopback and proxies count for the total alone */
        EXPECT(shares_take(shares, of("127.0.0.1"), 1) == SHARES_TAKEN);
        EXPECT(shares_take(shares, of("10.1.2.3"), 1) == SHARES_TAKEN);
    }
    for (int i = 0; i < 20; i++) {
        shares_give(shares, of("127.0.0.1"), 1);
        shares_give(shares, of("10.1.2.3"), 1);
    }
    shares_give(shares, of("192.0.2.1"), 1);
    shares_give(shares, of("192.0.2.1"), 3);
    shares_give(shares, of("198.51.100.2"), 4);
    shares_free(shares);
}

TEST(a_network_is_one_holder_and_a_network_of_networks_is_four)
{
    enum { NETWORKS = 4 };
    static const char *const networks[NETWORKS] = {"2001:db8:1:100::1", "2001:db8:1:200::1",
                                                   "2001:db8:1:300::1", "2001:db8:1:400::1"};
    Shares *shares = begin_test(100, 2);
    for (int i = 0; i < NETWORKS; i++) {
        EXPECT(shares_take(shares, of(networks[i]), 2) == SHARES_TAKEN);
        EXPECT(shares_take(shares, of(networks[i]), 1) == SHARES_ADDRESS_FULL);
    }
    EXPECT(shares_take(shares, of("2001:db8:1:500::1"), 1) == SHARES_ADDRESS_FULL);
    EXPECT(shares_take(shares, of("2001:db8:2:1::1"), 2) == SHARES_TAKEN);
    shares_give(shares, of("2001:db8:2:1::1"), 2);
    shares_give(shares, of(networks[0]), 2);
    EXPECT(shares_take(shares, of("2001:db8:1:500::1"), 1) == SHARES_TAKEN);
    shares_give(shares, of("2001:db8:1:500::1"), 1);
    for (int i = 1; i < NETWORKS; i++)
        shares_give(shares, of(networks[i]), 2);
    shares_free(shares);
}

TEST(what_is_larger_than_a_share_is_had_by_who_holds_nothing)
{
    Shares *shares = begin_test(10, 2);
    EXPECT(shares_take(shares, of("192.0.2.1"), 9) == SHARES_TAKEN);
    EXPECT(shares_take(shares, of("192.0.2.1"), 1) == SHARES_ADDRESS_FULL);
    EXPECT(shares_take(shares, of("198.51.100.2"), 9) == SHARES_FULL);
    shares_give(shares, of("192.0.2.1"), 9);
    EXPECT(shares_take(shares, of("198.51.100.2"), 11) ==
           SHARES_TAKEN); /* and nobody else anything */
    EXPECT(shares_take(shares, of("192.0.2.1"), 1) == SHARES_FULL);
    shares_give(shares, of("198.51.100.2"), 11);
    shares_free(shares);
}
