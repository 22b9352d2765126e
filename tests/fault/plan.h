/* plan.h -- which call fails, and when the power does.
 *
 * Counts the watched calls and compares them with what the environment, the control file or the program itself asked
 * for (fault.h). No files are touched here but the control file and the report. The caller holds the lock. */
#pragma once

#include <stdbool.h>

#include "fault.h"

typedef enum Verdict {
    VERDICT_PASS,
    VERDICT_FAIL,  /* without effect, with plan_error() */
    VERDICT_SHORT, /* write one half; only for FAULT_WRITE */
    VERDICT_CUT,
} Verdict;

void plan_load(void);
/* Counts one call and judges it. */
Verdict plan_next(FaultKind kind);
int plan_error(void);
/* Whether syncs only pretend. */
bool plan_lies(void);
/* Remembers the first call that failed, for the report. */
void plan_note(FaultKind kind, const char *path);
void plan_report(void);

uint64_t plan_count(unsigned kinds);
uint64_t plan_injected(void);
void plan_fail_from_now(unsigned kinds, int error);
void plan_clear(void);

/* A number from the environment, 0 when it is not set. */
uint64_t plan_number(const char *name);
