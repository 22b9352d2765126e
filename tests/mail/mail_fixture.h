/* mail_fixture.h -- for tests of the queue: a store, a clock that is moved by hand, and a post office in place of a mail server.
 *
 * Two instances stand on one store: `mail`, whose store may be made to fail (faulty.h), and `other`. The post office answers as it is told and
 * remembers what it took. */
#pragma once

#include "contract.h"
#include "faulty.h"
#include "mail/mail.h"
#include "memory_log.h"

typedef enum OfficeMood {
    OFFICE_TAKES,
    OFFICE_LATER,    /* 451 about the message */
    OFFICE_REFUSES,  /* 550 about the message */
    OFFICE_IS_AWAY,  /* nobody there */
    OFFICE_LOSES_US, /* takes it, and the line breaks before it can say so */
} OfficeMood;

enum { OFFICE_MAX = 10000 };

typedef struct Office {
    OfficeMood mood;
    _Atomic int attempts;
    _Atomic int taken;
    char ids[OFFICE_MAX][ID_TEXT + 1]; /* of what was taken, by Message-ID */
    void (*before)(void);              /* when somebody comes; NULL: nothing */
} Office;

/* An instance, and the journal that it has in memory. */
typedef struct MailInstance {
    Mail *mail;
    Journals *journals;
    MemoryLog *kept;
} MailInstance;
enum { MAIL_INSTANCES_MAX = 8 };

typedef struct MailFixture {
    Store *store;
    World world;
    Faulty faulty;
    Vault *vault;
    Config config;
    MailInstance instances[MAIL_INSTANCES_MAX];
    Mail *mail, *other;
    bool without_journal; /* for those that are opened from now on */
    Office office;
} MailFixture;

extern MailFixture fixture;

void mail_fixture_begin(void);
/* The same with other settings: `set_up` changes fixture.config. */
void mail_fixture_begin_with(void (*set_up)(void));
void mail_fixture_end(void);
/* The process ends without a word and begins again. */
void mail_fixture_restart(void);
Mail *mail_fixture_open(Store *store);
void mail_fixture_close(Mail *mail);
/* What the instance's journal is kept in. */
MemoryLog *mail_fixture_kept(Mail *mail);

/* A message that is this one by its number. */
MailMessage mail_fixture_message(int number);
/* Turns until nothing is to be done now. */
void mail_fixture_run(Mail *mail);
/* Time passes in steps, with turns between them. */
void mail_fixture_run_for(Mail *mail, int64_t seconds);
/* How often a message was taken. */
int mail_fixture_taken(Mail *mail, int number);
size_t mail_fixture_count(MailState state);
/* The same of what was queued in the last days: a tenth of the rows of the index. */
size_t mail_fixture_count_recent(MailState state);
double mail_fixture_metric(Mail *mail, const char *name);
