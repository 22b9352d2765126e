/* qr.c -- see qr.h. In the order of the standard: bits, blocks with their error correction, modules, mask. Coordinates are [y][x]. */
#include "site/qr.h"

enum {
    MODE_BYTE = 4,
    CODEWORDS_MOST = 1085, /* version 20 */
    ECC_MOST = 30,
    FIELD = 0x11D, /* of GF(256) */
    MASKS = 8,
    BORDER = 4,
};

/* Level M, by version: codewords of error correction a block, and blocks. */
static const struct {
    uint8_t ecc, blocks;
} LEVEL_M[QR_VERSION_MOST + 1] = {
    {0, 0},  {10, 1},  {16, 1},  {26, 1},  {18, 2},  {24, 2},  {16, 4},
    {18, 4}, {22, 4},  {22, 5},  {26, 5},  {30, 5},  {22, 8},  {22, 9},
    {24, 9}, {24, 10}, {28, 10}, {28, 11}, {26, 13}, {26, 14}, {26, 16},
};

typedef struct Draft {
    unsigned version;
    size_t side;
    bool dark[QR_SIDE_MOST][QR_SIDE_MOST];
    bool fixed[QR_SIDE_MOST][QR_SIDE_MOST]; /* patterns that hold no data and are not masked */
} Draft;

/* ---- How much fits ---------------------------------------------------------------------------------------------------- */

static unsigned alignments(unsigned version)
{
    return version == 1 ? 0 : version / 7 + 2;
}

/* Of all codewords: what the fixed patterns leave. */
static size_t codewords(unsigned version)
{
    size_t modules = (16 * (size_t)version + 128) * version + 64, count = alignments(version);
    if (count > 0)
        modules -= (25 * count - 10) * count - 55;
    if (version >= 7)
        modules -= 36;
    return modules / 8;
}

static size_t data_codewords(unsigned version)
{
    return codewords(version) - (size_t)LEVEL_M[version].ecc * LEVEL_M[version].blocks;
}

static unsigned count_bits(unsigned version)
{
    return version < 10 ? 8 : 16;
}

/* 0: none. */
static unsigned version_for(size_t size)
{
    for (unsigned version = 1; version <= QR_VERSION_MOST; version++)
        if (4 + count_bits(version) + 8 * size <= 8 * data_codewords(version))
            return version;
    return 0;
}

/* ---- Bits --------------------------------------------------------------------------------------------------------------- */

typedef struct Bits {
    uint8_t bytes[CODEWORDS_MOST];
    size_t count;
} Bits;

static void put_bits(Bits *bits, unsigned value, unsigned width)
{
    for (unsigned i = width; i-- > 0; bits->count++)
        if ((value >> i & 1) != 0)
            bits->bytes[bits->count / 8] |= (uint8_t)(128U >> bits->count % 8);
}

/* The text with its head, an end, and what fills the rest. */
static void put_text(Bits *bits, Slice text, unsigned version)
{
    size_t room = 8 * data_codewords(version);
    put_bits(bits, MODE_BYTE, 4);
    put_bits(bits, (unsigned)text.size, count_bits(version));
    for (size_t i = 0; i < text.size; i++)
        put_bits(bits, (unsigned char)text.data[i], 8);
    bits->count += room - bits->count < 4 ? room - bits->count : 4;
    bits->count = (bits->count + 7) / 8 * 8;
    for (unsigned filler = 0xEC; bits->count < room; filler ^= 0xEC ^ 0x11)
        put_bits(bits, filler, 8);
}

/* ---- Error correction (Reed and Solomon) ------------------------------------------------------------------------------- */

static uint8_t multiply(uint8_t a, uint8_t b)
{
    unsigned product = 0;
    for (int i = 7; i >= 0; i--) {
        product = product << 1 ^ (product >> 7) * FIELD;
        product ^= (unsigned)(b >> i & 1) * a;
    }
    return (uint8_t)product;
}

/* Coefficients of (x - 1)(x - 2)(x - 4) …, the highest power left out. */
static void generator(size_t degree, uint8_t ret_factors[ECC_MOST])
{
    uint8_t root = 1;
    memset(ret_factors, 0, ECC_MOST);
    ret_factors[degree - 1] = 1;
    for (size_t i = 0; i < degree; i++, root = multiply(root, 2))
        for (size_t j = 0; j < degree; j++) {
            ret_factors[j] = multiply(ret_factors[j], root);
            if (j + 1 < degree)
                ret_factors[j] ^= ret_factors[j + 1];
        }
}

/* The remainder of the block by the generator. */
static void correct(const uint8_t *data, size_t size, const uint8_t *factors, size_t degree,
                    uint8_t *ret_ecc)
{
    memset(ret_ecc, 0, degree);
    for (size_t i = 0; i < size; i++) {
        uint8_t factor = data[i] ^ ret_ecc[0];
        memmove(ret_ecc, ret_ecc + 1, degree - 1);
        ret_ecc[degree - 1] = 0;
        for (size_t j = 0; j < degree; j++)
            ret_ecc[j] ^= multiply(factors[j], factor);
    }
}

/* Blocks side by side: the first codeword of each, then the second of each, …; the later blocks may have one more of data. */
static void interleave(const Bits *bits, unsigned version, uint8_t ret_words[CODEWORDS_MOST])
{
    size_t blocks = LEVEL_M[version].blocks, ecc = LEVEL_M[version].ecc, size = codewords(version),
           brief = size / blocks - ecc, longer = size % blocks, at = 0;
    uint8_t factors[ECC_MOST];
    generator(ecc, factors);
    for (size_t block = 0; block < blocks; block++) {
        bool is_longer = block >= blocks - longer;
        size_t count = brief + is_longer, to = block;
        uint8_t extra[ECC_MOST];
        correct(bits->bytes + at, count, factors, ecc, extra);
        for (size_t i = 0; i < brief; i++, to += blocks)
            ret_words[to] = bits->bytes[at + i];
        if (is_longer)
            ret_words[brief * blocks + block - (blocks - longer)] = bits->bytes[at + brief];
        to = brief * blocks + longer + block;
        for (size_t i = 0; i < ecc; i++, to += blocks)
            ret_words[to] = extra[i];
        at += count;
    }
}

/* ---- Patterns that are the same in every code ------------------------------------------------------------------------------ */

static void fix(Draft *draft, size_t y, size_t x, bool dark)
{
    if (y >= draft->side || x >= draft->side) /* also what would be negative */
        return;
    draft->dark[y][x] = dark;
    draft->fixed[y][x] = true;
}

static size_t distance(int a, int b)
{
    int y = a < 0 ? -a : a, x = b < 0 ? -b : b;
    return (size_t)(y > x ? y : x);
}

/* Rings around a centre: `light` ones are not dark. */
static void put_rings(Draft *draft, size_t y, size_t x, int reach, unsigned light)
{
    for (int i = -reach; i <= reach; i++)
        for (int j = -reach; j <= reach; j++)
            fix(draft, y + (size_t)i, x + (size_t)j, (light >> distance(i, j) & 1) == 0);
}

static void put_alignments(Draft *draft)
{
    unsigned count = alignments(draft->version);
    size_t places[8] = {6};
    if (count == 0)
        return;
    size_t step = (draft->version * 4 + count * 2 + 1) / (count * 2 - 2) * 2;
    for (unsigned i = 1; i < count; i++)
        places[i] = draft->side - 7 - (count - 1 - i) * step;
    for (unsigned i = 0; i < count; i++)
        for (unsigned j = 0; j < count; j++) {
            bool is_corner =
                (i == 0 && j == 0) || (i == 0 && j == count - 1) || (i == count - 1 && j == 0);
            if (!is_corner)
                put_rings(draft, places[i], places[j], 2, 1U << 1);
        }
}

/* `value` followed by its remainder of `degree` bits by the polynomial. */
static unsigned with_check(unsigned value, unsigned degree, unsigned polynomial)
{
    unsigned rest = value;
    for (unsigned i = 0; i < degree; i++)
        rest = rest << 1 ^ (rest >> (degree - 1) & 1) * polynomial;
    return value << degree | (rest & ((1U << degree) - 1));
}

static void put_version(Draft *draft)
{
    unsigned bits = with_check(draft->version, 12, 0x1F25);
    for (unsigned i = 0; draft->version >= 7 && i < 18; i++) {
        size_t far = draft->side - 11 + i % 3, near = i / 3;
        fix(draft, near, far, (bits >> i & 1) != 0);
        fix(draft, far, near, (bits >> i & 1) != 0);
    }
}

/* The level (M is 0) and the mask, twice. */
static void put_format(Draft *draft, unsigned mask)
{
    unsigned bits = with_check(mask, 10, 0x537) ^ 0x5412;
    size_t side = draft->side;
    for (unsigned i = 0; i < 15; i++) {
        bool dark = (bits >> i & 1) != 0;
        if (i < 8) {
            fix(draft, i + (i >= 6), 8, dark);
            fix(draft, 8, side - 1 - i, dark);
        } else {
            fix(draft, 8, i == 8 ? 7 : 14 - i, dark);
            fix(draft, side - 15 + i, 8, dark);
        }
    }
    fix(draft, side - 8, 8, true);
}

static void put_patterns(Draft *draft)
{
    size_t side = draft->side;
    enum { FINDER_LIGHT = 1U << 2 | 1U << 4 };
    for (size_t i = 0; i < side; i++) {
        fix(draft, 6, i, i % 2 == 0);
        fix(draft, i, 6, i % 2 == 0);
    }
    put_rings(draft, 3, 3, 4, FINDER_LIGHT);
    put_rings(draft, 3, side - 4, 4, FINDER_LIGHT);
    put_rings(draft, side - 4, 3, 4, FINDER_LIGHT);
    put_alignments(draft);
    put_version(draft);
    put_format(draft, 0);
}

/* ---- Data and masks ------------------------------------------------------------------------------------------------------------ */

/* Two columns at a time from the right, up and down in turns; the column of the timing pattern is left out. */
static void put_words(Draft *draft, const uint8_t *words)
{
    size_t side = draft->side, at = 0, most = 8 * codewords(draft->version);
    bool up = true;
    for (size_t right = side - 1; right < side; right -= right == 8 ? 3 : 2, up = !up) {
        for (size_t i = 0; i < 2 * side; i++) {
            size_t y = up ? side - 1 - i / 2 : i / 2, x = right - i % 2;
            if (draft->fixed[y][x] || at >= most)
                continue;
            draft->dark[y][x] = (words[at / 8] >> (7 - at % 8) & 1) != 0;
            at++;
        }
    }
    CHECK(at == most);
}

static bool is_masked(unsigned mask, size_t y, size_t x)
{
    switch (mask) {
    case 0:
        return (x + y) % 2 == 0;
    case 1:
        return y % 2 == 0;
    case 2:
        return x % 3 == 0;
    case 3:
        return (x + y) % 3 == 0;
    case 4:
        return (x / 3 + y / 2) % 2 == 0;
    case 5:
        return x * y % 2 + x * y % 3 == 0;
    case 6:
        return (x * y % 2 + x * y % 3) % 2 == 0;
    default:
        return ((x + y) % 2 + x * y % 3) % 2 == 0;
    }
}

/* Again, it is taken off. */
static void put_mask(Draft *draft, unsigned mask)
{
    for (size_t y = 0; y < draft->side; y++)
        for (size_t x = 0; x < draft->side; x++)
            draft->dark[y][x] ^= !draft->fixed[y][x] && is_masked(mask, y, x);
}

/* What disturbs readers along one line: runs of five and more, and what looks like the eye of a finder with light beside it. */
static unsigned line_penalty(const Draft *draft, size_t line, bool is_column)
{
    enum { EYE = 0x5D, LIGHT = 4 }; /* 1011101 */
    unsigned penalty = 0, run = 0, window = 0;
    bool last = false;
    for (size_t i = 0; i < draft->side; i++) {
        bool dark = is_column ? draft->dark[i][line] : draft->dark[line][i];
        run = i > 0 && dark == last ? run + 1 : 1;
        penalty += run == 5 ? 3 : run > 5 ? 1 : 0;
        window = (window << 1 | dark) & 0x7FF;
        if (i >= 10 && (window == EYE << LIGHT || window == EYE))
            penalty += 40;
        last = dark;
    }
    return penalty;
}

static unsigned penalty_of(const Draft *draft)
{
    unsigned penalty = 0;
    size_t darks = 0, side = draft->side;
    for (size_t i = 0; i < side; i++)
        penalty += line_penalty(draft, i, false) + line_penalty(draft, i, true);
    for (size_t y = 0; y < side; y++)
        for (size_t x = 0; x < side; x++) {
            bool dark = draft->dark[y][x];
            darks += dark;
            if (y + 1 < side && x + 1 < side && dark == draft->dark[y + 1][x] &&
                dark == draft->dark[y][x + 1] && dark == draft->dark[y + 1][x + 1])
                penalty += 3;
        }
    size_t percent = 100 * darks / (side * side), off = percent > 50 ? percent - 50 : 50 - percent;
    return penalty + (unsigned)(off / 5 * 10);
}

static unsigned best_mask(Draft *draft)
{
    unsigned best = 0, least = UINT32_MAX;
    for (unsigned mask = 0; mask < MASKS; mask++) {
        put_format(draft, mask);
        put_mask(draft, mask);
        unsigned penalty = penalty_of(draft);
        put_mask(draft, mask);
        if (penalty < least) {
            least = penalty;
            best = mask;
        }
    }
    return best;
}

bool qr_encode(Slice text, Qr *ret_qr)
{
    Bits bits = {.count = 0};
    uint8_t words[CODEWORDS_MOST];
    Draft draft = {.version = version_for(text.size)};
    if (draft.version == 0)
        return false;
    draft.side = 17 + 4 * (size_t)draft.version;
    put_text(&bits, text, draft.version);
    interleave(&bits, draft.version, words);
    put_patterns(&draft);
    put_words(&draft, words);
    unsigned mask = best_mask(&draft);
    put_format(&draft, mask);
    put_mask(&draft, mask);
    ret_qr->side = draft.side;
    memcpy(ret_qr->dark, draft.dark, sizeof ret_qr->dark);
    return true;
}

/* One path of all runs of dark modules. */
Markup qr_svg(const Qr *qr, const char *label, Arena *arena)
{
    BUFFER_SCOPE Buffer out = {0};
    size_t whole = qr->side + 2 * (size_t)BORDER;
    buffer_print(&out, "<svg class=\"qr\" viewBox=\"0 0 %zu %zu\" role=\"img\" aria-label=\"",
                 whole, whole);
    html_put_text(&out, label);
    buffer_print(&out, "\"><path fill=\"#fff\" d=\"M0 0h%zuv%zuH0z\"/><path fill=\"#000\" d=\"",
                 whole, whole);
    for (size_t y = 0; y < qr->side; y++)
        for (size_t x = 0; x < qr->side; x++) {
            size_t run = 0;
            while (x + run < qr->side && qr->dark[y][x + run])
                run++;
            if (run > 0)
                buffer_print(&out, "M%zu %zuh%zuv1h-%zuz", x + BORDER, y + BORDER, run, run);
            x += run;
        }
    buffer_text(&out, "\"/></svg>");
    return (Markup){arena_copy(arena, buffer_slice(&out))};
}
