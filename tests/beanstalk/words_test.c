/* words_test.c -- keys, our own words, and who may say what, over real sockets. */
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server_fixture.h"

/* ---- Keys and our own words --------------------------------------------------------------------------------- */

TEST(a_key_merges_what_waits)
{
    Site site;
    open_site(&site, "[tubes]\n[journal line]\nkey_from = line1\nput = local\nclaim = local\n"
                     "[journal member]\nkey_from = json:/a~1b/1\nput = any\nclaim = any\n");
    int fd = dial(&site);
    talk(fd, "put 5 0 1 1 key:a%20b\r\nx\r\nput 3 0 1 1 key:a%20b\r\ny\r\nreserve\r\n",
         "INSERTED 1\r\nINSERTED 1\r\nRESERVED 1 1\r\ny\r\n");
    talk(fd,
         "use line\r\nput 0 0 1 4\r\nk\r\n1\r\nput 0 0 1 3\r\nk\n2\r\nput 0 0 1 3 key:\r\nk\n3\r\n",
         "USING line\r\nINSERTED 2\r\nINSERTED 2\r\nINSERTED 3\r\n");
    talk(fd,
         "use member\r\nput 0 0 1 15\r\n{\"a/b\":[0,\"k\"]}\r\nput 0 0 1 "
         "15\r\n{\"a/b\":[1,\"k\"]}\r\n",
         "USING member\r\nINSERTED 4\r\nINSERTED 4\r\n");
    talk(fd,
         "put 0 0 1 13\r\n{\"a/b\":[1,7]}\r\nput 0 0 1 2\r\n{}\r\nput 0 0 1 2\r\n[]\r\nput 0 0 1 "
         "1\r\nx\r\n",
         "INSERTED 5\r\nINSERTED 6\r\nINSERTED 7\r\nINSERTED 8\r\n");
    close(fd);
    close_site(&site);
}

TEST(our_own_words_put_claim_and_end)
{
    char token[40], command[300];
    long long id, inserted, due;
    Site site;
    open_site(&site, "[tubes]\nlease_s = 60\n");
    int fd = dial(&site), other = dial(&site);
    say(fd, "x-put 7 to=a keylen=3 pri=NEW\r\na\nbdata\r\n");
    EXPECT(sscanf(hear_line(fd), "X-PUT created %lld %lld", &id, &due) == 2);
    say(fd, "x-put 4 to=a key=a%0Ab pri=10 delay=0\r\nmore\r\n");
    EXPECT(strncmp(hear_line(fd), "X-PUT merged 1 ", 15) == 0);
    say(fd, "x-claim n=5 from=a,b lease=5000\r\n");
    hear(fd, "X-CLAIMED 1 -\r\n");
    unsigned priority, timeouts;
    long long lease;
    size_t key, data;
    EXPECT_I64(sscanf(hear_line(fd), "X-ENTRY %lld %32s a %u %u %lld %lld %lld %zu %zu", &id, token,
                      &priority, &timeouts, &inserted, &due, &lease, &key, &data),
               9);
    hear(fd, "a\nbmore\r\n");
    EXPECT_I64(priority, 10);
    EXPECT_I64(lease, 5000);
    EXPECT_I64(key, 3);
    EXPECT_I64(data, 4);
    say(fd, "x-put 1 to=a key=a%0Ab\r\nx\r\n");
    EXPECT(strncmp(hear_line(fd), "X-PUT held 2 ", 13) == 0);
    close(fd); /* the token is not bound to it */
    snprintf(command, sizeof command, "x-extend %s lease=60000\r\nx-done %s,%s\r\nx-done %s\r\n",
             token, token, token, token);
    talk(other, command, "X-DID OK\r\nX-DID OK LOST\r\nX-DID LOST\r\n");
    say(other, "x-claim from=a\r\n");
    hear(other, "X-CLAIMED 1 -\r\n");
    EXPECT(sscanf(hear_line(other), "X-ENTRY 2 %32s a", token) == 1);
    hear(other, "a\nbx\r\n");
    snprintf(command, sizeof command, "x-fail %s error=it%%20broke\r\ndelete 2\r\n", token);
    talk(other, command, "X-DID OK\r\nDELETED\r\n");
    talk(other, "x-claim from=a\r\nx-claim n=0\r\nx-put 3 keylen=4\r\nabc\r\nx-auth t\r\n",
         "X-CLAIMED 0 -\r\nX-ERROR INVALID n a number from 1 to 1000\r\n"
         "X-ERROR INVALID keylen at most BYTES\r\n"
         "X-ERROR UNAVAILABLE token this server has no accounts\r\n");
    talk(other, "x-put x\r\n", "X-ERROR INVALID bytes a number from 0 to 67174400\r\n");
    hear_end(other);
    close_site(&site);
}

TEST(what_nobody_took_goes_back_at_once)
{
    Site site;
    open_site(&site, "[tubes]\nlease_s = 3600\n");
    int gone = dial(&site), other = dial(&site);
    say(gone, "x-claim from=a wait=100000\r\n");
    talk(other, "use a\r\nwatch a\r\n", "USING a\r\nWATCHING 2\r\n");
    close(gone);
    talk(other, "put 0 0 1 1\r\nx\r\nreserve\r\n", "INSERTED 1\r\nRESERVED 1 1\r\nx\r\n");
    close(other);
    close_site(&site);
}

TEST(a_listener_hears_of_what_becomes_due_once)
{
    Site site;
    open_site(&site, "[tubes]\n");
    int fd = dial(&site), other = dial(&site);
    talk(fd, "x-listen a,b\r\n", "X-LISTENING 2\r\n");
    talk(other, "use b\r\nput 7 0 1 1\r\nx\r\n", "USING b\r\nINSERTED 1\r\n");
    EXPECT(strncmp(hear_line(fd), "X-READY b 1 7 ", 14) == 0);
    talk(other, "put 7 0 1 1\r\nx\r\n", "INSERTED 2\r\n");
    talk(fd, "list-tube-used\r\n", "USING default\r\n"); /* nothing in between */
    say(fd, "x-claim n=2 from=b\r\n");
    hear(fd, "X-CLAIMED 2 -\r\n");
    for (int i = 0; i < 2; i++) {
        (void)hear_line(fd);
        hear(fd, "x\r\n");
    }
    talk(fd, "x-claim from=a,b\r\n", "X-CLAIMED 0 -\r\n"); /* armed again */
    talk(other, "put 3 0 1 1\r\nx\r\n", "INSERTED 3\r\n");
    EXPECT(strncmp(hear_line(fd), "X-READY b 1 3 ", 14) == 0);
    talk(fd, "x-listen\r\nx-listen a,a\r\n",
         "X-LISTENING 0\r\nX-ERROR INVALID names a is named twice\r\n");
    close(fd);
    close(other);
    close_site(&site);
}

/* ---- Who may ----------------------------------------------------------------------------------------------- */

#define GUARDED                                                                                    \
    "[journal secret]\nput = token:robot\nclaim = admin\n[journal open]\nput = any\nclaim = any\n" \
    "[journal inside]\nput = task\nclaim = task\n"

/* "robot" and "chief" are tokens; "maybe" cannot be looked up. */
static Status find_token(void *self, Slice token, void **ret_grants)
{
    static const char *const KNOWN[] = {"robot", "chief"};
    _Atomic int *asked = self;
    (*asked)++;
    for (size_t i = 0; i < 2; i++)
        if (slice_equal(token, slice_from(KNOWN[i]))) {
            *ret_grants = strdup(KNOWN[i]);
            return STATUS_OK;
        }
    return slice_equal(token, SLICE("maybe")) ? STATUS_UNAVAILABLE : STATUS_LOGIN;
}

static bool token_may(void *self, const void *grants, const JournalAccessList *list, Slice journal,
                      bool put)
{
    (void)self;
    (void)journal;
    (void)put;
    for (size_t i = 0; i < list->count; i++)
        if ((list->items[i].kind == JOURNAL_ACCESS_ADMIN && strcmp(grants, "chief") == 0) ||
            (list->items[i].kind == JOURNAL_ACCESS_TOKEN &&
             slice_equal(list->items[i].name, slice_from(grants))))
            return true;
    return false;
}

static void forget_token(void *self, void *grants)
{
    (void)self;
    free(grants);
}

TEST(the_declaration_says_who_may)
{
    _Atomic int asked = 0;
    Site site;
    begin(&site, GUARDED);
    site.options.auth = find_token;
    site.options.may = token_may;
    site.options.forget = forget_token;
    site.options.self = &asked;
    start(&site);
    int fd = dial(&site), chief = dial(&site);
    talk(fd,
         "use secret\r\nuse none\r\nuse inside\r\nwatch secret\r\nput 0 0 1 1\r\nx\r\nreserve\r\n",
         "NOT_FOUND\r\nNOT_FOUND\r\nNOT_FOUND\r\nNOT_FOUND\r\nNOT_FOUND\r\nNOT_FOUND\r\n");
    talk(fd, "x-put 1 to=secret\r\nx\r\nx-claim from=none\r\nx-claim\r\n",
         "X-ERROR DENIED to secret is not for this connection\r\n"
         "X-ERROR NOT_FOUND from there is no journal none\r\n"
         "X-ERROR DENIED from none that is watched is for this connection\r\n");
    talk(fd, "use open\r\nput 0 0 1 1\r\nx\r\n", "USING open\r\nINSERTED 1\r\n");
    talk(fd, "x-auth wrong\r\nx-auth maybe\r\nx-auth robot\r\nuse secret\r\nput 0 0 1 1\r\ny\r\n",
         "X-ERROR LOGIN token is not a valid token\r\nX-ERROR UNAVAILABLE token not done, try "
         "again\r\n"
         "X-OK\r\nUSING secret\r\nINSERTED 2\r\n");
    talk(fd, "x-auth wrong\r\nput 0 0 1 1\r\nz\r\nwatch secret\r\n",
         "X-ERROR LOGIN token is not a valid token\r\nINSERTED 3\r\nNOT_FOUND\r\n");
    talk(fd,
         "peek 2\r\ndelete 2\r\nreserve-job 2\r\nkick-job 2\r\nstats-job 2\r\npeek-ready\r\nkick "
         "5\r\n",
         "NOT_FOUND\r\nNOT_FOUND\r\nNOT_FOUND\r\nNOT_FOUND\r\nNOT_FOUND\r\nNOT_FOUND\r\nNOT_"
         "FOUND\r\n");
    talk(fd, "peek 1\r\ndelete 1\r\n", "FOUND 1 1\r\nx\r\nDELETED\r\n");
    talk(chief, "x-auth chief\r\nwatch secret\r\nreserve\r\ndelete 2\r\npeek 3\r\ndelete 3\r\n",
         "X-OK\r\nWATCHING 2\r\nRESERVED 2 1\r\ny\r\nDELETED\r\nFOUND 3 1\r\nz\r\nDELETED\r\n");
    EXPECT_I64(asked, 5);
    close(fd);
    close(chief);
    close_site(&site);
}

TEST(another_declaration_counts_at_once)
{
    Site site;
    open_site(&site, "[journal a]\nput = local\n");
    int fd = dial(&site);
    talk(fd, "use a\r\nput 0 0 1 1\r\nx\r\n", "USING a\r\nINSERTED 1\r\n");
    EXPECT_STATUS(journals_reload(site.journals, SLICE("[journal a]\nput = admin\nclaim = local\n"),
                                  "x", &site.reason),
                  STATUS_OK);
    talk(fd, "put 0 0 1 1\r\nx\r\ndelete 1\r\n", "NOT_FOUND\r\nDELETED\r\n");
    close(fd);
    close_site(&site);
}

TEST(other_machines_are_not_served_unless_it_is_said)
{
    Site site;
    begin(&site, TUBES);
    const Slice where = SLICE("0.0.0.0:0");
    site.options.listen = &where;
    site.options.listen_count = 1;
    EXPECT_STATUS(beanstalk_start(&site.options, &site.server, &site.reason), STATUS_INVALID);
    EXPECT(strstr(site.reason.rule, "journal_listen_open") != NULL);
    site.options.open = true;
    EXPECT_STATUS(beanstalk_start(&site.options, &site.server, &site.reason), STATUS_OK);
    close_site(&site);
}

TEST(a_socket_that_listens_already_is_taken)
{
    Site site;
    begin(&site, TUBES);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT(bind(fd, (struct sockaddr *)&address, sizeof address) == 0);
    site.options.sockets = &fd;
    site.options.socket_count = 1;
    EXPECT_STATUS(beanstalk_start(&site.options, &site.server, &site.reason), STATUS_INVALID);
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT(bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 5) == 0);
    EXPECT(getsockname(fd, (struct sockaddr *)&address, &size) == 0);
    EXPECT_STATUS(beanstalk_start(&site.options, &site.server, &site.reason), STATUS_OK);
    int client = ready(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT(connect(client, (struct sockaddr *)&address, sizeof address) == 0);
    talk(client, "list-tube-used\r\n", "USING default\r\n");
    close(client);
    close_site(&site);
}
