/* agents.c -- see agents.h. */
#include "site/account/agents.h"

typedef struct Mark {
    const char *text, *words;
} Mark;

static const Mark PROGRAMS[] = {
    {"Edg", "Edge"},         {"OPR/", "Opera"},     {"SamsungBrowser/", "Samsung Internet"},
    {"Firefox/", "Firefox"}, {"FxiOS/", "Firefox"}, {"Chromium/", "Chromium"},
    {"CriOS/", "Chrome"},    {"Chrome/", "Chrome"}, {"Safari/", "Safari"},
};

static const Mark SYSTEMS[] = {
    {"iPhone", "an iPhone"}, {"iPad", "an iPad"},    {"Android", "Android"}, {"CrOS", "ChromeOS"},
    {"Windows", "Windows"},  {"Macintosh", "a Mac"}, {"Linux", "Linux"},
};

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

/* The words of the first mark that stands in the text, or NULL. */
static const char *find(Slice text, const Mark *marks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (memmem(text.data, text.size, marks[i].text, strlen(marks[i].text)) != NULL)
            return marks[i].words;
    return NULL;
}

Slice agent_words(Slice agent, Arena *arena)
{
    const char *program = find(agent, PROGRAMS, COUNT(PROGRAMS));
    const char *system = find(agent, SYSTEMS, COUNT(SYSTEMS));
    if (agent.size == 0)
        return SLICE("A program that gave no name");
    if (program == NULL)
        return agent;
    return system == NULL ? slice_from(program) : arena_print(arena, "%s on %s", program, system);
}
