/* door_control.c -- see door_control.h. */
#include "door_control.h"

#include <stdatomic.h>
#include <stdio.h>

#include "cli/command.h"

/* ---- Time and luck --------------------------------------------------------------------------------------------------------- */

#define START_US INT64_C(1769860800000000) /* 2026-01-31T12:00:00Z */

static bool is_still; /* a site whose time and luck are ours; set before it has threads */
static _Atomic int64_t now_us = START_US;
static _Atomic uint64_t threads;
static _Thread_local uint64_t luck;

static int64_t still_now_us(void *self)
{
    (void)self;
    return atomic_load(&now_us);
}

static int64_t still_steady_us(void *self)
{
    return still_now_us(self) - START_US + US_PER_S;
}

/* splitmix64 */
static uint64_t draw(void)
{
    if (luck == 0)
        luck = atomic_fetch_add(&threads, 1) * UINT64_C(0x10000000000) + 1;
    uint64_t number = luck += UINT64_C(0x9E3779B97F4A7C15);
    number = (number ^ number >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    number = (number ^ number >> 27) * UINT64_C(0x94D049BB133111EB);
    return number ^ number >> 31;
}

static void fill(void *self, void *to, size_t size)
{
    (void)self;
    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
        uint64_t number = draw();
        memcpy((char *)to + at, &number, size - at < sizeof number ? size - at : sizeof number);
    }
}

static void begin_anew(void)
{
    luck = (uint64_t)atomic_load(&now_us);
}

World door_world(void)
{
    World world = world_real();
    is_still = true;
    world.clock.now_us = still_now_us;
    world.clock.steady_us = still_steady_us;
    world.random = (Random){fill, NULL};
    return world;
}

void door_tick(int64_t seconds)
{
    atomic_store(&now_us, seconds > 0 ? START_US + seconds * US_PER_S : now_us + US_PER_S);
    begin_anew();
}

static void begin_call(const OperationCall *call)
{
    const Operation *operation = call->operation;
    luck = (uint64_t)atomic_load(&now_us) + 1;
    for (size_t i = 0; i < operation_input_count(operation);
         i++) /* what may be done once has one name, too */
        if (operation->inputs[i].kind == INPUT_ONCE)
            fill(NULL, (char *)(uintptr_t)call->request + operation->inputs[i].offset, ID_BYTES);
    begin_anew();
}

Status __real_operation_run(Operations *ops, OperationCall *call);
Status __wrap_operation_run(Operations *ops, OperationCall *call);
Status __wrap_operation_run(Operations *ops, OperationCall *call)
{
    if (is_still)
        begin_call(call);
    return __real_operation_run(ops, call);
}

/* Forms go this way, one at a time where time stands still. */
void __real_operation_run_many(Operations *ops, OperationCall *const *calls, size_t count);
void __wrap_operation_run_many(Operations *ops, OperationCall *const *calls, size_t count);
void __wrap_operation_run_many(Operations *ops, OperationCall *const *calls, size_t count)
{
    if (is_still && count > 0)
        begin_call(calls[0]);
    __real_operation_run_many(ops, calls, count);
}

/* Only a command writes that it acted in somebody's name; what it does then has the luck that it has by the other doors. */
Status __real_audit_begin(Audit *audit, const AuditAct *act, Id *ret_id);
Status __wrap_audit_begin(Audit *audit, const AuditAct *act, Id *ret_id);
Status __wrap_audit_begin(Audit *audit, const AuditAct *act, Id *ret_id)
{
    Status status = __real_audit_begin(audit, act, ret_id);
    if (act->kind == AUDIT_PERSON_AS || act->kind == AUDIT_PERSON_READ)
        begin_anew();
    return status;
}

/* Nor does any other door write to the person that something of theirs was shown. */
Status __real_mail_send(Mail *mail, const MailMessage *message, Reason *reason);
Status __wrap_mail_send(Mail *mail, const MailMessage *message, Reason *reason);
Status __wrap_mail_send(Mail *mail, const MailMessage *message, Reason *reason)
{
    Status status = __real_mail_send(mail, message, reason);
    if (slice_equal(message->kind, SLICE("looked-at")))
        begin_anew();
    return status;
}

/* Passwords cost nothing, and their hashes have no salt. */
static Status plain_hash(void *self, Slice password, Arena *arena, Slice *ret_hash)
{
    (void)self;
    *ret_hash = arena_print(arena, "plain:%.*s", SLICE_ARG(password));
    return STATUS_OK;
}

static bool plain_check(void *self, Slice password, Slice hash)
{
    (void)self;
    return slice_starts_with(hash, SLICE("plain:")) && slice_equal(slice_after(hash, 6), password);
}

PasswordHasher __real_password_bcrypt(int cost);
PasswordHasher __wrap_password_bcrypt(int cost);
PasswordHasher __wrap_password_bcrypt(int cost)
{
    return is_still ? (PasswordHasher){plain_hash, plain_check, NULL}
                    : __real_password_bcrypt(cost);
}

/* ---- Commands --------------------------------------------------------------------------------------------------------------- */

static void collect(void *self, int stream, Slice bytes)
{
    if (stream != OUTPUT_PROGRESS)
        buffer_bytes(self, bytes);
}

static size_t lines_of(Slice text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.size; i++)
        count += text.data[i] == '\n';
    return count;
}

void door_command(App *app, Operations *ops, char *words)
{
    enum { WORDS = 200 };
    ARENA_SCOPE Arena *arena = arena_new();
    BUFFER_SCOPE Buffer out = {0};
    Slice parts[WORDS], rest = slice_from(words);
    size_t count = 0;
    Reason reason = {0};
    for (char *at = words; *at != '\0'; at++)
        *at = *at == '\x1e' ? '\n' : *at;
    while (count < WORDS && slice_split(&rest, '\x1f', &parts[count]))
        count++;
    Context context = {.world = app->world,
                       .config = app->config,
                       .directory = app->config->data,
                       .input = parts[0],
                       .store = app->store,
                       .app = app,
                       .ops = ops,
                       .audit = app->audit,
                       .output = {collect, &out},
                       .arena = arena};
    int code = EXIT_USAGE;
    Status status = command_parse(parts + 1, count - 1, arena, &context.parsed, &reason);
    if (status == STATUS_OK)
        code = context.parsed.command->run(&context);
    else
        (void)command_fail(&context, status, &reason);
    Slice text = buffer_slice(&out);
    if (text.size > 0 && text.data[text.size - 1] != '\n')
        buffer_text(&out, "\n");
    text = buffer_slice(&out);
    printf("done %d %zu\n%.*s", code, lines_of(text), SLICE_ARG(text));
}

/* ---- What is there ---------------------------------------------------------------------------------------------------------- */

static void put(Buffer *out, Slice bytes)
{
    buffer_text(out, "\t");
    for (size_t i = 0; i < bytes.size; i++) {
        unsigned char c = (unsigned char)bytes.data[i];
        if (c >= ' ' && c < 0x7f && c != '\\')
            buffer_bytes(out, slice_of(bytes.data + i, 1));
        else
            buffer_print(out, "\\x%02x", c);
    }
}

static Status put_cells(App *app, const Table *table, Arena *arena, Buffer *out)
{
    ScanPage page = {.position = SLICE_EMPTY, .more = true};
    while (page.more) {
        TRY(store_scan(app->store, table, page.position, STORE_PAGE_MAX, arena, &page));
        for (size_t i = 0; i < page.count; i++) {
            buffer_print(out, "cell\t%s", table->name);
            put(out, page.cells[i].row);
            put(out, page.cells[i].cell.column);
            put(out, page.cells[i].cell.value);
            buffer_text(out, "\n");
        }
    }
    return STATUS_OK;
}

static Status put_audit(App *app, Arena *arena, Buffer *out)
{
    AuditEntry *entries;
    size_t count;
    AuditQuery query = {.instance = SLICE_EMPTY, .limit = AUDIT_LIST_MAX};
    TRY(audit_list(app->audit, &query, arena, &entries, &count));
    for (size_t i = 0; i < count; i++) {
        const AuditAct *act = &entries[i].act;
        buffer_text(out, "audit");
        put(out, id_text(entries[i].id, arena));
        put(out, entries[i].word);
        buffer_print(out, "\t%llu\t%llu\t%llu", (unsigned long long)act->actor,
                     (unsigned long long)act->object, (unsigned long long)act->other);
        put(out, act->reason);
        put(out, act->details);
        buffer_print(out, "\t%s\n", audit_outcome_word(entries[i].outcome));
    }
    return STATUS_OK;
}

static Status put_mail(App *app, Arena *arena, Buffer *out)
{
    MailEntry *entries;
    size_t count;
    TRY(mail_outbox(app->mail, arena, &entries, &count));
    for (size_t i = 0; i < count; i++) {
        buffer_text(out, "mail");
        put(out, id_text(entries[i].id, arena));
        put(out, entries[i].kind);
        put(out, entries[i].to);
        put(out, entries[i].subject);
        put(out, entries[i].text);
        buffer_text(out, "\n");
    }
    return STATUS_OK;
}

static void put_entry(const JournalView *view, Buffer *out)
{
    buffer_text(out, "cell\tjournal");
    put(out, view->journal);
    buffer_print(out,
                 "\t%llu\t%c pri %u at %lld expires %lld failed %u: ", (unsigned long long)view->id,
                 (char)view->state, view->priority, (long long)view->process_ms,
                 (long long)view->expiration_ms, view->timeouts);
    put(out, view->key);
    put(out, view->data);
    put(out, view->error);
    buffer_text(out, "\n");
}

static Status put_journal(Journals *journals, Slice name, Arena *arena, Buffer *out)
{
    enum { MANY = 1000 };
    JournalList list = {.more = true};
    JournalStats stats;
    JournalView view;
    TRY(journal_stats(journals, name, &stats, NULL));
    if (stats.pause_left_ms > 0)
        buffer_print(out, "cell\tjournal\t%.*s\tpaused\t%lld min\n", SLICE_ARG(name),
                     (long long)(stats.pause_left_ms + 59999) / 60000); /* by the real clock */
    while (list.more) {
        TRY(journal_list(journals, name, 0, list.next, MANY, arena, &list, NULL));
        for (size_t i = 0; i < list.count; i++)
            if (journal_get(journals, list.entries[i].id, arena, &view, NULL) == STATUS_OK)
                put_entry(&view, out);
    }
    return STATUS_OK;
}

/* Those that are not the site's own, which work of the background puts into. */
static Status put_journals(App *app, Arena *arena, Buffer *out)
{
    Slice *names;
    size_t count = 0;
    if (app->journals != NULL)
        TRY(journal_names(app->journals, arena, &names, &count, NULL));
    for (size_t i = 0; i < count; i++)
        if (!slice_starts_with(names[i], SLICE(APP_JOURNAL_PREFIX)))
            TRY(put_journal(app->journals, names[i], arena, out));
    return STATUS_OK;
}

Status door_dump(App *app, Arena *arena, Reason *reason)
{
    BUFFER_SCOPE Buffer out = {0};
    size_t taken = 1;
    (void)reason;
    while (taken > 0)
        TRY(votes_project_waiting(app->votes, SIZE_MAX, &taken));
    for (size_t i = 0; i < TABLES.count; i++)
        TRY(put_cells(app, TABLES.tables[i], arena, &out));
    TRY(put_journals(app, arena, &out));
    TRY(put_audit(app, arena, &out));
    TRY(put_mail(app, arena, &out));
    Slice text = buffer_slice(&out);
    printf("done %zu\n%.*s", lines_of(text), SLICE_ARG(text));
    return STATUS_OK;
}
