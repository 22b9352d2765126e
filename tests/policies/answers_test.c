/* answers_test.c -- official answers: who stands, what stays, and what is noted once. */
#include "policies/answers.h"

#include "stage.h"

enum { AUTHOR = 9 };

static AnswerState read_state(uint64_t policy)
{
    AnswerState state = {.is_due = true};
    EXPECT_STATUS(answers_read(stage.policies, policy, stage.arena, &state), STATUS_OK);
    return state;
}

static Status give(uint64_t policy, Id seen, AnswerOutcome outcome, const char *text)
{
    Reason reason = {.rule = ""};
    AnswerWish wish = {
        .seen = seen, .outcome = outcome, .text = slice_from(text), .author = AUTHOR};
    Status status = answers_give(stage.policies, policy, &wish, &reason);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        EXPECT(reason.rule[0] != '\0');
    return status;
}

static const Id NOTHING = {{0}};

TEST(an_answer_is_changed_by_another_and_the_first_stays)
{
    stage_begin();
    uint64_t policy = stage_active("Free buses");
    EXPECT(!read_state(policy).is_answered && !read_state(policy).is_due);
    EXPECT_STATUS(give(policy, NOTHING, OUTCOME_CONSIDERING, "We look at it."), STATUS_OK);
    Answer first = read_state(policy).answer;
    EXPECT_I64(first.revision, 1);
    EXPECT_I64(first.author, AUTHOR);
    EXPECT_I64(first.time_us, clock_now_us(stage.world.clock));
    EXPECT_STATUS(give(policy, first.version, OUTCOME_ACCEPTED, "We do it."), STATUS_OK);
    Answer second = read_state(policy).answer;
    EXPECT_I64(second.revision, 2);
    EXPECT_I64(second.outcome, OUTCOME_ACCEPTED);
    EXPECT_SLICE(second.text, SLICE("We do it."));
    EXPECT(second.time_us > first.time_us);
    EXPECT_I64(second.first_us, first.time_us);
    Answer old;
    EXPECT_STATUS(answers_revision(stage.policies, policy, 1, stage.arena, &old), STATUS_OK);
    EXPECT_SLICE(old.text, SLICE("We look at it."));
    EXPECT_STATUS(answers_revision(stage.policies, policy, 2, stage.arena, &old), STATUS_OK);
    EXPECT_SLICE(old.text, SLICE("We do it."));
    EXPECT_STATUS(answers_revision(stage.policies, policy, 3, stage.arena, &old), STATUS_NOT_FOUND);
    EXPECT_STATUS(answers_revision(stage.policies, policy, 0, stage.arena, &old), STATUS_NOT_FOUND);
    stage_end();
}

TEST(of_two_answers_to_one_version_one_stands)
{
    stage_begin();
    uint64_t policy = stage_active("Free buses");
    EXPECT_STATUS(give(policy, NOTHING, OUTCOME_NONE, "One."), STATUS_OK);
    EXPECT_STATUS(give(policy, NOTHING, OUTCOME_NONE, "Two."), STATUS_CONFLICT);
    EXPECT_STATUS(give(policy, NOTHING, OUTCOME_NONE, "One."),
                  STATUS_OK); /* the form, sent twice */
    EXPECT_I64(read_state(policy).answer.revision, 1);
    EXPECT_STATUS(give(policy, stage_id(), OUTCOME_DONE, "One."), STATUS_CONFLICT);
    EXPECT_SLICE(read_state(policy).answer.text, SLICE("One."));
    stage_end();
}

TEST(what_is_not_an_answer_is_refused)
{
    stage_begin();
    uint64_t policy = stage_active("Free buses"), pending = stage_pending("Free trams");
    char *long_text = arena_alloc(stage.arena, ANSWER_MOST + 2);
    memset(long_text, 'x', ANSWER_MOST + 1);
    long_text[ANSWER_MOST + 1] = '\0';
    EXPECT_STATUS(give(policy, NOTHING, OUTCOME_NONE, ""), STATUS_INVALID);
    EXPECT_STATUS(give(policy, NOTHING, OUTCOME_NONE, " \n "), STATUS_INVALID);
    EXPECT_STATUS(give(policy, NOTHING, OUTCOME_NONE, "a\x01z"), STATUS_INVALID);
    EXPECT_STATUS(give(policy, NOTHING, OUTCOME_COUNT, "Yes."), STATUS_INVALID);
    EXPECT_STATUS(give(policy, NOTHING, OUTCOME_NONE, long_text), STATUS_INVALID);
    EXPECT_STATUS(give(policy, NOTHING, OUTCOME_NONE, long_text + 1), STATUS_OK);
    EXPECT_STATUS(give(pending, NOTHING, OUTCOME_NONE, "Yes."), STATUS_REFUSED);
    EXPECT_STATUS(give(4711, NOTHING, OUTCOME_NONE, "Yes."), STATUS_NOT_FOUND);
    EXPECT_STATUS(stage_move(policy, POLICY_PENDING_DELETION), STATUS_OK);
    EXPECT_STATUS(give(policy, NOTHING, OUTCOME_NONE, "Yes."), STATUS_REFUSED);
    stage_end();
}

TEST(that_one_is_due_is_noted_once)
{
    stage_begin();
    uint64_t policy = stage_active("Free buses");
    EXPECT_STATUS(answers_note_due(stage.policies, policy, 1000), STATUS_OK);
    int64_t then_us = clock_now_us(stage.world.clock);
    test_world_pass(&stage.own, 60 * US_PER_S);
    Policies *other = stage_instance();
    EXPECT_STATUS(answers_note_due(other, policy, 2000), STATUS_OK);
    AnswerState state = read_state(policy);
    EXPECT(state.is_due && !state.is_told && !state.is_answered);
    EXPECT_I64(state.due_votes, 1000);
    EXPECT_I64(state.due_us, then_us);
    EXPECT_STATUS(answers_note_told(other, policy), STATUS_OK);
    EXPECT_STATUS(answers_note_told(stage.policies, policy), STATUS_OK);
    EXPECT(read_state(policy).is_told);
    policies_free(other);
    stage_end();
}

TEST(the_newest_answers_are_found)
{
    stage_begin();
    uint64_t ids[4];
    for (int i = 0; i < 4; i++)
        ids[i] = stage_active("Free buses");
    for (int i = 0; i < 3; i++) {
        test_world_pass(&stage.own, US_PER_S);
        EXPECT_STATUS(give(ids[i], NOTHING, OUTCOME_NONE, "One."), STATUS_OK);
    }
    test_world_pass(&stage.own, US_PER_S);
    EXPECT_STATUS(give(ids[0], read_state(ids[0]).answer.version, OUTCOME_DONE, "Done."),
                  STATUS_OK);
    AnswerNews news[4];
    EXPECT_STATUS(answers_news(stage.policies, ids, 4, stage.arena, news), STATUS_OK);
    EXPECT_I64(news[0].revision, 2);
    EXPECT_I64(news[1].revision, 1);
    EXPECT_I64(news[1].author, AUTHOR);
    EXPECT_I64(news[3].revision, 0);
    RecentAnswer recent[3];
    size_t count = 0;
    EXPECT_STATUS(answers_recent(stage.policies, 3, stage.arena, recent, &count), STATUS_OK);
    EXPECT_I64(count, 3); /* each policy once, by its last answer */
    EXPECT_I64(recent[0].policy, ids[0]);
    EXPECT_SLICE(recent[0].answer.text, SLICE("Done."));
    EXPECT_I64(recent[1].policy, ids[2]);
    EXPECT_I64(recent[2].policy, ids[1]);
    EXPECT_STATUS(answers_recent(stage.policies, 1, stage.arena, recent, &count), STATUS_OK);
    EXPECT_I64(count, 1);
    stage_end();
}

TEST(answers_go_with_the_text)
{
    stage_begin();
    uint64_t policy = stage_active("Free buses");
    Answer old;
    EXPECT_STATUS(give(policy, NOTHING, OUTCOME_NONE, "One."), STATUS_OK);
    EXPECT_STATUS(give(policy, read_state(policy).answer.version, OUTCOME_NONE, "Two."), STATUS_OK);
    EXPECT_STATUS(answers_note_due(stage.policies, policy, 5), STATUS_OK);
    EXPECT_STATUS(stage_move(policy, POLICY_PENDING_DELETION), STATUS_OK);
    EXPECT_STATUS(stage_move(policy, POLICY_DELETED), STATUS_OK);
    EXPECT(read_state(policy).is_answered);
    EXPECT_STATUS(policies_obliterate(stage.policies, policy), STATUS_OK);
    EXPECT_STATUS(policies_obliterate(stage.policies, policy), STATUS_OK);
    EXPECT(!read_state(policy).is_answered);
    EXPECT_STATUS(answers_revision(stage.policies, policy, 1, stage.arena, &old), STATUS_NOT_FOUND);
    AnswerNews news;
    RecentAnswer recent;
    size_t count = 1;
    EXPECT_STATUS(answers_news(stage.policies, &policy, 1, stage.arena, &news), STATUS_OK);
    EXPECT_I64(news.revision, 0);
    EXPECT_STATUS(answers_recent(stage.policies, 1, stage.arena, &recent, &count), STATUS_OK);
    EXPECT_I64(count, 0);
    ScanPage page;
    EXPECT_STATUS(store_scan(stage.store, &TABLE_ANSWERS, SLICE_EMPTY, 1000, stage.arena, &page),
                  STATUS_OK);
    for (size_t i = 0; i < page.count; i++)
        for (size_t at = 0; at + 4 <= page.cells[i].cell.value.size; at++)
            EXPECT(memcmp(page.cells[i].cell.value.data + at, "One.", 4) != 0 &&
                   memcmp(page.cells[i].cell.value.data + at, "Two.", 4) != 0);
    stage_end();
}
