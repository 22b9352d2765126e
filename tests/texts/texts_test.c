/* texts_test.c -- the site's own words: revisions, two writers, and calls of the store that go wrong. */
#include "texts/texts.h"

#include "contract.h"
#include "faulty.h"

static Status write_text(Store *store, const char *words, uint32_t seen)
{
    Reason reason = {.rule = ""};
    NewText want = {.kind = TEXT_PRIVACY, .text = slice_from(words), .seen = seen, .editor = 7};
    Status status = texts_write(store, contract_world(), &want, &reason);
    EXPECT(status == STATUS_OK || status == STATUS_UNAVAILABLE || status == STATUS_UNKNOWN ||
           reason.rule[0] != '\0');
    return status;
}

static SiteText read_text(Store *store, TextKind kind)
{
    SiteText text = {.text = SLICE_EMPTY};
    EXPECT_STATUS(texts_read(store, kind, contract_arena(), &text), STATUS_OK);
    return text;
}

TEST(a_new_site_shows_our_words)
{
    Store *store = contract_fresh_site();
    for (int kind = 0; kind < TEXT_KINDS; kind++) {
        SiteText text = read_text(store, (TextKind)kind);
        EXPECT_I64(text.revision, 0);
        EXPECT(text.text.size > 200 && slice_is_utf8(text.text));
        EXPECT_SLICE(text.text, text_at_first((TextKind)kind));
    }
    contract_end();
}

TEST(every_revision_stays_and_the_last_counts)
{
    Store *store = contract_fresh_site();
    SiteText *list, old;
    size_t count;
    EXPECT_STATUS(write_text(store, "one", 0), STATUS_OK);
    EXPECT_STATUS(write_text(store, "two", 1), STATUS_OK);
    store = contract_restart();
    EXPECT_SLICE(read_text(store, TEXT_PRIVACY).text, SLICE("two"));
    EXPECT_I64(read_text(store, TEXT_PRIVACY).editor, 7);
    EXPECT_I64(read_text(store, TEXT_TERMS).revision, 0);
    EXPECT_STATUS(texts_revisions(store, TEXT_PRIVACY, contract_arena(), &list, &count), STATUS_OK);
    EXPECT_I64(count, 2);
    EXPECT_I64(list[0].revision, 2);
    EXPECT_STATUS(texts_read_revision(store, TEXT_PRIVACY, 1, contract_arena(), &old), STATUS_OK);
    EXPECT_SLICE(old.text, SLICE("one"));
    EXPECT_STATUS(texts_read_revision(store, TEXT_PRIVACY, 3, contract_arena(), &old),
                  STATUS_NOT_FOUND);
    contract_end();
}

TEST(of_two_writers_one_is_told)
{
    Store *store = contract_fresh_site();
    EXPECT_STATUS(write_text(store, "mine", 0), STATUS_OK);
    EXPECT_STATUS(write_text(store, "yours", 0), STATUS_CONFLICT);
    EXPECT_SLICE(read_text(store, TEXT_PRIVACY).text, SLICE("mine"));
    contract_end();
}

TEST(a_text_is_bounded_and_not_empty)
{
    Store *store = contract_fresh_site();
    char *large = arena_bytes(contract_arena(), TEXT_BYTES + 2);
    memset(large, 'x', TEXT_BYTES + 1);
    large[TEXT_BYTES + 1] = '\0';
    EXPECT_STATUS(write_text(store, large, 0), STATUS_INVALID);
    large[TEXT_BYTES] = '\0';
    EXPECT_STATUS(write_text(store, large, 0), STATUS_OK);
    EXPECT_STATUS(write_text(store, " \n ", 1), STATUS_INVALID);
    EXPECT_STATUS(write_text(store, "\xFF", 1), STATUS_INVALID);
    contract_end();
}

TEST(what_is_told_is_true_whatever_call_goes_wrong)
{
    for (int fate = 0; fate < FAULT_FATES; fate++)
        for (int at = 1;; at++) {
            Store *store = contract_fresh_site();
            Faulty faulty;
            faulty_init(&faulty, store, contract_arena());
            faulty_plan(&faulty, at, (FaultFate)fate, FAULT_FOREVER);
            Status status = write_text(&faulty.store, "new", 0);
            bool struck = faulty_struck(&faulty),
                 stands = read_text(store, TEXT_PRIVACY).revision == 1;
            EXPECT(status != STATUS_OK || stands);
            EXPECT(status != STATUS_UNAVAILABLE || !stands);
            EXPECT(status != STATUS_CONFLICT);
            contract_end();
            if (!struck)
                break;
        }
}
