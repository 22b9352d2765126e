/* declared_data.c -- is an entry's data what its journal's fields ask for? And which key does it have? */
#include <inttypes.h>

#include "base/json.h"
#include "journal/declaration.h"

static bool is_base64(Slice text)
{
    size_t end = text.size;
    while (end > 0 && text.size - end < 2 && text.data[end - 1] == '=')
        end--;
    for (size_t i = 0; i < end; i++) {
        char c = text.data[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
            c != '+' && c != '/')
            return false;
    }
    return text.size % 4 == 0;
}

static Status check_field(const Json *object, const JournalField *field, Reason *reason)
{
    Slice text;
    int64_t number;
    bool yes;
    switch (field->type) {
    case JOURNAL_FIELD_U64:
        return json_get_i64(object, field->name, 0, INT64_MAX, &number, reason);
    case JOURNAL_FIELD_I64:
        return json_get_i64(object, field->name, INT64_MIN, INT64_MAX, &number, reason);
    case JOURNAL_FIELD_BOOL:
        return json_get_bool(object, field->name, &yes, reason);
    case JOURNAL_FIELD_TEXT:
        return json_get_string(object, field->name, JOURNAL_DATA_MAX, &text, reason);
    case JOURNAL_FIELD_BYTES:
        TRY(json_get_string(object, field->name, JOURNAL_DATA_MAX, &text, reason));
        return is_base64(text) ? STATUS_OK
                               : reason_set(reason, STATUS_INVALID, field->name, "must be base64");
    }
    return STATUS_OK;
}

Status declaration_check_data(const JournalDeclared *declared, Slice data, Reason *reason)
{
    Reason why = {0};
    if (data.size > declared->rules.max_data)
        return reason_set(reason, STATUS_TOO_LARGE, "data", "at most %llu bytes",
                          (unsigned long long)declared->rules.max_data);
    if (declared->field_count == 0)
        return STATUS_OK;
    /* Each field has one value; what has more of them is refused before it is built. */
    const JsonBounds bounds = {JOURNAL_DATA_MAX, DECLARATION_FIELDS_MAX + 1};
    JSON_SCOPE Json *document = NULL;
    const char *known[DECLARATION_FIELDS_MAX + 1] = {NULL};
    Status parsed = json_parse(data, bounds, &document, &why);
    if (parsed != STATUS_OK)
        return reason_set(reason, parsed, "data", "%s", why.rule);
    if (slice_trim(data).data[0] != '{')
        return reason_set(reason, STATUS_INVALID, "data", "must be a JSON object");
    for (size_t i = 0; i < declared->field_count; i++) {
        known[i] = declared->fields[i].name;
        Status status = check_field(document, &declared->fields[i], reason);
        if (status == STATUS_NOT_FOUND && declared->fields[i].required)
            return reason_set(reason, STATUS_INVALID, declared->fields[i].name, "is required");
        if (status != STATUS_NOT_FOUND)
            TRY(status);
    }
    return json_only(document, known, reason);
}

/* ---- Keys -------------------------------------------------------------------------------------------------- */

/* A part of a JSON pointer (RFC 6901): ~1 is /, ~0 is ~. */
static Slice pointer_part(Slice part, Arena *arena)
{
    char *to = arena_bytes(arena, part.size);
    size_t size = 0;
    for (size_t i = 0; i < part.size; i++) {
        bool escaped = part.data[i] == '~' && i + 1 < part.size;
        to[size++] = !escaped ? part.data[i] : part.data[++i] == '1' ? '/' : '~';
    }
    return slice_of(to, size);
}

static const Json *member_of(const Json *value, Slice part)
{
    uint64_t index;
    void *place = NULL;
    Slice key;
    const Json *member;
    if (slice_to_u64(part, &index) == STATUS_OK && index < json_count(value))
        return json_at(value, index);
    while (json_next(value, &place, &key, &member))
        if (slice_equal(key, part))
            return member;
    return NULL;
}

static Slice key_of_json(Slice pointer, Slice data, Arena *arena)
{
    const JsonBounds bounds = {JOURNAL_DATA_MAX, DECLARATION_KEY_VALUES_MAX};
    JSON_SCOPE Json *document = NULL;
    Reason reason;
    Slice text, part;
    int64_t number;
    if (json_parse(data, bounds, &document, &reason) != STATUS_OK)
        return SLICE_EMPTY;
    const Json *value = document;
    for (Slice rest = slice_after(pointer, 1); value != NULL && slice_split(&rest, '/', &part);)
        value = member_of(value, pointer_part(part, arena));
    if (value == NULL)
        return SLICE_EMPTY;
    if (json_as_string(value, "", JOURNAL_KEY_MAX, &text, &reason) == STATUS_OK)
        return arena_copy(arena, text);
    if (json_as_i64(value, "", INT64_MIN, INT64_MAX, &number, &reason) == STATUS_OK)
        return arena_print(arena, "%" PRId64, number);
    return SLICE_EMPTY;
}

Slice declaration_key(const JournalDeclared *declared, Slice data, Arena *arena)
{
    Slice line = slice_of(data.data, slice_find(data, '\n'));
    switch (declared->key_from) {
    case JOURNAL_KEY_NONE:
        return SLICE_EMPTY;
    case JOURNAL_KEY_BODY:
        return data;
    case JOURNAL_KEY_LINE1:
        if (line.size > 0 && line.data[line.size - 1] == '\r')
            line.size--;
        return line;
    case JOURNAL_KEY_JSON:
        return key_of_json(declared->key_pointer, data, arena);
    }
    return SLICE_EMPTY;
}
