/* declared_data.c -- is an entry's data what its journal's fields ask for? */
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
    if (declared->field_count == 0)
        return STATUS_OK;
    /* Each field has one value; what has more of them is refused before it is built. */
    const JsonBounds bounds = {JOURNAL_DATA_MAX, DECLARATION_FIELDS_MAX + 1};
    JSON_SCOPE Json *document = NULL;
    const char *known[DECLARATION_FIELDS_MAX + 1] = {NULL};
    TRY(json_parse(data, bounds, &document, reason));
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
