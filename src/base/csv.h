/* csv.h -- lines of a table as spreadsheets save them, from bytes that come piece by piece.
 *
 *     CSV_SCOPE CsvReader reader = {0};
 *     while (more bytes come) {
 *         CsvLine line;
 *         while (csv_next(&reader, &bytes, is_last, &line))
 *             …                                    // line.fault, or line.fields
 *     }
 * A line ends with LF or CR LF; its fields are separated by comma, semicolon or tab, whichever comes first in the first
 * whole line that has one. A field in quotes may hold separators, and "" for a quote; it ends on its line.
 *   1. Memory is bounded: one line of CSV_LINE_MAX bytes, whatever comes. How the bytes are cut into pieces does not change what is read.
 *   2. Every line that is not blank comes once, with its number as an editor shows it: with its fields, or with what is wrong with it. A broken line
 *      does not change how the next one is read.
 *   3. Fields are UTF-8 without NUL and other control characters, trimmed unless they were in quotes. A mark of the byte order at the beginning is
 *      passed over.
 * Not promised: line ends inside quotes, which lists of people do not need. */
#pragma once

#include "base/bytes.h"

enum { CSV_LINE_MAX = 4096, CSV_FIELDS_MAX = 32 };

typedef struct CsvReader {
    uint64_t number; /* of the last line */
    char separator;  /* 0: not known yet */
    bool too_long;   /* the rest of the line under way is passed over */
    Buffer partial;  /* of a line that goes on in the next piece */
    Buffer text;     /* what the fields of the last line point to */
    size_t ends[CSV_FIELDS_MAX];
    Slice fields[CSV_FIELDS_MAX];
} CsvReader;

typedef struct CsvLine {
    uint64_t number;
    const char *fault; /* in words, or NULL */
    const Slice *fields;
    size_t count; /* 0 when there is a fault */
} CsvLine;

/* Takes the next line off the beginning of `bytes`; false when they hold no whole line any more, and are used up. `is_last`: nothing follows,
 * so that what has no line end is a line, too. Fields live until the next call. */
bool csv_next(CsvReader *reader, Slice *bytes, bool is_last, CsvLine *ret_line);

#define CSV_SCOPE __attribute__((cleanup(csv_end)))
void csv_end(CsvReader *reader);
