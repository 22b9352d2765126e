/* protocol.h -- the lines of beanstalkd's protocol, and those of our own words, read and written. Pure.
 *
 * docs/journal-protocol.md is the manual of what a line means; this is how it is read:
 *   1. beanstalkd's own lines are judged as beanstalkd 1.13 judges them, also where that is odd: a number may follow several spaces, what comes
 *      after the number of kick and of reserve-with-timeout does not count, `quit` may be followed by anything.
 *   2. What a command holds lives in the arena; the line may go.
 *   3. Of a put that is refused, `bytes` is set as far as it could be read: the body follows all the same. */
#pragma once

#include "base/arena.h"
#include "base/bytes.h"
#include "journal/journal.h"

enum {
    BEANSTALK_LINE_MAX = 224, /* with CR LF */
    BEANSTALK_OWN_LINE_MAX = 4096,
    BEANSTALK_TOKENS_MAX = 100,
    BEANSTALK_SECRET_MAX = 512,
    BEANSTALK_SENTENCE_MAX = 300,
};

typedef enum BeanstalkShape {
    BEANSTALK_ALONE,    /* nothing may follow */
    BEANSTALK_ANYTHING, /* what follows does not count */
    BEANSTALK_ID,
    BEANSTALK_ID_PRI,
    BEANSTALK_ID_PRI_DELAY,
    BEANSTALK_COUNT,
    BEANSTALK_SECONDS,
    BEANSTALK_TUBE,
    BEANSTALK_TUBE_SECONDS,
    BEANSTALK_BODY,
    BEANSTALK_OWN_SECRET, /* our own: what stands before the options */
    BEANSTALK_OWN_BODY,
    BEANSTALK_OWN_ALONE,
    BEANSTALK_OWN_TOKENS,
    BEANSTALK_OWN_NAMES,
} BeanstalkShape;

/* The first that a line begins with is meant.
 *    word, its text, shape, the options that it takes */
#define BEANSTALK_WORD_LIST(X)                                                                     \
    X(PUT, "put ", BODY, 0)                                                                        \
    X(PEEK, "peek ", ID, 0)                                                                        \
    X(PEEK_READY, "peek-ready", ALONE, 0)                                                          \
    X(PEEK_DELAYED, "peek-delayed", ALONE, 0)                                                      \
    X(PEEK_BURIED, "peek-buried", ALONE, 0)                                                        \
    X(RESERVE_WITH_TIMEOUT, "reserve-with-timeout ", SECONDS, 0)                                   \
    X(RESERVE_JOB, "reserve-job ", ID, 0)                                                          \
    X(RESERVE, "reserve", ALONE, 0)                                                                \
    X(DELETE, "delete ", ID, 0)                                                                    \
    X(RELEASE, "release ", ID_PRI_DELAY, 0)                                                        \
    X(BURY, "bury ", ID_PRI, 0)                                                                    \
    X(KICK, "kick ", COUNT, 0)                                                                     \
    X(KICK_JOB, "kick-job ", ID, 0)                                                                \
    X(TOUCH, "touch ", ID, 0)                                                                      \
    X(STATS_JOB, "stats-job ", ID, 0)                                                              \
    X(STATS_TUBE, "stats-tube ", TUBE, 0)                                                          \
    X(STATS, "stats", ALONE, 0)                                                                    \
    X(USE, "use ", TUBE, 0)                                                                        \
    X(WATCH, "watch ", TUBE, 0)                                                                    \
    X(IGNORE, "ignore ", TUBE, 0)                                                                  \
    X(LIST_TUBES_WATCHED, "list-tubes-watched", ALONE, 0)                                          \
    X(LIST_TUBE_USED, "list-tube-used", ALONE, 0)                                                  \
    X(LIST_TUBES, "list-tubes", ALONE, 0)                                                          \
    X(QUIT, "quit", ANYTHING, 0)                                                                   \
    X(PAUSE_TUBE, "pause-tube", TUBE_SECONDS, 0)                                                   \
    X(X_AUTH, "x-auth", OWN_SECRET, 0)                                                             \
    X(X_PUT, "x-put", OWN_BODY,                                                                    \
      O(TO) | O(KEY) | O(KEYLEN) | O(PRI) | O(AT) | O(DELAY) | O(EXPIRE) | O(LEASE) | O(INSERTED)) \
    X(X_CLAIM, "x-claim", OWN_ALONE, O(N) | O(FROM) | O(LEASE) | O(WAIT) | O(MAX))                 \
    X(X_EXTEND, "x-extend", OWN_TOKENS, O(LEASE))                                                  \
    X(X_DONE, "x-done", OWN_TOKENS, 0)                                                             \
    X(X_RELEASE, "x-release", OWN_TOKENS, O(AT) | O(DELAY) | O(PRI))                               \
    X(X_FAIL, "x-fail", OWN_TOKENS, O(ERROR))                                                      \
    X(X_BURY, "x-bury", OWN_TOKENS, O(PRI))                                                        \
    X(X_LISTEN, "x-listen", OWN_NAMES, 0)

typedef enum BeanstalkWord {
#define X(word, text, shape, options) BEANSTALK_##word,
    BEANSTALK_WORD_LIST(X)
#undef X
        BEANSTALK_WORDS
} BeanstalkWord;

/*    option, its text, kind, least, most */
#define BEANSTALK_OPTION_LIST(X)                                 \
    X(TO, "to", NAMED, 0, 0)                                     \
    X(KEY, "key", ESCAPED, 0, JOURNAL_KEY_MAX)                   \
    X(KEYLEN, "keylen", NUMBER, 0, JOURNAL_KEY_MAX)              \
    X(PRI, "pri", PRIORITY, 0, UINT32_MAX)                       \
    X(AT, "at", NUMBER, 0, INT64_C(253402300799999))             \
    X(DELAY, "delay", NUMBER, 0, UINT32_MAX *INT64_C(1000))      \
    X(EXPIRE, "expire", NUMBER, 0, INT64_C(253402300799999))     \
    X(LEASE, "lease", NUMBER, 1, UINT32_MAX)                     \
    X(INSERTED, "inserted", NUMBER, 0, INT64_C(253402300799999)) \
    X(N, "n", NUMBER, 1, JOURNAL_MANY_MAX)                       \
    X(FROM, "from", NAMES, 0, 0)                                 \
    X(WAIT, "wait", NUMBER, 0, JOURNAL_WAIT_MAX_MS)              \
    X(MAX, "max", PRIORITY, 0, UINT32_MAX)                       \
    X(ERROR, "error", ESCAPED, 0, JOURNAL_ERROR_MAX)

typedef enum BeanstalkOption {
#define X(option, text, kind, least, most) BEANSTALK_O_##option,
    BEANSTALK_OPTION_LIST(X)
#undef X
        BEANSTALK_OPTIONS
} BeanstalkOption;

typedef struct BeanstalkCommand {
    BeanstalkWord word;
    uint64_t id, count;
    uint32_t priority, delay_s, ttr_s, seconds;
    uint64_t bytes; /* of the body that follows, without its CR LF */
    bool has_bytes;
    bool has_key; /* put: key: was there, perhaps empty */
    Slice key;
    Slice tube;
    Slice secret;
    JournalToken *tokens;
    size_t token_count;
    Slice *names;
    size_t name_count;
    uint32_t given; /* 1 << option */
    uint64_t numbers[BEANSTALK_OPTIONS];
    Slice texts[BEANSTALK_OPTIONS];
} BeanstalkCommand;

typedef enum BeanstalkVerdict {
    BEANSTALK_GOOD,
    BEANSTALK_BAD_FORMAT,
    BEANSTALK_UNKNOWN,
    BEANSTALK_REFUSED, /* one of our own words: INVALID, with the reason */
} BeanstalkVerdict;

/* The size of the first line with its end; 0: it is not complete; *ret_long: and longer than it may be. */
size_t beanstalk_line(Slice input, bool *ret_long);
/* A line without its end. */
BeanstalkVerdict beanstalk_parse(Slice line, Arena *arena, BeanstalkCommand *ret_command,
                                 Reason *reason);
bool beanstalk_is_own(BeanstalkWord word);
static inline bool beanstalk_given(const BeanstalkCommand *command, BeanstalkOption option)
{
    return (command->given >> option & 1) != 0;
}
/* INVALID when a % is not followed by two hexadecimal digits, or a byte that is not visible ASCII is not escaped. */
MUST_USE Status beanstalk_unescape(Slice text, Arena *arena, Slice *ret_text);

/* "WORD id size", the body, and the ends of both. */
void beanstalk_write_job(Buffer *to, const char *word, uint64_t id, Slice body);
/* "OK size", the text, and the ends of both. */
void beanstalk_write_data(Buffer *to, Slice text);
/* X-ERROR …; control characters of the sentence become spaces. */
void beanstalk_write_error(Buffer *to, Status status, const Reason *reason);
/* A status in capitals. */
void beanstalk_write_status(Buffer *to, Status status);
/* A date, or "-" for JOURNAL_NEVER. */
void beanstalk_write_date(Buffer *to, int64_t ms);
