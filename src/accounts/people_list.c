/* people_list.c -- see people_list.h. */
#include "accounts/people_list.h"

/* ---- Sources ------------------------------------------------------------------------------------------------- */

static Status piece_of_text(void *self, Slice *ret_bytes, Reason *reason)
{
    PeopleText *text = self;
    (void)reason;
    *ret_bytes = text->text;
    text->text = SLICE_EMPTY;
    return STATUS_OK;
}

PeopleSource people_from_text(PeopleText *text)
{
    return (PeopleSource){piece_of_text, text};
}

static Status piece_of_file(void *self, Slice *ret_bytes, Reason *reason)
{
    PeopleFile *file = self;
    Slice bytes;
    arena_reset(file->arena);
    Status status = disk_read_part(file->disk, file->path, (DiskPart){file->offset, PEOPLE_PIECE},
                                   file->arena, &bytes, reason);
    TRY(status == STATUS_NOT_FOUND ? STATUS_INVALID : status); /* NOT_FOUND is the end of a list */
    file->offset += bytes.size;
    *ret_bytes = bytes;
    return STATUS_OK;
}

PeopleSource people_from_file(PeopleFile *file)
{
    return (PeopleSource){piece_of_file, file};
}

/* ---- Lines --------------------------------------------------------------------------------------------------- */

static bool is_email_word(Slice field)
{
    return slice_equal_ignoring_case(field, SLICE("email")) ||
           slice_equal_ignoring_case(field, SLICE("e-mail")) ||
           slice_equal_ignoring_case(field, SLICE("e-mail address")) ||
           slice_equal_ignoring_case(field, SLICE("email address"));
}

/* Whether the first line names columns; then which. */
static bool take_head(PeopleList *list, const CsvLine *line)
{
    size_t email = line->count, name = SIZE_MAX;
    for (size_t i = 0; i < line->count; i++) {
        if (email == line->count && is_email_word(line->fields[i]))
            email = i;
        if (name == SIZE_MAX && slice_equal_ignoring_case(line->fields[i], SLICE("name")))
            name = i;
    }
    if (email == line->count)
        return false;
    list->email_column = email;
    list->name_column = name;
    return true;
}

static Status next_line(PeopleList *list, CsvLine *ret_line, Reason *reason)
{
    while (!csv_next(&list->csv, &list->bytes, list->is_last, ret_line)) {
        if (list->is_last)
            return STATUS_NOT_FOUND;
        TRY(list->source.piece(list->source.self, &list->bytes, reason));
        list->is_last = list->bytes.size == 0;
    }
    return STATUS_OK;
}

static Slice field_of(const CsvLine *line, size_t column)
{
    return column < line->count ? line->fields[column] : SLICE_EMPTY;
}

static void judge(const PeopleList *list, const CsvLine *line, Arena *arena, ListedPerson *person)
{
    Reason reason = {.rule = ""};
    Slice email = field_of(line, list->email_column), name = field_of(line, list->name_column);
    person->fault = line->fault;
    if (line->fault != NULL)
        return;
    if (email.size == 0)
        person->fault = "there is no e-mail address";
    else if (account_fold_email(email, arena, &person->folded, &reason) != STATUS_OK ||
             account_check_line("name", name, ACCOUNT_NAME_BYTES, &reason) != STATUS_OK)
        person->fault = arena_text(arena, slice_from(reason.rule));
    if (person->fault != NULL)
        return;
    person->email = arena_copy(arena, slice_trim(email));
    person->name = arena_copy(arena, name);
}

Status people_list_next(PeopleList *list, Arena *arena, ListedPerson *ret_person, Reason *reason)
{
    CsvLine line;
    TRY(next_line(list, &line, reason));
    if (!list->has_begun) {
        list->has_begun = true;
        list->email_column = 0;
        list->name_column = 1;
        if (line.fault == NULL && take_head(list, &line))
            TRY(next_line(list, &line, reason));
    }
    ListedPerson person = {
        .line = line.number, .email = SLICE_EMPTY, .folded = SLICE_EMPTY, .name = SLICE_EMPTY};
    judge(list, &line, arena, &person);
    *ret_person = person;
    return STATUS_OK;
}

void people_list_end(PeopleList *list)
{
    csv_end(&list->csv);
}

void list_report_fault(ListReport *report, uint64_t line, const char *rule, Arena *arena)
{
    report->faults++;
    if (report->told_count < LIST_FAULTS_MAX)
        report->told[report->told_count++] = (ListFault){line, arena_copy(arena, slice_from(rule))};
}
