/* head.h -- what the cell `head` of an account's row says: pure.
 *
 * The cell is replaced as a whole by conditional updates, each with a fresh id in it, so that no value ever comes back.
 * A *label* is a name or an e-mail, as written and as compared. An account *bears* the labels that it has now and those that it
 * wishes to have: a claim (claims.h) counts for as long as its account is alive and bears what is claimed. A wish is written down
 * before the new label is claimed and is named by an id of its own; while it stands, nobody can take the claim away.
 * What is personal (the e-mail, the one wished for, the real name) stands in one sealed part (base/vault.h). */
#pragma once

#include "accounts/account_rules.h"
#include "base/bytes.h"
#include "base/ids.h"
#include "base/vault.h"

/* Names and e-mails are labels of the head; what another site knows somebody by is not (elsewhere.h). */
typedef enum ClaimKind {
    CLAIM_NAME,
    CLAIM_EMAIL,
    CLAIM_KINDS,
    CLAIM_EXTERNAL = CLAIM_KINDS
} ClaimKind;

typedef struct Label {
    Slice text;   /* as the person wrote it */
    Slice folded; /* as it is compared, and claimed */
} Label;

typedef struct Wish {
    Id id; /* zero: there is none */
    Label label;
    int64_t time_us;
} Wish;

typedef struct AccountHead {
    Id id;
    uint64_t version;
    AccountState state;
    int64_t state_time_us;
    int64_t registered_us;
    uint32_t roles, denied;
    uint64_t epoch; /* grows when all sessions end: sessions.h */
    Slice password_hash;
    Label labels[CLAIM_KINDS];
    Wish wishes[CLAIM_KINDS];
    Slice real_name;
    bool real_name_shown;
    bool second; /* a second factor is on: second.h */
} AccountHead;

Slice head_encode(const AccountHead *head, const Vault *vault, Arena *arena);
/* CORRUPT unless it is what head_encode writes, with this key. Slices point into `value` and the arena. */
MUST_USE Status head_decode(Slice value, const Vault *vault, Arena *arena, AccountHead *ret_head);

/* Pending or confirmed. */
bool head_is_alive(const AccountHead *head);
bool head_bears(const AccountHead *head, ClaimKind kind, Slice folded);
/* Forgets what is personal, at the end of a life. */
void head_forget(AccountHead *head);
