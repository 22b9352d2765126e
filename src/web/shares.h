/* shares.h -- a bounded amount of something that many ask for at once, and how much of it one network address may hold.
 *
 * What is shared is memory for bodies, or places in a pool. Promises:
 *   1. All together never hold more than `total`.
 *   2. One customer's network (an IPv4 address, or an IPv6 /64) never holds more than `per_address`, and the networks around it never more than
 *      some times that (address_networks): whoever has many addresses has many shares, and not all of it.
 *   3. Whoever holds nothing gets what is asked for, however much, as long as promise 1 allows: what is larger than a share can still be
 *      had, one at a time. The same is true of the total, when nobody holds anything.
 * Loopback and the exempt addresses count only for the total. All functions may be called from any thread. */
#pragma once

#include "net/address.h"

typedef struct Shares Shares;

typedef enum SharesAnswer {
    SHARES_TAKEN,
    SHARES_ADDRESS_FULL, /* the address, or its network, holds its share */
    SHARES_FULL,
} SharesAnswer;

/* 0 for per_address: addresses are not bounded. `exempt` must outlive it. */
Shares *shares_new(int64_t total, int64_t per_address, const AddressRanges *exempt);
/* Everything must have been given back. */
void shares_free(Shares *shares);
MUST_USE SharesAnswer shares_take(Shares *shares, Address address, int64_t amount);
/* The same address and amount as were taken. */
void shares_give(Shares *shares, Address address, int64_t amount);
int64_t shares_taken(Shares *shares);
