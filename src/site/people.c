/* people.c -- see people.h. */
#include "site/people.h"

#include "mail/mail.h"
#include "web/http_rules.h"

/* How long the link of a letter lives, from the table of links. */
static int64_t valid_s(LetterKind kind)
{
    static const int64_t LIVES[] = {
#define X(name, column, life_s, epoch) [LINK_##name] = (life_s),
        LINK_KIND_LIST(X)
#undef X
    };
    if (kind == LETTER_CONFIRM)
        return LIVES[LINK_CONFIRM];
    if (kind == LETTER_RESET)
        return LIVES[LINK_RESET];
    return kind == LETTER_NEW_EMAIL ? LIVES[LINK_EMAIL] : 0;
}

Status people_letter(WebRequest *request, LetterKind kind, const LinkMail *mail, const char *path)
{
    Site *site = site_of(request);
    Arena *arena = web_arena(request);
    Slice home = web_public_url(request);
    MailMessage letter;
    LetterFacts facts = {.site = slice_from(site->options.config->site_name),
                         .home = home,
                         .name = mail->name,
                         .valid_s = valid_s(kind)};
    facts.link = mail->secret.size > 0 ? arena_print(arena, "%.*s%s?token=%.*s", SLICE_ARG(home),
                                                     path, SLICE_ARG(mail->secret))
                                       : arena_print(arena, "%.*s%s", SLICE_ARG(home), path);
    TRY(letter_write(kind, &facts, arena, &letter, web_reason(request)));
    letter.to = mail->email;
    letter.once = mail->secret.size > 0 ? mail->secret : web_request_id(request);
    return mail_send(site->app->mail, &letter, web_reason(request));
}

SessionOrigin people_origin(WebRequest *request)
{
    char *text = arena_bytes(web_arena(request), ADDRESS_TEXT);
    address_format(web_client(request), text);
    return (SessionOrigin){.address = slice_from(text),
                           .agent = web_head(request, HEAD_USER_AGENT)};
}

Status people_throttle(WebRequest *request, ThrottleRule rule)
{
    Address address = address_group(web_client(request));
    if (address_is_loopback(web_client(request)))
        return STATUS_OK;
    return throttle_take(site_of(request)->throttle, rule,
                         slice_of(address.bytes, sizeof address.bytes), web_reason(request));
}

Status people_throttle_letters(WebRequest *request, Slice email)
{
    return throttle_take(site_of(request)->throttle, THROTTLE_MAIL_TO,
                         people_name_key(email, web_arena(request)), web_reason(request));
}

Slice people_name_key(Slice name_or_email, Arena *arena)
{
    Slice result = name_or_email;
    bool is_email = slice_find(name_or_email, '@') < name_or_email.size;
    (void)!(is_email
                ? account_fold_email(name_or_email, arena, &result, NULL)
                : account_fold_name(name_or_email, arena, &result, NULL)); /* neither: as it is */
    return result;
}

void people_floor(WebRequest *request, int64_t begun_us)
{
    Clock clock = site_of(request)->app->world.clock;
    int64_t left_us = begun_us + PEOPLE_FLOOR_MS * US_PER_MS - clock_steady_us(clock);
    if (left_us > 0)
        clock_sleep_us(clock, left_us);
}

Slice people_next(Slice next)
{
    return http_is_own_path(next) ? next : SLICE("/");
}

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
