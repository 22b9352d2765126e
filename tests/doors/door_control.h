/* door_control.h -- what tests/doors need of a site beside its pages: a time and a luck that are the same on every site, commands that run
 * inside it, and all that it holds as lines of text.
 *
 *   1. The clocks stand still until door_tick, so nothing that is kept in memory becomes too old by itself. Sleeping is real.
 *   2. Random bytes come from a stream of each thread's own. door_tick and operation_run (wrapped by the linker) begin the caller's stream
 *      anew, from the time. What may be done once (INPUT_ONCE) is named by it, too. So whatever an operation writes is the same by every door, tokens and ids included. */
#pragma once

#include "app/app.h"
#include "operations/operation.h"

World door_world(void);
/* A second passes; or, when `seconds` is not 0, it is so long after the start. */
void door_tick(int64_t seconds);

/* Runs a command as `serve` does for a client. `words` are separated by US (0x1f), the first is what it reads from stdin; RS (0x1e) is a line end.
 * Prints "done EXIT-CODE COUNT", then so many lines: what it wrote. */
void door_command(App *app, Operations *ops, char *words);

/* Prints "done COUNT", then so many lines, each with tabs between its parts:
 *     cell TABLE ROW COLUMN VALUE
 *     audit ID KIND ACTOR OBJECT OTHER REASON DETAILS OUTCOME
 *     mail ID KIND TO SUBJECT TEXT
 * An entry of a journal is a cell of the table "journal", whose row is the journal's name and whose column is the entry's number; so is a pause.
 * What is not printable is \xNN. Projects what was saved before. */
MUST_USE Status door_dump(App *app, Arena *arena, Reason *reason);
