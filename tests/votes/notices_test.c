/* notices_test.c -- who is told of what, and what is dismissed. */
#include "votes/notices.h"

#include "ledger_fixture.h"
#include "policies/answers.h"

static PolicyNotice *notices;

static size_t list(uint64_t account)
{
    size_t count = 0;
    EXPECT_STATUS(notices_list(fixture.votes, account, fixture.arena, &notices, &count), STATUS_OK);
    return count;
}

static void edit(uint64_t policy, uint64_t editor, const char *name)
{
    Policy now;
    Reason reason = {.rule = ""};
    EXPECT_STATUS(policies_fresh(fixture.policies, policy, fixture.arena, &now), STATUS_OK);
    now.text.name = slice_from(name);
    EXPECT_STATUS(policies_edit(fixture.policies, policy, now.version, &now.text, editor, &reason),
                  STATUS_OK);
}

static void pass(void)
{
    test_world_pass(&fixture.own, US_PER_S);
}

TEST(voters_watchers_and_owners_are_told_and_nobody_else)
{
    ledger_fixture_begin();
    uint64_t owner = ledger_fixture_voter("owner"), voter = ledger_fixture_voter("voter"),
             watcher = ledger_fixture_voter("watcher"), other = ledger_fixture_voter("other");
    uint64_t policy = ledger_fixture_policy(owner, "Clean rivers");
    ledger_fixture_save(owner, policy, 0); /* owns it, holds nothing */
    ledger_fixture_save(voter, policy, 5);
    EXPECT_STATUS(accounts_watch(fixture.accounts, watcher, policy, true), STATUS_OK);
    EXPECT_I64(list(voter), 0);
    pass();
    ledger_fixture_move(policy, POLICY_PENDING_DELETION);
    const uint64_t told[] = {owner, voter, watcher};
    for (int i = 0; i < 3; i++) {
        EXPECT_I64(list(told[i]), 1);
        EXPECT_I64(notices[0].kind, NOTICE_HIDDEN);
        EXPECT_I64(notices[0].policy, policy);
        EXPECT_SLICE(notices[0].name, SLICE("Clean rivers"));
        EXPECT_SLICE(notices[0].reason, SLICE("because"));
        EXPECT_I64(notices[0].time_us, clock_now_us(fixture.world.clock));
    }
    EXPECT_I64(list(other), 0);
    EXPECT_STATUS(notices_list(fixture.votes, 999, fixture.arena, &notices, &(size_t){0}),
                  STATUS_NOT_FOUND);
    ledger_fixture_end();
}

TEST(each_kind_of_move_is_told_by_its_own_word)
{
    ledger_fixture_begin();
    uint64_t owner = ledger_fixture_voter("owner"), voter = ledger_fixture_voter("voter");
    ledger_fixture_pass_days(60);
    uint64_t source = ledger_fixture_policy(owner, "Source"),
             target = ledger_fixture_policy(owner, "Target");
    Reason reason = {.rule = ""};
    ledger_fixture_save(voter, source, 5);
    pass();
    ledger_fixture_move(source, POLICY_PENDING_DELETION);
    pass();
    ledger_fixture_move(source, POLICY_ACTIVE);
    pass();
    EXPECT_STATUS(policies_merge(fixture.policies, source, target, 0, SLICE("the same"), &reason),
                  STATUS_OK);
    pass();
    edit(target, owner, "Target, clearer");
    pass();
    ledger_fixture_move(target, POLICY_RETIRED);
    pass();
    ledger_fixture_move(target, POLICY_PENDING_DELETION);
    pass();
    ledger_fixture_move(target, POLICY_DELETED);
    /* The votes went from the source to the target, and so does the news. */
    static const NoticeKind KINDS[] = {NOTICE_DELETED, NOTICE_HIDDEN, NOTICE_RETIRED,
                                       NOTICE_EDITED,  NOTICE_MERGED, NOTICE_RESTORED,
                                       NOTICE_HIDDEN};
    EXPECT_I64(list(voter), 7);
    for (int i = 0; i < 7; i++) {
        EXPECT_I64(notices[i].kind, KINDS[i]);
        EXPECT_I64(notices[i].policy, i < 4 ? target : source);
        EXPECT(notice_kind_name(KINDS[i])[0] != '\0' && notice_kind_text(KINDS[i])[0] != '\0');
    }
    EXPECT_I64(notices[4].other, target);
    EXPECT_SLICE(notices[4].reason, SLICE("the same"));
    EXPECT_I64(notices[3].actor, owner);
    /* The owner made the edit, and is told of the rest. */
    EXPECT_I64(list(owner), 6);
    ledger_fixture_end();
}

TEST(a_notice_is_dismissed_once_and_for_all)
{
    ledger_fixture_begin();
    uint64_t owner = ledger_fixture_voter("owner"), voter = ledger_fixture_voter("voter");
    uint64_t policy = ledger_fixture_policy(owner, "Policy");
    ledger_fixture_save(voter, policy, 5);
    pass();
    edit(policy, owner, "Policy 2");
    pass();
    ledger_fixture_move(policy, POLICY_PENDING_DELETION);
    EXPECT_I64(list(voter), 2);
    Slice hidden = notices[0].key, edited = notices[1].key;
    EXPECT_STATUS(notices_dismiss(fixture.votes, voter, edited), STATUS_OK);
    EXPECT_STATUS(notices_dismiss(fixture.votes, voter, edited), STATUS_OK);
    EXPECT_I64(list(voter), 1);
    EXPECT_SLICE(notices[0].key, hidden);
    EXPECT_I64(list(owner), 1); /* dismissed by another */
    ledger_fixture_restart();
    EXPECT_I64(list(voter), 1);
    pass();
    ledger_fixture_move(policy, POLICY_ACTIVE);
    EXPECT_I64(list(voter), 2);
    int64_t newest_us = notices[0].time_us;
    pass();
    edit(policy, owner, "Policy 3");
    EXPECT_STATUS(notices_dismiss_all(fixture.votes, voter, newest_us), STATUS_OK);
    EXPECT_I64(list(voter), 1); /* what came since */
    EXPECT_I64(notices[0].kind, NOTICE_EDITED);
    EXPECT_STATUS(notices_dismiss(fixture.votes, voter, notices[0].key), STATUS_OK);
    EXPECT_I64(list(voter), 0);
    static const char *const BAD[] = {"",
                                      "all",
                                      "1",
                                      "1-",
                                      "1-m",
                                      "1-x3",
                                      "1-a01",
                                      "-m1",
                                      "a-m1",
                                      "1-m1x",
                                      "01-m1",
                                      "1-m01",
                                      "1-m1-",
                                      "99999999999999999999-m1",
                                      "1-m1234567890123456789012345678901234567890"};
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++)
        EXPECT_STATUS(notices_dismiss(fixture.votes, voter, slice_from(BAD[i])), STATUS_INVALID);
    ledger_fixture_end();
}

TEST(what_is_old_is_not_told_and_dismissals_live_as_long)
{
    ledger_fixture_begin();
    uint64_t owner = ledger_fixture_voter("owner"), voter = ledger_fixture_voter("voter");
    uint64_t one = ledger_fixture_policy(owner, "One");
    ledger_fixture_save(voter, one, 5);
    pass();
    edit(one, owner, "One, changed");
    EXPECT_I64(list(voter), 1);
    Slice key = arena_copy(fixture.arena, notices[0].key);
    ledger_fixture_pass_days(NOTICES_DAYS - 1);
    EXPECT_I64(list(voter), 1);
    EXPECT_STATUS(notices_dismiss(fixture.votes, voter, key), STATUS_OK);
    for (int day = 0; day < 4; day++) {
        EXPECT_I64(list(voter), 0);
        ledger_fixture_pass_days(1);
    }
    /* And nobody hears of what was before they came. */
    uint64_t late = ledger_fixture_voter("late");
    edit(one, owner, "One, again");
    pass();
    uint64_t later = ledger_fixture_voter("later");
    EXPECT_STATUS(accounts_watch(fixture.accounts, late, one, true), STATUS_OK);
    EXPECT_STATUS(accounts_watch(fixture.accounts, later, one, true), STATUS_OK);
    EXPECT_I64(list(later), 0);
    ledger_fixture_end();
}

/* More watched policies than are listed, each with news. */
TEST(the_newest_fifty_are_listed)
{
    ledger_fixture_begin();
    enum { POLICIES = NOTICES_MAX + 15 };
    uint64_t owner = ledger_fixture_voter("owner"), watcher = ledger_fixture_voter("watcher");
    ledger_fixture_pass_days(7 * POLICIES + 7);
    for (int i = 0; i < POLICIES; i++) {
        uint64_t policy = ledger_fixture_policy(owner, "Some policy");
        EXPECT_STATUS(accounts_watch(fixture.accounts, watcher, policy, true), STATUS_OK);
        pass();
        edit(policy, owner, "Some policy, changed");
    }
    EXPECT_I64(list(watcher), NOTICES_MAX);
    for (size_t i = 1; i < NOTICES_MAX; i++)
        EXPECT(notices[i].time_us < notices[i - 1].time_us);
    EXPECT_STATUS(notices_dismiss_all(fixture.votes, watcher, notices[NOTICES_MAX - 1].time_us),
                  STATUS_OK);
    EXPECT_I64(list(watcher), NOTICES_MAX - 1);
    ledger_fixture_end();
}

TEST(voters_of_a_target_are_told_what_came_to_it)
{
    ledger_fixture_begin();
    uint64_t owner = ledger_fixture_voter("owner"), voter = ledger_fixture_voter("voter"),
             both = ledger_fixture_voter("both");
    ledger_fixture_pass_days(60);
    uint64_t source = ledger_fixture_policy(owner, "Source"),
             target = ledger_fixture_policy(voter, "Target");
    Reason reason = {.rule = ""};
    ledger_fixture_save(both, source, 5);
    ledger_fixture_save(both, target, 5);
    pass();
    EXPECT_STATUS(policies_merge(fixture.policies, source, target, 0, SLICE("the same"), &reason),
                  STATUS_OK);
    EXPECT_I64(list(voter), 1);
    EXPECT_I64(notices[0].kind, NOTICE_JOINED);
    EXPECT_I64(notices[0].policy, target);
    EXPECT_I64(notices[0].other, source);
    EXPECT_SLICE(notices[0].name, SLICE("Target"));
    EXPECT_SLICE(notices[0].reason, SLICE("the same"));
    Slice key = notices[0].key;
    /* Whoever has votes on both is told of the one that went, and not twice. */
    EXPECT_I64(list(both), 1);
    EXPECT_I64(notices[0].kind, NOTICE_MERGED);
    EXPECT_I64(list(owner), 1);
    EXPECT_I64(notices[0].kind, NOTICE_MERGED);
    EXPECT_STATUS(notices_dismiss(fixture.votes, voter, key), STATUS_OK);
    EXPECT_I64(list(voter), 0);
    ledger_fixture_end();
}

/* A merge that fell back leaves its listing, which nobody is told of. */
TEST(a_merge_that_did_not_come_about_is_not_told)
{
    ledger_fixture_begin();
    uint64_t owner = ledger_fixture_voter("owner"), voter = ledger_fixture_voter("voter");
    ledger_fixture_pass_days(60);
    uint64_t source = ledger_fixture_policy(owner, "Source"),
             target = ledger_fixture_policy(voter, "Target");
    pass();
    ledger_fixture_move(target, POLICY_PENDING_DELETION);
    EXPECT_STATUS(policies_merge(fixture.policies, source, target, 0, SLICE_EMPTY, NULL),
                  STATUS_REFUSED);
    EXPECT_I64(list(voter), 1);
    EXPECT_I64(notices[0].kind, NOTICE_HIDDEN);
    EXPECT_I64(list(owner), 0);
    ledger_fixture_end();
}

TEST(voters_and_owners_are_told_of_an_answer_and_its_author_is_not)
{
    ledger_fixture_begin();
    uint64_t owner = ledger_fixture_voter("owner"), voter = ledger_fixture_voter("voter"),
             office = ledger_fixture_voter("office");
    uint64_t policy = ledger_fixture_policy(owner, "Clean rivers");
    AnswerState state;
    AnswerRequest want = {.outcome = OUTCOME_ACCEPTED, .text = SLICE("Yes."), .author = office};
    ledger_fixture_save(voter, policy, 5);
    ledger_fixture_save(office, policy, 5);
    pass();
    EXPECT_STATUS(answers_give(fixture.policies, policy, &want, NULL), STATUS_OK);
    const uint64_t told[] = {owner, voter};
    for (int i = 0; i < 2; i++) {
        EXPECT_I64(list(told[i]), 1);
        EXPECT_I64(notices[0].kind, NOTICE_ANSWERED);
        EXPECT_I64(notices[0].policy, policy);
        EXPECT_SLICE(notices[0].name, SLICE("Clean rivers"));
    }
    EXPECT_I64(list(office), 0);
    EXPECT_I64(list(voter), 1);
    EXPECT_STATUS(notices_dismiss(fixture.votes, voter, notices[0].key), STATUS_OK);
    EXPECT_I64(list(voter), 0);
    /* Another answer is another notice. */
    pass();
    EXPECT_STATUS(answers_read(fixture.policies, policy, fixture.arena, &state), STATUS_OK);
    want = (AnswerRequest){.seen = state.answer.version,
                           .outcome = OUTCOME_DONE,
                           .text = SLICE("Done."),
                           .author = office};
    EXPECT_STATUS(answers_give(fixture.policies, policy, &want, NULL), STATUS_OK);
    EXPECT_I64(list(voter), 1);
    ledger_fixture_end();
}

TEST(voters_are_counted_once_however_much_they_hold)
{
    ledger_fixture_begin();
    uint64_t people[4];
    static const char *const NAMES[] = {"one", "two", "three", "four"};
    for (int i = 0; i < 4; i++)
        people[i] = ledger_fixture_voter(NAMES[i]);
    ledger_fixture_pass_days(60);
    uint64_t a = ledger_fixture_policy(people[0], "Policy a"),
             b = ledger_fixture_policy(people[0], "Policy b"),
             c = ledger_fixture_policy(people[1], "Policy c");
    ledger_fixture_save(people[2], a, 5);
    ledger_fixture_save(people[2], c, 5);
    ledger_fixture_save(people[3], b, 5);
    ledger_fixture_save(people[3], b, 0); /* took it back: not a voter any more */
    ledger_fixture_project();
    VoterCounts counts = {0};
    const uint64_t members[] = {a, b};
    VotersOf first = {members, 2}, second = {&c, 1};
    EXPECT_STATUS(votes_voters(fixture.votes, &first, &second, 100, &counts), STATUS_OK);
    EXPECT_I64(counts.first, 2);
    EXPECT_I64(counts.second, 2);
    EXPECT_I64(counts.both, 1);
    /* One, two and three of them twice: six cells. */
    EXPECT_STATUS(votes_voters(fixture.votes, &first, &second, 6, &counts), STATUS_OK);
    EXPECT_STATUS(votes_voters(fixture.votes, &first, &second, 5, &counts), STATUS_TOO_LARGE);
    EXPECT_STATUS(votes_voters(fixture.votes, &second, &second, 100, &counts), STATUS_OK);
    EXPECT_I64(counts.both, 2);
    ledger_fixture_end();
}
