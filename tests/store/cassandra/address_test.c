/* address_test.c -- the address of a cluster: what is taken, and what is said about the rest. */
#include "store/cassandra/address.h"

#include "test.h"

static CassandraAddress good(const char *text)
{
    CassandraAddress address = {.host_count = 0};
    Reason reason = {.rule = ""};
    Status status = cassandra_address(slice_from(text), &address, &reason);
    if (status != STATUS_OK)
        test_fail(__FILE__, __LINE__, "%s: %s", text, reason.rule);
    return address;
}

static void expect_host(const CassandraHost *host, const char *name, int port)
{
    EXPECT_SLICE(slice_from(host->name), slice_from(name));
    EXPECT_I64(host->port, port);
}

TEST(hosts_with_and_without_ports)
{
    CassandraAddress address =
        good("cassandra://a.example.org,10.0.0.2:19042,[::1],[fe80::1%eth0]:7/site_1");
    EXPECT_I64(address.host_count, 4);
    expect_host(&address.hosts[0], "a.example.org", 9042);
    expect_host(&address.hosts[1], "10.0.0.2", 19042);
    expect_host(&address.hosts[2], "::1", 9042);
    expect_host(&address.hosts[3], "fe80::1%eth0", 7);
    EXPECT_SLICE(slice_from(address.keyspace), SLICE("site_1"));
    EXPECT_SLICE(slice_from(address.user), SLICE_EMPTY);
}

TEST(a_user_stands_before_the_last_at)
{
    CassandraAddress address = good("cassandra://ann@example.org@db/k");
    EXPECT_SLICE(slice_from(address.user), SLICE("ann@example.org"));
    expect_host(&address.hosts[0], "db", 9042);
}

TEST(sixteen_hosts_and_no_more)
{
    char text[400] = "cassandra://h";
    CassandraAddress address;
    for (int i = 0; i < CASSANDRA_HOSTS_MAX - 1; i++)
        strcpy(text + strlen(text), ",h");
    size_t end = strlen(text);
    strcpy(text + end, "/k");
    EXPECT_I64(good(text).host_count, CASSANDRA_HOSTS_MAX);
    strcpy(text + end, ",h/k");
    EXPECT_STATUS(cassandra_address(slice_from(text), &address, NULL), STATUS_INVALID);
}

TEST(what_is_wrong_is_said_and_nothing_is_set)
{
    static const struct {
        const char *text, *says;
    } CASES[] = {
        {"rocksdb", "begin with cassandra://"},
        {"cassandra:/a/k", "begin with cassandra://"},
        {"cassandra://a", "keyspace"},
        {"cassandra://a/", "keyspace"},
        {"cassandra://a/K", "keyspace"},
        {"cassandra://a/1k", "keyspace"},
        {"cassandra://a/k;", "keyspace"},
        {"cassandra://a/k/l", "keyspace"},
        {"cassandra://a/k234567890123456789012345678901234567890123456789", "keyspace"},
        {"cassandra:///k", "host"},
        {"cassandra://a,/k", "host"},
        {"cassandra://,a/k", "host"},
        {"cassandra://a b/k", "host"},
        {"cassandra://[::1/k", "[ has no ]"},
        {"cassandra://[]/k", "host"},
        {"cassandra://[::1]9042/k", "port"},
        {"cassandra://::1/k", "host"},
        {"cassandra://a:0/k", "port"},
        {"cassandra://a:65536/k", "port"},
        {"cassandra://a:/k", "port"},
        {"cassandra://a:+1/k", "port"},
        {"cassandra://@a/k", "user"},
        {"cassandra://ann:secret@a/k", "cassandra_password_file"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        CassandraAddress address = {.host_count = 77};
        Reason reason = {.rule = ""};
        Status status = cassandra_address(slice_from(CASES[i].text), &address, &reason);
        if (status != STATUS_INVALID || strstr(reason.rule, CASES[i].says) == NULL)
            test_fail(__FILE__, __LINE__, "%s: %s: %s", CASES[i].text, status_name(status),
                      reason.rule);
        EXPECT_SLICE(slice_from(reason.field), SLICE("store"));
        EXPECT_I64(address.host_count, 77);
    }
}
