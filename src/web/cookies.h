/* cookies.h -- every cookie that this software sets, as a table.
 *
 * web_set_cookie (request.h) takes a row of it and nothing else, so a browser gets no cookie that is not here. The page on privacy is
 * printed from it (operations/privacy.h): the words are for the person whose browser keeps the cookie. */
#pragma once

#include <stdint.h>

/*    name, what browsers call it, how many seconds it is kept at most, what it is for, when it is set */
#define COOKIE_LIST(X)                                                                             \
    X(SESSION, "session", 60 * 86400,                                                              \
      "Says who you are. Gone when you log out, and when the browser is closed unless you chose "  \
      "to stay logged in.",                                                                        \
      "When you log in.")                                                                          \
    X(VISITOR, "visitor", 400 * 86400,                                                             \
      "A random number that ties a form to your browser, so that no other site can send it for "   \
      "you. When you join, a hash of it is one of the signals of duplicate accounts.",             \
      "When you open a page with a form without being logged in.")                                 \
    X(DEVICE, "device", 400 * 86400,                                                               \
      "A random number by which your log-ins are told from those of strangers, so that nobody "    \
      "can lock you out by guessing passwords.",                                                   \
      "When you log in or set a new password.")                                                    \
    X(HALF, "half", 600,                                                                           \
      "Keeps that your password was right until you have entered the code of your second factor.", \
      "When you log in with a second factor.")                                                     \
    X(JOURNEY, "journey", 600, "Ties a log-in at another site to your browser.",                   \
      "When you go to another site to log in.")                                                    \
    X(JOINING, "joining", 1800,                                                                    \
      "Keeps, encrypted, what another site said of who you are until you have chosen a name.",     \
      "When you join by a log-in at another site.")

typedef enum CookieKind {
#define X(name, word, life_s, purpose, when) COOKIE_##name,
    COOKIE_LIST(X)
#undef X
        COOKIE_KINDS
} CookieKind;

enum {
#define X(name, word, life_s, purpose, when) COOKIE_##name##_S = (life_s),
    COOKIE_LIST(X)
#undef X
};

typedef struct CookieRow {
    const char *name;
    int64_t life_s;
    const char *purpose, *when;
} CookieRow;
extern const CookieRow COOKIE_ROWS[COOKIE_KINDS];

/* How long the browser is to keep one. */
typedef enum CookieLife {
    COOKIE_KEPT,       /* as long as its row says */
    COOKIE_WHILE_OPEN, /* until the browser is closed */
    COOKIE_GONE,       /* it is deleted */
} CookieLife;
