/* address_counts_test.c -- who holds how many. */
#include "net/address_counts.h"

#include "test.h"

static Address parsed(const char *text)
{
    Address address;
    EXPECT_STATUS(address_parse(slice_from(text), &address), STATUS_OK);
    return address;
}

TEST(an_ipv4_address_counts_alone_and_an_ipv6_one_with_its_64)
{
    AddressCounts *counts = address_counts_new();
    EXPECT_I64(address_counts_add(counts, parsed("192.0.2.1"), 1), 1);
    EXPECT_I64(address_counts_add(counts, parsed("192.0.2.2"), 1), 1);
    EXPECT_I64(address_counts_add(counts, parsed("192.0.2.1"), 5), 6);
    EXPECT_I64(address_counts_add(counts, parsed("2001:db8::1"), 1), 1);
    EXPECT_I64(address_counts_add(counts, parsed("2001:db8::2"), 1), 2);
    EXPECT_I64(address_counts_add(counts, parsed("2001:db8:0:1::1"), 1), 1);
    address_counts_remove(counts, parsed("192.0.2.1"), 6);
    EXPECT_I64(address_counts_add(counts, parsed("192.0.2.1"), 1), 1);
    address_counts_remove(counts, parsed("192.0.2.1"), 1);
    address_counts_remove(counts, parsed("192.0.2.2"), 1);
    address_counts_remove(counts, parsed("2001:db8::3"), 2);
    address_counts_remove(counts, parsed("2001:db8:0:1::1"), 1);
    address_counts_free(counts);
}

/* More addresses than there are buckets, so that many share one. */
TEST(addresses_that_share_a_bucket_are_kept_apart)
{
    enum { MANY = 20000 };
    AddressCounts *counts = address_counts_new();
    Address address = parsed("10.0.0.0");
    for (unsigned i = 0; i < MANY; i++) {
        address.bytes[14] = (unsigned char)(i >> 8);
        address.bytes[15] = (unsigned char)i;
        EXPECT_I64(address_counts_add(counts, address, i + 1), i + 1);
    }
    for (unsigned i = 0; i < MANY; i++) {
        address.bytes[14] = (unsigned char)(i >> 8);
        address.bytes[15] = (unsigned char)i;
        address_counts_remove(counts, address, i + 1);
    }
    address_counts_free(counts); /* which checks that none is left */
}

static void take_more_than_there_is(void)
{
    AddressCounts *counts = address_counts_new();
    address_counts_add(counts, parsed("192.0.2.1"), 1);
    address_counts_remove(counts, parsed("192.0.2.1"), 2);
}

TEST(to_take_away_more_than_was_counted_is_a_bug)
{
    EXPECT(test_is_bug(take_more_than_there_is));
}
