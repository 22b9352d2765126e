/* letters_test.c -- every letter is whole, says the same in both forms, and cannot be made to say something else. */
#include "mail/letters.h"
#include "test.h"

static const LetterFacts FACTS = {.site = {"Agora", 5},
                                  .home = {"https://vote.example.org", 24},
                                  .name = {"ann", 3},
                                  .link = {"https://vote.example.org/confirm/s3cret", 39},
                                  .valid_s = 86400};

static bool contains(Slice text, Slice part)
{
    return memmem(text.data, text.size, part.data, part.size) != NULL;
}

TEST(every_letter_can_be_sent)
{
    ARENA_SCOPE Arena *arena = arena_new();
    for (int kind = 0; kind < LETTER_KINDS; kind++) {
        MailMessage message;
        EXPECT_STATUS(letter_write((LetterKind)kind, &FACTS, arena, &message, NULL), STATUS_OK);
        message.to = SLICE("ann@example.org");
        message.once = SLICE("1");
        EXPECT_STATUS(message_check(&message, NULL), STATUS_OK);
        EXPECT(message.kind.size > 0);
        EXPECT(contains(message.subject, SLICE("Agora")));
        EXPECT(contains(message.text, SLICE("Hello ann,")));
        EXPECT(contains(message.html, SLICE("Hello ann,")));
        EXPECT(!contains(message.text, SLICE("{")));
        EXPECT(!contains(message.html, SLICE("{")));
    }
}

TEST(a_button_is_a_link_in_both_forms)
{
    ARENA_SCOPE Arena *arena = arena_new();
    for (int kind = 0; kind < LETTER_KINDS; kind++) {
        bool has_button = kind != LETTER_ACCOUNT_DELETED && kind != LETTER_TEST;
        MailMessage message;
        EXPECT_STATUS(letter_write((LetterKind)kind, &FACTS, arena, &message, NULL), STATUS_OK);
        EXPECT(contains(message.text, FACTS.link) == has_button);
        EXPECT(contains(message.html, SLICE("href=\"https://vote.example.org/confirm/s3cret\"")) ==
               has_button);
    }
}

TEST(the_words_of_one_letter)
{
    ARENA_SCOPE Arena *arena = arena_new();
    MailMessage message;
    EXPECT_STATUS(letter_write(LETTER_RESET, &FACTS, arena, &message, NULL), STATUS_OK);
    EXPECT_SLICE(message.subject, SLICE("Set a new password for Agora"));
    EXPECT_SLICE(message.text,
                 SLICE("Hello ann,\n"
                       "\nSomebody, most likely you, asked for a new password for ann at Agora.\n"
                       "\nSet a new password:\nhttps://vote.example.org/confirm/s3cret\n"
                       "\nThe link works once, for 24 hours.\n"
                       "\nIf it was not you, do nothing: your password stays as it is.\n"
                       "\n-- \nSent by Agora. Answers to this address are not read.\n"
                       "https://vote.example.org\n"));
}

TEST(how_long_a_link_works)
{
    static const struct {
        int64_t seconds;
        Slice words;
    } CASES[] = {{1800, {"for 30 minutes.", 15}}, {3600, {"for 1 hour.", 11}},
                 {86400, {"for 24 hours.", 13}},  {172800, {"for 2 days.", 11}},
                 {604800, {"for 7 days.", 11}},   {90, {"for 90 seconds.", 15}}};
    ARENA_SCOPE Arena *arena = arena_new();
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        MailMessage message;
        LetterFacts facts = FACTS;
        facts.valid_s = CASES[i].seconds;
        EXPECT_STATUS(letter_write(LETTER_CONFIRM, &facts, arena, &message, NULL), STATUS_OK);
        if (!contains(message.text, CASES[i].words))
            test_fail(__FILE__, __LINE__, "%.*s", SLICE_ARG(message.text));
    }
}

TEST(a_name_is_a_name_and_nothing_else)
{
    ARENA_SCOPE Arena *arena = arena_new();
    LetterFacts facts = FACTS;
    MailMessage message;
    facts.name = SLICE("<b>\"a\" & 'b'\r\nhttps://evil.example/{site}");
    facts.site = SLICE("A\nB <i>");
    EXPECT_STATUS(letter_write(LETTER_CONFIRM, &facts, arena, &message, NULL), STATUS_OK);
    EXPECT(!contains(message.html, SLICE("<b>")) && !contains(message.html, SLICE("<i>")));
    EXPECT(contains(message.html, SLICE("&lt;b&gt;&quot;a&quot; &amp; &#39;b&#39;")));
    EXPECT(!contains(message.text, SLICE("https://evil")));
    EXPECT(contains(message.text, SLICE("{site}"))); /* not filled in twice */
    EXPECT(contains(message.subject, SLICE("A B <i>")));
    message.to = SLICE("a@b");
    message.once = SLICE("1");
    EXPECT_STATUS(message_check(&message, NULL), STATUS_OK);
}

/* Mail programs look for a host name with a dot before letters, for an @, and for "://". */
TEST(what_people_wrote_is_no_link_in_a_letter)
{
    static const char *const WORDS[] = {"vote.example.org", "evil.com", "https://evil.com/login",
                                        "ann@evil.com",     "10.0.0.1", "www.bücher.de"};
    ARENA_SCOPE Arena *arena = arena_new();
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
        Slice words = slice_from(WORDS[i]), item[] = {words};
        LetterFacts facts = FACTS;
        MailMessage message;
        facts.home = SLICE("https://here.example");
        facts.link = SLICE("https://here.example/x");
        facts.name = facts.about = facts.words = words;
        facts.items = item;
        facts.item_count = 1;
        for (int kind = 0; kind < LETTER_KINDS; kind++) {
            EXPECT_STATUS(letter_write((LetterKind)kind, &facts, arena, &message, NULL), STATUS_OK);
            if (contains(message.text, words) || contains(message.html, words) ||
                contains(message.subject, words))
                test_fail(__FILE__, __LINE__, "%s: %.*s", WORDS[i], SLICE_ARG(message.text));
        }
    }
    LetterFacts facts = FACTS;
    MailMessage message;
    facts.name = SLICE("evil.com");
    EXPECT_STATUS(letter_write(LETTER_CONFIRM, &facts, arena, &message, NULL), STATUS_OK);
    EXPECT(contains(message.text, SLICE("Hello evil.\u200bcom,")));
    facts.name = SLICE("Dr. Who: 1 a.m.");
    EXPECT_STATUS(letter_write(LETTER_CONFIRM, &facts, arena, &message, NULL), STATUS_OK);
    EXPECT(contains(message.text, SLICE("Hello Dr. Who: 1 a.\u200bm.,")));
}

TEST(links_that_are_none)
{
    static const char *const LINKS[] = {"",
                                        "/confirm",
                                        "javascript:alert(1)",
                                        "ftp://a",
                                        "http://a b",
                                        "http://a\"onclick",
                                        "http://a'b",
                                        "http://a\r\nX",
                                        "http://a<",
                                        "https://a\\b",
                                        "https://a\xC3\xA9.example"};
    ARENA_SCOPE Arena *arena = arena_new();
    for (size_t i = 0; i < sizeof LINKS / sizeof LINKS[0]; i++) {
        LetterFacts facts = FACTS;
        MailMessage message = {.kind = SLICE("untouched")};
        Reason reason;
        facts.link = slice_from(LINKS[i]);
        if (letter_write(LETTER_RESET, &facts, arena, &message, &reason) != STATUS_INVALID)
            test_fail(__FILE__, __LINE__, "\"%s\" was taken", LINKS[i]);
        EXPECT_SLICE(slice_from(reason.field), SLICE("link"));
        EXPECT_SLICE(message.kind, SLICE("untouched"));
        facts = FACTS;
        facts.home = slice_from(LINKS[i]);
        EXPECT_STATUS(letter_write(LETTER_TEST, &facts, arena, &message, &reason), STATUS_INVALID);
        EXPECT_SLICE(slice_from(reason.field), SLICE("home"));
    }
}

TEST(facts_have_bounds)
{
    ARENA_SCOPE Arena *arena = arena_new();
    char *bytes = arena_bytes(arena, 2000);
    MailMessage message;
    memset(bytes, 'a', 2000);
    LetterFacts facts = FACTS;
    facts.name = slice_of(bytes, LETTER_NAME_BYTES + 1);
    EXPECT_STATUS(letter_write(LETTER_TEST, &facts, arena, &message, NULL), STATUS_INVALID);
    facts = FACTS;
    memcpy(bytes, "http://", 7);
    facts.link = slice_of(bytes, LETTER_LINK_BYTES + 1);
    EXPECT_STATUS(letter_write(LETTER_RESET, &facts, arena, &message, NULL), STATUS_INVALID);
    facts.link = slice_of(bytes, LETTER_LINK_BYTES);
    EXPECT_STATUS(letter_write(LETTER_RESET, &facts, arena, &message, NULL), STATUS_OK);
}
