/* mail_fixture.c -- see mail_fixture.h. */
#include "mail_fixture.h"

#include "mail/mail_private.h"

MailFixture fixture;

static void set_answer(SmtpAnswer *answer, int code, const char *words)
{
    answer->code = code;
    answer->words_are_ours = code < 400 && !answer->taken;
    answer->about_message = code >= 400;
    snprintf(answer->words, sizeof answer->words, "%s", words);
}

static void keep_letter(Slice content)
{
    int at = atomic_fetch_add(&fixture.office.taken, 1);
    const char *id = memmem(content.data, content.size, "Message-ID: <", 13);
    CHECK(at < OFFICE_MAX && id != NULL);
    memcpy(fixture.office.ids[at], id + 13, ID_TEXT);
}

static void office_send(void *self, const SmtpJob *job, SmtpAnswer *ret_answer)
{
    (void)self;
    *ret_answer = (SmtpAnswer){.taken = fixture.office.mood == OFFICE_TAKES};
    atomic_fetch_add(&fixture.office.attempts, 1);
    if (fixture.office.before != NULL)
        fixture.office.before();
    switch (fixture.office.mood) {
    case OFFICE_TAKES:
    case OFFICE_LOSES_US:
        keep_letter(job->content);
        set_answer(ret_answer, 250, "the line broke");
        break;
    case OFFICE_LATER:
        set_answer(ret_answer, 451, "451 later, ann@example.org");
        break;
    case OFFICE_REFUSES:
        set_answer(ret_answer, 550, "550 no ann@example.org here");
        break;
    case OFFICE_IS_AWAY:
        set_answer(ret_answer, 0, "nobody there");
        break;
    }
}

static MailInstance *instance_of(const Mail *mail)
{
    for (size_t i = 0; i < MAIL_INSTANCES_MAX; i++)
        if (fixture.instances[i].mail == mail)
            return &fixture.instances[i];
    test_fail(__FILE__, __LINE__, "there is no such instance, or no room for one");
}

/* A log that is there is what the process before has left. */
static void use_journal(MailInstance *instance)
{
    Reason reason = {.rule = ""};
    if (instance->kept == NULL)
        instance->kept = memory_log_new();
    JournalsOptions options = {.declaration = SLICE("[journal mail]\nprocess = earliest\n"
                                                    "timeouts = none\nsync = puts\n"),
                               .world = fixture.world,
                               .cache_bytes = 4096,
                               .reopen_s = 5,
                               .still = true,
                               .log = memory_log_open(instance->kept)};
    if (journals_open(&options, &instance->journals, &reason) != STATUS_OK)
        test_fail(__FILE__, __LINE__, "%s: %s", reason.field, reason.rule);
    mail_use_journal(instance->mail, instance->journals, "mail");
}

Mail *mail_fixture_open(Store *store)
{
    MailOptions options = {.store = store,
                           .world = fixture.world,
                           .vault = fixture.vault,
                           .config = &fixture.config,
                           .transport = {office_send, NULL}};
    MailInstance *instance = instance_of(NULL);
    Reason reason = {.rule = ""};
    if (mail_open(&options, &instance->mail, &reason) != STATUS_OK)
        test_fail(__FILE__, __LINE__, "%s: %s", reason.field, reason.rule);
    if (!fixture.without_journal)
        use_journal(instance);
    return instance->mail;
}

/* What was not synced is lost; the rest is there for the next one in this place. */
void mail_fixture_close(Mail *mail)
{
    if (mail == NULL)
        return;
    MailInstance *instance = instance_of(mail);
    mail_close(mail);
    instance->mail = NULL;
    if (instance->journals != NULL) {
        journals_close(instance->journals);
        memory_log_cut(instance->kept);
    }
    instance->journals = NULL;
}

MemoryLog *mail_fixture_kept(Mail *mail)
{
    return instance_of(mail)->kept;
}

static void forget_journals(void)
{
    for (size_t i = 0; i < MAIL_INSTANCES_MAX; i++) {
        if (fixture.instances[i].kept != NULL)
            memory_log_free(fixture.instances[i].kept);
        fixture.instances[i].kept = NULL;
    }
}

static void open_instances(void)
{
    faulty_init(&fixture.faulty, fixture.store, contract_arena());
    fixture.mail = mail_fixture_open(&fixture.faulty.store);
    fixture.other = mail_fixture_open(fixture.store);
}

static void close_instances(void)
{
    mail_fixture_close(fixture.mail);
    mail_fixture_close(fixture.other);
    fixture.mail = fixture.other = NULL;
}

void mail_fixture_begin_with(void (*set_up)(void))
{
    close_instances(); /* what a failed test left behind */
    forget_journals();
    vault_free(fixture.vault);
    memset(&fixture.office, 0, sizeof fixture.office);
    fixture.store = contract_fresh_site();
    fixture.world = contract_world();
    CHECK(contract_has_clock());
    fixture.world.clock.steady_us = fixture.world.clock.now_us;
    fixture.vault = vault_for_tests(1);
    config_defaults(&fixture.config);
    fixture.config.smtp_url = "smtp://127.0.0.1:1";
    fixture.config.mail_from = "Ostraka <site@example.org>";
    if (set_up != NULL)
        set_up();
    open_instances();
}

void mail_fixture_begin(void)
{
    mail_fixture_begin_with(NULL);
}

void mail_fixture_end(void)
{
    close_instances();
    forget_journals();
    fixture.without_journal = false;
    vault_free(fixture.vault);
    fixture.vault = NULL;
    contract_end();
}

void mail_fixture_restart(void)
{
    close_instances();
    fixture.store = contract_restart();
    open_instances();
}

MailMessage mail_fixture_message(int number)
{
    return (MailMessage){
        .to = SLICE("ann@example.org"),
        .subject = arena_print(contract_arena(), "Number %d", number),
        .text = SLICE("Some text.\n"),
        .html = SLICE("<p>Some text.</p>\n"),
        .kind = SLICE("test"),
        .once = arena_print(contract_arena(), "message %d", number),
    };
}

void mail_fixture_run(Mail *mail)
{
    if (instance_of(mail)->journals != NULL)
        journals_tick(instance_of(mail)->journals);
    for (int i = 0; mail_turn(mail); i++)
        if (i > 10000)
            test_fail(__FILE__, __LINE__, "there is always more to do");
}

void mail_fixture_run_for(Mail *mail, int64_t seconds)
{
    const int64_t step_s = 20;
    for (int64_t passed = 0; passed < seconds; passed += step_s) {
        contract_pass_s(step_s);
        mail_fixture_run(mail);
    }
}

int mail_fixture_taken(Mail *mail, int number)
{
    ARENA_SCOPE Arena *arena = arena_new();
    int count = 0;
    Slice id = id_text(mail_row_id(mail, mail_fixture_message(number).once), arena);
    for (int i = 0; i < fixture.office.taken; i++)
        count += slice_equal(slice_from(fixture.office.ids[i]), id);
    return count;
}

size_t mail_fixture_count(MailState state)
{
    MailEntry *entries;
    size_t count = 0;
    EXPECT_STATUS(mail_list(fixture.other, state, contract_arena(), &entries, &count), STATUS_OK);
    return count;
}

size_t mail_fixture_count_recent(MailState state)
{
    MailSearch search = {state, MAIL_LIST_MAX, true};
    MailMarks marks;
    size_t count = 0;
    EXPECT_STATUS(mail_marks(fixture.other, &search, contract_arena(), &marks), STATUS_OK);
    for (size_t i = 0; i < marks.count; i++) {
        MailRow row;
        Status status = mail_row_read(fixture.other, marks.marks[i].id, contract_arena(), &row);
        EXPECT(status == STATUS_OK || status == STATUS_NOT_FOUND);
        count += status == STATUS_OK && row.head.state == state;
    }
    return count;
}

typedef struct Wanted {
    const char *name;
    double value;
} Wanted;

static void look_at(void *context, const char *name, const char *help, bool counter, double value)
{
    Wanted *wanted = context;
    (void)help, (void)counter;
    if (strcmp(name, wanted->name) == 0)
        wanted->value = value;
}

double mail_fixture_metric(Mail *mail, const char *name)
{
    Wanted wanted = {name, -1};
    mail_metrics(mail, look_at, &wanted);
    return wanted.value;
}
