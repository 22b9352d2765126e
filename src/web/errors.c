/* errors.c -- see errors.h. The table is the whole vocabulary of failure. */
#include "web/errors.h"

#include "web/layout.h"
#include "web/server_private.h"

#define NOTHING "Nothing was changed. "

static const ErrorWords WORDS[] = {
    {0, STATUS_NOT_FOUND, 404, "not_found", "There is nothing here",
     "No page has this address. " NOTHING,
     "Check the address for a typing mistake, or start from the front page."},
    {0, STATUS_INVALID, 400, "invalid", "We could not read this request",
     "Something in it does not fit. " NOTHING, "Correct it and send it again."},
    {0, STATUS_LOGIN, 401, "login", "Log in first",
     "This page is for people who are logged in. " NOTHING,
     "Log in and come back to this address."},
    {0, STATUS_DENIED, 403, "denied", "You may not do this",
     "Your account does not have the right to do this. " NOTHING,
     "Ask the people who run this site if you think it should."},
    {0, STATUS_TOO_LARGE, 413, "too_large", "This is too large",
     "What you sent is larger than we take. " NOTHING, "Make it shorter and send it again."},
    {0, STATUS_REFUSED, 422, "refused", "A rule of the site says no",
     "We understood the request, but a rule does not allow it. " NOTHING,
     "Change it to keep the rule, and send it again."},
    {0, STATUS_THROTTLED, 429, "throttled", "Too often",
     "You did this more often than allowed. " NOTHING, "Wait a minute, then try again."},
    {0, STATUS_CONFLICT, 409, "conflict", "Someone else was first",
     "What you wanted to change has changed meanwhile. " NOTHING,
     "Load the page again and look at what stands there now."},
    {0, STATUS_UNAVAILABLE, 503, "unavailable", "Not now",
     "A part that we need did not answer. " NOTHING, "Try again in a moment."},
    {0, STATUS_UNKNOWN, 503, "unknown", "We do not know whether this was done",
     "The answer from our storage was lost on the way. It may be done, it may be done in a moment, "
     "or it may not be done at all. ",
     "Send the same request again: it is safe, nothing is done twice."},
    {0, STATUS_CORRUPT, 500, "corrupt", "Something is broken on our side",
     "What we have stored is not what it should be, so we stopped. " NOTHING,
     "Tell the people who run this site, with the number below."},
    {ERROR_METHOD, STATUS_INVALID, 405, "method_not_allowed", "This address works differently",
     "It does not take this kind of request. " NOTHING, "Start from the front page."},
    {ERROR_FIELD, STATUS_INVALID, 422, "invalid", "A field does not fit",
     "A part of the request does not keep its bounds. " NOTHING, "Correct it and send it again."},
    {ERROR_PRECONDITION, STATUS_CONFLICT, 412, "precondition", "Someone else was first",
     "What you wanted to change is not any more what the request says. " NOTHING,
     "Read it again, and send the change with its new version."},
    {ERROR_HOST, STATUS_INVALID, 421, "misdirected", "This is not the site you asked for",
     "The request names another site than this one. " NOTHING,
     "This site is for this machine alone: open it by the address that was printed when it "
     "started."},
    {ERROR_TARGET_LONG, STATUS_TOO_LARGE, 414, "address_too_long", "The address is too long",
     "It is longer than we take. " NOTHING, "Shorten it, or start from the front page."},
    {ERROR_HEAD_LARGE, STATUS_TOO_LARGE, 431, "head_too_large", "Your browser sent too much",
     "The headers of the request are larger than we take. " NOTHING,
     "Delete this site's cookies and try again."},
    {ERROR_METHOD_UNKNOWN, STATUS_INVALID, 501, "method_unknown", "We do not know this method",
     "It is none that this server knows. " NOTHING, "Use one of the usual ones, such as GET."},
    {ERROR_STOPPING, STATUS_UNAVAILABLE, 503, "stopping", "Just stopping",
     "The server is about to stop, perhaps to start again. " NOTHING, "Try again in a moment."},
    {ERROR_MAINTENANCE, STATUS_UNAVAILABLE, 503, "maintenance", "Closed for maintenance",
     "The people who run this site are working on it. " NOTHING, "Come back a little later."},
};

const ErrorWords *error_words(int code, Status status)
{
    size_t i = 0, count = sizeof WORDS / sizeof WORDS[0];
    while (i < count && (WORDS[i].code != code || (code == 0 && WORDS[i].status != status)))
        i++;
    CHECK(i < count);
    return &WORDS[i];
}

static void write_json(WebRequest *request, const ErrorWords *words, const Reason *reason)
{
    JsonWriter writer = web_write_json(request);
    json_object_begin(&writer);
    json_key(&writer, "error");
    json_object_begin(&writer);
    json_member_text(&writer, "status", words->name);
    if (reason->field[0] != '\0')
        json_member_text(&writer, "field", reason->field);
    if (reason->rule[0] != '\0')
        json_member_text(&writer, "rule", reason->rule);
    json_member_string(&writer, "request", web_request_id(request));
    json_object_end(&writer);
    json_object_end(&writer);
}

bool error_rule_ends(Slice rule)
{
    return rule.size > 0 && memchr(".!?", rule.data[rule.size - 1], 3) != NULL;
}

/* The rule is the most useful line, so it comes first; it was written for a person. */
static void write_rule(Buffer *out, const Reason *reason)
{
    if (reason->rule[0] == '\0')
        return;
    HTML(out, "<p class=\"rule\">");
    if (reason->field[0] != '\0') {
        HTML(out, "<strong>");
        html_text(out, slice_from(reason->field));
        HTML(out, "</strong> ");
    }
    html_text(out, slice_from(reason->rule));
    if (!error_rule_ends(slice_from(reason->rule)))
        HTML(out, ".");
    HTML(out, "</p>\n");
}

static void write_page(WebRequest *request, const ErrorWords *words, const Reason *reason)
{
    Buffer *out = web_html(request);
    layout_begin(out, slice_from(words->title));
    HTML(out, "<h1>");
    html_text(out, slice_from(words->title));
    HTML(out, "</h1>\n");
    write_rule(out, reason);
    HTML(out, "<p>");
    html_text(out, slice_from(words->happened));
    html_text(out, slice_from(words->to_do));
    HTML(out, "</p>\n<p><a class=\"action\" href=\"/\">Go to the front page</a></p>\n"
              "<p class=\"quiet\">Answer ");
    buffer_decimal(out, words->http);
    HTML(out, ", request <code>");
    html_text(out, web_request_id(request));
    HTML(out, "</code></p>\n");
    layout_end(out);
}

void error_answer(WebRequest *request, const ErrorWords *words)
{
    answer_clear(request);
    web_code(request, words->http);
    if (words->http == 429 || words->http == 503)
        web_header(request, "Retry-After", words->code == ERROR_MAINTENANCE ? "120" : "5");
    web_header(request, "Cache-Control", "no-store");
    if (web_wants_json(request))
        write_json(request, words, &request->reason);
    else if (request->server->options.error_page != NULL)
        request->server->options.error_page(request, words);
    else
        write_page(request, words, &request->reason);
}
