/* connection.h -- one socket with deadlines, and what has come on it.
 *
 * Functions return OK; UNAVAILABLE or UNKNOWN, then the socket is closed. It is UNKNOWN when something of the present command has been
 * sent (oj_begin says where one begins): the server may have carried it out. The reason is in `error`. */
#pragma once

#include "answers.h"

enum { OJ_ERROR_MAX = 512, OJ_ADDRESS_MAX = 256 };

typedef struct OjConnection {
    int fd; /* -1: none */
    bool sent;
    char *in; /* received: in[at … at + size) */
    size_t at, size, capacity;
    char error[OJ_ERROR_MAX];
} OjConnection;

typedef struct OjPart {
    const void *bytes;
    size_t size;
} OjPart;

/* CLOCK_BOOTTIME, so that a lease of a machine that slept is over. */
int64_t oj_now_ms(void);

/* `sentence` in `error`, as printf makes it. Returns `status`. */
__attribute__((format(printf, 3, 4))) OstrakaJournalStatus
oj_say(OjConnection *connection, OstrakaJournalStatus status, const char *sentence, ...);
/* Closes, and says why. */
OstrakaJournalStatus oj_lost(OjConnection *connection, const char *why);
void oj_hang_up(OjConnection *connection);
/* Whether `address` has a form that oj_dial takes. */
bool oj_address_is_valid(const char *address);
OstrakaJournalStatus oj_dial(OjConnection *connection, const char *address, int64_t until_ms);
/* The next command begins: nothing of it is sent. A socket that the server has closed meanwhile is noticed. */
void oj_begin(OjConnection *connection);
OstrakaJournalStatus oj_send(OjConnection *connection, const OjPart *parts, size_t count,
                             int64_t until_ms);
/* At least `size` bytes are received. `*ret_over`: the time was over, and nothing is closed; NULL: that is a failure, too. */
OstrakaJournalStatus oj_fill(OjConnection *connection, size_t size, int64_t until_ms,
                             bool *ret_over);
/* The end of the line that begins at `from` bytes behind what is taken: its size without CR LF. */
OstrakaJournalStatus oj_line(OjConnection *connection, size_t from, int64_t until_ms,
                             bool *ret_over, size_t *ret_size);
void oj_take(OjConnection *connection, size_t size);
