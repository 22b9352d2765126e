/* policy_text.c -- what a text may be: bounds in characters, UTF-8, no control characters; and folding. Pure. */
#include "policies/policies_private.h"

#include <stdlib.h>
#include <utf8proc.h>

/* Control characters are below the blank, DEL, and U+0080 … U+009F, which UTF-8 writes as C2 80 … C2 9F. */
static bool is_control(Slice character)
{
    const unsigned char *bytes = (const unsigned char *)character.data;
    if (character.size == 1)
        return bytes[0] < ' ' || bytes[0] == 0x7F;
    return character.size == 2 && bytes[0] == 0xC2 && bytes[1] < 0xA0;
}

static bool is_line_end(Slice character)
{
    return character.size == 1 && (character.data[0] == '\n' || character.data[0] == '\r');
}

/* Letters, digits, punctuation and symbols that folding does not drop; blanks, fillers and joiners show nothing. */
static bool is_visible(Slice character)
{
    utf8proc_int32_t code = 0;
    if (utf8proc_iterate((const utf8proc_uint8_t *)character.data, (utf8proc_ssize_t)character.size,
                         &code) <= 0)
        return false;
    utf8proc_category_t category = utf8proc_category(code);
    bool mark = category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME;
    return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_SO && !mark &&
           !utf8proc_get_property(code)->ignorable;
}

static bool has_visible(Slice text)
{
    for (; text.size > 0; text = slice_after(text, slice_utf8_length(text)))
        if (is_visible(slice_of(text.data, slice_utf8_length(text))))
            return true;
    return false;
}

/* Counts the characters; INVALID when one may not stand there. */
static Status check_characters(const char *field, Slice text, bool lines, size_t *ret_count,
                               Reason *reason)
{
    size_t count = 0;
    for (; text.size > 0; count++) {
        Slice character = slice_of(text.data, slice_utf8_length(text));
        if (character.size == 0)
            return reason_set(reason, STATUS_INVALID, field, "must be UTF-8 text");
        if (is_control(character) && !(lines && is_line_end(character)))
            return reason_set(reason, STATUS_INVALID, field, "must not have control characters%s",
                              lines ? " other than line ends" : "");
        text = slice_after(text, character.size);
    }
    *ret_count = count;
    return STATUS_OK;
}

/* No character has more than 4 bytes: what is longer need not be counted. */
static Status check_size(const char *field, Slice text, size_t most, Reason *reason)
{
    if (text.size > 4 * most)
        return reason_set(reason, STATUS_INVALID, field, "has at most %zu characters", most);
    return STATUS_OK;
}

Status policy_check_line(const char *field, Slice text, size_t least, size_t most, Reason *reason)
{
    size_t count = 0;
    TRY(check_size(field, text, most, reason));
    TRY(check_characters(field, text, false, &count, reason));
    if (count < least || count > most)
        return reason_set(reason, STATUS_INVALID, field, "has %zu to %zu characters", least, most);
    if (slice_trim(text).size != text.size)
        return reason_set(reason, STATUS_INVALID, field, "must not begin or end with a blank");
    if (!has_visible(text))
        return reason_set(reason, STATUS_INVALID, field, "must show something");
    return STATUS_OK;
}

Status policy_check_prose(const char *field, Slice text, size_t most, Reason *reason)
{
    size_t count = 0;
    TRY(check_size(field, text, most, reason));
    TRY(check_characters(field, text, true, &count, reason));
    if (count > most)
        return reason_set(reason, STATUS_INVALID, field, "has at most %zu characters", most);
    return STATUS_OK;
}

Status policy_check_reason(Slice text, Reason *reason)
{
    return policy_check_prose("reason", text, POLICY_REASON_MAX, reason);
}

/* The scheme decides what a browser does with a link; a blank or a quote would end it early in somebody's page. */
static Status check_link(Slice link, Reason *reason)
{
    static const Slice schemes[] = {{"https://", 8}, {"http://", 7}};
    TRY(policy_check_line("links", link, 1, POLICY_LINK_MAX, reason));
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        Slice rest = slice_after(link, schemes[i].size);
        if (!slice_equal_ignoring_case(slice_of(link.data, link.size - rest.size), schemes[i]))
            continue;
        if (rest.size == 0 || slice_find(SLICE("/?#:@"), rest.data[0]) < 5)
            break;
        if (slice_find(link, ' ') < link.size || slice_find(link, '"') < link.size ||
            slice_find(link, '<') < link.size || slice_find(link, '>') < link.size)
            break;
        return STATUS_OK;
    }
    return reason_set(reason, STATUS_INVALID, "links",
                      "a link begins with https:// or http:// and a host, and has no blanks");
}

Status policy_check_text(const PolicyText *text, Reason *reason)
{
    TRY(policy_check_line("name", text->name, POLICY_NAME_LEAST, POLICY_NAME_MAX, reason));
    TRY(policy_check_prose("description", text->description, POLICY_TEXT_MAX, reason));
    TRY(policy_check_prose("rationale", text->rationale, POLICY_TEXT_MAX, reason));
    if (text->link_count > POLICY_LINKS_MAX)
        return reason_set(reason, STATUS_INVALID, "links", "has at most %d links",
                          POLICY_LINKS_MAX);
    for (size_t i = 0; i < text->link_count; i++)
        TRY(check_link(text->links[i], reason));
    if (text->category == 0)
        return reason_set(reason, STATUS_INVALID, "category", "must be exactly one");
    return STATUS_OK;
}

Slice policy_fold(Slice text, Arena *arena)
{
    utf8proc_uint8_t *folded = NULL;
    utf8proc_ssize_t size = utf8proc_map(
        (const utf8proc_uint8_t *)text.data, (utf8proc_ssize_t)text.size, &folded,
        UTF8PROC_STABLE | UTF8PROC_COMPAT | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE);
    CHECK(size >= 0); /* it was checked to be UTF-8 */
    Slice copy = arena_copy(arena, slice_of(folded, (size_t)size));
    free(folded);
    return copy;
}
