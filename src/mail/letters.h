/* letters.h -- the mails of the site, as a table: for each kind its subject, its lines and its one button.
 *
 * Pure. A letter is written once, in words with {names} of facts in them, and comes out as text and as HTML that say the same. Promises:
 *   1. A fact is written by its type: a name, or anything else that people wrote, cannot become markup, a second line or a link, also not where a mail
 *      program makes links of what looks like one: host names and addresses in it are broken by blanks of no width. A link is taken only when it
 *      begins with http:// or https:// and holds nothing that needs escaping.
 *   2. Every letter says what happened, what to do, and what happens when one does nothing.
 *   3. A letter whose link does something asks for a button press behind it: opening the link alone changes nothing.
 * Somebody who asks for a new password with an address that nobody has gets no letter: there is nobody to write to, and the page says the
 * same as for everybody. Somebody who registers with an address that is taken is answered by a letter to its owner
 * (already-registered), so that the page says the same there too. */
#pragma once

#include "base/arena.h"
#include "mail/message.h"

typedef enum LetterKind {
    LETTER_CONFIRM,
    LETTER_ALREADY_REGISTERED,
    LETTER_RESET,
    LETTER_NEW_EMAIL,             /* to the new address, which must be confirmed */
    LETTER_NEW_EMAIL_NOT_ON_ROLL, /* to the new address, which is not admitted */
    LETTER_EMAIL_CHANGED,         /* to the old address, with the way back */
    LETTER_ADDRESS_USED, /* to an address that somebody wants to register, and that stands for an account */
    LETTER_PASSWORD_CHANGED,
    LETTER_ACCOUNT_DELETED,
    LETTER_SECOND_ON,
    LETTER_SECOND_OFF,
    LETTER_LOOKED_AT,        /* a command showed what is the person's own */
    LETTER_ANSWER_DUE,       /* to those who answer officially */
    LETTER_POLICY_HIDDEN,    /* to its owner */
    LETTER_RIGHTS_TAKEN,     /* to whose rights or roles were taken away */
    LETTER_RIGHTS_GIVEN,     /* to whose rights or roles were given back */
    LETTER_REPORT,           /* to moderators */
    LETTER_REPORT_ACTED,     /* to who reported */
    LETTER_REPORT_DISMISSED, /* the same */
    LETTER_INVITATION,       /* to somebody without an account */
    LETTER_NOT_ON_ROLL,      /* to an address that somebody wants to register, and may not */
    LETTER_DIGEST,           /* what happened, as items */
    LETTER_JOURNALS,         /* to admins: what is wrong with the journals, as items */
    LETTER_TEST,
    LETTER_KINDS
} LetterKind;

/* What the letters speak of. A letter without a button needs no link; `valid_s` is for those whose link ends. */
typedef struct LetterFacts {
    Slice site; /* what the site is called */
    Slice home; /* its address */
    Slice name; /* the user's */
    Slice
        about; /* RIGHTS…: what was taken and given. ANSWER_DUE, POLICY_HIDDEN: what the policy is called. REPORT…: what it is about. JOURNALS: the instance.
                   LOOKED_AT: what was shown */
    Slice
        words; /* RIGHTS…, REPORT_ACTED, REPORT_DISMISSED: what the moderator wrote. LOOKED_AT: the reason */
    Slice
        link; /* CONFIRM, RESET, NEW_EMAIL, INVITATION: the one-time link. ALREADY_REGISTERED, PASSWORD_CHANGED: where one sets a new
                   password. EMAIL_CHANGED: the way back. ANSWER_DUE: where one answers. POLICY_HIDDEN, RIGHTS_TAKEN: where one appeals. REPORT: where it is. REPORT_ACTED, REPORT_DISMISSED: the public log. LOOKED_AT: the notices */
    int64_t valid_s;
    const Slice *items; /* DIGEST, JOURNALS: lines, each cut to LETTER_ITEM_BYTES */
    size_t item_count;
    const uint64_t *
        policies; /* that it names, or whose reports it quotes: with them it goes (mail_obliterate) */
    size_t policy_count;
} LetterFacts;

enum {
    LETTER_LINK_BYTES = 1000,
    LETTER_NAME_BYTES = 200,
    LETTER_ABOUT_BYTES = 700,
    LETTER_WORDS_BYTES = 4000,
    LETTER_ITEM_BYTES = 600,
    LETTER_ITEMS_MAX = 50,
};

/* Whether letters of this kind name policies; false for a word that is none. */
bool letter_names_policies(Slice kind);

/* Subject, text, HTML, kind and about; `to` and `once` are the caller's to fill. The bytes live in the arena. INVALID names a link that is none or
 * a fact that is too long. */
MUST_USE Status letter_write(LetterKind kind, const LetterFacts *facts, Arena *arena,
                             MailMessage *ret_message, Reason *reason);
