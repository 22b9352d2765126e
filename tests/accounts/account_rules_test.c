/* account_rules_test.c -- names, e-mails and passwords at their bounds, and what counts as the same. */
#include "accounts/account_rules.h"

#include <utf8proc.h>

#include "accounts/account_record.h"
#include "test.h"

static Arena *arena;

static void begin(void)
{
    if (arena == NULL)
        arena = arena_new();
    arena_reset(arena);
}

static Slice folded(const char *name)
{
    Slice result = SLICE("untouched");
    Reason reason = {.rule = ""};
    Status status = account_fold_name(slice_from(name), arena, &result, &reason);
    if (status != STATUS_OK)
        test_fail(__FILE__, __LINE__, "\"%s\" is refused: %s", name, reason.rule);
    return result;
}

static void expect_no_name(const char *name)
{
    Slice result = SLICE("untouched");
    Reason reason = {.rule = ""};
    Status status = account_fold_name(slice_from(name), arena, &result, &reason);
    if (status != STATUS_INVALID)
        test_fail(__FILE__, __LINE__, "\"%s\" is taken for a name", name);
    EXPECT_SLICE(result, SLICE("untouched"));
    EXPECT_SLICE(slice_from(reason.field), SLICE("name"));
    EXPECT(reason.rule[0] != '\0');
}

static const char *repeat(const char *part, int count)
{
    Slice text = SLICE_EMPTY;
    for (int i = 0; i < count; i++)
        text = arena_print(arena, "%.*s%s", SLICE_ARG(text), part);
    return arena_text(arena, text);
}

/* ---- Names ------------------------------------------------------------------------------------------------- */

TEST(a_name_has_three_to_thirty_characters)
{
    begin();
    static const char *const LETTERS[] = {"a", "é", "я", "字", "𠀋"};
    for (size_t i = 0; i < sizeof LETTERS / sizeof LETTERS[0]; i++) {
        expect_no_name(repeat(LETTERS[i], 2));
        EXPECT(folded(repeat(LETTERS[i], 3)).size > 0);
        EXPECT(folded(repeat(LETTERS[i], 30)).size > 0);
        expect_no_name(repeat(LETTERS[i], 31));
    }
    expect_no_name("");
    expect_no_name(repeat("a", 5000));
}

TEST(length_is_counted_after_folding)
{
    begin();
    EXPECT(folded(repeat("e\xCC\x81", 30)).size > 0); /* e and an accent are one é */
    EXPECT_SLICE(folded("ßa"), SLICE("ssa"));
    expect_no_name(repeat("ß", 16));
}

TEST(what_folding_makes_equal_is_one_name)
{
    begin();
    static const char *const SAME[][2] = {
        {"Alice", "ALICE"},       {"Ａｌｉｃｅ", "alice"},  {"𝐀𝐥𝐢𝐜𝐞", "alice"},
        {"Straße", "STRASSE"},    {"José", "JOSE\xCC\x81"}, {"ΣΊΣΥΦΟΣ", "σίσυφος"},
        {"İstanbul", "istanbul"}, {"ﬁnn", "FINN"},          {"Ǆuro", "ǆuro"},
        {"ИВАН", "иван"},         {"ｶﾞｷﾞｸﾞ", "ガギグ"},     {"bob²", "bob2"},
    };
    for (size_t i = 0; i < sizeof SAME / sizeof SAME[0]; i++) {
        EXPECT_SLICE(folded(SAME[i][0]), folded(SAME[i][1]));
    }
    EXPECT(!slice_equal(folded("alice"), folded("alice1")));
    EXPECT(!slice_equal(folded("josé"), folded("jose")));
}

TEST(a_new_name_does_not_look_like_a_host)
{
    static const char *const HOSTS[] = {"evil.com",  "Bank.Example", "vote.town.example",
                                        "a.b.smith", "www.smith",    "shop.de",
                                        "EVIL.Com",  "town.vote",    "ann.li"};
    static const char *const NAMES[] = {"anna.lind", "ann",       "anna-com", "com.anna",
                                        "a.b",       "anna.2000", "j.smith",  "v1.2.3"};
    begin();
    Slice result;
    Reason reason = {.rule = ""};
    for (size_t i = 0; i < sizeof HOSTS / sizeof HOSTS[0]; i++) {
        if (account_check_new_name(slice_from(HOSTS[i]), arena, &result, &reason) != STATUS_INVALID)
            test_fail(__FILE__, __LINE__, "%s is a name", HOSTS[i]);
        EXPECT_SLICE(slice_from(reason.field), SLICE("name"));
        EXPECT_STATUS(account_fold_name(slice_from(HOSTS[i]), arena, &result, NULL), STATUS_OK);
    }
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        if (account_check_new_name(slice_from(NAMES[i]), arena, &result, &reason) != STATUS_OK)
            test_fail(__FILE__, __LINE__, "%s is no name", NAMES[i]);
}

TEST(a_name_is_of_one_script)
{
    begin();
    static const char *const PURE[] = {
        "alice",  "Æther",   "Đorđe",        "Nguyễn",  "αλίκη",     "Алиса",    "Ґанна",
        "Անի42",  "שלום123", "عليرضا",       "عائشة٤٢", "नमस्ते",      "কল্পনা",    "ตำรวจ",
        "ສະບາຍດີ", "მარიამ",  "አበበች",         "ខ្មែរ",    "日本語",    "ひらがな", "カタカナー",
        "佐々木", "한국어",  "日本ひろしカ", "மீனாட்சி",  "ကိုမောင်မောင်", "Ewe-ɛɔɖ",  "ދިވެހި",
    };
    for (size_t i = 0; i < sizeof PURE / sizeof PURE[0]; i++)
        EXPECT(folded(PURE[i]).size > 0);
    static const char *const MIXED[] = {
        "аlice" /* Cyrillic a */,
        "alicе" /* Cyrillic e */,
        "αlice",
        "Алиcа" /* Latin c */,
        "日本abc",
        "한국日本",
        "שלוםabc",
        "नमस्ते-abc",
        "abc.где",
        "1а1a",
        "abc٤٢" /* Arabic digits */,
    };
    for (size_t i = 0; i < sizeof MIXED / sizeof MIXED[0]; i++)
        expect_no_name(MIXED[i]);
}

TEST(what_cannot_be_seen_or_read_is_no_part_of_a_name)
{
    begin();
    static const char *const BAD[] = {
        "ali ce",
        " alice",
        "alice ",
        "ali\tce",
        "ali\nce",
        "alice\x7F",
        "ali\xE2\x80\x8B"
        "ce" /* zero width */,
        "ali\xE2\x80\x8D"
        "ce" /* joiner */,
        "\xE2\x80\xAE"
        "alice" /* right to left */,
        "ali\xC2\xAD"
        "ce" /* soft hyphen */,
        "a\xCC\xB6"
        "bc" /* overlay */,
        "ali\xEF\xBB\xBF"
        "ce",
        "alice😀",
        "ali/ce",
        "ali@ce",
        "ali+ce",
        "<alice>",
        "ali'ce",
        "ali·ce",
        "ɑlice" /* phonetic a */,
        "ⅷabc\xE2\x80\x8C",
        "مُحمد" /* vowel points */,
        "\xCC\x81"
        "abc",
        "ि"
        "नमस" /* a vowel sign without its letter */,
        "क्ि्ि्िकक" /* a tower of marks */,
        "1िकक",
    };
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++)
        expect_no_name(BAD[i]);
    Slice result;
    EXPECT_STATUS(account_fold_name(SLICE("ali\0ce"), arena, &result, NULL), STATUS_INVALID);
    EXPECT_STATUS(account_fold_name(SLICE("ali\xFF"
                                          "ce"),
                                    arena, &result, NULL),
                  STATUS_INVALID);
    EXPECT_STATUS(account_fold_name(SLICE("ali\xC0\x80"
                                          "ce"),
                                    arena, &result, NULL),
                  STATUS_INVALID);
}

TEST(signs_stand_between_letters)
{
    begin();
    static const char *const GOOD[] = {"a-b", "a_b", "a.b", "a.b-c_d", "1-2", "007"};
    for (size_t i = 0; i < sizeof GOOD / sizeof GOOD[0]; i++)
        EXPECT_SLICE(folded(GOOD[i]), slice_from(GOOD[i]));
    static const char *const BAD[] = {"-ab", "ab-",  ".ab",  "ab.", "_ab",
                                      "ab_", "a--b", "a.-b", "---", "..."};
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++)
        expect_no_name(BAD[i]);
}

/* Over every character that there is: alone three times, and after two Latin letters. */
TEST(folding_twice_is_folding_once)
{
    int names = 0;
    for (int32_t c = 1; c <= 0x10FFFF; c++) {
        utf8proc_uint8_t bytes[4];
        if (!utf8proc_codepoint_valid(c))
            continue;
        begin();
        Slice character = slice_of(bytes, (size_t)utf8proc_encode_char(c, bytes));
        const Slice tries[] = {
            arena_print(arena, "%.*s%.*s%.*s", SLICE_ARG(character), SLICE_ARG(character),
                        SLICE_ARG(character)),
            arena_print(arena, "xx%.*s", SLICE_ARG(character)),
        };
        for (int i = 0; i < 2; i++) {
            Slice once, twice;
            if (account_fold_name(tries[i], arena, &once, NULL) != STATUS_OK)
                continue;
            names++;
            EXPECT_STATUS(account_fold_name(once, arena, &twice, NULL), STATUS_OK);
            EXPECT_SLICE(twice, once);
        }
    }
    EXPECT(names > 100000);
}

/* ---- E-mails ----------------------------------------------------------------------------------------------- */

static void expect_email(const char *email, const char *expected)
{
    Slice result = SLICE_EMPTY;
    Reason reason = {.rule = ""};
    Status status = account_fold_email(slice_from(email), arena, &result, &reason);
    if (status != STATUS_OK)
        test_fail(__FILE__, __LINE__, "\"%s\" is refused: %s", email, reason.rule);
    EXPECT_SLICE(result, slice_from(expected));
}

static void expect_no_email(const char *email)
{
    Slice result = SLICE("untouched");
    Reason reason = {.rule = ""};
    if (account_fold_email(slice_from(email), arena, &result, &reason) != STATUS_INVALID)
        test_fail(__FILE__, __LINE__, "\"%s\" is taken for an e-mail", email);
    EXPECT_SLICE(result, SLICE("untouched"));
    EXPECT_SLICE(slice_from(reason.field), SLICE("email"));
}

TEST(an_email_is_trimmed_and_folded)
{
    begin();
    expect_email("Alice@Example.ORG", "alice@example.org");
    expect_email("  a@b.c\r\n", "a@b.c");
    expect_email("a.b+tag@x-y.example", "a.b+tag@x-y.example");
    expect_email("o'neil!#$%&*/=?^`{|}~@example.org", "o'neil!#$%&*/=?^`{|}~@example.org");
    expect_email("JOSÉ@Exämple.org", "josé@exämple.org");
    expect_email("root@localhost", "root@localhost");
}

TEST(what_is_no_email_is_refused)
{
    begin();
    static const char *const BAD[] = {
        "",
        "@",
        "a@",
        "@b",
        "a",
        "a@b@c",
        "a b@c.d",
        "a@b c.d",
        ".a@b.c",
        "a.@b.c",
        "a..b@c.d",
        "a@.b",
        "a@b.",
        "a@b..c",
        "a@-b.c",
        "a@b-.c",
        "a@b_c.d",
        "\"a b\"@c.d",
        "a@[127.0.0.1]",
        "a＠b.c",
        "a@b。c",
        "a\xE2\x80\x8B@b.c",
        "<a@b.c>",
        "a@b.c,d@e.f",
        "a\x01@b.c",
        "a@b.c\xE2\x80\xAE",
    };
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++)
        expect_no_email(BAD[i]);
    Slice result;
    EXPECT_STATUS(account_fold_email(SLICE("a\0b@c.d"), arena, &result, NULL), STATUS_INVALID);
    EXPECT_STATUS(account_fold_email(SLICE("a\xFF@c.d"), arena, &result, NULL), STATUS_INVALID);
}

TEST(the_bounds_of_an_email_are_exact)
{
    begin();
    const char *local = repeat("l", 64), *label = repeat("d", 63);
    Slice email = arena_print(arena, "%s@%s.%s.%s", local, label, label, repeat("d", 61));
    EXPECT_I64(email.size, 254);
    expect_email(arena_text(arena, email), arena_text(arena, email));
    expect_no_email(arena_text(arena, arena_print(arena, "%.*sd", SLICE_ARG(email))));
    expect_no_email(arena_text(arena, arena_print(arena, "%sl@b.c", local)));
    expect_no_email(arena_text(arena, arena_print(arena, "a@%sd.c", label)));
    expect_no_email(repeat("a@b.c", 1000));
}

TEST(the_signal_of_an_email_has_no_dots_and_no_tags)
{
    begin();
    static const char *const CASES[][2] = {
        {"a.l.i.c.e@example.org", "alice@example.org"},
        {"alice+x.y+z@example.org", "alice@example.org"},
        {"alice@example.org", "alice@example.org"},
        {"+tag@example.org", "+tag@example.org"},
        {"a@b.c+d", "a@b.c+d"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++)
        EXPECT_SLICE(account_email_signal(slice_from(CASES[i][0]), arena), slice_from(CASES[i][1]));
}

/* ---- Passwords --------------------------------------------------------------------------------------------- */

TEST(the_bounds_of_a_password_are_exact)
{
    begin();
    Reason reason;
    EXPECT_STATUS(account_check_password(slice_from(repeat("x", 9)), &reason), STATUS_INVALID);
    EXPECT_SLICE(slice_from(reason.field), SLICE("password"));
    EXPECT_STATUS(account_check_password(slice_from(repeat("x", 10)), NULL), STATUS_OK);
    EXPECT_STATUS(account_check_password(slice_from(repeat("x", 72)), NULL), STATUS_OK);
    EXPECT_STATUS(account_check_password(slice_from(repeat("x", 73)), NULL), STATUS_INVALID);
    EXPECT_STATUS(account_check_password(slice_from(repeat("é", 9)), NULL), STATUS_INVALID);
    EXPECT_STATUS(account_check_password(slice_from(repeat("é", 10)), NULL), STATUS_OK);
    EXPECT_STATUS(account_check_password(slice_from(repeat("😀", 18)), NULL), STATUS_OK);
    EXPECT_STATUS(account_check_password(slice_from(repeat("😀", 19)), NULL), STATUS_INVALID);
    EXPECT_STATUS(account_check_password(SLICE("long enough\0hidden"), NULL), STATUS_INVALID);
    EXPECT_STATUS(account_check_password(SLICE("long enough\xFF"), NULL), STATUS_INVALID);
    EXPECT_STATUS(account_check_password(SLICE_EMPTY, NULL), STATUS_INVALID);
}

/* ---- Words ------------------------------------------------------------------------------------------------- */

TEST(every_role_and_right_is_found_by_its_text)
{
    for (int i = 0; i < ROLE_COUNT; i++) {
        AccountRole role = ROLE_COUNT;
        EXPECT_STATUS(word_find(ACCOUNT_ROLE_WORDS, slice_from(account_role_text((AccountRole)i)),
                                "", &role, NULL),
                      STATUS_OK);
        EXPECT_I64(role, i);
    }
    for (int i = 0; i < RIGHT_COUNT; i++) {
        AccountRight right = RIGHT_COUNT;
        EXPECT_STATUS(word_find(ACCOUNT_RIGHT_WORDS,
                                slice_from(account_right_text((AccountRight)i)), "", &right, NULL),
                      STATUS_OK);
        EXPECT_I64(right, i);
    }
    AccountRole role = ROLE_FEATURE;
    EXPECT_STATUS(word_find(ACCOUNT_ROLE_WORDS, SLICE("king"), "", &role, NULL), STATUS_INVALID);
    EXPECT_STATUS(word_find(ACCOUNT_ROLE_WORDS, SLICE(""), "", &role, NULL), STATUS_INVALID);
    EXPECT_I64(role, ROLE_FEATURE);
    EXPECT_SLICE(slice_from(account_state_text(ACCOUNT_CLOSED)), SLICE("closed"));
}

TEST(words_become_bits_and_one_that_is_none_gets_those_that_there_are)
{
    uint32_t bits = 99;
    Reason reason;
    EXPECT_STATUS(account_roles_from(SLICE("feature, admin"), "role", &bits, &reason), STATUS_OK);
    EXPECT_I64(bits, 1u << ROLE_FEATURE | 1u << ROLE_ADMIN);
    EXPECT_STATUS(account_rights_from(SLICE("vote"), "deny", &bits, &reason), STATUS_OK);
    EXPECT_I64(bits, 1u << RIGHT_VOTE);
    EXPECT_STATUS(account_roles_from(SLICE_EMPTY, "role", &bits, &reason), STATUS_OK);
    EXPECT_I64(bits, 0);
    bits = 99;
    EXPECT_STATUS(account_roles_from(SLICE("admin,king"), "role", &bits, &reason), STATUS_INVALID);
    EXPECT_I64(bits, 99);
    EXPECT_SLICE(slice_from(reason.field), SLICE("role"));
    EXPECT_SLICE(slice_from(reason.rule),
                 SLICE("there is no role \"king\"; there are admin, edit_policies, edit_users, "
                       "moderate_comments, moderate_tags, moderate_policies, feature, respond"));
    EXPECT_STATUS(account_rights_from(slice_from(repeat("x", 400)), "deny", &bits, &reason),
                  STATUS_INVALID);
    EXPECT(strstr(reason.rule, "there are log_in, vote, create, comment, tag, report") != NULL);
}

/* ---- The head of a row ------------------------------------------------------------------------------------- */

TEST(a_head_that_was_cut_or_changed_in_length_is_corrupt)
{
    begin();
    BUFFER_SCOPE Buffer buffer = {0};
    Vault *vault = vault_for_tests(1), *other = vault_for_tests(2);
    const VaultCell cell = {vault, SLICE("accounts"), SLICE("row"), SLICE("head")},
                    foreign = {other, cell.table, cell.row, cell.column};
    AccountRecord head = {
        .version = 3, .state = ACCOUNT_CONFIRMED, .roles = 5, .password_hash = SLICE("hash")};
    account_record_forget(&head);
    head.labels[CLAIM_NAME] = (Label){SLICE("Alice"), SLICE("alice")};
    head.claim_requests[CLAIM_EMAIL].label = (Label){SLICE("A@b.c"), SLICE("a@b.c")};
    head.labels[CLAIM_EMAIL] = (Label){SLICE("Alice@Example.org"), SLICE("alice@example.org")};
    head.real_name = SLICE("Alice Example");
    head.real_name_shown = true;
    head.epoch = 7;
    Slice value = record_encode(&ACCOUNT_RECORD, &head, &cell, arena);
    AccountRecord back;
    EXPECT_STATUS(record_decode(&ACCOUNT_RECORD, value, &cell, arena, &back), STATUS_OK);
    EXPECT_SLICE(back.labels[CLAIM_NAME].text, SLICE("Alice"));
    EXPECT_SLICE(back.claim_requests[CLAIM_EMAIL].label.folded, SLICE("a@b.c"));
    EXPECT_SLICE(back.labels[CLAIM_EMAIL].text, SLICE("Alice@Example.org"));
    EXPECT_SLICE(back.real_name, SLICE("Alice Example"));
    EXPECT(back.real_name_shown);
    EXPECT_I64(back.roles, 5);
    EXPECT_I64(back.epoch, 7);
    EXPECT_STATUS(record_decode(&ACCOUNT_RECORD, value, &foreign, arena, &back), STATUS_CORRUPT);
    for (size_t size = 0; size < value.size; size++)
        EXPECT_STATUS(
            record_decode(&ACCOUNT_RECORD, slice_of(value.data, size), &cell, arena, &back),
            STATUS_CORRUPT);
    buffer_bytes(&buffer, value);
    buffer_u8(&buffer, 0);
    EXPECT_STATUS(record_decode(&ACCOUNT_RECORD, buffer_slice(&buffer), &cell, arena, &back),
                  STATUS_CORRUPT);
    buffer.size--;
    buffer.data[0] = 9; /* another format */
    EXPECT_STATUS(record_decode(&ACCOUNT_RECORD, buffer_slice(&buffer), &cell, arena, &back),
                  STATUS_CORRUPT);
    vault_free(vault);
    vault_free(other);
    arena_free(arena);
    arena = NULL;
}
