/* policies_test.c -- creating, moving, editing and ending policies on a real store. */
#include "app/stored_words.h"
#include "policies/answers.h"
#include "policies_fixture.h"
#include "world.h"

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
    policies_fixture_begin();
    NewPolicy wanted = policies_fixture_new("Free buses");
    EXPECT_STATUS(policies_create(fixture.policies, &wanted, &reason), STATUS_OK);
    EXPECT_STATUS(policies_read(fixture.policies, wanted.id, fixture.arena, &policy), STATUS_OK);
    EXPECT_I64(policy.id, wanted.id);
    expect_text(&policy.text, &wanted.text);
    EXPECT_I64(policy.owner, POLICIES_FIXTURE_OWNER);
    EXPECT_I64(policy.creator, POLICIES_FIXTURE_OWNER);
    EXPECT_I64(policy.created_seq, wanted.seq);
    EXPECT(id_equal(policy.created_version, wanted.version));
    EXPECT_I64(policy.created_us, wanted.time_us);
    EXPECT_I64(policy.revision, 1);
    EXPECT_I64(policy.facts.move_count, 1);
    EXPECT_I64(policy.facts.moves[0].state, POLICY_PENDING);
    EXPECT_I64(policy.facts.moves[0].time_us, wanted.time_us);
    EXPECT_I64(policy.facts.moves[0].actor, POLICIES_FIXTURE_OWNER);
    policies_fixture_end();
}

TEST(a_merges_target_is_active_at_once_and_has_no_owner)
{
    Reason reason;
    policies_fixture_begin();
    NewPolicy wanted = policies_fixture_new("Both of them");
    wanted.creator = 0;
    EXPECT_STATUS(policies_create(fixture.policies, &wanted, &reason), STATUS_OK);
    EXPECT_I64(policies_fixture_state(wanted.id), POLICY_ACTIVE);
    EXPECT_I64(policies_fixture_read(wanted.id).owner, 0);
    policies_fixture_end();
}

TEST(creating_again_changes_nothing_and_another_gets_a_conflict)
{
    Reason reason;
    policies_fixture_begin();
    NewPolicy wanted = policies_fixture_new("Free buses"), other = wanted;
    EXPECT_STATUS(policies_create(fixture.policies, &wanted, &reason), STATUS_OK);
    EXPECT_STATUS(policies_create(fixture.policies, &wanted, &reason), STATUS_OK);
    EXPECT_STATUS(policies_fixture_move(wanted.id, POLICY_ACTIVE), STATUS_OK);
    EXPECT_STATUS(policies_create(fixture.policies, &wanted, &reason), STATUS_OK);
    EXPECT_I64(policies_fixture_state(wanted.id), POLICY_ACTIVE);
    other.version = policies_fixture_id();
    EXPECT_STATUS(policies_create(fixture.policies, &other, &reason), STATUS_CONFLICT);
    EXPECT(id_equal(policies_fixture_read(wanted.id).created_version, wanted.version));
    policies_fixture_end();
}

TEST(bad_texts_and_groups_are_refused_and_nothing_is_written)
{
    Policy policy;
    Reason reason = {.field = ""};
    policies_fixture_begin();
    NewPolicy wanted = policies_fixture_new("no");
    EXPECT_STATUS(policies_create(fixture.policies, &wanted, &reason), STATUS_INVALID);
    EXPECT_SLICE(slice_from(reason.field), SLICE("name"));
    wanted.text = policies_fixture_text("Free buses");
    wanted.text.category = 999;
    EXPECT_STATUS(policies_create(fixture.policies, &wanted, &reason), STATUS_REFUSED);
    EXPECT_SLICE(slice_from(reason.field), SLICE("category"));
    wanted.text.category = 1;
    wanted.text.party = 1;
    EXPECT_STATUS(policies_create(fixture.policies, &wanted, &reason), STATUS_REFUSED);
    EXPECT_SLICE(slice_from(reason.field), SLICE("party"));
    EXPECT_STATUS(policies_read(fixture.policies, wanted.id, fixture.arena, &policy),
                  STATUS_NOT_FOUND);
    policies_fixture_end();
}

TEST(the_largest_text_fits)
{
    Reason reason;
    policies_fixture_begin();
    char *bytes = arena_bytes(fixture.arena, (size_t)4 * POLICY_TEXT_MAX);
    for (size_t i = 0; i < POLICY_TEXT_MAX; i++)
        memcpy(bytes + 4 * i, "\xF0\x9F\x97\xB3", 4);
    NewPolicy wanted = policies_fixture_new("Long");
    wanted.text.description = wanted.text.rationale = slice_of(bytes, (size_t)4 * POLICY_TEXT_MAX);
    wanted.text.name = slice_of(bytes, (size_t)4 * POLICY_NAME_MAX);
    wanted.text.link_count = POLICY_LINKS_MAX;
    for (size_t i = 0; i < POLICY_LINKS_MAX; i++) {
        char *link = arena_bytes(fixture.arena, 10 + (size_t)4 * (POLICY_LINK_MAX - 10));
        memcpy(link, "https://ab", 10);
        memcpy(link + 10, bytes, (size_t)4 * (POLICY_LINK_MAX - 10));
        wanted.text.links[i] = slice_of(link, 10 + (size_t)4 * (POLICY_LINK_MAX - 10));
    }
    EXPECT_STATUS(policies_create(fixture.policies, &wanted, &reason), STATUS_OK);
    EXPECT_STATUS(policies_fixture_move(wanted.id, POLICY_ACTIVE), STATUS_OK);
    Policy policy = policies_fixture_read(wanted.id);
    expect_text(&policy.text, &wanted.text);
    wanted.text.party = 0;
    wanted.text.category = 2;
    EXPECT_STATUS(
        policies_edit(fixture.policies, wanted.id, policy.version, &wanted.text, 1, &reason),
        STATUS_OK);
    policies_fixture_end();
}

/* ---- Moving -------------------------------------------------------------------------------------------------- */

TEST(a_life_from_creation_to_deletion)
{
    static const PolicyState life[] = {
        POLICY_ACTIVE,           POLICY_PENDING_DELETION, POLICY_ACTIVE,           POLICY_RETIRED,
        POLICY_PENDING_DELETION, POLICY_RETIRED,          POLICY_PENDING_DELETION, POLICY_DELETED};
    policies_fixture_begin();
    uint64_t id = policies_fixture_pending("Free buses");
    for (size_t i = 0; i < sizeof life / sizeof life[0]; i++) {
        EXPECT_STATUS(policies_fixture_move(id, life[i]), STATUS_OK);
        EXPECT_I64(policies_fixture_state(id), life[i]);
    }
    Policy policy = policies_fixture_read(id);
    EXPECT_I64(policy.facts.move_count, 9);
    EXPECT_SLICE(policy.facts.moves[8].reason, SLICE("because"));
    EXPECT_I64(policy.facts.moves[8].actor, POLICIES_FIXTURE_ACTOR);
    policies_fixture_check(id, id);
    policies_fixture_end();
}

TEST(moves_that_are_none_are_refused)
{
    policies_fixture_begin();
    uint64_t pending = policies_fixture_pending("Free buses"),
             gone = policies_fixture_pending("Free trams");
    EXPECT_STATUS(policies_fixture_move(pending, POLICY_RETIRED), STATUS_REFUSED);
    EXPECT_STATUS(policies_fixture_move(pending, POLICY_DELETED), STATUS_REFUSED);
    EXPECT_STATUS(policies_fixture_move(pending, POLICY_PENDING), STATUS_REFUSED);
    EXPECT_STATUS(policies_fixture_move(gone, POLICY_VOID), STATUS_OK);
    EXPECT_STATUS(policies_fixture_move(gone, POLICY_ACTIVE), STATUS_REFUSED);
    EXPECT_I64(policies_fixture_state(pending), POLICY_PENDING);
    policies_fixture_end();
}

/* Without the state that was seen, the late activation would be an appeal. */
TEST(a_late_activation_is_no_appeal)
{
    Reason reason;
    policies_fixture_begin();
    uint64_t id = policies_fixture_active("Free buses");
    EXPECT_STATUS(policies_fixture_move(id, POLICY_PENDING_DELETION), STATUS_OK);
    PolicyMove late = {.state = POLICY_ACTIVE, .actor = POLICIES_FIXTURE_OWNER};
    EXPECT_STATUS(policies_move(fixture.policies, id, POLICY_PENDING, &late, &reason),
                  STATUS_CONFLICT);
    EXPECT_I64(policies_fixture_state(id), POLICY_PENDING_DELETION);
    policies_fixture_end();
}

TEST(the_same_move_twice_is_one)
{
    Reason reason;
    policies_fixture_begin();
    uint64_t id = policies_fixture_pending("Free buses");
    PolicyMove move = {.state = POLICY_ACTIVE}, again;
    EXPECT_STATUS(policies_move(fixture.policies, id, POLICY_PENDING, &move, &reason), STATUS_OK);
    EXPECT(!id_is_zero(move.id));
    again = (PolicyMove){.state = POLICY_ACTIVE, .id = move.id};
    EXPECT_STATUS(policies_move(fixture.policies, id, POLICY_PENDING, &again, &reason), STATUS_OK);
    EXPECT_I64(again.time_us, move.time_us);
    EXPECT_I64(policies_fixture_read(id).facts.move_count, 2);
    again.id = policies_fixture_id();
    EXPECT_STATUS(policies_move(fixture.policies, id, POLICY_PENDING, &again, &reason),
                  STATUS_CONFLICT);
    policies_fixture_end();
}

TEST(times_increase_when_the_clock_steps_back)
{
    policies_fixture_begin();
    uint64_t id = policies_fixture_pending("Free buses");
    int64_t created_us = policies_fixture_read(id).facts.moves[0].time_us;
    test_world_step(&fixture.own, -300 * US_PER_S);
    EXPECT_STATUS(policies_fixture_move(id, POLICY_ACTIVE), STATUS_OK);
    EXPECT_I64(policies_fixture_read(id).facts.moves[1].time_us, created_us + 1);
    policies_fixture_end();
}

TEST(a_retirement_says_who_pays_and_in_favour_of_what)
{
    Reason reason = {.field = ""};
    policies_fixture_begin();
    uint64_t id = policies_fixture_active("Free buses"),
             other = policies_fixture_active("Free trams");
    uint64_t pending = policies_fixture_pending("Free trains");
    PolicyMove move = {.state = POLICY_RETIRED, .other = pending, .percent = 50};
    EXPECT_STATUS(policies_move(fixture.policies, id, POLICY_ACTIVE, &move, &reason),
                  STATUS_REFUSED);
    EXPECT_SLICE(slice_from(reason.field), SLICE("other"));
    move.other = 12345;
    EXPECT_STATUS(policies_move(fixture.policies, id, POLICY_ACTIVE, &move, &reason),
                  STATUS_REFUSED);
    move.other = id;
    EXPECT_STATUS(policies_move(fixture.policies, id, POLICY_ACTIVE, &move, &reason),
                  STATUS_INVALID);
    move.other = other;
    move.percent = 101;
    EXPECT_STATUS(policies_move(fixture.policies, id, POLICY_ACTIVE, &move, &reason),
                  STATUS_INVALID);
    move.percent = 50;
    EXPECT_STATUS(policies_move(fixture.policies, id, POLICY_ACTIVE, &move, &reason), STATUS_OK);
    const PolicyMove *stored = &policies_fixture_read(id).facts.moves[2];
    EXPECT_I64(stored->other, other);
    EXPECT_I64(stored->payer, POLICIES_FIXTURE_OWNER);
    EXPECT_I64(stored->percent, 50);
    EXPECT_I64(move.payer, POLICIES_FIXTURE_OWNER);
    policies_fixture_end();
}

TEST(a_reason_has_at_most_1000_characters)
{
    Reason reason = {.field = ""};
    char text[POLICY_REASON_MAX + 1];
    policies_fixture_begin();
    uint64_t id = policies_fixture_active("Free buses");
    memset(text, 'x', sizeof text);
    PolicyMove move = {.state = POLICY_PENDING_DELETION, .reason = slice_of(text, sizeof text)};
    EXPECT_STATUS(policies_move(fixture.policies, id, POLICY_ACTIVE, &move, &reason),
                  STATUS_INVALID);
    EXPECT_SLICE(slice_from(reason.field), SLICE("reason"));
    move.reason.size = POLICY_REASON_MAX;
    EXPECT_STATUS(policies_move(fixture.policies, id, POLICY_ACTIVE, &move, &reason), STATUS_OK);
    EXPECT_I64(policies_fixture_read(id).facts.moves[2].reason.size, POLICY_REASON_MAX);
    policies_fixture_end();
}

TEST(what_is_not_there_is_not_found)
{
    Reason reason;
    Policy policy;
    PolicyText text = policies_fixture_text("Free buses");
    PolicyMove move = {.state = POLICY_ACTIVE};
    PolicyRevision revision;
    policies_fixture_begin();
    EXPECT_STATUS(policies_read(fixture.policies, 77, fixture.arena, &policy), STATUS_NOT_FOUND);
    EXPECT_STATUS(policies_move(fixture.policies, 77, POLICY_PENDING, &move, &reason),
                  STATUS_NOT_FOUND);
    EXPECT_STATUS(policies_edit(fixture.policies, 77, policies_fixture_id(), &text, 1, &reason),
                  STATUS_NOT_FOUND);
    EXPECT_STATUS(policies_revision(fixture.policies, 77, 1, fixture.arena, &revision),
                  STATUS_NOT_FOUND);
    EXPECT_STATUS(policies_merge(fixture.policies, 77, 78, 1, SLICE_EMPTY, &reason),
                  STATUS_REFUSED);
    EXPECT_STATUS(policies_finish_merge(fixture.policies, 77), STATUS_NOT_FOUND);
    EXPECT_STATUS(policies_disown(fixture.policies, 77, 1), STATUS_NOT_FOUND);
    EXPECT_STATUS(policies_obliterate(fixture.policies, 77), STATUS_NOT_FOUND);
    policies_fixture_end();
}

/* ---- Editing ------------------------------------------------------------------------------------------------- */

TEST(edits_keep_revisions)
{
    Reason reason;
    PolicyRevision revision;
    PolicyText first = policies_fixture_text("Free buses"),
               second = policies_fixture_text("Free trams");
    policies_fixture_begin();
    uint64_t id = policies_fixture_active("Free buses");
    Policy policy = policies_fixture_read(id);
    second.link_count = 0;
    EXPECT_STATUS(policies_edit(fixture.policies, id, policy.version, &second, 9, &reason),
                  STATUS_OK);
    Policy edited = policies_fixture_read(id);
    expect_text(&edited.text, &second);
    EXPECT_I64(edited.revision, 2);
    EXPECT(!id_equal(edited.version, policy.version));
    EXPECT_STATUS(policies_revision(fixture.policies, id, 1, fixture.arena, &revision), STATUS_OK);
    expect_text(&revision.text, &first);
    EXPECT_I64(revision.editor, POLICIES_FIXTURE_OWNER);
    EXPECT(id_equal(revision.version, policy.version));
    int64_t first_us = revision.time_us;
    EXPECT_STATUS(policies_revision(fixture.policies, id, 2, fixture.arena, &revision), STATUS_OK);
    expect_text(&revision.text, &second);
    EXPECT_I64(revision.editor, 9);
    EXPECT(revision.time_us > first_us);
    EXPECT_STATUS(policies_revision(fixture.policies, id, 3, fixture.arena, &revision),
                  STATUS_NOT_FOUND);
    EXPECT_STATUS(policies_revision(fixture.policies, id, 0, fixture.arena, &revision),
                  STATUS_NOT_FOUND);
    policies_fixture_end();
}

TEST(two_editors_on_one_version_one_stands)
{
    Reason reason;
    PolicyText mine = policies_fixture_text("Mine"), yours = policies_fixture_text("Yours");
    policies_fixture_begin();
    uint64_t id = policies_fixture_active("Free buses");
    Id seen = policies_fixture_read(id).version;
    EXPECT_STATUS(policies_edit(fixture.policies, id, seen, &mine, 1, &reason), STATUS_OK);
    EXPECT_STATUS(policies_edit(fixture.policies, id, seen, &yours, 2, &reason), STATUS_CONFLICT);
    EXPECT_STATUS(policies_edit(fixture.policies, id, seen, &mine, 1, &reason), STATUS_OK);
    Policy policy = policies_fixture_read(id);
    EXPECT_SLICE(policy.text.name, SLICE("Mine"));
    EXPECT_I64(policy.revision, 2);
    policies_fixture_end();
}

TEST(only_active_and_merging_policies_are_edited)
{
    Reason reason;
    PolicyText text = policies_fixture_text("Free trams");
    policies_fixture_begin();
    uint64_t id = policies_fixture_pending("Free buses");
    static const PolicyState life[] = {POLICY_PENDING, POLICY_ACTIVE, POLICY_RETIRED,
                                       POLICY_PENDING_DELETION, POLICY_DELETED};
    for (size_t i = 0; i < sizeof life / sizeof life[0]; i++) {
        if (i > 0)
            EXPECT_STATUS(policies_fixture_move(id, life[i]), STATUS_OK);
        EXPECT_STATUS(policies_edit(fixture.policies, id, policies_fixture_read(id).version, &text,
                                    1, &reason),
                      life[i] == POLICY_ACTIVE ? STATUS_OK : STATUS_REFUSED);
    }
    policies_fixture_end();
}

TEST(revisions_are_bounded)
{
    Reason reason = {.field = ""};
    policies_fixture_begin();
    uint64_t id = policies_fixture_active("Number 1");
    for (int i = 2; i <= POLICY_REVISIONS_MAX + 1; i++) {
        char name[20];
        snprintf(name, sizeof name, "Number %d", i);
        PolicyText text = policies_fixture_text(name);
        EXPECT_STATUS(policies_edit(fixture.policies, id, policies_fixture_read(id).version, &text,
                                    1, &reason),
                      i <= POLICY_REVISIONS_MAX ? STATUS_OK : STATUS_REFUSED);
    }
    EXPECT_SLICE(slice_from(reason.field), SLICE("text"));
    EXPECT_STATUS(policies_fixture_move(id, POLICY_PENDING_DELETION), STATUS_OK);
    EXPECT_STATUS(policies_fixture_move(id, POLICY_DELETED), STATUS_OK);
    EXPECT_STATUS(policies_obliterate(fixture.policies, id), STATUS_OK);
    policies_fixture_end();
}

/* ---- The end ------------------------------------------------------------------------------------------------- */

TEST(a_disowned_policy_has_no_owner_and_keeps_its_origin)
{
    policies_fixture_begin();
    uint64_t id = policies_fixture_active("Free buses");
    EXPECT_STATUS(policies_disown(fixture.policies, id, POLICIES_FIXTURE_OWNER + 1), STATUS_OK);
    EXPECT_I64(policies_fixture_read(id).owner, POLICIES_FIXTURE_OWNER);
    EXPECT_STATUS(policies_disown(fixture.policies, id, POLICIES_FIXTURE_OWNER), STATUS_OK);
    EXPECT_STATUS(policies_disown(fixture.policies, id, POLICIES_FIXTURE_OWNER), STATUS_OK);
    EXPECT_I64(policies_fixture_read(id).owner, 0);
    EXPECT_I64(policies_fixture_read(id).creator, POLICIES_FIXTURE_OWNER);
    EXPECT_STATUS(policies_fixture_move(id, POLICY_RETIRED), STATUS_OK);
    EXPECT_I64(policies_fixture_read(id).facts.moves[2].payer, 0);
    policies_fixture_end();
}

static bool is_stored(const char *words)
{
    Slice where;
    EXPECT_STATUS(
        stored_words_find(fixture.store, test_vault(), slice_from(words), fixture.arena, &where),
        STATUS_OK);
    return where.size > 0;
}

TEST(obliterating_removes_texts_names_and_reasons_and_leaves_the_moves)
{
    static const char *const WORDS[] = {"secret one",  "secret two", "secret three", "secret four",
                                        "secret-five", "secret six", "secret seven"};
    enum { WORD_COUNT = sizeof WORDS / sizeof WORDS[0] };
    Reason reason;
    PolicyRevision revision;
    PolicyText text = policies_fixture_text("Secret two");
    text.description = SLICE("A secret three.");
    text.rationale = SLICE("A secret four.");
    text.links[0] = SLICE("https://example.org/secret-five");
    policies_fixture_begin();
    uint64_t id = policies_fixture_active("Secret one"), other = policies_fixture_active("Trams");
    fixture.faulty.loses_plain = true; /* the name that it had stays in the lists */
    Status edited =
        policies_edit(fixture.policies, id, policies_fixture_read(id).version, &text, 1, &reason);
    fixture.faulty.loses_plain = false;
    EXPECT_STATUS(edited, STATUS_OK);
    AnswerRequest answer = {.outcome = OUTCOME_DONE, .text = SLICE("Secret six.")};
    EXPECT_STATUS(answers_give(fixture.policies, id, &answer, &reason), STATUS_OK);
    EXPECT_STATUS(policies_merge(fixture.policies, other, id, POLICIES_FIXTURE_ACTOR,
                                 SLICE("A secret seven."), &reason),
                  STATUS_OK);
    EXPECT_STATUS(policies_obliterate(fixture.policies, id), STATUS_REFUSED);
    EXPECT_STATUS(policies_fixture_move(id, POLICY_PENDING_DELETION), STATUS_OK);
    EXPECT_STATUS(policies_obliterate(fixture.policies, id), STATUS_REFUSED);
    EXPECT_STATUS(policies_fixture_move(id, POLICY_DELETED), STATUS_OK);
    for (size_t i = 0; i < WORD_COUNT; i++)
        EXPECT(is_stored(WORDS[i]));
    EXPECT_STATUS(policies_obliterate(fixture.policies, id), STATUS_OK);
    EXPECT_STATUS(policies_obliterate(fixture.policies, id), STATUS_OK);
    for (size_t i = 0; i < WORD_COUNT; i++)
        EXPECT(!is_stored(WORDS[i]));
    Policy policy = policies_fixture_read(id);
    EXPECT_I64(policy.revision, 0);
    EXPECT_I64(policy.text.name.size, 0);
    EXPECT_I64(policy.facts.move_count, 4);
    for (size_t i = 0; i < policy.facts.move_count; i++)
        EXPECT_I64(policy.facts.moves[i].reason.size, 0);
    EXPECT_I64(policy.creator, POLICIES_FIXTURE_OWNER);
    for (uint32_t i = 0; i <= 2; i++)
        EXPECT_STATUS(policies_revision(fixture.policies, id, i, fixture.arena, &revision),
                      STATUS_NOT_FOUND);
    EXPECT_STATUS(policies_edit(fixture.policies, id, policy.version, &text, 1, &reason),
                  STATUS_REFUSED);
    policies_fixture_check(id, id);
    policies_fixture_end();
}

TEST(a_void_policy_is_obliterated_too)
{
    policies_fixture_begin();
    uint64_t id = policies_fixture_pending("Secret one");
    EXPECT_STATUS(policies_fixture_move(id, POLICY_VOID), STATUS_OK);
    EXPECT_STATUS(policies_obliterate(fixture.policies, id), STATUS_OK);
    EXPECT(!is_stored("Secret one"));
    policies_fixture_end();
}

/* ---- All of them --------------------------------------------------------------------------------------------- */

enum { MANY = 700 };

TEST(the_list_has_each_policy_once)
{
    char seen[MANY + 1] = {0};
    policies_fixture_begin();
    for (int i = 0; i < MANY; i++)
        (void)policies_fixture_pending("Free buses");
    Slice position = SLICE_EMPTY;
    bool more = true;
    int pages = 0;
    for (; more; pages++) {
        Policy *list;
        size_t count;
        EXPECT_STATUS(policies_list(fixture.policies, position, fixture.arena, &list, &count,
                                    &position, &more),
                      STATUS_OK);
        for (size_t i = 0; i < count; i++) {
            EXPECT(list[i].id >= 1 && list[i].id <= MANY);
            seen[list[i].id]++;
        }
    }
    EXPECT(pages > 1);
    for (int i = 1; i <= MANY; i++)
        EXPECT_I64(seen[i], 1);
    policies_fixture_end();
}

/* ---- Facts --------------------------------------------------------------------------------------------------- */

static PolicyState seen_by(Policies *policies, uint64_t id)
{
    PoliciesReader reader = {.policies = policies, .arena = fixture.arena};
    PolicyLookup lookup = policies_lookup(&reader);
    const PolicyFacts *facts = lookup.find(lookup.self, id);
    EXPECT_STATUS(reader.failed, STATUS_OK);
    return facts == NULL ? POLICY_STATE_COUNT : facts->moves[facts->move_count - 1].state;
}

TEST(own_moves_are_seen_at_once_and_those_of_others_in_time)
{
    policies_fixture_begin();
    Policies *other = policies_fixture_instance();
    uint64_t id = policies_fixture_pending("Free buses");
    EXPECT_I64(seen_by(other, id), POLICY_PENDING);
    EXPECT_STATUS(policies_fixture_move(id, POLICY_ACTIVE), STATUS_OK);
    EXPECT_I64(seen_by(fixture.policies, id), POLICY_ACTIVE);
    EXPECT_I64(seen_by(other, id), POLICY_PENDING);
    test_world_pass(&fixture.own, POLICIES_FIXTURE_CACHE_S * US_PER_S);
    EXPECT_I64(seen_by(other, id), POLICY_ACTIVE);
    EXPECT_STATUS(policies_fixture_move(id, POLICY_RETIRED), STATUS_OK);
    EXPECT_I64(seen_by(other, id), POLICY_ACTIVE);
    policies_forget(other, id);
    EXPECT_I64(seen_by(other, id), POLICY_RETIRED);
    policies_free(other);
    policies_fixture_end();
}

TEST(a_book_gives_the_same_answer_each_time)
{
    policies_fixture_begin();
    PoliciesReader reader = {.policies = fixture.policies, .arena = fixture.arena};
    PolicyLookup lookup = policies_lookup(&reader);
    uint64_t first = policies_fixture_pending("Free buses");
    const PolicyFacts *before = lookup.find(lookup.self, first);
    EXPECT(before != NULL && lookup.find(lookup.self, 5000) == NULL);
    EXPECT_STATUS(policies_fixture_move(first, POLICY_ACTIVE), STATUS_OK);
    for (uint64_t id = 6000; id < 6500; id++)
        EXPECT(lookup.find(lookup.self, id) == NULL);
    EXPECT_I64(before->move_count, 1);
    EXPECT_I64(lookup.find(lookup.self, first)->move_count, 1);
    EXPECT(lookup.find(lookup.self, 0) == NULL);
    policies_fixture_end();
}

TEST(a_book_says_when_it_could_not_read)
{
    policies_fixture_begin();
    uint64_t id = policies_fixture_pending("Free buses");
    policies_fixture_restart();
    PoliciesReader reader = {.policies = fixture.policies, .arena = fixture.arena};
    PolicyLookup lookup = policies_lookup(&reader);
    EXPECT(lookup.find(lookup.self, 5000) == NULL);
    EXPECT_STATUS(reader.failed, STATUS_OK);
    faulty_plan(&fixture.faulty, 1, FAULT_REFUSED, FAULT_ONCE);
    EXPECT(lookup.find(lookup.self, id) == NULL);
    EXPECT_STATUS(reader.failed, STATUS_UNAVAILABLE);
    EXPECT(lookup.find(lookup.self, id) == NULL);
    policies_fixture_end();
}
