/* tls.c -- see tls.h. OpenSSL on sockets that do not block. */
#include "store/cql/tls.h"

#include <arpa/inet.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

struct Tls {
    SSL_CTX *context;
};

struct TlsSession {
    SSL *ssl;
    char words[128];
    bool certificate;
};

/* ---- Files ------------------------------------------------------------------------------------------------- */

/* The first error of the list is nearest to the cause; one of the system has words of the system. */
static const char *error_words(void)
{
    unsigned long error = ERR_peek_error();
    const char *words = ERR_SYSTEM_ERROR(error) ? strerrordesc_np(ERR_GET_REASON(error))
                                                : ERR_reason_error_string(error);
    ERR_clear_error();
    return words != NULL ? words : "it cannot be read";
}

static Status load_files(SSL_CTX *context, const CqlTls *options, Reason *reason)
{
    if (options->ca_file == NULL ? SSL_CTX_set_default_verify_paths(context) != 1
                                 : SSL_CTX_load_verify_file(context, options->ca_file) != 1)
        return reason_set(reason, STATUS_INVALID, "ca_file", "%s: %s",
                          options->ca_file != NULL ? options->ca_file : "the system's authorities",
                          error_words());
    if (options->cert_file != NULL &&
        SSL_CTX_use_certificate_chain_file(context, options->cert_file) != 1)
        return reason_set(reason, STATUS_INVALID, "cert_file", "%s: %s", options->cert_file,
                          error_words());
    if (options->key_file != NULL &&
        SSL_CTX_use_PrivateKey_file(context, options->key_file, SSL_FILETYPE_PEM) != 1)
        return reason_set(reason, STATUS_INVALID, "key_file", "%s: %s", options->key_file,
                          error_words());
    return STATUS_OK;
}

Status tls_new(const CqlTls *options, Tls **ret_tls, Reason *reason)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    CHECK(context != NULL);
    CHECK(SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    Status status = load_files(context, options, reason);
    if (status != STATUS_OK) {
        SSL_CTX_free(context);
        return status;
    }
    Tls *tls = malloc(sizeof *tls);
    CHECK(tls != NULL);
    tls->context = context;
    *ret_tls = tls;
    return STATUS_OK;
}

void tls_free(Tls *tls)
{
    if (tls == NULL)
        return;
    SSL_CTX_free(tls->context);
    free(tls);
}

/* ---- Sessions ---------------------------------------------------------------------------------------------- */

static bool is_address(const char *name)
{
    unsigned char bytes[16];
    return inet_pton(AF_INET, name, bytes) == 1 || inet_pton(AF_INET6, name, bytes) == 1;
}

static bool demand_name(SSL *ssl, const char *name)
{
    if (is_address(name))
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name) == 1;
    char wanted[TLSEXT_MAXLEN_host_name + 1]; /* the macro takes no constant */
    if (strlen(name) >= sizeof wanted)
        return false;
    memcpy(wanted, name, strlen(name) + 1);
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set1_host(ssl, name) == 1 && SSL_set_tlsext_host_name(ssl, wanted) == 1;
}

TlsSession *tls_session(const Tls *tls, int fd, const char *name)
{
    SSL *ssl = SSL_new(tls->context);
    CHECK(ssl != NULL);
    if (SSL_set_fd(ssl, fd) != 1 || !demand_name(ssl, name)) {
        SSL_free(ssl);
        ERR_clear_error();
        return NULL;
    }
    SSL_set_connect_state(ssl);
    TlsSession *session = calloc(1, sizeof *session);
    CHECK(session != NULL);
    session->ssl = ssl;
    return session;
}

void tls_session_free(TlsSession *session)
{
    if (session == NULL)
        return;
    SSL_free(session->ssl);
    free(session);
}

static void keep_words(TlsSession *session)
{
    long verified = SSL_get_verify_result(session->ssl);
    const char *words = error_words();
    session->certificate = verified != X509_V_OK;
    if (session->certificate)
        words = X509_verify_cert_error_string(verified);
    size_t size = strnlen(words, sizeof session->words - 1);
    memcpy(session->words, words, size);
    session->words[size] = '\0';
}

/* OpenSSL keeps a list of errors for each thread: it must be empty before a call, or an old one speaks for the new. */
static TlsStep step_of(TlsSession *session, int result)
{
    switch (SSL_get_error(session->ssl, result)) {
    case SSL_ERROR_NONE:
        return TLS_DONE;
    case SSL_ERROR_WANT_READ:
        return TLS_WANTS_READ;
    case SSL_ERROR_WANT_WRITE:
        return TLS_WANTS_WRITE;
    case SSL_ERROR_ZERO_RETURN:
        return TLS_ENDED;
    default:
        keep_words(session);
        return TLS_FAILED;
    }
}

TlsStep tls_handshake(TlsSession *session)
{
    ERR_clear_error();
    return step_of(session, SSL_do_handshake(session->ssl));
}

TlsStep tls_read(TlsSession *session, char *to, size_t size, size_t *ret_count)
{
    ERR_clear_error();
    int count = SSL_read(session->ssl, to, size > INT_MAX ? INT_MAX : (int)size);
    TlsStep step = step_of(session, count);
    if (step == TLS_DONE)
        *ret_count = (size_t)count;
    return step;
}

TlsStep tls_write(TlsSession *session, Slice bytes, size_t *ret_count)
{
    ERR_clear_error();
    int count =
        SSL_write(session->ssl, bytes.data, bytes.size > INT_MAX ? INT_MAX : (int)bytes.size);
    TlsStep step = step_of(session, count);
    if (step == TLS_DONE)
        *ret_count = (size_t)count;
    return step;
}

bool tls_pending(const TlsSession *session)
{
    return SSL_pending(session->ssl) > 0;
}

const char *tls_words(const TlsSession *session, bool *ret_certificate)
{
    *ret_certificate = session->certificate;
    return session->words;
}
