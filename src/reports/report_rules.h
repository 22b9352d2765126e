/* report_rules.h -- what a report is, and who may do what with it in which state: pure.
 *
 *     open  -> taken, acted, dismissed
 *     taken -> open (given back), acted, dismissed, by whoever has it; and taken by another when it was held for REPORT_HELD_S
 * acted and dismissed are final. The operator (moderator 0, on the command line) may do all of it, whoever has the report. */
#pragma once

#include "base/arena.h"
#include "base/words.h"

/*    name, word for scripts, for people */
#define REPORT_STATE_LIST(X)        \
    X(OPEN, "open", "waiting")      \
    X(TAKEN, "taken", "taken on")   \
    X(ACTED, "acted", "acted upon") \
    X(DISMISSED, "dismissed", "dismissed")
typedef enum ReportState {
#define X(name, word, text) REPORT_##name,
    REPORT_STATE_LIST(X)
#undef X
        REPORT_STATE_COUNT
} ReportState;

/*    name, word for scripts, for people */
#define REPORT_KIND_LIST(X)                                     \
    X(POLICY, "policy", "A report about a policy")              \
    X(TROUBLE, "trouble", "Trouble with logging in or joining") \
    X(APPEAL, "appeal", "An appeal against hiding a policy")    \
    X(RIGHTS, "rights", "An appeal against a change of rights")
typedef enum ReportKind {
#define X(name, word, text) REPORT_OF_##name,
    REPORT_KIND_LIST(X)
#undef X
        REPORT_KIND_COUNT
} ReportKind;

enum {
    REPORT_WORDS_MAX = 2000, /* characters */
    REPORT_REASON_MAX = 1000,
    REPORT_EMAIL_BYTES = 254,
    REPORT_HELD_S = 86400,  /* after that, whoever has taken it has forgotten it */
    REPORT_KEPT_DAYS = 365, /* after it was closed */
};

extern const char *const REPORT_STATE_WORDS[], *const REPORT_KIND_WORDS[];
const char *report_state_word(ReportState state);
const char *report_state_text(ReportState state);
const char *report_kind_text(ReportKind kind);
bool report_is_closed(ReportState state);

typedef struct Report {
    uint64_t id;
    ReportKind kind;
    uint64_t policy;  /* 0: of none */
    uint64_t account; /* who reports; 0: nobody that we know */
    Slice email;      /* where to answer; empty: none was given */
    Slice words;
    int64_t made_us;
    ReportState state;
    uint64_t moderator; /* who has taken or closed it; 0: nobody, or the operator */
    int64_t since_us;   /* in this state; grows with every move */
    Slice reason;       /* of a closed one */
} Report;

/* It was about a policy that was obliterated: nothing that anybody wrote is left. */
bool report_is_obliterated(const Report *report);

typedef struct ReportMove {
    ReportState state;
    uint64_t moderator; /* 0: the operator */
    Slice reason;
} ReportMove;

/* Whether the move can be made now. OK, and *ret_write says whether there is something to do: a move that stands already is fine. CONFLICT:
 * somebody else has it, or it is closed; the reason says so without names. */
MUST_USE Status report_judge(const Report *report, const ReportMove *move, int64_t now_us,
                             bool *ret_write, Reason *reason);
