/* tls.h -- TLS for the connections of the client: certificates are checked, and so are the names in them.
 *
 * TLS 1.2 or newer. The node's certificate must lead to one of the authorities that we were given (or that the system has) and must name the
 * host that we meant to reach, by name or by address; anything else ends the handshake before a byte of ours is sent. */
#pragma once

#include <sys/types.h>

#include "store/cql/client.h"

typedef struct Tls Tls;
typedef struct TlsSession TlsSession;

/* INVALID: a file cannot be used; the reason names it. */
MUST_USE Status tls_new(const CqlTls *options, Tls **ret_tls, Reason *reason);
void tls_free(Tls *tls);

/* On a connected socket; `name` is a host name or an address. NULL: the name cannot be checked. */
TlsSession *tls_session(const Tls *tls, int fd, const char *name);
void tls_session_free(TlsSession *session);

typedef enum TlsStep { TLS_DONE, TLS_WANTS_READ, TLS_WANTS_WRITE, TLS_ENDED, TLS_FAILED } TlsStep;

/* TLS_FAILED of the handshake: tls_words says why. */
TlsStep tls_handshake(TlsSession *session);
/* DONE with at least one byte in *ret_count. */
TlsStep tls_read(TlsSession *session, char *to, size_t size, size_t *ret_count);
TlsStep tls_write(TlsSession *session, Slice bytes, size_t *ret_count);
/* Bytes that were taken off the socket and not yet read: epoll does not tell of them. */
bool tls_pending(const TlsSession *session);
/* What was wrong with the certificate, or with the connection; whether it was the certificate. */
const char *tls_words(const TlsSession *session, bool *ret_certificate);
