/* plan.c -- counts, the environment and the control file. */
#include "plan.h"

#include "real.h"

typedef struct Plan {
    unsigned kinds;
    int error;
    bool sticky;
    bool half;
    bool lies;
    uint64_t at; /* of the chosen calls; 0: none fails */
    uint64_t cut_at;
    bool cut_now;
    const char *control;
    struct timespec control_seen;
    ino_t control_inode;
} Plan;

typedef struct Tally {
    uint64_t kinds[FAULT_KIND_COUNT];
    uint64_t all;    /* without reads */
    uint64_t chosen; /* since the plan was made */
    uint64_t injected;
    char first[4200]; /* the first call that failed */
} Tally;

static Plan plan;
static Tally tally;

static const char *const KINDS[FAULT_KIND_COUNT] = {
#define X(name, text) [FAULT_##name] = text,
    FAULT_KIND_LIST(X)
#undef X
};

static const struct {
    const char *name;
    int number;
} ERRORS[] = {
    {"EIO", EIO},     {"ENOSPC", ENOSPC}, {"EDQUOT", EDQUOT},
    {"EROFS", EROFS}, {"EMFILE", EMFILE}, {"EACCES", EACCES},
};

static unsigned one_kind(const char *name)
{
    if (strcmp(name, "any") == 0)
        return FAULT_ANY;
    if (strcmp(name, "full") == 0)
        return FAULT_FULL;
    for (unsigned kind = 0; kind < FAULT_KIND_COUNT; kind++)
        if (strcmp(name, KINDS[kind]) == 0)
            return FAULT_BIT(kind);
    fault_confused("no such kind of call", name);
}

static unsigned parse_kinds(const char *text)
{
    char copy[256];
    unsigned kinds = 0;
    if (strlen(text) >= sizeof copy)
        fault_confused("too many kinds", text);
    strcpy(copy, text);
    char *rest = NULL;
    for (char *name = strtok_r(copy, ",", &rest); name != NULL; name = strtok_r(NULL, ",", &rest))
        kinds |= one_kind(name);
    return kinds;
}

static int parse_error(const char *name)
{
    for (size_t i = 0; i < sizeof ERRORS / sizeof *ERRORS; i++)
        if (strcmp(name, ERRORS[i].name) == 0)
            return ERRORS[i].number;
    fault_confused("no such error", name);
}

uint64_t plan_number(const char *name)
{
    const char *text = getenv(name);
    if (text == NULL)
        return 0;
    char *end;
    errno = 0;
    uint64_t number = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0)
        fault_confused(name, "not a number");
    return number;
}

void plan_load(void)
{
    const char *kinds = getenv("FAULT_KINDS"), *error = getenv("FAULT_ERRNO");
    plan.kinds = parse_kinds(kinds != NULL ? kinds : "any");
    plan.error = parse_error(error != NULL ? error : "EIO");
    plan.sticky = plan_number("FAULT_STICKY") != 0;
    plan.half = plan_number("FAULT_SHORT") != 0;
    plan.lies = plan_number("FAULT_LIE") != 0;
    plan.at = plan_number("FAULT_FAIL_AT");
    plan.cut_at = plan_number("FAULT_CUT_AT");
    plan.control = getenv("FAULT_CONTROL");
}

void plan_fail_from_now(unsigned kinds, int error)
{
    plan.kinds = kinds;
    plan.error = error;
    plan.sticky = true;
    plan.half = false;
    plan.at = 1;
    tally.chosen = 0;
}

void plan_clear(void)
{
    plan.at = 0;
}

static void obey(char *line)
{
    char kinds[256], error[32];
    line[strcspn(line, "\n")] = '\0';
    if (strcmp(line, "clear") == 0)
        plan_clear();
    else if (strcmp(line, "cut") == 0)
        plan.cut_now = true;
    else if (sscanf(line, "fail %255s %31s", kinds, error) == 2)
        plan_fail_from_now(parse_kinds(kinds), parse_error(error));
    else
        fault_confused("control file not understood", line);
}

static void poll_control(void)
{
    struct stat now;
    if (plan.control == NULL || stat(plan.control, &now) != 0)
        return;
    if (now.st_ino == plan.control_inode && now.st_mtim.tv_sec == plan.control_seen.tv_sec &&
        now.st_mtim.tv_nsec == plan.control_seen.tv_nsec)
        return;
    char line[512];
    int fd = real_open(plan.control, O_RDONLY);
    if (fd < 0)
        return;
    ssize_t size = real_read(fd, line, sizeof line - 1);
    real_close(fd);
    plan.control_inode = now.st_ino;
    plan.control_seen = now.st_mtim;
    line[size > 0 ? size : 0] = '\0';
    obey(line);
}

Verdict plan_next(FaultKind kind)
{
    poll_control();
    tally.kinds[kind]++;
    if (kind != FAULT_READ)
        tally.all++;
    if (plan.cut_now || (plan.cut_at != 0 && tally.all >= plan.cut_at))
        return VERDICT_CUT;
    if ((plan.kinds & FAULT_BIT(kind)) == 0)
        return VERDICT_PASS;
    tally.chosen++;
    if (plan.at == 0 || tally.chosen < plan.at || (tally.chosen > plan.at && !plan.sticky))
        return VERDICT_PASS;
    tally.injected++;
    if (plan.half && kind == FAULT_WRITE) {
        plan.half = false;
        plan.at = tally.chosen + 1;
        return VERDICT_SHORT;
    }
    return VERDICT_FAIL;
}

int plan_error(void)
{
    return plan.error;
}

bool plan_lies(void)
{
    return plan.lies;
}

void plan_note(FaultKind kind, const char *path)
{
    if (tally.first[0] == '\0')
        snprintf(tally.first, sizeof tally.first, "%s %s", KINDS[kind], path);
}

uint64_t plan_count(unsigned kinds)
{
    uint64_t count = 0;
    for (unsigned kind = 0; kind < FAULT_KIND_COUNT; kind++)
        if ((kinds & FAULT_BIT(kind)) != 0)
            count += tally.kinds[kind];
    return count;
}

uint64_t plan_injected(void)
{
    return tally.injected;
}

void plan_report(void)
{
    const char *path = getenv("FAULT_REPORT");
    char text[8192];
    size_t size = 0;
    if (path == NULL)
        return;
    for (unsigned kind = 0; kind < FAULT_KIND_COUNT; kind++)
        size += (size_t)snprintf(text + size, sizeof text - size, "%s %llu\n", KINDS[kind],
                                 (unsigned long long)tally.kinds[kind]);
    size += (size_t)snprintf(text + size, sizeof text - size, "all %llu\ninjected %llu\n",
                             (unsigned long long)tally.all, (unsigned long long)tally.injected);
    if (tally.first[0] != '\0')
        size += (size_t)snprintf(text + size, sizeof text - size, "failed %s\n", tally.first);
    int fd = real_open(path, O_WRONLY | O_CREAT | O_TRUNC);
    if (fd < 0 || real_write(fd, text, size) != (ssize_t)size)
        fault_confused("cannot write the report", path);
    real_close(fd);
}
