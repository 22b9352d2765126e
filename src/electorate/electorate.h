/* electorate.h -- who may join: everybody, the invited, people of some e-mail domains, or those on an imported roll.
 *
 * The rule is asked when somebody registers or changes their address, and only then: a change of it touches no account that is there and no vote that was cast. It stands in
 * one row of table `electorate` and is replaced by a conditional update on the version that was seen.
 *   1. electorate_admit goes by what stands at that moment, on every instance.
 *   2. An invitation (invitations.h) opens the door under every rule: the invited are let in also by domain and by roll.
 *   3. UNKNOWN is passed on: reading again tells which rule stands.
 *   4. Under a roll or a list of domains an address stands for one account for ever: one that an account had admits nobody else, whatever address it has
 *      now; when the account is closed, it admits somebody again after AccountsOptions.return_days. And an account's address changes only to one that is
 *      admitted (electorate_admit_change).
 * Not promised: that somebody who was admitted under one rule finishes before another stands; the account counts then. */
#pragma once

#include "electorate/invitations.h"

/*    mode, word for scripts, sentence for people */
#define ELECTORATE_MODE_LIST(X)                                                   \
    X(OPEN, "open", "Everybody may join.")                                        \
    X(INVITATION, "invitation", "Only who was invited may join.")                 \
    X(DOMAIN, "domain", "Only people with an address of these domains may join.") \
    X(ROLL, "roll", "Only people whose address is on the roll may join.")
typedef enum ElectorateMode {
#define X(name, word, sentence) ELECTORATE_##name,
    ELECTORATE_MODE_LIST(X)
#undef X
        ELECTORATE_MODES
} ElectorateMode;

enum {
    ELECTORATE_DOMAINS_MAX = 500,
    ELECTORATE_DOMAIN_BYTES = 253,
};

extern const char *const ELECTORATE_MODE_WORDS[];
/* "open" */
const char *electorate_mode_text(ElectorateMode mode);
const char *electorate_mode_sentence(ElectorateMode mode);
/* Whether the address decides who may join. */
bool electorate_goes_by_address(ElectorateMode mode);
/* Whether the rule that stands does: AccountsOptions.entry_rule. */
MUST_USE Status electorate_has_entries(Accounts *accounts, bool *ret_has);

typedef struct Electorate {
    uint64_t version; /* 0: nobody has ever said anything, and it is open */
    ElectorateMode mode;
    Slice *
        domains; /* folded; "*.example.org" is everything below it. Kept also while another mode stands */
    size_t domain_count;
    int64_t changed_us;
    Id write; /* private, as is the cell: */
    Slice value;
} Electorate;

MUST_USE Status electorate_read(Accounts *accounts, Arena *arena, Electorate *ret_electorate);

typedef struct ElectorateChange {
    ElectorateMode mode;
    const Slice *domains; /* as from electorate_domains */
    size_t domain_count;
    uint64_t seen_version;
} ElectorateChange;
/* INVALID: domain without domains. CONFLICT: another version stands than the one that was seen. */
MUST_USE Status electorate_set(Accounts *accounts, const ElectorateChange *change, Reason *reason);

/* Domains from a person's text, separated by blanks, commas or line ends, folded, none twice; an @ in front is passed over. INVALID names the one
 * that is none. Pure. */
MUST_USE Status electorate_domains(Slice text, Arena *arena, Slice **ret_domains, size_t *ret_count,
                                   Reason *reason);
/* Whether the address is of one of the domains. Pure. */
bool electorate_has_domain(const Electorate *electorate, Slice folded_email);

/* Somebody wants to register with this address, perhaps with the secret of an invitation. OK: they may; the answer is for electorate_admitted.
 * REFUSED with field `invitation`, `email` (the domain), or `roll`, which a page must not let visitors see: it would tell who is on the
 * roll. INVALID: it is no address. */
typedef struct Admission {
    bool by_invitation;
    Invitation invitation;
} Admission;
MUST_USE Status electorate_admit(Accounts *accounts, Slice email, Slice secret, Arena *arena,
                                 Admission *ret_admission, Reason *reason);
/* Somebody who has joined wants to use this address from now on. As electorate_admit without an invitation; OK where the rule does not go by
 * addresses. */
MUST_USE Status electorate_admit_change(Accounts *accounts, Slice email, Reason *reason);
/* The registration that was admitted is made: its invitation is used up. After a crash in between the invitation is still open, and its address is
 * taken by the account, so that it admits nobody else. */
MUST_USE Status electorate_admitted(Accounts *accounts, const Admission *admission,
                                    uint64_t account);
