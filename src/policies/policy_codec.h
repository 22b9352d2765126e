/* policy_codec.h -- the cells of a policy's row as bytes.
 *
 * Every value begins with a format byte. Encoding is one to one: what a decoder takes, its encoder writes again byte for
 * byte (fuzz/fuzz_policies.c), so values can be compared as bytes. A value that no encoder can have written is CORRUPT.
 * Decoded slices are views of the value. Pure.
 *
 * The row, in byte order of its columns, is laid out so that one slice [l, v) has all but old texts and receipts, and one
 * slice [l, n) has what rules need:
 *     f/<merge id>          the id of the new policy that this merge leads to; never overwritten
 *     l/<source><merge id>  a source that merged into this one counts (when its own row agrees); never overwritten
 *     latest                which revision the text is, by whom and when; from the first edit on
 *     m/<number>            a move, from 0; never overwritten
 *     origin                who created it, by which entry; never overwritten
 *     owner                 who owns it; a fresh id in every value
 *     state                 how many moves, and the id of the last: the condition of moves and listings
 *     text                  the current text; a fresh version in every value
 *     v/<revision>          older texts
 *     ~/<id>                receipts */
#pragma once

#include "base/bytes.h"
#include "policies/policies.h"

/* The state cell. The count makes every value new, also when a merge's two moves share an id. */
typedef struct PolicyHead {
    uint32_t count;
    Id last;
} PolicyHead;

typedef struct PolicyOrigin {
    uint64_t creator, seq;
    Id version;
    int64_t created_us;
} PolicyOrigin;

typedef struct PolicyOwner {
    Id id;
    uint64_t owner;
} PolicyOwner;

void policy_encode_head(Buffer *to, const PolicyHead *head);
MUST_USE Status policy_decode_head(Slice value, PolicyHead *ret_head);
void policy_encode_move(Buffer *to, const PolicyMove *move);
MUST_USE Status policy_decode_move(Slice value, PolicyMove *ret_move);
void policy_encode_origin(Buffer *to, const PolicyOrigin *origin);
MUST_USE Status policy_decode_origin(Slice value, PolicyOrigin *ret_origin);
void policy_encode_owner(Buffer *to, const PolicyOwner *owner);
MUST_USE Status policy_decode_owner(Slice value, PolicyOwner *ret_owner);
void policy_encode_edit(Buffer *to, const PolicyEdit *edit);
MUST_USE Status policy_decode_edit(Slice value, PolicyEdit *ret_edit);
void policy_encode_revision(Buffer *to, const PolicyRevision *revision);
MUST_USE Status policy_decode_revision(Slice value, PolicyRevision *ret_revision);
void policy_encode_target(Buffer *to, uint64_t target);
MUST_USE Status policy_decode_target(Slice value, uint64_t *ret_target);

/* ---- Columns ----------------------------------------------------------------------------------------------- */

Slice policy_row_key(uint64_t id, Arena *arena);
MUST_USE Status policy_decode_row_key(Slice row, uint64_t *ret_id);
Slice policy_move_column(uint32_t number, Arena *arena);
MUST_USE Status policy_decode_move_column(Slice column, uint32_t *ret_number);
/* A listing stands in the column, the value only carries the format. */
Slice policy_source_column(const PolicySource *source, Arena *arena);
MUST_USE Status policy_decode_source_column(Slice column, PolicySource *ret_source);
Slice policy_revision_column(uint32_t revision, Arena *arena);
Slice policy_target_column(Id merge, Arena *arena);

#define POLICY_LISTED SLICE("\1") /* the value of a listing */
