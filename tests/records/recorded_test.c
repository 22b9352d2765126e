/* recorded_test.c -- what is stored is read as it was whenever it was recorded, and written as it was the last time.
 *
 * recorded.txt has a line for each cell of a small site: table, row, column and value, the last three in hexadecimal digits. It was written by the
 * code that first stored such cells, and is never written anew: a cell that is to be stored in another way gets another format, and a site with such
 * cells is recorded beside it. All of them are read. `recorded_test` with RECORD=FILE in its environment writes what this code would store, for a
 * kind of cell that is new. */
#include "recorded_site.h"

#include "access/access_private.h"

/* recorded-2: sealed cells are bound to their place, heads of accounts have format 3. */
static const char *const RECORDINGS[] = {RECORDED_DIRECTORY "/recorded.txt",
                                         RECORDED_DIRECTORY "/recorded-2.txt"};
enum { RECORDING_COUNT = sizeof RECORDINGS / sizeof RECORDINGS[0] };
static size_t recording; /* the one that is read */

/* A test that reads each of them. */
#define TEST_OF_ALL(name)                                             \
    static void read_##name(void);                                    \
    TEST(name)                                                        \
    {                                                                 \
        for (recording = 0; recording < RECORDING_COUNT; recording++) \
            read_##name();                                            \
    }                                                                 \
    static void read_##name(void)

typedef struct Lines {
    const char **lines;
    size_t count;
} Lines;

/* ---- Text -------------------------------------------------------------------------------------------------------- */

static void put_hex(Buffer *out, Slice bytes)
{
    buffer_text(out, bytes.size == 0 ? " -" : " ");
    for (size_t i = 0; i < bytes.size; i++)
        buffer_print(out, "%02x", (unsigned char)bytes.data[i]);
}

static Slice from_hex(Slice text)
{
    Buffer out = {0};
    for (size_t i = 0; i + 1 < text.size; i += 2) {
        char digits[3] = {text.data[i], text.data[i + 1], '\0'};
        buffer_u8(&out, (uint8_t)strtoul(digits, NULL, 16));
    }
    Slice bytes = arena_copy(site.arena, buffer_slice(&out));
    buffer_free(&out);
    return bytes;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add_line(Lines *lines, const char *line)
{
    if (lines->count % 64 == 0) {
        const char **more = ARENA_ARRAY(site.arena, lines->count + 64, const char *);
        if (lines->count > 0)
            memcpy(more, lines->lines, lines->count * sizeof *more);
        lines->lines = more;
    }
    lines->lines[lines->count++] = arena_text(site.arena, slice_from(line));
}

/* All cells of the store, in the order of their lines. */
static Lines stored(void)
{
    Lines lines = {0};
    for (size_t i = 0; i < TABLES.count; i++) {
        const Table *table = TABLES.tables[i];
        ScanPage page = {.position = SLICE_EMPTY, .more = true};
        while (page.more) {
            EXPECT_STATUS(store_scan(site.store, table, page.position, 1000, site.arena, &page),
                          STATUS_OK);
            for (size_t k = 0; k < page.count; k++) {
                BUFFER_SCOPE Buffer line = {0};
                buffer_text(&line, table->name);
                put_hex(&line, page.cells[k].row);
                put_hex(&line, page.cells[k].cell.column);
                put_hex(&line, page.cells[k].cell.value);
                buffer_u8(&line, '\0');
                add_line(&lines, line.data);
            }
        }
    }
    qsort(lines.lines, lines.count, sizeof *lines.lines, by_bytes);
    return lines;
}

static Lines recorded(void)
{
    Lines lines = {0};
    Slice text, line;
    Reason reason = {.rule = ""};
    EXPECT_STATUS(
        disk_read(site.world.disk, RECORDINGS[recording], 1024 * 1024, site.arena, &text, &reason),
        STATUS_OK);
    while (slice_split(&text, '\n', &line))
        if (line.size > 0)
            add_line(&lines, arena_text(site.arena, line));
    return lines;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static void record(const char *path)
{
    Lines lines = stored();
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    for (size_t i = 0; i < lines.count; i++)
        fprintf(file, "%s\n", lines.lines[i]);
    fclose(file);
}

TEST(cells_are_written_as_they_were_recorded)
{
    recorded_begin();
    recorded_run();
    recording = RECORDING_COUNT - 1;
    if (getenv("RECORD") != NULL)
        record(getenv("RECORD"));
    Lines now = stored(), then = recorded();
    for (size_t i = 0; i < now.count && i < then.count; i++)
        if (strcmp(now.lines[i], then.lines[i]) != 0)
            test_fail(__FILE__, __LINE__, "written\n  %s\nrecorded\n  %s", now.lines[i],
                      then.lines[i]);
    EXPECT_I64(now.count, then.count);
    recorded_end();
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static const Table *table_named(Slice name)
{
    for (size_t i = 0; i < TABLES.count; i++)
        if (slice_equal(name, slice_from(TABLES.tables[i]->name)))
            return TABLES.tables[i];
    test_fail(__FILE__, __LINE__, "there is no table %.*s", SLICE_ARG(name));
}

static void load_line(Slice line)
{
    Slice words[4];
    for (int i = 0; i < 4; i++)
        EXPECT(slice_split(&line, ' ', &words[i]));
    const Table *table = table_named(words[0]);
    Slice row = from_hex(words[1]);
    Change change = {.column = from_hex(words[2]), .value = from_hex(words[3])};
    if (table->kind == TABLE_PLAIN) {
        change.timestamp = clock_now_us(site.world.clock);
        RowChange put = {table, row, change};
        EXPECT_STATUS(store_write(site.store, &(Batch){.changes = &put, .count = 1}), STATUS_OK);
        return;
    }
    Condition absent = {change.column, SLICE_EMPTY, true};
    Update update = {.table = table,
                     .row = row,
                     .conditions = &absent,
                     .condition_count = 1,
                     .changes = &change,
                     .change_count = 1};
    EXPECT_STATUS(store_update_if(site.store, &update, site.arena, NULL), STATUS_OK);
}

/* A site that finds what was recorded, some minutes after it was. */
static void begin_recorded(void)
{
    recorded_begin();
    test_world_pass(&site.own, 120 * US_PER_S);
    Lines lines = recorded();
    for (size_t i = 0; i < lines.count; i++)
        load_line(slice_from(lines.lines[i]));
}

#define START_S (TEST_WORLD_START_US / US_PER_S)
/* The second of the recording in which something was done. */
#define SECOND_OF(us) ((us) / US_PER_S - START_S)

TEST_OF_ALL(accounts_are_read)
{
    begin_recorded();
    Account account;
    uint64_t *watched;
    size_t count;
    EXPECT_STATUS(accounts_find(site.accounts, SLICE("ann@example.org"), site.arena, &account),
                  STATUS_OK);
    EXPECT_I64(account.id, 1);
    EXPECT_SLICE(account.name, SLICE("ann"));
    EXPECT_SLICE(account.real_name, SLICE("Ann Äther"));
    EXPECT(account.real_name_shown && account.second && account.state == ACCOUNT_CONFIRMED);
    EXPECT_SLICE(account.password_hash, SLICE("hash of battery staple"));
    EXPECT_I64(SECOND_OF(account.registered_us), 1);
    EXPECT_STATUS(accounts_find(site.accounts, SLICE("Joseph"), site.arena, &account), STATUS_OK);
    EXPECT(account.id == 3 && account.roles == 2 && account.denied == 1);
    EXPECT_STATUS(accounts_find(site.accounts, SLICE("joe"), site.arena, &account),
                  STATUS_NOT_FOUND);
    EXPECT_STATUS(accounts_read(site.accounts, 2, site.arena, &account), STATUS_OK);
    EXPECT(account.state == ACCOUNT_PENDING);
    EXPECT_STATUS(accounts_watched(site.accounts, 1, site.arena, &watched, &count), STATUS_OK);
    EXPECT(count == 2 && watched[0] == 7 && watched[1] == 9);
    Followed *followed;
    EXPECT_STATUS(accounts_followed(site.accounts, 1, site.arena, &followed, &count), STATUS_OK);
    EXPECT(count == 2 && followed[0].kind == GROUP_CATEGORY && followed[0].group == 2 &&
           followed[1].kind == GROUP_PARTY && followed[1].since_us == 6);
    DigestRequest want;
    EXPECT_STATUS(digests_get(site.accounts, 1, &want), STATUS_OK);
    EXPECT(want.choice == DIGEST_WEEKLY && want.seen_to == 0 && SECOND_OF(want.since_us) == 19);
    SharedSignal *shared;
    EXPECT_STATUS(accounts_signals(site.accounts, 1, site.arena, &shared, &count), STATUS_OK);
    EXPECT_I64(count, 4);
    recorded_end();
}

TEST_OF_ALL(ways_in_are_read)
{
    begin_recorded();
    Account account;
    Session *sessions;
    Login *logins;
    Token *tokens;
    LinkedLogin *connections;
    SecondFactor second;
    size_t count;
    EXPECT_STATUS(accounts_read(site.accounts, 1, site.arena, &account), STATUS_OK);
    account.epoch--; /* the second factor ended them */
    EXPECT_STATUS(sessions_list(site.accounts, &account, site.arena, &sessions, &count), STATUS_OK);
    EXPECT(count == 1 && sessions[0].origin.remember && sessions[0].origin.second);
    EXPECT_SLICE(sessions[0].origin.address, SLICE("192.0.2.7"));
    EXPECT_SLICE(sessions[0].origin.agent, SLICE("A browser"));
    EXPECT_I64(SECOND_OF(sessions[0].begun_us), 13);
    EXPECT_STATUS(logins_list(site.accounts, 1, site.arena, &logins, &count), STATUS_OK);
    EXPECT(count == 3 && !logins[0].success && logins[2].success);
    EXPECT_I64(SECOND_OF(logins[0].time_us), 16);
    EXPECT_SLICE(logins[0].origin.address, SLICE("192.0.2.7"));
    EXPECT_STATUS(tokens_list(site.accounts, 1, site.arena, &tokens, &count), STATUS_OK);
    EXPECT(count == 1 && tokens[0].scope == TOKEN_WRITE && tokens[0].second);
    EXPECT_SLICE(tokens[0].name, SLICE("My script"));
    EXPECT_I64(SECOND_OF(tokens[0].made_us), 20);
    EXPECT_STATUS(linked_login_list(site.accounts, 1, site.arena, &connections, &count), STATUS_OK);
    EXPECT_I64(count, 1);
    EXPECT_SLICE(connections[0].provider, SLICE("github"));
    EXPECT_SLICE(connections[0].subject, SLICE("1234"));
    EXPECT_SLICE(connections[0].label, SLICE("ann@github"));
    EXPECT_STATUS(
        linked_login_find(site.accounts, SLICE("github"), SLICE("1234"), site.arena, &account),
        STATUS_OK);
    EXPECT_STATUS(second_factor_read(site.accounts, 1, site.arena, &second), STATUS_OK);
    EXPECT(second.is_on && second.codes_left == SECOND_FACTOR_CODES &&
           SECOND_OF(second.since_us) == 23);
    recorded_end();
}

/* The secrets come from the clock of the step that made them. */
static Slice secret_of(int second, uint64_t account)
{
    char bytes[SECRET_BYTES];
    test_world_set(&site.own, TEST_WORLD_START_US + second * US_PER_S);
    if (account == 0 && second > 20)
        random_fill(site.world.random, bytes, sizeof bytes);
    else
        secret_make(site.accounts, account, bytes);
    return secret_text(bytes, site.arena);
}

TEST_OF_ALL(links_and_journeys_are_read)
{
    begin_recorded();
    Reason reason = {.rule = ""};
    Link link;
    LinkedLoginJourney journey;
    uint64_t id;
    EXPECT_STATUS(links_peek(site.accounts, LINK_ADMIN, secret_of(11, 0), site.arena, &link, NULL),
                  STATUS_OK);
    EXPECT_I64(SECOND_OF(link.made_us), 11);
    EXPECT_STATUS(
        links_peek(site.accounts, LINK_RESET, secret_of(8, 1), site.arena, &link, &reason),
        STATUS_REFUSED);
    EXPECT_SLICE(slice_from(reason.rule), SLICE("this link was used already"));
    EXPECT_STATUS(credentials_finish_confirm(site.accounts, secret_of(7, 2), &id, &reason),
                  STATUS_OK);
    EXPECT_I64(id, 2);
    EXPECT_STATUS(linked_login_journey_end(site.accounts, secret_of(24, 0), SLICE("browser"),
                                           site.arena, &journey, &reason),
                  STATUS_REFUSED);
    EXPECT_SLICE(slice_from(reason.rule), SLICE("this log-in was finished already; begin again"));
    EXPECT_STATUS(linked_login_journey_end(site.accounts, secret_of(26, 0), SLICE("browser"),
                                           site.arena, &journey, &reason),
                  STATUS_OK);
    EXPECT_SLICE(journey.provider, SLICE("github"));
    EXPECT_SLICE(journey.nonce, SLICE("nonce"));
    EXPECT_SLICE(journey.verifier, SLICE("verifier"));
    EXPECT_SLICE(journey.next, SLICE("/next"));
    EXPECT_SLICE(journey.invitation, SLICE("invited"));
    EXPECT_I64(journey.account, 3);
    recorded_end();
}

TEST_OF_ALL(rules_of_the_site_are_read)
{
    begin_recorded();
    InvitationPage page;
    Electorate electorate;
    Retention retention;
    SettingsHistory settings;
    EXPECT_STATUS(invitations_list(site.accounts, SLICE_EMPTY, site.arena, &page), STATUS_OK);
    EXPECT_I64(page.count, 2);
    EXPECT_SLICE(page.invitations[0].email, SLICE("max@example.org"));
    EXPECT(page.invitations[0].state == INVITATION_WITHDRAWN);
    EXPECT(page.invitations[1].state == INVITATION_OPEN && page.invitations[1].by == 1);
    EXPECT_I64(page.invitations[1].ends_us - page.invitations[1].made_us,
               INVITATION_DAYS * S_PER_DAY * US_PER_S);
    EXPECT_STATUS(electorate_read(site.accounts, site.arena, &electorate), STATUS_OK);
    EXPECT(electorate.version == 1 && electorate.mode == ELECTORATE_DOMAIN &&
           electorate.domain_count == 2);
    EXPECT_SLICE(electorate.domains[1], SLICE("*.example.com"));
    EXPECT_STATUS(retention_read(accounts_settings(site.accounts), site.arena, &retention),
                  STATUS_OK);
    EXPECT(retention.version == 1 && retention.logins == 30 && retention.letters == 30);
    EXPECT_STATUS(settings_read(accounts_settings(site.accounts), site.arena, &settings),
                  STATUS_OK);
    EXPECT_I64(settings.count, 2);
    EXPECT(settings.versions[1].salary == 120 && settings.versions[1].salary_days == 7);
    recorded_end();
}

TEST_OF_ALL(policies_are_read)
{
    begin_recorded();
    Policy policy;
    PolicyRevision revision;
    uint64_t *members;
    PolicyGroup *groups;
    Featured *featured;
    size_t count;
    EXPECT_STATUS(policies_read(site.policies, 1, site.arena, &policy), STATUS_OK);
    EXPECT_SLICE(policy.text.name, SLICE("Many more trees"));
    EXPECT_SLICE(policy.text.links[1], SLICE("http://b.org/"));
    EXPECT(policy.text.link_count == 2 && policy.text.category == 1 && policy.text.party == 1);
    EXPECT(policy.owner == 1 && policy.creator == 1 && policy.created_seq == 5 &&
           policy.revision == 2 && policy.facts.move_count == 2);
    EXPECT_STATUS(policies_revision(site.policies, 1, 1, site.arena, &revision), STATUS_OK);
    EXPECT_SLICE(revision.text.name, SLICE("More trees"));
    EXPECT_SLICE(revision.text.rationale, SLICE("Why."));
    EXPECT_STATUS(policies_read(site.policies, 2, site.arena, &policy), STATUS_OK);
    const PolicyMove *last = &policy.facts.moves[policy.facts.move_count - 1];
    EXPECT(last->state == POLICY_MERGED && last->other == 3 && last->actor == 1 &&
           policy.owner == 0);
    EXPECT_SLICE(last->reason, SLICE("The same."));
    EXPECT_STATUS(policies_members(site.policies, 3, site.arena, &members, &count), STATUS_OK);
    EXPECT(count == 2 && members[1] == 2);
    EXPECT_STATUS(policies_groups(site.policies, GROUP_PARTY, site.arena, &groups, &count),
                  STATUS_OK);
    EXPECT(count == 1 && groups[0].active);
    EXPECT_SLICE(groups[0].name, SLICE("Greens"));
    EXPECT_SLICE(groups[0].description, SLICE("Trees."));
    EXPECT_STATUS(policies_featured(site.policies, site.arena, &featured, &count), STATUS_OK);
    EXPECT(count == 1 && featured[0].policy == 1 && featured[0].actor == 1 &&
           featured[0].until_us == TEST_WORLD_START_US * 2);
    recorded_end();
}

TEST_OF_ALL(answers_are_read)
{
    begin_recorded();
    AnswerState state;
    AnswerNews news;
    Answer first;
    EXPECT_STATUS(answers_read(site.policies, 1, site.arena, &state), STATUS_OK);
    EXPECT(state.is_answered && state.is_due && state.is_told && state.due_votes == 77);
    EXPECT(state.answer.outcome == OUTCOME_DONE && state.answer.revision == 2 &&
           state.answer.author == 1);
    EXPECT_SLICE(state.answer.text, SLICE("It is done."));
    EXPECT_STATUS(answers_revision(site.policies, 1, 1, site.arena, &first), STATUS_OK);
    EXPECT_SLICE(first.text, SLICE("Yes."));
    EXPECT_I64(state.answer.first_us, first.time_us);
    EXPECT_STATUS(answers_news(site.policies, &(uint64_t){1}, 1, site.arena, &news), STATUS_OK);
    EXPECT(news.revision == 2 && news.author == 1 && news.time_us == state.answer.time_us);
    recorded_end();
}

TEST_OF_ALL(reports_acts_and_texts_are_read)
{
    begin_recorded();
    Report report;
    AuditEntry *entries;
    SiteText text;
    size_t count;
    EXPECT_STATUS(reports_read(site.reports, 1, site.arena, &report), STATUS_OK);
    EXPECT(report.state == REPORT_DISMISSED && report.kind == REPORT_OF_POLICY &&
           report.policy == 1 && report.account == 1 && report.moderator == 3 &&
           report.since_us - report.made_us == 2 * US_PER_S);
    EXPECT_SLICE(report.words, SLICE("It is spam."));
    EXPECT_SLICE(report.reason, SLICE("It is not."));
    EXPECT_STATUS(reports_read(site.reports, 2, site.arena, &report), STATUS_OK);
    EXPECT_SLICE(report.email, SLICE("who@example.org"));
    EXPECT_STATUS(audit_list(site.audit, &(AuditQuery){.limit = 10}, site.arena, &entries, &count),
                  STATUS_OK);
    EXPECT(count == 1 && entries[0].act.kind == AUDIT_REPORT_DISMISS && entries[0].act.actor == 1 &&
           entries[0].act.object == 1 && entries[0].act.other == 2 &&
           entries[0].outcome == AUDIT_NOT_DONE);
    EXPECT_SLICE(entries[0].act.origin, SLICE("192.0.2.7"));
    EXPECT_SLICE(entries[0].act.details, SLICE("report 1"));
    EXPECT_SLICE(entries[0].instance, SLICE("command line"));
    EXPECT_STATUS(texts_read(site.store, TEXT_TERMS, site.arena, &text), STATUS_OK);
    EXPECT(text.revision == 2 && text.editor == 0);
    EXPECT_SLICE(text.text, SLICE("Be kinder."));
    EXPECT_STATUS(texts_read_revision(site.store, TEXT_TERMS, 1, site.arena, &text), STATUS_OK);
    EXPECT(text.editor == 1);
    recorded_end();
}

TEST_OF_ALL(letters_and_tasks_are_read)
{
    begin_recorded();
    MailEntry *entries;
    Suppressed suppressed;
    Instance *instances;
    size_t count;
    EXPECT_STATUS(mail_list(site.mail, MAIL_FAILED, site.arena, &entries, &count), STATUS_OK);
    EXPECT(count == 1 && entries[0].code == 550 && entries[0].attempts == 1);
    EXPECT_SLICE(entries[0].to, SLICE("550@example.org"));
    EXPECT_SLICE(entries[0].subject, SLICE("Hello"));
    EXPECT_SLICE(entries[0].error, SLICE("550 said the server"));
    EXPECT_STATUS(mail_list(site.mail, MAIL_WAITING, site.arena, &entries, &count), STATUS_OK);
    EXPECT(count == 1 && entries[0].code == 451);
    EXPECT_SLICE(entries[0].kind, SLICE("test"));
    EXPECT_STATUS(mail_suppressed(site.mail, SLICE("No@example.org"), site.arena, &suppressed),
                  STATUS_OK);
    EXPECT(suppressed.why == SUPPRESS_COMPLAINT);
    TaskPart *part = &site.tasks->parts[0];
    while (part->task->local)
        part++;
    EXPECT_STATUS(task_state_read(site.tasks, part), STATUS_OK);
    const TaskState *state = &part->state;
    EXPECT(state->under_way && state->failed && state->begun_us == 1 && state->ended_us == 2 &&
           state->whole_us == 3 && state->took_us == 4 && state->done == 5 && state->found == 6 &&
           state->errors == 7 && state->error_us == 8);
    EXPECT_SLICE(slice_from(state->error), SLICE("it failed"));
    EXPECT_SLICE(buffer_slice(&state->position), SLICE("here"));
    EXPECT_STATUS(tasks_instances(site.tasks, site.arena, &instances, &count), STATUS_OK);
    EXPECT_I64(count, 1);
    EXPECT_I64(instances[0].started_us, TEST_WORLD_START_US);
    EXPECT_SLICE(instances[0].address, SLICE("http://here"));
    recorded_end();
}
