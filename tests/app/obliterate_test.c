/* obliterate_test.c -- a policy with everything on it that tables keep, deleted by its real way, and then looked for in every cell of every table; and the
 * same with each call of the store going wrong. */
#include "app/obliterate.h"

#include "app/policy_letters.h"
#include "app/report_letters.h"
#include "faulty.h"
#include "policies/answers.h"
#include "policies/featured.h"
#include "store/rocksdb/rocksdb.h"
#include "stored_words.h"
#include "test.h"
#include "world.h"

enum { APPEAL_DAYS = 15, GRACE_S = 2 * 3600 };

/* What must be nowhere any more: a word for each field, so that what is left says where it came from. */
static const char *const WORDS[] = {
    "quokka",                    /* the first name */
    "axolotl",   "okapi",        /* description, rationale, */
    "pangolin",                  /* link */
    "narwhal",                   /* the name that it had last */
    "wombat",                    /* its description */
    "capybara",  "aardvark",     /* answers */
    "ocelot",    "guest-numbat", /* a visitor's report, and their address */
    "tapir",                     /* a report by an account */
    "kinkajou",                  /* an appeal */
    "dugong",    "manatee",      /* moderators' reasons of reports */
    "binturong",                 /* why it was hidden */
    "caracal",                   /* why something was merged into it */
    "serval",    "gharial",      /* why it was featured, and why a report led to something */
};
enum { WORD_COUNT = sizeof WORDS / sizeof WORDS[0] };

static struct {
    TestWorld own;
    World world;
    Config config;
    const char *directory;
    Store *store;
    Faulty faulty;
    App app;
    Arena *arena;
    uint64_t owner, voter, mod, policy, source;
} site;

static void set(const char *name, const char *value)
{
    Reason reason = {.rule = ""};
    EXPECT_STATUS(
        config_set(&site.config, slice_from(name), slice_from(value), site.arena, &reason),
        STATUS_OK);
}

static void open_app(void)
{
    Reason reason = {.rule = ""};
    Ranking *ranking;
    faulty_init(&site.faulty, site.store, site.arena);
    AppParts parts = {&site.faulty.store, site.world, vault_for_tests(1), &site.config};
    EXPECT_STATUS(app_open(&parts, &site.app, &reason), STATUS_OK);
    EXPECT_STATUS(app_ranking(&site.app, &ranking), STATUS_OK);
}

static uint64_t add(const char *name, uint32_t roles)
{
    Reason reason = {.rule = ""};
    uint64_t id;
    Registration person = {.name = slice_from(name),
                           .email = arena_print(site.arena, "%s@example.org", name),
                           .without_password = true,
                           .confirmed = true,
                           .roles = roles};
    EXPECT_STATUS(accounts_register(site.app.accounts, &person, &id, &reason), STATUS_OK);
    return id;
}

static void begin(void)
{
    Reason reason = {.rule = ""};
    site.arena = arena_new();
    site.world = test_world(&site.own, 1);
    config_defaults(&site.config);
    set("smtp_url", "smtp://127.0.0.1:1"); /* so that letters wait */
    set("mail_from", "Town <town@example.org>");
    RocksdbOptions options = {.directory = test_directory(),
                              .create = true,
                              .cache_bytes = 8 * 1024 * 1024,
                              .write_buffer_bytes = 4 * 1024 * 1024,
                              .grace_s = 10 * 86400,
                              .reopen_s = 1,
                              .world = site.world,
                              .tables = TABLES};
    EXPECT_STATUS(store_rocksdb_open(&options, &site.store, &reason), STATUS_OK);
    open_app();
    site.owner = add("owner", 0);
    site.voter = add("voter", 0);
    site.mod = add("mod", 1u << ROLE_MODERATE_POLICIES | 1u << ROLE_RESPOND);
}

static void end(void)
{
    app_close(&site.app);
    store_close(site.store);
    arena_free(site.arena);
}

/* ---- A policy with everything ------------------------------------------------------------------------------------ */

static void save(uint64_t voter, uint64_t policy, const PolicyText *create, uint64_t *ret_policy)
{
    VoterState state;
    SaveResult result = {.created = 0};
    VoteRequest line = {.policy = policy, .held = 10};
    EXPECT_STATUS(votes_show(site.app.votes, voter, site.arena, &state), STATUS_OK);
    SaveRequest request = {.voter = voter,
                           .seen = state.version,
                           .vote_requests = &line,
                           .vote_request_count = create == NULL,
                           .create = create,
                           .create_held = create != NULL ? 100 : 0};
    EXPECT_STATUS(votes_save(site.app.votes, &request, site.arena, &result, &(Reason){0}),
                  STATUS_OK);
    EXPECT(result.outcome == SAVE_SAVED);
    if (ret_policy != NULL)
        *ret_policy = result.created;
}

/* As an operation does: the entry before the act. */
static void note(const AuditAct *act)
{
    Id id;
    EXPECT_STATUS(audit_begin(site.app.audit, act, &id), STATUS_OK);
    audit_end(site.app.audit, id, STATUS_OK);
}

static void write_texts(void)
{
    Reason reason = {.rule = ""};
    Policy policy;
    PolicyText first = {.name = SLICE("Quokka crossings"),
                        .description = SLICE("For every axolotl."),
                        .rationale = SLICE("Ask an okapi."),
                        .links = {SLICE("https://pangolin.example.org/")},
                        .link_count = 1,
                        .category = 1};
    PolicyText last = {.name = SLICE("Narwhal crossings"),
                       .description = SLICE("For every wombat."),
                       .rationale = SLICE_EMPTY,
                       .category = 2};
    PolicyText other = {.name = SLICE("More crossings"),
                        .description = SLICE_EMPTY,
                        .rationale = SLICE_EMPTY,
                        .category = 1};
    save(site.owner, 0, &first, &site.policy);
    save(site.voter, 0, &other, &site.source);
    EXPECT_STATUS(policies_read(site.app.policies, site.policy, site.arena, &policy), STATUS_OK);
    /* The name it had stays in the lists, as after a crash. */
    site.faulty.loses_plain = true;
    EXPECT_STATUS(
        policies_edit(site.app.policies, site.policy, policy.version, &last, site.owner, &reason),
        STATUS_OK);
    site.faulty.loses_plain = false;
    EXPECT_STATUS(policies_merge(site.app.policies, site.source, site.policy, site.mod,
                                 SLICE("The same as the caracal one."), &reason),
                  STATUS_OK);
    note(&(AuditAct){.kind = AUDIT_POLICY_MERGE,
                     .actor = site.mod,
                     .object = site.source,
                     .other = site.policy,
                     .origin = SLICE("192.0.2.1"),
                     .reason = SLICE("The same as the caracal one."),
                     .details = SLICE_EMPTY});
    save(site.voter, site.policy, NULL, NULL);
    EXPECT_STATUS(accounts_watch(site.app.accounts, site.voter, site.policy, true), STATUS_OK);
}

static void answer_and_feature(void)
{
    Reason reason = {.rule = ""};
    AnswerState state;
    AnswerRequest want = {
        .outcome = OUTCOME_CONSIDERING, .text = SLICE("A capybara thinks."), .author = site.mod};
    EXPECT_STATUS(answers_give(site.app.policies, site.policy, &want, &reason), STATUS_OK);
    EXPECT_STATUS(answers_read(site.app.policies, site.policy, site.arena, &state), STATUS_OK);
    want = (AnswerRequest){.seen = state.answer.version,
                           .outcome = OUTCOME_DONE,
                           .text = SLICE("An aardvark did it."),
                           .author = site.mod};
    EXPECT_STATUS(answers_give(site.app.policies, site.policy, &want, &reason), STATUS_OK);
    EXPECT_STATUS(policies_feature(site.app.policies,
                                   &(FeatureRequest){.policy = site.policy, .actor = site.mod},
                                   &reason),
                  STATUS_OK);
    note(&(AuditAct){.kind = AUDIT_FEATURE_SET,
                     .actor = site.mod,
                     .object = site.policy,
                     .origin = SLICE("192.0.2.1"),
                     .reason = SLICE("Every serval likes it."),
                     .details = SLICE_EMPTY});
    EXPECT_STATUS(app_tell_answer_due(&site.app, site.policy, &reason), STATUS_OK);
}

static uint64_t report(ReportKind kind, uint64_t account, const char *email, const char *words)
{
    Reason reason = {.rule = ""};
    uint64_t id;
    NewReport made = {.kind = kind,
                      .policy = site.policy,
                      .account = account,
                      .email = slice_from(email),
                      .words = slice_from(words)};
    EXPECT_STATUS(reports_make(site.app.reports, &made, &id, &reason), STATUS_OK);
    return id;
}

static void close_report(uint64_t id, ReportState state, const char *words)
{
    Report after;
    Reason reason = {.rule = ""};
    ReportMove move = {.state = state, .moderator = site.mod, .reason = slice_from(words)};
    EXPECT_STATUS(reports_move(site.app.reports, id, &move, site.arena, &after, &reason),
                  STATUS_OK);
}

static void report_and_hide(void)
{
    Reason reason = {.rule = ""};
    uint64_t guest =
        report(REPORT_OF_POLICY, 0, "guest-numbat@example.org", "An ocelot is insulted.");
    uint64_t known = report(REPORT_OF_POLICY, site.voter, "", "No tapir agrees.");
    close_report(guest, REPORT_DISMISSED, "The dugong is wrong.");
    close_report(known, REPORT_ACTED, "The manatee is right.");
    EXPECT_STATUS(app_tell_reports(&site.app, &reason), STATUS_OK);
    note(&(AuditAct){.kind = AUDIT_REPORT_ACT,
                     .actor = site.mod,
                     .object = known,
                     .policy = site.policy,
                     .origin = SLICE("192.0.2.1"),
                     .reason = SLICE("So says a gharial."),
                     .details = SLICE_EMPTY});
    PolicyMove move = {.state = POLICY_PENDING_DELETION,
                       .actor = site.mod,
                       .reason = SLICE("The binturong complained.")};
    EXPECT_STATUS(policies_move(site.app.policies, site.policy, POLICY_ACTIVE, &move, &reason),
                  STATUS_OK);
    EXPECT_STATUS(app_tell_hidden(&site.app, site.policy, &reason), STATUS_OK);
    (void)report(REPORT_OF_APPEAL, site.owner, "", "A kinkajou appeals.");
    EXPECT_STATUS(app_tell_reports(&site.app, &reason), STATUS_OK);
}

static void build(void)
{
    begin();
    test_world_pass(&site.own, 70 * S_PER_DAY * US_PER_S);
    write_texts();
    answer_and_feature();
    report_and_hide();
    size_t taken = 1;
    while (taken > 0)
        EXPECT_STATUS(votes_project_waiting(site.app.votes, SIZE_MAX, &taken), STATUS_OK);
}

/* ---- What is left ------------------------------------------------------------------------------------------------ */

static void expect_words(bool there)
{
    Vault *vault = vault_for_tests(1);
    for (size_t i = 0; i < WORD_COUNT; i++) {
        Slice where;
        EXPECT_STATUS(
            stored_words_find(site.store, vault, slice_from(WORDS[i]), site.arena, &where),
            STATUS_OK);
        if (there != (where.size > 0))
            test_fail(__FILE__, __LINE__, "%s is%s stored: %.*s", WORDS[i], there ? " not" : "",
                      SLICE_ARG(where));
    }
    vault_free(vault);
}

static Status run_moves(void)
{
    return tasks_run(app_tasks(&site.app), SLICE("moves"), &(Reason){0});
}

static bool is_gone(void)
{
    bool gone = false;
    EXPECT_STATUS(policies_is_gone(site.app.policies, site.policy, &gone), STATUS_OK);
    return gone;
}

/* Ids, counts, votes, times and moves. */
static void expect_rest(void)
{
    Policy policy;
    Recount recount;
    Report *reports;
    size_t count;
    EXPECT_STATUS(policies_fresh(site.app.policies, site.policy, site.arena, &policy), STATUS_OK);
    EXPECT_I64(policy.revision, 0);
    EXPECT_I64((int64_t)policy.facts.move_count, 4);
    EXPECT(policy.facts.moves[2].state == POLICY_PENDING_DELETION &&
           policy.facts.moves[2].actor == site.mod &&
           policy.facts.moves[3].state == POLICY_DELETED);
    EXPECT(policy.creator == site.owner);
    EXPECT_STATUS(policies_fresh(site.app.policies, site.source, site.arena, &policy), STATUS_OK);
    EXPECT_SLICE(policy.text.name, SLICE("More crossings"));
    EXPECT_STATUS(reports_of_policy(site.app.reports, site.policy, site.arena, &reports, &count),
                  STATUS_OK);
    EXPECT_I64((int64_t)count, 3);
    for (size_t i = 0; i < count; i++)
        EXPECT(report_is_closed(reports[i].state) && reports[i].made_us > 0);
    EXPECT_STATUS(votes_recount(site.app.votes, site.policy, &recount), STATUS_OK);
    EXPECT(recount.cells == recount.sums && recount.cells > 0);
}

TEST(nothing_that_was_written_in_or_about_an_obliterated_policy_is_left_in_any_cell)
{
    build();
    expect_words(true);
    test_world_pass(&site.own, APPEAL_DAYS * S_PER_DAY * US_PER_S);
    EXPECT_STATUS(run_moves(), STATUS_OK);
    expect_words(false);
    EXPECT(!is_gone()); /* something may be under way */
    test_world_pass(&site.own, GRACE_S * US_PER_S);
    EXPECT_STATUS(run_moves(), STATUS_OK);
    EXPECT(is_gone());
    expect_words(false);
    expect_rest();
    end();
}

/* A letter that waited too long stays with its text, so that it can be sent again by hand. */
TEST(letters_that_have_failed_lose_their_texts_and_are_not_sent_again)
{
    MailEntry *entries;
    size_t count;
    build();
    uint64_t other = add("other", 0);
    MailMessage letter = {.to = SLICE("other@example.org"),
                          .subject = SLICE("A letter"),
                          .text = SLICE("About something else."),
                          .html = SLICE_EMPTY,
                          .kind = SLICE("test"),
                          .about = SLICE_EMPTY,
                          .unsubscribe = SLICE_EMPTY,
                          .once = slice_of(&other, sizeof other)};
    EXPECT_STATUS(mail_send(site.app.mail, &letter, &(Reason){0}), STATUS_OK);
    test_world_pass(&site.own, MAIL_GIVE_UP_S * US_PER_S + S_PER_DAY / 2 * US_PER_S);
    for (int i = 0; i < 30; i++)
        (void)mail_turn(site.app.mail);
    test_world_pass(&site.own, (APPEAL_DAYS - 2) * S_PER_DAY * US_PER_S);
    EXPECT_STATUS(mail_list(site.app.mail, MAIL_FAILED, site.arena, &entries, &count), STATUS_OK);
    EXPECT(count > 3);
    expect_words(true);
    EXPECT_STATUS(run_moves(), STATUS_OK);
    expect_words(false);
    EXPECT_STATUS(mail_list(site.app.mail, MAIL_FAILED, site.arena, &entries, &count), STATUS_OK);
    for (size_t i = 0; i < count; i++) {
        bool is_other = slice_equal(entries[i].kind, SLICE("test"));
        EXPECT(is_other == (entries[i].to.size > 0));
        EXPECT_STATUS(mail_retry(site.app.mail, entries[i].id),
                      is_other ? STATUS_OK : STATUS_NOT_FOUND);
    }
    end();
}

/* A request that had begun before the deletion, and writes after it. */
TEST(what_is_written_while_a_policy_is_obliterated_goes_when_it_is_gone_through_again)
{
    build();
    test_world_pass(&site.own, APPEAL_DAYS * S_PER_DAY * US_PER_S);
    EXPECT_STATUS(run_moves(), STATUS_OK);
    NewReport late = {.kind = REPORT_OF_POLICY,
                      .policy = site.policy,
                      .email = SLICE_EMPTY,
                      .words = SLICE("Late.")};
    uint64_t id;
    EXPECT_STATUS(reports_make(site.app.reports, &late, &id, &(Reason){0}), STATUS_NOT_FOUND);
    note(&(AuditAct){.kind = AUDIT_POLICY_RESTORE,
                     .actor = site.mod,
                     .object = site.policy,
                     .origin = SLICE("192.0.2.1"),
                     .reason = SLICE("The binturong was wrong."),
                     .details = SLICE_EMPTY});
    test_world_pass(&site.own, GRACE_S * US_PER_S);
    EXPECT_STATUS(run_moves(), STATUS_OK);
    EXPECT(is_gone());
    expect_words(false);
    end();
}

/* ---- With each call going wrong ----------------------------------------------------------------------------------- */

/* Both times through the checklist; the process dies with a fault that lasts. */
static bool strike(int at, FaultFate fate, int lasts)
{
    build();
    test_world_pass(&site.own, APPEAL_DAYS * S_PER_DAY * US_PER_S);
    faulty_plan(&site.faulty, at, fate, lasts);
    (void)!run_moves();
    test_world_pass(&site.own, GRACE_S * US_PER_S);
    (void)!run_moves();
    bool struck = faulty_struck(&site.faulty);
    if (lasts == FAULT_FOREVER) {
        app_close(&site.app);
        open_app();
    }
    faulty_arrive(&site.faulty, 0);
    faulty_deliver(&site.faulty);
    EXPECT_STATUS(run_moves(), STATUS_OK);
    test_world_pass(&site.own, GRACE_S * US_PER_S);
    EXPECT_STATUS(run_moves(), STATUS_OK);
    EXPECT(is_gone());
    expect_words(false);
    expect_rest();
    end();
    return struck;
}

/* Each call meets one of the faults; which, changes from call to call. With OSTRAKA_LONG each meets all. */
TEST(a_fault_at_any_call_leaves_the_same_in_the_end)
{
    static const struct {
        FaultFate fate;
        int lasts;
    } FAULTS[] = {{FAULT_REFUSED, FAULT_ONCE},
                  {FAULT_LOST, FAULT_FOREVER},
                  {FAULT_DONE, FAULT_OUTAGE},
                  {FAULT_LATE, FAULT_OUTAGE}};
    enum { FAULT_COUNT = sizeof FAULTS / sizeof FAULTS[0] };
    bool is_long = getenv("OSTRAKA_LONG") != NULL, struck = true;
    int at = 0;
    while (struck) {
        at++;
        struck = false;
        for (int i = 0; i < FAULT_COUNT; i++)
            if (is_long || i == at % FAULT_COUNT)
                struck |= strike(at, FAULTS[i].fate, FAULTS[i].lasts);
    }
    printf("# %d calls\n", at - 1);
    EXPECT(at > 50);
}
