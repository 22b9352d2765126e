/* ledger_commands.h -- the commands on the store and the ledger that are no operations; commands.c has their rows. */
#pragma once

#include "cli/command.h"

int run_verify(Context *context);
int run_demo(Context *context);

int run_backup(Context *context);
int run_restore(Context *context);
int run_health(Context *context);
int run_reopen(Context *context);
int run_maintenance(Context *context);

int run_operations(Context *context);
