/* catalogue.c -- see catalogue.h. */
#include "journal/catalogue.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct Catalogue {
    World world;
    char *directory;
    int lock_fd;
    pthread_mutex_t lock;
    CatalogueContent content;
};

enum { FILE_MAX = 64 * 1024 };

/* ---- The text ---------------------------------------------------------------------------------------------- */

void catalogue_text(const CatalogueContent *content, Buffer *to)
{
    buffer_print(to, "ostraka journal %d\nepoch %" PRIu32 "\nnext_id %" PRIu64 "\nhash_key ",
                 CATALOGUE_FORMAT, content->epoch, content->next_id);
    for (size_t i = 0; i < sizeof content->hash_key; i++)
        buffer_print(to, "%02x", content->hash_key[i]);
    buffer_u8(to, '\n');
    for (size_t i = 0; i < content->group_count; i++) {
        const CatalogueGroup *group = &content->groups[i];
        buffer_print(to, "group %s\n", group->name);
        for (size_t j = 0; j < group->count; j++)
            buffer_print(to, "generation %" PRIu32 " %" PRId64 " %s\n",
                         group->generations[j].number, group->generations[j].made_ms,
                         group->generations[j].sealed ? "sealed" : "plain");
    }
}

/* `name value` with this name; the value. */
static bool take(Slice *text, Slice name, Slice *ret_value)
{
    Slice line;
    if (!slice_split(text, '\n', &line) || !slice_starts_with(line, name) ||
        line.size <= name.size || line.data[name.size] != ' ')
        return false;
    *ret_value = slice_after(line, name.size + 1);
    return true;
}

static bool number_of(Slice text, uint64_t least, uint64_t most, uint64_t *ret_number)
{
    bool plain = text.size > 0 && (text.data[0] != '0' || text.size == 1);
    return plain && slice_to_u64(text, ret_number) == STATUS_OK && *ret_number >= least &&
           *ret_number <= most;
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool parse_key(Slice text, unsigned char *key)
{
    if (text.size != 2 * JOURNAL_HASH_KEY)
        return false;
    for (size_t i = 0; i < JOURNAL_HASH_KEY; i++) {
        int high = digit_of(text.data[2 * i]), low = digit_of(text.data[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        key[i] = (unsigned char)(high * 16 + low);
    }
    return true;
}

static bool parse_generation(Slice value, CatalogueGroup *group)
{
    Slice number, made;
    uint64_t parsed, made_ms;
    if (group->count == JOURNAL_SLOTS || !slice_split(&value, ' ', &number) ||
        !slice_split(&value, ' ', &made) || !number_of(number, 1, UINT32_MAX, &parsed) ||
        !number_of(made, 0, INT64_MAX, &made_ms))
        return false;
    bool sealed = slice_equal(value, SLICE("sealed"));
    if ((!sealed && !slice_equal(value, SLICE("plain"))) ||
        (group->count > 0 && group->generations[group->count - 1].number >= parsed))
        return false;
    group->generations[group->count++] =
        (CatalogueGeneration){(uint32_t)parsed, (int64_t)made_ms, sealed};
    return true;
}

static bool parse_group(Slice value, CatalogueContent *content)
{
    if (content->group_count == DECLARATION_GROUPS_MAX || value.size == 0 ||
        value.size > CATALOGUE_NAME_MAX)
        return false;
    for (size_t i = 0; i < value.size; i++) {
        char c = value.data[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
            c != '_' && c != '-')
            return false;
    }
    CatalogueGroup *group = &content->groups[content->group_count++];
    memcpy(group->name, value.data, value.size);
    for (size_t i = 0; i + 1 < content->group_count; i++)
        if (strcmp(content->groups[i].name, group->name) == 0)
            return false;
    return true;
}

Status catalogue_parse(Slice text, CatalogueContent *ret_content)
{
    CatalogueContent content = {0};
    Slice value, peek;
    uint64_t number;
    if (text.size == 0 || text.data[text.size - 1] != '\n')
        return STATUS_CORRUPT;
    if (!take(&text, SLICE("ostraka journal"), &value) || !slice_equal(value, SLICE("1")) ||
        !take(&text, SLICE("epoch"), &value) || !number_of(value, 0, UINT32_MAX, &number))
        return STATUS_CORRUPT;
    content.epoch = (uint32_t)number;
    if (!take(&text, SLICE("next_id"), &value) ||
        !number_of(value, 1, UINT64_MAX / 2, &content.next_id) ||
        !take(&text, SLICE("hash_key"), &value) || !parse_key(value, content.hash_key))
        return STATUS_CORRUPT;
    while (text.size > 0) {
        peek = text;
        if (take(&peek, SLICE("group"), &value)) {
            if (!parse_group(value, &content))
                return STATUS_CORRUPT;
        } else {
            peek = text;
            if (content.group_count == 0 || !take(&peek, SLICE("generation"), &value) ||
                !parse_generation(value, &content.groups[content.group_count - 1]))
                return STATUS_CORRUPT;
        }
        text = peek;
    }
    *ret_content = content;
    return STATUS_OK;
}

/* ---- The file ---------------------------------------------------------------------------------------------- */

static const char *path_in(const Catalogue *catalogue, const char *name, Arena *arena)
{
    return arena_print(arena, "%s/%s%c", catalogue->directory, name, '\0').data;
}

/* What is in memory follows only what is on disk. An UNKNOWN replacement may be there or not: with the higher numbers of either nothing
 * repeats, and the next save writes all of it. */
static Status save(Catalogue *catalogue, const CatalogueContent *content, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    BUFFER_SCOPE Buffer text = {0};
    catalogue_text(content, &text);
    TRY(disk_replace(catalogue->world.disk, path_in(catalogue, "catalogue", arena), 0600,
                     buffer_slice(&text), reason));
    catalogue->content = *content;
    return STATUS_OK;
}

/* Where nothing is known of what was given away before, the clock says where to go on: a directory that was lost, emptied or left out of a
 * backup has used fewer ids than microseconds, and fewer epochs than seconds, have passed since it began. */
static CatalogueContent beginning(Clock clock)
{
    int64_t now_us = clock_now_us(clock);
    CatalogueContent content = {.next_id = 1};
    if (now_us > 0) {
        content.next_id = (uint64_t)now_us;
        content.epoch = (uint32_t)(now_us / US_PER_S % UINT32_MAX);
    }
    return content;
}

static Status read_or_make(Catalogue *catalogue, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Slice text;
    CatalogueContent content = beginning(catalogue->world.clock);
    Status status = disk_read(catalogue->world.disk, path_in(catalogue, "catalogue", arena),
                              FILE_MAX, arena, &text, reason);
    if (status == STATUS_NOT_FOUND) {
        random_fill(catalogue->world.random, content.hash_key, sizeof content.hash_key);
        return save(catalogue, &content, reason);
    }
    if (status != STATUS_TOO_LARGE)
        TRY(status);
    if (status == STATUS_TOO_LARGE || catalogue_parse(text, &catalogue->content) != STATUS_OK)
        return reason_set(reason, STATUS_CORRUPT, "journal",
                          "%s/catalogue is damaged, or of a newer version", catalogue->directory);
    return STATUS_OK;
}

Status catalogue_open(World world, const char *directory, Catalogue **ret_catalogue, Reason *reason)
{
    int fd;
    TRY(disk_make_directory(world.disk, directory, 0700, reason));
    TRY(world_lock(directory, &fd, reason));
    Catalogue *catalogue = calloc(1, sizeof *catalogue);
    CHECK(catalogue != NULL);
    catalogue->world = world;
    catalogue->directory = strdup(directory);
    CHECK(catalogue->directory != NULL);
    catalogue->lock_fd = fd;
    pthread_mutex_init(&catalogue->lock, NULL);
    Status status = read_or_make(catalogue, reason);
    if (status != STATUS_OK) {
        catalogue_close(catalogue);
        return status;
    }
    *ret_catalogue = catalogue;
    return STATUS_OK;
}

void catalogue_close(Catalogue *catalogue)
{
    pthread_mutex_destroy(&catalogue->lock);
    close(catalogue->lock_fd);
    free(catalogue->directory);
    free(catalogue);
}

const char *catalogue_directory(const Catalogue *catalogue)
{
    return catalogue->directory;
}

static CatalogueGroup *find(CatalogueContent *content, const char *name)
{
    for (size_t i = 0; i < content->group_count; i++)
        if (strcmp(content->groups[i].name, name) == 0)
            return &content->groups[i];
    return NULL;
}

CatalogueGroup catalogue_group(Catalogue *catalogue, Slice name)
{
    CatalogueGroup group = {.count = 0};
    CHECK(name.size <= CATALOGUE_NAME_MAX);
    memcpy(group.name, name.data, name.size);
    pthread_mutex_lock(&catalogue->lock);
    const CatalogueGroup *found = find(&catalogue->content, group.name);
    if (found != NULL)
        group = *found;
    pthread_mutex_unlock(&catalogue->lock);
    return group;
}

size_t catalogue_names(Catalogue *catalogue, CatalogueGroup ret_groups[DECLARATION_GROUPS_MAX])
{
    pthread_mutex_lock(&catalogue->lock);
    size_t count = catalogue->content.group_count;
    memcpy(ret_groups, catalogue->content.groups, count * sizeof *ret_groups);
    pthread_mutex_unlock(&catalogue->lock);
    return count;
}

Status catalogue_set_group(Catalogue *catalogue, const CatalogueGroup *group, Reason *reason)
{
    pthread_mutex_lock(&catalogue->lock);
    CatalogueContent content = catalogue->content;
    CatalogueGroup *found = find(&content, group->name);
    Status status;
    if (found == NULL && content.group_count < DECLARATION_GROUPS_MAX)
        found = &content.groups[content.group_count++];
    if (found == NULL) {
        status = reason_set(reason, STATUS_INVALID, "group", "at most %d groups",
                            DECLARATION_GROUPS_MAX);
    } else {
        *found = *group;
        status = save(catalogue, &content, reason);
    }
    pthread_mutex_unlock(&catalogue->lock);
    return status;
}

Status catalogue_start(Catalogue *catalogue, JournalStart *ret_start, Reason *reason)
{
    pthread_mutex_lock(&catalogue->lock);
    CatalogueContent content = catalogue->content;
    content.epoch++;
    Status status = save(catalogue, &content, reason);
    if (status == STATUS_OK) {
        ret_start->epoch = content.epoch;
        memcpy(ret_start->hash_key, content.hash_key, sizeof content.hash_key);
    }
    pthread_mutex_unlock(&catalogue->lock);
    return status;
}

Status catalogue_ids(Catalogue *catalogue, uint64_t *ret_first, uint64_t *ret_end, Reason *reason)
{
    pthread_mutex_lock(&catalogue->lock);
    CatalogueContent content = catalogue->content;
    uint64_t first = content.next_id;
    content.next_id += CATALOGUE_ID_BLOCK;
    Status status = save(catalogue, &content, reason);
    if (status == STATUS_OK) {
        *ret_first = first;
        *ret_end = content.next_id;
    }
    pthread_mutex_unlock(&catalogue->lock);
    return status;
}
