/* outcome.c -- see outcome.h. */
#include "store/cql/outcome.h"

#define AGAIN                              \
    {                                      \
        STATUS_UNAVAILABLE, OUTCOME_REPEAT \
    }
#define UNKNOWN                        \
    {                                  \
        STATUS_UNKNOWN, OUTCOME_ANSWER \
    }
#define ENDS(status)                    \
    {                                   \
        STATUS_##status, OUTCOME_ANSWER \
    }

typedef struct Row {
    int32_t code;
    Outcome of[3]; /* by CqlKind */
} Row;

static const Row ROWS[] = {
    /* code      read             plain write      conditional write */
    {0x0000, {AGAIN, UNKNOWN, UNKNOWN}},                     /* server error */
    {0x000A, {ENDS(INVALID), UNKNOWN, UNKNOWN}},             /* protocol error */
    {0x0100, {ENDS(LOGIN), ENDS(LOGIN), ENDS(LOGIN)}},       /* log-in failed */
    {0x1000, {AGAIN, AGAIN, UNKNOWN}},                       /* too few replicas alive */
    {0x1001, {AGAIN, UNKNOWN, UNKNOWN}},                     /* overloaded */
    {0x1002, {AGAIN, UNKNOWN, UNKNOWN}},                     /* is bootstrapping */
    {0x1003, {AGAIN, UNKNOWN, UNKNOWN}},                     /* truncate failed */
    {0x1100, {AGAIN, UNKNOWN, UNKNOWN}},                     /* write timeout */
    {0x1200, {AGAIN, UNKNOWN, UNKNOWN}},                     /* read timeout */
    {0x1300, {AGAIN, UNKNOWN, UNKNOWN}},                     /* read failure */
    {0x1400, {ENDS(INVALID), UNKNOWN, UNKNOWN}},             /* function failure */
    {0x1500, {AGAIN, UNKNOWN, UNKNOWN}},                     /* write failure */
    {0x1600, {AGAIN, UNKNOWN, UNKNOWN}},                     /* change capture failed */
    {0x1700, {AGAIN, UNKNOWN, UNKNOWN}},                     /* conditional write unknown */
    {0x2000, {ENDS(INVALID), ENDS(INVALID), ENDS(INVALID)}}, /* syntax */
    {0x2100, {ENDS(DENIED), ENDS(DENIED), ENDS(DENIED)}},    /* unauthorized */
    {0x2200, {ENDS(INVALID), ENDS(INVALID), ENDS(INVALID)}}, /* invalid */
    {0x2300, {ENDS(INVALID), ENDS(INVALID), ENDS(INVALID)}}, /* configuration */
    {0x2400, {ENDS(INVALID), ENDS(INVALID), ENDS(INVALID)}}, /* exists already */
    {0x2500,
     {{STATUS_UNAVAILABLE, OUTCOME_PREPARE},
      {STATUS_UNAVAILABLE, OUTCOME_PREPARE},
      {STATUS_UNAVAILABLE, OUTCOME_PREPARE}}}, /* unprepared */
};

/* A code that we do not know: what a newer server may have done we cannot tell, but for 0x2xxx, which by the protocol's
 * grouping refuse the request. */
static const Row STRANGE = {-1, {AGAIN, UNKNOWN, UNKNOWN}};
static const Row REFUSED = {-2, {ENDS(INVALID), ENDS(INVALID), ENDS(INVALID)}};

Outcome outcome_of_error(CqlKind kind, int32_t code)
{
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++)
        if (ROWS[i].code == code)
            return ROWS[i].of[kind];
    return (code >= 0x2000 && code <= 0x2FFF ? &REFUSED : &STRANGE)->of[kind];
}

Outcome outcome_of_loss(CqlKind kind)
{
    return STRANGE.of[kind];
}

Status outcome_at_deadline(CqlKind kind, bool sent)
{
    return sent && kind != CQL_READ ? STATUS_UNKNOWN : STATUS_UNAVAILABLE;
}
