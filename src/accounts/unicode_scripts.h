/* unicode_scripts.h -- which script a character is written in, as far as user names need it.
 *
 * utf8proc knows what is a letter, but not of which script. The table here names the common scripts by ranges of code points; what
 * is in none of them cannot stand in a name. Within a range utf8proc's category decides. Left out on purpose: phonetic letters
 * that look like plain ones, and points that are hardly seen (Arabic, Hebrew). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef enum ScriptPart {
    SCRIPT_NOTHING, /* not allowed in a name */
    SCRIPT_LETTER,  /* or a digit of that script */
    SCRIPT_MARK,    /* a vowel sign or the like, behind a letter */
} ScriptPart;

/* What `character` is, in a name; *ret_script (set unless it is nothing) tells scripts apart and means nothing else. */
ScriptPart script_part(int32_t character, int *ret_script);
