/* endpoint.h -- where a node listens: an address and a port, compared and named. */
#pragma once

#include <sys/socket.h>

#include "base/slice.h"

enum { ENDPOINT_TEXT = 64 };

typedef struct Endpoint {
    struct sockaddr_storage address;
    socklen_t size;
} Endpoint;

/* From the 4 or 16 bytes of the type inet; INVALID for other sizes and for the address that means "any". */
MUST_USE Status endpoint_from(Slice bytes, uint16_t port, Endpoint *ret_endpoint);
/* From what the system's resolver gives. INVALID for other families than IPv4 and IPv6. */
MUST_USE Status endpoint_from_system(const struct sockaddr *address, socklen_t size, uint16_t port,
                                     Endpoint *ret_endpoint);
bool endpoint_equal(const Endpoint *a, const Endpoint *b);
uint16_t endpoint_port(const Endpoint *endpoint);
/* "127.0.0.1", or "127.0.0.1:9043" when the port is not the one that goes without saying. */
void endpoint_text(const Endpoint *endpoint, uint16_t usual_port, char ret_text[ENDPOINT_TEXT]);
