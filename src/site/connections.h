/* connections.h -- what pages and programs show of log-ins at other sites (accounts/elsewhere.h). */
#pragma once

#include "accounts/elsewhere.h"
#include "site/inside.h"

/* One connection, with what people call its provider. */
typedef struct MyConnection {
    Connection connection;
    Slice title; /* the provider's key, when the settings do not name it any more */
} MyConnection;

typedef struct ConnectionsView {
    MyConnection *connections;
    size_t count;
    bool has_password;
    /* For pages. */
    const Oidc *oidc;
    Slice csrf;
    FormFault fault;
    int64_t now_us;
    Arena *arena;
} ConnectionsView;

/* On the way to a provider. */
typedef struct LeaveView {
    Slice title, address;
} LeaveView;

MUST_USE Status connections_view(WebRequest *request, ConnectionsView *ret_view);
/* Row 0: its id. NOT_FOUND, REFUSED. */
MUST_USE Status connections_disconnect(WebRequest *request);
