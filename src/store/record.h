/* record.h -- records: structs that are stored in one cell each, described by a table of their fields.
 *
 *     static const RecordField HEAD_FIELDS[] = {
 *         RECORD_WRITE_ID(ReportHead, write),
 *         RECORD_ENUM(ReportHead, state, REPORT_STATE_COUNT),
 *         RECORD_I64(ReportHead, since_us),
 *         RECORD_REST(ReportHead, reason, REPORT_REASON_BYTES),
 *     };
 *     const Record REPORT_HEAD = RECORD("report head", ReportHead, 1, HEAD_FIELDS);
 *
 * Encoding, decoding, bounds and the upgrade of older cells come from the table, and so does a fuzz target (fuzz/fuzz_records.c).
 *   1. The cell is the format (1 byte) and then the fields in the order of the table, without names or padding; numbers are big-endian
 *      (base/bytes.h). A table that is in use is never changed but as 3 says: tests/records reads cells that were recorded.
 *   2. A cell that no encoder can have written is CORRUPT: it is too short or too long, or a value is out of its bounds. What was decoded is
 *      encoded to the same bytes again, but for older formats, what is sealed, and lists of values that have grown.
 *   3. To add fields: append them, raise the format, and note in `older` how many fields the format before had. Cells of an older format are
 *      read, and what they lack has its default: zero, empty, or what the record's `defaults` say. Every write has the newest format.
 *   4. Decoded slices are views of the cell, or of the arena where they were sealed. Decoding writes only members that the table names (but
 *      whole elements of lists); after a failure their content is not defined.
 *   5. record_edit reads, applies a change, and writes under the condition that nothing has changed, again and again until nobody came in
 *      between. Every write has a fresh id in the record and leaves a receipt, so that UNKNOWN is settled by store_update's rule.
 * Encoding and decoding are pure but for the seal, and may run on any thread. */
#pragma once

#include "base/bytes.h"
#include "base/vault.h"
#include "store/store.h"

typedef struct Record Record;

typedef enum RecordKind {
    RECORD_KIND_NUMBER,
    RECORD_KIND_BITS, /* a number with no other bits than those of `most` */
    RECORD_KIND_FLAGS,
    RECORD_KIND_ID,
    RECORD_KIND_WRITE_ID,
    RECORD_KIND_SLICE,
    RECORD_KIND_FIXED,
    RECORD_KIND_LIST,
    RECORD_KIND_VALUES,
    RECORD_KIND_SEALED,
} RecordKind;

/* A row of the table; made by the macros below. */
typedef struct RecordField {
    uint8_t kind;
    uint8_t width; /* in the cell, of a number, a slice's length or a list's count; 0: to its end */
    uint8_t size;  /* of a number in memory */
    uint32_t offset;
    uint32_t other; /* offset of a list's count, or of the second flag */
    uint32_t least; /* of a number */
    uint64_t most;  /* of a number; bytes of a slice; elements of a list or of values */
    /* SLICE: not written where it is empty. LIST: behind a pointer. VALUES: more are fine. SEALED: empty for nothing. */
    bool optional;
    const Record *of; /* elements of a list; what is sealed */
} RecordField;

enum { RECORD_OLDER_MAX = 6 };

struct Record {
    const char *name;
    const char *purpose; /* vault.h; of what is sealed */
    const RecordField *fields;
    const void *defaults; /* or NULL: zeros */
    size_t field_count;
    size_t size;                     /* of the struct */
    uint8_t format;                  /* 0: none is written, for parts of a cell */
    uint8_t oldest;                  /* format that is still read */
    uint8_t older[RECORD_OLDER_MAX]; /* how many fields the formats oldest … format - 1 had */
};

#define RECORD_(name_, type_, format_, fields_)                                                  \
    .name = (name_), .fields = (fields_), .field_count = sizeof(fields_) / sizeof((fields_)[0]), \
    .size = sizeof(type_), .format = (format_), .oldest = (format_)
#define RECORD_BRACED_(...) \
    {                       \
        __VA_ARGS__         \
    }
#define RECORD(name, type, format, fields) RECORD_BRACED_(RECORD_(name, type, format, fields))
/* A part of a cell, mostly without a format (0): the elements of a list, or what a cell holds sealed for a purpose. */
#define RECORD_PART(name, type, format, purpose_, fields) \
    RECORD_BRACED_(RECORD_(name, type, format, fields), .purpose = (purpose_))

#define RECORD_FIELD_(kind_, ...) RECORD_BRACED_(.kind = RECORD_KIND_##kind_, __VA_ARGS__)
#define RECORD_AT_(type, member)  .offset = offsetof(type, member)
#define RECORD_IN_(type, member)  RECORD_AT_(type, member), .size = sizeof(((type *)0)->member)

/* A number from `least_` to `most_`, of `width_` bytes in the cell; in memory it may be wider. */
#define RECORD_RANGE(type, member, width_, least_, most_)                                 \
    RECORD_FIELD_(NUMBER, RECORD_IN_(type, member), .width = (width_), .least = (least_), \
                  .most = (most_))
#define RECORD_U8(type, member)          RECORD_RANGE(type, member, 1, 0, UINT8_MAX)
#define RECORD_U16(type, member)         RECORD_RANGE(type, member, 2, 0, UINT16_MAX)
#define RECORD_U32(type, member)         RECORD_RANGE(type, member, 4, 0, UINT32_MAX)
#define RECORD_U64(type, member)         RECORD_RANGE(type, member, 8, 0, UINT64_MAX)
#define RECORD_I64(type, member)         RECORD_RANGE(type, member, 8, 0, UINT64_MAX)
#define RECORD_BOOL(type, member)        RECORD_RANGE(type, member, 1, 0, 1)
#define RECORD_ENUM(type, member, count) RECORD_RANGE(type, member, 1, 0, (count)-1)
/* 4 bytes, no other bits than these. */
#define RECORD_BITS(type, member, all) \
    RECORD_FIELD_(BITS, RECORD_IN_(type, member), .width = 4, .most = (all))
/* Two bools in a byte: bit 0 and bit 1. */
#define RECORD_FLAGS(type, first, second) \
    RECORD_FIELD_(FLAGS, RECORD_AT_(type, first), .other = offsetof(type, second))
#define RECORD_ID(type, member) RECORD_FIELD_(ID, RECORD_AT_(type, member))
/* The id of the write that left the cell so: record_write makes it. */
#define RECORD_WRITE_ID(type, member) RECORD_FIELD_(WRITE_ID, RECORD_AT_(type, member))

/* Slices of at most so many bytes: with their length before them, or to the end of the cell. */
#define RECORD_SLICE_(type, member, width_, ...) \
    RECORD_FIELD_(SLICE, RECORD_AT_(type, member), .width = (width_), __VA_ARGS__)
#define RECORD_TEXT16(type, member)        RECORD_SLICE_(type, member, 2, .most = UINT16_MAX)
#define RECORD_TEXT32(type, member, most_) RECORD_SLICE_(type, member, 4, .most = (most_))
#define RECORD_REST(type, member, most_)   RECORD_SLICE_(type, member, 0, .most = (most_))
/* As TEXT16 and TEXT32, at the end of a cell that ends before it where there is none. */
#define RECORD_OPTIONAL(type, member, width) \
    RECORD_SLICE_(type, member, width, .most = UINT32_MAX, .optional = true)
/* Exactly so many bytes; an empty slice is written as zeros. */
#define RECORD_FIXED(type, member, bytes) \
    RECORD_FIELD_(FIXED, RECORD_AT_(type, member), .most = (bytes))

/* An element of a list that is a slice or a number itself. */
#define RECORD_ITSELF_TEXT(width_, most_) RECORD_FIELD_(SLICE, .width = (width_), .most = (most_))
#define RECORD_ITSELF_FIXED(bytes)        RECORD_FIELD_(FIXED, .most = (bytes))
#define RECORD_ITSELF_U64                 RECORD_FIELD_(NUMBER, .width = 8, .size = 8, .most = UINT64_MAX)

/* At most so many elements in an array of the struct, whose number is in the size_t `count`; with the number in `width` bytes before
 * them, or to the end of the cell. */
#define RECORD_LIST_(type, member, count, width_, ...)               \
    RECORD_FIELD_(LIST, RECORD_AT_(type, member), .width = (width_), \
                  .other = offsetof(type, count), __VA_ARGS__)
#define RECORD_LIST(type, member, count, width, most_, of_) \
    RECORD_LIST_(type, member, count, width, .most = (most_), .of = (of_))
/* The same behind a pointer, in the arena. */
#define RECORD_POINTER_LIST(type, member, count, width, most_, of_) \
    RECORD_LIST_(type, member, count, width, .most = (most_), .of = (of_), .optional = true)
/* `count` numbers of 8 bytes one after the other, and before them how many there are (1 byte). A cell that has fewer leaves the defaults; one that
 * has more is CORRUPT, or with `lenient` of a newer release. */
#define RECORD_VALUES(type, first, count, lenient) \
    RECORD_FIELD_(VALUES, RECORD_AT_(type, first), .most = (count), .optional = (lenient))

/* A part of this struct, sealed, to the end of the cell. */
#define RECORD_SEALED(of_) RECORD_FIELD_(SEALED, .of = (of_))
/* With its length before it, or to the end; empty where the part is nothing but zeros, and says nothing. */
#define RECORD_SEALED_IF_ANY(width_, of_) \
    RECORD_FIELD_(SEALED, .width = (width_), .of = (of_), .optional = true)

/* ---- Bytes --------------------------------------------------------------------------------------------------- */

/* `cell` may be NULL where nothing is sealed: it is the one that the bytes are for. */
Slice record_encode(const Record *record, const void *from, const VaultCell *cell, Arena *arena);
/* `arena` may be NULL where nothing is sealed and no list is behind a pointer. */
MUST_USE Status record_decode(const Record *record, Slice value, const VaultCell *cell,
                              Arena *arena, void *ret_record);
/* Every named member becomes its default. */
void record_clear(const Record *record, void *ret_record);

/* ---- Cells --------------------------------------------------------------------------------------------------- */

/* What reading and writing need. */
typedef struct Records {
    Store *store;
    World world;
    const Vault *vault; /* or NULL */
} Records;

typedef struct RecordPlace {
    const Record *record;
    const Table *table;
    Slice row, column;
} RecordPlace;

static inline VaultCell record_cell(const Vault *vault, const Table *table, Slice row, Slice column)
{
    return (VaultCell){vault, slice_from(table->name), row, column};
}

/* *ret_value (may be NULL) is the cell, to be a condition. NOT_FOUND: there is none. */
MUST_USE Status record_read(const Records *records, const RecordPlace *place, ReadMode mode,
                            Arena *arena, void *ret_record, Slice *ret_value);
/* The same; where there is none, OK with the defaults and an empty value. */
MUST_USE Status record_find(const Records *records, const RecordPlace *place, ReadMode mode,
                            Arena *arena, void *ret_record, Slice *ret_value);

enum {
    RECORD_UPDATE_TRIES = 5, /* of one update whose answer is lost */
    RECORD_RACE_TRIES = 100, /* of a change that others get ahead of */
};

enum { RECORD_WHEN_MAX = 3 };
/* A conditional write of one record, and of what goes with it. */
typedef struct RecordWrite {
    RecordPlace place;
    void *record; /* its WRITE_ID becomes fresh, unless `keep_id` */
    bool keep_id;
    Slice before; /* the cell as it was read; empty: there was none */
    int64_t ttl_s;
    const Condition *when; /* other cells of the row that must be so */
    size_t when_count;     /* RECORD_WHEN_MAX at most */
    const Change *also;    /* further changes of the row */
    size_t also_count;
    Batch marks;
    Slice
        proof; /* a column of `also` that proves the write; empty: a receipt, by the id of the write */
} RecordWrite;

/* As store_update. *ret_value (may be NULL) is then the cell. */
MUST_USE Status record_write(const Records *records, const RecordWrite *write, Arena *arena,
                             Slice *ret_value);

/* A change under way. */
typedef struct RecordEditing {
    void *record;     /* as it is stored (or its defaults), to be changed */
    bool present;     /* it is stored */
    const void *held; /* the record that must stay as it is: RecordEdit.held */
    bool write;       /* set it: there is something to write */
    RecordWrite also; /* what goes with the write: ttl_s, when, also, marks, proof */
    Arena *arena;     /* of this attempt */
} RecordEditing;

/* Pure but for `context`; may be called several times. Anything but OK ends the edit with nothing written. */
typedef Status RecordApply(RecordEditing *editing, void *context, Reason *reason);

typedef struct RecordEdit {
    RecordPlace place;
    const RecordPlace
        *held; /* or NULL: a record of the same row that must be there, and not change in between */
    bool must_exist; /* else NOT_FOUND */
    RecordApply *apply;
    void *context;
} RecordEdit;

/* UNAVAILABLE with a reason when others were faster RECORD_RACE_TRIES times; UNKNOWN is passed on. */
MUST_USE Status record_edit(const Records *records, const RecordEdit *edit, Reason *reason);

/* The loop of record_edit for steps that read and write more than one record:
 *     Status status = STATUS_CONFLICT;
 *     for (int i = 0; record_again(&status, i, arena, reason); i++)
 *         status = one_attempt(…, arena);
 * The arena is emptied before each attempt, unless it is NULL. At the end CONFLICT has become UNAVAILABLE: nothing was done. */
bool record_again(Status *status, int attempt, Arena *arena, Reason *reason);
