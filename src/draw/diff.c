/* diff.c -- see diff.h. A text is cut into pieces (lines, or words); a search finds which pieces of the one are pieces of the
 * other, in the same order; what lies between these is a change. */
#include "draw/diff.h"

#include <stdlib.h>

enum { WORDS_IN_COMMON = 4 }; /* a replaced line keeps its words when a quarter of them stayed */

/* ---- Pieces ----------------------------------------------------------------------------------------------------------- */

typedef struct Piece {
    Slice text;
    uint32_t hash;
    bool is_blank;
} Piece;

typedef struct Pieces {
    Piece *list;
    size_t count;
} Pieces;

typedef size_t PieceLength(Slice rest);

static size_t line_length(Slice rest)
{
    size_t end = slice_find(rest, '\n');
    return end < rest.size ? end + 1 : rest.size;
}

typedef enum Glyph { GLYPH_SINGLE, GLYPH_WORD, GLYPH_BLANK } Glyph;

/* Chinese and Japanese have no blanks between words, so characters from U+3000 on stand alone. All others beyond ASCII are taken for
 * letters. */
static Glyph glyph_of(Slice text, size_t *ret_size)
{
    unsigned char first = (unsigned char)text.data[0];
    size_t size = slice_utf8_length(text);
    *ret_size = size > 0 ? size : 1;
    if (first == ' ' || first == '\t')
        return GLYPH_BLANK;
    if (first < 0x80)
        return (first >= '0' && first <= '9') || (first >= 'a' && first <= 'z') ||
                       (first >= 'A' && first <= 'Z')
                   ? GLYPH_WORD
                   : GLYPH_SINGLE;
    return first >= 0xE3 ? GLYPH_SINGLE : GLYPH_WORD;
}

static size_t word_length(Slice rest)
{
    size_t at, size;
    Glyph glyph = glyph_of(rest, &at);
    while (glyph != GLYPH_SINGLE && at < rest.size &&
           glyph_of(slice_after(rest, at), &size) == glyph)
        at += size;
    return at;
}

/* FNV-1a: pieces are short. */
static uint32_t hash_of(Slice text)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < text.size; i++)
        hash = (hash ^ (unsigned char)text.data[i]) * 16777619u;
    return hash;
}

static Pieces cut(Slice text, PieceLength *length_of, Arena *arena)
{
    Pieces pieces = {0};
    for (Slice rest = text; rest.size > 0; rest = slice_after(rest, length_of(rest)))
        pieces.count++;
    pieces.list = ARENA_ARRAY(arena, pieces.count, Piece);
    for (size_t i = 0; i < pieces.count; i++) {
        Slice piece = slice_of(text.data, length_of(text));
        pieces.list[i] = (Piece){piece, hash_of(piece), slice_trim(piece).size == 0};
        text = slice_after(text, piece.size);
    }
    return pieces;
}

static bool is_equal(const Piece *a, const Piece *b)
{
    return a->hash == b->hash && slice_equal(a->text, b->text);
}

/* ---- The search ------------------------------------------------------------------------------------------------------- */

/* A run of pieces that both have: from `before` in the one, from `after` in the other. */
typedef struct Match {
    size_t before, after, count;
} Match;

typedef struct Matches {
    Match *list; /* ascending */
    size_t count;
} Matches;

typedef struct Search {
    const Piece *a, *b;
    int a_count, b_count;
    int **steps; /* steps[d]: how far each diagonal -d … d got before step d */
    Arena *arena;
} Search;

static int follow(const Search *search, int x, int y)
{
    while (x < search->a_count && y < search->b_count && is_equal(&search->a[x], &search->b[y])) {
        x++;
        y++;
    }
    return x;
}

/* Whether the way to diagonal k comes from the one above it (a piece of b added). */
static bool comes_from_above(const int *reach, int d, int k)
{
    return k == -d || (k != d && reach[k - 1] < reach[k + 1]);
}

/* How many differences there are, with the steps filled; -1: more than DIFF_STEPS. */
static int search_forward(Search *search)
{
    int most = search->a_count + search->b_count < DIFF_STEPS ? search->a_count + search->b_count
                                                              : DIFF_STEPS;
    int *all = ARENA_ARRAY(search->arena, 2 * (size_t)most + 3, int);
    int *reach = all + most + 1; /* by diagonal */
    search->steps = ARENA_ARRAY(search->arena, (size_t)most + 1, int *);
    for (int d = 0; d <= most; d++) {
        int *kept = ARENA_ARRAY(search->arena, 2 * (size_t)d + 3, int);
        memcpy(kept, reach - d - 1, (2 * (size_t)d + 3) * sizeof *kept);
        search->steps[d] = kept + d + 1;
        for (int k = -d; k <= d; k += 2) {
            int x = d == 0 ? 0 : comes_from_above(reach, d, k) ? reach[k + 1] : reach[k - 1] + 1;
            x = follow(search, x, x - k);
            reach[k] = x;
            if (x >= search->a_count && x - k >= search->b_count)
                return d;
        }
    }
    return -1;
}

/* Adds the run that ends before (x, y), from the back to the front. */
static void add_back(Matches *matches, int x, int y, int count)
{
    if (count > 0)
        matches->list[matches->count++] =
            (Match){(size_t)(x - count), (size_t)(y - count), (size_t)count};
}

static void walk_back(const Search *search, int d, Matches *matches)
{
    int x = search->a_count, y = search->b_count;
    for (; d > 0; d--) {
        const int *reach = search->steps[d];
        int k = x - y;
        bool above = comes_from_above(reach, d, k);
        int before_x = above ? reach[k + 1] : reach[k - 1];
        int before_y = before_x - (above ? k + 1 : k - 1);
        int begin_x = above ? before_x : before_x + 1;
        add_back(matches, x, y, x - begin_x);
        x = before_x;
        y = before_y;
    }
    add_back(matches, x, y, x);
}

/* What both begin and end with is no question; the search is for the middle. False: it gave up, and only those are matched. */
static bool find_matches(Pieces a, Pieces b, Arena *arena, Matches *ret_matches)
{
    ARENA_SCOPE Arena *own = arena_new();
    size_t shorter = a.count < b.count ? a.count : b.count, head = 0, tail = 0;
    while (head < shorter && is_equal(&a.list[head], &b.list[head]))
        head++;
    while (tail < shorter - head &&
           is_equal(&a.list[a.count - 1 - tail], &b.list[b.count - 1 - tail]))
        tail++;
    Search search = {.a = a.list + head,
                     .b = b.list + head,
                     .a_count = (int)(a.count - head - tail),
                     .b_count = (int)(b.count - head - tail),
                     .arena = own};
    int differences = search_forward(&search);
    Matches middle = {.list = ARENA_ARRAY(own, shorter + 1, Match)}, all = {0};
    if (differences > 0)
        walk_back(&search, differences, &middle);
    for (size_t i = 0, k = middle.count; i + 1 < k; i++) {
        Match swapped = middle.list[i];
        middle.list[i] = middle.list[--k];
        middle.list[k] = swapped;
    }
    all.list = ARENA_ARRAY(arena, middle.count + 2, Match);
    if (head > 0)
        all.list[all.count++] = (Match){0, 0, head};
    for (size_t i = 0; i < middle.count; i++)
        all.list[all.count++] = (Match){middle.list[i].before + head, middle.list[i].after + head,
                                        middle.list[i].count};
    if (tail > 0)
        all.list[all.count++] = (Match){a.count - tail, b.count - tail, tail};
    *ret_matches = all;
    return differences >= 0;
}

/* ---- What people would call the same ---------------------------------------------------------------------------------- */

static size_t written(const Piece *pieces, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += pieces[i].is_blank ? 0 : pieces[i].text.size;
    return bytes;
}

/* Drops runs of blanks between changes, and all runs when too little is left to call it the same sentence. */
static void drop_accidents(Pieces a, Pieces b, Matches *matches)
{
    size_t kept = 0, common = 0;
    for (size_t i = 0; i < matches->count; i++) {
        const Match *match = &matches->list[i];
        bool at_edge =
            (match->before == 0 && match->after == 0) ||
            (match->before + match->count == a.count && match->after + match->count == b.count);
        size_t bytes = written(a.list + match->before, match->count);
        common += bytes;
        if (bytes > 0 || at_edge)
            matches->list[kept++] = *match;
    }
    matches->count = kept;
    size_t in_a = written(a.list, a.count), in_b = written(b.list, b.count);
    if (common * WORDS_IN_COMMON < (in_a > in_b ? in_a : in_b))
        matches->count = 0;
}

/* ---- Parts ------------------------------------------------------------------------------------------------------------ */

/* A list that grows. */
typedef struct Parts {
    DiffPart *list;
    size_t count, room;
    bool is_coarse;
} Parts;

static void add(Parts *parts, DiffPart part)
{
    if (parts->count == parts->room) {
        parts->room = 2 * parts->room + 16;
        parts->list = reallocarray(parts->list, parts->room, sizeof *parts->list);
        CHECK(parts->list != NULL);
    }
    parts->list[parts->count++] = part;
}

/* Moves the list to the arena. */
static Diff finish(Parts *parts, Arena *arena)
{
    Diff diff = {.parts = ARENA_ARRAY(arena, parts->count, DiffPart),
                 .count = parts->count,
                 .is_coarse = parts->is_coarse};
    if (parts->count > 0)
        memcpy(diff.parts, parts->list, parts->count * sizeof *parts->list);
    free(parts->list);
    return diff;
}

static void put(Parts *parts, DiffKind kind, Slice text)
{
    DiffPart *last = parts->count > 0 ? &parts->list[parts->count - 1] : NULL;
    if (text.size == 0)
        return;
    if (last != NULL && last->kind == kind && last->text.data + last->text.size == text.data)
        last->text.size += text.size;
    else
        add(parts, (DiffPart){.kind = kind, .text = text});
}

/* The text of pieces `from` up to `to`, which lie one behind the other. */
static Slice text_of(Pieces pieces, size_t from, size_t to)
{
    if (from >= to)
        return SLICE_EMPTY;
    const char *begin = pieces.list[from].text.data;
    const Piece *last = &pieces.list[to - 1];
    return slice_of(begin, (size_t)(last->text.data + last->text.size - begin));
}

static void put_replaced(Parts *parts, Slice before, Slice after)
{
    put(parts, DIFF_REMOVED, before);
    put(parts, DIFF_ADDED, after);
}

/* What both have stays; `put_change` is told of what lies between. */
typedef void ChangePut(Parts *parts, Slice before, Slice after);

static void put_pieces(Parts *parts, Pieces a, Pieces b, const Matches *matches,
                       ChangePut *put_change)
{
    size_t x = 0, y = 0;
    for (size_t i = 0; i <= matches->count; i++) {
        Match match = i < matches->count ? matches->list[i] : (Match){a.count, b.count, 0};
        put_change(parts, text_of(a, x, match.before), text_of(b, y, match.after));
        put(parts, DIFF_SAME, text_of(b, match.after, match.after + match.count));
        x = match.before + match.count;
        y = match.after + match.count;
    }
}

/* Lines that were replaced by lines, told in words. */
static void put_in_words(Parts *parts, Slice before, Slice after)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Matches matches;
    if (before.size == 0 || after.size == 0) {
        put_replaced(parts, before, after);
        return;
    }
    Pieces a = cut(before, word_length, arena), b = cut(after, word_length, arena);
    parts->is_coarse |= !find_matches(a, b, arena, &matches);
    drop_accidents(a, b, &matches);
    put_pieces(parts, a, b, &matches, put_replaced);
}

Diff diff_texts(Slice before, Slice after, Arena *arena)
{
    ARENA_SCOPE Arena *own = arena_new();
    Parts parts = {0};
    Matches matches;
    Pieces a = cut(before, line_length, own), b = cut(after, line_length, own);
    (void)find_matches(a, b, own, &matches); /* when it gives up, words are looked at */
    put_pieces(&parts, a, b, &matches, put_in_words);
    Diff diff = finish(&parts, arena);
    diff.is_same = slice_equal(before, after);
    return diff;
}

/* ---- Shortening ------------------------------------------------------------------------------------------------------- */

/* The first `lines` lines of a text, or all of it. */
static Slice first_lines(Slice text, size_t lines)
{
    size_t at = 0;
    for (; lines > 0 && at < text.size; lines--)
        at += line_length(slice_after(text, at));
    return slice_of(text.data, at);
}

static size_t count_lines(Slice text)
{
    size_t count = 0;
    for (; text.size > 0; text = slice_after(text, line_length(text)))
        count++;
    return count;
}

static void shorten_part(Parts *to, const DiffPart *part, size_t head_lines, size_t tail_lines)
{
    size_t lines = count_lines(part->text);
    if (part->kind != DIFF_SAME || lines <= head_lines + tail_lines + 1) {
        add(to, *part);
        return;
    }
    Slice head = first_lines(part->text, head_lines);
    Slice body = first_lines(part->text, lines - tail_lines);
    put(to, DIFF_SAME, head);
    add(to, (DiffPart){.kind = DIFF_SKIPPED,
                       .text = slice_after(body, head.size),
                       .lines = lines - head_lines - tail_lines});
    put(to, DIFF_SAME, slice_after(part->text, body.size));
}

static bool ends_inside_a_line(const DiffPart *part)
{
    return part->text.size > 0 && part->text.data[part->text.size - 1] != '\n';
}

/* A part that begins or ends within a line shares it with a change, so one line more is kept there. */
Diff diff_shorten(const Diff *diff, size_t around, Arena *arena)
{
    Parts parts = {.is_coarse = diff->is_coarse};
    for (size_t i = 0; i < diff->count; i++) {
        const DiffPart *part = &diff->parts[i];
        size_t head = i == 0 ? 0 : around + (ends_inside_a_line(part - 1) ? 1 : 0);
        size_t tail = i + 1 == diff->count ? 0 : around + (ends_inside_a_line(part) ? 1 : 0);
        shorten_part(&parts, part, head, tail);
    }
    Diff result = finish(&parts, arena);
    result.is_same = diff->is_same;
    return result;
}
