/* listen.h -- listening sockets: where they are, and taking connections from them.
 *
 * "127.0.0.1:8080", "[::1]:8080" and "localhost:0" are TCP, "unix:/run/x.sock" is a socket in the file system. Promises:
 *   1. A port that this process or one before it has just used can be listened on again at once.
 *   2. The file of a unix socket that nobody listens on any more is replaced; one that is in use, and a file that is no socket, are left as they are
 *      and refused. Who may connect is what the umask leaves; net_unlisten takes the file away.
 *   3. A NetListener takes what has come in, so many in a row that other sockets of its loop wait little; when it cannot (no open files left), it
 *      takes nothing for a moment instead of asking again at once.
 * Two processes that begin to listen on one unix socket in the same moment may both succeed, and the later one has it. */
#pragma once

#include "net/address.h"
#include "net/loop.h"

enum { NET_BACKLOG = 4096 };

/* A host and a port, ended by NUL. */
typedef struct NetPlace {
    char host[256];
    char port[6];
} NetPlace;

/* "HOST:PORT"; INVALID names what is missing. */
MUST_USE Status net_parse_place(Slice text, NetPlace *ret_place, Reason *reason);
/* INVALID: it cannot be read. UNAVAILABLE: it is taken or not ours. ret_port is 0 for a unix socket. */
MUST_USE Status net_listen(Slice where, int backlog, int *ret_fd, uint16_t *ret_port,
                           Reason *reason);
void net_unlisten(int listen_fd);
/* A socket that does not block, is closed on exec, and sends without delay; -1: errno says why. A peer on a unix socket has no address (all zeros). */
int net_accept(int listen_fd, Address *ret_peer);

typedef struct NetListener NetListener;

/* Part of whatever listens. */
struct NetListener {
    NetLoop *loop;
    int fd; /* listens */
    /* The socket is the callee's. It may stop the listener, but not free it. */
    void (*accepted)(NetListener *listener, int fd, Address peer);
    NetWatch watch;
    Timer pause;
};

/* From now on what connects is given to `accepted`, by the loop's thread. */
void net_listener_start(NetListener *listener, NetLoop *loop, int listen_fd,
                        void (*accepted)(NetListener *listener, int fd, Address peer));
/* Takes nothing more; the socket stays open. By the loop's thread; twice is fine. */
void net_listener_stop(NetListener *listener);
