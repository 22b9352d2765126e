/* signature.c -- see signature.h. */
#include "oidc/signature.h"

#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

enum {
    RSA_LEAST = 2048 / 8,
    RSA_MAX = 8192 / 8,
    EXPONENT_MAX = 8,
    EC_PART = 32,
    POINT = 1 + 2 * EC_PART
};

/* A number of exactly this many bytes in front of which zeros may stand. */
static Slice without_zeros(Slice number)
{
    while (number.size > 0 && number.data[0] == '\0')
        number = slice_after(number, 1);
    return number;
}

/* NULL when it is none. Takes over nothing. */
static EVP_PKEY *make_key(const char *kind, OSSL_PARAM_BLD *parts)
{
    EVP_PKEY *key = NULL;
    OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(parts);
    EVP_PKEY_CTX *maker = EVP_PKEY_CTX_new_from_name(NULL, kind, NULL);
    if (params == NULL || maker == NULL || EVP_PKEY_fromdata_init(maker) != 1 ||
        EVP_PKEY_fromdata(maker, &key, EVP_PKEY_PUBLIC_KEY, params) != 1)
        key = NULL;
    EVP_PKEY_CTX_free(maker);
    OSSL_PARAM_free(params);
    return key;
}

static EVP_PKEY *rsa_key(const OidcKey *key)
{
    Slice n = without_zeros(key->a), e = without_zeros(key->b);
    if (n.size < RSA_LEAST || n.size > RSA_MAX || e.size == 0 || e.size > EXPONENT_MAX)
        return NULL;
    OSSL_PARAM_BLD *parts = OSSL_PARAM_BLD_new();
    BIGNUM *modulus = BN_bin2bn((const unsigned char *)n.data, (int)n.size, NULL),
           *exponent = BN_bin2bn((const unsigned char *)e.data, (int)e.size, NULL);
    CHECK(parts != NULL && modulus != NULL && exponent != NULL);
    EVP_PKEY *made = NULL;
    if (OSSL_PARAM_BLD_push_BN(parts, OSSL_PKEY_PARAM_RSA_N, modulus) == 1 &&
        OSSL_PARAM_BLD_push_BN(parts, OSSL_PKEY_PARAM_RSA_E, exponent) == 1)
        made = make_key("RSA", parts);
    OSSL_PARAM_BLD_free(parts);
    BN_free(modulus);
    BN_free(exponent);
    return made;
}

static EVP_PKEY *ec_key(const OidcKey *key)
{
    unsigned char point[POINT] = {POINT_CONVERSION_UNCOMPRESSED};
    if (key->a.size != EC_PART || key->b.size != EC_PART)
        return NULL;
    memcpy(point + 1, key->a.data, EC_PART);
    memcpy(point + 1 + EC_PART, key->b.data, EC_PART);
    OSSL_PARAM_BLD *parts = OSSL_PARAM_BLD_new();
    CHECK(parts != NULL);
    EVP_PKEY *made = NULL;
    if (OSSL_PARAM_BLD_push_utf8_string(parts, OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) == 1 &&
        OSSL_PARAM_BLD_push_octet_string(parts, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof point) == 1)
        made = make_key("EC", parts);
    OSSL_PARAM_BLD_free(parts);
    return made;
}

static bool verify(EVP_PKEY *key, Slice content, const unsigned char *signature, size_t size)
{
    EVP_MD_CTX *check = EVP_MD_CTX_new();
    CHECK(check != NULL);
    bool fits = EVP_DigestVerifyInit(check, NULL, EVP_sha256(), NULL, key) == 1 &&
                EVP_DigestVerify(check, signature, size, (const unsigned char *)content.data,
                                 content.size) == 1;
    EVP_MD_CTX_free(check);
    return fits;
}

/* Tokens bear both numbers side by side; OpenSSL wants them in DER. */
static bool verify_ec(EVP_PKEY *key, const OidcToken *token)
{
    const unsigned char *bytes = (const unsigned char *)token->signature.data;
    if (token->signature.size != 2 * (size_t)EC_PART)
        return false;
    ECDSA_SIG *pair = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn(bytes, EC_PART, NULL), *s = BN_bin2bn(bytes + EC_PART, EC_PART, NULL);
    CHECK(pair != NULL && r != NULL && s != NULL && ECDSA_SIG_set0(pair, r, s) == 1);
    unsigned char *der = NULL;
    int size = i2d_ECDSA_SIG(pair, &der);
    bool fits = size > 0 && verify(key, token->content, der, (size_t)size);
    OPENSSL_free(der);
    ECDSA_SIG_free(pair);
    return fits;
}

bool signature_fits(const OidcKey *key, const OidcToken *token)
{
    if (key->alg != token->alg)
        return false;
    EVP_PKEY *made = key->alg == OIDC_RS256 ? rsa_key(key) : ec_key(key);
    if (made == NULL)
        return false;
    bool fits = key->alg == OIDC_RS256
                    ? verify(made, token->content, (const unsigned char *)token->signature.data,
                             token->signature.size)
                    : verify_ec(made, token);
    EVP_PKEY_free(made);
    return fits;
}
