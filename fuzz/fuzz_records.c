/* fuzz_records.c -- every record of the store (tools/collect.py finds them): what decodes is encoded to the same bytes again.
 *
 * The first byte says which record. Cells of an older format, and what was sealed before cells were bound to their place, and lists of values that have grown since, are others when they are written again; then
 * these bytes must decode, and be encoded to themselves. Nothing random can be unsealed, so what is sealed has records of its own here. */
#include "store/record.h"

#include "fuzz.h"

/* All of them, ended by NULL; made by the build. */
extern const Record *const RECORDS[];

static bool may_grow(const Record *record, Slice value)
{
    for (size_t i = 0; i < record->field_count; i++)
        if (record->fields[i].kind == RECORD_KIND_VALUES ||
            record->fields[i].kind == RECORD_KIND_SEALED)
            return true;
    return record->format != 0 && (uint8_t)value.data[0] != record->format;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static Vault *vault;
    if (vault == NULL)
        vault = vault_for_tests(1);
    if (size == 0)
        return 0;
    ARENA_SCOPE Arena *arena = arena_new();
    VaultCell cell = {vault, SLICE("table"), SLICE("row"), SLICE("column")};
    size_t count = 0;
    while (RECORDS[count] != NULL)
        count++;
    const Record *record = RECORDS[data[0] % count];
    Slice value = slice_of(data + 1, size - 1);
    void *decoded = arena_zeroed(arena, 1, record->size);
    if (record_decode(record, value, &cell, arena, decoded) != STATUS_OK)
        return 0;
    Slice again = record_encode(record, decoded, &cell, arena);
    if (!may_grow(record, value))
        CHECK(slice_equal(again, value));
    CHECK(record_decode(record, again, &cell, arena, decoded) == STATUS_OK);
    CHECK(slice_equal(record_encode(record, decoded, &cell, arena), again));
    return 0;
}
