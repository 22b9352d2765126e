/* fuzz_journal.c -- what a journal reads: the operator's declaration, the catalogue, and all that its log stores.
 *
 * The first byte says what the rest is. What is stored and decodes is encoded to the same bytes; a declaration that is read has all of its
 * values within their bounds; what is refused is refused with words. */
#include "journal/catalogue.h"
#include "journal/declaration.h"
#include "journal/stored.h"

#include "fuzz.h"

static void check_rules(const JournalDeclared *declared)
{
    const JournalRules *rules = &declared->rules;
    CHECK(rules->lease_ms >= 1000 && rules->lease_ms <= S_PER_DAY * 1000);
    CHECK(rules->timeouts <= JOURNAL_TIMEOUTS_NONE && rules->max_data <= JOURNAL_DATA_MAX);
    CHECK(rules->process <= JOURNAL_KEEP && rules->sync <= JOURNAL_SYNC_ALL);
    CHECK(declared->field_count <= DECLARATION_FIELDS_MAX);
    CHECK(declared->put.count <= DECLARATION_ACCESS_MAX);
}

static void feed_declaration(Slice text, Arena *arena)
{
    const JournalDeclaration *declaration;
    Reason reason = {.rule = ""};
    if (declaration_read(text, "fuzz", arena, &declaration, &reason) != STATUS_OK) {
        CHECK(reason.rule[0] != '\0');
        return;
    }
    CHECK(declaration->count <= DECLARATION_JOURNALS_MAX && declaration->group_count >= 1);
    for (size_t i = 0; i < declaration->count; i++) {
        const JournalDeclared *declared = &declaration->journals[i];
        check_rules(declared);
        CHECK(journal_is_name(declared->name));
        CHECK(declaration_find(declaration, declared->name) == declared);
        if (declaration_check_data(declared, text, &reason) != STATUS_OK)
            CHECK(reason.rule[0] != '\0');
    }
    check_rules(&declaration->tubes);
}

static void feed_header(Slice value)
{
    BUFFER_SCOPE Buffer again = {0};
    StoredHeader header;
    if (stored_header_read(value, &header) != STATUS_OK)
        return;
    stored_header(&again, &header);
    CHECK(slice_equal(buffer_slice(&again), value));
}

static void feed_others(Slice value)
{
    BUFFER_SCOPE Buffer body = {0}, meta = {0}, set = {0};
    Slice key, data, name;
    StoredJournal journal;
    JournalRules rules;
    uint64_t id;
    uint32_t number;
    if (stored_body_read(value, &key, &data) == STATUS_OK) {
        stored_body(&body, key, data);
        CHECK(slice_equal(buffer_slice(&body), value));
    }
    if (stored_journal_read(value, &journal) == STATUS_OK) {
        StoredJournal again;
        stored_journal(&meta, &journal);
        CHECK(value.size < meta.size || slice_equal(buffer_slice(&meta), value));
        CHECK(stored_journal_read(buffer_slice(&meta), &again) == STATUS_OK);
        CHECK(memcmp(journal.counters, again.counters, sizeof again.counters) == 0);
    }
    if (stored_rules_read(value, &name, &rules) == STATUS_OK) {
        stored_rules(&set, name, &rules);
        CHECK(slice_equal(buffer_slice(&set), value));
    }
    if (stored_id_of(value, &id) == STATUS_OK)
        CHECK(id > 0 && value.size == 9);
    if (stored_rules_of(value, &number) == STATUS_OK)
        CHECK(number > 0 && value.size == 5);
}

static void feed_catalogue(Slice text)
{
    BUFFER_SCOPE Buffer again = {0};
    CatalogueContent content;
    if (catalogue_parse(text, &content) != STATUS_OK)
        return;
    catalogue_text(&content, &again);
    CHECK(slice_equal(buffer_slice(&again), text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ARENA_SCOPE Arena *arena = arena_new();
    if (size == 0)
        return 0;
    Slice input = slice_of(data + 1, size - 1);
    switch (data[0] % 4) {
    case 0:
        feed_declaration(input, arena);
        break;
    case 1:
        feed_header(input);
        break;
    case 2:
        feed_others(input);
        break;
    default:
        feed_catalogue(input);
    }
    return 0;
}
