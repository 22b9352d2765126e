/* unicode_scripts.c -- see unicode_scripts.h. The characters looked up were folded, so ranges that NFKC or case folding empties are left out. */
#include "accounts/unicode_scripts.h"

#include <stddef.h>
#include <utf8proc.h>

typedef enum Script {
    LATIN,
    GREEK,
    CYRILLIC,
    ARMENIAN,
    HEBREW,
    ARABIC,
    THAANA,
    DEVANAGARI,
    BENGALI,
    GURMUKHI,
    GUJARATI,
    ORIYA,
    TAMIL,
    TELUGU,
    KANNADA,
    MALAYALAM,
    SINHALA,
    THAI,
    LAO,
    TIBETAN,
    MYANMAR,
    GEORGIAN,
    ETHIOPIC,
    KHMER,
    HANGUL,
    HAN, /* with Hiragana and Katakana */
} Script;

typedef struct Range {
    int32_t first, last;
    Script script;
    bool marks; /* words of this script are written with them */
} Range;

/* Ascending. */
static const Range RANGES[] = {
    {0x0061, 0x007A, LATIN, false},    {0x00DF, 0x024F, LATIN, false},
    {0x0253, 0x0254, LATIN, false}, /* of the phonetic letters, those in alphabets of West Africa and the Caucasus */
    {0x0256, 0x0257, LATIN, false},    {0x0259, 0x0259, LATIN, false},
    {0x025B, 0x025B, LATIN, false},    {0x0263, 0x0263, LATIN, false},
    {0x0272, 0x0272, LATIN, false},    {0x028B, 0x028B, LATIN, false},
    {0x0370, 0x03E1, GREEK, false},    {0x03F0, 0x03FF, GREEK, false},
    {0x0400, 0x052F, CYRILLIC, false}, {0x0531, 0x058F, ARMENIAN, false},
    {0x05D0, 0x05F2, HEBREW, false},   {0x0620, 0x06FF, ARABIC, false},
    {0x0750, 0x077F, ARABIC, false},   {0x0780, 0x07BF, THAANA, true},
    {0x08A0, 0x08C9, ARABIC, false},   {0x0900, 0x097F, DEVANAGARI, true},
    {0x0980, 0x09FF, BENGALI, true},   {0x0A00, 0x0A7F, GURMUKHI, true},
    {0x0A80, 0x0AFF, GUJARATI, true},  {0x0B00, 0x0B7F, ORIYA, true},
    {0x0B80, 0x0BFF, TAMIL, true},     {0x0C00, 0x0C7F, TELUGU, true},
    {0x0C80, 0x0CFF, KANNADA, true},   {0x0D00, 0x0D7F, MALAYALAM, true},
    {0x0D80, 0x0DFF, SINHALA, true},   {0x0E00, 0x0E7F, THAI, true},
    {0x0E80, 0x0EFF, LAO, true},       {0x0F00, 0x0FFF, TIBETAN, true},
    {0x1000, 0x109F, MYANMAR, true},   {0x10D0, 0x10FF, GEORGIAN, false},
    {0x1200, 0x137F, ETHIOPIC, false}, {0x1780, 0x17FF, KHMER, true},
    {0x1E00, 0x1EFF, LATIN, false},    {0x1F00, 0x1FFF, GREEK, false},
    {0x2D00, 0x2D2F, GEORGIAN, false}, {0x3005, 0x3006, HAN, false},
    {0x3041, 0x3096, HAN, false},      {0x309D, 0x309E, HAN, false},
    {0x30A1, 0x30FA, HAN, false},      {0x30FC, 0x30FE, HAN, false},
    {0x3400, 0x4DBF, HAN, false},      {0x4E00, 0x9FFF, HAN, false},
    {0xAC00, 0xD7A3, HANGUL, false},   {0x20000, 0x323AF, HAN, false},
};

static const Range *range_of(int32_t character)
{
    for (size_t i = 0; i < sizeof RANGES / sizeof RANGES[0]; i++)
        if (character >= RANGES[i].first && character <= RANGES[i].last)
            return &RANGES[i];
    return NULL;
}

static ScriptPart part_by_category(utf8proc_category_t category)
{
    bool letter = category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
    if (letter || category == UTF8PROC_CATEGORY_ND)
        return SCRIPT_LETTER;
    return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC ? SCRIPT_MARK
                                                                                : SCRIPT_NOTHING;
}

ScriptPart script_part(int32_t character, int *ret_script)
{
    const Range *range = range_of(character);
    if (range == NULL)
        return SCRIPT_NOTHING;
    ScriptPart part = part_by_category(utf8proc_category(character));
    if (part == SCRIPT_NOTHING || (part == SCRIPT_MARK && !range->marks))
        return SCRIPT_NOTHING;
    *ret_script = (int)range->script;
    return part;
}
