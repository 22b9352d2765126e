/* groups.c -- categories and parties: one row of table `groups` for each kind.
 *
 *     d/<id>  the description
 *     g/<id>  active or not, and the name
 *     head    a fresh id in every value, and the last id that was given
 *     ~/<id>  receipts
 * Every change is conditional on the head, so whoever has read all names knows that none of them is given twice. */
#include "policies/policies_internal.h"

enum { FORMAT = 1 };

const Slice POLICY_CATEGORIES[] = {
    {"Education", 9}, {"Tax", 3},     {"Health", 6},  {"Environment", 11}, {"Transport", 9},
    {"Housing", 7},   {"Justice", 7}, {"Economy", 7}, {"Culture", 7},      {"Digital", 7},
};
const size_t POLICY_CATEGORY_COUNT = sizeof POLICY_CATEGORIES / sizeof POLICY_CATEGORIES[0];

static const struct {
    Slice row;
    const char *name;
} KINDS[] = {
    [GROUP_CATEGORY] = {{"categories", 10}, "category"},
    [GROUP_PARTY] = {{"parties", 7}, "party"},
};

static Slice column_of(const char *prefix, uint64_t id, Arena *arena)
{
    char *column = arena_bytes(arena, 10);
    memcpy(column, prefix, 2);
    bytes_put_u64(column + 2, id);
    return slice_of(column, 10);
}

/* ---- Reading ------------------------------------------------------------------------------------------------- */

typedef struct Head {
    Slice value; /* as stored */
    bool present;
    uint64_t last;
} Head;

static Status take_head(Slice value, Head *head)
{
    Reader reader = reader_of(value);
    uint8_t format = reader_u8(&reader);
    (void)reader_bytes(&reader, ID_BYTES);
    uint64_t last = reader_u64(&reader);
    if (!reader_done(&reader) || format != FORMAT)
        return STATUS_CORRUPT;
    *head = (Head){value, true, last};
    return STATUS_OK;
}

static Status take_group(const Cell *cell, Group *ret_group)
{
    Reader column = reader_of(slice_after(cell->column, 2)), value = reader_of(cell->value);
    uint8_t format = reader_u8(&value);
    Group group = {.id = reader_u64(&column), .description = SLICE_EMPTY};
    uint8_t active = reader_u8(&value);
    group.active = active != 0;
    group.name = reader_rest(&value);
    if (!reader_done(&column) || !reader_done(&value) || format != FORMAT || active > 1)
        return STATUS_CORRUPT;
    *ret_group = group;
    return STATUS_OK;
}

/* All names of a kind and the head, of one moment; they fit on a page. */
static Status read_names(Policies *policies, GroupKind kind, ReadMode mode, Arena *arena,
                         Group **ret_groups, size_t *ret_count, Head *ret_head)
{
    Query query = {.table = &TABLE_GROUPS,
                   .row = KINDS[kind].row,
                   .from = SLICE("g/"),
                   .to = SLICE("i"),
                   .after = SLICE_EMPTY,
                   .limit = GROUPS_MOST + 1,
                   .mode = mode};
    Page page;
    TRY(store_slice(policies->store, &query, arena, &page));
    Group *groups = ARENA_ARRAY(arena, page.count, Group);
    Head head = {.value = SLICE_EMPTY};
    size_t count = 0;
    for (size_t i = 0; i < page.count; i++) {
        if (slice_equal(page.cells[i].column, SLICE("head")))
            TRY(take_head(page.cells[i].value, &head));
        else
            TRY(take_group(&page.cells[i], &groups[count++]));
    }
    if (page.more || (count > 0 && !head.present))
        return STATUS_CORRUPT;
    *ret_groups = groups;
    *ret_count = count;
    *ret_head = head;
    return STATUS_OK;
}

Status policies_groups(Policies *policies, GroupKind kind, Arena *arena, Group **ret_groups,
                       size_t *ret_count)
{
    Group *groups;
    size_t count;
    Head head;
    TRY(read_names(policies, kind, STORE_NORMAL, arena, &groups, &count, &head));
    Read *reads = ARENA_ARRAY(arena, count, Read);
    ReadAnswer *answers = ARENA_ARRAY(arena, count, ReadAnswer);
    for (size_t i = 0; i < count; i++)
        reads[i] = (Read){&TABLE_GROUPS, KINDS[kind].row, column_of("d/", groups[i].id, arena),
                          STORE_NORMAL};
    TRY(store_read_many(policies->store, reads, count, arena, answers));
    for (size_t i = 0; i < count; i++) {
        if (answers[i].status != STATUS_NOT_FOUND)
            TRY(answers[i].status);
        groups[i].description =
            answers[i].status == STATUS_OK ? answers[i].cell.value : SLICE_EMPTY;
    }
    *ret_groups = groups;
    *ret_count = count;
    return STATUS_OK;
}

static Slice name_key(GroupKind kind, uint64_t id, Arena *arena)
{
    return column_of(kind == GROUP_PARTY ? "p/" : "c/", id, arena);
}

Status policies_group_name(Policies *policies, GroupKind kind, uint64_t id, Arena *arena,
                           Slice *ret_name)
{
    Copy copy;
    Cell cell;
    Group group = {.name = SLICE_EMPTY};
    Slice key = name_key(kind, id, arena);
    if (id != 0 && !copies_find(policies->group_names, key, arena, &copy)) {
        Read read = {&TABLE_GROUPS, KINDS[kind].row, column_of("g/", id, arena), STORE_NORMAL};
        Status status = store_read(policies->store, &read, arena, &cell);
        if (status == STATUS_OK)
            status = take_group(&cell, &group);
        else if (status == STATUS_NOT_FOUND)
            status = STATUS_OK;
        TRY(status);
        copy.bytes = group.name;
        copies_put(policies->group_names, key, &copy);
    }
    *ret_name = id != 0 ? copy.bytes : SLICE_EMPTY;
    return STATUS_OK;
}

/* ---- Checking ------------------------------------------------------------------------------------------------ */

static Status check_group_of(Policies *policies, GroupKind kind, uint64_t id, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Read read = {&TABLE_GROUPS, KINDS[kind].row, column_of("g/", id, arena), STORE_NORMAL};
    Cell cell;
    Group group;
    Status status = store_read(policies->store, &read, arena, &cell);
    if (status == STATUS_NOT_FOUND)
        return reason_set(reason, STATUS_REFUSED, KINDS[kind].name, "there is no such %s",
                          KINDS[kind].name);
    TRY(status);
    TRY(take_group(&cell, &group));
    if (!group.active)
        return reason_set(reason, STATUS_REFUSED, KINDS[kind].name, "takes no new policies");
    return STATUS_OK;
}

Status policy_check_groups(Policies *policies, const PolicyText *text, const PolicyText *before,
                           Reason *reason)
{
    if (before == NULL || before->category != text->category)
        TRY(check_group_of(policies, GROUP_CATEGORY, text->category, reason));
    if (text->party != 0 && (before == NULL || before->party != text->party))
        TRY(check_group_of(policies, GROUP_PARTY, text->party, reason));
    return STATUS_OK;
}

/* The group with this name after folding, or NULL. */
static const Group *find_name(const Group *groups, size_t count, Slice name, Arena *arena)
{
    Slice folded = policy_fold(name, arena);
    for (size_t i = 0; i < count; i++)
        if (slice_equal(policy_fold(groups[i].name, arena), folded))
            return &groups[i];
    return NULL;
}

static bool has_id(const Group *groups, size_t count, uint64_t id)
{
    for (size_t i = 0; i < count; i++)
        if (groups[i].id == id)
            return true;
    return false;
}

static Status check_set(GroupKind kind, const Group *group, const Group *groups, size_t count,
                        Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    const Group *same = find_name(groups, count, group->name, arena);
    if (group->id != 0 && !has_id(groups, count, group->id))
        return reason_set(reason, STATUS_NOT_FOUND, "id", "there is no such %s", KINDS[kind].name);
    if (same != NULL && same->id != group->id)
        return reason_set(reason, STATUS_REFUSED, "name", "there is a %s of that name",
                          KINDS[kind].name);
    if (group->id == 0 && count >= GROUPS_MOST)
        return reason_set(reason, STATUS_REFUSED, "name", "there are at most %d", GROUPS_MOST);
    return STATUS_OK;
}

/* ---- Writing ------------------------------------------------------------------------------------------------- */

static void encode_head(Buffer *to, Id id, uint64_t last)
{
    buffer_u8(to, FORMAT);
    buffer_bytes(to, id_slice(&id));
    buffer_u64(to, last);
}

static void encode_group(Buffer *to, const Group *group)
{
    buffer_u8(to, FORMAT);
    buffer_u8(to, group->active);
    buffer_bytes(to, group->name);
}

/* `group` has its id; conditional on the head as it was read. */
static Status write_group(Policies *policies, GroupKind kind, const Group *group, const Head *head,
                          Arena *arena)
{
    BUFFER_SCOPE Buffer next = {0};
    BUFFER_SCOPE Buffer value = {0};
    Id id = id_new(policies->world.clock, policies->world.random);
    Slice receipt = store_receipt(id_slice(&id), arena);
    encode_head(&next, id, group->id > head->last ? group->id : head->last);
    encode_group(&value, group);
    Condition condition = {SLICE("head"), head->value, !head->present};
    Change changes[] = {
        {.column = SLICE("head"), .value = buffer_slice(&next)},
        {.column = column_of("g/", group->id, arena), .value = buffer_slice(&value)},
        {.column = column_of("d/", group->id, arena), .value = group->description},
        {.column = receipt, .value = id_slice(&id), .ttl_s = STORE_RECEIPT_TTL_S},
    };
    Update update = {.table = &TABLE_GROUPS,
                     .row = KINDS[kind].row,
                     .conditions = &condition,
                     .condition_count = 1,
                     .changes = changes,
                     .change_count = sizeof changes / sizeof changes[0],
                     .proof = receipt};
    return store_update(policies->store, &update, POLICIES_TRIES, arena, NULL);
}

Status policies_set_group(Policies *policies, GroupKind kind, const Group *group, uint64_t *ret_id,
                          Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Status status = STATUS_CONFLICT;
    TRY(policy_check_line("name", group->name, 1, GROUP_NAME_MOST, reason));
    TRY(policy_check_prose("description", group->description, GROUP_DESCRIPTION_MOST, reason));
    /* Another group that changed in between is no reason to bother anybody: look at the names again. */
    for (int i = 0; i < POLICIES_TRIES && status == STATUS_CONFLICT; i++) {
        Group *groups, wanted = *group;
        size_t count;
        Head head;
        TRY(read_names(policies, kind, STORE_SERIAL, arena, &groups, &count, &head));
        TRY(check_set(kind, group, groups, count, reason));
        if (wanted.id == 0)
            wanted.id = head.last + 1;
        status = write_group(policies, kind, &wanted, &head, arena);
        copies_forget(policies->group_names, name_key(kind, wanted.id, arena));
        if (status == STATUS_OK)
            *ret_id = wanted.id;
    }
    return status;
}

/* OK when there is a category of that name, whoever added it: another instance may be starting at the same time. */
static Status ensure_category(Policies *policies, Slice name, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Group *groups, wanted = {.name = name, .description = SLICE_EMPTY, .active = true};
    size_t count;
    Head head;
    uint64_t id;
    TRY(policy_check_line("name", name, 1, GROUP_NAME_MOST, reason));
    TRY(read_names(policies, GROUP_CATEGORY, STORE_SERIAL, arena, &groups, &count, &head));
    if (find_name(groups, count, name, arena) != NULL)
        return STATUS_OK;
    Status status = policies_set_group(policies, GROUP_CATEGORY, &wanted, &id, reason);
    if (status != STATUS_REFUSED)
        return status;
    TRY(read_names(policies, GROUP_CATEGORY, STORE_SERIAL, arena, &groups, &count, &head));
    return find_name(groups, count, name, arena) != NULL ? STATUS_OK : status;
}

Status policies_ensure_categories(Policies *policies, const Slice *names, size_t count,
                                  Reason *reason)
{
    for (size_t i = 0; i < count; i++) {
        Status status = STATUS_CONFLICT;
        /* Whoever won in between added a name of the list, so this ends. */
        for (size_t k = 0; k <= count && status == STATUS_CONFLICT; k++)
            status = ensure_category(policies, names[i], reason);
        TRY(status);
    }
    return STATUS_OK;
}
