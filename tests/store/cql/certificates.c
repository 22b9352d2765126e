/* certificates.c -- see certificates.h. */
#include "certificates.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>

static void extend(X509 *certificate, X509 *issuer, int kind, const char *value)
{
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, kind, value);
    CHECK(extension != NULL && X509_add_ext(certificate, extension, -1) == 1);
    X509_EXTENSION_free(extension);
}

static X509 *certificate_new(EVP_PKEY *key, const char *name, long serial)
{
    X509 *certificate = X509_new();
    CHECK(certificate != NULL && X509_set_version(certificate, X509_VERSION_3) == 1);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 86400);
    CHECK(X509_set_pubkey(certificate, key) == 1);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                               (const unsigned char *)name, -1, -1, 0);
    return certificate;
}

static const char *write_file(const Authority *authority, const char *name, X509 *certificate,
                              EVP_PKEY *key)
{
    const char *path =
        arena_print(authority->arena, "%s/%s.pem%c", authority->directory, name, '\0').data;
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && PEM_write_X509(file, certificate) == 1);
    CHECK(key == NULL || PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL) == 1);
    CHECK(fclose(file) == 0);
    return path;
}

Authority *authority_new(Arena *arena, const char *directory, const char *name)
{
    Authority *authority = ARENA_NEW(arena, Authority);
    EVP_PKEY *key = EVP_EC_gen("P-256");
    CHECK(key != NULL);
    X509 *certificate = certificate_new(key, name, 1);
    X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
    extend(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE");
    extend(certificate, certificate, NID_key_usage, "critical,keyCertSign");
    CHECK(X509_sign(certificate, key, EVP_sha256()) > 0);
    *authority = (Authority){.arena = arena,
                             .directory = directory,
                             .key = key,
                             .certificate = certificate,
                             .serial = 1};
    authority->file = write_file(authority, name, certificate, NULL);
    return authority;
}

void authority_free(Authority *authority)
{
    X509_free(authority->certificate);
    EVP_PKEY_free(authority->key);
}

const char *authority_sign(Authority *authority, const char *name, const char *names)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    CHECK(key != NULL);
    X509 *certificate = certificate_new(key, name, ++authority->serial);
    X509_set_issuer_name(certificate, X509_get_subject_name(authority->certificate));
    extend(certificate, authority->certificate, NID_subject_alt_name, names);
    CHECK(X509_sign(certificate, authority->key, EVP_sha256()) > 0);
    const char *path = write_file(authority, name, certificate, key);
    X509_free(certificate);
    EVP_PKEY_free(key);
    return path;
}
