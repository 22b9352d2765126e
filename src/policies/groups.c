/* groups.c -- categories and parties: one row of table `groups` for each kind.
 *
 *     d/<id>  the description
 *     g/<id>  active or not, and the name
 *     head    a fresh id in every value, and the last id that was given
 *     ~/<id>  receipts
 * Every change is conditional on the head, so whoever has read all names knows that none of them is given twice. */
#include "policies/policies_private.h"

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

typedef struct GroupsHead {
    Id write;
    uint64_t last;
    Slice value; /* as stored; empty: there is none */
} GroupsHead;

static const RecordField HEAD_FIELDS[] = {RECORD_WRITE_ID(GroupsHead, write),
                                          RECORD_U64(GroupsHead, last)};
const Record GROUP_HEAD_RECORD = RECORD("group head", GroupsHead, 1, HEAD_FIELDS);
static const RecordField GROUP_FIELDS[] = {RECORD_BOOL(PolicyGroup, active),
                                           RECORD_REST(PolicyGroup, name, STORE_VALUE_MAX)};
const Record GROUP_RECORD = RECORD("group", PolicyGroup, 1, GROUP_FIELDS);

static Status take_group(const Cell *cell, PolicyGroup *ret_group)
{
    Reader column = reader_of(slice_after(cell->column, 2));
    *ret_group = (PolicyGroup){.id = reader_u64(&column), .description = SLICE_EMPTY};
    return reader_done(&column) ? record_decode(&GROUP_RECORD, cell->value, NULL, NULL, ret_group)
                                : STATUS_CORRUPT;
}

/* All names of a kind and the head, of one moment; they fit on a page. */
static Status read_names(Policies *policies, GroupKind kind, ReadMode mode, Arena *arena,
                         PolicyGroup **ret_groups, size_t *ret_count, GroupsHead *ret_head)
{
    Query query = {.table = &TABLE_GROUPS,
                   .row = KINDS[kind].row,
                   .from = SLICE("g/"),
                   .to = SLICE("i"),
                   .after = SLICE_EMPTY,
                   .limit = GROUPS_MAX + 1,
                   .mode = mode};
    Page page;
    TRY(store_slice(policies->store, &query, arena, &page));
    PolicyGroup *groups = ARENA_ARRAY(arena, page.count, PolicyGroup);
    GroupsHead head = {.value = SLICE_EMPTY};
    size_t count = 0;
    for (size_t i = 0; i < page.count; i++) {
        if (slice_equal(page.cells[i].column, SLICE("head"))) {
            head.value = page.cells[i].value;
            TRY(record_decode(&GROUP_HEAD_RECORD, head.value, NULL, NULL, &head));
        } else
            TRY(take_group(&page.cells[i], &groups[count++]));
    }
    if (page.more || (count > 0 && head.value.size == 0))
        return STATUS_CORRUPT;
    *ret_groups = groups;
    *ret_count = count;
    *ret_head = head;
    return STATUS_OK;
}

Status policies_groups(Policies *policies, GroupKind kind, Arena *arena, PolicyGroup **ret_groups,
                       size_t *ret_count)
{
    PolicyGroup *groups;
    size_t count;
    GroupsHead head;
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
    CachedBytes copy;
    Cell cell;
    PolicyGroup group = {.name = SLICE_EMPTY};
    Slice key = name_key(kind, id, arena);
    if (id != 0 && !read_cache_find(policies->group_names, key, arena, &copy)) {
        Read read = {&TABLE_GROUPS, KINDS[kind].row, column_of("g/", id, arena), STORE_NORMAL};
        Status status = store_read(policies->store, &read, arena, &cell);
        if (status == STATUS_OK)
            status = take_group(&cell, &group);
        else if (status == STATUS_NOT_FOUND)
            status = STATUS_OK;
        TRY(status);
        copy.bytes = group.name;
        read_cache_put(policies->group_names, key, &copy);
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
    PolicyGroup group;
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
static const PolicyGroup *find_name(const PolicyGroup *groups, size_t count, Slice name,
                                    Arena *arena)
{
    Slice folded = policy_fold(name, arena);
    for (size_t i = 0; i < count; i++)
        if (slice_equal(policy_fold(groups[i].name, arena), folded))
            return &groups[i];
    return NULL;
}

static bool has_id(const PolicyGroup *groups, size_t count, uint64_t id)
{
    for (size_t i = 0; i < count; i++)
        if (groups[i].id == id)
            return true;
    return false;
}

static Status check_set(GroupKind kind, const PolicyGroup *group, const PolicyGroup *groups,
                        size_t count, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    const PolicyGroup *same = find_name(groups, count, group->name, arena);
    if (group->id != 0 && !has_id(groups, count, group->id))
        return reason_set(reason, STATUS_NOT_FOUND, "id", "there is no such %s", KINDS[kind].name);
    if (same != NULL && same->id != group->id)
        return reason_set(reason, STATUS_REFUSED, "name", "there is a %s of that name",
                          KINDS[kind].name);
    if (group->id == 0 && count >= GROUPS_MAX)
        return reason_set(reason, STATUS_REFUSED, "name", "there are at most %d", GROUPS_MAX);
    return STATUS_OK;
}

/* ---- Writing ------------------------------------------------------------------------------------------------- */

/* `group` has its id; conditional on the head as it was read. */
static Status write_group(Policies *policies, GroupKind kind, const PolicyGroup *group,
                          const GroupsHead *head, Arena *arena)
{
    Records records = policies_records(policies);
    GroupsHead next = {.last = group->id > head->last ? group->id : head->last};
    Change also[] = {
        {.column = column_of("g/", group->id, arena),
         .value = record_encode(&GROUP_RECORD, group, NULL, arena)},
        {.column = column_of("d/", group->id, arena), .value = group->description},
    };
    RecordWrite write = {
        .place = {&GROUP_HEAD_RECORD, &TABLE_GROUPS, KINDS[kind].row, SLICE("head")},
        .record = &next,
        .before = head->value,
        .also = also,
        .also_count = 2,
        .marks = news_mark(policies->world.clock, NEWS_GROUPS, 0, arena)};
    return record_write(&records, &write, arena, NULL);
}

Status policies_set_group(Policies *policies, GroupKind kind, const PolicyGroup *group,
                          uint64_t *ret_id, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Status status = STATUS_CONFLICT;
    TRY(policy_check_line("name", group->name, 1, GROUP_NAME_MAX, reason));
    TRY(policy_check_prose("description", group->description, GROUP_DESCRIPTION_MAX, reason));
    /* Another group that changed in between is no reason to bother anybody: look at the names again. */
    for (int i = 0; record_again(&status, i, arena, reason); i++) {
        PolicyGroup *groups, wanted = *group;
        size_t count;
        GroupsHead head;
        TRY(read_names(policies, kind, STORE_SERIAL, arena, &groups, &count, &head));
        TRY(check_set(kind, group, groups, count, reason));
        if (wanted.id == 0)
            wanted.id = head.last + 1;
        status = write_group(policies, kind, &wanted, &head, arena);
        read_cache_forget(policies->group_names, name_key(kind, wanted.id, arena));
        if (status == STATUS_OK)
            *ret_id = wanted.id;
    }
    return status;
}

/* OK when there is a category of that name, whoever added it: another instance may be starting at the same time. */
static Status ensure_category(Policies *policies, Slice name, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    PolicyGroup *groups, wanted = {.name = name, .description = SLICE_EMPTY, .active = true};
    size_t count;
    GroupsHead head;
    uint64_t id;
    TRY(policy_check_line("name", name, 1, GROUP_NAME_MAX, reason));
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
