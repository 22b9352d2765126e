/* stored_words.c -- see stored_words.h. */
#include "stored_words.h"

#include <ctype.h>

/* What modules seal for; a new one belongs here. */
static const char *const PURPOSES[] = {"account", "audit",  "connections", "invitation",
                                       "journey", "link",   "mail",        "origin",
                                       "report",  "second", "tokens"};
enum { PURPOSE_COUNT = sizeof PURPOSES / sizeof PURPOSES[0], FORMAT_MAX = 2, PAGE = 1000 };

static bool has(Slice text, Slice words)
{
    for (size_t at = 0; at + words.size <= text.size; at++) {
        size_t same = 0;
        while (same < words.size && tolower((unsigned char)text.data[at + same]) ==
                                        tolower((unsigned char)words.data[same]))
            same++;
        if (same == words.size)
            return true;
    }
    return false;
}

/* A seal begins with its format, and ends with the value or where the length before it says. */
static bool opens_to(const VaultCell *cell, Slice value, Slice words, Arena *arena)
{
    for (size_t at = 0; at + VAULT_SEAL_EXTRA <= value.size; at++) {
        size_t left = value.size - at, sizes[3] = {left, left, left}, count = 1;
        if ((unsigned char)value.data[at] > FORMAT_MAX || value.data[at] == 0)
            continue;
        if (at >= 2)
            sizes[count++] = bytes_get_u16(value.data + at - 2);
        if (at >= 4)
            sizes[count++] = (size_t)bytes_get_u16(value.data + at - 4) << 16 |
                             bytes_get_u16(value.data + at - 2);
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; sizes[i] <= left && k < PURPOSE_COUNT; k++) {
                Slice plain;
                if (vault_unseal_at(cell, PURPOSES[k], slice_of(value.data + at, sizes[i]), arena,
                                    &plain) == STATUS_OK &&
                    has(plain, words))
                    return true;
            }
    }
    return false;
}

static bool is_in_cell(const Table *table, const Vault *vault, const ScanCell *cell, Slice words,
                       Arena *arena)
{
    VaultCell place = {vault, slice_from(table->name), cell->row, cell->cell.column};
    return has(cell->row, words) || has(cell->cell.column, words) || has(cell->cell.value, words) ||
           opens_to(&place, cell->cell.value, words, arena);
}

Status stored_words_find(Store *store, const Vault *vault, Slice words, Arena *arena,
                         Slice *ret_where)
{
    ARENA_SCOPE Arena *scratch = arena_new();
    *ret_where = SLICE_EMPTY;
    for (size_t i = 0; i < TABLES.count; i++) {
        ScanPage page = {.position = SLICE_EMPTY, .more = true};
        while (page.more) {
            TRY(store_scan(store, TABLES.tables[i], page.position, PAGE, scratch, &page));
            for (size_t k = 0; k < page.count; k++) {
                Slice column = page.cells[k].cell.column;
                if (!is_in_cell(TABLES.tables[i], vault, &page.cells[k], words, scratch))
                    continue;
                *ret_where = arena_print(arena, "%s %.*s", TABLES.tables[i]->name,
                                         (int)(column.size < 12 ? column.size : 12), column.data);
                return STATUS_OK;
            }
        }
        arena_reset(scratch);
    }
    return STATUS_OK;
}
