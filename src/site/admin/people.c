/* people.c -- /admin/people: finding somebody; their page, with roles, rights and sessions. What they vote for is not here. */
#include "site/admin/admin.h"
#include "site/pages.h"

enum { P_QUERY, P_ROLE, P_STATE, P_POSITION };

static Status show_people(WebRequest *request)
{
    PeopleView view;
    PeopleQuery want = {.q = slice_trim(web_text(request, P_QUERY)),
                        .has_role = web_has(request, P_ROLE),
                        .has_state = web_has(request, P_STATE),
                        .position = web_text(request, P_POSITION)};
    Frame frame = {.title = SLICE("People"), .here = "/admin"};
    if (want.has_role)
        want.role = (AccountRole)web_word(request, P_ROLE);
    if (want.has_state)
        want.state = (AccountState)web_word(request, P_STATE);
    TRY(people_view(site_of(request)->ops, &want, web_arena(request), &view));
    Buffer *out = page_begin(request, &frame);
    admin_people_page(out, &view);
    page_end(request, out);
    return STATUS_OK;
}

/* clang-format off */
static const WebRoute ROUTES[] = {
    {WEB_GET, "/admin/people", show_people, .shows = "people_list", ADMIN_ROW(PEOPLE_ROLES), .threads = WEB_SAVE,
     .help = "People, by name, address, role or state.",
     .params = {[P_QUERY] = {"q", WEB_QUERY, WEB_LINE, .fallback = "", .most = 300, .help = "A part of a name, or a whole e-mail address."},
                [P_ROLE] = {"role", WEB_QUERY, WEB_WORD, .optional = true, .words = ACCOUNT_ROLE_WORDS, .help = "Only with this role."},
                [P_STATE] = {"state", WEB_QUERY, WEB_WORD, .optional = true, .words = ACCOUNT_STATE_WORDS, .help = "Only in this state."},
                [P_POSITION] = {"position", WEB_QUERY, WEB_OPAQUE, .fallback = "", .most = PEOPLE_POSITION_MAX, .help = "Where to go on."}}},
};
/* clang-format on */
ROUTE_TABLE(ADMIN_PEOPLE, ROUTES);

/* ---- One of them -------------------------------------------------------------------------------------------------------------- */

enum { P_PERSON };

static Slice joined(const char *const *words, size_t count, Arena *arena)
{
    BUFFER_SCOPE Buffer out = {0};
    for (size_t i = 0; i < count; i++)
        buffer_print(&out, "%s\n", words[i]);
    return arena_copy(arena, buffer_slice(&out));
}

/* The form begins with what stands, also again when somebody else changed that. */
static Status fill_person(WebRequest *request, void *view, Frame *frame)
{
    PersonPage *page = view;
    const PersonView *person = &page->person;
    Arena *arena = web_arena(request);
    TRY(person_view(site_of(request)->ops, web_id(request, P_PERSON), site_actor(request), arena,
                    &page->person));
    *frame = (Frame){.title = person->name, .here = "/admin"};
    page->rights = form_beside(&page->form, &OPERATION_person_rights);
    if (!page->rights.is_sent || page->rights.status == STATUS_CONFLICT) {
        const PersonLine *line = &person->line;
        form_type(&page->rights, "roles", joined(line->roles, line->role_count, arena));
        form_type(&page->rights, "denied", joined(line->denied, line->denied_count, arena));
        form_type(&page->rights, "version",
                  arena_print(arena, "%llu", (unsigned long long)line->account.version));
    }
    return STATUS_OK;
}

static void draw_person(Buffer *out, const void *view)
{
    admin_person_page(out, view);
}

static Slice back(WebRequest *request, const void *sent, const void *answer)
{
    (void)sent, (void)answer;
    return arena_print(web_arena(request), "/admin/people/%llu",
                       (unsigned long long)web_id(request, P_PERSON));
}

FORM(person_rights, PersonPage, .path = "/admin/people/{id}", .fill = fill_person,
     .draw = draw_person, .leads = back, .help = "A person: roles, rights, sessions, signals.");
FORM(person_logout, PersonPage, .fill = fill_person, .draw = draw_person, .leads = back);
