/* people.c -- see people.h. */
#include "site/account/people.h"

#include "mail/mail.h"
#include "site/pages.h"

/* ---- E-mails of a demo ---------------------------------------------------------------------------------------------------------- */

/* An address ends at a blank; a dot or a bracket behind it is not part of it. */
static size_t link_size(Slice text)
{
    size_t size = 0;
    while (size < text.size && (unsigned char)text.data[size] > ' ')
        size++;
    while (size > 0 &&
           (text.data[size - 1] == '.' || text.data[size - 1] == ')' || text.data[size - 1] == '>'))
        size--;
    return size;
}

Markup letter_links(Slice text, Arena *arena)
{
    BUFFER_SCOPE Buffer out = {0};
    for (size_t i = 0; i < text.size;) {
        Slice rest = slice_after(text, i);
        if (slice_starts_with(rest, SLICE("http://")) ||
            slice_starts_with(rest, SLICE("https://"))) {
            Slice url = slice_of(rest.data, link_size(rest));
            HTML(&out, "<a href=\"");
            html_url(&out, url);
            HTML(&out, "\">");
            html_text(&out, url);
            HTML(&out, "</a>");
            i += url.size;
        } else if (text.data[i] == '\n') {
            HTML(&out, "<br>\n");
            i++;
        } else {
            html_text(&out, slice_of(text.data + i, 1));
            i++;
        }
    }
    return (Markup){arena_copy(arena, buffer_slice(&out))};
}

static Status show_letters(WebRequest *request)
{
    LettersView view = {.now_us = site_now_us(request), .arena = web_arena(request)};
    Frame frame = {.title = SLICE("E-mails of this demo")};
    Mail *mail = site_of(request)->app->mail;
    if (!site_of(request)->options.is_demo || !mail_has_outbox(mail) ||
        !address_is_loopback(web_client(request)) ||
        web_head(request, HEAD_FORWARDED_FOR).size > 0) /* a proxy asks for somebody else */
        return STATUS_NOT_FOUND;
    TRY(mail_outbox(mail, web_arena(request), &view.letters, &view.count));
    web_private(request);
    Buffer *out = page_begin(request, &frame);
    letters_page(out, &view);
    page_end(request, out);
    return STATUS_OK;
}

static const WebRoute ROUTES[] = {
    {WEB_GET, "/demo/letters", show_letters,
     .help = "On a demo: the e-mails that would have been sent."},
};
ROUTE_TABLE(PEOPLE, ROUTES);
