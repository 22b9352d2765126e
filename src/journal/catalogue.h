/* catalogue.h -- the small file that says which files of a journal directory count, and which numbers were given away.
 *
 * It is replaced as a whole (disk_replace), so after a crash it is the old one or the new one. It is text:
 *     ostraka journal 1
 *     epoch 12
 *     next_id 131073
 *     hash_key 00112233445566778899aabbccddeeff
 *     group main
 *     generation 3 1769860800000 plain
 * Generations of a group stand below it, the oldest first. A new catalogue begins with ids and an epoch by the clock, far ahead of what another one
 * in its place can have given away. Everything here may be called from any thread. */
#pragma once

#include "base/bytes.h"
#include "base/world.h"
#include "journal/log.h"

enum { CATALOGUE_NAME_MAX = 64, CATALOGUE_ID_BLOCK = 65536, CATALOGUE_FORMAT = 1 };

typedef struct CatalogueGeneration {
    uint32_t number;
    int64_t made_ms;
    bool sealed;
} CatalogueGeneration;

typedef struct CatalogueGroup {
    char name[CATALOGUE_NAME_MAX + 1];
    CatalogueGeneration generations[JOURNAL_SLOTS];
    size_t count;
} CatalogueGroup;

typedef struct CatalogueContent {
    uint32_t epoch;
    uint64_t next_id;
    unsigned char hash_key[JOURNAL_HASH_KEY];
    CatalogueGroup groups[DECLARATION_GROUPS_MAX];
    size_t group_count;
} CatalogueContent;

/* Pure. CORRUPT for what catalogue_text has not written. */
void catalogue_text(const CatalogueContent *content, Buffer *to);
MUST_USE Status catalogue_parse(Slice text, CatalogueContent *ret_content);

typedef struct Catalogue Catalogue;
/* Makes the directory and the file when they are not there; CONFLICT when another process has the directory. */
MUST_USE Status catalogue_open(World world, const char *directory, Catalogue **ret_catalogue,
                               Reason *reason);
void catalogue_close(Catalogue *catalogue);
/* A copy; a group that is new has no generations. */
CatalogueGroup catalogue_group(Catalogue *catalogue, Slice name);
MUST_USE Status catalogue_set_group(Catalogue *catalogue, const CatalogueGroup *group,
                                    Reason *reason);
size_t catalogue_names(Catalogue *catalogue, CatalogueGroup ret_groups[DECLARATION_GROUPS_MAX]);
MUST_USE Status catalogue_start(Catalogue *catalogue, JournalStart *ret_start, Reason *reason);
MUST_USE Status catalogue_ids(Catalogue *catalogue, uint64_t *ret_first, uint64_t *ret_end,
                              Reason *reason);
const char *catalogue_directory(const Catalogue *catalogue);
