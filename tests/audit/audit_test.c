/* audit_test.c -- an act stands in the log before it is done, its end is told only when it is known, and the public sees no more than it may. */
#include "audit/audit_private.h"
#include "contract.h"
#include "faulty.h"
#include "world.h"

#define DAY_US (S_PER_DAY * US_PER_S)

static Faulty faulty;
static Audit *audit;

static Audit *open_on(Store *store)
{
    return audit_new(&(AuditOptions){store, contract_world(), test_vault()});
}

static void begin(void)
{
    audit_free(audit); /* what a failed test left behind */
    faulty_init(&faulty, contract_fresh_site(), contract_arena());
    audit = open_on(&faulty.store);
}

static void restart(void)
{
    audit_free(audit);
    faulty_init(&faulty, contract_restart(), contract_arena());
    audit = open_on(&faulty.store);
}

static void end(void)
{
    audit_free(audit);
    audit = NULL;
    contract_end();
}

/* A millisecond later than the one before, so that their order is known. */
static Id noted(const AuditAct *act)
{
    Id id = {{0}};
    contract_set_now_us(contract_now_us() + US_PER_MS);
    EXPECT_STATUS(audit_begin(audit, act, &id), STATUS_OK);
    return id;
}

static Id done(const AuditAct *act)
{
    Id id = noted(act);
    audit_end(audit, id, STATUS_OK);
    return id;
}

typedef struct Listed {
    AuditEntry *entries;
    size_t count;
} Listed;

static Listed list(AuditQuery query)
{
    Listed listed = {0};
    query.limit = query.limit == 0 ? AUDIT_LIST_MAX : query.limit;
    EXPECT_STATUS(audit_list(audit, &query, contract_arena(), &listed.entries, &listed.count),
                  STATUS_OK);
    return listed;
}

static const AuditAct FEATURE = {.kind = AUDIT_FEATURE_SET,
                                 .actor = 7,
                                 .origin = {"192.0.2.1", 9},
                                 .object = 12,
                                 .reason = {"because", 7},
                                 .details = {"place 1", 7}};
static const AuditAct TAKE = {.kind = AUDIT_REPORT_TAKE, .actor = 8, .object = 3};

TEST(an_entry_tells_who_what_when_where_why)
{
    begin();
    Id id = done(&FEATURE);
    Listed all = list((AuditQuery){0});
    EXPECT_I64(all.count, 1);
    const AuditEntry *entry = &all.entries[0];
    EXPECT(id_equal(entry->id, id));
    EXPECT(entry->act.kind == AUDIT_FEATURE_SET);
    EXPECT_SLICE(entry->word, SLICE("feature-set"));
    EXPECT_I64(entry->act.actor, 7);
    EXPECT_SLICE(entry->act.origin, SLICE("192.0.2.1"));
    EXPECT_I64(entry->act.object, 12);
    EXPECT_SLICE(entry->act.reason, SLICE("because"));
    EXPECT_SLICE(entry->act.details, SLICE("place 1"));
    EXPECT_SLICE(entry->instance, SLICE("command line"));
    EXPECT_I64(entry->time_us, contract_now_us());
    EXPECT(entry->outcome == AUDIT_DONE);
    EXPECT_SLICE(entry->status, SLICE("ok"));
    end();
}

TEST(where_somebody_came_from_is_sealed)
{
    begin();
    Id id = done(&FEATURE);
    Cell cell;
    EXPECT_STATUS(contract_read(&TABLE_AUDIT, id_slice(&id), SLICE("act"), &cell), STATUS_OK);
    EXPECT(memmem(cell.value.data, cell.value.size, "192.0.2.1", 9) == NULL);
    end();
}

TEST(a_crash_between_begin_and_end_leaves_it_open)
{
    begin();
    noted(&FEATURE);
    restart();
    Listed all = list((AuditQuery){0}), shown = list((AuditQuery){.public_only = true});
    EXPECT_I64(all.count, 1);
    EXPECT(all.entries[0].outcome == AUDIT_OPEN);
    EXPECT_I64(all.entries[0].ended_us, 0);
    EXPECT_I64(shown.count, 1);
    EXPECT(shown.entries[0].outcome == AUDIT_OPEN);
    end();
}

TEST(unknown_stays_unknown)
{
    static const Status LEFT_OPEN[] = {STATUS_UNKNOWN, STATUS_CORRUPT};
    begin();
    for (int i = 0; i < 2; i++)
        audit_end(audit, noted(&FEATURE), LEFT_OPEN[i]);
    Listed all = list((AuditQuery){0});
    EXPECT_I64(all.count, 2);
    EXPECT(all.entries[0].outcome == AUDIT_OPEN);
    EXPECT(all.entries[1].outcome == AUDIT_OPEN);
    end();
}

TEST(every_other_status_is_done_or_not)
{
    for (int i = 0; i < STATUS_COUNT; i++) {
        AuditOutcome expected = i == STATUS_OK                               ? AUDIT_DONE
                                : i == STATUS_UNKNOWN || i == STATUS_CORRUPT ? AUDIT_OPEN
                                                                             : AUDIT_NOT_DONE;
        EXPECT(audit_outcome_of((Status)i) == expected);
    }
}

/* Whatever goes wrong at whichever call: who is told OK finds the entry, and nothing that was not ended is shown as done. */
TEST(a_fault_at_every_call_of_begin)
{
    begin();
    for (int fate = 0; fate < FAULT_FATES; fate++)
        for (int n = 1;; n++) {
            AuditAct act = FEATURE;
            Id id = {{0}};
            act.object = (uint64_t)(1000 * (fate + 1) + n);
            faulty.calls = 0;
            faulty_plan(&faulty, n, (FaultFate)fate, FAULT_FOREVER);
            Status told = audit_begin(audit, &act, &id);
            bool struck = faulty_struck(&faulty);
            faulty.at = 0;
            faulty_deliver(&faulty);
            Listed found = list((AuditQuery){.object_kind = "policy", .object = act.object});
            if (told == STATUS_OK)
                EXPECT_I64(found.count, 1);
            if (told == STATUS_UNAVAILABLE)
                EXPECT_I64(found.count, 0);
            EXPECT(found.count == 0 || found.entries[0].outcome == AUDIT_OPEN);
            if (!struck)
                break;
        }
    end();
}

TEST(an_end_that_is_lost_leaves_it_open)
{
    begin();
    Id id = noted(&FEATURE);
    faulty.calls = 0;
    faulty_plan(&faulty, 1, FAULT_LOST, FAULT_FOREVER);
    audit_end(audit, id, STATUS_OK);
    faulty.at = 0;
    EXPECT(list((AuditQuery){0}).entries[0].outcome == AUDIT_OPEN);
    end();
}

TEST(the_newest_come_first_and_pages_go_on)
{
    Id ids[25];
    begin();
    for (int i = 0; i < 25; i++)
        ids[i] = done(&FEATURE);
    AuditQuery query = {.limit = 10};
    size_t seen = 0;
    for (Listed page = list(query); page.count > 0; page = list(query)) {
        for (size_t i = 0; i < page.count; i++, seen++)
            EXPECT(id_equal(page.entries[i].id, ids[24 - seen]));
        query.before = page.entries[page.count - 1].id;
    }
    EXPECT_I64(seen, 25);
    end();
}

/* A year is several pieces of the index; none is missed, and their order holds across them. */
TEST(entries_of_a_year_are_one_list)
{
    begin();
    for (int i = 0; i < 12; i++) {
        done(&FEATURE);
        contract_pass_s(30 * S_PER_DAY);
    }
    Listed all = list((AuditQuery){0});
    EXPECT_I64(all.count, 12);
    for (size_t i = 1; i < all.count; i++)
        EXPECT(all.entries[i].time_us < all.entries[i - 1].time_us);
    AuditQuery rest = {.before = all.entries[5].id};
    EXPECT_I64(list(rest).count, 6);
    end();
}

TEST(entries_expire_after_the_days_that_were_set)
{
    begin();
    done(&FEATURE);
    audit_keep_days(audit, 40);
    done(&TAKE);
    contract_pass_s(39 * S_PER_DAY);
    EXPECT_I64(list((AuditQuery){0}).count, 2);
    contract_pass_s(2 * S_PER_DAY);
    Listed left = list((AuditQuery){0});
    EXPECT_I64(left.count, 1);
    EXPECT(left.entries[0].act.kind == AUDIT_FEATURE_SET);
    contract_pass_s(AUDIT_DAYS * S_PER_DAY);
    EXPECT_I64(list((AuditQuery){0}).count, 0);
    end();
}

TEST(days_have_bounds)
{
    begin();
    audit_keep_days(audit, 0);
    done(&FEATURE);
    contract_pass_s((AUDIT_DAYS_LEAST - 1) * S_PER_DAY);
    EXPECT_I64(list((AuditQuery){0}).count, 1);
    audit_keep_days(audit, INT64_MAX);
    done(&FEATURE);
    end();
}

TEST(fields_have_bounds)
{
    begin();
    const struct {
        size_t reason, details, origin;
        Status expected;
    } CASES[] = {
        {AUDIT_REASON_BYTES, AUDIT_DETAILS_BYTES, AUDIT_ORIGIN_BYTES, STATUS_OK},
        {AUDIT_REASON_BYTES + 1, 0, 0, STATUS_INVALID},
        {0, AUDIT_DETAILS_BYTES + 1, 0, STATUS_INVALID},
        {0, 0, AUDIT_ORIGIN_BYTES + 1, STATUS_INVALID},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        Id id;
        AuditAct act = {.kind = AUDIT_FEATURE_SET,
                        .object = 1,
                        .reason = contract_filler(CASES[i].reason, 'r'),
                        .details = contract_filler(CASES[i].details, 'd'),
                        .origin = contract_filler(CASES[i].origin, 'o')};
        EXPECT_STATUS(audit_begin(audit, &act, &id), CASES[i].expected);
    }
    AuditEntry *entries;
    size_t count;
    EXPECT_STATUS(audit_list(audit, &(AuditQuery){.limit = AUDIT_LIST_MAX + 1}, contract_arena(),
                             &entries, &count),
                  STATUS_INVALID);
    EXPECT_STATUS(audit_list(audit, &(AuditQuery){.limit = 0}, contract_arena(), &entries, &count),
                  STATUS_INVALID);
    end();
}

TEST(the_public_sees_what_was_done_and_why_but_not_who)
{
    begin();
    done(&FEATURE);
    done(&TAKE);
    audit_end(audit, noted(&FEATURE), STATUS_REFUSED);
    Listed shown = list((AuditQuery){.public_only = true});
    EXPECT_I64(list((AuditQuery){0}).count, 3);
    EXPECT_I64(shown.count, 1);
    const AuditEntry *entry = &shown.entries[0];
    EXPECT(entry->outcome == AUDIT_DONE);
    EXPECT_I64(entry->act.object, 12);
    EXPECT_SLICE(entry->act.reason, SLICE("because"));
    EXPECT_I64(entry->act.actor, 0);
    EXPECT_I64(entry->act.origin.size, 0);
    EXPECT_I64(entry->act.details.size, 0);
    EXPECT_I64(entry->instance.size, 0);
    EXPECT_I64(list((AuditQuery){.public_only = true, .has_actor = true, .actor = 8}).count, 0);
    end();
}

TEST(a_list_is_by_actor_object_kind_and_instance)
{
    begin();
    AuditAct two = FEATURE;
    two.object = 20;
    two.other = 12; /* is found by both */
    done(&FEATURE);
    done(&TAKE);
    audit_name(audit, SLICE("[::1]:8080"));
    done(&two);
    EXPECT_I64(list((AuditQuery){.has_actor = true, .actor = 7}).count, 2);
    EXPECT_I64(list((AuditQuery){.has_actor = true, .actor = 9}).count, 0);
    EXPECT_I64(list((AuditQuery){.object_kind = "policy", .object = 12}).count, 2);
    EXPECT_I64(list((AuditQuery){.object_kind = "policy", .object = 20}).count, 1);
    EXPECT_I64(list((AuditQuery){.object_kind = "report", .object = 3}).count, 1);
    EXPECT_I64(list((AuditQuery){.object_kind = "report", .object = 12}).count, 0);
    EXPECT_I64(list((AuditQuery){.has_kind = true, .kind = AUDIT_REPORT_TAKE}).count, 1);
    EXPECT_I64(list((AuditQuery){.instance = SLICE("[::1]:8080")}).count, 1);
    EXPECT_I64(list((AuditQuery){.instance = SLICE("command line")}).count, 2);
    AuditQuery both = {.object_kind = "policy", .object = 12, .instance = SLICE("[::1]:8080")};
    EXPECT_I64(list(both).count, 1);
    end();
}

/* As a newer version would write it, during an upgrade. */
TEST(a_kind_of_another_version_is_listed_by_its_word)
{
    begin();
    Id id = done(&TAKE);
    Cell cell;
    EXPECT_STATUS(contract_read(&TABLE_AUDIT, id_slice(&id), SLICE("act"), &cell), STATUS_OK);
    char *value = arena_bytes(contract_arena(), cell.value.size);
    memcpy(value, cell.value.data, cell.value.size);
    char *word = memmem(value, cell.value.size, "report-take", 11);
    EXPECT(word != NULL);
    memcpy(word, "teapot-take", 11);
    Id other = id_new(contract_world().clock, contract_world().random);
    IndexRow all_row = {INDEX_ALL, SLICE_EMPTY, 0};
    Slice row = index_row(&all_row, index_piece(index_time_us(other)), contract_arena());
    EXPECT_STATUS(contract_write(&TABLE_AUDIT_INDEX, row,
                                 put(id_slice(&other), SLICE_EMPTY, contract_now_us())),
                  STATUS_OK);
    EXPECT_STATUS(
        contract_write(&TABLE_AUDIT, id_slice(&other),
                       put(SLICE("act"), slice_of(value, cell.value.size), contract_now_us())),
        STATUS_OK);
    Listed all = list((AuditQuery){0});
    EXPECT_I64(all.count, 2);
    const AuditEntry *entry = &all.entries[id_equal(all.entries[0].id, other) ? 0 : 1];
    EXPECT(entry->act.kind == AUDIT_KIND_COUNT);
    EXPECT_SLICE(entry->word, SLICE("teapot-take"));
    EXPECT_I64(list((AuditQuery){.public_only = true}).count, 0);
    end();
}

TEST(words_are_unique_and_lead_back_to_their_kind)
{
    for (int i = 0; i < AUDIT_KIND_COUNT; i++) {
        AuditKind kind = AUDIT_KIND_COUNT;
        EXPECT_STATUS(
            word_find(AUDIT_KIND_WORDS, slice_from(audit_kind_word((AuditKind)i)), "", &kind, NULL),
            STATUS_OK);
        EXPECT_I64(kind, i);
        EXPECT(strlen(audit_kind_text((AuditKind)i)) > 0);
    }
    AuditKind kind = AUDIT_REPORT_TAKE;
    EXPECT_STATUS(word_find(AUDIT_KIND_WORDS, SLICE("nothing"), "", &kind, NULL), STATUS_INVALID);
    EXPECT(kind == AUDIT_REPORT_TAKE);
}

/* Of many that the public may not see, a list looks at so many and ends. */
TEST(a_list_that_leaves_out_much_ends)
{
    begin();
    for (int i = 0; i < 300; i++)
        audit_end(audit, noted(&FEATURE), STATUS_REFUSED);
    done(&FEATURE);
    EXPECT_I64(list((AuditQuery){.public_only = true, .limit = 5}).count, 1);
    end();
}

/* ---- What goes with a policy -------------------------------------------------------------------------------------- */

/* By what it was done to; an act on a report is no act on the policy, and not older reports alone say which it was about. */
TEST(reasons_go_with_the_policy_that_they_are_about_and_all_else_stays)
{
    enum { POLICY = 12, OTHER = 13 };
    const AuditAct acts[] = {
        {.kind = AUDIT_POLICY_MERGE, .actor = 7, .object = OTHER, .other = POLICY},
        {.kind = AUDIT_REPORT_ACT, .actor = 7, .object = 3, .policy = POLICY},
        {.kind = AUDIT_FEATURE_SET, .actor = 7, .object = POLICY},
        {.kind = AUDIT_FEATURE_SET, .actor = 7, .object = OTHER},
        {.kind = AUDIT_REPORT_ACT, .actor = 7, .object = POLICY, .policy = OTHER},
    };
    enum { ACT_COUNT = sizeof acts / sizeof acts[0], GONE = 3 };
    begin();
    int64_t made_us = contract_now_us();
    for (size_t i = 0; i < ACT_COUNT; i++) {
        AuditAct act = acts[i];
        act.origin = SLICE("192.0.2.1");
        act.reason = SLICE("because");
        act.details = SLICE("place 1");
        (void)done(&act);
    }
    contract_set_now_us(made_us + 200 * DAY_US); /* in another piece of the index */
    for (int i = 0; i < 2; i++)
        EXPECT_STATUS(audit_obliterate(audit, "policy", POLICY, made_us), STATUS_OK);
    Listed all = list((AuditQuery){0});
    EXPECT_I64((int64_t)all.count, ACT_COUNT);
    for (size_t i = 0; i < ACT_COUNT; i++) {
        const AuditEntry *entry = &all.entries[ACT_COUNT - 1 - i];
        EXPECT_SLICE(entry->act.reason, i < GONE ? SLICE_EMPTY : SLICE("because"));
        EXPECT_SLICE(entry->act.origin, SLICE("192.0.2.1"));
        EXPECT_SLICE(entry->act.details, SLICE("place 1"));
        EXPECT(entry->act.kind == acts[i].kind && entry->act.object == acts[i].object &&
               entry->act.other == acts[i].other && entry->outcome == AUDIT_DONE);
    }
    /* They expire when they would have. */
    contract_set_now_us(made_us + (AUDIT_DAYS - 1) * DAY_US);
    EXPECT_I64((int64_t)list((AuditQuery){0}).count, ACT_COUNT);
    contract_set_now_us(made_us + (AUDIT_DAYS + 1) * DAY_US);
    EXPECT_I64((int64_t)list((AuditQuery){0}).count, 0);
    end();
}
