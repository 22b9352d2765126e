/* tables.h -- every table of the store, declared once.
 *
 * The list says for each table: its number (part of the stored key, never reused), name, how it is written, whether cells
 * are deleted or expire, what the row key and the columns are, and who writes it. Engines create, check and interpret
 * tables by it; docs/tables.md is printed from it. Tests and benchmarks bring tables of their own, with numbers from
 * TABLE_FIRST_FOR_TESTS on. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum TableKind { TABLE_PLAIN, TABLE_CONDITIONAL } TableKind;

typedef struct Table {
    uint16_t number;
    const char *name; /* lower-case letters, digits and _, at most 40 */
    TableKind kind;
    bool deletes;
    bool expires;
    const char *row;
    const char *columns;
    const char *writer;
} Table;

enum { TABLE_FIRST_FOR_TESTS = 60000 };

/*    id, number, name, kind, deletes, expires, row key, columns, who writes */
#define TABLE_LIST(X)                                                                       \
    X(SITE, 1, "site", CONDITIONAL, false, true, "the name of a fact about the whole site", \
      "state: id of the write (16 bytes) and the value; ~/id: receipts", "cli: maintenance mode")

#define X(id, number, name, kind, deletes, expires, row, columns, writer) \
    extern const Table TABLE_##id;
TABLE_LIST(X)
#undef X

/* All of the above, for engines that create or check them. */
typedef struct TableSet {
    const Table *const *tables;
    size_t count;
} TableSet;

extern const TableSet TABLES;

/* NULL when the set has no such number. */
const Table *table_by_number(TableSet set, uint16_t number);
