/* operation_test.c -- the table of operations itself, who may, what is typed into inputs, and answers on a terminal. What operations do by
 * which door is in tests/doors. */
#include "operations/operation.h"

#include "operations/schema_macros.h"
#include "operations/store_state.h"
#include "store/rocksdb/rocksdb.h"
#include "test.h"
#include "world.h"

static struct {
    TestWorld own;
    Config config;
    Store *store;
    App app;
    Operations *ops;
    Arena *arena;
    uint64_t ada;
} hall;

static void add_policy(const char *name)
{
    World world = hall.app.world;
    NewPolicy made = {.text = {.name = slice_from(name),
                               .description = SLICE_EMPTY,
                               .rationale = SLICE_EMPTY,
                               .category = 1},
                      .version = id_new(world.clock, world.random),
                      .time_us = clock_now_us(world.clock)};
    EXPECT_STATUS(policies_next_id(hall.app.policies, &made.id), STATUS_OK);
    EXPECT_STATUS(policies_create(hall.app.policies, &made, &(Reason){0}), STATUS_OK);
}

static void begin(void)
{
    Reason reason = {.rule = ""};
    hall.arena = arena_new();
    World world = test_world(&hall.own, 1);
    config_defaults(&hall.config);
    RocksdbOptions options = {.directory = test_directory(),
                              .create = true,
                              .cache_bytes = 8 * 1024 * 1024,
                              .write_buffer_bytes = 4 * 1024 * 1024,
                              .grace_s = 10 * 86400,
                              .reopen_s = 1,
                              .world = world,
                              .tables = TABLES};
    EXPECT_STATUS(store_rocksdb_open(&options, &hall.store, &reason), STATUS_OK);
    AppParts parts = {hall.store, world, vault_for_tests(1), &hall.config};
    EXPECT_STATUS(app_open(&parts, &hall.app, &reason), STATUS_OK);
    hall.ops = operations_new(&(OperationsOptions){.app = &hall.app, .config = &hall.config});
    Registration person = {.name = SLICE("421"), /* a name, and no number */
                           .email = SLICE("ada@example.org"),
                           .without_password = true,
                           .confirmed = true};
    EXPECT_STATUS(accounts_register(hall.app.accounts, &person, &hall.ada, &reason), STATUS_OK);
    add_policy("Clean rivers");
    add_policy("Clean air");
}

static void end(void)
{
    operations_free(hall.ops);
    app_close(&hall.app);
    store_close(hall.store);
    arena_free(hall.arena);
}

/* ---- The table -------------------------------------------------------------------------------------------------------------- */

TEST(every_row_keeps_the_rules_of_the_table)
{
    Reason reason = {.rule = ""};
    if (operations_check(&reason) != STATUS_OK)
        test_fail(__FILE__, __LINE__, "%s: %s", reason.field, reason.rule);
}

/* ---- Who may ---------------------------------------------------------------------------------------------------------------- */

static uint32_t roles(uint32_t has, AccountState state, bool shown, bool *ret_missing)
{
    App app = {.second_roles = 1u << ROLE_ADMIN | 1u << ROLE_FEATURE};
    Account account = {.state = state, .roles = has};
    return actor_roles(&app, &account, shown, ret_missing);
}

TEST(roles_that_ask_for_a_second_factor_count_when_it_was_shown)
{
    bool missing;
    uint32_t feature = 1u << ROLE_FEATURE, respond = 1u << ROLE_RESPOND;
    EXPECT_I64(roles(feature, ACCOUNT_CONFIRMED, true, &missing), feature);
    EXPECT(!missing);
    EXPECT_I64(roles(feature | respond, ACCOUNT_CONFIRMED, false, &missing), 0);
    EXPECT(missing);
    EXPECT_I64(roles(respond, ACCOUNT_CONFIRMED, false, &missing), respond);
    EXPECT(!missing);
    EXPECT_I64(roles(feature, ACCOUNT_PENDING, true, &missing), 0);
    EXPECT(!missing);
}

TEST(admins_and_the_operator_have_every_role)
{
    uint32_t feature = 1u << ROLE_FEATURE;
    Account account = {.id = 7, .state = ACCOUNT_CONFIRMED};
    EXPECT(!actor_has(NULL, feature));
    EXPECT(!actor_has(&(Actor){0}, feature));
    EXPECT(actor_has(&(Actor){.roles = feature}, feature));
    EXPECT(!actor_has(&(Actor){.roles = 1u << ROLE_RESPOND}, feature));
    EXPECT(actor_has(&(Actor){.roles = 1u << ROLE_ADMIN}, feature));
    EXPECT(actor_has(&(Actor){.is_operator = true}, feature));
    EXPECT(!actor_has(&(Actor){.is_operator = true, .account = &account}, feature));
    EXPECT_I64(actor_id(NULL), 0);
    EXPECT_I64(actor_id(&(Actor){.is_operator = true}), 0);
    EXPECT_I64(actor_id(&(Actor){.is_operator = true, .account = &account}), 7);
}

static Status admit(WebAccess access, WebWhose whose, Actor actor)
{
    Operation row = {.name = "row", .access = access, .whose = whose, .roles = 1u << ROLE_FEATURE};
    return operation_admit(&row, &actor, &(Reason){0});
}

TEST(rows_admit_by_their_access)
{
    Account voter = {.id = 1, .state = ACCOUNT_CONFIRMED},
            pending = {.id = 2, .state = ACCOUNT_PENDING},
            denied = {.id = 3, .state = ACCOUNT_CONFIRMED, .denied = 1u << RIGHT_VOTE};
    Actor visitor = {0}, operator= {.is_operator = true},
          as = {.is_operator = true, .account = &voter};
    Actor feature = {.account = &voter, .roles = 1u << ROLE_FEATURE},
          without = {.account = &voter, .second_missing = true};
    for (WebAccess access = WEB_PUBLIC; access <= WEB_GUEST; access++)
        EXPECT_STATUS(admit(access, WEB_UNSAID, visitor), STATUS_OK);
    for (WebAccess access = WEB_LOGIN; access <= WEB_VOTER; access++) {
        EXPECT_STATUS(admit(access, WEB_OWN, visitor), STATUS_LOGIN);
        EXPECT_STATUS(admit(access, WEB_OWN, operator), STATUS_INVALID); /* in whose name? */
        EXPECT_STATUS(admit(access, WEB_OWN_OR_ROLE, operator), STATUS_OK);
        EXPECT_STATUS(admit(access, WEB_OWN, as), STATUS_OK);
        EXPECT_STATUS(admit(access, WEB_OWN, (Actor){.account = &voter}), STATUS_OK);
    }
    EXPECT_STATUS(admit(WEB_LOGIN, WEB_OWN, (Actor){.account = &pending}), STATUS_OK);
    EXPECT_STATUS(admit(WEB_VOTER, WEB_OWN, (Actor){.account = &pending}), STATUS_DENIED);
    EXPECT_STATUS(admit(WEB_VOTER, WEB_OWN, (Actor){.account = &denied}), STATUS_DENIED);
    EXPECT_STATUS(admit(WEB_ROLE, WEB_ANYBODYS, visitor), STATUS_LOGIN);
    EXPECT_STATUS(admit(WEB_ROLE, WEB_ANYBODYS, operator), STATUS_OK);
    EXPECT_STATUS(admit(WEB_ROLE, WEB_ANYBODYS, as), STATUS_DENIED); /* with that person's rights */
    EXPECT_STATUS(admit(WEB_ROLE, WEB_ANYBODYS, feature), STATUS_OK);
    EXPECT_STATUS(admit(WEB_ROLE, WEB_ANYBODYS, without), STATUS_DENIED);
}

/* ---- Several at once ------------------------------------------------------------------------------------------------------- */

/* What a call comes to by itself. */
typedef struct Fate {
    Status status;
    bool is_done, has_effects;
} Fate;

static size_t runs, run_calls;

static void suffer(Operations *ops, OperationCall *const *calls, size_t count)
{
    (void)ops;
    runs++;
    run_calls += count;
    for (size_t i = 0; i < count; i++) {
        const Fate *fate = calls[i]->request;
        calls[i]->status = reason_set(calls[i]->reason, fate->status, "", "as it is");
        calls[i]->is_done = fate->is_done;
        calls[i]->has_effects = fate->has_effects;
    }
}

static Status suffer_alone(Operations *ops, const Actor *actor, const void *request, Arena *arena,
                           void *ret_answer, Reason *reason)
{
    (void)ops, (void)actor, (void)arena, (void)ret_answer, (void)reason;
    return ((const Fate *)request)->status;
}

static const Operation MANY = {.name = "many", .run_many = suffer, .access = WEB_VOTER},
                       MANY_TOO = {.name = "many_too", .run_many = suffer, .access = WEB_VOTER},
                       ALONE = {.name = "alone", .run = suffer_alone, .access = WEB_VOTER};

TEST(calls_of_one_function_are_one_call_and_each_is_told_its_own)
{
    enum { COUNT = 8 };
    begin();
    Account voter = {.id = 7, .state = ACCOUNT_CONFIRMED};
    Account denied = {.id = 8, .state = ACCOUNT_CONFIRMED, .denied = 1u << RIGHT_VOTE};
    const Actor one = {.account = &voter}, other = {.account = &denied}, nobody = {0};
    const struct {
        const Operation *operation;
        const Actor *actor;
        Fate fate;
        Status status;
        bool is_unread;
    } cases[COUNT] = {
        {&MANY, &one, {STATUS_OK, false, true}, STATUS_OK, false},
        {&MANY, &other, {STATUS_OK, false, false}, STATUS_DENIED, false},
        {&MANY_TOO, &one, {STATUS_UNAVAILABLE, false, false}, STATUS_UNAVAILABLE, false},
        {&MANY, &nobody, {STATUS_OK, false, false}, STATUS_LOGIN, false},
        {&MANY, &one, {STATUS_UNAVAILABLE, false, true}, STATUS_UNKNOWN, false},
        {&MANY_TOO, &one, {STATUS_CORRUPT, true, true}, STATUS_OK, true},
        {&MANY, &one, {STATUS_REFUSED, false, false}, STATUS_REFUSED, false},
        {&ALONE, &one, {STATUS_UNAVAILABLE, false, false}, STATUS_UNAVAILABLE, false},
    };
    OperationCall calls[COUNT], *list[COUNT];
    Reason reasons[COUNT] = {0};
    for (size_t i = 0; i < COUNT; i++) {
        calls[i] = (OperationCall){.operation = cases[i].operation,
                                   .actor = cases[i].actor,
                                   .request = &cases[i].fate,
                                   .arena = hall.arena,
                                   .reason = &reasons[i]};
        list[i] = &calls[i];
    }
    operation_run_many(hall.ops, list, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        EXPECT_STATUS(calls[i].status, cases[i].status);
        EXPECT(calls[i].is_unread == cases[i].is_unread);
    }
    EXPECT_I64(runs, 1);
    EXPECT_I64(run_calls, 5);
    end();
}

/* ---- Backups and repairs --------------------------------------------------------------------------------------------------- */

static Status back_up(const Actor *actor, Audit *audit, const char *ending, bool *ret_is_noted)
{
    Slice path = arena_print(hall.arena, "%s/%s", test_directory(), ending);
    BackupOf of = {hall.store, audit};
    AuditAct act = {.kind = AUDIT_BACKUP, .reason = SLICE_EMPTY, .details = path};
    return store_make_backup(&of, actor, &act, arena_text(hall.arena, path), ret_is_noted,
                             &(Reason){0});
}

static size_t acts_of(AuditKind kind)
{
    AuditEntry *entries;
    size_t count, found = 0;
    AuditQuery query = {.instance = SLICE_EMPTY, .limit = AUDIT_LIST_MAX};
    EXPECT_STATUS(audit_list(hall.app.audit, &query, hall.arena, &entries, &count), STATUS_OK);
    for (size_t i = 0; i < count; i++)
        found += entries[i].act.kind == kind;
    return found;
}

TEST(a_backup_that_cannot_be_noted_is_for_the_operator_alone)
{
    begin();
    bool is_noted = true;
    Account ada = {.id = hall.ada, .state = ACCOUNT_CONFIRMED};
    Actor admin = {.account = &ada, .roles = 1u << ROLE_ADMIN, .origin = SLICE("127.0.0.1")};
    Actor clerk = {.is_operator = true, .origin = SLICE("command line")};
    EXPECT_STATUS(back_up(&admin, NULL, "one", &is_noted), STATUS_REFUSED);
    EXPECT_STATUS(back_up(&clerk, NULL, "one", &is_noted), STATUS_OK);
    EXPECT(!is_noted);
    EXPECT_STATUS(back_up(&admin, hall.app.audit, "two", &is_noted), STATUS_OK);
    EXPECT(is_noted);
    EXPECT_I64(acts_of(AUDIT_BACKUP), 1);
    end();
}

TEST(a_repair_is_in_the_audit_log)
{
    begin();
    VerifyReport report;
    VerifyOptions options = {.store = hall.store,
                             .world = hall.app.world,
                             .accounts = hall.app.accounts,
                             .policies = hall.app.policies,
                             .votes = hall.app.votes,
                             .settle_s = 1};
    Actor clerk = {.is_operator = true, .origin = SLICE("command line")};
    EXPECT_STATUS(app_ranking(&hall.app, &options.ranking), STATUS_OK);
    EXPECT_STATUS(verify_run(&options, &report), STATUS_OK);
    EXPECT_STATUS(store_repair(hall.ops, &clerk, &options, &report, &(Reason){0}), STATUS_OK);
    EXPECT_I64(acts_of(AUDIT_REPAIR), 1);
    end();
}

/* ---- Inputs ----------------------------------------------------------------------------------------------------------------- */

typedef struct Sent {
    uint64_t id, policy, account, category, party;
    int64_t number, time_us;
    uint32_t few;
    Slice line, text, secret, opaque, file;
    enum { RED, GREEN } word;
    bool is_on, was_given;
    Id version, once;
    InputNumbers numbers;
    InputTexts texts;
} Sent;

static const char *const COLOURS[] = {"red", "green", NULL};
/* clang-format off */
static const Input ID_INPUT = INPUT("id", Sent, id, ID, .help = ""), POLICY_INPUT = INPUT("policy", Sent, policy, POLICY, .help = ""),
    ACCOUNT_INPUT = INPUT("account", Sent, account, ACCOUNT, .help = ""), CATEGORY_INPUT = INPUT("category", Sent, category, CATEGORY, .optional = true),
    PARTY_INPUT = INPUT("party", Sent, party, PARTY, .optional = true),
    NUMBER_INPUT = INPUT("number", Sent, number, NUMBER, .least = -5, .most = 10, GIVEN(Sent, was_given), .optional = true),
    FEW_INPUT = INPUT("few", Sent, few, SMALL, .least = 1, .most = 3, .fallback = "2"),
    LINE_INPUT = INPUT("line", Sent, line, LINE, .least = 3, .most = 5), TEXT_INPUT = INPUT("text", Sent, text, TEXT, .least = 1, .most = 8),
    NOTE_INPUT = INPUT("text", Sent, text, TEXT, .fallback = "", .most = 8), SECRET_INPUT = INPUT("secret", Sent, secret, SECRET, .least = 1, .most = 20),
    OPAQUE_INPUT = INPUT("opaque", Sent, opaque, OPAQUE, .least = 1, .most = 4), WORD_INPUT = INPUT("word", Sent, word, WORD, .words = COLOURS),
    SWITCH_INPUT = INPUT("switch", Sent, is_on, SWITCH, .optional = true), TIME_INPUT = INPUT("time", Sent, time_us, TIME, .optional = true),
    VERSION_INPUT = INPUT("version", Sent, version, VERSION, .optional = true), ONCE_INPUT = INPUT("once", Sent, once, ONCE, .help = ""),
    NUMBERS_INPUT = INPUT("numbers", Sent, numbers, NUMBERS, .least = 0, .most = 9, .most_count = 2),
    TEXTS_INPUT = INPUT("texts", Sent, texts, TEXTS, .optional = true, .least = 1, .most = 5, .most_count = 2),
    FILE_INPUT = INPUT("file", Sent, file, FILE, .least = 1, .most = 10);
/* clang-format on */

static Sent sent;
static Reason why;

/* What was typed, once or twice; NULL: left out. */
static Status typed(const Input *input, const char *first, const char *second)
{
    Slice texts[] = {first != NULL ? slice_from(first) : SLICE_EMPTY,
                     second != NULL ? slice_from(second) : SLICE_EMPTY};
    size_t count = first == NULL ? 0 : second == NULL ? 1 : 2;
    sent = (Sent){0};
    why = (Reason){.rule = ""};
    Status status = input_bind_texts(hall.ops, input, texts, count, hall.arena, &sent, &why);
    if (status != STATUS_OK)
        EXPECT(slice_starts_with(slice_from(why.field), slice_from(input->name))); /* numbers[7] */
    return status;
}

static void expect_refused(const Input *input, const char *const *texts)
{
    for (; *texts != NULL; texts++) {
        Status status = typed(input, *texts, NULL);
        if (status != STATUS_INVALID && status != STATUS_NOT_FOUND)
            test_fail(__FILE__, __LINE__, "%s takes \"%s\": %s", input->name, *texts,
                      status_name(status));
    }
}

#define REFUSED(input, ...) expect_refused(&(input), (const char *const[]){__VA_ARGS__, NULL})

TEST(things_are_named_by_number_or_name)
{
    begin();
    EXPECT_STATUS(typed(&ID_INPUT, "9223372036854775807", NULL), STATUS_OK);
    EXPECT_I64(sent.id, INT64_MAX);
    REFUSED(ID_INPUT, "0", "-1", "x", "", "  ", "9223372036854775808", "1.0");
    EXPECT_STATUS(typed(&ID_INPUT, NULL, NULL), STATUS_INVALID);
    EXPECT_STATUS(typed(&POLICY_INPUT, "77", NULL),
                  STATUS_OK); /* that it is there is the operation's to see */
    EXPECT_I64(sent.policy, 77);
    EXPECT_STATUS(typed(&POLICY_INPUT, " clean r ", NULL), STATUS_OK);
    EXPECT_I64(sent.policy, 1);
    REFUSED(POLICY_INPUT, "clean", "dirty", "");
    EXPECT_STATUS(typed(&ACCOUNT_INPUT, "421", NULL), STATUS_OK);
    EXPECT_I64(sent.account, hall.ada);
    EXPECT_STATUS(typed(&ACCOUNT_INPUT, "ada@example.org", NULL), STATUS_OK);
    EXPECT_I64(sent.account, hall.ada);
    REFUSED(ACCOUNT_INPUT, "1", "nobody", "");
    EXPECT_STATUS(typed(&CATEGORY_INPUT, "health", NULL), STATUS_OK);
    EXPECT_I64(sent.category, 3);
    EXPECT_STATUS(typed(&CATEGORY_INPUT, "4", NULL), STATUS_OK);
    EXPECT_I64(sent.category, 4);
    EXPECT_STATUS(typed(&CATEGORY_INPUT, "", NULL), STATUS_OK);
    EXPECT_I64(sent.category, 0);
    REFUSED(CATEGORY_INPUT, "Healthy", "-3");
    REFUSED(PARTY_INPUT, "Reds");
    EXPECT_STATUS(typed(&PARTY_INPUT, NULL, NULL), STATUS_OK);
    end();
}

TEST(numbers_keep_their_bounds)
{
    begin();
    EXPECT_STATUS(typed(&NUMBER_INPUT, "-5", NULL), STATUS_OK);
    EXPECT_I64(sent.number, -5);
    EXPECT(sent.was_given);
    EXPECT_STATUS(typed(&NUMBER_INPUT, "10", NULL), STATUS_OK);
    EXPECT_STATUS(typed(&NUMBER_INPUT, "", NULL), STATUS_OK);
    EXPECT(!sent.was_given && sent.number == 0);
    REFUSED(NUMBER_INPUT, "-6", "11", "ten", "1.5", "99999999999999999999");
    EXPECT_STATUS(typed(&NUMBER_INPUT, "1", "2"), STATUS_INVALID); /* which of them? */
    EXPECT_STATUS(typed(&FEW_INPUT, NULL, NULL), STATUS_OK);
    EXPECT_I64(sent.few, 2);
    EXPECT_STATUS(typed(&FEW_INPUT, "3", NULL), STATUS_OK);
    EXPECT_I64(sent.few, 3);
    REFUSED(FEW_INPUT, "0", "4");
    end();
}

TEST(texts_are_trimmed_and_measured_after_that)
{
    begin();
    EXPECT_STATUS(typed(&LINE_INPUT, "   häh   ", NULL), STATUS_OK);
    EXPECT_SLICE(sent.line, SLICE("häh"));
    EXPECT_STATUS(typed(&LINE_INPUT, "äöüßé", NULL), STATUS_OK);
    REFUSED(LINE_INPUT, "", "ab", "a    ", "abcdef", "a\nb",
            "a\x01"
            "b",
            "ab\xff");
    EXPECT_STATUS(typed(&LINE_INPUT, NULL, NULL), STATUS_INVALID);
    EXPECT_STATUS(typed(&TEXT_INPUT, "a\r\nb", NULL), STATUS_OK);
    EXPECT_SLICE(sent.text, SLICE("a\nb"));
    REFUSED(TEXT_INPUT, "", "  ", "123456789");
    EXPECT_STATUS(typed(&NOTE_INPUT, NULL, NULL), STATUS_OK);
    EXPECT(sent.text.data != NULL && sent.text.size == 0);
    EXPECT_STATUS(typed(&NOTE_INPUT, "   ", NULL), STATUS_OK);
    EXPECT_I64(sent.text.size, 0);
    EXPECT_STATUS(typed(&SECRET_INPUT, " a b ", NULL), STATUS_OK);
    EXPECT_SLICE(sent.secret, SLICE(" a b "));
    REFUSED(SECRET_INPUT, "", "123456789012345678901");
    EXPECT_STATUS(typed(&OPAQUE_INPUT, "a-_9", NULL), STATUS_OK);
    REFUSED(OPAQUE_INPUT, "", "a b", "12345", "a/b");
    EXPECT_STATUS(typed(&FILE_INPUT, "email\na@b\n", NULL), STATUS_OK);
    EXPECT_SLICE(sent.file, SLICE("email\na@b\n"));
    REFUSED(FILE_INPUT, "", "12345678901");
    end();
}

TEST(words_switches_times_and_versions_are_exact)
{
    begin();
    EXPECT_STATUS(typed(&WORD_INPUT, "green", NULL), STATUS_OK);
    EXPECT_I64(sent.word, GREEN);
    REFUSED(WORD_INPUT, "blue", "", "1", "gre");
    EXPECT_STATUS(typed(&SWITCH_INPUT, "on", NULL), STATUS_OK);
    EXPECT(sent.is_on);
    EXPECT_STATUS(typed(&SWITCH_INPUT, "off", NULL), STATUS_OK);
    EXPECT(!sent.is_on);
    EXPECT_STATUS(typed(&SWITCH_INPUT, NULL, NULL), STATUS_OK);
    REFUSED(SWITCH_INPUT, "perhaps", "2");
    EXPECT_STATUS(typed(&TIME_INPUT, "1970-01-01T00:00:01Z", NULL), STATUS_OK);
    EXPECT_I64(sent.time_us, US_PER_S);
    EXPECT_STATUS(typed(&TIME_INPUT, "", NULL), STATUS_OK);
    EXPECT_I64(sent.time_us, 0);
    REFUSED(TIME_INPUT, "tomorrow", "2026-02-30T00:00:00Z", "12:00");
    EXPECT_STATUS(typed(&VERSION_INPUT, "000102030405060708090a0b0c0d0e0f", NULL), STATUS_OK);
    EXPECT_I64(sent.version.bytes[15], 15);
    EXPECT_STATUS(typed(&VERSION_INPUT, NULL, NULL), STATUS_OK);
    EXPECT(id_is_zero(sent.version));
    EXPECT_STATUS(typed(&VERSION_INPUT, "00000000000000000000000000000000", NULL), STATUS_OK);
    REFUSED(VERSION_INPUT, "00", "000102030405060708090A0B0C0D0E0F");
    EXPECT_STATUS(typed(&ONCE_INPUT, NULL, NULL), STATUS_OK);
    Id first = sent.once;
    EXPECT(!id_is_zero(first));
    EXPECT_STATUS(typed(&ONCE_INPUT, NULL, NULL), STATUS_OK);
    EXPECT(!id_equal(first, sent.once));
    REFUSED(ONCE_INPUT, "again");
    end();
}

TEST(lists_are_ordered_and_counted)
{
    begin();
    EXPECT_STATUS(typed(&NUMBERS_INPUT, "7=9", "3=0"), STATUS_OK);
    EXPECT_I64(sent.numbers.count, 2);
    EXPECT_I64(sent.numbers.numbers[0].id, 3);
    EXPECT_I64(sent.numbers.numbers[1].number, 9);
    EXPECT_STATUS(typed(&NUMBERS_INPUT, "7=1", "7=2"), STATUS_INVALID);
    REFUSED(NUMBERS_INPUT, "7", "7=", "=7", "7=10", "7=-1", "0=1", "a=1");
    EXPECT_STATUS(typed(&TEXTS_INPUT, "a", "b"), STATUS_OK);
    EXPECT_I64(sent.texts.count, 2);
    EXPECT_SLICE(sent.texts.texts[1], SLICE("b"));
    EXPECT_STATUS(typed(&TEXTS_INPUT, NULL, NULL), STATUS_OK);
    EXPECT_I64(sent.texts.count, 0);
    REFUSED(TEXTS_INPUT, "123456");
    Slice three[] = {SLICE("a"), SLICE("b"), SLICE("c")};
    EXPECT_STATUS(input_bind_texts(hall.ops, &TEXTS_INPUT, three, 3, hall.arena, &sent, &why),
                  STATUS_INVALID);
    end();
}

/* ---- Answers on a terminal ---------------------------------------------------------------------------------------------------- */

typedef struct Tree {
    Slice name;
    uint32_t leaves;
} Tree;

typedef struct Garden {
    Slice name;
    int64_t opened_us, closed_us;
    bool is_open;
    Id id;
    Tree best;
    Tree *trees;
    size_t count;
} Garden;

static const ApiMember TREE[] = {FIELD("name", Tree, name, .help = ""),
                                 FIELD("leaves", Tree, leaves, .help = "")};
SCHEMA(TREE, "Tree", Tree, TREE, .help = "");
static const ApiMember GARDEN[] = {FIELD("name", Garden, name, .help = ""),
                                   TIME("opened", Garden, opened_us, .help = ""),
                                   TIME("closed", Garden, closed_us, OR_NULL),
                                   FIELD("open", Garden, is_open, .help = ""),
                                   FIELD("id", Garden, id, .help = ""),
                                   OBJECT("best", Garden, best, TREE, .help = ""),
                                   LIST("trees", Garden, trees, count, TREE, .help = "")};
SCHEMA(GARDEN, "Garden", Garden, GARDEN, .help = "");

TEST(answers_are_lines_and_columns)
{
    BUFFER_SCOPE Buffer out = {0};
    ARENA_SCOPE Arena *arena = arena_new();
    Tree trees[] = {{SLICE("Old \x1b[31moak"), 10000}, {SLICE("Elm"), 7}};
    Garden garden = {.name = SLICE("Tow\x07n\ngarden"),
                     .opened_us = US_PER_S,
                     .is_open = true,
                     .best = trees[1],
                     .trees = trees,
                     .count = 2};
    schema_print(&SCHEMA_GARDEN, &garden, arena, &out);
    EXPECT_SLICE(buffer_slice(&out), SLICE("name: Tow n\ngarden\n"
                                           "opened: 1970-01-01T00:00:01Z\n"
                                           "open: yes\n"
                                           "id: 00000000000000000000000000000000\n"
                                           "best:\n"
                                           "name: Elm\n"
                                           "leaves: 7\n"
                                           "trees: 2\n"
                                           "name          leaves\n"
                                           "Old  [31moak  10000\n"
                                           "Elm           7\n"));
    buffer_clear(&out);
    garden.count = 0;
    schema_print(&SCHEMA_GARDEN, &garden, arena, &out);
    EXPECT(slice_find(buffer_slice(&out), '[') == buffer_slice(&out).size);
    JsonWriter json = json_writer(&out);
    buffer_clear(&out);
    schema_write(&json, &SCHEMA_GARDEN, &garden, arena);
    EXPECT_SLICE(buffer_slice(&out),
                 SLICE("{\"name\":\"Tow\\u0007n\\ngarden\",\"opened\":\"1970-01-01T00:00:01Z\","
                       "\"closed\":null,"
                       "\"open\":true,\"id\":\"00000000000000000000000000000000\","
                       "\"best\":{\"name\":\"Elm\",\"leaves\":7},\"trees\":[]}"));
}
