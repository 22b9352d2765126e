/* shares.c -- see shares.h. */
#include "web/shares.h"

#include <pthread.h>
#include <stdlib.h>

#include "net/address_counts.h"

struct Shares {
    pthread_mutex_t lock;
    int64_t total, per_address, taken;
    const AddressRanges *exempt;
    AddressCounts *counts[ADDRESS_NETWORKS]; /* the narrowest networks first */
};

Shares *shares_new(int64_t total, int64_t per_address, const AddressRanges *exempt)
{
    Shares *shares = calloc(1, sizeof *shares);
    CHECK(shares != NULL && pthread_mutex_init(&shares->lock, NULL) == 0);
    shares->total = total;
    shares->per_address = per_address;
    shares->exempt = exempt;
    for (size_t i = 0; i < ADDRESS_NETWORKS; i++)
        shares->counts[i] = address_counts_new();
    return shares;
}

void shares_free(Shares *shares)
{
    if (shares == NULL)
        return;
    CHECK(shares->taken == 0);
    for (size_t i = 0; i < ADDRESS_NETWORKS; i++)
        address_counts_free(shares->counts[i]);
    pthread_mutex_destroy(&shares->lock);
    free(shares);
}

static bool is_exempt(const Shares *shares, Address address)
{
    return shares->per_address == 0 || address_is_loopback(address) ||
           address_in_ranges(address, shares->exempt);
}

/* Locked: out of the first `levels` of its networks. */
static void uncount(Shares *shares, Address address, int64_t amount, size_t levels)
{
    AddressNetwork networks[ADDRESS_NETWORKS];
    size_t count = address_networks(address, networks);
    for (size_t i = 0; i < count && i < levels; i++)
        address_counts_remove(shares->counts[i], networks[i].address, amount);
}

/* Locked. False, and as it was, when one of its networks would then hold more than its share, and holds something already. */
static bool count_holder(Shares *shares, Address address, int64_t amount)
{
    AddressNetwork networks[ADDRESS_NETWORKS];
    size_t count = address_networks(address, networks);
    for (size_t i = 0; i < count; i++) {
        int64_t most = shares->per_address * networks[i].times;
        int64_t held = address_counts_add(shares->counts[i], networks[i].address, amount);
        if (held <= most || held == amount)
            continue;
        uncount(shares, address, amount, i + 1);
        return false;
    }
    return true;
}

static void uncount_holder(Shares *shares, Address address, int64_t amount)
{
    if (!is_exempt(shares, address))
        uncount(shares, address, amount, ADDRESS_NETWORKS);
}

static SharesAnswer take(Shares *shares, Address address, int64_t amount)
{
    if (!is_exempt(shares, address) && !count_holder(shares, address, amount))
        return SHARES_ADDRESS_FULL;
    if (amount > shares->total - shares->taken && shares->taken > 0) {
        uncount_holder(shares, address, amount);
        return SHARES_FULL;
    }
    shares->taken += amount;
    return SHARES_TAKEN;
}

SharesAnswer shares_take(Shares *shares, Address address, int64_t amount)
{
    CHECK(amount > 0);
    pthread_mutex_lock(&shares->lock);
    SharesAnswer answer = take(shares, address, amount);
    pthread_mutex_unlock(&shares->lock);
    return answer;
}

void shares_give(Shares *shares, Address address, int64_t amount)
{
    pthread_mutex_lock(&shares->lock);
    uncount_holder(shares, address, amount);
    shares->taken -= amount;
    CHECK(shares->taken >= 0);
    pthread_mutex_unlock(&shares->lock);
}

int64_t shares_taken(Shares *shares)
{
    pthread_mutex_lock(&shares->lock);
    int64_t taken = shares->taken;
    pthread_mutex_unlock(&shares->lock);
    return taken;
}
