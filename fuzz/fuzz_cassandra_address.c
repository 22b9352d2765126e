/* fuzz_cassandra_address.c -- the address of a cluster. What is taken is within its bounds, and says the same when it is written again. */
#include <stdio.h>

#include "base/bytes.h"
#include "fuzz.h"
#include "store/cassandra/address.h"

static void write_again(const CassandraAddress *address, Buffer *out)
{
    buffer_text(out, "cassandra://");
    if (address->user[0] != '\0')
        buffer_print(out, "%s@", address->user);
    for (size_t i = 0; i < address->host_count; i++) {
        const CassandraHost *host = &address->hosts[i];
        bool bracket = strpbrk(host->name, ":%") != NULL;
        buffer_print(out, "%s%s%s%s:%u", i > 0 ? "," : "", bracket ? "[" : "", host->name,
                     bracket ? "]" : "", (unsigned)host->port);
    }
    buffer_print(out, "/%s", address->keyspace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    BUFFER_SCOPE Buffer text = {0};
    CassandraAddress address, again;
    Reason reason;
    if (cassandra_address(slice_of(data, size), &address, &reason) != STATUS_OK)
        return 0;
    CHECK(address.host_count >= 1 && address.host_count <= CASSANDRA_HOSTS_MAX);
    write_again(&address, &text);
    CHECK(cassandra_address(buffer_slice(&text), &again, &reason) == STATUS_OK);
    CHECK(again.host_count == address.host_count);
    CHECK(strcmp(again.user, address.user) == 0 && strcmp(again.keyspace, address.keyspace) == 0);
    for (size_t i = 0; i < address.host_count; i++)
        CHECK(strcmp(again.hosts[i].name, address.hosts[i].name) == 0 &&
              again.hosts[i].port == address.hosts[i].port);
    return 0;
}
