/* journal_commands.h -- commands on journals that are no operations; commands.c has their rows. */
#pragma once

#include "cli/command.h"

/* `journal run NAME [-j N] -- COMMAND…`: one run of the command for each entry. The entry's data is its input; OSTRAKA_JOURNAL, OSTRAKA_KEY,
 * OSTRAKA_ID and OSTRAKA_PRIORITY are in its environment (a key that is no text is left out). While it runs the lease is extended at each third of it; a
 * command whose lease was lost is ended by SIGTERM.
 *   exit 0            the entry is done
 *   exit 75           it is released: due again after --backoff seconds, doubled with each run that the entry has had, at most an hour
 *   anything else     it has failed, and the last 1 KiB of what the command wrote on stderr is the reason
 * SIGTERM and SIGINT: nothing new is claimed, commands under way may finish. A second signal ends them; their entries are released. Works beside
 * a running server only. */
int run_journal_run(Context *context);

/* `journal bench [--at ADDRESS] [--clients N] [--seconds N] [--bytes N] [--open]`: puts, claim + done and full cycles on a listener that runs, in a tube with
 * a random name, for N seconds and a million units at most each; prints rate, p50 and p99. An address that is not on loopback needs --open. */
int run_journal_bench(Context *context);
