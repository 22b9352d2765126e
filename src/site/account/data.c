/* data.c -- /my/data: everything that the site keeps of me, as a file. */
#include "site/pages.h"

static Status send_data(WebRequest *request, const FormPage *page, const void *answer)
{
    web_private(request);
    web_header(request, "Content-Disposition", "attachment; filename=\"my-data.json\"");
    JsonWriter json = web_write_json(request);
    schema_write(&json, page->operation->answers, answer, web_arena(request));
    return STATUS_OK;
}

static void draw_data(Buffer *out, const void *view)
{
    data_page(out, view);
}

FORM(data_show, BareForm, .path = "/my/data", .title = "Download your data", .draw = draw_data,
     .sends = send_data, .help = "The form to download all that is kept of me.");
