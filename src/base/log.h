/* log.h -- structured logs: one JSON object a line, to a file descriptor.
 *
 *     LogLine line = log_line(log, LOG_INFO, "request");
 *     log_i64(&line, "status", 200);
 *     log_end(&line);
 * gives {"time":"2026-01-31T12:00:00.123Z","level":"info","event":"request","status":200}
 * A line is written by one write(2), so lines of several threads do not mix; a log that gathers writes several whole lines at
 * once, and those from warning on at once, with what was gathered before them. Below the log's level nothing is
 * built. A text over LOG_VALUE_MAX bytes is cut there. Secrets are never passed here. Only web, tasks and cli log; library code returns a status. */
#pragma once

#include "base/json.h"
#include "base/world.h"

typedef enum LogLevel { LOG_DEBUG, LOG_INFO, LOG_WARNING, LOG_ERROR } LogLevel;

/* Long enough for any path we serve; a line with a few such texts still goes through a pipe in one piece. */
enum { LOG_VALUE_MAX = 1000 };

typedef struct Log Log;

/* The descriptor stays the caller's. */
Log *log_new(int fd, LogLevel level, Clock clock);
/* Writes what was gathered. */
void log_free(Log *log);

/* A busy server spends a sixth of a small page's time on one write(2) for its line. Who turns gathering on calls log_flush
 * at least every second; a crash loses what was gathered since. Turning it off flushes. */
void log_gather(Log *log, bool on);
void log_flush(Log *log);

typedef struct LogLine {
    Log *log; /* NULL: below the level, and the calls below do nothing */
    LogLevel level;
    Buffer buffer;
} LogLine;

/* Keys are words of the code, which need no escape. */
LogLine log_line(Log *log, LogLevel level, const char *event);
void log_string(LogLine *line, const char *key, Slice text);
void log_text(LogLine *line, const char *key, const char *text);
void log_i64(LogLine *line, const char *key, int64_t number);
/* The field and the rule, when there are any. */
void log_reason(LogLine *line, const Reason *reason);
void log_end(LogLine *line);

/* 2026-01-31T12:00:00.123Z, in 24 bytes plus NUL; times outside of 1970 to 9999 become the nearest inside. */
enum { LOG_TIME_TEXT = 25 };
void log_format_time(int64_t us, char *to);
