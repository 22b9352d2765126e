/* smtp.h -- one message to one mail server, by libcurl.
 *
 * A connection a message: it is closed before the call returns, so that a server that does not take its leave holds up this call, by at most
 * twice `seconds`, and nothing later. No proxy, no configuration but what is passed. */
#pragma once

#include <stdatomic.h>

#include "base/arena.h"

enum { SMTP_WORDS = 240 };

/* What came of it. */
typedef struct SmtpAnswer {
    bool taken; /* the server has it */
    bool
        about_message; /* not taken: the server's code is about this message, not about us or itself */
    int code;          /* the last one it gave, 0 for none */
    char words[SMTP_WORDS]; /* its last line, or what went wrong on the way; ASCII */
    bool words_are_ours;    /* the latter */
} SmtpAnswer;

typedef struct SmtpJob {
    const char *from, *to; /* addresses that were checked */
    Slice content;
    const _Atomic bool *ends; /* becomes true: give up within about a second */
} SmtpJob;

/* How messages leave. The simulator and tests of the queue pass their own. */
typedef struct MailTransport {
    void (*send)(void *self, const SmtpJob *job, SmtpAnswer *ret_answer);
    void *self;
} MailTransport;

/* Texts live as long as the server is used. */
typedef struct SmtpServer {
    const char *url; /* smtp://host:port/name or smtps://…; the name is what we call ourselves */
    const char *user, *password; /* NULL: no log-in */
    const char *ca_file;         /* NULL: those of the system */
    bool starts_tls;             /* smtp://: STARTTLS or nothing */
    int64_t seconds;             /* for all of it */
} SmtpServer;

/* As text settings have them; empty is none. */
typedef struct SmtpSettings {
    Slice url, user, ca_file, tls;
    Slice password;
    Slice name; /* ours */
    int64_t seconds;
} SmtpSettings;

/* INVALID names the setting. A password goes over TLS, or to this machine, or not at all. */
MUST_USE Status smtp_server_from(const SmtpSettings *settings, Arena *arena, SmtpServer *ret_server,
                                 Reason *reason);
/* This machine, and no other: localhost, [::1], or a number of 127.0.0.0/8. */
bool smtp_is_loopback(Slice host);
/* `server` is a const SmtpServer. */
MailTransport smtp_transport(SmtpServer *server);
