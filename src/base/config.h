/* config.h -- every setting, declared once.
 *
 * The table below is the only place that knows a setting: its name, type, default, bounds and reason. From it
 * come the struct fields, the parser, `ostraka config --help` and docs/settings.md; a check in CI fails when the
 * page is stale. A value comes from, later wins: the default, the configuration file, the environment
 * (OSTRAKA_ + the name in capitals), a flag (--name with '-' for '_').
 * The file has lines `name = value`, `#` starts a comment line; unknown names, repeated names, wrong types and values
 * out of bounds are errors that name the line, the setting and the rule. Sizes take K, M, G (1024); durations are in the
 * unit that the name ends with. A line has at most 4 KiB; values are UTF-8 without control characters, and spaces
 * around them do not count. */
#pragma once

#include "base/bytes.h"
#include "base/world.h"

/*    type, name, default, least, most, reason
 * types: TEXT (bounds are bytes), NUMBER, SIZE (bytes), SWITCH (on/off) */
#define CONFIG_LIST(X)                                                                             \
    X(TEXT, listen, "127.0.0.1:8080", 3, 255,                                                      \
      "Address and port to serve on; loopback unless you put a proxy or TLS in front.")            \
    X(TEXT, data, "data", 1, 1000, "The data directory; one process owns it at a time.")           \
    X(TEXT, key_file, "", 0, 1000,                                                                 \
      "The file with the site's key, mode 0600; empty: the data directory's name with .key.")      \
    X(NUMBER, session_idle_days, "14", 1, 365,                                                     \
      "How long somebody who asked to stay logged in does so without a visit.")                    \
    X(NUMBER, session_idle_hours, "24", 1, 8760, "The same for those who did not ask.")            \
    X(NUMBER, session_days, "60", 1, 3650, "After this, everybody logs in again.")                 \
    X(NUMBER, password_threads, "2", 1, 256,                                                       \
      "Threads for requests that compute a password, a quarter of a second of a core each.")       \
    X(NUMBER, password_queue, "16", 0, 100000,                                                     \
      "Log-ins that wait for that; those that come then are told to try again in a moment.")       \
    X(TEXT, second_factor_roles, "", 0, 200,                                                       \
      "Roles, separated by commas, whose pages open only with a second factor, such as admin.")    \
    X(NUMBER, return_days, "365", 0, 36500,                                                        \
      "Days after which an address of a closed account may join again under a roll or domains.")   \
    X(TEXT, oidc_file, "", 0, 1000,                                                                \
      "A file with other sites that people may log in by (OpenID Connect); docs/operating.md.")    \
    X(TEXT, journal_file, "", 0, 1000,                                                             \
      "A file that declares journals, lists of work for programs of yours; docs/journal.md.")      \
    X(TEXT, journal_listen, "", 0, 1000,                                                           \
      "Where clients of beanstalkd reach the journals, separated by commas: 127.0.0.1:11300, "     \
      "unix:/path; empty: nowhere. Not encrypted: other machines through a tunnel.")               \
    X(SWITCH, journal_listen_open, "off", 0, 1,                                                    \
      "Whoever reaches journal_listen counts as local, from other machines, too, without a "       \
      "token.")                                                                                    \
    X(NUMBER, journal_connections, "1024", 1, 1000000,                                             \
      "Connections to journal_listen in all; above it new ones are closed.")                       \
    X(NUMBER, journal_connections_per_address, "64", 1, 1000000,                                   \
      "The same of one address; loopback and unix sockets are exempt.")                            \
    X(SIZE, journal_bodies_bytes, "256M", 1048576, 1099511627776,                                  \
      "Memory for all bodies on their way to and from these connections; above it puts are "       \
      "answered OUT_OF_MEMORY, and other commands wait.")                                          \
    X(TEXT, store, "rocksdb", 3, 1000,                                                             \
      "Where everything is kept: rocksdb, in the data directory; or a cluster, "                   \
      "cassandra://host1,host2/keyspace.")                                                         \
    X(TEXT, cassandra_user, "", 0, 100, "The log-in at the cluster, when it asks for one.")        \
    X(TEXT, cassandra_password_file, "", 0, 1000,                                                  \
      "A file with its password in one line, so that it stands in no list of processes.")          \
    X(SWITCH, cassandra_tls, "off", 0, 1,                                                          \
      "Encrypt connections to the cluster; the name of each node is checked.")                     \
    X(TEXT, cassandra_ca_file, "", 0, 1000,                                                        \
      "Certificates to trust at the cluster; those of the system when empty.")                     \
    X(TEXT, cassandra_cert_file, "", 0, 1000,                                                      \
      "Our own certificate, where the cluster asks for one.")                                      \
    X(TEXT, cassandra_key_file, "", 0, 1000, "The key of that certificate.")                       \
    X(NUMBER, cassandra_request_seconds, "10", 1, 600,                                             \
      "How long a call to the cluster may take before its outcome counts as unknown.")             \
    X(SWITCH, cassandra_periodic, "off", 0, 1,                                                     \
      "Take a cluster with commitlog_sync: periodic: what it has acknowledged in the last ten "    \
      "seconds, votes too, may be lost when two nodes end at once.")                               \
    X(NUMBER, cassandra_connections, "2", 1, 64, "Connections to each node of the cluster.")       \
    X(TEXT, backup_dir, "", 0, 1000,                                                               \
      "Where backups that admins ask for on their page go; empty: beside the data directory, "     \
      "its name with .backups.")                                                                   \
    X(TEXT, site_name, "Ostraka", 1, 60, "What the site is called, on its pages and in letters.")  \
    X(TEXT, log_level, "info", 4, 7,                                                               \
      "debug, info, warning or error; requests are logged at info.")                               \
    X(SIZE, cache_bytes, "256M", 1048576, 1099511627776,                                           \
      "Memory for blocks read from disk; the larger, the fewer reads, up to the size of the "      \
      "data.")                                                                                     \
    X(SIZE, write_buffer_bytes, "64M", 1048576, 4294967296,                                        \
      "Memory for recent writes before they are sorted to disk; up to three are in use.")          \
    X(NUMBER, grace_days, "10", 1, 3650,                                                           \
      "How long deletions are remembered; longer than any outage of a machine.")                   \
    X(NUMBER, reopen_seconds, "5", 1, 3600,                                                        \
      "How often a store that turned read-only after a disk error tries to open again.")           \
    X(NUMBER, journal_alert_seconds, "3600", 10, 31536000,                                         \
      "When work in a journal has been due for longer, admins are told by e-mail.")                \
    X(NUMBER, web_threads, "2", 1, 256, "Threads that answer requests; one a core is right.")      \
    X(NUMBER, page_threads, "1", 1, 256,                                                           \
      "Threads for pages that take long to make, such as the history of a policy.")                \
    X(NUMBER, page_queue, "128", 0, 100000,                                                        \
      "Pages that wait for one of these; those that come then are told to try again in a moment.") \
    X(NUMBER, page_queue_per_address, "8", 1, 100000,                                              \
      "How many of these pages one network address may have made at once.")                        \
    X(NUMBER, save_threads, "32", 1, 1024,                                                         \
      "Threads for requests that save something: they wait for the disk, and share its syncs; "    \
      "one waits for the votes of up to 16 people.")                                               \
    X(NUMBER, save_queue, "1000", 0, 100000,                                                       \
      "Saves that wait for one of these; those that come then are told to try again in a moment.") \
    X(NUMBER, connections, "15000", 16, 1000000,                                                   \
      "Open connections in all; above it new ones are closed. Needs as many open files.")          \
    X(NUMBER, connections_per_address, "64", 1, 1000000,                                           \
      "Open connections of one address; loopback and trusted proxies are exempt.")                 \
    X(NUMBER, watchers, "4000", 1, 1000000,                                                        \
      "Pages in all that are told of changes as they happen, beside the connections. Needs as "    \
      "many open files.")                                                                          \
    X(NUMBER, watchers_per_address, "64", 1, 1000000,                                              \
      "The same of one address; loopback and trusted proxies are exempt.")                         \
    X(TEXT, public_url, "", 0, 255,                                                                \
      "Where visitors find the site, as in https://vote.example.org; http:// and the address "     \
      "to serve on when empty. With https, cookies are sent over https only.")                     \
    X(TEXT, metrics_token_file, "", 0, 1000,                                                       \
      "A file with the token, in one line, that /metrics asks for; empty: it answers to "          \
      "this machine alone.")                                                                       \
    X(TEXT, trusted_proxies, "", 0, 2000,                                                          \
      "Addresses, separated by commas, whose X-Forwarded-For is believed.")                        \
    X(SIZE, page_cache_bytes, "64M", 0, 1099511627776,                                             \
      "Memory for pages as visitors who are not logged in see them; 0 renders each anew.")         \
    X(SIZE, header_bytes, "8K", 1024, 1048576,                                                     \
      "The head of one request: its first line and all headers.")                                  \
    X(SIZE, body_bytes, "1M", 1024, 67108864,                                                      \
      "The body of one request, unless a route takes less.")                                       \
    X(SIZE, bodies_bytes, "128M", 1048576, 1099511627776,                                          \
      "Memory for all bodies that are on their way at once; one network address may fill an "      \
      "eighth of it.")                                                                             \
    X(NUMBER, body_seconds, "10", 1, 3600,                                                         \
      "How long a body may take to arrive, and one second more for each 8 KiB of it; always "      \
      "within request_seconds, or the longer time of its route.")                                  \
    X(NUMBER, request_seconds, "30", 1, 3600,                                                      \
      "From the first byte of a request to the last byte of its answer; slower clients are cut.")  \
    X(NUMBER, idle_seconds, "60", 1, 3600, "How long a connection may wait for its next request.") \
    X(TEXT, smtp_url, "", 0, 500,                                                                  \
      "The mail server, smtp://host:port or smtps://host:port; without one no mail is sent.")      \
    X(TEXT, smtp_user, "", 0, 250, "The log-in at the mail server, when it asks for one.")         \
    X(TEXT, smtp_password_file, "", 0, 1000,                                                       \
      "A file with its password in one line, so that it stands in no list of processes.")          \
    X(TEXT, smtp_tls, "auto", 3, 8,                                                                \
      "STARTTLS to an smtp:// server: required, off, or auto, which is off on loopback only.")     \
    X(TEXT, smtp_ca_file, "", 0, 1000,                                                             \
      "Certificates to trust at the mail server; those of the system when empty.")                 \
    X(NUMBER, smtp_seconds, "60", 1, 600, "How long the mail server may take for one message.")    \
    X(TEXT, mail_from, "", 0, 460,                                                                 \
      "Who mails come from: Ostraka <site@example.org>; needed with smtp_url.")                    \
    X(NUMBER, mail_retry_seconds, "60", 1, 3600,                                                   \
      "The first pause before a mail is tried again; it doubles each time, up to 6 hours.")        \
    X(SWITCH, mail_outbox, "off", 0, 1,                                                            \
      "Without smtp_url: keep mails for a page instead; for demos on loopback only.")              \
    X(SWITCH, empty, "off", 0, 1,                                                                  \
      "A new site starts without the demo (it has one on loopback only).")                         \
    X(NUMBER, stop_seconds, "10", 0, 600, "How long a stop waits for running requests.")

typedef struct Config {
#define CONFIG_FIELD_TEXT(name)                      const char *name;
#define CONFIG_FIELD_NUMBER(name)                    int64_t name;
#define CONFIG_FIELD_SIZE(name)                      int64_t name;
#define CONFIG_FIELD_SWITCH(name)                    bool name;
#define X(type, name, fallback, least, most, reason) CONFIG_FIELD_##type(name)
    CONFIG_LIST(X)
#undef X
} Config;

typedef enum ConfigType { CONFIG_TEXT, CONFIG_NUMBER, CONFIG_SIZE, CONFIG_SWITCH } ConfigType;

/* One row of the table, for help and documentation. */
typedef struct ConfigSetting {
    ConfigType type;
    const char *name;
    const char *fallback;
    int64_t least, most;
    const char *reason;
} ConfigSetting;

extern const ConfigSetting CONFIG_SETTINGS[];
extern const size_t CONFIG_SETTING_COUNT;

/* All defaults. Text values live in `arena` (or are literals). */
void config_defaults(Config *ret_config);
/* One setting by name, from a person's text. INVALID names the setting and the rule. */
MUST_USE Status config_set(Config *config, Slice name, Slice value, Arena *arena, Reason *reason);
/* A whole file's text; `path` is for the messages. An error leaves `config` as it was, here and below. */
MUST_USE Status config_read_file(Config *config, const char *path, Slice text, Arena *arena,
                                 Reason *reason);
/* Every OSTRAKA_… variable in `environment` (ended by NULL, as environ). An OSTRAKA_ variable that names no setting is
 * refused, but for OSTRAKA_CONFIG, which names the file, and those that commands of `journal run` have. */
MUST_USE Status config_read_environment(Config *config, char *const *environment, Arena *arena,
                                        Reason *reason);
/* The value in force, as one would write it in the file. */
Slice config_value(const Config *config, size_t index, Arena *arena);
/* A size as a person writes it: digits, and perhaps K, M or G. */
MUST_USE Status config_size(Slice text, int64_t *ret_bytes);
/* The table as text for a terminal, or as Markdown for docs/settings.md. */
void config_help(Buffer *out);
void config_markdown(Buffer *out);
