/* recorded_site.c -- see recorded_site.h. */
#include "recorded_site.h"

#include "store/rocksdb/rocksdb.h"

RecordedSite site;

static void fill(void *self, void *to, size_t size)
{
    RecordedSite *at = self;
    unsigned char *bytes = to;
    uint64_t number = (uint64_t)atomic_load(&at->own.now_us);
    for (size_t i = 0; i < size; i++) {
        number = number * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        bytes[i] = (unsigned char)(number >> 56);
    }
}

static Status cheap_hash(void *self, Slice password, Arena *arena, Slice *ret_hash)
{
    (void)self;
    *ret_hash = arena_print(arena, "hash of %.*s", SLICE_ARG(password));
    return STATUS_OK;
}

static bool cheap_check(void *self, Slice password, Slice hash)
{
    (void)self;
    return slice_equal(slice_after(hash, strlen("hash of ")), password);
}

static void answer_mail(void *self, const SmtpJob *job, SmtpAnswer *ret_answer)
{
    (void)self, (void)job;
    *ret_answer = (SmtpAnswer){.taken = site.mail_code < 400,
                               .code = site.mail_code,
                               .about_message = site.mail_code >= 400};
    snprintf(ret_answer->words, sizeof ret_answer->words, "%d said the server", site.mail_code);
}

void recorded_tick(void)
{
    test_world_pass(&site.own, US_PER_S);
}

void recorded_begin(void)
{
    Reason reason = {.rule = ""};
    site = (RecordedSite){.arena = arena_new(), .mail_code = 250};
    site.world = test_world(&site.own, 1);
    site.world.random = (Random){fill, &site};
    RocksdbOptions options = {.directory = test_directory(),
                              .create = true,
                              .cache_bytes = 8 * 1024 * 1024,
                              .write_buffer_bytes = 4 * 1024 * 1024,
                              .grace_s = 10 * 86400,
                              .reopen_s = 1,
                              .world = site.world,
                              .tables = TABLES};
    EXPECT_STATUS(store_rocksdb_open(&options, &site.store, &reason), STATUS_OK);
    site.accounts = accounts_new(&(AccountsOptions){.store = site.store,
                                                    .world = site.world,
                                                    .vault = test_vault(),
                                                    .hasher = {cheap_hash, cheap_check, NULL},
                                                    .id_block = 1});
    site.policies = policies_new(
        &(PoliciesOptions){.store = site.store, .world = site.world, .id_block = 1, .cache_s = 1});
    site.reports = reports_new(&(ReportsOptions){.store = site.store,
                                                 .world = site.world,
                                                 .vault = test_vault(),
                                                 .accounts = site.accounts,
                                                 .policies = site.policies,
                                                 .id_block = 1});
    site.audit = audit_new(&(AuditOptions){site.store, site.world, test_vault()});
    config_defaults(&site.config);
    site.config.smtp_url = "smtp://127.0.0.1:1";
    site.config.mail_from = "Ostraka <site@example.org>";
    MailOptions mail = {.store = site.store,
                        .world = site.world,
                        .vault = test_vault(),
                        .config = &site.config,
                        .transport = {answer_mail, NULL}};
    EXPECT_STATUS(mail_open(&mail, &site.mail, &reason), STATUS_OK);
    site.votes = votes_new(&(VotesOptions){.store = site.store,
                                           .world = site.world,
                                           .accounts = site.accounts,
                                           .policies = site.policies});
    site.tasks = tasks_new(&(TasksOptions){.store = site.store,
                                           .world = site.world,
                                           .shared = true,
                                           .accounts = site.accounts,
                                           .policies = site.policies,
                                           .votes = site.votes,
                                           .address = "http://here"});
}

void recorded_end(void)
{
    tasks_free(site.tasks);
    votes_free(site.votes);
    mail_close(site.mail);
    audit_free(site.audit);
    reports_free(site.reports);
    policies_free(site.policies);
    accounts_free(site.accounts);
    store_close(site.store);
    arena_free(site.arena);
}

/* ---- The steps --------------------------------------------------------------------------------------------------- */

/* A step that must succeed, and the second that passes after it. */
#define STEP(call)                                                                                 \
    do {                                                                                           \
        Reason reason = {.rule = ""};                                                              \
        Status status_ = (call);                                                                   \
        if (status_ != STATUS_OK)                                                                  \
            test_fail(__FILE__, __LINE__, "%s: %s, %s", #call, status_name(status_), reason.rule); \
        recorded_tick();                                                                           \
    } while (0)

static uint64_t joined(const char *name, bool confirmed)
{
    uint64_t id = 0;
    Registration person = {.name = slice_from(name),
                           .email = arena_print(site.arena, "%s@example.org", name),
                           .password = SLICE("correct horse"),
                           .confirmed = confirmed,
                           .roles = 1,
                           .address = SLICE("192.0.2.1"),
                           .cookie = SLICE("cookie")};
    STEP(accounts_register(site.accounts, &person, &id, &reason));
    return id;
}

static void join(void)
{
    uint64_t ann = joined("ann", true), bob = joined("bob", false), joe = joined("joe", true);
    AccountRights rights = {.roles = 2, .denied = 1};
    LinkMail mail;
    Account account;
    Session session;
    Slice secret;
    STEP(accounts_set_profile(site.accounts, ann, SLICE("Ann Äther"), true, &reason));
    STEP(accounts_set_rights(site.accounts, joe, &rights, &reason));
    STEP(accounts_rename(site.accounts, joe, SLICE("joseph"), &reason));
    STEP(credentials_begin_confirm(site.accounts, bob, site.arena, &mail));
    STEP(credentials_begin_reset(site.accounts, SLICE("ann"), site.arena, &mail));
    STEP(credentials_finish_reset(site.accounts, mail.secret, SLICE("battery staple"), &reason));
    STEP(credentials_begin_email(site.accounts, ann, SLICE("new@example.org"), site.arena, &mail,
                                 &reason));
    STEP(links_make(site.accounts, &(NewLink){.kind = LINK_ADMIN, .payload = SLICE_EMPTY},
                    site.arena, &secret));
    STEP(accounts_read(site.accounts, ann, site.arena, &account));
    SessionOrigin origin = {SLICE("192.0.2.7"), SLICE("A browser"), true, true};
    STEP(sessions_begin(site.accounts, &account, &origin, site.arena, &session));
    STEP(sessions_begin(site.accounts, &account, &origin, site.arena, &session));
    STEP(sessions_end(site.accounts, &session));
    STEP(logins_note_failure(site.accounts, ann, &origin));
    STEP(accounts_watch(site.accounts, ann, 7, true));
    STEP(accounts_watch(site.accounts, ann, 9, true));
    STEP(digests_set(site.accounts, ann, DIGEST_WEEKLY));
}

static void enter(uint64_t ann)
{
    NewToken token = {.name = SLICE("My script"), .scope = TOKEN_WRITE, .second = true};
    NewLinkedLogin connection = {SLICE("github"), SLICE("1234"), SLICE("ann@github")};
    Token made;
    SecondFactor second;
    RecoveryCodes codes;
    LinkedLoginJourney journey = {.provider = SLICE("github"),
                                  .nonce = SLICE("nonce"),
                                  .verifier = SLICE("verifier"),
                                  .next = SLICE("/next"),
                                  .account = 3,
                                  .invitation = SLICE("invited")};
    LinkedLoginJourney back;
    Slice state;
    STEP(tokens_make(site.accounts, ann, &token, site.arena, &made, &reason));
    STEP(linked_login_add(site.accounts, ann, &connection, &reason));
    STEP(second_factor_offer(site.accounts, ann, site.arena, &second, &reason));
    char digits[TOTP_DIGITS + 1];
    totp_code(second.secret, totp_step(clock_now_us(site.world.clock)), digits);
    Slice code = slice_from(digits);
    STEP(second_factor_confirm(site.accounts, &(SecondFactorChange){.account = ann, .code = code},
                               site.arena, &codes, &reason));
    STEP(linked_login_journey_begin(site.accounts, &journey, SLICE("browser"), site.arena, &state));
    STEP(linked_login_journey_end(site.accounts, state, SLICE("browser"), site.arena, &back,
                                  &reason));
    STEP(linked_login_journey_begin(site.accounts, &journey, SLICE("browser"), site.arena, &state));
}

static void admit(void)
{
    Invitation invitation;
    bool is_new;
    NewInvitation wishes[] = {{.email = SLICE("eve@example.org"), .by = 1},
                              {.email = SLICE("max@example.org"), .days = 5}};
    Slice domains[] = {SLICE("example.org"), SLICE("*.example.com")};
    ElectorateChange change = {ELECTORATE_DOMAIN, domains, 2, 0};
    Retention retention;
    STEP(invitations_make(site.accounts, &wishes[0], site.arena, &invitation, &is_new, &reason));
    STEP(invitations_make(site.accounts, &wishes[1], site.arena, &invitation, &is_new, &reason));
    STEP(invitations_withdraw(site.accounts, wishes[1].email, &reason));
    STEP(electorate_set(site.accounts, &change, &reason));
    STEP(retention_read(accounts_settings(site.accounts), site.arena, &retention));
    STEP(retention_change(&retention, SLICE("logins"), 30, &retention, &reason));
    STEP(retention_set(accounts_settings(site.accounts), &retention, &reason));
    STEP(settings_set(accounts_settings(site.accounts), SLICE("salary"), SLICE("120"), 0, &reason));
}

static uint64_t proposed(const char *name, uint64_t creator)
{
    NewPolicy policy = {.text = {.name = slice_from(name),
                                 .description = SLICE("What it is."),
                                 .rationale = SLICE("Why."),
                                 .links = {SLICE("https://example.org/a"), SLICE("http://b.org/")},
                                 .link_count = 2,
                                 .category = 1,
                                 .party = 1},
                        .creator = creator,
                        .seq = 5,
                        .version = id_new(site.world.clock, site.world.random),
                        .time_us = clock_now_us(site.world.clock)};
    STEP(policies_next_id(site.policies, &policy.id));
    STEP(policies_create(site.policies, &policy, &reason));
    if (creator != 0)
        STEP(policies_move(site.policies, policy.id, POLICY_PENDING,
                           &(PolicyMove){.state = POLICY_ACTIVE, .actor = creator}, &reason));
    return policy.id;
}

static void propose(uint64_t ann)
{
    Slice categories[] = {SLICE("Education"), SLICE("Health")};
    PolicyGroup party = {.name = SLICE("Greens"), .description = SLICE("Trees."), .active = true};
    Policy policy;
    AnswerState state;
    uint64_t group, target;
    STEP(policies_ensure_categories(site.policies, categories, 2, &reason));
    STEP(policies_set_group(site.policies, GROUP_PARTY, &party, &group, &reason));
    uint64_t trees = proposed("More trees", ann), parks = proposed("More parks", ann);
    STEP(policies_read(site.policies, trees, site.arena, &policy));
    PolicyText text = policy.text;
    text.name = SLICE("Many more trees");
    STEP(policies_edit(site.policies, trees, policy.version, &text, ann, &reason));
    PolicyMerge merge = {.id = id_new(site.world.clock, site.world.random),
                         .source = parks,
                         .actor = ann,
                         .reason = SLICE("The same.")};
    STEP(policies_merge_target(site.policies, &merge, &text, &target, &reason));
    merge.target = target;
    STEP(policies_merge_named(site.policies, &merge, &reason));
    AnswerRequest answer = {.outcome = OUTCOME_ACCEPTED, .text = SLICE("Yes."), .author = ann};
    STEP(answers_note_due(site.policies, trees, 77));
    STEP(answers_note_told(site.policies, trees));
    STEP(answers_give(site.policies, trees, &answer, &reason));
    STEP(answers_read(site.policies, trees, site.arena, &state));
    answer.seen = state.answer.version;
    answer.outcome = OUTCOME_DONE;
    answer.text = SLICE("It is done.");
    STEP(answers_give(site.policies, trees, &answer, &reason));
    FeatureRequest want = {.policy = trees, .until_us = TEST_WORLD_START_US * 2, .actor = ann};
    STEP(policies_feature(site.policies, &want, &reason));
    STEP(policies_disown(site.policies, parks, ann));
}

static void report(uint64_t ann)
{
    NewReport reports[] = {{.kind = REPORT_OF_POLICY,
                            .policy = 1,
                            .account = ann,
                            .email = SLICE_EMPTY,
                            .words = SLICE("It is spam.")},
                           {.kind = REPORT_OF_TROUBLE,
                            .email = SLICE("who@example.org"),
                            .words = SLICE("I cannot log in.")}};
    ReportMove take = {.state = REPORT_TAKEN, .moderator = 3, .reason = SLICE_EMPTY};
    ReportMove close = {.state = REPORT_DISMISSED, .moderator = 3, .reason = SLICE("It is not.")};
    Report report;
    uint64_t id;
    STEP(reports_make(site.reports, &reports[0], &id, &reason));
    STEP(reports_move(site.reports, id, &take, site.arena, &report, &reason));
    STEP(reports_move(site.reports, id, &close, site.arena, &report, &reason));
    STEP(reports_make(site.reports, &reports[1], &id, &reason));
}

static void note(uint64_t ann)
{
    AuditAct act = {.kind = AUDIT_REPORT_DISMISS,
                    .actor = ann,
                    .origin = SLICE("192.0.2.7"),
                    .object = 1,
                    .other = 2,
                    .reason = SLICE("It is not."),
                    .details = SLICE("report 1")};
    Id id;
    STEP(audit_begin(site.audit, &act, &id));
    audit_end(site.audit, id, STATUS_REFUSED);
    recorded_tick();
    STEP(texts_write(site.store, site.world, &(NewText){TEXT_TERMS, SLICE("Be kind."), 0, ann},
                     &reason));
    STEP(texts_write(site.store, site.world, &(NewText){TEXT_TERMS, SLICE("Be kinder."), 1, 0},
                     &reason));
}

static void write_letters(void)
{
    static const int CODES[] = {250, 550, 451};
    for (size_t i = 0; i < sizeof CODES / sizeof CODES[0]; i++) {
        MailMessage letter = {.to = arena_print(site.arena, "%d@example.org", CODES[i]),
                              .subject = SLICE("Hello"),
                              .text = SLICE("Some text.\n"),
                              .html = SLICE("<p>Some text.</p>\n"),
                              .kind = SLICE("test"),
                              .once = arena_print(site.arena, "once %d", CODES[i])};
        if (CODES[i] == 451)
            letter.unsubscribe = SLICE("https://example.org/u/1");
        site.mail_code = CODES[i];
        STEP(mail_send(site.mail, &letter, &reason));
        while (mail_turn(site.mail))
            continue;
        recorded_tick();
    }
    STEP(mail_suppress(site.mail, SLICE("no@example.org"), SUPPRESS_COMPLAINT, &reason));
}

static void work(void)
{
    TaskPart *part = &site.tasks->parts[0];
    while (part->task->local)
        part++;
    part->state.under_way = true;
    part->state.failed = true;
    part->state.begun_us = 1;
    part->state.ended_us = 2;
    part->state.whole_us = 3;
    part->state.took_us = 4;
    part->state.done = 5;
    part->state.found = 6;
    part->state.errors = 7;
    part->state.error_us = 8;
    snprintf(part->state.error, sizeof part->state.error, "it failed");
    buffer_text(&part->state.position, "here");
    STEP(task_state_write(site.tasks, part));
    STEP(task_beat(site.tasks));
}

/* Later than the others, so that those stay as they were recorded. */
static void follow(uint64_t ann)
{
    Followed groups[] = {{.kind = GROUP_CATEGORY, .group = 2, .since_us = 5},
                         {.kind = GROUP_PARTY, .group = 1, .since_us = 6}};
    STEP(accounts_follow(site.accounts, ann, &groups[0], true));
    STEP(accounts_follow(site.accounts, ann, &groups[1], true));
}

void recorded_run(void)
{
    uint64_t ann = 1;
    recorded_tick();
    join();
    enter(ann);
    admit();
    propose(ann);
    report(ann);
    note(ann);
    write_letters();
    work();
    follow(ann);
}
