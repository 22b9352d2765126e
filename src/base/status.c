/* status.c -- names and numbers of the status list, reasons, and the end of the road for bugs. */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct StatusInfo {
    const char *name;
    int http;
    const char *text;
} StatusInfo;

static const StatusInfo INFO[STATUS_COUNT] = {
#define X(name, label, http, text) [STATUS_##name] = {#label, http, text},
    STATUS_LIST(X)
#undef X
};

const char *status_name(Status status)
{
    CHECK(status >= 0 && status < STATUS_COUNT);
    return INFO[status].name;
}

int status_http(Status status)
{
    CHECK(status >= 0 && status < STATUS_COUNT);
    return INFO[status].http;
}

const char *status_text(Status status)
{
    CHECK(status >= 0 && status < STATUS_COUNT);
    return INFO[status].text;
}

Status reason_set(Reason *reason, Status status, const char *field, const char *format, ...)
{
    if (reason == NULL)
        return status;
    snprintf(reason->field, sizeof reason->field, "%s", field != NULL ? field : "");
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason->rule, sizeof reason->rule, format, arguments);
    va_end(arguments);
    return status;
}

void check_failed(const char *condition, const char *file, int line)
{
    fprintf(stderr, "ostraka: bug: %s does not hold at %s:%d\n", condition, file, line);
    abort();
}
