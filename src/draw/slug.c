/* slug.c -- see slug.h. */
#include "draw/slug.h"

#include <stdlib.h>

#include <utf8proc.h>

#include "base/bytes.h"
#include "web/put.h"

enum { SLUG_BYTES = 60 };

/* Decomposed, so that accents are characters of their own and can be left out. NULL for what is not UTF-8. */
static utf8proc_uint8_t *decomposed(Slice name)
{
    utf8proc_uint8_t *result = NULL;
    utf8proc_option_t options = UTF8PROC_COMPAT | UTF8PROC_DECOMPOSE | UTF8PROC_CASEFOLD |
                                UTF8PROC_STRIPMARK | UTF8PROC_STABLE;
    utf8proc_ssize_t size = utf8proc_map((const utf8proc_uint8_t *)name.data,
                                         (utf8proc_ssize_t)name.size, &result, options);
    return size < 0 ? NULL : result;
}

static bool is_word(utf8proc_int32_t character)
{
    utf8proc_category_t category = utf8proc_category(character);
    return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO) ||
           category == UTF8PROC_CATEGORY_ND;
}

Slice slug_of(Slice name, Arena *arena)
{
    BUFFER_SCOPE Buffer slug = {0};
    utf8proc_uint8_t *text = decomposed(name);
    const utf8proc_uint8_t *at = text;
    bool gap = false;
    while (at != NULL && *at != 0 && slug.size < SLUG_BYTES) {
        utf8proc_int32_t character;
        utf8proc_ssize_t size = utf8proc_iterate(at, -1, &character);
        if (size <= 0)
            break;
        if (is_word(character) && slug.size + (size_t)size < SLUG_BYTES) {
            if (gap && slug.size > 0)
                buffer_u8(&slug, '-');
            buffer_bytes(&slug, slice_of(at, (size_t)size));
            gap = false;
        } else if (is_word(character)) {
            break;
        } else {
            gap = true;
        }
        at += size;
    }
    free(text);
    return arena_copy(arena, buffer_slice(&slug));
}

/* Letters of other scripts are encoded, so that the address can stand in a header, a feed or a letter as it is. */
Slice slug_address(const char *path, uint64_t id, Slice name, Arena *arena)
{
    BUFFER_SCOPE Buffer address = {0};
    Slice slug = slug_of(name, arena);
    buffer_print(&address, "%s/%llu", path, (unsigned long long)id);
    if (slug.size > 0) {
        buffer_u8(&address, '-');
        url_part_put(&address, slug);
    }
    return arena_copy(arena, buffer_slice(&address));
}

Slice policy_address(uint64_t id, Slice name, Arena *arena)
{
    return slug_address("/policies", id, name, arena);
}
