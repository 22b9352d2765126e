/* fuzz_message.c -- messages with any bytes in their fields: what passes the check has the headers that we wrote and no other, and the bodies come
 * back as they were; rows of the queue that can be read can be written again as the same bytes. */
#include "fuzz.h"
#include "mail/letters.h"
#include "mail/mail_private.h"

static const char *const HEADERS[] = {"From: ",
                                      "To: <",
                                      "Subject: ",
                                      "Date: ",
                                      "Message-ID: <",
                                      "List-Unsubscribe: <",
                                      "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
                                      "Auto-Submitted: auto-generated",
                                      "MIME-Version: 1.0",
                                      "Content-Type: ",
                                      "Content-Transfer-Encoding: "};

enum { FIRST_OF_A_LIST = 5, BEHIND_THEM = 7 }; /* only where one can end such letters */

/* The head, line by line: one of ours, each once and in order, or the rest of the one before. */
static Slice check_head(Slice wire, bool has_end)
{
    size_t next = 0;
    Slice line;
    while (slice_split(&wire, '\n', &line)) {
        CHECK(line.size > 0 && line.size <= 999 && line.data[line.size - 1] == '\r');
        CHECK(memchr(line.data, '\r', line.size - 1) == NULL && line.data[0] != '.');
        if (line.size == 1)
            return wire;
        if (line.data[0] == ' ')
            continue;
        if (next == FIRST_OF_A_LIST && !has_end)
            next = BEHIND_THEM;
        CHECK(next < sizeof HEADERS / sizeof HEADERS[0] &&
              slice_starts_with(line, slice_from(HEADERS[next])));
        next++;
    }
    CHECK(false && "a head ends");
    return wire;
}

static int digit(char c)
{
    return c <= '9' ? c - '0' : c - 'A' + 10;
}

/* Quoted-printable undone, with LF for line ends. */
static void decode_body(Slice body, Buffer *out)
{
    for (size_t i = 0; i < body.size; i++) {
        if (body.data[i] == '\r')
            continue;
        if (body.data[i] != '=') {
            buffer_u8(out, (uint8_t)body.data[i]);
        } else if (body.data[i + 1] == '\r') {
            i += 2;
        } else {
            buffer_u8(out, (uint8_t)(digit(body.data[i + 1]) << 4 | digit(body.data[i + 2])));
            i += 2;
        }
    }
}

static void check_body(Slice body, Slice text)
{
    BUFFER_SCOPE Buffer came = {0};
    BUFFER_SCOPE Buffer meant = {0};
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '\n' && i > 0 && text.data[i - 1] == '\r')
            continue;
        buffer_u8(&meant, (uint8_t)(text.data[i] == '\r' ? '\n' : text.data[i]));
    }
    if (meant.data[meant.size - 1] != '\n')
        buffer_u8(&meant, '\n');
    decode_body(body, &came);
    CHECK(slice_equal(buffer_slice(&came), buffer_slice(&meant)));
}

static void check_message(MailMessage message)
{
    BUFFER_SCOPE Buffer wire = {0};
    Reason reason = {.rule = ""};
    if (message_check(&message, &reason) != STATUS_OK) {
        CHECK(reason.field[0] != '\0' && reason.rule[0] != '\0');
        return;
    }
    MessageHead head = {
        .from = {message.subject.size <= MESSAGE_NAME_BYTES ? message.subject : SLICE_EMPTY,
                 message.to},
        .id = SLICE("00ff"),
        .made_us = 0};
    message_write(&wire, &message, &head);
    Slice body = check_head(buffer_slice(&wire), message.unsubscribe.size > 0);
    if (message.html.size == 0)
        check_body(body, message.text);
}

static void check_mailbox(Slice input)
{
    Mailbox mailbox;
    if (mailbox_parse(input, "from", &mailbox, NULL) == STATUS_OK)
        CHECK(message_check_address(mailbox.address, "from", NULL) == STATUS_OK);
}

static void check_letter(Slice name, Slice link)
{
    ARENA_SCOPE Arena *arena = arena_new();
    MailMessage message;
    LetterFacts facts = {
        .site = name, .home = SLICE("http://a"), .name = name, .link = link, .valid_s = 60};
    if (!slice_is_utf8(name) ||
        letter_write(LETTER_CONFIRM, &facts, arena, &message, NULL) != STATUS_OK)
        return;
    message.to = SLICE("a@b");
    message.once = SLICE("1");
    CHECK(message_check(&message, NULL) == STATUS_OK);
    check_message(message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Slice input = slice_of(data, size), rest = input,
          parts[4] = {{"", 0}, {"", 0}, {"", 0}, {"", 0}};
    for (int i = 0; i < 4; i++)
        (void)slice_split(&rest, '\0', &parts[i]);
    check_message((MailMessage){.to = parts[0],
                                .subject = parts[1],
                                .text = parts[2],
                                .html = parts[3],
                                .kind = SLICE("test"),
                                .once = SLICE("1")});
    check_message((MailMessage){.to = SLICE("a@b"),
                                .subject = parts[0],
                                .text = parts[1],
                                .kind = SLICE("test"),
                                .unsubscribe = parts[2],
                                .once = SLICE("1")});
    check_letter(parts[0], parts[1]);
    check_mailbox(input);
    return 0;
}
