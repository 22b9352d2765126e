/* audit.h -- who did what to what, when, from where and why: the log of what is done by a role, and of the site's own life.
 *
 *     AuditAct act = {.kind = AUDIT_REPORT_DISMISS, .actor = me, .origin = address, .object = policy, .reason = words};
 *     TRY(audit_begin(audit, &act, &id));          // durable, before anything is done
 *     Status status = reports_dismiss(…);
 *     audit_end(audit, id, status);                // what came of it
 * Promises:
 *   1. An act is noted before it is done: nothing is done that is not in the log. Anything but OK of audit_begin means: do not act.
 *   2. An entry without an end says so (AUDIT_OPEN): the process died in between, or the outcome was UNKNOWN. It is never shown as
 *      done, nor as not done. So is one whose audit_begin was answered by UNKNOWN and came to be all the same.
 *   3. Acts of a public kind are for everybody: time, kind, object, reason and outcome. A public list has neither who nor from where nor
 *      the details, and leaves out what was surely not done; what is not known stays in it, since it may have been done.
 *   4. All acts are for admins, newest first, by actor, object, kind or instance.
 *   5. Entries never change, but for a reason that goes with a policy (audit_obliterate), and expire after as many days as were set when they were written. Where somebody came from is sealed.
 *   6. Another version's kinds, which this one does not know, are kept, and listed by their word for admins.
 * A crash between any two steps: see 2. Repeating audit_begin makes a second entry.
 * Not promised: an order between entries of one millisecond, or of machines whose clocks differ.
 * All calls may come from any thread, but for audit_name, audit_new and audit_free. */
#pragma once

#include "base/ids.h"
#include "base/vault.h"
#include "base/words.h"
#include "store/store.h"

typedef struct Audit Audit;

/*    name, word for scripts, whether it is public, what the object is, sentence for people.
 * The word is what is stored: it never changes, and no two are equal. What `other` names is of the same sort as the object. */
#define AUDIT_KIND_LIST(X)                                                                       \
    X(SITE_START, "site-start", false, "", "This instance started")                              \
    X(SITE_STOP, "site-stop", false, "", "This instance stopped")                                \
    X(REPORT_TAKE, "report-take", false, "report", "A report was taken on")                      \
    X(REPORT_RETURN, "report-return", false, "report", "A report was given back")                \
    X(REPORT_DISMISS, "report-dismiss", true, "policy", "A report about a policy was dismissed") \
    X(REPORT_ACT, "report-act", false, "report", "A report was closed: something was done")      \
    X(TROUBLE_DISMISS, "trouble-dismiss", false, "report", "A report of trouble was dismissed")  \
    X(APPEAL_DISMISS, "appeal-dismiss", false, "report", "An appeal about rights was dismissed") \
    X(FEATURE_SET, "feature-set", true, "policy", "A policy was featured on the front page")     \
    X(FEATURE_REMOVE, "feature-remove", true, "policy", "A policy is no longer featured")        \
    X(POLICY_MERGE, "policy-merge", true, "policy", "A policy was merged into another")          \
    X(POLICY_MERGE_NEW, "policy-merge-new", true, "policy", "Two policies became a new one")     \
    X(POLICY_RETIRE, "policy-retire", true, "policy", "A policy was retired by a moderator")     \
    X(POLICY_DELETE, "policy-delete", true, "policy", "A policy was hidden, to be deleted")      \
    X(POLICY_RESTORE, "policy-restore", true, "policy", "A policy that was hidden is back")      \
    X(POLICY_ANSWER, "policy-answer", true, "policy", "A policy was officially answered")        \
    X(PERSON_RIGHTS, "person-rights", false, "account", "Roles or rights of a person were set")  \
    X(PERSON_SESSIONS, "person-sessions", false, "account", "Somebody was logged out")           \
    X(PARTY_SET, "party-set", false, "party", "A party was added or changed")                    \
    X(SETTING_SET, "setting-set", false, "setting", "A setting of the vote was changed")         \
    X(RETENTION_SET, "retention-set", false, "setting", "How long things are kept was changed")  \
    X(ELECTORATE_SET, "electorate-set", false, "site", "Who may join was changed")               \
    X(INVITE, "invite", false, "site", "People were invited")                                    \
    X(INVITE_WITHDRAW, "invite-withdraw", false, "site", "An invitation was withdrawn")          \
    X(ROLL_CHANGE, "roll-change", false, "site", "The roll was changed")                         \
    X(TEXT_WRITE, "text-write", false, "site", "A text of the site was changed")                 \
    X(TASK_RUN, "task-run", false, "site", "A task was asked to run")                            \
    X(BACKUP, "backup", false, "site", "A backup was made")                                      \
    X(MAINTENANCE, "maintenance", false, "site", "Maintenance mode was changed")                 \
    X(MAIL_RETRY, "mail-retry", false, "", "A letter that had failed was queued again")          \
    X(MAIL_SUPPRESS, "mail-suppress", false, "", "An address gets only letters about log-in")    \
    X(MAIL_ALLOW, "mail-allow", false, "", "An address gets all letters again")                  \
    X(MAIL_TEST, "mail-test", false, "", "A letter was sent to see whether letters arrive")      \
    X(POLICY_EDIT, "policy-edit", true, "policy", "A policy's text was changed by an editor")    \
    X(PERSON_ADD, "person-add", false, "account", "Somebody was added")                          \
    X(PERSON_CONFIRM, "person-confirm", false, "account", "A registration was confirmed")        \
    X(PERSON_SECOND, "person-second", false, "account", "A second factor was turned off")        \
    X(PERSON_DELETE, "person-delete", false, "account", "An account was closed")                 \
    X(PERSON_AS, "person-as", false, "account", "A command did something in somebody's name")    \
    X(PERSON_READ, "person-read", false, "account", "A command showed what is somebody's own")   \
    X(CATEGORY_ADD, "category-add", false, "site", "A category was added")                       \
    X(CATEGORY_SET, "category-set", false, "category", "A category was changed")                 \
    X(REPAIR, "repair", false, "site", "What is derived from the logs was built anew")           \
    X(POLICY_TIME, "policy-time", true, "policy", "A move that was dated ahead got its time")    \
    X(CLOCK, "clock", false, "site", "The time that a machine shows was confirmed")              \
    X(JOURNAL, "journal", false, "site", "Something was done to a journal by hand")
typedef enum AuditKind {
#define X(name, word, is_public, object, text) AUDIT_##name,
    AUDIT_KIND_LIST(X)
#undef X
        AUDIT_KIND_COUNT /* one that this version does not know */
} AuditKind;

enum {
    AUDIT_REASON_MAX = 1000, /* characters */
    AUDIT_REASON_BYTES = 4 * AUDIT_REASON_MAX,
    AUDIT_DETAILS_BYTES = 1000,
    AUDIT_ORIGIN_BYTES = 64,
    AUDIT_INSTANCE_BYTES = 100,
    AUDIT_LIST_MAX = 100,
    /* How many entries one list looks at, where it leaves some out. */
    AUDIT_LOOKED_MAX = 2000,
    AUDIT_DAYS = 730,
    AUDIT_DAYS_LEAST = 30, /* whoever sets it takes no less than appeals have time */
    AUDIT_DAYS_MAX = 3650,
};

/* "report-dismiss"; "" for a kind that is not known. */
const char *audit_kind_word(AuditKind kind);
const char *audit_kind_text(AuditKind kind);
bool audit_kind_is_public(AuditKind kind);
/* "policy", "account", "report", "setting", "site"; "": none. */
const char *audit_kind_object(AuditKind kind);
extern const char *const AUDIT_KIND_WORDS[];

/* What is left zero is none. */
typedef struct AuditAct {
    AuditKind kind;
    uint64_t actor; /* 0: the system, or the command line */
    Slice origin;   /* network address, or "command line"; sealed in the store; may be empty */
    uint64_t object, other; /* 0: none */
    uint64_t
        policy; /* of a report about one: by this audit_obliterate finds the entry. Is not kept in it */
    Slice reason;  /* for everybody where the kind is public; at most AUDIT_REASON_BYTES */
    Slice details; /* for admins: what changed; at most AUDIT_DETAILS_BYTES */
} AuditAct;

typedef struct AuditOptions {
    Store *store;
    World world;
    const Vault *vault;
} AuditOptions;

Audit *audit_new(const AuditOptions *options);
void audit_free(Audit *audit);
/* What this instance is called in entries from now on: its address, cut at AUDIT_INSTANCE_BYTES. "command line" until then. */
void audit_name(Audit *audit, Slice instance);
/* How long new entries are kept; out of bounds is the nearest bound. Old ones keep the time that they were given. */
void audit_keep_days(Audit *audit, int64_t days);

/* Durable when OK. INVALID: a field over its bound (callers check what people type, and tell them; see operation_audit). UNAVAILABLE, UNKNOWN:
 * do not act. */
MUST_USE Status audit_begin(Audit *audit, const AuditAct *act, Id *ret_id);
/* A lazy note of what came of it: OK is done; UNKNOWN and CORRUPT leave the entry open; all else is not done. Once for each id. A note that
 * is lost leaves the entry open. */
void audit_end(Audit *audit, Id id, Status outcome);

/* The reasons of all acts on a thing of this sort go, and of acts on reports about it where it is a policy; it is not older than `since_us`. Anything
 * but OK: perhaps not of all. Repeating it is fine. */
MUST_USE Status audit_obliterate(Audit *audit, const char *object_kind, uint64_t object,
                                 int64_t since_us);

/*    name, word for scripts, for people */
#define AUDIT_OUTCOME_LIST(X)                 \
    X(OPEN, "not-known", "outcome not known") \
    X(DONE, "done", "done")                   \
    X(NOT_DONE, "not-done", "not done")
typedef enum AuditOutcome {
#define X(name, word, text) AUDIT_##name,
    AUDIT_OUTCOME_LIST(X)
#undef X
        AUDIT_OUTCOME_COUNT
} AuditOutcome;
extern const char *const AUDIT_OUTCOME_WORDS[];
const char *audit_outcome_word(AuditOutcome outcome);
const char *audit_outcome_text(AuditOutcome outcome);
/* Which outcome a status is; pure. */
AuditOutcome audit_outcome_of(Status status);

typedef struct AuditEntry {
    Id id;
    int64_t time_us;
    AuditAct act; /* of a public list: without actor, origin and details */
    Slice word;   /* of the kind, also when it is not known */
    Slice instance;
    AuditOutcome outcome;
    Slice status;     /* what it ended with, "refused"; empty while it is open */
    int64_t ended_us; /* 0: open */
} AuditEntry;

/* All that is set must fit. The list is found by the first that is set of: object, actor, kind, instance, public_only. */
typedef struct AuditQuery {
    bool public_only;
    int64_t since_us; /* looks at nothing much older; 0: as old as entries can be */
    const char
        *object_kind; /* NULL: whatever the object; else `object` is one of these, or `other` is */
    uint64_t object;
    bool has_actor;
    uint64_t actor;
    bool has_kind;
    AuditKind kind;
    Slice instance; /* empty: of all */
    Id before;      /* the last entry of the page before; zero: from the newest on */
    uint32_t limit; /* 1 … AUDIT_LIST_MAX */
} AuditQuery;

/* Newest first. Fewer than the limit: there are no more, or AUDIT_LOOKED_MAX were looked at. INVALID: the limit. */
MUST_USE Status audit_list(Audit *audit, const AuditQuery *query, Arena *arena,
                           AuditEntry **ret_entries, size_t *ret_count);
