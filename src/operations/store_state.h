/* store_state.h -- the store, the instances that share it, its backups and maintenance mode, as every door shows them. The operations are in
 * store_state.c. */
#pragma once

#include "operations/operation.h"
#include "verify/verify.h"

typedef struct StoreFigure {
    const char *help;
    Slice name, value;
} StoreFigure;
enum { STORE_FIGURES_MAX = 64, BACKUPS_LISTED = 20, MAINTENANCE_MESSAGE_MAX = 300 };

typedef struct StoreState {
    int64_t now_us;
    StoreHealth health;
    Slice engine, trouble;
    Instance *instances;
    size_t instance_count;
    StoreFigure figures[STORE_FIGURES_MAX];
    size_t figure_count;
    Slice backup_directory;
    Slice backups[BACKUPS_LISTED]; /* the newest first */
    size_t backup_count;
    bool has_maintenance, in_maintenance; /* whether it can be set from here; whether it is on */
    Slice message;                        /* what visitors read then */
} StoreState;
MUST_USE Status store_state(Operations *ops, Arena *arena, StoreState *ret_state);
/* Its last three members alone. */
MUST_USE Status maintenance_state(Operations *ops, Arena *arena, StoreState *ret_state);
/* A copy of the store in a new directory, in the audit log (`act`) before it is made. What needs no site is enough for it. Whoever has the
 * machine can copy the files anyway, and a disk that takes no writes is when a copy is needed most: so for the operator one is made all the
 * same that cannot be noted, and *ret_is_noted says so. */
typedef struct BackupOf {
    Store *store;
    Audit *audit; /* NULL: the site's key is not here */
} BackupOf;
MUST_USE Status store_make_backup(const BackupOf *of, const Actor *actor, const AuditAct *act,
                                  const char *directory, bool *ret_is_noted, Reason *reason);
/* Heals what verify_run found (verify.h), in the audit log before it is done. */
MUST_USE Status store_repair(Operations *ops, const Actor *actor, const VerifyOptions *options,
                             VerifyReport *ret_report, Reason *reason);
