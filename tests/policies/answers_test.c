/* answers_test.c -- official answers: who stands, what stays, and what is noted once. */
#include "policies/answers.h"

#include "policies_fixture.h"

enum { AUTHOR = 9 };

static AnswerState read_state(uint64_t policy)
{
    AnswerState state = {.is_due = true};
    EXPECT_STATUS(answers_read(fixture.policies, policy, fixture.arena, &state), STATUS_OK);
    return state;
}

static Status give(uint64_t policy, Id seen, AnswerOutcome outcome, const char *text)
{
    Reason reason = {.rule = ""};
    AnswerRequest want = {
        .seen = seen, .outcome = outcome, .text = slice_from(text), .author = AUTHOR};
    Status status = answers_give(fixture.policies, policy, &want, &reason);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        EXPECT(reason.rule[0] != '\0');
    return status;
}

static const Id NOTHING = {{0}};

TEST(an_answer_is_changed_by_another_and_the_first_stays)
{
    policies_fixture_begin();
    uint64_t policy = policies_fixture_active("Free buses");
    EXPECT(!read_state(policy).is_answered && !read_state(policy).is_due);
    EXPECT_STATUS(give(policy, NOTHING, OUTCOME_CONSIDERING, "We look at it."), STATUS_OK);
    Answer first = read_state(policy).answer;
    EXPECT_I64(first.revision, 1);
    EXPECT_I64(first.author, AUTHOR);
    EXPECT_I64(first.time_us, clock_now_us(fixture.world.clock));
    EXPECT_STATUS(give(policy, first.version, OUTCOME_ACCEPTED, "We do it."), STATUS_OK);
    Answer second = read_state(policy).answer;
    EXPECT_I64(second.revision, 2);
    EXPECT_I64(second.outcome, OUTCOME_ACCEPTED);
    EXPECT_SLICE(second.text, SLICE("We do it."));
    EXPECT(second.time_us > first.time_us);
    EXPECT_I64(second.first_us, first.time_us);
    Answer old;
    EXPECT_STATUS(answers_revision(fixture.policies, policy, 1, fixture.arena, &old), STATUS_OK);
    EXPECT_SLICE(old.text, SLICE("We look at it."));
    EXPECT_STATUS(answers_revision(fixture.policies, policy, 2, fixture.arena, &old), STATUS_OK);
    EXPECT_SLICE(old.text, SLICE("We do it."));
    EXPECT_STATUS(answers_revision(fixture.policies, policy, 3, fixture.arena, &old),
                  STATUS_NOT_FOUND);
    EXPECT_STATUS(answers_revision(fixture.policies, policy, 0, fixture.arena, &old),
                  STATUS_NOT_FOUND);
    policies_fixture_end();
}

TEST(of_two_answers_to_one_version_one_stands)
{
    policies_fixture_begin();
    uint64_t policy = policies_fixture_active("Free buses");
    EXPECT_STATUS(give(policy, NOTHING, OUTCOME_NONE, "One."), STATUS_OK);
    EXPECT_STATUS(give(policy, NOTHING, OUTCOME_NONE, "Two."), STATUS_CONFLICT);
    EXPECT_STATUS(give(policy, NOTHING, OUTCOME_NONE, "One."),
                  STATUS_OK); /* the form, sent twice */
    EXPECT_I64(read_state(policy).answer.revision, 1);
    EXPECT_STATUS(give(policy, policies_fixture_id(), OUTCOME_DONE, "One."), STATUS_CONFLICT);
    EXPECT_SLICE(read_state(policy).answer.text, SLICE("One."));
    policies_fixture_end();
}

TEST(what_is_not_an_answer_is_refused)
{
    policies_fixture_begin();
    uint64_t policy = policies_fixture_active("Free buses"),
             pending = policies_fixture_pending("Free trams");
    char *long_text = arena_alloc(fixture.arena, ANSWER_MAX + 2);
    memset(long_text, 'x', ANSWER_MAX + 1);
    long_text[ANSWER_MAX + 1] = '\0';
    EXPECT_STATUS(give(policy, NOTHING, OUTCOME_NONE, ""), STATUS_INVALID);
    EXPECT_STATUS(give(policy, NOTHING, OUTCOME_NONE, " \n "), STATUS_INVALID);
    EXPECT_STATUS(give(policy, NOTHING, OUTCOME_NONE, "a\x01z"), STATUS_INVALID);
    EXPECT_STATUS(give(policy, NOTHING, OUTCOME_COUNT, "Yes."), STATUS_INVALID);
    EXPECT_STATUS(give(policy, NOTHING, OUTCOME_NONE, long_text), STATUS_INVALID);
    EXPECT_STATUS(give(policy, NOTHING, OUTCOME_NONE, long_text + 1), STATUS_OK);
    EXPECT_STATUS(give(pending, NOTHING, OUTCOME_NONE, "Yes."), STATUS_REFUSED);
    EXPECT_STATUS(give(4711, NOTHING, OUTCOME_NONE, "Yes."), STATUS_NOT_FOUND);
    EXPECT_STATUS(policies_fixture_move(policy, POLICY_PENDING_DELETION), STATUS_OK);
    EXPECT_STATUS(give(policy, NOTHING, OUTCOME_NONE, "Yes."), STATUS_REFUSED);
    policies_fixture_end();
}

TEST(that_one_is_due_is_noted_once)
{
    policies_fixture_begin();
    uint64_t policy = policies_fixture_active("Free buses");
    EXPECT_STATUS(answers_note_due(fixture.policies, policy, 1000), STATUS_OK);
    int64_t then_us = clock_now_us(fixture.world.clock);
    test_world_pass(&fixture.own, 60 * US_PER_S);
    Policies *other = policies_fixture_instance();
    EXPECT_STATUS(answers_note_due(other, policy, 2000), STATUS_OK);
    AnswerState state = read_state(policy);
    EXPECT(state.is_due && !state.is_told && !state.is_answered);
    EXPECT_I64(state.due_votes, 1000);
    EXPECT_I64(state.due_us, then_us);
    EXPECT_STATUS(answers_note_told(other, policy), STATUS_OK);
    EXPECT_STATUS(answers_note_told(fixture.policies, policy), STATUS_OK);
    EXPECT(read_state(policy).is_told);
    policies_free(other);
    policies_fixture_end();
}

TEST(the_newest_answers_are_found)
{
    policies_fixture_begin();
    uint64_t ids[4];
    for (int i = 0; i < 4; i++)
        ids[i] = policies_fixture_active("Free buses");
    for (int i = 0; i < 3; i++) {
        test_world_pass(&fixture.own, US_PER_S);
        EXPECT_STATUS(give(ids[i], NOTHING, OUTCOME_NONE, "One."), STATUS_OK);
    }
    test_world_pass(&fixture.own, US_PER_S);
    EXPECT_STATUS(give(ids[0], read_state(ids[0]).answer.version, OUTCOME_DONE, "Done."),
                  STATUS_OK);
    AnswerNews news[4];
    EXPECT_STATUS(answers_news(fixture.policies, ids, 4, fixture.arena, news), STATUS_OK);
    EXPECT_I64(news[0].revision, 2);
    EXPECT_I64(news[1].revision, 1);
    EXPECT_I64(news[1].author, AUTHOR);
    EXPECT_I64(news[3].revision, 0);
    RecentAnswer recent[3];
    size_t count = 0;
    EXPECT_STATUS(answers_recent(fixture.policies, 3, fixture.arena, recent, &count), STATUS_OK);
    EXPECT_I64(count, 3); /* each policy once, by its last answer */
    EXPECT_I64(recent[0].policy, ids[0]);
    EXPECT_SLICE(recent[0].answer.text, SLICE("Done."));
    EXPECT_I64(recent[1].policy, ids[2]);
    EXPECT_I64(recent[2].policy, ids[1]);
    EXPECT_STATUS(answers_recent(fixture.policies, 1, fixture.arena, recent, &count), STATUS_OK);
    EXPECT_I64(count, 1);
    policies_fixture_end();
}

TEST(answers_go_with_the_text)
{
    policies_fixture_begin();
    uint64_t policy = policies_fixture_active("Free buses");
    Answer old;
    EXPECT_STATUS(give(policy, NOTHING, OUTCOME_NONE, "One."), STATUS_OK);
    EXPECT_STATUS(give(policy, read_state(policy).answer.version, OUTCOME_NONE, "Two."), STATUS_OK);
    EXPECT_STATUS(answers_note_due(fixture.policies, policy, 5), STATUS_OK);
    EXPECT_STATUS(policies_fixture_move(policy, POLICY_PENDING_DELETION), STATUS_OK);
    EXPECT_STATUS(policies_fixture_move(policy, POLICY_DELETED), STATUS_OK);
    EXPECT(read_state(policy).is_answered);
    EXPECT_STATUS(policies_obliterate(fixture.policies, policy), STATUS_OK);
    EXPECT_STATUS(policies_obliterate(fixture.policies, policy), STATUS_OK);
    EXPECT(!read_state(policy).is_answered);
    EXPECT_STATUS(answers_revision(fixture.policies, policy, 1, fixture.arena, &old),
                  STATUS_NOT_FOUND);
    AnswerNews news;
    RecentAnswer recent;
    size_t count = 1;
    EXPECT_STATUS(answers_news(fixture.policies, &policy, 1, fixture.arena, &news), STATUS_OK);
    EXPECT_I64(news.revision, 0);
    EXPECT_STATUS(answers_recent(fixture.policies, 1, fixture.arena, &recent, &count), STATUS_OK);
    EXPECT_I64(count, 0);
    ScanPage page;
    EXPECT_STATUS(
        store_scan(fixture.store, &TABLE_ANSWERS, SLICE_EMPTY, 1000, fixture.arena, &page),
        STATUS_OK);
    for (size_t i = 0; i < page.count; i++)
        for (size_t at = 0; at + 4 <= page.cells[i].cell.value.size; at++)
            EXPECT(memcmp(page.cells[i].cell.value.data + at, "One.", 4) != 0 &&
                   memcmp(page.cells[i].cell.value.data + at, "Two.", 4) != 0);
    policies_fixture_end();
}
