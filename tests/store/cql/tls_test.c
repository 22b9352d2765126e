/* tls_test.c -- certificates that are right, wrong, for somebody else, or from nobody we know. */
#include "certificates.h"
#include "client_fixture.h"

typedef struct Papers {
    Arena *arena;
    Authority *ours, *theirs;
} Papers;

static Papers papers_new(void)
{
    Papers papers = {.arena = arena_new()};
    const char *directory = arena_text(papers.arena, slice_from(test_directory()));
    papers.ours = authority_new(papers.arena, directory, "ours");
    papers.theirs = authority_new(papers.arena, directory, "theirs");
    return papers;
}

static void papers_free(Papers *papers)
{
    authority_free(papers->ours);
    authority_free(papers->theirs);
    arena_free(papers->arena);
}

static CqlOptions options_with(const ScriptedCluster *cluster, const char *ca_file)
{
    CqlOptions options = client_fixture_options(cluster);
    options.tls = (CqlTls){.on = true, .ca_file = ca_file};
    return options;
}

static CqlClient *expect_open(const CqlOptions *options)
{
    CqlClient *client = NULL;
    Reason reason = {.rule = ""};
    Status status = cql_open(options, &client, &reason);
    if (status != STATUS_OK)
        test_fail(__FILE__, __LINE__, "cql_open: %s, %s", status_name(status), reason.rule);
    return client;
}

TEST(nodes_with_the_right_certificate_are_used)
{
    static const int PIECES[] = {0, 1};
    Papers papers = papers_new();
    for (int i = 0; i < 2; i++) {
        static ScriptedCluster cluster;
        cluster = (ScriptedCluster){.piece = PIECES[i]};
        cluster.certificate = authority_sign(papers.ours, "right", "IP:127.0.0.21,IP:127.0.0.22");
        scripted_cluster_start(&cluster, 2);
        CqlOptions options = options_with(&cluster, papers.ours->file);
        CqlClient *client = expect_open(&options);
        CLIENT_FIXTURE_SOON(client_fixture_metric(client, "cassandra_hosts_up") == 2);
        ARENA_SCOPE Arena *arena = arena_new();
        for (int j = 0; j < 10; j++) {
            CqlAnswer answer = client_fixture_call(client, CQL_READ, arena);
            client_fixture_host(&answer);
        }
        cql_close(client);
        scripted_cluster_stop(&cluster);
    }
    papers_free(&papers);
}

TEST(large_requests_and_answers_go_through)
{
    Papers papers = papers_new();
    static ScriptedCluster cluster;
    cluster.certificate = authority_sign(papers.ours, "right", "IP:127.0.0.21");
    scripted_cluster_start(&cluster, 1);
    CqlOptions options = options_with(&cluster, papers.ours->file);
    options.request_ms = 30000;
    CqlClient *client = expect_open(&options);
    ARENA_SCOPE Arena *arena = arena_new();
    size_t size = 4 * 1024 * 1024;
    CqlValue value = cql_bytes(slice_of(ARENA_ARRAY(arena, size, char), size));
    CqlPart part = {cql_statement(client, "UPDATE"), &value, 1};
    CqlCall call = {.kind = CQL_WRITE, .parts = &part, .part_count = 1, .consistency = CQL_QUORUM};
    CqlAnswer answer;
    cql_run(client, &call, 1, arena, &answer);
    client_fixture_host(&answer);
    cluster.servers[0]->act = ACT_LONG;
    EXPECT_STATUS(client_fixture_call(client, CQL_READ, arena).status, STATUS_TOO_LARGE);
    cluster.servers[0]->act = ACT_ANSWER;
    answer = client_fixture_call(client, CQL_READ, arena);
    client_fixture_host(&answer);
    cql_close(client);
    scripted_cluster_stop(&cluster);
    papers_free(&papers);
}

TEST(a_contact_by_name_must_have_the_name_in_its_certificate)
{
    static const struct {
        const char *names;
        bool right;
    } CASES[] = {{"DNS:localhost", true}, {"DNS:elsewhere", false}, {"DNS:*host", false}};
    Papers papers = papers_new();
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        static ScriptedCluster cluster;
        cluster = (ScriptedCluster){.first = "127.0.0.1"};
        cluster.certificate = authority_sign(papers.ours, "named", CASES[i].names);
        scripted_cluster_start(&cluster, 1);
        CqlContact contact = {"localhost", cluster.port};
        CqlOptions options = options_with(&cluster, papers.ours->file);
        options.contacts = &contact;
        if (CASES[i].right) {
            CqlClient *client = expect_open(&options);
            CLIENT_FIXTURE_SOON(client_fixture_metric(client, "cassandra_hosts_up") == 1);
            cql_close(client);
        } else {
            client_fixture_expect_refused(&options, STATUS_INVALID, "certificate is refused");
        }
        scripted_cluster_stop(&cluster);
    }
    papers_free(&papers);
}

TEST(certificates_of_others_are_refused_before_anything_is_said)
{
    Papers papers = papers_new();
    static ScriptedCluster cluster = {.login = "/ann/secret"};
    cluster.certificate = authority_sign(papers.ours, "other", "IP:127.0.0.99");
    scripted_cluster_start(&cluster, 1);
    CqlOptions options = options_with(&cluster, papers.ours->file);
    options.user = "ann";
    options.password = "secret";
    client_fixture_expect_refused(&options, STATUS_INVALID, "IP address mismatch");
    options.tls.ca_file = papers.theirs->file;
    client_fixture_expect_refused(&options, STATUS_INVALID, "certificate is refused");
    options.tls.ca_file = NULL;
    client_fixture_expect_refused(&options, STATUS_INVALID, "certificate is refused");
    EXPECT_I64(cluster.servers[0]->greeted, 0);
    scripted_cluster_stop(&cluster);
    papers_free(&papers);
}

TEST(files_that_are_missing_are_named)
{
    static ScriptedCluster cluster;
    scripted_cluster_start(&cluster, 1);
    CqlOptions options = options_with(&cluster, "/no/such/file.pem");
    client_fixture_expect_refused(&options, STATUS_INVALID, "/no/such/file.pem: No such file");
    options.tls.ca_file = NULL;
    options.tls.cert_file = "/no/such/cert.pem";
    client_fixture_expect_refused(&options, STATUS_INVALID, "/no/such/cert.pem");
    scripted_cluster_stop(&cluster);
}

TEST(one_side_with_tls_and_the_other_without_do_not_talk)
{
    Papers papers = papers_new();
    static ScriptedCluster plain, secret;
    scripted_cluster_start(&plain, 1);
    CqlOptions options = options_with(&plain, papers.ours->file);
    client_fixture_expect_refused(&options, STATUS_UNAVAILABLE, "127.0.0.21");
    scripted_cluster_stop(&plain);
    secret.certificate = authority_sign(papers.ours, "right", "IP:127.0.0.21");
    scripted_cluster_start(&secret, 1);
    options = client_fixture_options(&secret);
    CqlClient *client = NULL;
    Reason reason = {.rule = ""};
    EXPECT(cql_open(&options, &client, &reason) != STATUS_OK);
    printf("# %s\n", reason.rule);
    EXPECT(strstr(reason.rule, "127.0.0.21") != NULL);
    scripted_cluster_stop(&secret);
    papers_free(&papers);
}
