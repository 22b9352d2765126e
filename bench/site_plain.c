/* site_plain.c -- see site_plain.h. The rules stand here, where vote() of site.sql has them in the database; tables and effects are the same. */
#include "site_plain.h"

#include <stdlib.h>
#include <string.h>

#include "peer.h"

enum { PARAMETERS_MAX = 8, PARTS = 16, SAVES_A_DAY = 500, SALARY = 100 };
static const int64_t DAY_US = INT64_C(86400000000), WEEK_US = INT64_C(604800000000);

typedef enum Statement {
    SESSION,
    ACCOUNT,
    HEAD,
    POLICY,
    LINES,
    SET_HEAD,
    SET_LINE,
    LOG,
    TOTAL,
    DAY,
    STATEMENTS
} Statement;

static const struct {
    const char *name, *sql;
} SQL[STATEMENTS] = {
    [SESSION] = {"session", "SELECT voter FROM session WHERE key = $1 AND NOT ended AND $2::bigint "
                            "- begun < 5184000000000"
                            " AND $2::bigint - seen < 1209600000000"},
    [ACCOUNT] =
        {"account",
         "SELECT registered FROM account WHERE voter = $1 AND state = 1 AND denied & 2 = 0"},
    [HEAD] =
        {"head",
         "SELECT seq, time, held, day::bigint, saves::bigint, version FROM head WHERE voter = $1"},
    [POLICY] = {"policy", "SELECT policy FROM policy WHERE policy = $1 AND state = 1"},
    [LINES] = {"lines", "SELECT policy, held, withdrawn_centi FROM line WHERE voter = $1"},
    [SET_HEAD] =
        {"set_head",
         "UPDATE head SET seq = $3, version = $4, time = $5, held = $6, day = $7::bigint::integer,"
         " saves = $8::bigint::integer WHERE voter = $1 AND version = $2"},
    [SET_LINE] = {"set_line", "UPDATE line SET held = $3, withdrawn_centi = $4, seq = $5 WHERE "
                              "voter = $1 AND policy = $2"},
    [LOG] = {"log", "INSERT INTO log VALUES ($1, $2, $3, $4, $5, 0, $6)"},
    [TOTAL] = {"total",
               "INSERT INTO total VALUES ($1, $2::bigint::smallint, $3) ON CONFLICT (policy, part)"
               " DO UPDATE SET total = total.total + excluded.total"},
    [DAY] = {"day",
             "INSERT INTO day_change VALUES ($1, $2::bigint::smallint, $4::bigint::integer, $3)"
             " ON CONFLICT (policy, part, day) DO UPDATE SET change = day_change.change + "
             "excluded.change"},
};

void plain_prepare(PGconn *connection)
{
    for (int i = 0; i < STATEMENTS; i++) {
        PGresult *result = PQprepare(connection, SQL[i].name, SQL[i].sql, 0, NULL);
        if (PQresultStatus(result) != PGRES_COMMAND_OK)
            bench_fail("PostgreSQL, %s: %s", SQL[i].name, PQerrorMessage(connection));
        PQclear(result);
    }
}

/* ---- Statements ---- */

typedef struct Parameters {
    const char *values[PARAMETERS_MAX];
    int lengths[PARAMETERS_MAX], count;
    char wire[PARAMETERS_MAX][8];
} Parameters;

static void add_bytes(Parameters *to, const char *bytes, size_t size)
{
    to->values[to->count] = bytes;
    to->lengths[to->count++] = (int)size;
}

static void add(Parameters *to, int64_t number)
{
    bytes_put_u64(to->wire[to->count], (uint64_t)number);
    add_bytes(to, to->wire[to->count], 8);
}

static PGresult *run(PGconn *connection, Statement statement, const Parameters *parameters)
{
    static const int BINARY[PARAMETERS_MAX] = {1, 1, 1, 1, 1, 1, 1, 1};
    PGresult *result = PQexecPrepared(connection, SQL[statement].name, parameters->count,
                                      parameters->values, parameters->lengths, BINARY, 1);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
        bench_fail("PostgreSQL, %s: %s", SQL[statement].name, PQerrorMessage(connection));
    return result;
}

static int64_t number(const PGresult *result, int row, int field)
{
    return (int64_t)bytes_get_u64(PQgetvalue(result, row, field));
}

/* Of one parameter. The first number of the only row; false: there is none. */
static bool ask(PGconn *connection, Statement statement, int64_t key, int64_t *ret_number)
{
    Parameters parameters = {0};
    add(&parameters, key);
    PGresult *result = run(connection, statement, &parameters);
    bool found = PQntuples(result) == 1;
    if (found)
        *ret_number = number(result, 0, 0);
    PQclear(result);
    return found;
}

/* Whether a row changed. */
static bool change(PGconn *connection, Statement statement, const Parameters *parameters)
{
    PGresult *result = run(connection, statement, parameters);
    bool changed = strcmp(PQcmdTuples(result), "1") == 0;
    PQclear(result);
    return changed;
}

/* ---- A vote ---- */

typedef struct Voter {
    int64_t id, registered_us;
    int64_t seq, time_us, held, day, saves;
    int64_t cost, before, withdrawn_centi; /* of all lines; of the one that changes */
} Voter;

static bool read_session(PGconn *connection, const PeerVote *vote, Voter *voter)
{
    Parameters parameters = {0};
    add_bytes(&parameters, vote->session.data, vote->session.size);
    add(&parameters, vote->now_us);
    PGresult *result = run(connection, SESSION, &parameters);
    bool found = PQntuples(result) == 1;
    if (found)
        voter->id = number(result, 0, 0);
    PQclear(result);
    return found;
}

static bool read_head(PGconn *connection, const PeerVote *vote, Voter *voter)
{
    int64_t *const fields[] = {&voter->seq, &voter->time_us, &voter->held, &voter->day,
                               &voter->saves};
    int count = sizeof fields / sizeof *fields;
    Parameters parameters = {0};
    add(&parameters, voter->id);
    PGresult *result = run(connection, HEAD, &parameters);
    bool same = PQntuples(result) == 1 &&
                memcmp(PQgetvalue(result, 0, count), vote->seen, PEER_VERSION) == 0;
    for (int i = 0; same && i < count; i++)
        *fields[i] = number(result, 0, i);
    PQclear(result);
    return same;
}

static void read_lines(PGconn *connection, const PeerVote *vote, Voter *voter)
{
    Parameters parameters = {0};
    add(&parameters, voter->id);
    PGresult *result = run(connection, LINES, &parameters);
    for (int i = 0; i < PQntuples(result); i++) {
        int64_t held = number(result, i, 1), withdrawn_centi = number(result, i, 2);
        voter->cost += held + (withdrawn_centi + 99) / 100;
        if (number(result, i, 0) == (int64_t)vote->policy) {
            voter->before = held;
            voter->withdrawn_centi = withdrawn_centi;
        }
    }
    PQclear(result);
}

/* Everything that is looked at before anything is written. */
static bool may_save(PGconn *connection, const PeerVote *vote, Voter *voter)
{
    int64_t policy, today = vote->now_us / DAY_US;
    if (!ask(connection, ACCOUNT, voter->id, &voter->registered_us) ||
        !read_head(connection, vote, voter))
        return false;
    if ((voter->day == today && voter->saves >= SAVES_A_DAY) ||
        !ask(connection, POLICY, (int64_t)vote->policy, &policy))
        return false;
    read_lines(connection, vote, voter);
    int64_t more = vote->held - voter->before;
    voter->cost += more > 0 ? more : more / 2;
    return voter->cost <= SALARY * ((vote->now_us - voter->registered_us) / WEEK_US + 1);
}

static bool write_voter(PGconn *connection, const PeerVote *vote, const Voter *voter)
{
    int64_t today = vote->now_us / DAY_US, less = voter->before - vote->held;
    Parameters head = {0}, line = {0}, log = {0};
    add(&head, voter->id);
    add_bytes(&head, vote->seen, PEER_VERSION);
    add(&head, voter->seq + 1);
    add_bytes(&head, vote->version, PEER_VERSION);
    add(&head, vote->now_us > voter->time_us ? vote->now_us : voter->time_us + 1);
    add(&head, voter->held - less);
    add(&head, today);
    add(&head, voter->day == today ? voter->saves + 1 : 1);
    if (!change(connection, SET_HEAD, &head))
        return false;
    add(&line, voter->id);
    add(&line, (int64_t)vote->policy);
    add(&line, vote->held);
    add(&line, voter->withdrawn_centi + (less > 0 ? 50 * less : 0));
    add(&line, voter->seq + 1);
    add(&log, voter->id);
    add(&log, voter->seq + 1);
    add_bytes(&log, vote->version, PEER_VERSION);
    add_bytes(&log, vote->seen, PEER_VERSION);
    add(&log, vote->now_us);
    add_bytes(&log, vote->changes.data, vote->changes.size);
    return change(connection, SET_LINE, &line) && change(connection, LOG, &log);
}

static bool write_counts(PGconn *connection, const PeerVote *vote, const Voter *voter)
{
    Parameters counts = {0};
    add(&counts, (int64_t)vote->policy);
    add(&counts, voter->id % PARTS);
    add(&counts, vote->held - voter->before);
    if (!change(connection, TOTAL, &counts))
        return false;
    add(&counts, vote->now_us / DAY_US);
    return change(connection, DAY, &counts);
}

int plain_vote(PGconn *connection, const PeerVote *vote)
{
    Voter voter = {0};
    peer_execute(connection, "BEGIN");
    bool known = read_session(connection, vote, &voter);
    bool saved = known && may_save(connection, vote, &voter) &&
                 write_voter(connection, vote, &voter) && write_counts(connection, vote, &voter);
    peer_execute(connection, saved ? "COMMIT" : "ROLLBACK");
    return known ? saved : 2;
}
