/* message.c -- see message.h. */
#include "mail/message.h"

#include "mail/mime.h"

/* ---- What may be in it ------------------------------------------------------------------------------------- */

static bool has_control(Slice text)
{
    for (size_t i = 0; i < text.size; i++)
        if ((unsigned char)text.data[i] < ' ' || text.data[i] == 0x7F)
            return true;
    return false;
}

/* One line of UTF-8. */
static bool is_line(Slice text, size_t least, size_t most)
{
    return text.size >= least && text.size <= most && slice_is_utf8(text) && !has_control(text);
}

/* Parts between dots, none of them empty, without what means something in a header or to SMTP. */
static bool is_dotted(Slice text, const char *refused)
{
    Slice part;
    if (text.size == 0 || text.data[text.size - 1] == '.')
        return false;
    for (size_t i = 0; i < text.size; i++)
        if (strchr(refused, text.data[i]) != NULL)
            return false;
    while (slice_split(&text, '.', &part))
        if (part.size == 0)
            return false;
    return true;
}

/* Where the byte stands last, or the size. */
static size_t find_last(Slice text, char byte)
{
    size_t at = text.size;
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] == byte)
            at = i;
    return at;
}

Status message_check_address(Slice address, const char *field, Reason *reason)
{
    static const char REFUSED[] = " ()<>[]:;@\\,\"";
    size_t at = find_last(address, '@');
    if (address.size > MESSAGE_ADDRESS_BYTES)
        return reason_set(reason, STATUS_INVALID, field, "an address has at most %d bytes",
                          MESSAGE_ADDRESS_BYTES);
    if (!is_line(address, 3, MESSAGE_ADDRESS_BYTES) || at == address.size ||
        at > MESSAGE_LOCAL_BYTES || !is_dotted(slice_of(address.data, at), REFUSED) ||
        !is_dotted(slice_after(address, at + 1), REFUSED))
        return reason_set(reason, STATUS_INVALID, field, "an address looks like name@example.org");
    return STATUS_OK;
}

Slice message_domain(Slice address)
{
    return slice_after(address, find_last(address, '@') + 1);
}

static Status check_part(Slice part, const char *field, size_t least, Reason *reason)
{
    if (part.size > MESSAGE_PART_BYTES)
        return reason_set(reason, STATUS_TOO_LARGE, field, "at most %d bytes", MESSAGE_PART_BYTES);
    if (part.size < least || !slice_is_utf8(part))
        return reason_set(reason, STATUS_INVALID, field, "must be UTF-8 text without NUL");
    return STATUS_OK;
}

static bool is_kind(Slice kind)
{
    for (size_t i = 0; i < kind.size; i++)
        if (kind.data[i] != '-' && (kind.data[i] < 'a' || kind.data[i] > 'z'))
            return false;
    return kind.size > 0 && kind.size <= MESSAGE_KIND_BYTES;
}

/* None, or one that can stand between < and >. */
static bool is_link(Slice link)
{
    if (link.size == 0)
        return true;
    for (size_t i = 0; i < link.size; i++)
        if (link.data[i] <= ' ' || link.data[i] > '~' || strchr("<>\"\\,", link.data[i]) != NULL)
            return false;
    return link.size <= MESSAGE_LINK_BYTES && (slice_starts_with(link, SLICE("https://")) ||
                                               slice_starts_with(link, SLICE("http://")));
}

Status message_check(const MailMessage *message, Reason *reason)
{
    TRY(message_check_address(message->to, "to", reason));
    if (!is_line(message->subject, 1, MESSAGE_SUBJECT_BYTES))
        return reason_set(reason, STATUS_INVALID, "subject",
                          "must be one line of UTF-8 text, at most %d bytes",
                          MESSAGE_SUBJECT_BYTES);
    TRY(check_part(message->text, "text", 1, reason));
    TRY(check_part(message->html, "html", 0, reason));
    if (!is_kind(message->kind))
        return reason_set(reason, STATUS_INVALID, "kind", "must be a word of a to z and -");
    if (!is_link(message->unsubscribe))
        return reason_set(reason, STATUS_INVALID, "unsubscribe",
                          "must be an http:// or https:// address of visible ASCII");
    if (message->once.size == 0 || message->once.size > MESSAGE_ONCE_BYTES)
        return reason_set(reason, STATUS_INVALID, "once", "must have 1 to %d bytes",
                          MESSAGE_ONCE_BYTES);
    return STATUS_OK;
}

Status mailbox_parse(Slice text, const char *field, Mailbox *ret_mailbox, Reason *reason)
{
    Slice rest = has_control(text) ? SLICE_EMPTY : slice_trim(text);
    Mailbox mailbox = {.name = SLICE_EMPTY, .address = rest};
    size_t open = find_last(rest, '<');
    if (open < rest.size && rest.data[rest.size - 1] == '>') {
        mailbox.name = slice_trim(slice_of(rest.data, open));
        mailbox.address = slice_of(rest.data + open + 1, rest.size - open - 2);
    }
    if (!is_line(mailbox.name, 0, MESSAGE_NAME_BYTES))
        return reason_set(reason, STATUS_INVALID, field,
                          "the name is one line of UTF-8 text, at most %d bytes",
                          MESSAGE_NAME_BYTES);
    TRY(message_check_address(mailbox.address, field, reason));
    *ret_mailbox = mailbox;
    return STATUS_OK;
}

/* ---- What it looks like ------------------------------------------------------------------------------------ */

static void put_from(Buffer *out, const Mailbox *from)
{
    buffer_text(out, "From: ");
    if (from->name.size > 0) {
        mime_phrase(out, from->name);
        buffer_text(out, "\r\n "); /* the name may have filled its line */
    }
    buffer_print(out, "<%.*s>\r\n", SLICE_ARG(from->address));
}

static void put_part(Buffer *out, const char *type, Slice body)
{
    buffer_print(out,
                 "Content-Type: %s; charset=utf-8\r\n"
                 "Content-Transfer-Encoding: quoted-printable\r\n\r\n",
                 type);
    mime_quoted_printable(out, body);
}

/* "=_" is in no quoted-printable text, so the line between the parts is in none of them. The line end before it is its own. */
static void put_boundary(Buffer *out, Slice id, const char *end)
{
    buffer_print(out, "\r\n--=_%.*s%s\r\n", SLICE_ARG(id), end);
}

void message_write(Buffer *out, const MailMessage *message, const MessageHead *head)
{
    /* Auto-Submitted keeps holiday notices from being sent back. */
    Slice domain = message_domain(head->from.address);
    put_from(out, &head->from);
    buffer_print(out, "To: <%.*s>\r\nSubject: ", SLICE_ARG(message->to));
    mime_words(out, message->subject);
    buffer_text(out, "\r\nDate: ");
    mime_date(out, head->made_us);
    buffer_print(out, "\r\nMessage-ID: <%.*s@%.*s>\r\n", SLICE_ARG(head->id), SLICE_ARG(domain));
    if (message->unsubscribe.size > 0)
        buffer_print(out,
                     "List-Unsubscribe: <%.*s>\r\n"
                     "List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n",
                     SLICE_ARG(message->unsubscribe));
    buffer_text(out, "Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n");
    if (message->html.size == 0) {
        put_part(out, "text/plain", message->text);
        return;
    }
    buffer_print(out, "Content-Type: multipart/alternative;\r\n boundary=\"=_%.*s\"\r\n",
                 SLICE_ARG(head->id));
    put_boundary(out, head->id, "");
    put_part(out, "text/plain", message->text);
    put_boundary(out, head->id, "");
    put_part(out, "text/html", message->html);
    put_boundary(out, head->id, "--");
}
