/* client_test.c -- what the client library does when a server is slow, goes away or talks nonsense: a server with a script, on a socket. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "ostraka-journal.h"
#include "test.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

enum { TIMEOUT_MS = 20000 };

typedef struct Turn {
    const char *
        wanted; /* what comes: this, or a line that begins with it; "=": the same as before; NULL: nothing is read */
    const char *answer;
    bool ends; /* the connection; the next turn has another one */
} Turn;

typedef struct Peer {
    const Turn *turns;
    int listener;
    char address[128];
    char heard[8192], before[8192];
    atomic_int hung_up; /* connections */
    const char *problem;
    pthread_t thread;
} Peer;

/* Reads until all of `wanted` has come. A line that begins so is read to its end. */
static bool hear(Peer *peer, int fd, const char *wanted)
{
    size_t size = 0;
    memcpy(peer->before, peer->heard, sizeof peer->before);
    if (strcmp(wanted, "=") == 0)
        wanted = peer->before;
    size_t length = strlen(wanted);
    while (size < length || memcmp(peer->heard + size - 2, "\r\n", 2) != 0) {
        ssize_t got = read(fd, peer->heard + size, sizeof peer->heard - 1 - size);
        if (got <= 0)
            return false;
        size += (size_t)got;
        peer->heard[size] = 0;
        if (memcmp(peer->heard, wanted, size < length ? size : length) != 0)
            return false;
    }
    return true;
}

static void *play(void *argument)
{
    Peer *peer = argument;
    int fd = -1;
    for (const Turn *turn = peer->turns; turn->wanted != NULL || turn->answer != NULL || turn->ends;
         turn++) {
        if (fd < 0)
            fd = accept(peer->listener, NULL, NULL);
        if (turn->wanted != NULL && !hear(peer, fd, turn->wanted)) {
            peer->problem = turn->wanted;
            break;
        }
        if (turn->answer != NULL &&
            write(fd, turn->answer, strlen(turn->answer)) != (ssize_t)strlen(turn->answer))
            peer->problem = turn->answer;
        if (turn->ends) {
            close(fd);
            fd = -1;
            atomic_fetch_add(&peer->hung_up, 1);
        }
    }
    /* What comes after the script would be a second command that nobody waits for: the client's end must be all. */
    char byte;
    if (fd >= 0 && peer->problem == NULL && read(fd, &byte, 1) > 0)
        peer->problem = "more than the script has";
    if (fd >= 0)
        close(fd);
    return NULL;
}

static Peer peer;
static OstrakaJournal *journal;

static void begin_as(const Turn *turns, int timeout_ms, const char *token)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    peer = (Peer){.turns = turns, .listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    snprintf(peer.address, sizeof peer.address, "unix:%s/socket", test_directory());
    memcpy(name.sun_path, peer.address + 5, strlen(peer.address + 5) + 1);
    unlink(name.sun_path);
    EXPECT(bind(peer.listener, (struct sockaddr *)&name, sizeof name) == 0);
    EXPECT(listen(peer.listener, 8) == 0);
    EXPECT(pthread_create(&peer.thread, NULL, play, &peer) == 0);
    OstrakaJournalOptions options = {
        .address = peer.address, .token = token, .timeout_ms = timeout_ms};
    EXPECT(ostraka_journal_open(&options, &journal) == OSTRAKA_JOURNAL_OK);
}

static void begin(const Turn *turns)
{
    begin_as(turns, TIMEOUT_MS, NULL);
}

/* The script has been played to its end, and nothing came after it. */
static void end(void)
{
    ostraka_journal_close(journal);
    pthread_join(peer.thread, NULL);
    close(peer.listener);
    if (peer.problem != NULL)
        test_fail(__FILE__, __LINE__, "not heard: %s", peer.problem);
}

static OstrakaJournalStatus put(const char *key, OstrakaJournalAnswer *ret_answer)
{
    OstrakaJournalPut request = {.journal = "j",
                                 .key = key,
                                 .key_bytes = strlen(key),
                                 .data = "data",
                                 .data_bytes = 4,
                                 .inserted_ms = 9};
    return ostraka_journal_put(journal, &request, ret_answer);
}

#define PUT       "x-put 4 to=j inserted=9\r\ndata\r\n"
#define PUT_KEYED "x-put 5 to=j keylen=1 inserted=9\r\nkdata\r\n"

TEST(a_put_is_a_line_key_and_data)
{
    static const Turn TURNS[] = {
        {"x-put 5 to=j keylen=1 pri=3 delay=4 expire=5 lease=6 inserted=7\r\n"
         "kdata\r\n",
         "X-PUT merged 12 34\r\n", false},
        {0}};
    OstrakaJournalPut request = {.journal = "j",
                                 .key = "k",
                                 .key_bytes = 1,
                                 .data = "data",
                                 .data_bytes = 4,
                                 .priority = 3,
                                 .has_priority = true,
                                 .delay_ms = 4,
                                 .expire_ms = 5,
                                 .lease_ms = 6,
                                 .inserted_ms = 7};
    OstrakaJournalAnswer answer;
    begin(TURNS);
    EXPECT(ostraka_journal_put(journal, &request, &answer) == OSTRAKA_JOURNAL_OK);
    EXPECT(answer.outcome == OSTRAKA_JOURNAL_MERGED && answer.id == 12 && answer.due_ms == 34);
    end();
}

TEST(a_put_without_key_is_not_repeated)
{
    static const Turn TURNS[] = {{PUT, NULL, true}, {PUT, "X-PUT created 1 2\r\n", false}, {0}};
    begin(TURNS);
    EXPECT(put("", NULL) == OSTRAKA_JOURNAL_UNKNOWN);
    EXPECT(strstr(ostraka_journal_error(journal), "closed the connection") != NULL);
    EXPECT(put("", NULL) == OSTRAKA_JOURNAL_OK);
    end();
}

TEST(a_put_with_a_key_is_repeated_as_it_was)
{
    static const Turn TURNS[] = {{PUT_KEYED, NULL, true},
                                 {PUT_KEYED, "X-ERROR UNAVAILABLE draining later\r\n", false},
                                 {PUT_KEYED, "X-ERROR UNKNOWN - the disk failed\r\n", true},
                                 {PUT_KEYED, "X-PUT created 1 2\r\n", false},
                                 {0}};
    begin(TURNS);
    EXPECT(put("k", NULL) == OSTRAKA_JOURNAL_OK);
    end();
}

TEST(a_repeated_put_keeps_one_insertion_date)
{
    static const Turn TURNS[] = {{"x-put 1 to=j keylen=1 inserted=", NULL, true},
                                 {"=", NULL, true},
                                 {"=", "X-PUT created 1 2\r\n", true},
                                 {0}};
    OstrakaJournalPut request = {.journal = "j", .key = "k", .key_bytes = 1};
    begin(TURNS);
    EXPECT(ostraka_journal_put(journal, &request, NULL) == OSTRAKA_JOURNAL_OK);
    end();
}

TEST(a_put_that_may_have_been_done_stays_unknown_when_its_repetition_is_refused)
{
    static const Turn TURNS[] = {
        {PUT_KEYED, NULL, true}, {PUT_KEYED, "X-ERROR THROTTLED - full\r\n", false}, {0}};
    begin(TURNS);
    EXPECT(put("k", NULL) == OSTRAKA_JOURNAL_UNKNOWN);
    end();
}

TEST(a_call_ends_when_its_time_is_over)
{
    static const Turn TURNS[] = {{PUT, NULL, false}, {0}};
    begin_as(TURNS, 300, NULL);
    EXPECT(put("", NULL) == OSTRAKA_JOURNAL_UNKNOWN);
    EXPECT(strstr(ostraka_journal_error(journal), "time was over") != NULL);
    end();
}

TEST(nobody_there_is_surely_not_done)
{
    OstrakaJournalOptions options = {.address = "unix:/nonexistent/socket", .timeout_ms = 300};
    EXPECT(ostraka_journal_open(&options, &journal) == OSTRAKA_JOURNAL_OK);
    EXPECT(put("", NULL) == OSTRAKA_JOURNAL_UNAVAILABLE);
    EXPECT(put("k", NULL) == OSTRAKA_JOURNAL_UNAVAILABLE);
    ostraka_journal_close(journal);
}

TEST(a_connection_that_was_closed_between_two_calls_is_made_again)
{
    static const Turn TURNS[] = {{PUT, "X-PUT created 1 2\r\n", true},
                                 {PUT, "X-PUT created 2 2\r\n", true},
                                 {PUT, "X-PUT created 3 2\r\n", false},
                                 {0}};
    begin(TURNS);
    for (int i = 0; i < 3; i++) {
        EXPECT(put("", NULL) == OSTRAKA_JOURNAL_OK);
        while (i < 2 && atomic_load(&peer.hung_up) == i)
            sched_yield();
    }
    end();
}

TEST(token_and_listening_come_first_on_each_connection)
{
    static const char *const NAMES[] = {"a", "b"};
    static const Turn TURNS[] = {{"x-auth secret\r\n", "X-OK\r\n", false},
                                 {"x-listen a,b\r\n", "X-LISTENING 2\r\n", false},
                                 {PUT, NULL, true},
                                 {"x-auth secret\r\n", "X-OK\r\n", false},
                                 {"x-listen a,b\r\n", "X-LISTENING 2\r\n", false},
                                 {PUT, "X-PUT created 1 2\r\n", false},
                                 {0}};
    begin_as(TURNS, TIMEOUT_MS, "secret");
    EXPECT(ostraka_journal_listen(journal, NAMES, 2) == OSTRAKA_JOURNAL_OK);
    EXPECT(put("", NULL) == OSTRAKA_JOURNAL_UNKNOWN);
    EXPECT(put("", NULL) == OSTRAKA_JOURNAL_OK);
    end();
}

TEST(a_token_that_is_refused_ends_the_call)
{
    static const Turn TURNS[] = {
        {"x-auth secret\r\n", "X-ERROR LOGIN token is not valid\r\n", false}, {0}};
    begin_as(TURNS, TIMEOUT_MS, "secret");
    EXPECT(put("", NULL) == OSTRAKA_JOURNAL_LOGIN);
    EXPECT(strcmp(ostraka_journal_error(journal), "token: is not valid") == 0);
    end();
}

static OstrakaJournalStatus claim(uint32_t count, OstrakaJournalClaims *ret_claims)
{
    static const char *const NAME = "j";
    OstrakaJournalClaim request = {
        .journals = &NAME, .journal_count = 1, .count = count, .wait_ms = 1};
    return ostraka_journal_claim(journal, &request, ret_claims);
}

#define ENTRY(id, key_bytes, data_bytes) \
    "X-ENTRY " #id " " TOKEN " j 1 2 3 4 5 " #key_bytes " " #data_bytes "\r\n"

TEST(claimed_entries_stay_until_the_next_claim)
{
    static const Turn TURNS[] = {
        {"x-claim n=2 wait=1 from=j\r\n",
         "X-CLAIMED 2 -\r\n" ENTRY(7, 1, 3) "kX-O\r\n" ENTRY(8, 0, 0) "\r\n", false},
        {"x-extend " TOKEN " lease=9\r\n", "X-READY j 1 2 -\r\nX-DID OK\r\n", false},
        {"x-claim n=1 wait=1 from=j\r\n", "X-CLAIMED 0 77\r\n", false},
        {0}};
    OstrakaJournalClaims claims;
    begin(TURNS);
    EXPECT(claim(2, &claims) == OSTRAKA_JOURNAL_OK);
    EXPECT_I64(claims.count, 2);
    const OstrakaJournalEntry *entry = claims.entries;
    OstrakaJournalStep step = {.token = entry->token};
    EXPECT(ostraka_journal_extend(journal, &step, 1, 9) == OSTRAKA_JOURNAL_OK);
    EXPECT(entry->id == 7 && entry->priority == 1 && entry->timeouts == 2);
    EXPECT(entry->inserted_ms == 3 && entry->due_ms == 4 && entry->lease_ms == 5);
    EXPECT(strcmp(entry->journal, "j") == 0 && strcmp(entry->token.text, TOKEN) == 0);
    EXPECT_SLICE(slice_of(entry->key, entry->key_bytes), SLICE("k"));
    EXPECT_SLICE(slice_of(entry->data, entry->data_bytes), SLICE("X-O"));
    EXPECT_I64(claims.entries[1].data_bytes, 0);
    EXPECT(claim(1, &claims) == OSTRAKA_JOURNAL_OK);
    EXPECT(claims.count == 0 && claims.next_ms == 77);
    end();
}

TEST(an_answer_that_breaks_the_protocol_ends_the_connection)
{
    static const Turn TURNS[] = {{"x-claim", "X-CLAIMED 2 -\r\n", true}, /* more than asked for */
                                 {"x-claim", "X-CLAIMED 1 -\r\nX-OK\r\n", true},
                                 {"x-claim", "X-CLAIMED 1 -\r\n" ENTRY(7, 0, 1) "xyz", true},
                                 {"x-claim", "X-CLAIMED 1 -\r\n" ENTRY(7, 0, 1) "x", true},
                                 {"x-claim", "INSERTED 5\r\n", true},
                                 {"x-claim", "X-PUT created 1 2\r\n", true},
                                 {"x-claim", "X-CLAIMED 0 -\r\n", false},
                                 {0}};
    OstrakaJournalClaims claims;
    begin(TURNS);
    for (int i = 0; i < 6; i++)
        EXPECT(claim(1, &claims) == OSTRAKA_JOURNAL_UNKNOWN);
    EXPECT(claim(1, &claims) == OSTRAKA_JOURNAL_OK);
    end();
}

TEST(a_line_without_end_is_not_waited_for)
{
    static char endless[5000];
    static Turn turns[] = {{"x-claim", endless, false}, {0}};
    OstrakaJournalClaims claims;
    memset(endless, 'x', sizeof endless - 1);
    begin(turns);
    EXPECT(claim(1, &claims) == OSTRAKA_JOURNAL_UNKNOWN);
    end();
}

TEST(a_beanstalkd_does_not_know_these_words)
{
    static const Turn TURNS[] = {{"x-claim", "UNKNOWN_COMMAND\r\n", false}, {0}};
    OstrakaJournalClaims claims;
    begin(TURNS);
    EXPECT(claim(1, &claims) == OSTRAKA_JOURNAL_UNSUPPORTED);
    end();
}

TEST(each_step_has_its_own_answer)
{
    static const Turn TURNS[] = {
        {"x-done " TOKEN "," TOKEN "," TOKEN "\r\n", "X-DID OK LOST UNKNOWN\r\n", true},
        {"x-fail " TOKEN " error=%61%20%0A\r\n", "X-DID OK\r\n", false},
        {"x-release " TOKEN " delay=5 pri=0\r\n", "X-DID OK OK\r\n", true},
        {"x-bury " TOKEN "\r\n", "X-ERROR DENIED - no\r\n", false},
        {0}};
    OstrakaJournalStep steps[3] = {{.token = {TOKEN}}, {.token = {TOKEN}}, {.token = {TOKEN}}};
    begin(TURNS);
    EXPECT(ostraka_journal_done(journal, steps, 3) == OSTRAKA_JOURNAL_LOST);
    EXPECT(steps[0].status == OSTRAKA_JOURNAL_OK && steps[1].status == OSTRAKA_JOURNAL_LOST);
    EXPECT(steps[2].status == OSTRAKA_JOURNAL_UNKNOWN);
    EXPECT(ostraka_journal_fail(journal, steps, 1, "a \n") == OSTRAKA_JOURNAL_OK);
    OstrakaJournalReturn how = {.delay_ms = 5, .has_priority = true};
    EXPECT(ostraka_journal_release(journal, steps, 1, &how) == OSTRAKA_JOURNAL_UNKNOWN);
    EXPECT(ostraka_journal_bury(journal, steps, 1, NULL) == OSTRAKA_JOURNAL_DENIED);
    EXPECT(steps[0].status == OSTRAKA_JOURNAL_DENIED);
    end();
}

TEST(a_hint_that_came_with_an_answer_is_waited_for_no_more)
{
    static const char *const NAME = "j";
    static const Turn TURNS[] = {{"x-listen j\r\n", "X-LISTENING 1\r\nX-READY j 4 5 6\r\n", false},
                                 {0}};
    OstrakaJournalReady ready;
    begin(TURNS);
    EXPECT(ostraka_journal_wait(journal, 0, &ready) == OSTRAKA_JOURNAL_INVALID);
    EXPECT(ostraka_journal_listen(journal, &NAME, 1) == OSTRAKA_JOURNAL_OK);
    EXPECT(ostraka_journal_wait(journal, TIMEOUT_MS, &ready) == OSTRAKA_JOURNAL_OK);
    EXPECT(strcmp(ready.journal, "j") == 0 && ready.count == 4 && ready.priority == 5);
    EXPECT(ostraka_journal_wait(journal, 20, &ready) == OSTRAKA_JOURNAL_OK);
    EXPECT(ready.journal[0] == 0);
    end();
}

TEST(a_wait_says_when_its_connection_is_lost)
{
    static const char *const NAME = "j";
    static const Turn TURNS[] = {{"x-listen j\r\n", "X-LISTENING 1\r\n", true}, {0}};
    OstrakaJournalReady ready;
    begin_as(TURNS, 500, NULL);
    EXPECT(ostraka_journal_listen(journal, &NAME, 1) == OSTRAKA_JOURNAL_OK);
    EXPECT(ostraka_journal_wait(journal, TIMEOUT_MS, &ready) == OSTRAKA_JOURNAL_UNAVAILABLE);
    end();
}

TEST(what_would_break_a_line_is_not_sent)
{
    static const Turn TURNS[] = {{NULL, NULL, false}};
    static const char *const BAD = "j\r\nx-done";
    OstrakaJournalClaims claims;
    OstrakaJournalPut request = {.journal = BAD};
    OstrakaJournalClaim wanted = {.journals = &BAD, .journal_count = 1};
    OstrakaJournalStep step = {.token = {"0123"}};
    OstrakaJournalOptions bad_token = {.address = "localhost:1", .token = "a\r\nb"};
    begin(TURNS);
    EXPECT(ostraka_journal_put(journal, &request, NULL) == OSTRAKA_JOURNAL_INVALID);
    EXPECT(ostraka_journal_claim(journal, &wanted, &claims) == OSTRAKA_JOURNAL_INVALID);
    EXPECT(ostraka_journal_listen(journal, &BAD, 1) == OSTRAKA_JOURNAL_INVALID);
    EXPECT(ostraka_journal_done(journal, &step, 1) == OSTRAKA_JOURNAL_INVALID);
    request = (OstrakaJournalPut){.journal = "j", .at_ms = 1, .delay_ms = 1};
    EXPECT(ostraka_journal_put(journal, &request, NULL) == OSTRAKA_JOURNAL_INVALID);
    OstrakaJournal *other = NULL;
    EXPECT(ostraka_journal_open(&bad_token, &other) == OSTRAKA_JOURNAL_INVALID && other == NULL);
    end();
}

TEST(addresses_have_a_host_and_a_port_or_a_path)
{
    static const char *const GOOD[] = {"localhost:1", "127.0.0.1:65535", "[::1]:5", "unix:/a"};
    static const char *const BAD[] = {"",      "localhost", ":5",    "::1:5",
                                      "host:", "host:http", "unix:", "[]:5"};
    for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++) {
        OstrakaJournalOptions options = {.address = GOOD[i]};
        OstrakaJournal *opened;
        if (ostraka_journal_open(&options, &opened) != OSTRAKA_JOURNAL_OK)
            test_fail(__FILE__, __LINE__, "%s is refused", GOOD[i]);
        ostraka_journal_close(opened);
    }
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        OstrakaJournalOptions options = {.address = BAD[i]};
        OstrakaJournal *opened;
        if (ostraka_journal_open(&options, &opened) != OSTRAKA_JOURNAL_INVALID)
            test_fail(__FILE__, __LINE__, "%s is taken", BAD[i]);
    }
}
