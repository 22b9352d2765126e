/* test.c -- the runner behind test.h. */
#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static Test *first, **last = &first;
static jmp_buf after_failure;
static char directory[] = "/tmp/ostraka-test-XXXXXX";
static bool has_directory;

void test_register(Test *test)
{
    *last = test;
    last = &test->next;
}

void test_fail(const char *file, int line, const char *format, ...)
{
    va_list arguments;
    printf("# %s:%d: ", file, line);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    longjmp(after_failure, 1);
}

static void remove_directory(void)
{
    char command[sizeof directory + 16];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    if (system(command) != 0)
        printf("# could not remove %s\n", directory);
}

const char *test_directory(void)
{
    static char path[sizeof directory + 16];
    static int count;
    if (!has_directory) {
        CHECK(mkdtemp(directory) != NULL);
        has_directory = true;
    }
    snprintf(path, sizeof path, "%s/%d", directory, count++);
    CHECK(mkdir(path, 0700) == 0);
    return path;
}

bool test_is_bug(void (*run)(void))
{
    int result;
    fflush(stdout);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDERR_FILENO);
        run();
        _exit(0);
    }
    CHECK(waitpid(child, &result, 0) == child);
    return WIFSIGNALED(result) && WTERMSIG(result) == SIGABRT;
}

static bool wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strstr(name, argv[i]) != NULL)
            return true;
    return argc < 2;
}

/* Apart from main, so that no variable of the caller is in doubt after the longjmp. */
static bool passes(const Test *test)
{
    if (setjmp(after_failure) != 0)
        return false;
    test->run();
    return true;
}

int main(int argc, char **argv)
{
    int count = 0, failed = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (const Test *test = first; test != NULL; test = test->next) {
        if (!wanted(test->name, argc, argv))
            continue;
        bool passed = passes(test);
        failed += !passed;
        printf("%s %d - %s\n", passed ? "ok" : "not ok", ++count, test->name);
    }
    printf("1..%d\n", count);
    if (has_directory && failed == 0)
        remove_directory();
    return failed > 0;
}
