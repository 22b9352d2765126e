/* layout.c -- see layout.h. */
#include "web/layout.h"

#include "web/assets.h"

void layout_begin(Buffer *out, Slice title)
{
    HTML(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
              "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
              "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
    html_text(out, title);
    HTML(out, " \u2013 Ostraka</title>\n<link rel=\"stylesheet\" href=\"");
    html_url(out, asset_address("site.css"));
    HTML(out, "\">\n<link rel=\"icon\" type=\"image/svg+xml\" href=\"");
    html_url(out, asset_address("mark.svg"));
    HTML(out, "\">\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the content</a>\n"
              "<header class=\"top\"><a class=\"name\" href=\"/\"><img src=\"");
    html_url(out, asset_address("mark.svg"));
    HTML(out, "\" width=\"28\" height=\"28\" alt=\"\">Ostraka</a></header>\n<main id=\"main\">\n");
}

void layout_end(Buffer *out)
{
    HTML(out, "</main>\n<footer class=\"bottom\"><p>Ostraka " OSTRAKA_VERSION
              "</p></footer>\n</body>\n</html>\n");
}
