/* endpoint.c -- see endpoint.h. */
#include "store/cql/endpoint.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>

static bool is_any(Slice bytes)
{
    for (size_t i = 0; i < bytes.size; i++)
        if (bytes.data[i] != 0)
            return false;
    return true;
}

Status endpoint_from(Slice bytes, uint16_t port, Endpoint *ret_endpoint)
{
    Endpoint endpoint = {.size = 0};
    if (is_any(bytes) || (bytes.size != 4 && bytes.size != 16))
        return STATUS_INVALID;
    if (bytes.size == 4) {
        struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};
        memcpy(&four.sin_addr, bytes.data, bytes.size);
        memcpy(&endpoint.address, &four, sizeof four);
        endpoint.size = sizeof four;
    } else {
        struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
        memcpy(&six.sin6_addr, bytes.data, bytes.size);
        memcpy(&endpoint.address, &six, sizeof six);
        endpoint.size = sizeof six;
    }
    *ret_endpoint = endpoint;
    return STATUS_OK;
}

/* The 4 or 16 bytes of the address. */
static Slice bytes_of(const struct sockaddr_storage *address)
{
    if (address->ss_family == AF_INET)
        return slice_of(&((const struct sockaddr_in *)address)->sin_addr, 4);
    return slice_of(&((const struct sockaddr_in6 *)address)->sin6_addr, 16);
}

Status endpoint_from_system(const struct sockaddr *address, socklen_t size, uint16_t port,
                            Endpoint *ret_endpoint)
{
    struct sockaddr_storage copy = {0};
    if ((address->sa_family != AF_INET && address->sa_family != AF_INET6) || size > sizeof copy)
        return STATUS_INVALID;
    memcpy(&copy, address, size);
    return endpoint_from(bytes_of(&copy), port, ret_endpoint);
}

bool endpoint_equal(const Endpoint *a, const Endpoint *b)
{
    return a->address.ss_family == b->address.ss_family && endpoint_port(a) == endpoint_port(b) &&
           slice_equal(bytes_of(&a->address), bytes_of(&b->address));
}

uint16_t endpoint_port(const Endpoint *endpoint)
{
    if (endpoint->address.ss_family == AF_INET)
        return ntohs(((const struct sockaddr_in *)&endpoint->address)->sin_port);
    return ntohs(((const struct sockaddr_in6 *)&endpoint->address)->sin6_port);
}

void endpoint_text(const Endpoint *endpoint, uint16_t usual_port, char ret_text[ENDPOINT_TEXT])
{
    char host[INET6_ADDRSTRLEN];
    bool six = endpoint->address.ss_family == AF_INET6;
    uint16_t port = endpoint_port(endpoint);
    CHECK(inet_ntop(endpoint->address.ss_family, bytes_of(&endpoint->address).data, host,
                    sizeof host) != NULL);
    if (port == usual_port)
        snprintf(ret_text, ENDPOINT_TEXT, "%s", host);
    else
        snprintf(ret_text, ENDPOINT_TEXT, six ? "[%s]:%u" : "%s:%u", host, port);
}
