/* write_message.c -- reads a message as JSON from stdin and writes it as it goes over the wire, or exits 1 with the field that is wrong. With
 * "letter" in it, the letter of that number is written instead. */
#include <stdio.h>

#include "base/json.h"
#include "mail/letters.h"

enum { INPUT_MAX = 4 * 1024 * 1024 };

static Slice member(const Json *json, const char *key)
{
    Slice text = SLICE_EMPTY;
    (void)!json_get_string(json, key, INPUT_MAX, &text, NULL);
    return text;
}

static Status message_from(const Json *json, Arena *arena, MailMessage *ret_message, Reason *reason)
{
    int64_t letter;
    if (json_get_i64(json, "letter", 0, LETTER_KINDS - 1, &letter, NULL) != STATUS_OK) {
        *ret_message = (MailMessage){.to = member(json, "to"),
                                     .subject = member(json, "subject"),
                                     .text = member(json, "text"),
                                     .html = member(json, "html"),
                                     .kind = SLICE("test"),
                                     .once = SLICE("1")};
        return STATUS_OK;
    }
    LetterFacts facts = {.site = member(json, "site"),
                         .home = member(json, "home"),
                         .name = member(json, "name"),
                         .link = member(json, "link"),
                         .valid_s = 86400};
    TRY(letter_write((LetterKind)letter, &facts, arena, ret_message, reason));
    ret_message->to = member(json, "to");
    ret_message->once = SLICE("1");
    return STATUS_OK;
}

static Status write_from(Slice input, Buffer *out, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    JSON_SCOPE Json *json = NULL;
    MailMessage message;
    MessageHead head = {.id = SLICE("0123456789abcdef"), .made_us = INT64_C(1769860800000000)};
    TRY(json_parse(input, (JsonBounds){INPUT_MAX, INPUT_MAX}, &json, reason));
    TRY(mailbox_parse(member(json, "from"), "from", &head.from, reason));
    TRY(message_from(json, arena, &message, reason));
    TRY(message_check(&message, reason));
    message_write(out, &message, &head);
    return STATUS_OK;
}

int main(void)
{
    BUFFER_SCOPE Buffer input = {0};
    BUFFER_SCOPE Buffer out = {0};
    Reason reason = {.rule = ""};
    char *to = buffer_reserve(&input, INPUT_MAX);
    input.size = fread(to, 1, INPUT_MAX, stdin);
    if (write_from(buffer_slice(&input), &out, &reason) != STATUS_OK) {
        fprintf(stderr, "%s: %s\n", reason.field, reason.rule);
        return 1;
    }
    fwrite(out.data, 1, out.size, stdout);
    return 0;
}
