/* certificates.h -- an authority of the test's own, and certificates that it signs. */
#pragma once

#include "base/arena.h"

typedef struct Authority {
    Arena *arena; /* of the files' names */
    const char *directory;
    const char *file; /* "NAME.pem" in the directory, its certificate */
    struct evp_pkey_st *key;
    struct x509_st *certificate;
    long serial;
} Authority;
Authority *authority_new(Arena *arena, const char *directory, const char *name);
void authority_free(Authority *authority);
/* "NAME.pem" with a certificate for `names` ("IP:127.0.0.1,DNS:localhost") and its key. */
const char *authority_sign(Authority *authority, const char *name, const char *names);
