/* people.h -- the rooms where people come in and keep their account: what their pages show, and letters. */
#pragma once

#include "accounts/credentials.h"
#include "accounts/electorate.h"
#include "accounts/elsewhere.h"
#include "mail/letters.h"
#include "site/inside.h"

/* A form with one or two fields that were typed, and what was wrong with it. */
typedef struct PersonForm {
    Slice csrf;
    FormFault fault;
    Slice name, email;            /* as typed; passwords never come back */
    Slice next;                   /* where to go after logging in */
    Slice token;                  /* of a one-time link */
    Slice invitation;             /* the same of an invitation, on the form to join */
    const Electorate *electorate; /* there, too: who may */
    bool gone;                    /* the session that this browser had has ended */
    bool is_demo;
    bool can_mail;
    const Oidc *oidc; /* other sites to log in by, or NULL */
    Slice provider;   /* what the one is called that vouches for who registers */
} PersonForm;

typedef struct SessionsView {
    Slice csrf;
    Session *sessions;
    size_t session_count;
    Id own; /* the one that asks */
    Login *logins;
    size_t login_count;
    int64_t now_us;
    Arena *arena;
} SessionsView;

typedef struct TokensView {
    Slice csrf;
    FormFault fault;
    Token *tokens;
    size_t count;
    Slice made; /* the secret of a token that was just made; shown once */
    Slice name;
    int64_t now_us;
    Arena *arena;
} TokensView;

typedef struct LettersView {
    struct MailEntry *letters;
    size_t count;
    int64_t now_us;
    Arena *arena;
} LettersView;

/* The text of a letter with its lines kept, and addresses of this site as links. */
Markup letter_links(Slice text, Arena *arena);

/* Writes the letter and queues it: the mail's secret becomes the link `path`?token=…. Without a secret the link is the path alone. Nothing
 * is said to the visitor when it fails but what the page says anyway; the log has it. */
MUST_USE Status people_letter(WebRequest *request, LetterKind kind, const LinkMail *mail,
                              const char *path);
/* Where the request comes from, for sessions and signals. */
SessionOrigin people_origin(WebRequest *request);
/* throttle_take for the network address (IPv6: its /64) that the request comes from. Loopback is let through: it is this machine, or a proxy
 * that the settings do not name, behind which everybody would share one address. */
MUST_USE Status people_throttle(WebRequest *request, ThrottleRule rule);
/* throttle_take for a mailbox, before a link for it is made: a new link ends the older one, so a letter that will not go out must not
 * cost the one that did. */
MUST_USE Status people_throttle_letters(WebRequest *request, Slice email);
/* However it is written, it is one name. */
Slice people_name_key(Slice name_or_email, Arena *arena);
/* Waits until PEOPLE_FLOOR_MS have passed since `begun_us` (of the steady clock), so that the time of an answer does not tell whether there was
 * a letter to write. For routes on threads of their own (WebRoute.threads). */
enum { PEOPLE_FLOOR_MS = 150 };
void people_floor(WebRequest *request, int64_t begun_us);
/* A path of ours, or "/". */
Slice people_next(Slice next);

/* ---- Tries with a password (tries.c) ---------------------------------------------------------------------------------------- */

enum { TRIES_MOST = 3 };
typedef struct Try {
    ThrottleRule rule;
    Slice key;
} Try;
/* One try, and where it was counted. */
typedef struct Tries {
    Try taken[TRIES_MOST];
    size_t count;
} Tries;
typedef enum TryEnd {
    TRY_RIGHT, /* counts nowhere */
    TRY_WRONG,
    TRY_NONE, /* it did not come to a comparison */
} TryEnd;

/* Somebody wants to log in by this name or e-mail. THROTTLED counts nowhere. */
MUST_USE Status tries_begin(WebRequest *request, Slice name, Tries *ret_tries);
/* Somebody who is logged in says their password once more. Whoever is not cannot use that up, and who only has the session cannot guess
 * without bound. */
MUST_USE Status tries_begin_inside(WebRequest *request, Tries *ret_tries);
/* Somebody who has shown the account's password, or is logged in as it, shows a code of its second factor. The account must outlive the tries. */
MUST_USE Status tries_begin_code(WebRequest *request, const Account *account, Tries *ret_tries);
void tries_end(WebRequest *request, const Tries *tries, TryEnd end);
/* This browser belongs to the account's owner, who has just shown a password or the link of a letter: its tries are counted apart from those
 * of strangers, from now on. */
void tries_know_device(WebRequest *request, const Account *account);

/* ---- What pages and programs both do; rows are those of the route --------------------------------------------------------- */

/* Rows 0 and 1, name and password. REFUSED: they do not fit. */
MUST_USE Status people_check_password(WebRequest *request, const SessionOrigin *origin,
                                      Account *ret_account);
/* Begins a session, ends the one that this browser had, and sets the cookie. */
MUST_USE Status people_log_in(WebRequest *request, const Account *account,
                              const SessionOrigin *origin);
/* The account's owner has shown the password, or a provider vouches for them: leads on to `next` with a session, or to the page that asks for the
 * second factor (second.c). */
MUST_USE Status people_come_in(WebRequest *request, const Account *account,
                               const SessionOrigin *origin, Slice next);
/* Uses up a code of the account's second factor. REFUSED, THROTTLED. */
MUST_USE Status people_check_code(WebRequest *request, const Account *account, Slice code,
                                  const SessionOrigin *origin);
/* Row 0: the password of whoever is logged in, once more. REFUSED names `field`. */
MUST_USE Status people_check_own_password(WebRequest *request, const char *field,
                                          Account *ret_account);
/* Ends the session, and takes the cookie back. */
MUST_USE Status people_log_out(WebRequest *request);
/* Rows 0 to 3, name, e-mail, password and perhaps an invitation: registers and sends the letter. OK also when the e-mail is taken or not on the
 * roll; then a letter tells its owner so. */
MUST_USE Status people_register(WebRequest *request);
/* Who joins by another site. */
typedef struct ElsewhereJoiner {
    NewConnection who;
    Slice verified;   /* the address that it vouches for; empty: none */
    Slice invitation; /* the secret of its link; empty: none */
} ElsewhereJoiner;
/* The same without a password, for who logs in at another site; rows 0 and 1. Where the rule goes by addresses (domain, roll) and that site vouches for
 * one, the account's address must be that one; where it vouches for none, our letter proves the address, as everybody's. */
MUST_USE Status people_register_with(WebRequest *request, const ElsewhereJoiner *joiner);
/* What is wrong with such a form: all of it. `password` is NULL where none is asked for. */
FormFault people_faults(WebRequest *request, const PersonForm *form, const Slice *password);
/* Row 0, name or e-mail: sends the letter for a new password. OK also when nobody is called that. */
MUST_USE Status people_forgotten(WebRequest *request);
/* Rows 0 and 1, token of the link and new password. */
MUST_USE Status people_reset(WebRequest *request);
/* Rows 0 and 1, the present password and the new one; the other sessions end. By a session, as all that follows (account.c). */
MUST_USE Status people_change_password(WebRequest *request);
/* Row 0, the new e-mail address, where a letter goes; and row 0, the token of its link. */
MUST_USE Status people_begin_email(WebRequest *request);
MUST_USE Status people_finish_email(WebRequest *request);
/* Row 0, the password: withdraws all votes and deletes the account. */
MUST_USE Status people_leave(WebRequest *request);
