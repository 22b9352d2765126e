/* address_counts.h -- who holds how many of something, by address: an IPv4 address, or an IPv6 /64, since one customer gets a whole
 * /64. Has no lock of its own. */
#pragma once

#include "net/address.h"

typedef struct AddressCounts AddressCounts;

AddressCounts *address_counts_new(void);
void address_counts_free(AddressCounts *address_counts);
/* So many more; returns how many that are now. */
int64_t address_counts_add(AddressCounts *address_counts, Address address, int64_t amount);
/* So many less of what address_counts_add counted. */
void address_counts_remove(AddressCounts *address_counts, Address address, int64_t amount);
