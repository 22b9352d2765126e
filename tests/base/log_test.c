/* log_test.c -- log lines: their form, their level, and several threads. */
#include "base/log.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "test.h"
#include "world.h"

/* A log into a file, and what came out. */
typedef struct Sink {
    TestWorld own;
    Arena *arena;
    World world;
    const char *path;
    int fd;
    Log *log;
} Sink;

static void sink_begin(Sink *sink, LogLevel level)
{
    sink->arena = arena_new();
    sink->world = test_world(&sink->own, 1);
    sink->path = arena_print(sink->arena, "%s/log", test_directory()).data;
    sink->fd = open(sink->path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    EXPECT(sink->fd >= 0);
    sink->log = log_new(sink->fd, level, sink->world.clock);
}

static Slice written(Sink *sink)
{
    Slice text;
    EXPECT_STATUS(disk_read(sink->world.disk, sink->path, 1 << 24, sink->arena, &text, NULL),
                  STATUS_OK);
    return text;
}

#define SINK_SCOPE __attribute__((cleanup(sink_end)))

static void sink_end(Sink *sink)
{
    log_free(sink->log);
    close(sink->fd);
    arena_free(sink->arena);
}

TEST(a_line_is_one_object_with_time_level_and_event)
{
    SINK_SCOPE Sink sink;
    sink_begin(&sink, LOG_DEBUG);
    test_world_pass(&sink.own, 123456);
    LogLine line = log_line(sink.log, LOG_INFO, "request");
    log_i64(&line, "status", 200);
    log_text(&line, "path", "/a\"b");
    log_string(&line, "agent", SLICE("x\ny\xFF"));
    log_end(&line);
    EXPECT_SLICE(written(&sink), SLICE("{\"time\":\"2026-01-31T12:00:00.123Z\",\"level\":\"info\","
                                       "\"event\":\"request\",\"status\":200,\"path\":\"/a\\\"b\","
                                       "\"agent\":\"x\\ny\xEF\xBF\xBD\"}\n"));
}

TEST(below_the_level_nothing_is_written)
{
    SINK_SCOPE Sink sink;
    sink_begin(&sink, LOG_WARNING);
    for (int level = LOG_DEBUG; level <= LOG_ERROR; level++) {
        LogLine line = log_line(sink.log, (LogLevel)level, "e");
        EXPECT((line.log == NULL) == (level < LOG_WARNING));
        log_i64(&line, "n", 1);
        log_text(&line, "t", "t");
        log_reason(&line, &(Reason){.rule = "r"});
        log_end(&line);
    }
    Slice text = written(&sink), part;
    EXPECT(slice_split(&text, '\n', &part));
    EXPECT(memmem(part.data, part.size, "\"warning\"", 9) != NULL);
    EXPECT(slice_split(&text, '\n', &part));
    EXPECT(memmem(part.data, part.size, "\"error\"", 7) != NULL);
    EXPECT_I64(text.size, 0);
}

TEST(a_reason_is_logged_as_far_as_it_goes)
{
    SINK_SCOPE Sink sink;
    sink_begin(&sink, LOG_INFO);
    LogLine line = log_line(sink.log, LOG_INFO, "e");
    log_reason(&line, &(Reason){.field = "f", .rule = "r"});
    log_end(&line);
    line = log_line(sink.log, LOG_INFO, "e");
    log_reason(&line, &(Reason){.field = ""});
    log_end(&line);
    Slice text = written(&sink), part;
    EXPECT(slice_split(&text, '\n', &part));
    EXPECT(memmem(part.data, part.size, "\"field\":\"f\",\"rule\":\"r\"", 22) != NULL);
    EXPECT(slice_split(&text, '\n', &part));
    EXPECT(memmem(part.data, part.size, "field", 5) == NULL);
    EXPECT(memmem(part.data, part.size, "rule", 4) == NULL);
}

TEST(a_long_text_is_cut)
{
    SINK_SCOPE Sink sink;
    char text[5000];
    sink_begin(&sink, LOG_INFO);
    memset(text, 'x', sizeof text);
    LogLine line = log_line(sink.log, LOG_INFO, "e");
    log_string(&line, "t", slice_of(text, sizeof text));
    log_end(&line);
    size_t count = 0;
    Slice all = written(&sink);
    for (size_t i = 0; i < all.size; i++)
        count += all.data[i] == 'x';
    EXPECT_I64(count, LOG_VALUE_MAX);
}

enum { THREADS = 4, LINES = 500 };

static void *write_lines(void *argument)
{
    char text[LOG_VALUE_MAX];
    memset(text, 'x', sizeof text);
    for (int i = 0; i < LINES; i++) {
        LogLine line = log_line(argument, LOG_INFO, "thread");
        log_string(&line, "text", slice_of(text, (size_t)i));
        log_i64(&line, "size", i);
        log_end(&line);
    }
    return NULL;
}

TEST(lines_of_several_threads_do_not_mix)
{
    SINK_SCOPE Sink sink;
    pthread_t threads[THREADS];
    sink_begin(&sink, LOG_INFO);
    for (int i = 0; i < THREADS; i++)
        EXPECT(pthread_create(&threads[i], NULL, write_lines, sink.log) == 0);
    for (int i = 0; i < THREADS; i++)
        EXPECT(pthread_join(threads[i], NULL) == 0);
    Slice rest = written(&sink), line, text;
    int count = 0;
    for (; slice_split(&rest, '\n', &line); count++) {
        Json *document;
        int64_t size;
        EXPECT_STATUS(json_parse(line, (JsonBounds){5000, SIZE_MAX}, &document, NULL), STATUS_OK);
        EXPECT_STATUS(json_get_string(document, "text", 1000, &text, NULL), STATUS_OK);
        EXPECT_STATUS(json_get_i64(document, "size", 0, 1000, &size, NULL), STATUS_OK);
        EXPECT_I64(text.size, size);
        json_free(document);
    }
    EXPECT_I64(count, THREADS * LINES);
}

TEST(a_log_that_cannot_be_written_disturbs_nobody)
{
    TestWorld own;
    int full = open("/dev/full", O_WRONLY);
    Log *log = log_new(full, LOG_INFO, test_world(&own, 1).clock);
    LogLine line = log_line(log, LOG_INFO, "lost");
    log_end(&line);
    EXPECT(line.log == NULL);
    log_free(log);
    close(full);
}

TEST(times_are_formatted_over_leap_days_and_clamped_at_the_ends)
{
    static const struct {
        int64_t us;
        const char *text;
    } times[] = {
        {0, "1970-01-01T00:00:00.000Z"},
        {INT64_C(951782399999999), "2000-02-28T23:59:59.999Z"},
        {INT64_C(951782400000000), "2000-02-29T00:00:00.000Z"},
        {INT64_C(4107542400000000), "2100-03-01T00:00:00.000Z"},
        {INT64_C(253402300799999999), "9999-12-31T23:59:59.999Z"},
        {INT64_MAX, "9999-12-31T23:59:59.999Z"},
        {-1, "1970-01-01T00:00:00.000Z"},
        {INT64_MIN, "1970-01-01T00:00:00.000Z"},
    };
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        char text[LOG_TIME_TEXT];
        log_format_time(times[i].us, text);
        EXPECT_SLICE(slice_from(text), slice_from(times[i].text));
    }
}

TEST(a_log_that_gathers_writes_whole_lines_later_and_warnings_at_once)
{
    int pipe_fds[2];
    char text[4096];
    EXPECT_I64(pipe2(pipe_fds, O_NONBLOCK), 0);
    Log *log = log_new(pipe_fds[1], LOG_INFO, world_real().clock);
    log_gather(log, true);
    LogLine line = log_line(log, LOG_INFO, "one");
    log_end(&line);
    EXPECT_I64(read(pipe_fds[0], text, sizeof text), -1);
    log_flush(log);
    ssize_t size = read(pipe_fds[0], text, sizeof text);
    EXPECT(size > 0 && text[size - 1] == '\n');
    line = log_line(log, LOG_INFO, "two");
    log_end(&line);
    line = log_line(log, LOG_WARNING, "three");
    log_end(&line);
    size = read(pipe_fds[0], text, sizeof text - 1);
    EXPECT(size > 0);
    text[size] = '\0';
    const char *two = strstr(text, "two"), *three = strstr(text, "three");
    EXPECT(two != NULL && three != NULL && two < three);
    line = log_line(log, LOG_INFO, "four");
    log_end(&line);
    log_free(log);
    EXPECT(read(pipe_fds[0], text, sizeof text) > 0);
    close(pipe_fds[0]);
    close(pipe_fds[1]);
}
