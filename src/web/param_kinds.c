/* param_kinds.c -- a decoded text as a value of its kind, within its bounds. One check a kind, and a table that finds it. */
#include "base/words.h"
#include "web/params_private.h"

static int64_t character_count(Slice text)
{
    int64_t count = 0;
    for (size_t i = 0; i < text.size; i++)
        count += ((unsigned char)text.data[i] & 0xC0) != 0x80;
    return count;
}

/* C0 controls and DEL; line ends and tabs only where lines are allowed. */
static bool has_control_character(Slice text, bool lines_allowed)
{
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        bool is_line_end = c == '\n' || c == '\t' || c == '\r';
        if ((c < ' ' && !(is_line_end && lines_allowed)) || c == 0x7F)
            return true;
    }
    return false;
}

/* Browsers send CRLF in text areas; one form is stored. */
static Slice with_plain_line_ends(Slice text, Arena *arena)
{
    if (slice_find(text, '\r') == text.size)
        return text;
    char *plain = arena_bytes(arena, text.size);
    size_t size = 0;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] != '\r')
            plain[size++] = text.data[i];
        else if (i + 1 == text.size || text.data[i + 1] != '\n')
            plain[size++] = '\n';
    }
    return slice_of(plain, size);
}

static Status check_length(ParamWork *work, const WebParam *param, int64_t count)
{
    if (count < param->least || count > param->most)
        return reason_set(work->reason, STATUS_INVALID, param->name,
                          "must have %lld to %lld characters, and has %lld",
                          (long long)param->least, (long long)param->most, (long long)count);
    return STATUS_OK;
}

static Status take_text(ParamWork *work, size_t index, Slice text)
{
    const WebParam *param = &work->route->params[index];
    if (has_control_character(text, param->kind == WEB_TEXT))
        return reason_set(work->reason, STATUS_INVALID, param->name,
                          "must not hold control characters");
    if (param->kind == WEB_TEXT)
        text = with_plain_line_ends(text, work->arena);
    TRY(check_length(work, param, character_count(text)));
    if (param->kind == WEB_TEXTS)
        return param_add_text(work, index, text);
    work->values[index] = (WebValue){.present = true, .text = text};
    return STATUS_OK;
}

static Status take_number(ParamWork *work, size_t index, Slice text)
{
    const WebParam *param = &work->route->params[index];
    bool is_id = param->kind == WEB_ID;
    int64_t least = is_id ? 1 : param->least, most = is_id ? INT64_MAX : param->most, number;
    if (slice_to_i64(text, &number) != STATUS_OK || number < least || number > most)
        return reason_set(work->reason, STATUS_INVALID, param->name,
                          "must be a whole number from %lld to %lld", (long long)least,
                          (long long)most);
    work->values[index] = (WebValue){.present = true, .number = number};
    return STATUS_OK;
}

static Status take_word(ParamWork *work, size_t index, Slice text)
{
    const WebParam *param = &work->route->params[index];
    unsigned value;
    TRY(word_find(param->words, text, param->name, &value, work->reason));
    work->values[index] =
        (WebValue){.present = true, .number = value, .text = slice_from(param->words[value])};
    return STATUS_OK;
}

static Status take_switch(ParamWork *work, size_t index, Slice text)
{
    static const char *const words[] = {"off", "on", "false", "true", "0", "1"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!slice_equal(text, slice_from(words[i])))
            continue;
        work->values[index] = (WebValue){.present = true, .number = i % 2};
        return STATUS_OK;
    }
    return reason_set(work->reason, STATUS_INVALID, work->route->params[index].name,
                      "must be on or off");
}

/* A zero in front would give one page two addresses. */
static Status take_slug(ParamWork *work, size_t index, Slice text)
{
    size_t dash = slice_find(text, '-');
    int64_t id;
    if (dash == 0 || text.data[0] == '0' || has_control_character(text, false) ||
        slice_to_i64(slice_of(text.data, dash), &id) != STATUS_OK)
        return reason_set(work->reason, STATUS_INVALID, work->route->params[index].name,
                          "must begin with a number, as in 12-clean-rivers");
    work->values[index] =
        (WebValue){.present = true, .number = id, .text = slice_after(text, dash + 1)};
    return STATUS_OK;
}

static Status take_opaque(ParamWork *work, size_t index, Slice text)
{
    const WebParam *param = &work->route->params[index];
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!is_letter && !(c >= '0' && c <= '9') && c != '-' && c != '_')
            return reason_set(work->reason, STATUS_INVALID, param->name,
                              "must hold only letters, digits, - and _, as it was given to you");
    }
    TRY(check_length(work, param, (int64_t)text.size));
    work->values[index] = (WebValue){.present = true, .text = text};
    return STATUS_OK;
}

Status param_take(ParamWork *work, size_t index, Slice text)
{
    static Status (*const kinds[WEB_KINDS])(ParamWork * work, size_t index, Slice text) = {
        [WEB_ID] = take_number,     [WEB_NUMBER] = take_number, [WEB_LINE] = take_text,
        [WEB_TEXT] = take_text,     [WEB_WORD] = take_word,     [WEB_SWITCH] = take_switch,
        [WEB_OPAQUE] = take_opaque, [WEB_SLUG] = take_slug,     [WEB_TEXTS] = take_text,
    };
    WebKind kind = work->route->params[index].kind;
    CHECK(kinds[kind] != NULL); /* numbers come with their ids, by param_add_number */
    return kinds[kind](work, index, text);
}
