/* cookies.c -- see cookies.h. */
#include "web/cookies.h"

const CookieRow COOKIE_ROWS[COOKIE_KINDS] = {
#define X(name, word, life_s, purpose, when) {word, life_s, purpose, when},
    COOKIE_LIST(X)
#undef X
};
