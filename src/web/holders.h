/* holders.h -- who holds how many of something, by address: an IPv4 address, or an IPv6 /64, since one customer gets a whole
 * /64. Has no lock of its own. */
#pragma once

#include "web/address.h"

typedef struct Holders Holders;

Holders *holders_new(void);
void holders_free(Holders *holders);
/* One more; returns how many that are now. */
int64_t holders_add(Holders *holders, Address address);
/* One less of what holders_add counted. */
void holders_remove(Holders *holders, Address address);
