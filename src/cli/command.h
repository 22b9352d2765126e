/* command.h -- what `ostraka NAME …` can do, as a table, and what a command has while it runs.
 *
 * A command is a row: its words, its operands and flags, what it needs, one line of help, a function. Parsing, usage errors,
 * `--help`, docs/commands.md and the way to a running server come from the row. The function does not know whether it runs in
 * the process that a person started, or inside `serve` on behalf of one (control.h): it prints through its
 * context and returns an exit code.
 *
 * Exit codes: 0 done; 1 refused or failed, with one plain sentence on stderr; 2 usage. */
#pragma once

#include "app/app.h"
#include "base/json.h"
#include "operations/operation.h"

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* A command's flags, beside the settings that every command takes (--data DIR and so on). */
typedef struct CommandFlag {
    const char *name;  /* "message" for --message */
    const char *value; /* what to call its value in the usage, or NULL for a switch */
    const char *help;
} CommandFlag;

enum {
    COMMAND_FLAGS_MAX = OPERATION_INPUTS_MAX + 3,
    COMMAND_INPUT_MAX = 64 * 1024,
    COMMAND_OPERANDS_MAX = 1000
};

typedef enum CommandNeeds {
    COMMAND_ALONE, /* works without the store */
    COMMAND_STORE, /* the store: inside a running serve, or opened for it */
    COMMAND_SITE,  /* the store and the modules on it */
} CommandNeeds;

typedef struct Context Context;

/* What the audit log (audit.h) hears of a command. Each row says what, or why nothing; tests/site/test_noted.py does every one and looks. */
typedef struct CommandNote {
    uint64_t acts;    /* 1 << AUDIT_…, one or several */
    const char *none; /* why nothing; NULL where there are acts */
} CommandNote;
_Static_assert(AUDIT_KIND_COUNT <= 64, "a bit for each kind of act");

typedef struct Command {
    const char *name;     /* one or two words */
    const char *operands; /* as in the usage, "DIR" or "" */
    size_t least, most;   /* how many operands */
    CommandNeeds needs;
    CommandNote note;
    const char *help;
    int (*run)(Context *context);
    CommandFlag flags[COMMAND_FLAGS_MAX]; /* ended by a NULL name */
    bool creates;                         /* makes the data directory when there is none */
    const Operation *operation;           /* that it is the door of, or NULL */
} Command;

/* The row at `index`, or NULL after the last: those written down in commands.c, then one for each operation that has a command. */
const Command *command_at(size_t index);
/* The first part. */
extern const Command COMMANDS[];
extern const size_t COMMAND_COUNT;
/* A row from an operation's: words, operands, flags and help. Made once, and kept for ever. */
Command command_of_operation(const Operation *operation);
/* Reads operands and flags into the request struct, runs the operation, prints the answer. */
int command_run_operation(Context *context);

/* What the words after `ostraka` mean, settings already taken out. Slices point to the words. */
typedef struct Parsed {
    const Command *command;
    Slice *operands;
    size_t operand_count;
    Slice flags
        [COMMAND_FLAGS_MAX]; /* by the command's order; data NULL: not given; several with commas between */
    Slice *values[COMMAND_FLAGS_MAX]; /* the same, one by one */
    size_t value_counts[COMMAND_FLAGS_MAX];
    bool json, help;
} Parsed;

/* INVALID with a sentence for a person: no such command, flag or number of operands. */
MUST_USE Status command_parse(const Slice *words, size_t count, Arena *arena, Parsed *ret_parsed,
                              Reason *reason);

/* Where a command's words go: the terminal, or a client of the control socket. Stream 1 or 2; or OUTPUT_PROGRESS, which only
 * a terminal shows. */
enum { OUTPUT_PROGRESS = 3 };
typedef struct Output {
    void (*write)(void *self, int stream, Slice bytes);
    void *self;
} Output;

struct Context {
    World world;
    const Config *config;
    Parsed parsed;
    const char *directory; /* the caller's working directory; relative paths start here */
    Slice input;           /* what came on stdin, for commands with --password-stdin */
    Store *store;          /* COMMAND_STORE and COMMAND_SITE */
    App *app;              /* COMMAND_SITE */
    Operations *ops;       /* COMMAND_SITE */
    Audit *audit;          /* of the store; NULL when the site's key is missing */
    Output output;
    Arena *arena;
};

/* Who acts by a command that is no operation. */
extern const Actor COMMAND_OPERATOR;

void command_print(Context *context, const char *format, ...) PRINTF_LIKE(2, 3);
void command_write(Context *context, Slice bytes);
/* "ostraka: …" on stderr; returns EXIT_FAILED. */
int command_fail(Context *context, Status status, const Reason *reason);
/* The value of a flag, or data NULL when it was not given. Given several times: all of them, with commas between. */
Slice command_flag(const Context *context, const char *name);
/* A finished JSON value and a line end. */
void command_json(Context *context, const Buffer *json);
/* A path as the caller wrote it, as an absolute one. */
const char *command_path(const Context *context, Slice path);

/* All commands for a terminal, one command, or all as Markdown for docs/commands.md; all for scripts, with what each notes. */
void command_help(Buffer *out);
void command_table(Buffer *out);
void command_usage(const Command *command, Buffer *out);
void command_markdown(Buffer *out);
