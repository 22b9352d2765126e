/* letters.c -- see letters.h. The words are in LETTERS; {site}, {name}, {about}, {words} and {valid} are replaced. */
#include "mail/letters.h"

enum { LINES_MAX = 3 };

typedef struct Letter {
    const char *kind;
    const char *subject;
    const char *before[LINES_MAX]; /* the button */
    const char *button;            /* NULL: none */
    const char *after[LINES_MAX];
} Letter;

static const Letter LETTERS[LETTER_KINDS] = {
    [LETTER_CONFIRM] =
        {
            "confirm",
            "Confirm your e-mail for {site}",
            {"Somebody, most likely you, registered as {name} at {site} with this address.",
             "Open the page below and press the button on it. Then you can vote."},
            "Confirm my e-mail",
            {"The link works for {valid}.",
             "If it was not you, do nothing: the registration ends by itself, and this address is "
             "free again."},
        },
    [LETTER_ALREADY_REGISTERED] =
        {
            "already-registered",
            "You already have an account at {site}",
            {"Somebody, most likely you, tried to register at {site} with this address. It already "
             "belongs to your account {name}, so nothing was changed.",
             "Log in as usual. If you no longer know your password, set a new one."},
            "Set a new password",
            {"If it was not you, do nothing: your account stays as it is."},
        },
    [LETTER_RESET] =
        {
            "reset",
            "Set a new password for {site}",
            {"Somebody, most likely you, asked for a new password for {name} at {site}."},
            "Set a new password",
            {"The link works once, for {valid}.",
             "If it was not you, do nothing: your password stays as it is."},
        },
    [LETTER_NEW_EMAIL] =
        {
            "new-email",
            "Confirm your new e-mail for {site}",
            {"{name} at {site} wants to use this address from now on.",
             "Open the page below and press the button on it. Until then the old address counts."},
            "Confirm this address",
            {"The link works for {valid}.",
             "If it was not you, do nothing: this address will not be used."},
        },
    [LETTER_EMAIL_CHANGED] =
        {
            "email-changed",
            "Your e-mail at {site} was changed",
            {"Your account {name} at {site} was moved to another address, which was confirmed just "
             "now. Mails about it no longer come here, and all its other sessions are ended.",
             "If it was you, there is nothing to do. If it was not, take the change back: open the "
             "page below and press the button on it. Then this address counts again, everybody who "
             "is logged in as you is logged out, your tokens for programs are ended, and so are a "
             "second factor and log-ins at other sites that were set up since the change."},
            "Take the change back",
            {"The link works once, for {valid}. For so long nobody else can use this address "
             "there, "
             "and the account cannot be moved again."},
        },
    [LETTER_NEW_EMAIL_NOT_ON_ROLL] =
        {
            "new-email-not-on-roll",
            "This address cannot be used at {site}",
            {"{name} at {site} wants to use this address from now on. It is not on the list of "
             "people who may vote there, so nothing was changed.",
             "If it should be on that list, ask those who run the site."},
            "Go to the site",
            {"If it was not you, do nothing: this address will not be used."},
        },
    [LETTER_ADDRESS_USED] =
        {
            "address-used",
            "You could not join {site}",
            {"Somebody, most likely you, tried to register at {site} with this address. It stands "
             "for an account that was there before: one that has another address now, or that was "
             "deleted. So no account was made.",
             "If you have that account, log in as usual. If you deleted it and want to come back, "
             "ask those who run the site when you can."},
            "Go to the site",
            {"If it was not you, do nothing: nothing was made in your name."},
        },
    [LETTER_PASSWORD_CHANGED] =
        {
            "password-changed",
            "Your password at {site} was changed",
            {"The password of your account {name} at {site} was changed, and all its other "
             "sessions were ended.",
             "If it was you, there is nothing to do. If it was not, set a new one at once."},
            "Set a new password",
            {NULL},
        },
    [LETTER_ACCOUNT_DELETED] =
        {
            "account-deleted",
            "Your account at {site} is deleted",
            {"Your account {name} at {site} is deleted, as you asked. Your votes are withdrawn. "
             "Policies that you created stay, without your name.",
             "This was the last mail about it."},
            NULL,
            {NULL},
        },
    [LETTER_SECOND_ON] =
        {
            "second-factor-on",
            "Your second factor at {site} is on",
            {"Your account {name} at {site} now asks for a code of your device after the password, "
             "and all its other sessions were ended.",
             "If it was you, there is nothing to do; keep your codes on paper. If it was not, "
             "somebody knows your password: tell those who run the site at once."},
            "See your second factor",
            {NULL},
        },
    [LETTER_SECOND_OFF] =
        {
            "second-factor-off",
            "Your second factor at {site} is off",
            {"Your account {name} at {site} no longer asks for a code of your device, and all its "
             "other sessions were ended.",
             "If it was you, there is nothing to do. If it was not, set a new password at once."},
            "See your second factor",
            {NULL},
        },
    [LETTER_LOOKED_AT] =
        {
            "looked-at",
            "Somebody looked at what is yours at {site}",
            {"Those who run the server of {site} gave a command in the name of your account "
             "{name}. It shows what is yours: {about}.",
             "Why: {words}"},
            "See your notices",
            {"There is nothing to do. If you want to know more, ask those who run the site. It is "
             "in their audit log, too."},
        },
    [LETTER_ANSWER_DUE] =
        {
            "answer-due",
            "An answer is due at {site}",
            {"So many people have put votes on the policy \u201c{about}\u201d that {site} owes it "
             "an "
             "official answer.",
             "Those who answer there, you among them, were told once. The policy's page says that "
             "an answer is due until there is one."},
            "Answer it",
            {"Whoever answers first is shown to the others."},
        },
    [LETTER_POLICY_HIDDEN] =
        {
            "policy-hidden",
            "Your policy at {site} was hidden",
            {"Moderators of {site} hid your policy \u201c{about}\u201d. Its page tells you why.",
             "You can appeal there for {valid}. If you do nothing, it is deleted after that, and "
             "everybody gets their votes on it back."},
            "See why, and appeal",
            {NULL},
        },
    [LETTER_RIGHTS_TAKEN] =
        {
            "rights-taken",
            "What your account at {site} may do was changed",
            {"Those who run {site} changed what your account {name} may do. What changed: {about}.",
             "The reason that they gave: {words}",
             "If that is not right, you can appeal once, also without logging in: open the page "
             "below and write why. Somebody else than who did it decides, where there is somebody "
             "else."},
            "See it, and appeal",
            {"If you do nothing, it stays as it is."},
        },
    [LETTER_RIGHTS_GIVEN] =
        {
            "rights-given",
            "What your account at {site} may do was changed",
            {"Those who run {site} changed what your account {name} may do. What changed: {about}.",
             "The reason that they gave: {words}"},
            "Go to the site",
            {"There is nothing to do."},
        },
    [LETTER_REPORT] =
        {
            "report",
            "A report at {site}",
            {"Somebody told the moderators of {site}, you among them, about {about}.",
             "The report waits until one of you takes it on."},
            "See the report",
            {"If you do nothing, it stays in the queue for the others."},
        },
    [LETTER_REPORT_ACTED] =
        {
            "report-acted",
            "Your report at {site}",
            {"You told the moderators of {site} about {about}. They looked at it and did something "
             "about it.",
             "They wrote: {words}"},
            "See what moderators did",
            {"There is nothing to do."},
        },
    [LETTER_REPORT_DISMISSED] =
        {
            "report-dismissed",
            "Your report at {site}",
            {"You told the moderators of {site} about {about}. They looked at it and left "
             "everything as it is.",
             "They wrote: {words}"},
            "See what moderators did",
            {"There is nothing to do. If something is new, you can report it again."},
        },
    [LETTER_INVITATION] =
        {
            "invitation",
            "You are invited to vote at {site}",
            {"Those who run {site} invite you to take part: people there earn votes over time, and "
             "spend them on the policies that they want.",
             "Open the page below and choose a name and a password. The invitation is for this "
             "address only."},
            "Accept the invitation",
            {"The link works once, for {valid}.",
             "If you do not want to take part, do nothing: nothing was made in your name."},
        },
    [LETTER_NOT_ON_ROLL] =
        {
            "not-on-roll",
            "You could not join {site}",
            {"Somebody, most likely you, tried to register at {site} with this address. It is not "
             "on the list of people who may vote there, so no account was made.",
             "If you should be on that list, ask those who run the site. Perhaps they know you by "
             "another address: then register with that one."},
            "Go to the site",
            {"If it was not you, do nothing: nothing was made in your name."},
        },
    [LETTER_DIGEST] =
        {
            "digest",
            "What happened to your policies at {site}",
            {"This happened to the policies that you voted for or watch at {site}:"},
            "See your votes",
            {"You get this letter because you asked for it. Under \"Letters to you\" in your "
             "profile "
             "you choose how often, or never; your mail program can end it, too."},
        },
    [LETTER_JOURNALS] =
        {
            "journals",
            "The journals of {site} need a look",
            {"This is wrong with the journals of {site}, of the instance {about}:"},
            "See the site's state",
            {"You get this letter because you are an admin. The next one comes in an hour at the "
             "earliest, when there is something new to tell."},
        },
    [LETTER_TEST] =
        {
            "test",
            "A test from {site}",
            {"This mail tests the settings of {site}. If you can read it, they work."},
            NULL,
            {NULL},
        },
};

/* ---- Facts -------------------------------------------------------------------------------------------------- */

/* Names are put into lines: what could end one becomes a blank. */
static Slice one_line(Slice text, Arena *arena)
{
    char *line = arena_bytes(arena, text.size);
    for (size_t i = 0; i < text.size; i++)
        line[i] = (unsigned char)text.data[i] < ' ' || text.data[i] == 0x7F ? ' ' : text.data[i];
    return slice_of(line, text.size);
}

/* Where a mail program might see the rest of a host name, an address or a link: "a|.b", "a@|b", "https:|//". */
static bool is_within_link(Slice line, size_t i)
{
    if (i == 0 || i + 1 >= line.size)
        return false;
    char at = line.data[i], next = line.data[i + 1];
    bool is_word = (unsigned char)next >= 0x80 || (next >= '0' && next <= '9') ||
                   (next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z');
    return ((at == '.' || at == '@') && is_word) || (at == ':' && next == '/');
}

/* What people wrote. Mail programs make links of what looks like one, in text as in HTML; a blank of no width keeps them from it, and is not seen. */
static Slice no_link(Slice text, Arena *arena)
{
    BUFFER_SCOPE Buffer out = {0};
    Slice line = one_line(text, arena);
    for (size_t i = 0; i < line.size; i++) {
        buffer_u8(&out, (uint8_t)line.data[i]);
        if (is_within_link(line, i))
            buffer_text(&out, "\u200b");
    }
    return arena_copy(arena, buffer_slice(&out));
}

/* "30 minutes", "24 hours", "3 days": in the largest unit that is exact, and hours up to two days. */
static Slice duration(int64_t seconds, Arena *arena)
{
    static const struct {
        int64_t seconds;
        const char *name;
    } UNITS[] = {{86400, "day"}, {3600, "hour"}, {60, "minute"}, {1, "second"}};
    size_t unit = 0;
    while (unit < 3 && (seconds % UNITS[unit].seconds != 0 || seconds < UNITS[unit].seconds ||
                        (unit == 0 && seconds < 2 * UNITS[unit].seconds)))
        unit++;
    int64_t count = seconds / UNITS[unit].seconds;
    return arena_print(arena, "%lld %s%s", (long long)count, UNITS[unit].name,
                       count == 1 ? "" : "s");
}

typedef struct Fact {
    const char *name; /* with its braces */
    Slice value;
} Fact;

enum { FACTS = 5 };
typedef struct Facts {
    Fact facts[FACTS];
} Facts;

/* The words with the facts in their places. */
static Slice fill_in(const char *words, const Facts *facts, Arena *arena)
{
    BUFFER_SCOPE Buffer out = {0};
    Slice rest = slice_from(words);
    while (rest.size > 0) {
        size_t open = slice_find(rest, '{');
        buffer_bytes(&out, slice_of(rest.data, open));
        rest = slice_after(rest, open);
        if (rest.size == 0)
            break;
        size_t i = 0;
        while (i < FACTS && !slice_starts_with(rest, slice_from(facts->facts[i].name)))
            i++;
        CHECK(i < FACTS && "the words name a fact that there is");
        buffer_bytes(&out, facts->facts[i].value);
        rest = slice_after(rest, strlen(facts->facts[i].name));
    }
    return arena_copy(arena, buffer_slice(&out));
}

/* ---- The two forms ------------------------------------------------------------------------------------------ */

/* A letter whose words stand; both forms are made from it. */
typedef struct Filled {
    Slice greeting;
    Slice before[LINES_MAX], after[LINES_MAX];
    size_t before_count, after_count;
    Slice button, link;
    Slice footer, home;
    const Slice *items;
    size_t item_count;
} Filled;

static void put_text(Buffer *out, const Filled *letter)
{
    buffer_print(out, "%.*s\n", SLICE_ARG(letter->greeting));
    for (size_t i = 0; i < letter->before_count; i++)
        buffer_print(out, "\n%.*s\n", SLICE_ARG(letter->before[i]));
    if (letter->item_count > 0)
        buffer_text(out, "\n");
    for (size_t i = 0; i < letter->item_count; i++)
        buffer_print(out, "- %.*s\n", SLICE_ARG(letter->items[i]));
    if (letter->button.size > 0)
        buffer_print(out, "\n%.*s:\n%.*s\n", SLICE_ARG(letter->button), SLICE_ARG(letter->link));
    for (size_t i = 0; i < letter->after_count; i++)
        buffer_print(out, "\n%.*s\n", SLICE_ARG(letter->after[i]));
    buffer_print(out, "\n-- \n%.*s\n%.*s\n", SLICE_ARG(letter->footer), SLICE_ARG(letter->home));
}

static void put_escaped(Buffer *out, Slice text)
{
    static const Slice ESCAPES[256] = {
        ['&'] = {"&amp;", 5},  ['<'] = {"&lt;", 4},   ['>'] = {"&gt;", 4},
        ['"'] = {"&quot;", 6}, ['\''] = {"&#39;", 5},
    };
    for (size_t i = 0; i < text.size; i++) {
        Slice escape = ESCAPES[(unsigned char)text.data[i]];
        buffer_bytes(out, escape.size > 0 ? escape : slice_of(text.data + i, 1));
    }
}

static void put_paragraph(Buffer *out, const char *style, Slice text)
{
    buffer_print(out, "<p style=\"%s\">", style);
    put_escaped(out, text);
    buffer_text(out, "</p>\n");
}

/* Mail programs know no style sheets, so each element carries its own. Ink on paper; the button in terracotta. */
static const char LINE_STYLE[] = "margin:0 0 16px";
static const char SMALL_STYLE[] = "margin:24px 0 0;font-size:14px;color:#6b6257";

static void put_button(Buffer *out, const Filled *letter)
{
    buffer_text(out, "<p style=\"margin:24px 0\"><a href=\"");
    put_escaped(out, letter->link);
    buffer_text(out, "\" style=\"display:inline-block;padding:12px 20px;border-radius:4px;"
                     "background:#9c3f1d;color:#ffffff;text-decoration:none;font-weight:600\">");
    put_escaped(out, letter->button);
    buffer_text(out, "</a></p>\n<p style=\"margin:0 0 16px;font-size:14px;word-break:break-all\">");
    put_escaped(out, letter->link);
    buffer_text(out, "</p>\n");
}

static void put_items(Buffer *out, const Filled *letter)
{
    if (letter->item_count == 0)
        return;
    buffer_text(out, "<ul style=\"margin:0 0 16px;padding:0 0 0 20px\">\n");
    for (size_t i = 0; i < letter->item_count; i++) {
        buffer_text(out, "<li>");
        put_escaped(out, letter->items[i]);
        buffer_text(out, "</li>\n");
    }
    buffer_text(out, "</ul>\n");
}

static void put_html(Buffer *out, const Filled *letter, Slice subject)
{
    buffer_text(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                     "<meta name=\"viewport\" content=\"width=device-width\"><title>");
    put_escaped(out, subject);
    buffer_text(out, "</title></head>\n<body style=\"margin:0;padding:24px;background:#faf7f2;"
                     "color:#1d1a16;font:17px/1.5 system-ui,sans-serif\">\n"
                     "<div style=\"max-width:36rem;margin:0 auto\">\n");
    put_paragraph(out, LINE_STYLE, letter->greeting);
    for (size_t i = 0; i < letter->before_count; i++)
        put_paragraph(out, LINE_STYLE, letter->before[i]);
    put_items(out, letter);
    if (letter->button.size > 0)
        put_button(out, letter);
    for (size_t i = 0; i < letter->after_count; i++)
        put_paragraph(out, LINE_STYLE, letter->after[i]);
    put_paragraph(out, SMALL_STYLE, letter->footer);
    put_paragraph(out, "margin:0;font-size:14px;color:#6b6257", letter->home);
    buffer_text(out, "</div>\n</body></html>\n");
}

/* ---- Writing ------------------------------------------------------------------------------------------------ */

/* What browsers and mail programs agree to be one address: printable ASCII, and none of the marks that quote or end it. */
static bool is_link(Slice link)
{
    if (link.size > LETTER_LINK_BYTES ||
        (!slice_starts_with(link, SLICE("http://")) && !slice_starts_with(link, SLICE("https://"))))
        return false;
    for (size_t i = 0; i < link.size; i++)
        if (link.data[i] <= ' ' || link.data[i] > '~' ||
            strchr("\"'<>\\^`{|}", link.data[i]) != NULL)
            return false;
    return true;
}

static Status check_facts(const Letter *letter, const LetterFacts *facts, Reason *reason)
{
    if (facts->name.size > LETTER_NAME_BYTES || facts->site.size > LETTER_NAME_BYTES)
        return reason_set(reason, STATUS_INVALID, "name", "at most %d bytes", LETTER_NAME_BYTES);
    if (facts->about.size > LETTER_ABOUT_BYTES)
        return reason_set(reason, STATUS_INVALID, "about", "at most %d bytes", LETTER_ABOUT_BYTES);
    if (facts->words.size > LETTER_WORDS_BYTES)
        return reason_set(reason, STATUS_INVALID, "words", "at most %d bytes", LETTER_WORDS_BYTES);
    if (facts->item_count > LETTER_ITEMS_MAX)
        return reason_set(reason, STATUS_INVALID, "items", "at most %d", LETTER_ITEMS_MAX);
    if (!is_link(facts->home))
        return reason_set(reason, STATUS_INVALID, "home", "must begin with http:// or https://");
    if (letter->button != NULL && !is_link(facts->link))
        return reason_set(reason, STATUS_INVALID, "link", "must begin with http:// or https://");
    return STATUS_OK;
}

static size_t fill_lines(const char *const *words, const Facts *facts, Arena *arena, Slice *ret)
{
    size_t count = 0;
    while (count < LINES_MAX && words[count] != NULL) {
        ret[count] = fill_in(words[count], facts, arena);
        count++;
    }
    return count;
}

/* Each on one line, and cut between two characters. */
static const Slice *fill_items(const LetterFacts *facts, Arena *arena)
{
    Slice *items = ARENA_ARRAY(arena, facts->item_count, Slice);
    for (size_t i = 0; i < facts->item_count; i++) {
        Slice line = one_line(facts->items[i], arena);
        size_t size = 0, next;
        while ((next = slice_utf8_length(slice_after(line, size))) > 0 &&
               size + next <= LETTER_ITEM_BYTES)
            size += next;
        items[i] = no_link(slice_of(line.data, size), arena);
    }
    return items;
}

static Filled fill_letter(const Letter *letter, const LetterFacts *facts, const Facts *values,
                          Arena *arena)
{
    Filled filled = {.button = letter->button != NULL ? slice_from(letter->button) : SLICE_EMPTY,
                     .link = facts->link,
                     .home = facts->home,
                     .items = fill_items(facts, arena),
                     .item_count = facts->item_count};
    filled.greeting =
        facts->name.size > 0 ? fill_in("Hello {name},", values, arena) : SLICE("Hello,");
    filled.before_count = fill_lines(letter->before, values, arena, filled.before);
    filled.after_count = fill_lines(letter->after, values, arena, filled.after);
    filled.footer = fill_in("Sent by {site}. Answers to this address are not read.", values, arena);
    return filled;
}

/* Or quotes what was said of them. */
static const bool NAMES_POLICIES[LETTER_KINDS] = {
    [LETTER_ANSWER_DUE] = true,   [LETTER_POLICY_HIDDEN] = true,    [LETTER_REPORT] = true,
    [LETTER_REPORT_ACTED] = true, [LETTER_REPORT_DISMISSED] = true, [LETTER_DIGEST] = true,
};

bool letter_names_policies(Slice kind)
{
    for (size_t i = 0; i < LETTER_KINDS; i++)
        if (NAMES_POLICIES[i] && slice_equal(kind, slice_from(LETTERS[i].kind)))
            return true;
    return false;
}

/* MailMessage.about */
static Slice about_of(LetterKind kind, const LetterFacts *facts, Arena *arena)
{
    BUFFER_SCOPE Buffer out = {0};
    if (!NAMES_POLICIES[kind])
        return SLICE_EMPTY;
    buffer_u8(&out, MESSAGE_ABOUT_FORMAT);
    for (size_t i = 0; i < facts->policy_count; i++)
        buffer_u64(&out, facts->policies[i]);
    return arena_copy(arena, buffer_slice(&out));
}

Status letter_write(LetterKind kind, const LetterFacts *facts, Arena *arena,
                    MailMessage *ret_message, Reason *reason)
{
    CHECK(kind < LETTER_KINDS);
    const Letter *letter = &LETTERS[kind];
    BUFFER_SCOPE Buffer text = {0};
    BUFFER_SCOPE Buffer html = {0};
    TRY(check_facts(letter, facts, reason));
    Facts values = {{{"{site}", one_line(facts->site, arena)},
                     {"{name}", no_link(facts->name, arena)},
                     {"{about}", no_link(facts->about, arena)},
                     {"{words}", no_link(facts->words, arena)},
                     {"{valid}", duration(facts->valid_s, arena)}}};
    Filled filled = fill_letter(letter, facts, &values, arena);
    Slice subject = fill_in(letter->subject, &values, arena);
    put_text(&text, &filled);
    put_html(&html, &filled, subject);
    *ret_message = (MailMessage){.to = SLICE_EMPTY,
                                 .subject = subject,
                                 .text = arena_copy(arena, buffer_slice(&text)),
                                 .html = arena_copy(arena, buffer_slice(&html)),
                                 .kind = slice_from(letter->kind),
                                 .about = about_of(kind, facts, arena),
                                 .once = SLICE_EMPTY};
    return STATUS_OK;
}
