/* tables.c -- the table list of tables.h as values. */
#include "store/tables.h"

#define KIND_PLAIN             TABLE_PLAIN, false, false
#define KIND_REPEATED          TABLE_PLAIN, true, false
#define KIND_CONDITIONAL       TABLE_CONDITIONAL, false, false
#define KIND_NOTES_PLAIN       TABLE_PLAIN, false, true
#define KIND_NOTES_REPEATED    TABLE_PLAIN, true, true
#define KIND_NOTES_CONDITIONAL TABLE_CONDITIONAL, false, true

#define X(id, number, name, kind, deletes, expires, row, columns, writer, policy)           \
    const Table TABLE_##id = {number,  name,   KIND_##kind,          deletes, expires, row, \
                              columns, writer, TABLE_POLICY_##policy};
TABLE_LIST(X)
#undef X

static const Table *const ALL[] = {
#define X(id, number, name, kind, deletes, expires, row, columns, writer, policy) &TABLE_##id,
    TABLE_LIST(X)
#undef X
};

const TableSet TABLES = {ALL, sizeof ALL / sizeof ALL[0]};

const TablePolicyRow TABLE_POLICY_ROWS[] = {
#define X(name, eraser, words) {words, #eraser},
    TABLE_POLICY_LIST(X)
#undef X
};
