/* csv_test.c -- tables from spreadsheets: fields, quotes, faults, and pieces of any size. */
#include "base/csv.h"

#include "base/arena.h"
#include "test.h"

/* All lines as one text: "1:a|b\n", or "2!what is wrong\n", read in pieces of `step` bytes. */
static Slice read_all(Slice bytes, size_t step, Arena *arena)
{
    CSV_SCOPE CsvReader reader = {0};
    BUFFER_SCOPE Buffer out = {0};
    for (size_t at = 0; at == 0 || at < bytes.size; at += step) {
        Slice piece = slice_after(bytes, at);
        bool is_last = piece.size <= step;
        CsvLine line;
        if (!is_last)
            piece.size = step;
        while (csv_next(&reader, &piece, is_last, &line)) {
            buffer_print(&out, "%llu%c", (unsigned long long)line.number,
                         line.fault != NULL ? '!' : ':');
            if (line.fault != NULL)
                buffer_text(&out, line.fault);
            for (size_t i = 0; i < line.count; i++)
                buffer_print(&out, "%s%.*s", i > 0 ? "|" : "", SLICE_ARG(line.fields[i]));
            buffer_text(&out, "\n");
        }
    }
    return arena_copy(arena, buffer_slice(&out));
}

static void expect(Slice bytes, Slice lines)
{
    ARENA_SCOPE Arena *arena = arena_new();
    for (size_t step = 1; step < 40; step++)
        EXPECT_SLICE(read_all(bytes, step, arena), lines);
    EXPECT_SLICE(read_all(bytes, 1 << 20, arena), lines);
}

TEST(fields_are_separated_by_what_comes_first)
{
    expect(SLICE("a,b\nc,d;e\n"), SLICE("1:a|b\n2:c|d;e\n"));
    expect(SLICE("a;b,c\nd;e"), SLICE("1:a|b,c\n2:d|e\n"));
    expect(SLICE("a\tb c\n\t"), SLICE("1:a|b c\n"));
    expect(SLICE("a\nb,c\n"), SLICE("1:a\n2:b|c\n"));
    expect(SLICE("a,,\n,b\n"), SLICE("1:a||\n2:|b\n"));
}

TEST(line_ends_of_all_systems_and_blank_lines_are_counted)
{
    expect(SLICE("a\r\nb\r\n"), SLICE("1:a\n2:b\n"));
    expect(SLICE("\n  \na\n\n\r\nb"), SLICE("3:a\n6:b\n"));
    expect(SLICE("\xEF\xBB\xBF"
                 "a,b\n"),
           SLICE("1:a|b\n"));
    expect(SLICE_EMPTY, SLICE_EMPTY);
}

TEST(quotes_hold_separators_and_quotes)
{
    expect(SLICE("\"a,b\",c\n"), SLICE("1:a,b|c\n"));
    expect(SLICE("\"a \"\"b\"\"\" ,\" c \"\n"), SLICE("1:a \"b\"| c \n"));
    expect(SLICE("\"\",x\n"), SLICE("1:|x\n"));
    expect(SLICE(" a , b \n"), SLICE("1:a|b\n"));
}

TEST(a_broken_line_names_its_fault_and_harms_no_other)
{
    expect(SLICE("\"a,b\nc,d\n"), SLICE("1!a quote begins and does not end on this line\n2:c|d\n"));
    expect(SLICE("a,b\n\"c\"d,e\nf,g"),
           SLICE("1:a|b\n2!something follows a closing quote\n3:f|g\n"));
    expect(SLICE("a;b\"\nc,d;e\n"),
           SLICE("1!a quote stands inside a field that does not begin with one\n2:c|d;e\n"));
    expect(SLICE("a\xFF,b\nc\n"), SLICE("1!the line is not UTF-8 text\n2:c\n"));
    expect(SLICE("a\0,b\nc\n"), SLICE("1!the line is not UTF-8 text\n2:c\n"));
    expect(SLICE("a\x01,b\nc\n"), SLICE("1!the line holds a control character\n2:c\n"));
}

TEST(lines_and_fields_are_bounded)
{
    ARENA_SCOPE Arena *arena = arena_new();
    BUFFER_SCOPE Buffer long_line = {0};
    for (int i = 0; i < CSV_LINE_MAX; i++)
        buffer_u8(&long_line, 'x');
    buffer_text(&long_line, "\nb\n");
    Slice fits = read_all(buffer_slice(&long_line), 1000, arena);
    EXPECT(slice_starts_with(fits, SLICE("1:xxx")));
    buffer_clear(&long_line);
    for (int i = 0; i <= CSV_LINE_MAX; i++)
        buffer_u8(&long_line, 'x');
    buffer_text(&long_line, "\nb\n");
    for (size_t step = 1; step <= 10000; step *= 10)
        EXPECT_SLICE(read_all(buffer_slice(&long_line), step, arena),
                     SLICE("1!the line is too long\n2:b\n"));
    buffer_clear(&long_line);
    for (int i = 0; i < CSV_FIELDS_MAX; i++)
        buffer_text(&long_line, "x,");
    EXPECT_SLICE(read_all(buffer_slice(&long_line), 7, arena), SLICE("1!too many fields\n"));
}
