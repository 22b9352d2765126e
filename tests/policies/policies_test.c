/* policies_test.c -- creating, moving, editing and ending policies on a real store. */
#include "stage.h"

/* ---- Creating ------------------------------------------------------------------------------------------------ */

static void expect_text(const PolicyText *text, const PolicyText *expected)
{
    EXPECT_SLICE(text->name, expected->name);
    EXPECT_SLICE(text->description, expected->description);
    EXPECT_SLICE(text->rationale, expected->rationale);
    EXPECT_I64(text->link_count, expected->link_count);
    for (size_t i = 0; i < text->link_count; i++)
        EXPECT_SLICE(text->links[i], expected->links[i]);
    EXPECT_I64(text->category, expected->category);
    EXPECT_I64(text->party, expected->party);
}

TEST(what_was_created_can_be_read)
{
    Reason reason;
    Policy policy;
    stage_begin();
    NewPolicy wanted = stage_new("Free buses");
    EXPECT_STATUS(policies_create(stage.policies, &wanted, &reason), STATUS_OK);
    EXPECT_STATUS(policies_read(stage.policies, wanted.id, stage.arena, &policy), STATUS_OK);
    EXPECT_I64(policy.id, wanted.id);
    expect_text(&policy.text, &wanted.text);
    EXPECT_I64(policy.owner, STAGE_OWNER);
    EXPECT_I64(policy.creator, STAGE_OWNER);
    EXPECT_I64(policy.created_seq, wanted.seq);
    EXPECT(id_equal(policy.created_version, wanted.version));
    EXPECT_I64(policy.created_us, wanted.time_us);
    EXPECT_I64(policy.revision, 1);
    EXPECT_I64(policy.facts.move_count, 1);
    EXPECT_I64(policy.facts.moves[0].state, POLICY_PENDING);
    EXPECT_I64(policy.facts.moves[0].time_us, wanted.time_us);
    EXPECT_I64(policy.facts.moves[0].actor, STAGE_OWNER);
    stage_end();
}

TEST(a_merges_target_is_active_at_once_and_has_no_owner)
{
    Reason reason;
    stage_begin();
    NewPolicy wanted = stage_new("Both of them");
    wanted.creator = 0;
    EXPECT_STATUS(policies_create(stage.policies, &wanted, &reason), STATUS_OK);
    EXPECT_I64(stage_state(wanted.id), POLICY_ACTIVE);
    EXPECT_I64(stage_read(wanted.id).owner, 0);
    stage_end();
}

TEST(creating_again_changes_nothing_and_another_gets_a_conflict)
{
    Reason reason;
    stage_begin();
    NewPolicy wanted = stage_new("Free buses"), other = wanted;
    EXPECT_STATUS(policies_create(stage.policies, &wanted, &reason), STATUS_OK);
    EXPECT_STATUS(policies_create(stage.policies, &wanted, &reason), STATUS_OK);
    EXPECT_STATUS(stage_move(wanted.id, POLICY_ACTIVE), STATUS_OK);
    EXPECT_STATUS(policies_create(stage.policies, &wanted, &reason), STATUS_OK);
    EXPECT_I64(stage_state(wanted.id), POLICY_ACTIVE);
    other.version = stage_id();
    EXPECT_STATUS(policies_create(stage.policies, &other, &reason), STATUS_CONFLICT);
    EXPECT(id_equal(stage_read(wanted.id).created_version, wanted.version));
    stage_end();
}

TEST(bad_texts_and_groups_are_refused_and_nothing_is_written)
{
    Policy policy;
    Reason reason = {.field = ""};
    stage_begin();
    NewPolicy wanted = stage_new("no");
    EXPECT_STATUS(policies_create(stage.policies, &wanted, &reason), STATUS_INVALID);
    EXPECT_SLICE(slice_from(reason.field), SLICE("name"));
    wanted.text = stage_text("Free buses");
    wanted.text.category = 999;
    EXPECT_STATUS(policies_create(stage.policies, &wanted, &reason), STATUS_REFUSED);
    EXPECT_SLICE(slice_from(reason.field), SLICE("category"));
    wanted.text.category = 1;
    wanted.text.party = 1;
    EXPECT_STATUS(policies_create(stage.policies, &wanted, &reason), STATUS_REFUSED);
    EXPECT_SLICE(slice_from(reason.field), SLICE("party"));
    EXPECT_STATUS(policies_read(stage.policies, wanted.id, stage.arena, &policy), STATUS_NOT_FOUND);
    stage_end();
}

TEST(the_largest_text_fits)
{
    Reason reason;
    stage_begin();
    char *bytes = arena_bytes(stage.arena, (size_t)4 * POLICY_TEXT_MOST);
    for (size_t i = 0; i < POLICY_TEXT_MOST; i++)
        memcpy(bytes + 4 * i, "\xF0\x9F\x97\xB3", 4);
    NewPolicy wanted = stage_new("Long");
    wanted.text.description = wanted.text.rationale = slice_of(bytes, (size_t)4 * POLICY_TEXT_MOST);
    wanted.text.name = slice_of(bytes, (size_t)4 * POLICY_NAME_MOST);
    wanted.text.link_count = POLICY_LINKS_MOST;
    for (size_t i = 0; i < POLICY_LINKS_MOST; i++) {
        char *link = arena_bytes(stage.arena, 10 + (size_t)4 * (POLICY_LINK_MOST - 10));
        memcpy(link, "https://ab", 10);
        memcpy(link + 10, bytes, (size_t)4 * (POLICY_LINK_MOST - 10));
        wanted.text.links[i] = slice_of(link, 10 + (size_t)4 * (POLICY_LINK_MOST - 10));
    }
    EXPECT_STATUS(policies_create(stage.policies, &wanted, &reason), STATUS_OK);
    EXPECT_STATUS(stage_move(wanted.id, POLICY_ACTIVE), STATUS_OK);
    Policy policy = stage_read(wanted.id);
    expect_text(&policy.text, &wanted.text);
    wanted.text.party = 0;
    wanted.text.category = 2;
    EXPECT_STATUS(
        policies_edit(stage.policies, wanted.id, policy.version, &wanted.text, 1, &reason),
        STATUS_OK);
    stage_end();
}

/* ---- Moving -------------------------------------------------------------------------------------------------- */

TEST(a_life_from_creation_to_deletion)
{
    static const PolicyState life[] = {
        POLICY_ACTIVE,           POLICY_PENDING_DELETION, POLICY_ACTIVE,           POLICY_RETIRED,
        POLICY_PENDING_DELETION, POLICY_RETIRED,          POLICY_PENDING_DELETION, POLICY_DELETED};
    stage_begin();
    uint64_t id = stage_pending("Free buses");
    for (size_t i = 0; i < sizeof life / sizeof life[0]; i++) {
        EXPECT_STATUS(stage_move(id, life[i]), STATUS_OK);
        EXPECT_I64(stage_state(id), life[i]);
    }
    Policy policy = stage_read(id);
    EXPECT_I64(policy.facts.move_count, 9);
    EXPECT_SLICE(policy.facts.moves[8].reason, SLICE("because"));
    EXPECT_I64(policy.facts.moves[8].actor, STAGE_ACTOR);
    stage_check(id, id);
    stage_end();
}

TEST(moves_that_are_none_are_refused)
{
    stage_begin();
    uint64_t pending = stage_pending("Free buses"), gone = stage_pending("Free trams");
    EXPECT_STATUS(stage_move(pending, POLICY_RETIRED), STATUS_REFUSED);
    EXPECT_STATUS(stage_move(pending, POLICY_DELETED), STATUS_REFUSED);
    EXPECT_STATUS(stage_move(pending, POLICY_PENDING), STATUS_REFUSED);
    EXPECT_STATUS(stage_move(gone, POLICY_VOID), STATUS_OK);
    EXPECT_STATUS(stage_move(gone, POLICY_ACTIVE), STATUS_REFUSED);
    EXPECT_I64(stage_state(pending), POLICY_PENDING);
    stage_end();
}

/* Without the state that was seen, the late activation would be an appeal. */
TEST(a_late_activation_is_no_appeal)
{
    Reason reason;
    stage_begin();
    uint64_t id = stage_active("Free buses");
    EXPECT_STATUS(stage_move(id, POLICY_PENDING_DELETION), STATUS_OK);
    PolicyMove late = {.state = POLICY_ACTIVE, .actor = STAGE_OWNER};
    EXPECT_STATUS(policies_move(stage.policies, id, POLICY_PENDING, &late, &reason),
                  STATUS_CONFLICT);
    EXPECT_I64(stage_state(id), POLICY_PENDING_DELETION);
    stage_end();
}

TEST(the_same_move_twice_is_one)
{
    Reason reason;
    stage_begin();
    uint64_t id = stage_pending("Free buses");
    PolicyMove move = {.state = POLICY_ACTIVE}, again;
    EXPECT_STATUS(policies_move(stage.policies, id, POLICY_PENDING, &move, &reason), STATUS_OK);
    EXPECT(!id_is_zero(move.id));
    again = (PolicyMove){.state = POLICY_ACTIVE, .id = move.id};
    EXPECT_STATUS(policies_move(stage.policies, id, POLICY_PENDING, &again, &reason), STATUS_OK);
    EXPECT_I64(again.time_us, move.time_us);
    EXPECT_I64(stage_read(id).facts.move_count, 2);
    again.id = stage_id();
    EXPECT_STATUS(policies_move(stage.policies, id, POLICY_PENDING, &again, &reason),
                  STATUS_CONFLICT);
    stage_end();
}

TEST(times_increase_when_the_clock_steps_back)
{
    stage_begin();
    uint64_t id = stage_pending("Free buses");
    int64_t created_us = stage_read(id).facts.moves[0].time_us;
    test_world_step(&stage.own, -3600 * US_PER_S);
    EXPECT_STATUS(stage_move(id, POLICY_ACTIVE), STATUS_OK);
    EXPECT_I64(stage_read(id).facts.moves[1].time_us, created_us + 1);
    stage_end();
}

TEST(a_retirement_says_who_pays_and_in_favour_of_what)
{
    Reason reason = {.field = ""};
    stage_begin();
    uint64_t id = stage_active("Free buses"), other = stage_active("Free trams");
    uint64_t pending = stage_pending("Free trains");
    PolicyMove move = {.state = POLICY_RETIRED, .other = pending, .percent = 50};
    EXPECT_STATUS(policies_move(stage.policies, id, POLICY_ACTIVE, &move, &reason), STATUS_REFUSED);
    EXPECT_SLICE(slice_from(reason.field), SLICE("other"));
    move.other = 12345;
    EXPECT_STATUS(policies_move(stage.policies, id, POLICY_ACTIVE, &move, &reason), STATUS_REFUSED);
    move.other = id;
    EXPECT_STATUS(policies_move(stage.policies, id, POLICY_ACTIVE, &move, &reason), STATUS_INVALID);
    move.other = other;
    move.percent = 101;
    EXPECT_STATUS(policies_move(stage.policies, id, POLICY_ACTIVE, &move, &reason), STATUS_INVALID);
    move.percent = 50;
    EXPECT_STATUS(policies_move(stage.policies, id, POLICY_ACTIVE, &move, &reason), STATUS_OK);
    const PolicyMove *stored = &stage_read(id).facts.moves[2];
    EXPECT_I64(stored->other, other);
    EXPECT_I64(stored->payer, STAGE_OWNER);
    EXPECT_I64(stored->percent, 50);
    EXPECT_I64(move.payer, STAGE_OWNER);
    stage_end();
}

TEST(a_reason_has_at_most_1000_characters)
{
    Reason reason = {.field = ""};
    char text[POLICY_REASON_MOST + 1];
    stage_begin();
    uint64_t id = stage_active("Free buses");
    memset(text, 'x', sizeof text);
    PolicyMove move = {.state = POLICY_PENDING_DELETION, .reason = slice_of(text, sizeof text)};
    EXPECT_STATUS(policies_move(stage.policies, id, POLICY_ACTIVE, &move, &reason), STATUS_INVALID);
    EXPECT_SLICE(slice_from(reason.field), SLICE("reason"));
    move.reason.size = POLICY_REASON_MOST;
    EXPECT_STATUS(policies_move(stage.policies, id, POLICY_ACTIVE, &move, &reason), STATUS_OK);
    EXPECT_I64(stage_read(id).facts.moves[2].reason.size, POLICY_REASON_MOST);
    stage_end();
}

TEST(what_is_not_there_is_not_found)
{
    Reason reason;
    Policy policy;
    PolicyText text = stage_text("Free buses");
    PolicyMove move = {.state = POLICY_ACTIVE};
    PolicyRevision revision;
    stage_begin();
    EXPECT_STATUS(policies_read(stage.policies, 77, stage.arena, &policy), STATUS_NOT_FOUND);
    EXPECT_STATUS(policies_move(stage.policies, 77, POLICY_PENDING, &move, &reason),
                  STATUS_NOT_FOUND);
    EXPECT_STATUS(policies_edit(stage.policies, 77, stage_id(), &text, 1, &reason),
                  STATUS_NOT_FOUND);
    EXPECT_STATUS(policies_revision(stage.policies, 77, 1, stage.arena, &revision),
                  STATUS_NOT_FOUND);
    EXPECT_STATUS(policies_merge(stage.policies, 77, 78, 1, SLICE_EMPTY, &reason), STATUS_REFUSED);
    EXPECT_STATUS(policies_finish_merge(stage.policies, 77), STATUS_NOT_FOUND);
    EXPECT_STATUS(policies_disown(stage.policies, 77, 1), STATUS_NOT_FOUND);
    EXPECT_STATUS(policies_obliterate(stage.policies, 77), STATUS_NOT_FOUND);
    stage_end();
}

/* ---- Editing ------------------------------------------------------------------------------------------------- */

TEST(edits_keep_revisions)
{
    Reason reason;
    PolicyRevision revision;
    PolicyText first = stage_text("Free buses"), second = stage_text("Free trams");
    stage_begin();
    uint64_t id = stage_active("Free buses");
    Policy policy = stage_read(id);
    second.link_count = 0;
    EXPECT_STATUS(policies_edit(stage.policies, id, policy.version, &second, 9, &reason),
                  STATUS_OK);
    Policy edited = stage_read(id);
    expect_text(&edited.text, &second);
    EXPECT_I64(edited.revision, 2);
    EXPECT(!id_equal(edited.version, policy.version));
    EXPECT_STATUS(policies_revision(stage.policies, id, 1, stage.arena, &revision), STATUS_OK);
    expect_text(&revision.text, &first);
    EXPECT_I64(revision.editor, STAGE_OWNER);
    EXPECT(id_equal(revision.version, policy.version));
    int64_t first_us = revision.time_us;
    EXPECT_STATUS(policies_revision(stage.policies, id, 2, stage.arena, &revision), STATUS_OK);
    expect_text(&revision.text, &second);
    EXPECT_I64(revision.editor, 9);
    EXPECT(revision.time_us > first_us);
    EXPECT_STATUS(policies_revision(stage.policies, id, 3, stage.arena, &revision),
                  STATUS_NOT_FOUND);
    EXPECT_STATUS(policies_revision(stage.policies, id, 0, stage.arena, &revision),
                  STATUS_NOT_FOUND);
    stage_end();
}

TEST(two_editors_on_one_version_one_stands)
{
    Reason reason;
    PolicyText mine = stage_text("Mine"), yours = stage_text("Yours");
    stage_begin();
    uint64_t id = stage_active("Free buses");
    Id seen = stage_read(id).version;
    EXPECT_STATUS(policies_edit(stage.policies, id, seen, &mine, 1, &reason), STATUS_OK);
    EXPECT_STATUS(policies_edit(stage.policies, id, seen, &yours, 2, &reason), STATUS_CONFLICT);
    EXPECT_STATUS(policies_edit(stage.policies, id, seen, &mine, 1, &reason), STATUS_OK);
    Policy policy = stage_read(id);
    EXPECT_SLICE(policy.text.name, SLICE("Mine"));
    EXPECT_I64(policy.revision, 2);
    stage_end();
}

TEST(only_active_and_merging_policies_are_edited)
{
    Reason reason;
    PolicyText text = stage_text("Free trams");
    stage_begin();
    uint64_t id = stage_pending("Free buses");
    static const PolicyState life[] = {POLICY_PENDING, POLICY_ACTIVE, POLICY_RETIRED,
                                       POLICY_PENDING_DELETION, POLICY_DELETED};
    for (size_t i = 0; i < sizeof life / sizeof life[0]; i++) {
        if (i > 0)
            EXPECT_STATUS(stage_move(id, life[i]), STATUS_OK);
        EXPECT_STATUS(policies_edit(stage.policies, id, stage_read(id).version, &text, 1, &reason),
                      life[i] == POLICY_ACTIVE ? STATUS_OK : STATUS_REFUSED);
    }
    stage_end();
}

TEST(revisions_are_bounded)
{
    Reason reason = {.field = ""};
    stage_begin();
    uint64_t id = stage_active("Number 1");
    for (int i = 2; i <= POLICY_REVISIONS_MOST + 1; i++) {
        char name[20];
        snprintf(name, sizeof name, "Number %d", i);
        PolicyText text = stage_text(name);
        EXPECT_STATUS(policies_edit(stage.policies, id, stage_read(id).version, &text, 1, &reason),
                      i <= POLICY_REVISIONS_MOST ? STATUS_OK : STATUS_REFUSED);
    }
    EXPECT_SLICE(slice_from(reason.field), SLICE("text"));
    EXPECT_STATUS(stage_move(id, POLICY_PENDING_DELETION), STATUS_OK);
    EXPECT_STATUS(stage_move(id, POLICY_DELETED), STATUS_OK);
    EXPECT_STATUS(policies_obliterate(stage.policies, id), STATUS_OK);
    stage_end();
}

/* ---- The end ------------------------------------------------------------------------------------------------- */

TEST(a_disowned_policy_has_no_owner_and_keeps_its_origin)
{
    stage_begin();
    uint64_t id = stage_active("Free buses");
    EXPECT_STATUS(policies_disown(stage.policies, id, STAGE_OWNER + 1), STATUS_OK);
    EXPECT_I64(stage_read(id).owner, STAGE_OWNER);
    EXPECT_STATUS(policies_disown(stage.policies, id, STAGE_OWNER), STATUS_OK);
    EXPECT_STATUS(policies_disown(stage.policies, id, STAGE_OWNER), STATUS_OK);
    EXPECT_I64(stage_read(id).owner, 0);
    EXPECT_I64(stage_read(id).creator, STAGE_OWNER);
    EXPECT_STATUS(stage_move(id, POLICY_RETIRED), STATUS_OK);
    EXPECT_I64(stage_read(id).facts.moves[2].payer, 0);
    stage_end();
}

static bool is_stored(Slice words)
{
    Slice position = SLICE_EMPTY;
    bool more = true;
    while (more) {
        ScanPage page;
        EXPECT_STATUS(store_scan(stage.store, &TABLE_POLICIES, position, 1000, stage.arena, &page),
                      STATUS_OK);
        for (size_t i = 0; i < page.count; i++) {
            Slice value = page.cells[i].cell.value;
            if (value.size > 0 && memmem(value.data, value.size, words.data, words.size) != NULL)
                return true;
        }
        position = page.position;
        more = page.more;
    }
    return false;
}

TEST(obliterating_removes_all_texts_and_leaves_the_moves)
{
    Reason reason;
    PolicyRevision revision;
    PolicyText text = stage_text("Secret two");
    stage_begin();
    uint64_t id = stage_active("Secret one");
    EXPECT_STATUS(policies_edit(stage.policies, id, stage_read(id).version, &text, 1, &reason),
                  STATUS_OK);
    EXPECT_STATUS(policies_obliterate(stage.policies, id), STATUS_REFUSED);
    EXPECT_STATUS(stage_move(id, POLICY_PENDING_DELETION), STATUS_OK);
    EXPECT_STATUS(policies_obliterate(stage.policies, id), STATUS_REFUSED);
    EXPECT_STATUS(stage_move(id, POLICY_DELETED), STATUS_OK);
    EXPECT(is_stored(SLICE("Secret one")) && is_stored(SLICE("Secret two")));
    EXPECT_STATUS(policies_obliterate(stage.policies, id), STATUS_OK);
    EXPECT_STATUS(policies_obliterate(stage.policies, id), STATUS_OK);
    EXPECT(!is_stored(SLICE("Secret one")) && !is_stored(SLICE("Secret two")));
    Policy policy = stage_read(id);
    EXPECT_I64(policy.revision, 0);
    EXPECT_I64(policy.text.name.size, 0);
    EXPECT_I64(policy.facts.move_count, 4);
    EXPECT_I64(policy.creator, STAGE_OWNER);
    for (uint32_t i = 0; i <= 2; i++)
        EXPECT_STATUS(policies_revision(stage.policies, id, i, stage.arena, &revision),
                      STATUS_NOT_FOUND);
    EXPECT_STATUS(policies_edit(stage.policies, id, policy.version, &text, 1, &reason),
                  STATUS_REFUSED);
    stage_check(id, id);
    stage_end();
}

TEST(a_void_policy_is_obliterated_too)
{
    stage_begin();
    uint64_t id = stage_pending("Secret one");
    EXPECT_STATUS(stage_move(id, POLICY_VOID), STATUS_OK);
    EXPECT_STATUS(policies_obliterate(stage.policies, id), STATUS_OK);
    EXPECT(!is_stored(SLICE("Secret one")));
    stage_end();
}

/* ---- All of them --------------------------------------------------------------------------------------------- */

enum { MANY = 700 };

TEST(the_list_has_each_policy_once)
{
    char seen[MANY + 1] = {0};
    stage_begin();
    for (int i = 0; i < MANY; i++)
        (void)stage_pending("Free buses");
    Slice position = SLICE_EMPTY;
    bool more = true;
    int pages = 0;
    for (; more; pages++) {
        Policy *list;
        size_t count;
        EXPECT_STATUS(
            policies_list(stage.policies, position, stage.arena, &list, &count, &position, &more),
            STATUS_OK);
        for (size_t i = 0; i < count; i++) {
            EXPECT(list[i].id >= 1 && list[i].id <= MANY);
            seen[list[i].id]++;
        }
    }
    EXPECT(pages > 1);
    for (int i = 1; i <= MANY; i++)
        EXPECT_I64(seen[i], 1);
    stage_end();
}

/* ---- Facts --------------------------------------------------------------------------------------------------- */

static PolicyState seen_by(Policies *policies, uint64_t id)
{
    PoliciesReader reader = {.policies = policies, .arena = stage.arena};
    PolicyBook book = policies_book(&reader);
    const PolicyFacts *facts = book.find(book.self, id);
    EXPECT_STATUS(reader.failed, STATUS_OK);
    return facts == NULL ? POLICY_STATE_COUNT : facts->moves[facts->move_count - 1].state;
}

TEST(own_moves_are_seen_at_once_and_those_of_others_in_time)
{
    stage_begin();
    Policies *other = stage_instance();
    uint64_t id = stage_pending("Free buses");
    EXPECT_I64(seen_by(other, id), POLICY_PENDING);
    EXPECT_STATUS(stage_move(id, POLICY_ACTIVE), STATUS_OK);
    EXPECT_I64(seen_by(stage.policies, id), POLICY_ACTIVE);
    EXPECT_I64(seen_by(other, id), POLICY_PENDING);
    test_world_pass(&stage.own, STAGE_CACHE_S * US_PER_S);
    EXPECT_I64(seen_by(other, id), POLICY_ACTIVE);
    EXPECT_STATUS(stage_move(id, POLICY_RETIRED), STATUS_OK);
    EXPECT_I64(seen_by(other, id), POLICY_ACTIVE);
    policies_forget(other, id);
    EXPECT_I64(seen_by(other, id), POLICY_RETIRED);
    policies_free(other);
    stage_end();
}

TEST(a_book_gives_the_same_answer_each_time)
{
    stage_begin();
    PoliciesReader reader = {.policies = stage.policies, .arena = stage.arena};
    PolicyBook book = policies_book(&reader);
    uint64_t first = stage_pending("Free buses");
    const PolicyFacts *before = book.find(book.self, first);
    EXPECT(before != NULL && book.find(book.self, 5000) == NULL);
    EXPECT_STATUS(stage_move(first, POLICY_ACTIVE), STATUS_OK);
    for (uint64_t id = 6000; id < 6500; id++)
        EXPECT(book.find(book.self, id) == NULL);
    EXPECT_I64(before->move_count, 1);
    EXPECT_I64(book.find(book.self, first)->move_count, 1);
    EXPECT(book.find(book.self, 0) == NULL);
    stage_end();
}

TEST(a_book_says_when_it_could_not_read)
{
    stage_begin();
    uint64_t id = stage_pending("Free buses");
    stage_restart();
    PoliciesReader reader = {.policies = stage.policies, .arena = stage.arena};
    PolicyBook book = policies_book(&reader);
    EXPECT(book.find(book.self, 5000) == NULL);
    EXPECT_STATUS(reader.failed, STATUS_OK);
    faulty_plan(&stage.faulty, 1, FAULT_REFUSED, FAULT_ONCE);
    EXPECT(book.find(book.self, id) == NULL);
    EXPECT_STATUS(reader.failed, STATUS_UNAVAILABLE);
    EXPECT(book.find(book.self, id) == NULL);
    stage_end();
}
