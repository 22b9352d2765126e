/* site_fixture_server.c -- the site as it is, on an embedded store that can be told to leave a save in doubt; for site_fixture.py.
 *
 *     site_fixture_server DIRECTORY [SETTING VALUE]…
 * prints "port N", then obeys one line of standard input after the other, and answers "done …" or "failed WHY":
 *     voter NAME DAYS          a confirmed account that registered so many days ago   done ID SECRET-OF-A-SESSION
 *     guest NAME               one that is not confirmed                              done ID -
 *     policy OWNER NAME        an active policy, for 100 of the owner's pollies       done ID
 *     role ID ROLE             gives an account one role
 *     connect ID SUBJECT       a log-in at another site
 *     deny ID RIGHT            takes one right away
 *     digest ID DAYS           the letter about the last days, when there is one     done Message TEXT, with | for line ends
 *     unsubscribe-link ID      the token of the link in it                            done TOKEN
 *     move POLICY STATE        "retired", "pending-deletion", "deleted"
 *     merge SOURCE TARGET
 *     report POLICY            by a visitor                                           done ID
 *     past NAME VALUE          a setting of the vote that was changed an hour ago, and counts
 *     damage ID                the voter's row cannot be read any more
 *     stored WORDS             where they stand in the store (app/stored_words.h)      done, or done TABLE COLUMN
 *     letters KIND             to whom letters of a kind went                          done ADDRESS…
 *     doubt none|lost|done     see doubtful_store.h
 *     dark CHANGES             the same: dark behind so many; 0: honest again            done 1 when it was dark
 *     command WORDS            runs a command; its output follows (doors/door_control.h)
 * With `still` in place of a setting its time stands still, nothing runs in the background, and it also obeys (doors/door_control.h):
 *     tick SECONDS             so long after the start; 0: a second passes
 *     dump -                   all that the site holds follows
 * There is no log-in here: sessions are begun as the log-in page does. Ends at the end of its input. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "access/credentials.h"
#include "access/linked_logins.h"
#include "access/sessions.h"
#include "app/digest_letters.h"
#include "app/report_letters.h"
#include "app/stored_words.h"
#include "cli/site_facts.h"
#include "doors/door_control.h"
#include "doubtful_store.h"
#include "site/site_private.h"
#include "store/rocksdb/rocksdb.h"

static struct {
    World world;
    Config config;
    Log *log;
    DoubtfulStore doubt;
    App app;
    Operations *ops;
    Site *site;
    WebServer *server;
    Arena *arena;
    bool is_still;
} booth;

/* ---- Commands ---- */

static Status add_account(const char *name, int64_t days, bool confirmed, Reason *reason)
{
    uint64_t id;
    Account account;
    Session session;
    SessionOrigin origin = {.address = SLICE("127.0.0.1"), .agent = SLICE("booth")};
    Registration registration = {.name = slice_from(name),
                                 .email = arena_print(booth.arena, "%s@example.org", name),
                                 .without_password = true,
                                 .confirmed = confirmed,
                                 .registered_us =
                                     clock_now_us(booth.world.clock) - days * 86400 * US_PER_S,
                                 .address = SLICE_EMPTY,
                                 .cookie = SLICE_EMPTY};
    TRY(accounts_register(booth.app.accounts, &registration, &id, reason));
    TRY(accounts_read(booth.app.accounts, id, booth.arena, &account));
    session.secret = SLICE("-"); /* who is not confirmed cannot log in */
    if (confirmed)
        TRY(sessions_begin(booth.app.accounts, &account, &origin, booth.arena, &session));
    printf("done %llu %.*s\n", (unsigned long long)id, SLICE_ARG(session.secret));
    return STATUS_OK;
}

static Status add_policy(uint64_t owner, const char *name, Reason *reason)
{
    VoterState state;
    SaveResult result;
    PolicyText text = {.name = slice_from(name),
                       .description = SLICE("A text."),
                       .rationale = SLICE_EMPTY,
                       .category = 1};
    TRY(votes_show(booth.app.votes, owner, booth.arena, &state));
    SaveRequest request = {
        .voter = owner, .seen = state.version, .create = &text, .create_held = 100};
    TRY(votes_save(booth.app.votes, &request, booth.arena, &result, reason));
    if (result.outcome != SAVE_SAVED)
        return reason_set(reason, STATUS_REFUSED, "", "%s", vote_rule_text(result.rule));
    TRY(ranking_policy_changed(booth.app.ranking, result.created));
    printf("done %llu\n", (unsigned long long)result.created);
    return STATUS_OK;
}

/* As every page does after a change. */
static Status changed(uint64_t policy)
{
    policy_summaries_forget(booth.site->summaries, policy);
    return ranking_policy_changed(booth.app.ranking, policy);
}

static Status move_policy(uint64_t policy, const char *state, Reason *reason)
{
    PolicyMove move = {.reason = SLICE("a test")};
    while (move.state < POLICY_STATE_COUNT && strcmp(policy_state_text(move.state), state) != 0)
        move.state++;
    move.percent = move.state == POLICY_RETIRED ? 50 : 0;
    Policy before;
    TRY(policies_fresh(booth.app.policies, policy, booth.arena, &before));
    PolicyState from = before.facts.moves[before.facts.move_count - 1].state;
    TRY(policies_move(booth.app.policies, policy, from, &move, reason));
    if (move.state == POLICY_DELETED)
        TRY(policies_obliterate(booth.app.policies, policy));
    TRY(changed(policy));
    printf("done\n");
    return STATUS_OK;
}

/* One or several with commas between. */
static Status give_roles(uint64_t account, const char *names, Reason *reason)
{
    AccountRights rights = {0};
    TRY(account_roles_from(slice_from(names), "role", &rights.roles, reason));
    TRY(accounts_set_rights(booth.app.accounts, account, &rights, reason));
    printf("done\n");
    return STATUS_OK;
}

static Status connect_account(uint64_t account, const char *subject, Reason *reason)
{
    NewLinkedLogin who = {SLICE("town"), slice_from(subject), SLICE_EMPTY};
    TRY(linked_login_add(booth.app.accounts, account, &who, reason));
    printf("done\n");
    return STATUS_OK;
}

static Status take_right(uint64_t account, const char *name, Reason *reason)
{
    AccountRight right;
    TRY(word_find(ACCOUNT_RIGHT_WORDS, slice_from(name), "right", &right, reason));
    AccountRights rights = {.denied = 1u << right};
    TRY(accounts_set_rights(booth.app.accounts, account, &rights, reason));
    printf("done\n");
    return STATUS_OK;
}

/* The letter as it would go out now, about the last `days`, asked for twice; and how many there are. */
static Status write_digest(uint64_t account, int64_t days, Reason *reason)
{
    int64_t now_us = clock_now_us(booth.world.clock);
    DigestRequest want = {.account = account, .choice = DIGEST_DAILY};
    DigestPeriod period = {
        .number = 1, .from_us = now_us - days * S_PER_DAY * US_PER_S, .to_us = now_us + US_PER_S};
    MailEntry *entries;
    Account person;
    size_t count;
    TRY(accounts_read(booth.app.accounts, account, booth.arena, &person));
    for (int i = 0; i < 2; i++)
        TRY(app_send_digest(booth.app.digests, &want, &period, reason));
    TRY(mail_outbox(booth.app.mail, booth.arena, &entries, &count));
    printf("done");
    for (size_t i = 0; i < count; i++) {
        if (!slice_equal(entries[i].to, person.email) ||
            !slice_equal(entries[i].kind, SLICE("digest")))
            continue;
        printf(" Message ");
        for (size_t j = 0; j < entries[i].text.size; j++)
            putchar(entries[i].text.data[j] == '\n' ? '|' : entries[i].text.data[j]);
    }
    printf("\n");
    return STATUS_OK;
}

static Status print_link(uint64_t account)
{
    Slice token = digests_token(booth.app.accounts, account, booth.arena);
    printf("done %.*s\n", SLICE_ARG(token));
    return STATUS_OK;
}

static Status merge_policy(uint64_t source, uint64_t target, Reason *reason)
{
    TRY(policies_merge(booth.app.policies, source, target, 0, SLICE("a test"), reason));
    TRY(changed(source));
    TRY(changed(target));
    printf("done\n");
    return STATUS_OK;
}

static Status add_report(uint64_t policy, Reason *reason)
{
    uint64_t id;
    NewReport report = {.kind = REPORT_OF_POLICY,
                        .policy = policy,
                        .email = SLICE_EMPTY,
                        .words = SLICE("A test.")};
    TRY(reports_make(booth.app.reports, &report, &id, reason));
    printf("done %llu\n", (unsigned long long)id);
    return STATUS_OK;
}

/* The words of the acts that everybody may see, the newest first. */
static Status list_acts(void)
{
    AuditEntry *entries;
    size_t count;
    AuditQuery query = {.public_only = true, .instance = SLICE_EMPTY, .limit = AUDIT_LIST_MAX};
    TRY(audit_list(booth.app.audit, &query, booth.arena, &entries, &count));
    printf("done");
    for (size_t i = 0; i < count; i++)
        printf(" %.*s", SLICE_ARG(entries[i].word));
    printf("\n");
    return STATUS_OK;
}

/* About saves of votes, or "policies", or "reports". */
static Status set_doubt(const char *mode, const char *what)
{
    const Table *table = what == NULL                    ? &TABLE_VOTERS
                         : strcmp(what, "policies") == 0 ? &TABLE_POLICIES
                         : strcmp(what, "reports") == 0  ? &TABLE_REPORTS
                                                         : &TABLE_VOTERS;
    static const char *const MODES[] = {"none", "lost", "done"};
    for (int i = 0; i < 3; i++)
        if (strcmp(MODES[i], mode) == 0)
            doubtful_store_set(&booth.doubt, (DoubtMode)i, table);
    printf("done\n");
    return STATUS_OK;
}

static int64_t hour_ago_us(void *self)
{
    return booth.world.clock.now_us(self) - 3600 * US_PER_S;
}

/* By a handle whose clock is behind, as a change counts a quarter of an hour after it was made. */
static Status set_past(const char *name, const char *value, Reason *reason)
{
    AccountsOptions options = {.store = booth.doubt.real,
                               .world = booth.world,
                               .vault = booth.app.vault,
                               .hasher = password_bcrypt(4),
                               .id_block = 1};
    options.world.clock.now_us = hour_ago_us;
    Accounts *accounts = accounts_new(&options);
    Status status =
        settings_set(accounts_settings(accounts), slice_from(name), slice_from(value), 0, reason);
    accounts_free(accounts);
    TRY(status);
    /* The same once more by the site's own handle, which reads all of it anew then. */
    TRY(settings_set(accounts_settings(booth.app.accounts), slice_from(name), slice_from(value), 0,
                     reason));
    printf("done\n");
    return STATUS_OK;
}

static Status list_letters(const char *kind)
{
    MailEntry *entries;
    size_t count;
    TRY(mail_outbox(booth.app.mail, booth.arena, &entries, &count));
    printf("done");
    for (size_t i = 0; i < count; i++)
        if (slice_equal(entries[i].kind, slice_from(kind)))
            printf(" %.*s", SLICE_ARG(entries[i].to));
    printf("\n");
    return STATUS_OK;
}

static Status damage_voter(uint64_t voter)
{
    Cell cell;
    char *row = arena_bytes(booth.arena, sizeof voter);
    bytes_put_u64(row, voter);
    Read read = {&TABLE_VOTERS, slice_of(row, sizeof voter), SLICE("head"), STORE_SERIAL};
    TRY(store_read(booth.doubt.real, &read, booth.arena, &cell));
    Condition condition = {.column = read.column, .value = cell.value};
    Change change = {.column = read.column, .value = SLICE("nonsense")};
    Update update = {.table = read.table,
                     .row = read.row,
                     .conditions = &condition,
                     .condition_count = 1,
                     .changes = &change,
                     .change_count = 1};
    TRY(store_update_if(booth.doubt.real, &update, booth.arena, NULL));
    printf("done\n");
    return STATUS_OK;
}

static Status find_stored(const char *words)
{
    Slice where;
    TRY(stored_words_find(booth.doubt.real, booth.app.vault, slice_from(words), booth.arena,
                          &where));
    printf("done %.*s\n", SLICE_ARG(where));
    return STATUS_OK;
}

/* "verb first rest", where the rest may hold spaces. */
static Status obey(char *line, Reason *reason)
{
    if (strncmp(line, "command\x1f", 8) == 0) {
        door_command(&booth.app, booth.ops, line + 8);
        return STATUS_OK;
    }
    char *first = strchr(line, ' ');
    if (first == NULL)
        return reason_set(reason, STATUS_INVALID, "", "no such command");
    *first++ = '\0';
    char *rest = strchr(first, ' ');
    if (rest != NULL)
        *rest++ = '\0';
    uint64_t number = strtoull(first, NULL, 10);
    if (strcmp(line, "dump") == 0) {
        TRY(app_tell_reports(&booth.app, reason)); /* as its task does */
        return door_dump(&booth.app, booth.arena, reason);
    }
    if (strcmp(line, "tick") == 0) {
        door_tick(strtoll(first, NULL, 10));
        printf("done\n");
        return STATUS_OK;
    }
    if (strcmp(line, "first-admin") == 0) {
        Slice secret;
        TRY(credentials_begin_first_admin(booth.app.accounts, booth.arena, &secret));
        printf("done %.*s\n", SLICE_ARG(secret));
        return STATUS_OK;
    }
    if (strcmp(line, "guest") == 0)
        return add_account(first, 0, false, reason);
    if (strcmp(line, "report") == 0)
        return add_report(number, reason);
    if (strcmp(line, "unsubscribe-link") == 0)
        return print_link(number);
    if (rest != NULL && strcmp(line, "digest") == 0)
        return write_digest(number, strtoll(rest, NULL, 10), reason);
    if (rest != NULL && strcmp(line, "past") == 0)
        return set_past(first, rest, reason);
    if (strcmp(line, "letters") == 0)
        return list_letters(first);
    if (strcmp(line, "damage") == 0)
        return damage_voter(number);
    if (strcmp(line, "stored") == 0)
        return find_stored(first);
    if (strcmp(line, "acts") == 0)
        return list_acts();
    if (strcmp(line, "dark") == 0) {
        printf("done %d\n", doubtful_store_is_dark(&booth.doubt));
        if (atoi(first) > 0)
            doubtful_store_darken(&booth.doubt, atoi(first));
        else
            doubtful_store_set(&booth.doubt, DOUBT_NONE, NULL);
        return STATUS_OK;
    }
    if (strcmp(line, "doubt") == 0)
        return set_doubt(first, rest);
    if (rest != NULL && strcmp(line, "voter") == 0)
        return add_account(first, strtoll(rest, NULL, 10), true, reason);
    if (rest != NULL && strcmp(line, "policy") == 0)
        return add_policy(number, rest, reason);
    if (rest != NULL && strcmp(line, "role") == 0)
        return give_roles(number, rest, reason);
    if (rest != NULL && strcmp(line, "connect") == 0)
        return connect_account(number, rest, reason);
    if (rest != NULL && strcmp(line, "deny") == 0)
        return take_right(number, rest, reason);
    if (rest != NULL && strcmp(line, "move") == 0)
        return move_policy(number, rest, reason);
    if (rest != NULL && strcmp(line, "merge") == 0)
        return merge_policy(number, strtoull(rest, NULL, 10), reason);
    return reason_set(reason, STATUS_INVALID, "", "no such command");
}

/* ---- The site ---- */

static Status tell_maintenance(void *self, Arena *arena, Slice *ret_message)
{
    (void)self;
    return site_maintenance(booth.app.store, arena, ret_message);
}

static Status change_maintenance(void *self, Slice message, Reason *reason)
{
    (void)self;
    ARENA_SCOPE Arena *arena = arena_new();
    TRY(site_set_maintenance(booth.app.store, booth.world, message, reason));
    web_server_maintenance(booth.server, message.data != NULL ? arena_text(arena, message) : NULL);
    return STATUS_OK;
}

/* As app_start does, but without its threads. */
static Status start_still(void)
{
    Ranking *ranking;
    audit_name(booth.app.audit, SLICE("booth"));
    (void)app_tasks(&booth.app);
    return app_ranking(&booth.app, &ranking);
}

static Status start(const char *directory, Reason *reason)
{
    Store *store;
    RocksdbOptions options = {.directory = directory,
                              .create = true,
                              .cache_bytes = 8 * 1024 * 1024,
                              .write_buffer_bytes = 4 * 1024 * 1024,
                              .grace_s = 10 * 86400,
                              .reopen_s = 1,
                              .world = booth.world,
                              .tables = TABLES};
    TRY(store_rocksdb_open(&options, &store, reason));
    doubtful_store_init(&booth.doubt, store);
    AppParts parts = {&booth.doubt.store, booth.world, vault_for_tests(1), &booth.config};
    TRY(app_open(&parts, &booth.app, reason));
    TRY(booth.is_still ? start_still() : app_start(&booth.app, booth.log, "booth", reason));
    booth.ops = operations_new(
        &(OperationsOptions){.app = &booth.app,
                             .config = &booth.config,
                             .control = {tell_maintenance, change_maintenance, NULL}});
    booth.site = site_new(&(SiteOptions){
        .app = &booth.app, .config = &booth.config, .log = booth.log, .ops = booth.ops});
    WebOptions web = {.config = &booth.config,
                      .world = booth.world,
                      .log = booth.log,
                      .store = {store, store_health, store_metrics}};
    site_serve(booth.site, &web);
    TRY(web_server_start(&web, &booth.server, reason));
    app_set_home(&booth.app, web_server_public_url(booth.server));
    if (booth.is_still)
        booth.site->home = booth.app.home;
    else
        site_start(booth.site, booth.app.home);
    printf("port %u\n", (unsigned)web_server_port(booth.server));
    fflush(stdout);
    return STATUS_OK;
}

static void stop(void)
{
    if (booth.server != NULL)
        web_server_stop(booth.server);
    site_stop(booth.site);
    app_close(&booth.app);
    site_free(booth.site);
    operations_free(booth.ops);
    store_close(booth.doubt.real);
}

int main(int argc, char **argv)
{
    static char line[20000];
    Reason reason = {0};
    booth.is_still = argc >= 4 && strcmp(argv[2], "still") == 0;
    booth.world = booth.is_still ? door_world() : world_real();
    booth.arena = arena_new();
    booth.log = log_new(STDERR_FILENO, LOG_WARNING, booth.world.clock);
    config_defaults(&booth.config);
    booth.config.mail_outbox = true;
    booth.config.save_threads = 8; /* each takes a millisecond to start and stop */
    Status status =
        config_set(&booth.config, SLICE("listen"), SLICE("127.0.0.1:0"), booth.arena, &reason);
    if (booth.is_still) /* the same in every e-mail, whatever the port */
        booth.config.public_url = "http://localhost:8080";
    for (int i = 2; status == STATUS_OK && i + 1 < argc; i += 2) /* settings and their values */
        status = config_set(&booth.config,
                            booth.is_still && i == 2 ? SLICE("oidc_file") : slice_from(argv[i]),
                            slice_from(argv[i + 1]), booth.arena, &reason);
    if (status == STATUS_OK && argc >= 2) {
        booth.config.data = argv[1];
        status = start(argv[1], &reason);
    }
    if (status != STATUS_OK || argc < 2) {
        fprintf(stderr, "site_fixture_server: %s\n", reason.rule);
        return 1;
    }
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        status = obey(line, &reason);
        if (status != STATUS_OK)
            printf("failed %s: %s\n", status_name(status), reason.rule);
        fflush(stdout);
    }
    stop();
    arena_free(booth.arena);
    log_free(booth.log);
    return 0;
}
