/* control.h -- the way into a data directory that a running `serve` owns.
 *
 * DIR/control.sock is a Unix socket of mode 0600. A client sends its words and its working directory, the server runs the same
 * command function that the client would have run, and sends back what it prints, as it is printed, then the exit code.
 *   request: size (4) | count of words (2) | each: size (4), bytes | working directory: size (4), bytes | what came on
 *            stdin, for commands that read it: size (4), bytes
 *   answer:  frames of kind (1: 'o' stdout, 'e' stderr, 'p' progress for a terminal, 'x' exit code) | size (4) | bytes
 * Only the server's own user and root are answered. A request has at most CONTROL_MAX bytes and must arrive within ten
 * seconds; at most CONTROL_CLIENTS run at once. A client that goes away does not stop its command. */
#pragma once

#include "cli/command.h"

enum {
    CONTROL_MAX = (64 + 4) * 1024 * 1024, /* the largest data of an entry, and words */
    CONTROL_WORDS = 4096,
    CONTROL_CLIENTS = 64
};

typedef struct Control Control;

typedef struct ControlRequest {
    Slice *words;
    size_t count;
    const char *directory;
    Slice input;
} ControlRequest;

/* Carries out a request; returns the exit code. Called from several threads. */
typedef int ControlRun(void *self, const ControlRequest *request, Output output);

MUST_USE Status control_start(const char *data, Clock clock, ControlRun *run, void *self,
                              Control **ret_control, Reason *reason);
/* Takes no new clients, waits for the running ones, removes the socket. */
void control_stop(Control *control);

/* NOT_FOUND: nobody listens there. UNKNOWN: the connection broke after the request was sent. What the command prints goes to `output`. */
MUST_USE Status control_call(const char *data, const ControlRequest *request, Output output,
                             int *ret_code, Reason *reason);
/* The same in two: sends the request; and, when *ret_fd can be read, takes the answer and closes it. */
MUST_USE Status control_ask(const char *data, const ControlRequest *request, int *ret_fd,
                            Reason *reason);
MUST_USE Status control_take(int fd, Output output, int *ret_code, Reason *reason);

/* The request's body as bytes, and back: INVALID for anything that control_encode does not write. Pure. */
void control_encode(const ControlRequest *request, Buffer *to);
MUST_USE Status control_decode(Slice bytes, Arena *arena, ControlRequest *ret_request);
