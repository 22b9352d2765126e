/* csv.c -- see csv.h. */
#include "base/csv.h"

static const Slice BYTE_ORDER_MARK = {"\xEF\xBB\xBF", 3};

void csv_end(CsvReader *reader)
{
    buffer_free(&reader->partial);
    buffer_free(&reader->text);
}

/* ---- Lines --------------------------------------------------------------------------------------------------- */

static void keep_part(CsvReader *reader, Slice part)
{
    if (reader->partial.size + part.size > CSV_LINE_MAX)
        reader->too_long = true;
    else
        buffer_bytes(&reader->partial, part);
}

/* The next line without its end, in `partial`; false when it is not all there. */
static bool take_line(CsvReader *reader, Slice *bytes, bool is_last)
{
    size_t end = slice_find(*bytes, '\n');
    bool is_whole = end < bytes->size;
    keep_part(reader, slice_of(bytes->data, end));
    *bytes = slice_after(*bytes, is_whole ? end + 1 : end);
    if (!is_whole && (!is_last || (reader->partial.size == 0 && !reader->too_long)))
        return false;
    reader->number++;
    return true;
}

static Slice line_of(const CsvReader *reader)
{
    Slice line = buffer_slice(&reader->partial);
    if (reader->number == 1 && slice_starts_with(line, BYTE_ORDER_MARK))
        line = slice_after(line, BYTE_ORDER_MARK.size);
    if (line.size > 0 && line.data[line.size - 1] == '\r')
        line.size--;
    return line;
}

/* ---- Fields -------------------------------------------------------------------------------------------------- */

static char separator_of(Slice line)
{
    bool quoted = false;
    for (size_t i = 0; i < line.size; i++) {
        char at = line.data[i];
        quoted ^= at == '"';
        if (!quoted && (at == ',' || at == ';' || at == '\t'))
            return at;
    }
    return 0;
}

static bool has_controls(Slice line)
{
    for (size_t i = 0; i < line.size; i++)
        if (((unsigned char)line.data[i] < ' ' && line.data[i] != '\t') || line.data[i] == 0x7F)
            return true;
    return false;
}

/* A field in quotes, whose first one `rest` begins with; NULL, or what is wrong. */
static const char *read_quoted(CsvReader *reader, Slice *rest)
{
    size_t i = 1;
    for (;; i++) {
        if (i >= rest->size)
            return "a quote begins and does not end on this line";
        if (rest->data[i] == '"' && (i + 1 >= rest->size || rest->data[i + 1] != '"'))
            break;
        i += rest->data[i] == '"'; /* the first of two */
        buffer_u8(&reader->text, (uint8_t)rest->data[i]);
    }
    *rest = slice_after(*rest, i + 1);
    size_t next = reader->separator != 0 ? slice_find(*rest, reader->separator) : rest->size;
    if (slice_trim(slice_of(rest->data, next)).size > 0)
        return "something follows a closing quote";
    *rest = slice_after(*rest, next);
    return NULL;
}

/* With a tab as separator, blanks at its sides are fields. */
static Slice without_blanks(Slice slice)
{
    while (slice.size > 0 && slice.data[0] == ' ')
        slice = slice_after(slice, 1);
    while (slice.size > 0 && slice.data[slice.size - 1] == ' ')
        slice.size--;
    return slice;
}

static const char *read_field(CsvReader *reader, Slice *rest)
{
    Slice ahead = without_blanks(*rest);
    if (ahead.size > 0 && ahead.data[0] == '"') {
        *rest = ahead;
        return read_quoted(reader, rest);
    }
    size_t end = reader->separator != 0 ? slice_find(*rest, reader->separator) : rest->size;
    Slice field = slice_trim(slice_of(rest->data, end));
    if (slice_find(field, '"') < field.size)
        return "a quote stands inside a field that does not begin with one";
    buffer_bytes(&reader->text, field);
    *rest = slice_after(*rest, end);
    return NULL;
}

/* The ends of fields are kept first: the text moves while it grows. */
static const char *read_fields(CsvReader *reader, Slice line, size_t *ret_count)
{
    size_t count = 0;
    for (bool more = true; more;) {
        if (count == CSV_FIELDS_MAX)
            return "too many fields";
        const char *fault = read_field(reader, &line);
        if (fault != NULL)
            return fault;
        reader->ends[count++] = reader->text.size;
        more = line.size > 0;
        line = slice_after(line, 1);
    }
    Slice text = buffer_slice(&reader->text);
    for (size_t i = 0; i < count; i++) {
        size_t start = i == 0 ? 0 : reader->ends[i - 1];
        reader->fields[i] = slice_of(text.data + start, reader->ends[i] - start);
    }
    *ret_count = count;
    return NULL;
}

static const char *read_line(CsvReader *reader, Slice line, size_t *ret_count)
{
    if (reader->too_long)
        return "the line is too long";
    if (!slice_is_utf8(line))
        return "the line is not UTF-8 text";
    if (has_controls(line))
        return "the line holds a control character";
    char before = reader->separator;
    if (before == 0)
        reader->separator = separator_of(line);
    const char *fault = read_fields(reader, line, ret_count);
    if (fault != NULL)
        reader->separator = before;
    return fault;
}

bool csv_next(CsvReader *reader, Slice *bytes, bool is_last, CsvLine *ret_line)
{
    while (take_line(reader, bytes, is_last)) {
        CsvLine line = {.number = reader->number, .fields = reader->fields};
        Slice text = line_of(reader);
        bool is_blank = !reader->too_long && slice_trim(text).size == 0;
        buffer_clear(&reader->text);
        if (!is_blank)
            line.fault = read_line(reader, text, &line.count);
        buffer_clear(&reader->partial);
        reader->too_long = false;
        if (is_blank)
            continue;
        *ret_line = line;
        return true;
    }
    return false;
}
