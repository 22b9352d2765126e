/* log.c -- see log.h. */
#include "base/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/time_text.h"

static const Slice LEVELS[] = {
    [LOG_DEBUG] = {"debug", 5},
    [LOG_INFO] = {"info", 4},
    [LOG_WARNING] = {"warning", 7},
    [LOG_ERROR] = {"error", 5},
};

enum { GATHERED_MAX = 32 * 1024, USUAL_LINE = 512 };

struct Log {
    int fd;
    LogLevel level;
    Clock clock;
    pthread_mutex_t lock; /* guards what follows */
    bool gathers;
    Buffer gathered;
};

Log *log_new(int fd, LogLevel level, Clock clock)
{
    Log *log = malloc(sizeof *log);
    CHECK(log != NULL);
    *log = (Log){.fd = fd, .level = level, .clock = clock};
    pthread_mutex_init(&log->lock, NULL);
    return log;
}

void log_free(Log *log)
{
    log_flush(log);
    pthread_mutex_destroy(&log->lock);
    buffer_free(&log->gathered);
    free(log);
}

static void put_key(LogLine *line, const char *key)
{
    size_t size = strlen(key);
    char *to = buffer_reserve(&line->buffer, size + 4);
    memcpy(to, ",\"", 2);
    memcpy(to + 2, key, size);
    memcpy(to + 2 + size, "\":", 2);
    line->buffer.size += size + 4;
}

LogLine log_line(Log *log, LogLevel level, const char *event)
{
    LogLine line = {.level = level};
    if (level < log->level)
        return line;
    char time[LOG_TIME_TEXT];
    log_format_time(clock_now_us(log->clock), time);
    line.log = log;
    (void)buffer_reserve(&line.buffer, USUAL_LINE);
    buffer_bytes(&line.buffer, SLICE("{\"time\":\""));
    buffer_bytes(&line.buffer, slice_of(time, sizeof time - 1));
    buffer_u8(&line.buffer, '"');
    log_string(&line, "level", LEVELS[level]);
    log_text(&line, "event", event);
    return line;
}

void log_string(LogLine *line, const char *key, Slice text)
{
    if (line->log == NULL)
        return;
    if (text.size > LOG_VALUE_MAX)
        text.size = LOG_VALUE_MAX;
    put_key(line, key);
    json_quote(&line->buffer, text);
}

void log_text(LogLine *line, const char *key, const char *text)
{
    log_string(line, key, slice_from(text));
}

void log_i64(LogLine *line, const char *key, int64_t number)
{
    if (line->log == NULL)
        return;
    put_key(line, key);
    buffer_decimal(&line->buffer, number);
}

void log_reason(LogLine *line, const Reason *reason)
{
    if (reason->field[0] != '\0')
        log_text(line, "field", reason->field);
    if (reason->rule[0] != '\0')
        log_text(line, "rule", reason->rule);
}

/* A log that cannot be written must not stop the service, and there is nowhere to say so: the line is lost. */
static void write_lines(int fd, Slice line)
{
    while (line.size > 0) {
        ssize_t wrote = write(fd, line.data, line.size);
        if (wrote < 0 && errno != EINTR)
            return;
        if (wrote > 0)
            line = slice_after(line, (size_t)wrote);
    }
}

static void write_gathered(Log *log)
{
    write_lines(log->fd, buffer_slice(&log->gathered));
    buffer_clear(&log->gathered);
}

void log_gather(Log *log, bool on)
{
    pthread_mutex_lock(&log->lock);
    log->gathers = on;
    write_gathered(log);
    pthread_mutex_unlock(&log->lock);
}

void log_flush(Log *log)
{
    pthread_mutex_lock(&log->lock);
    write_gathered(log);
    pthread_mutex_unlock(&log->lock);
}

void log_end(LogLine *line)
{
    Log *log = line->log;
    if (log == NULL)
        return;
    buffer_bytes(&line->buffer, SLICE("}\n"));
    pthread_mutex_lock(&log->lock);
    buffer_bytes(&log->gathered, buffer_slice(&line->buffer));
    if (!log->gathers || line->level >= LOG_WARNING || log->gathered.size >= GATHERED_MAX)
        write_gathered(log);
    pthread_mutex_unlock(&log->lock);
    buffer_free(&line->buffer);
    line->log = NULL;
}

void log_format_time(int64_t us, char *to)
{
    us = us < 0 ? 0 : us > TIME_MAX_US ? TIME_MAX_US : us;
    utc_text(utc_of(us), to);
    to[UTC_TEXT - 1] = '.';
    to = put_digits(to + UTC_TEXT, us % US_PER_S / US_PER_MS, 3);
    memcpy(to, "Z", 2);
}
