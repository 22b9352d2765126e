/* groups.c -- categories and parties: listing, adding, editing and disabling them. A disabled one stays on its policies and takes no new
 * ones.
 *
 * A change is one conditional update of all groups of its kind, written to the audit log before. A crash in between leaves an entry whose
 * outcome is not known. The same edit again is safe; the same addition again is refused, because the name is taken. */
#include "operations/groups.h"

#include "operations/policy_head.h"
#include "operations/schema_macros.h"

/* clang-format off */
#define GROUP_FIELDS                                                                                \
    FIELD("id", GroupEntry, group.id, .help = "Its number."),                                       \
    FIELD("name", GroupEntry, group.name, .help = "What it is called."),                            \
    FIELD("description", GroupEntry, group.description, .help = "What belongs to it."),             \
    FIELD("active", GroupEntry, group.active, .help = "Whether it takes new policies."),            \
    FIELD("address", GroupEntry, address, .help = "Its page.")

static const ApiMember GROUP[] = {
    GROUP_FIELDS,
    FIELD("policies", GroupEntry, policies, .help = "How many policies it has in the ranking."),
    OBJECT("leader", GroupEntry, leader, CARD, WHEN(GroupEntry, has_leader), .help = "The one with most votes."),
};
SCHEMA(GROUP, "Group", GroupEntry, GROUP, .help = "A category or a party.");

static const ApiMember GROUPS[] = {
    LIST("groups", GroupsView, entries, count, GROUP, .help = "In the order in which they were added."),
};
SCHEMA(GROUPS, "Groups", GroupsView, GROUPS, .help = "All categories, or all parties.");

static const ApiMember GROUP_SAVED[] = {GROUP_FIELDS};
SCHEMA(GROUP_SAVED, "GroupSaved", GroupEntry, GROUP_SAVED, .help = "A category or a party as it was saved.");
/* clang-format on */

/* ---- Listing ------------------------------------------------------------------------------------------------------------------ */

RankQuery group_query(GroupKind kind, uint64_t id, uint32_t days)
{
    return kind == GROUP_CATEGORY ? (RankQuery){.days = days, .category = id}
                                  : (RankQuery){.days = days, .party = id};
}

static Status fill_entry(Operations *ops, GroupKind kind, Arena *arena, GroupEntry *entry)
{
    RankQuery query = group_query(kind, entry->group.id, 0);
    PolicySummaryPage page;
    entry->address = group_address(kind, entry->group.id, entry->group.name, arena);
    TRY(policy_summaries_ranking(ops->summaries, &query, 0, 1, arena, &page));
    entry->policies = page.policies;
    entry->has_leader = page.count > 0;
    if (entry->has_leader)
        entry->leader = page.summaries[0];
    return STATUS_OK;
}

Status groups_view(Operations *ops, GroupKind kind, Arena *arena, GroupsView *ret_view)
{
    PolicyGroup *groups;
    Ranking *ranking;
    GroupsView view = {.kind = kind};
    TRY(app_ranking(ops->app, &ranking));
    TRY(policies_groups(ops->app->policies, kind, arena, &groups, &view.count));
    view.entries = ARENA_ARRAY(arena, view.count, GroupEntry);
    for (size_t i = 0; i < view.count; i++) {
        view.entries[i].group = groups[i];
        TRY(fill_entry(ops, kind, arena, &view.entries[i]));
    }
    *ret_view = view;
    return STATUS_OK;
}

static Status category_list(Operations *ops, const Actor *actor, const Nothing *request,
                            Arena *arena, GroupsView *ret_view, Reason *reason)
{
    (void)actor, (void)request, (void)reason;
    return groups_view(ops, GROUP_CATEGORY, arena, ret_view);
}

static Status party_list(Operations *ops, const Actor *actor, const Nothing *request, Arena *arena,
                         GroupsView *ret_view, Reason *reason)
{
    (void)actor, (void)request, (void)reason;
    return groups_view(ops, GROUP_PARTY, arena, ret_view);
}

OPERATION(category_list, Nothing, GroupsView, .help = "List all categories.", .asks = true,
          .answers = &SCHEMA_GROUPS,
          .api = {WEB_GET, "categories", .tag = "rankings", .cache_ms = 5000},
          .no_page = "/categories shows them", .command = {.words = "category list"});
OPERATION(party_list, Nothing, GroupsView, .help = "List all parties.", .asks = true,
          .answers = &SCHEMA_GROUPS,
          .api = {WEB_GET, "parties", .tag = "rankings", .cache_ms = 5000},
          .no_page = "/parties shows them", .command = {.words = "party list"});

/* ---- Saving one --------------------------------------------------------------------------------------------------------------- */

typedef struct GroupSet {
    uint64_t id; /* 0: a new one */
    Slice name, description, reason;
    bool active;
    bool has_name, has_description, has_active; /* what was not given stays */
} GroupSet;

static Status save_group(Operations *ops, const Actor *actor, AuditKind audited, GroupKind kind,
                         const GroupSet *request, Arena *arena, GroupEntry *entry, Reason *reason)
{
    Id id;
    PolicyGroup *group = &entry->group;
    AuditAct act = {.kind = audited,
                    .object = group->id,
                    .reason = request->reason,
                    .details = arena_print(arena, "%.*s; %s", SLICE_ARG(group->name),
                                           group->active ? "active" : "disabled")};
    TRY(operation_audit(ops, actor, &act, &id, reason));
    TRY(operation_audit_end(
        ops, id, policies_set_group(ops->app->policies, kind, group, &group->id, reason)));
    entry->address = group_address(kind, group->id, group->name, arena);
    operations_notify(ops, CHANGE_GROUPS, group->id);
    return STATUS_OK;
}

static GroupEntry new_group(const GroupSet *request)
{
    return (GroupEntry){.group = {.name = request->name,
                                  .description = request->description,
                                  .active = request->active}};
}

static Status category_add(Operations *ops, const Actor *actor, const GroupSet *request,
                           Arena *arena, GroupEntry *ret_entry, Reason *reason)
{
    *ret_entry = new_group(request);
    return save_group(ops, actor, AUDIT_CATEGORY_ADD, GROUP_CATEGORY, request, arena, ret_entry,
                      reason);
}

static Status party_add(Operations *ops, const Actor *actor, const GroupSet *request, Arena *arena,
                        GroupEntry *ret_entry, Reason *reason)
{
    *ret_entry = new_group(request);
    return save_group(ops, actor, AUDIT_PARTY_SET, GROUP_PARTY, request, arena, ret_entry, reason);
}

/* What the request gives replaces what is stored. */
static Status edited_group(Operations *ops, GroupKind kind, const GroupSet *request, Arena *arena,
                           GroupEntry *ret_entry, Reason *reason)
{
    PolicyGroup *groups;
    size_t count, i = 0;
    TRY(policies_groups(ops->app->policies, kind, arena, &groups, &count));
    while (i < count && groups[i].id != request->id)
        i++;
    if (i == count)
        return reason_set(reason, STATUS_NOT_FOUND, "", "there is no %s %llu",
                          kind == GROUP_CATEGORY ? "category" : "party",
                          (unsigned long long)request->id);
    *ret_entry = (GroupEntry){.group = groups[i]};
    if (request->has_name)
        ret_entry->group.name = request->name;
    if (request->has_description)
        ret_entry->group.description = request->description;
    if (request->has_active)
        ret_entry->group.active = request->active;
    return STATUS_OK;
}

static Status category_set(Operations *ops, const Actor *actor, const GroupSet *request,
                           Arena *arena, GroupEntry *ret_entry, Reason *reason)
{
    TRY(edited_group(ops, GROUP_CATEGORY, request, arena, ret_entry, reason));
    return save_group(ops, actor, AUDIT_CATEGORY_SET, GROUP_CATEGORY, request, arena, ret_entry,
                      reason);
}

static Status party_set(Operations *ops, const Actor *actor, const GroupSet *request, Arena *arena,
                        GroupEntry *ret_entry, Reason *reason)
{
    TRY(edited_group(ops, GROUP_PARTY, request, arena, ret_entry, reason));
    return save_group(ops, actor, AUDIT_PARTY_SET, GROUP_PARTY, request, arena, ret_entry, reason);
}

/* clang-format off */
#define ADMINS .access = WEB_ROLE, .whose = WEB_ANYBODYS, .roles = 1u << ROLE_ADMIN, .always = true, .threads = WEB_SAVE, .answers = &SCHEMA_GROUP_SAVED
#define WHY INPUT("reason", GroupSet, reason, TEXT, .fallback = "", .most = AUDIT_REASON_MAX, .help = "Why; admins can read it.")
#define ADD_INPUTS(what)                                                                            \
    {INPUT("name", GroupSet, name, LINE, .operand = true, .least = 1, .most = GROUP_NAME_MAX, .help = "What it is called."), \
     INPUT("description", GroupSet, description, TEXT, .fallback = "", .most = GROUP_DESCRIPTION_MAX, .help = what), \
     INPUT("active", GroupSet, active, SWITCH, .fallback = "on", .help = "Whether it takes new policies."), \
     WHY}
#define SET_INPUTS(key, which, what)                                                                \
    {INPUT(key, GroupSet, id, which, .operand = true, .help = "Its name or number."),               \
     INPUT("name", GroupSet, name, LINE, .optional = true, .least = 1, .most = GROUP_NAME_MAX, GIVEN(GroupSet, has_name), .help = "What it is called from now on."), \
     INPUT("description", GroupSet, description, TEXT, .optional = true, .most = GROUP_DESCRIPTION_MAX, GIVEN(GroupSet, has_description), .help = what), \
     INPUT("active", GroupSet, active, SWITCH, .optional = true, GIVEN(GroupSet, has_active), .help = "Whether it takes new policies."), \
     WHY}

OPERATION(category_add, GroupSet, GroupEntry, .help = "Add a category.", ADMINS, .audits = AUDITS(CATEGORY_ADD),
    .api = {WEB_POST, "admin/categories", .tag = "admin"}, .command = {.words = "category add"},
    .page = {"/admin/categories", "category", "The category is saved."}, .inputs = ADD_INPUTS("What belongs there."));
OPERATION(category_set, GroupSet, GroupEntry, .help = "Edit, disable or enable a category.", ADMINS, .audits = AUDITS(CATEGORY_SET),
    .api = {WEB_PATCH, "admin/categories/{category}", .tag = "admin"}, .command = {.words = "category set"},
    .page = {"/admin/categories/{category}", "category", "The category is saved."}, .inputs = SET_INPUTS("category", CATEGORY, "What belongs there."));
OPERATION(party_add, GroupSet, GroupEntry, .help = "Add a party.", ADMINS, .audits = AUDITS(PARTY_SET),
    .api = {WEB_POST, "admin/parties", .tag = "admin"}, .command = {.words = "party add"},
    .page = {"/admin/parties", "party", "The party is saved."}, .inputs = ADD_INPUTS("Who they are."));
OPERATION(party_set, GroupSet, GroupEntry, .help = "Edit, disable or enable a party.", ADMINS, .audits = AUDITS(PARTY_SET),
    .api = {WEB_PATCH, "admin/parties/{party}", .tag = "admin"}, .command = {.words = "party set"},
    .page = {"/admin/parties/{party}", "party", "The party is saved."}, .inputs = SET_INPUTS("party", PARTY, "Who they are."));
/* clang-format on */
