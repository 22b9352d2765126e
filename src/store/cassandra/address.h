/* address.h -- the address of a cluster as a person writes it: cassandra://[user@]host1[:port],host2/keyspace
 *
 * Hosts are names, IPv4 addresses, or IPv6 addresses in brackets; at most CASSANDRA_HOSTS_MAX, of which one that answers is enough: the
 * others are found by it. A keyspace begins with a lower-case letter and has letters, digits and _, so that it needs no quotes. A
 * password has no place here, since an address stands in lists of processes. */
#pragma once

#include "base/slice.h"

enum {
    CASSANDRA_HOSTS_MAX = 16,
    CASSANDRA_HOST_MAX = 253,
    CASSANDRA_KEYSPACE_MAX = 48,
    CASSANDRA_USER_MAX = 100,
};

typedef struct CassandraHost {
    char name[CASSANDRA_HOST_MAX + 1];
    uint16_t port;
} CassandraHost;

typedef struct CassandraAddress {
    CassandraHost hosts[CASSANDRA_HOSTS_MAX];
    size_t host_count;
    char user[CASSANDRA_USER_MAX + 1]; /* empty: not given */
    char keyspace[CASSANDRA_KEYSPACE_MAX + 1];
} CassandraAddress;

/* INVALID, for field `store`, with the part that is wrong. */
MUST_USE Status cassandra_address(Slice text, CassandraAddress *ret_address, Reason *reason);
