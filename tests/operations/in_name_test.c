/* in_name_test.c -- a command that looks at what is somebody's own: the entry, the notice and the e-mail are there before it looks; without
 * the entry it does not look. And who sees what, by the rows. */
#include "operations/in_name.h"

#include "faulty.h"
#include "mail/letters.h"
#include "operations/privacy.h"
#include "operations/schema_macros.h"
#include "store/rocksdb/rocksdb.h"
#include "test.h"
#include "votes/notices.h"
#include "world.h"

static struct {
    TestWorld own;
    Config config;
    Store *store;
    Faulty faulty;
    App app;
    Operations *ops;
    Arena *arena;
    Account ada;
    int looks;                     /* how often `look` ran, and what it found: */
    AuditEntry entry;              /* the newest */
    size_t entries, told, letters; /* in the audit log, in the notices, in the outbox */
} hall;

static void begin(void)
{
    uint64_t ada;
    Reason reason = {.rule = ""};
    memset(&hall, 0, sizeof hall);
    hall.arena = arena_new();
    World world = test_world(&hall.own, 1);
    config_defaults(&hall.config);
    EXPECT_STATUS(config_set(&hall.config, SLICE("mail_outbox"), SLICE("on"), hall.arena, &reason),
                  STATUS_OK);
    RocksdbOptions options = {.directory = test_directory(),
                              .create = true,
                              .cache_bytes = 8 * 1024 * 1024,
                              .write_buffer_bytes = 4 * 1024 * 1024,
                              .grace_s = 10 * 86400,
                              .reopen_s = 1,
                              .world = world,
                              .tables = TABLES};
    EXPECT_STATUS(store_rocksdb_open(&options, &hall.store, &reason), STATUS_OK);
    faulty_init(&hall.faulty, hall.store, hall.arena);
    AppParts parts = {&hall.faulty.store, world, vault_for_tests(1), &hall.config};
    EXPECT_STATUS(app_open(&parts, &hall.app, &reason), STATUS_OK);
    hall.ops = operations_new(&(OperationsOptions){.app = &hall.app, .config = &hall.config});
    Registration person = {.name = SLICE("ada"),
                           .email = SLICE("ada@example.org"),
                           .without_password = true,
                           .confirmed = true};
    EXPECT_STATUS(accounts_register(hall.app.accounts, &person, &ada, &reason), STATUS_OK);
    EXPECT_STATUS(accounts_read(hall.app.accounts, ada, hall.arena, &hall.ada), STATUS_OK);
    test_world_pass(&hall.own, US_PER_S);
}

static void end(void)
{
    operations_free(hall.ops);
    app_close(&hall.app);
    store_close(hall.store);
    arena_free(hall.arena);
}

static Status look(Operations *ops, const Actor *actor, const Nothing *request, Arena *arena,
                   Done *ret_done, Reason *reason)
{
    AuditQuery query = {.object_kind = "account",
                        .object = actor->account->id,
                        .instance = SLICE_EMPTY,
                        .limit = 10};
    AuditEntry *entries;
    PolicyNotice *notices;
    MailEntry *letters;
    (void)request, (void)reason;
    hall.looks++;
    TRY(audit_list(ops->app->audit, &query, arena, &entries, &hall.entries));
    TRY(notices_list(ops->app->votes, actor->account->id, arena, &notices, &hall.told));
    TRY(mail_outbox(ops->app->mail, arena, &letters, &hall.letters));
    if (hall.entries > 0)
        hall.entry = entries[0];
    ret_done->done = true;
    return STATUS_OK;
}

static const Operation LOOK = {.name = "look",
                               .access = WEB_LOGIN,
                               .asks = true,
                               .shows = SHOWS(VOTES),
                               .command = {.words = "vote show"}};

static Status look_run(Operations *ops, const Actor *actor, const void *request, Arena *arena,
                       void *ret_answer, Reason *reason)
{
    return look(ops, actor, request, arena, ret_answer, reason);
}

static Status run_as(const Actor *actor, Reason *reason)
{
    Done done = {false};
    Nothing nothing = {0};
    Operation row = LOOK;
    row.run = look_run;
    OperationCall call = {.operation = &row,
                          .actor = actor,
                          .request = &nothing,
                          .answer = &done,
                          .arena = hall.arena,
                          .reason = reason};
    Status status = operation_run(hall.ops, &call);
    EXPECT(done.done == (status == STATUS_OK));
    return status;
}

static Actor command(Slice why)
{
    return (Actor){.door = DOOR_COMMAND,
                   .is_operator = true,
                   .account = &hall.ada,
                   .origin = SLICE("command line"),
                   .why = why};
}

TEST(the_entry_the_notice_and_the_e_mail_come_before_the_look)
{
    begin();
    Actor actor = command(SLICE("asked by post")), without = command(SLICE_EMPTY);
    EXPECT_STATUS(run_as(&actor, &(Reason){0}), STATUS_OK);
    EXPECT_I64((int64_t)hall.entries, 1);
    EXPECT_I64((int64_t)hall.told, 1);
    EXPECT_I64((int64_t)hall.letters, 1);
    EXPECT_I64(hall.entry.act.kind, AUDIT_PERSON_READ);
    EXPECT_I64(hall.entry.outcome, AUDIT_OPEN);
    EXPECT_SLICE(hall.entry.act.reason, SLICE("asked by post"));
    test_world_pass(&hall.own, US_PER_S);
    EXPECT_STATUS(run_as(&without, &(Reason){0}), STATUS_OK);
    EXPECT_I64((int64_t)hall.entries, 2);
    EXPECT_SLICE(hall.entry.act.reason, SLICE("no reason given"));
    end();
}

TEST(what_cannot_be_noted_is_not_shown)
{
    begin();
    Actor actor = command(SLICE("asked by post"));
    for (int fate = 0; fate < FAULT_LATE; fate++) {
        Reason reason = {.rule = ""};
        faulty_plan(&hall.faulty, 1, (FaultFate)fate, FAULT_FOREVER);
        EXPECT_STATUS(run_as(&actor, &reason), STATUS_UNAVAILABLE);
        EXPECT(strstr(reason.rule, "audit log") != NULL);
        faulty_arrive(&hall.faulty, 0);
    }
    EXPECT_I64(hall.looks, 0);
    end();
}

TEST(looking_at_ones_own_is_not_noted)
{
    begin();
    Actor self = {.door = DOOR_API, .account = &hall.ada, .origin = SLICE("192.0.2.1")};
    EXPECT_STATUS(run_as(&self, &(Reason){0}), STATUS_OK);
    EXPECT_I64((int64_t)(hall.entries + hall.told + hall.letters), 0);
    end();
}

TEST(an_e_mail_can_name_all_that_there_is)
{
    Arena *arena = arena_new();
    EXPECT(personal_words(SHOWS_ALL, arena).size <= LETTER_ABOUT_BYTES);
    arena_free(arena);
}

TEST(the_help_of_an_input_says_who_sees_an_address)
{
    Arena *arena = arena_new();
    EXPECT_SLICE(personal_seen_by(PERSONAL_EMAIL, arena), slice_from(EMAIL_SEEN_BY));
    EXPECT_SLICE(personal_seen_by(PERSONAL_NAME, arena), SLICE("Seen by everybody."));
    arena_free(arena);
}
