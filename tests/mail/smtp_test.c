/* smtp_test.c -- which settings make a mail server. (Servers themselves are met in test_smtp.py.) */
#include "mail/smtp.h"
#include "test.h"

static SmtpSettings with_url(const char *url)
{
    return (SmtpSettings){.url = slice_from(url),
                          .user = SLICE_EMPTY,
                          .password = SLICE_EMPTY,
                          .ca_file = SLICE_EMPTY,
                          .tls = SLICE("auto"),
                          .name = SLICE("example.org"),
                          .seconds = 60};
}

TEST(addresses_of_servers)
{
    static const struct {
        const char *url, *becomes;
        bool starts_tls;
    } CASES[] = {
        {"smtp://mail.example.org:587", "smtp://mail.example.org:587/example.org", true},
        {"smtp://mail.example.org/", "smtp://mail.example.org/example.org", true},
        {"smtps://mail.example.org", "smtps://mail.example.org/example.org", false},
        {"smtp://127.0.0.1:25", "smtp://127.0.0.1:25/example.org", false},
        {"smtp://localhost:25", "smtp://localhost:25/example.org", false},
        {"smtp://127.mail.example.org", "smtp://127.mail.example.org/example.org", true},
        {"smtp://[::1]:25", "smtp://[::1]:25/example.org", false},
    };
    ARENA_SCOPE Arena *arena = arena_new();
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        SmtpSettings settings = with_url(CASES[i].url);
        SmtpServer server;
        EXPECT_STATUS(smtp_server_from(&settings, arena, &server, NULL), STATUS_OK);
        EXPECT_SLICE(slice_from(server.url), slice_from(CASES[i].becomes));
        EXPECT(server.starts_tls == CASES[i].starts_tls && server.user == NULL);
    }
}

TEST(addresses_that_are_none)
{
    static const char *const URLS[] = {
        "mail.example.org", "http://mail.example.org", "smtp://",
        "smtp://a:b@c",     "smtp://a/path",           "smtp://a?x",
        "smtp://a#x",       "smtp://a:99999",          "file:///etc/passwd"};
    ARENA_SCOPE Arena *arena = arena_new();
    for (size_t i = 0; i < sizeof URLS / sizeof URLS[0]; i++) {
        SmtpSettings settings = with_url(URLS[i]);
        SmtpServer server;
        Reason reason;
        if (smtp_server_from(&settings, arena, &server, &reason) != STATUS_INVALID)
            test_fail(__FILE__, __LINE__, "\"%s\" was taken", URLS[i]);
        EXPECT_SLICE(slice_from(reason.field), SLICE("smtp_url"));
    }
}

static const char *refused_field(SmtpSettings settings, Arena *arena, Reason *reason)
{
    SmtpServer server;
    return smtp_server_from(&settings, arena, &server, reason) == STATUS_OK ? "none"
                                                                            : reason->field;
}

TEST(a_password_never_goes_in_the_clear)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Reason reason;
    SmtpSettings settings = with_url("smtp://mail.example.org");
    settings.user = SLICE("site");
    settings.password = SLICE("secret");
    settings.tls = SLICE("off");
    EXPECT_SLICE(slice_from(refused_field(settings, arena, &reason)), SLICE("smtp_tls"));
    settings.tls = SLICE("auto");
    EXPECT_SLICE(slice_from(refused_field(settings, arena, &reason)), SLICE("none"));
    settings.url = SLICE("smtps://mail.example.org");
    settings.tls = SLICE("off");
    EXPECT_SLICE(slice_from(refused_field(settings, arena, &reason)), SLICE("none"));
    settings.url = SLICE("smtp://127.0.0.1");
    EXPECT_SLICE(slice_from(refused_field(settings, arena, &reason)), SLICE("none"));
    settings.password = SLICE_EMPTY;
    EXPECT_SLICE(slice_from(refused_field(settings, arena, &reason)), SLICE("smtp_user"));
    settings = with_url("smtp://127.0.0.1");
    settings.tls = SLICE("maybe");
    EXPECT_SLICE(slice_from(refused_field(settings, arena, &reason)), SLICE("smtp_tls"));
}

TEST(tls_can_be_asked_for_on_loopback_too)
{
    ARENA_SCOPE Arena *arena = arena_new();
    SmtpSettings settings = with_url("smtp://127.0.0.1");
    SmtpServer server;
    settings.tls = SLICE("required");
    EXPECT_STATUS(smtp_server_from(&settings, arena, &server, NULL), STATUS_OK);
    EXPECT(server.starts_tls);
}
