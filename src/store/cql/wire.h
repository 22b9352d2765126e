/* wire.h -- Cassandra's native protocol v4 as bytes: requests written, answers read. Pure: no socket, no clock.
 *
 * A frame is a head of 9 bytes (version, flags, stream, opcode, length) and a body. Requests are written straight into the
 * buffer of a connection; answers are read where they lie, and what is handed out are views.
 *   1. Every length in an answer is checked against what is there; a body that breaks the protocol is CORRUPT, and nothing is
 *      allocated that the bytes themselves do not pay for.
 *   2. Bytes behind what we understand are ignored, as the protocol asks.
 *   3. Values of a result are as the type has them on the wire; see the readers at the end for addresses, sets and maps. */
#pragma once

#include "base/bytes.h"
#include "store/cql/client.h"

enum {
    WIRE_HEAD = 9,
    WIRE_REQUEST = 0x04, /* the version byte of what we send */
    WIRE_ANSWER = 0x84,  /* and of what we take */
    WIRE_LENGTH_MAX = 256 * 1024 * 1024,
    WIRE_REQUEST_MAX = 15 * 1024 * 1024, /* a server takes 16 MiB */
    WIRE_PARTS_MAX = 65535,              /* of a batch; also values of a part */
};

typedef enum WireOpcode {
    WIRE_ERROR = 0x00,
    WIRE_STARTUP = 0x01,
    WIRE_READY = 0x02,
    WIRE_AUTHENTICATE = 0x03,
    WIRE_OPTIONS = 0x05,
    WIRE_SUPPORTED = 0x06,
    WIRE_QUERY = 0x07,
    WIRE_RESULT = 0x08,
    WIRE_PREPARE = 0x09,
    WIRE_EXECUTE = 0x0A,
    WIRE_REGISTER = 0x0B,
    WIRE_EVENT = 0x0C,
    WIRE_BATCH = 0x0D,
    WIRE_AUTH_CHALLENGE = 0x0E,
    WIRE_AUTH_RESPONSE = 0x0F,
    WIRE_AUTH_SUCCESS = 0x10,
} WireOpcode;

/* The codes of ERROR that somebody looks at by name; outcome.c has the table of all. */
enum {
    WIRE_ERROR_PROTOCOL = 0x000A,
    WIRE_ERROR_LOGIN = 0x0100,
    WIRE_ERROR_OVERLOADED = 0x1001, /* also: is shutting down */
    WIRE_ERROR_STARTING = 0x1002,
    WIRE_ERROR_INVALID = 0x2200,
    WIRE_ERROR_UNPREPARED = 0x2500,
};

/* ---- Requests ---------------------------------------------------------------------------------------------- */

/* A head whose length is filled in by wire_end; returns where the frame begins in `out`. */
size_t wire_begin(Buffer *out, uint16_t stream, WireOpcode opcode);
void wire_end(Buffer *out, size_t frame);

/* The bodies. OPTIONS has none. */
void wire_put_startup(Buffer *out);
void wire_put_login(Buffer *out, Slice user, Slice password);
void wire_put_register(Buffer *out); /* for all three kinds of events */
void wire_put_prepare(Buffer *out, Slice text);

/* How a statement is to be run. */
typedef struct WireQuery {
    CqlConsistency consistency;
    bool conditional;  /* with SERIAL, or LOCAL_SERIAL beside LOCAL_QUORUM */
    int32_t page_size; /* 0: all rows */
} WireQuery;

void wire_put_query(Buffer *out, Slice text, const WireQuery *ask);
void wire_put_execute(Buffer *out, Slice id, const CqlPart *part, const WireQuery *ask);
/* An unlogged batch: the beginning, each part, the end. */
void wire_put_batch(Buffer *out, size_t parts);
void wire_put_batch_part(Buffer *out, Slice id, const CqlPart *part);
void wire_put_batch_end(Buffer *out, const WireQuery *ask);

/* At least the bytes that the values and texts of a call take, to refuse it before anything is written. */
size_t wire_call_size(const CqlCall *call);

/* ---- Answers ----------------------------------------------------------------------------------------------- */

typedef struct WireFrame {
    uint8_t version, flags, opcode;
    int16_t stream; /* -1: an event */
    uint32_t length;
    Slice body;     /* set by whoever has it */
    bool too_large; /* over CQL_ANSWER_MAX: the body was skipped */
} WireFrame;

/* From 9 bytes. CORRUPT: the length is negative or over the protocol's bound, or it is no answer. The version is for the
 * caller to look at: an older server answers in its own. */
MUST_USE Status wire_read_head(Slice head, WireFrame *ret_frame);
/* The body without what its flags put before it (tracing, warnings, payload). */
MUST_USE Status wire_read_body(const WireFrame *frame, Slice *ret_body);

typedef struct WireError {
    int32_t code;
    Slice words;
    Slice unknown_id; /* of 0x2500 */
} WireError;
MUST_USE Status wire_read_error(Slice body, WireError *ret_error);
/* Words of a node as text that is safe to show: what is not printable ASCII becomes a question mark, the end is cut. */
void wire_show_words(Slice words, char *ret_text, size_t size);
/* The id by which a prepared statement is executed. */
MUST_USE Status wire_read_prepared(Slice body, Slice *ret_id);

typedef enum WireEventKind {
    WIRE_EVENT_UP,
    WIRE_EVENT_DOWN,
    WIRE_EVENT_TOPOLOGY, /* came, went or moved */
    WIRE_EVENT_KEYSPACE, /* created, changed or dropped: rows may be elsewhere now */
    WIRE_EVENT_OTHER,
} WireEventKind;

typedef struct WireEvent {
    WireEventKind kind;
    Slice address; /* of UP and DOWN: 4 or 16 bytes */
    uint16_t port;
} WireEvent;
MUST_USE Status wire_read_event(Slice body, WireEvent *ret_event);

/* Any RESULT that answers a call; those without rows have none. Names and the array are in the arena, bytes of values are views. */
MUST_USE Status wire_read_result(Slice body, Arena *arena, CqlRows *ret_rows);

/* ---- Values ------------------------------------------------------------------------------------------------ */

/* A set or list of text; CORRUPT when the bytes are none. Views, in the arena's array. */
MUST_USE Status wire_read_texts(Slice value, Arena *arena, Slice **ret_texts, size_t *ret_count);
/* A map of text to text: pairs, keys at even places. */
MUST_USE Status wire_read_text_map(Slice value, Arena *arena, Slice **ret_texts, size_t *ret_count);
