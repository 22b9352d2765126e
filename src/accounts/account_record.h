/* account_record.h -- what the cell `head` of an account's row says: pure.
 *
 * The cell is replaced as a whole by conditional updates, each with a fresh id in it, so that no value ever comes back.
 * A *label* is a name or an e-mail, as written and as compared. An account *bears* the labels that it has now and those that it
 * wishes to have: a claim (claims.c) counts for as long as its account is alive and bears what is claimed. A wish is written down
 * before the new label is claimed and is named by an id of its own; while it stands, nobody can take the claim away.
 * What is personal (the e-mail, the one wished for, the real name) stands in one sealed part (base/vault.h). */
#pragma once

#include "accounts/account_rules.h"
#include "store/record.h"

/* Names and e-mails are labels of the record; what another site knows somebody by is not (linked_login.h). */
typedef enum ClaimKind {
    CLAIM_NAME,
    CLAIM_EMAIL,
    CLAIM_KINDS,
    CLAIM_EXTERNAL = CLAIM_KINDS,
    CLAIM_ENTRY /* an address that an account has left, under a roll or a list of domains */
} ClaimKind;

typedef struct Label {
    Slice text;   /* as the person wrote it */
    Slice folded; /* as it is compared, and claimed */
} Label;

typedef struct ClaimRequest {
    Id id; /* zero: there is none */
    Label label;
    int64_t time_us;
} ClaimRequest;

typedef struct AccountRecord {
    Id id;
    uint64_t version;
    AccountState state;
    int64_t state_time_us;
    int64_t registered_us;
    uint32_t roles, denied;
    uint64_t epoch; /* grows when all sessions end: access/sessions.h */
    Slice password_hash;
    Label labels[CLAIM_KINDS];
    ClaimRequest claim_requests[CLAIM_KINDS];
    Slice real_name;
    bool real_name_shown;
    /* 0, or until when the request for an e-mail is for the address that was left: it stays the account's, so that the change can be taken
     * back (registration.c). */
    int64_t email_back_us;
    bool second; /* a second factor is on: access/second_factor.h */
} AccountRecord;

/* The cell, and what is sealed in it. */
extern const Record ACCOUNT_RECORD, ACCOUNT_PERSONAL_RECORD;

/* Pending or confirmed. */
bool account_record_is_alive(const AccountRecord *head);
bool account_record_bears(const AccountRecord *head, ClaimKind kind, Slice folded);
/* Forgets what is personal, at the end of a life. */
void account_record_forget(AccountRecord *head);
