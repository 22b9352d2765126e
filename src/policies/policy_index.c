/* policy_index.c -- lists for browsing: table `policy_index`, a row for each list, a cell for each policy in it.
 *
 *     name, party/<id>, category/<id>   column = folded name | 0 | policy
 *     date, owner/<id>                  column = time of creation | policy
 * The value is the policy. The cells are derived: written lazily after a change, left to the repair when that fails, and
 * checked against the policy when they are read. Timestamps are those of the clock, but not before the change that they
 * follow, so that on one policy a later change wins whatever the clocks say. */
#include "policies/policies_private.h"

enum { KEY_MAX = 512, COLUMN_MAX = KEY_MAX + 9, PREFIX_MAX = KEY_MAX, REPAIR_CELLS = 200 };

static const struct {
    Slice row;
    bool grouped, newest_first;
} LISTS[POLICY_ORDER_COUNT] = {
#define X(name, row, grouped, newest_first) \
    [POLICIES_BY_##name] = {{row, sizeof row - 1}, grouped, newest_first},
    POLICY_ORDER_LIST(X)
#undef X
};

/* ---- Where a policy stands ------------------------------------------------------------------------------------- */

/* Its cell in each list; the row is empty where it does not belong. */
typedef struct Places {
    Slice row[POLICY_ORDER_COUNT];
    Slice column[POLICY_ORDER_COUNT];
} Places;

static Slice row_of(PolicyOrder order, uint64_t group, Arena *arena)
{
    size_t size = LISTS[order].row.size;
    if (!LISTS[order].grouped)
        return LISTS[order].row;
    char *row = arena_bytes(arena, size + 8);
    memcpy(row, LISTS[order].row.data, size);
    bytes_put_u64(row + size, group);
    return slice_of(row, size + 8);
}

/* Names have no control characters, so the zero keeps a name before all that begin with it. */
static Slice name_column(const Policy *policy, Arena *arena)
{
    Slice key = policy_fold(policy->text.name, arena);
    size_t size = key.size < KEY_MAX ? key.size : KEY_MAX;
    char *column = arena_bytes(arena, size + 9);
    memcpy(column, key.data, size);
    column[size] = '\0';
    bytes_put_u64(column + size + 1, policy->id);
    return slice_of(column, size + 9);
}

static Slice date_column(const Policy *policy, Arena *arena)
{
    char *column = arena_bytes(arena, 16);
    bytes_put_u64(column, policy->created_us < 0 ? 0 : (uint64_t)policy->created_us);
    bytes_put_u64(column + 8, policy->id);
    return slice_of(column, 16);
}

/* Everybody's lists show what can be voted on; an owner's also shows what became of it, as long as there is a text. */
static bool is_in_list(PolicyOrder order, PolicyState state)
{
    if (order != POLICIES_BY_OWNER)
        return policy_state_listed(state);
    return state != POLICY_PENDING && state != POLICY_VOID && state != POLICY_DELETED;
}

/* Where it would be in a state that is in all lists. */
static Places possible_places(const Policy *policy, Arena *arena)
{
    Places places = {.row = {SLICE_EMPTY}};
    Slice by_name = name_column(policy, arena), by_date = date_column(policy, arena);
    const struct {
        Slice column;
        uint64_t group;
    } by[POLICY_ORDER_COUNT] = {
        [POLICIES_BY_NAME] = {by_name, 0},
        [POLICIES_BY_DATE] = {by_date, 0},
        [POLICIES_BY_PARTY] = {by_name, policy->text.party},
        [POLICIES_BY_CATEGORY] = {by_name, policy->text.category},
        [POLICIES_BY_OWNER] = {by_date, policy->owner},
    };
    for (int i = 0; i < POLICY_ORDER_COUNT; i++) {
        if (LISTS[i].grouped && by[i].group == 0)
            continue;
        places.row[i] = row_of((PolicyOrder)i, by[i].group, arena);
        places.column[i] = by[i].column;
    }
    return places;
}

static Places places_of(const Policy *policy, Arena *arena)
{
    if (policy == NULL || policy->revision == 0)
        return (Places){.row = {SLICE_EMPTY}};
    PolicyState state = policy->facts.moves[policy->facts.move_count - 1].state;
    Places places = possible_places(policy, arena);
    for (int i = 0; i < POLICY_ORDER_COUNT; i++)
        if (!is_in_list((PolicyOrder)i, state))
            places.row[i] = SLICE_EMPTY;
    return places;
}

static bool stands_at(const Places *places, Slice row, Slice column)
{
    for (int i = 0; i < POLICY_ORDER_COUNT; i++)
        if (places->row[i].size > 0 && slice_equal(places->row[i], row) &&
            slice_equal(places->column[i], column))
            return true;
    return false;
}

/* ---- Keeping up ---------------------------------------------------------------------------------------------- */

typedef struct Changes {
    RowChange *changes;
    size_t count;
    int64_t timestamp;
} Changes;

static void add_change(Changes *to, Slice row, Slice column, uint64_t id, Arena *arena)
{
    Change change = {.column = column, .value = SLICE_EMPTY, .timestamp = to->timestamp};
    if (id == 0)
        change.is_delete = true;
    else
        change.value = policy_row_key(id, arena);
    to->changes[to->count++] = (RowChange){&TABLE_POLICY_INDEX, row, change};
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t stamp_of(Policies *policies, const Policy *policy)
{
    int64_t moved_us = policy->facts.moves[policy->facts.move_count - 1].time_us;
    return later(clock_now_us(policies->world.clock), later(moved_us, policy->edited_us));
}

static Status write_changes(Policies *policies, const Changes *changes)
{
    if (changes->count == 0)
        return STATUS_OK;
    return store_write(policies->store, &(Batch){changes->changes, changes->count, true});
}

void policy_index_change(Policies *policies, const Policy *before, const Policy *after)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Places old = places_of(before, arena), new = places_of(after, arena);
    Changes changes = {.changes = ARENA_ARRAY(arena, 2 * POLICY_ORDER_COUNT, RowChange),
                       .timestamp = stamp_of(policies, after)};
    for (int i = 0; i < POLICY_ORDER_COUNT; i++) {
        if (old.row[i].size > 0 && !stands_at(&new, old.row[i], old.column[i]))
            add_change(&changes, old.row[i], old.column[i], 0, arena);
        if (new.row[i].size > 0 && !stands_at(&old, new.row[i], new.column[i]))
            add_change(&changes, new.row[i], new.column[i], after->id, arena);
    }
    (void)!write_changes(policies, &changes); /* derived: the repair finds what is missing */
}

Status policy_index_remove(Policies *policies, const Policy *policy)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Places places = possible_places(policy, arena);
    Changes changes = {.changes = ARENA_ARRAY(arena, POLICY_ORDER_COUNT, RowChange),
                       .timestamp = stamp_of(policies, policy)};
    for (int i = 0; i < POLICY_ORDER_COUNT; i++)
        if (places.row[i].size > 0)
            add_change(&changes, places.row[i], places.column[i], 0, arena);
    return store_write(policies->store, &(Batch){changes.changes, changes.count, false});
}

/* ---- Browsing ------------------------------------------------------------------------------------------------ */

/* Adds the policy of a cell to the page if it belongs there now. */
static Status take_cell(Policies *policies, Slice row, const Cell *cell, Arena *arena,
                        PolicyPage *page)
{
    uint64_t id = 0;
    Policy policy;
    TRY(policy_decode_row_key(cell->value, &id));
    Status status = policies_read(policies, id, arena, &policy);
    /* A normal read that is behind; or a damaged row, which must not hide the others. */
    if (status == STATUS_NOT_FOUND || status == STATUS_CORRUPT)
        return STATUS_OK;
    TRY(status);
    Places places = places_of(&policy, arena);
    if (stands_at(&places, row, cell->column))
        page->policies[page->count++] = policy;
    return STATUS_OK;
}

/* Columns that begin like `prefix` are those from it on and before it with a byte that no UTF-8 has. */
static void narrow(Slice prefix, Arena *arena, Query *query)
{
    if (prefix.size == 0)
        return;
    Slice from = policy_fold(prefix, arena);
    if (from.size > KEY_MAX)
        from.size = KEY_MAX;
    char *to = arena_bytes(arena, from.size + 1);
    memcpy(to, from.data, from.size);
    to[from.size] = (char)0xFF;
    query->from = from;
    query->to = slice_of(to, from.size + 1);
}

Status policies_browse(Policies *policies, const PolicyQuery *query, Arena *arena,
                       PolicyPage *ret_page)
{
    CHECK(query->order < POLICY_ORDER_COUNT);
    CHECK(query->prefix.size == 0 || !LISTS[query->order].newest_first);
    if (query->limit < 1 || query->limit > POLICIES_BROWSE_MAX ||
        query->position.size > COLUMN_MAX || query->prefix.size > PREFIX_MAX)
        return STATUS_INVALID;
    Query slice = {.table = &TABLE_POLICY_INDEX,
                   .row = row_of(query->order, query->group, arena),
                   .from = SLICE_EMPTY,
                   .to = SLICE_EMPTY,
                   .after = query->position.size > 0 ? query->position : SLICE_EMPTY,
                   .resume = query->position.size > 0,
                   .reverse = LISTS[query->order].newest_first,
                   .limit = query->limit};
    Page cells;
    narrow(query->prefix, arena, &slice);
    TRY(store_slice(policies->store, &slice, arena, &cells));
    PolicyPage page = {.policies = ARENA_ARRAY(arena, cells.count, Policy),
                       .position = query->position,
                       .more = cells.more};
    for (size_t i = 0; i < cells.count; i++)
        TRY(take_cell(policies, slice.row, &cells.cells[i], arena, &page));
    if (cells.count > 0)
        page.position = cells.cells[cells.count - 1].column;
    *ret_page = page;
    return STATUS_OK;
}

/* ---- Repair -------------------------------------------------------------------------------------------------- */

/* First over all policies, adding; then over the lists, removing. The first byte of a position says which. */
enum { PASS_ADD = 'a', PASS_REMOVE = 'r' };

static Slice position_of(char pass, Slice rest, Arena *arena)
{
    char *position = arena_bytes(arena, 1 + rest.size);
    position[0] = pass;
    if (rest.size > 0)
        memcpy(position + 1, rest.data, rest.size);
    return slice_of(position, 1 + rest.size);
}

/* What is there already is not written again: a pass over a healthy index writes nothing. */
static Status add_missing(Policies *policies, const Policy *policy, Arena *arena, Changes *changes)
{
    Read reads[POLICY_ORDER_COUNT];
    ReadAnswer answers[POLICY_ORDER_COUNT];
    Places places = places_of(policy, arena);
    size_t count = 0;
    for (int i = 0; i < POLICY_ORDER_COUNT; i++)
        if (places.row[i].size > 0)
            reads[count++] =
                (Read){&TABLE_POLICY_INDEX, places.row[i], places.column[i], STORE_NORMAL};
    TRY(store_read_many(policies->store, reads, count, arena, answers));
    changes->timestamp = stamp_of(policies, policy);
    for (size_t i = 0; i < count; i++) {
        if (answers[i].status == STATUS_NOT_FOUND)
            add_change(changes, reads[i].row, reads[i].column, policy->id, arena);
        else
            TRY(answers[i].status);
    }
    return STATUS_OK;
}

/* Where the next page begins, and what this one needs. */
typedef struct RepairPage {
    Slice next;
    bool more;
    Changes changes;
    Status damage; /* CORRUPT: some policy cannot be read, and its places stay as they are */
} RepairPage;

static Status add_page(Policies *policies, Slice position, Arena *arena, RepairPage *page)
{
    Policy *list;
    size_t count;
    page->damage =
        policies_list(policies, position, arena, &list, &count, &page->next, &page->more);
    if (page->damage != STATUS_CORRUPT)
        TRY(page->damage);
    page->changes.changes = ARENA_ARRAY(arena, count * POLICY_ORDER_COUNT, RowChange);
    for (size_t i = 0; i < count; i++)
        TRY(add_missing(policies, &list[i], arena, &page->changes));
    return STATUS_OK;
}

/* The delete carries the time before the policy was read: what is put after that, because it changed, survives. */
static Status remove_if_wrong(Policies *policies, const ScanCell *cell, Arena *arena,
                              Changes *changes)
{
    int64_t now_us = clock_now_us(policies->world.clock);
    uint64_t id = 0;
    Policy policy;
    Status status = policy_decode_row_key(cell->cell.value, &id);
    if (status == STATUS_OK)
        status = policies_fresh(policies, id, arena, &policy);
    else
        status = STATUS_NOT_FOUND; /* a cell that names nobody is wrong, too */
    if (status != STATUS_NOT_FOUND)
        TRY(status);
    Places places = places_of(status == STATUS_OK ? &policy : NULL, arena);
    if (stands_at(&places, cell->row, cell->cell.column))
        return STATUS_OK;
    changes->timestamp = now_us;
    add_change(changes, cell->row, cell->cell.column, 0, arena);
    return STATUS_OK;
}

static Status remove_page(Policies *policies, Slice position, Arena *arena, RepairPage *page)
{
    ScanPage cells;
    TRY(store_scan(policies->store, &TABLE_POLICY_INDEX, position, REPAIR_CELLS, arena, &cells));
    page->changes.changes = ARENA_ARRAY(arena, cells.count, RowChange);
    for (size_t i = 0; i < cells.count; i++) {
        Status status = remove_if_wrong(policies, &cells.cells[i], arena, &page->changes);
        if (status == STATUS_CORRUPT)
            page->damage = status;
        else
            TRY(status);
    }
    page->next = cells.position;
    page->more = cells.more;
    return STATUS_OK;
}

static Status look_at_page(Policies *policies, Slice position, Arena *arena, RepairPage *ret_page)
{
    char pass = position.size == 0 ? PASS_ADD : position.data[0];
    Slice rest = slice_after(position, 1);
    RepairPage page = {.next = SLICE_EMPTY, .damage = STATUS_OK};
    if (pass != PASS_ADD && pass != PASS_REMOVE)
        return STATUS_INVALID;
    TRY(pass == PASS_ADD ? add_page(policies, rest, arena, &page)
                         : remove_page(policies, rest, arena, &page));
    if (!page.more && pass == PASS_ADD) {
        pass = PASS_REMOVE;
        page.next = SLICE_EMPTY;
        page.more = true;
    }
    page.next = position_of(pass, page.next, arena);
    *ret_page = page;
    return STATUS_OK;
}

Status policies_reindex_page(Policies *policies, Slice position, Arena *arena, Slice *ret_position,
                             bool *ret_more)
{
    RepairPage page;
    TRY(look_at_page(policies, position, arena, &page));
    TRY(write_changes(policies, &page.changes));
    *ret_position = page.next;
    *ret_more = page.more;
    return page.damage;
}

Status policies_check_index_page(Policies *policies, Slice position, Arena *arena,
                                 const PolicyIndexPage *page)
{
    RepairPage looked;
    TRY(look_at_page(policies, position, arena, &looked));
    *page->ret_position = looked.next;
    *page->ret_more = looked.more;
    *page->ret_faults = looked.changes.count;
    return looked.damage;
}
