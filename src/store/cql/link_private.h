/* link_private.h -- what link.c (requests, answers, silence) and link_io.c (the socket) share. */
#pragma once

#include "store/cql/link.h"

enum { LINK_NAME = 320, LINK_OWN_STREAMS = 8 };

typedef enum LinkState {
    LINK_CONNECTING,
    LINK_SHAKING, /* TLS */
    LINK_STARTING,
    LINK_READY,
    LINK_ENDED
} LinkState;

struct Link {
    const LinkSettings *settings;
    const LinkOwner *owner;
    void *context;
    Loop *loop;
    LinkState state;
    char tls_name[LINK_NAME];

    int fd;
    int failed; /* an errno that is told at the next turn, or 0 */
    TlsSession *tls;
    NetWatch watch;
    uint32_t interest; /* the events that are watched */

    Buffer out;
    size_t out_at;    /* the first byte that the kernel has not taken */
    uint64_t taken;   /* bytes that it has, ever */
    uint64_t offered; /* those, and with TLS what may be in a record that is half written */
    Buffer in;
    size_t skip; /* of a body that is too large to keep */

    Ticket **slots; /* by stream; NULL: free */
    uint16_t *free_streams;
    size_t slot_count, free_count;
    size_t orphans; /* slots whose answer nobody waits for */

    Timer timer;      /* of connecting, then of silence */
    int64_t heard_us; /* the last byte */
    int64_t owed_us;  /* since when something is owed, or is seen to move */
    size_t backlog;   /* what was still to leave when the node was last asked whether it is there */
    bool silent, doubted;
    Ticket startup, probe;
    size_t frame; /* where the request that is being written begins */

    bool dirty;
    Link *next_dirty, *next_ended;
};

/* link.c */
void link_connected(Link *link); /* the socket stands, and TLS if asked for */
void link_hear(Link *link);
/* Takes a whole frame; the link may have ended afterwards. */
void link_take(Link *link, WireFrame *frame);
void link_mark_dirty(Link *link);

/* link_io.c */
/* Begins to connect; false: `failed` says why. */
bool link_io_open(Link *link, const LinkTarget *target);
void link_io_close(Link *link);
void link_io_flush(Link *link);
/* Bytes that the node's machine has not acknowledged yet. */
size_t link_io_backlog(const Link *link);
