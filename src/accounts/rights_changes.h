/* rights_changes.h -- the last change of somebody's rights and roles: what was taken and given back, why, and whether they appealed.
 *
 * It is a cell of the account's row beside the head, written in the same conditional update as the rights themselves, so no right is taken without
 * its reason. What is done about an appeal is for `reports` and operations; here is only which report it is.
 *   1. One change, one appeal: accounts_appeal_rights gives every caller the same report for the same change.
 *   2. A link of an e-mail (rights_token) names a change, and works for whoever has it, without logging in. It is over when the rights are changed again.
 *      It is sealed: nobody can make one.
 * Closing the account empties the cell. */
#pragma once

#include "accounts/accounts.h"

enum { RIGHTS_REASON_BYTES = 4000 };

typedef struct RightsChange {
    uint64_t number; /* 1, 2, …; 0: nothing was ever changed */
    int64_t time_us;
    uint64_t actor;             /* 0: the operator */
    uint32_t taken, given;      /* bits of AccountRight */
    uint32_t lost_roles, roles; /* bits of AccountRole: taken, and given */
    uint64_t
        appealed; /* the number of the change that the last appeal is about; 0: there is none */
    uint64_t appeal_actor; /* whose change that was */
    uint64_t report;       /* the appeal; it may not be there yet */
    Slice reason;          /* of the change; may be empty where nothing was taken */
} RightsChange;

typedef struct RightsRequest {
    AccountRights rights; /* seen_version is not 0 */
    uint64_t actor;
    Slice reason; /* at most RIGHTS_REASON_BYTES */
} RightsRequest;

/* As accounts_set_rights. *ret_changed: something is different from what it was. */
MUST_USE Status accounts_change_rights(Accounts *accounts, uint64_t id,
                                       const RightsRequest *request, bool *ret_changed,
                                       Reason *reason);
/* Serially. `number` 0: there was no change. */
MUST_USE Status accounts_rights_change(Accounts *accounts, uint64_t id, Arena *arena,
                                       RightsChange *ret_change);
/* Whether this change, which is the last one, can be appealed against: something is taken away, and nobody has appealed. Pure. */
bool rights_may_appeal(const RightsChange *change, const Account *account);
/* Notes `report` as the appeal against the change, or says which one is noted. REFUSED: the rights were changed again. */
MUST_USE Status accounts_appeal_rights(Accounts *accounts, uint64_t id, uint64_t number,
                                       uint64_t report, uint64_t *ret_report, Reason *reason);
/* "taken away: to vote; given back: to report; role taken: moderate policies". Pure. */
Slice rights_change_words(const RightsChange *change, Arena *arena);

/* For an address. INVALID: it is none of ours. */
Slice rights_token(const Accounts *accounts, uint64_t id, uint64_t number, Arena *arena);
MUST_USE Status rights_from_token(const Accounts *accounts, Slice token, uint64_t *ret_id,
                                  uint64_t *ret_number);
