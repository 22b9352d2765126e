/* inputs.c -- from a value that a door has read to a member of the request struct. See operation.h. */
#include "base/time_text.h"
#include "operations/operation.h"

/* What `web` checks before a value gets here. Lines and texts are trimmed first, so their least length is checked after that. */
static const struct {
    WebKind kind;
    int64_t most; /* for kinds whose bounds are not the row's */
    size_t size;  /* of the member */
} KINDS[INPUT_KINDS] = {
    [INPUT_ID] = {WEB_ID, 0, sizeof(uint64_t)},
    [INPUT_POLICY] = {WEB_ID, 0, sizeof(uint64_t)},
    [INPUT_ACCOUNT] = {WEB_ID, 0, sizeof(uint64_t)},
    [INPUT_CATEGORY] = {WEB_ID, 0, sizeof(uint64_t)},
    [INPUT_PARTY] = {WEB_ID, 0, sizeof(uint64_t)},
    [INPUT_NUMBER] = {WEB_NUMBER, 0, sizeof(int64_t)},
    [INPUT_SMALL] = {WEB_NUMBER, 0, sizeof(uint32_t)},
    [INPUT_LINE] = {WEB_LINE, 0, sizeof(Slice)},
    [INPUT_TEXT] = {WEB_TEXT, 0, sizeof(Slice)},
    [INPUT_SECRET] = {WEB_LINE, 0, sizeof(Slice)},
    [INPUT_OPAQUE] = {WEB_OPAQUE, 0, sizeof(Slice)},
    [INPUT_WORD] = {WEB_WORD, 0, sizeof(unsigned)},
    [INPUT_SWITCH] = {WEB_SWITCH, 0, sizeof(bool)},
    [INPUT_TIME] = {WEB_LINE, 40, sizeof(int64_t)},
    [INPUT_VERSION] = {WEB_OPAQUE, ID_TEXT, sizeof(Id)},
    [INPUT_ONCE] = {WEB_OPAQUE, 64, sizeof(Id)},
    [INPUT_NUMBERS] = {WEB_NUMBERS, 0, sizeof(InputNumbers)},
    [INPUT_TEXTS] = {WEB_TEXTS, 0, sizeof(InputTexts)},
    [INPUT_FILE] = {WEB_TEXT, 0, sizeof(Slice)},
    [INPUT_BYTES] = {WEB_TEXT, 0, sizeof(Slice)},
    [INPUT_STREAM] = {WEB_TEXT, 0, sizeof(InputStream)},
};

static bool is_thing(InputKind kind)
{
    return kind == INPUT_ID || kind == INPUT_POLICY || kind == INPUT_ACCOUNT ||
           kind == INPUT_CATEGORY || kind == INPUT_PARTY;
}

/* By kind, not by size: an Id is as large as a Slice. */
static bool is_slice(InputKind kind)
{
    return kind == INPUT_LINE || kind == INPUT_TEXT || kind == INPUT_SECRET ||
           kind == INPUT_OPAQUE || kind == INPUT_FILE || kind == INPUT_BYTES;
}

static bool can_be_left_out(const Input *input)
{
    return input->optional || input->fallback != NULL || input->kind == INPUT_ONCE;
}

WebParam input_param(const Input *input, WebFrom from)
{
    WebParam param = {.name = input->name,
                      .from = from,
                      .kind = KINDS[input->kind].kind,
                      .optional = can_be_left_out(input) && input->fallback == NULL,
                      .least = input->least,
                      .most = input->most,
                      .most_count = input->most_count,
                      .words = input->words,
                      .fallback = input->fallback,
                      .or_number = input->or_number,
                      .computes = input->computes,
                      .help = input->help};
    if (KINDS[input->kind].most > 0) {
        param.least = input->kind == INPUT_TIME && can_be_left_out(input) ? 0 : 1;
        param.most = KINDS[input->kind].most;
    }
    if (from == WEB_PATH && input->kind == INPUT_POLICY)
        param.kind = WEB_SLUG;
    if (input->or_none) {
        param.kind = WEB_NUMBER;
        param.most = INT64_MAX;
    }
    return param;
}

/* ---- Binding ----------------------------------------------------------------------------------------------------------------- */

static Status bind_time(const Input *input, Slice text, int64_t *ret_us, Reason *reason)
{
    if (time_from_text(text, ret_us) == STATUS_OK)
        return STATUS_OK;
    return reason_set(reason, STATUS_INVALID, input->name,
                      "must be a time, as in 2026-01-31T12:00:00Z");
}

static Status bind_id(const Input *input, Slice text, Id *ret_id, Reason *reason)
{
    bool may_be_zero = input->kind == INPUT_VERSION;
    if (id_from_text(text, ret_id) == STATUS_OK && (may_be_zero || !id_is_zero(*ret_id)))
        return STATUS_OK;
    return reason_set(reason, STATUS_INVALID, input->name, "must be 32 hexadecimal digits");
}

static Status bind_text(const Input *input, Slice text, Slice *ret_text, Reason *reason)
{
    *ret_text = slice_trim(text);
    if (ret_text->size == 0 && input->least > 0)
        return reason_set(reason, STATUS_INVALID, input->name, "must not be empty");
    int64_t characters = 0;
    for (Slice rest = *ret_text; rest.size > 0 && characters < input->least; characters++)
        rest = slice_after(rest, slice_utf8_length(rest)); /* `web` has seen that it is UTF-8 */
    if (characters < input->least)
        return reason_set(reason, STATUS_INVALID, input->name, "must have at least %lld characters",
                          (long long)input->least);
    return STATUS_OK;
}

/* An input that was left out: zero, or empty, or a token that nobody has used. */
static void bind_nothing(Operations *ops, const Input *input, char *member)
{
    if (is_slice(input->kind))
        *(Slice *)(void *)member = SLICE_EMPTY;
    else
        memset(member, 0, input->size);
    if (input->kind == INPUT_ONCE)
        *(Id *)(void *)member = id_new(ops->app->world.clock, ops->app->world.random);
}

Status input_bind(Operations *ops, const Input *input, const WebValue *value, Arena *arena,
                  void *request, Reason *reason)
{
    char *member = (char *)request + input->offset;
    (void)arena;
    if (!value->present) {
        bind_nothing(ops, input, member);
        return STATUS_OK;
    }
    if (input->given != 0)
        *((bool *)request + input->given) = true;
    switch (input->kind) {
    case INPUT_ID:
    case INPUT_POLICY:
    case INPUT_ACCOUNT:
    case INPUT_CATEGORY:
    case INPUT_PARTY:
        *(uint64_t *)(void *)member = (uint64_t)value->number;
        return STATUS_OK;
    case INPUT_NUMBER:
        *(int64_t *)(void *)member = value->number;
        return STATUS_OK;
    case INPUT_SMALL:
        *(uint32_t *)(void *)member = (uint32_t)value->number;
        return STATUS_OK;
    case INPUT_WORD:
        *(unsigned *)(void *)member = (unsigned)value->number;
        return STATUS_OK;
    case INPUT_SWITCH:
        *(bool *)(void *)member = value->number != 0;
        return STATUS_OK;
    case INPUT_LINE:
    case INPUT_TEXT:
        return bind_text(input, value->text, (Slice *)(void *)member, reason);
    case INPUT_SECRET:
    case INPUT_OPAQUE:
    case INPUT_FILE:
    case INPUT_BYTES:
        *(Slice *)(void *)member = value->text;
        return STATUS_OK;
    case INPUT_STREAM:
        *(InputStream *)(void *)member = (InputStream){.text = value->text};
        return STATUS_OK;
    case INPUT_TIME:
        if (value->text.size == 0) {
            bind_nothing(ops, input, member);
            return STATUS_OK;
        }
        return bind_time(input, value->text, (int64_t *)(void *)member, reason);
    case INPUT_VERSION:
    case INPUT_ONCE:
        return bind_id(input, value->text, (Id *)(void *)member, reason);
    case INPUT_NUMBERS:
        *(InputNumbers *)(void *)member = (InputNumbers){value->numbers, value->count};
        return STATUS_OK;
    case INPUT_TEXTS:
        *(InputTexts *)(void *)member = (InputTexts){value->texts, value->count};
        return STATUS_OK;
    case INPUT_KINDS:
        break;
    }
    CHECK(false && "every kind is bound");
    return STATUS_INVALID;
}

/* ---- What people type ------------------------------------------------------------------------------------------------------ */

/* By its number, or the beginning of its name where only one policy has it. */
static Status find_policy(Operations *ops, const Input *input, Slice typed, Arena *arena,
                          uint64_t *ret_id, Reason *reason)
{
    PolicyPage found;
    PolicyQuery query = {
        .order = POLICIES_BY_NAME, .prefix = typed, .position = SLICE_EMPTY, .limit = 2};
    if (typed.size > 4 * (size_t)POLICY_NAME_MAX)
        return reason_set(reason, STATUS_INVALID, input->name, "no policy has such a long name");
    TRY(policies_browse(ops->app->policies, &query, arena, &found));
    if (found.count == 0)
        return reason_set(reason, STATUS_INVALID, input->name,
                          "no policy has a name that begins like this");
    if (found.count > 1 && !slice_equal_ignoring_case(found.policies[0].text.name, typed))
        return reason_set(reason, STATUS_INVALID, input->name,
                          "several policies have a name that begins like this; write more of it, "
                          "or its number");
    *ret_id = found.policies[0].id;
    return STATUS_OK;
}

static Status find_account(Operations *ops, const Input *input, Slice typed, Arena *arena,
                           uint64_t *ret_id, Reason *reason)
{
    Account account;
    Status status = accounts_find(ops->app->accounts, typed, arena, &account);
    if (status == STATUS_NOT_FOUND)
        return reason_set(reason, status, input->name, "there is no account \"%.*s\"",
                          SLICE_ARG(typed));
    TRY(status);
    *ret_id = account.id;
    return STATUS_OK;
}

static Status find_group(Operations *ops, const Input *input, Slice typed, Arena *arena,
                         uint64_t *ret_id, Reason *reason)
{
    PolicyGroup *groups;
    size_t count;
    GroupKind kind = input->kind == INPUT_CATEGORY ? GROUP_CATEGORY : GROUP_PARTY;
    TRY(policies_groups(ops->app->policies, kind, arena, &groups, &count));
    for (size_t i = 0; i < count; i++)
        if (slice_equal_ignoring_case(groups[i].name, typed)) {
            *ret_id = groups[i].id;
            return STATUS_OK;
        }
    return reason_set(reason, STATUS_INVALID, input->name, "there is no %s \"%.*s\"",
                      kind == GROUP_CATEGORY ? "category" : "party", SLICE_ARG(typed));
}

/* A number names the thing itself, but for people, whose names may be numbers. */
static Status find_thing(Operations *ops, const Input *input, Slice typed, Arena *arena,
                         void *request, Reason *reason)
{
    uint64_t *member = (uint64_t *)(void *)((char *)request + input->offset);
    bool is_number = slice_to_u64(typed, member) == STATUS_OK && (*member > 0 || input->or_none);
    if (input->kind == INPUT_ACCOUNT)
        return find_account(ops, input, typed, arena, member, reason);
    if (is_number && *member <= INT64_MAX)
        return STATUS_OK;
    if (input->kind == INPUT_POLICY)
        return find_policy(ops, input, typed, arena, member, reason);
    if (input->kind == INPUT_CATEGORY || input->kind == INPUT_PARTY)
        return find_group(ops, input, typed, arena, member, reason);
    return reason_set(reason, STATUS_INVALID, input->name, "\"%.*s\" is not a number from 1 on",
                      SLICE_ARG(typed));
}

Status input_bind_texts(Operations *ops, const Input *input, const Slice *texts, size_t count,
                        Arena *arena, void *request, Reason *reason)
{
    WebValue value = {.present = false};
    WebParam param = input_param(input, WEB_FORM);
    Slice first = count > 0 ? slice_trim(texts[0]) : SLICE_EMPTY;
    for (size_t i = 0; i < count; i++) /* `web` refuses it, a shell does not */
        if (!slice_is_utf8(texts[i]))
            return reason_set(reason, STATUS_INVALID, input->name, "must be UTF-8");
    if (is_thing(input->kind) && first.size > 0) {
        if (input->given != 0)
            *((bool *)request + input->given) = true;
        return find_thing(ops, input, first, arena, request, reason);
    }
    if (first.size == 0 && input->missing != NULL && !can_be_left_out(input))
        return reason_set(reason, STATUS_INVALID, input->name, "%s", input->missing);
    bool is_trimmed = input->kind == INPUT_LINE || input->kind == INPUT_TEXT;
    TRY(param_from_texts(&param, is_trimmed && count == 1 ? &first : texts, count, arena, &value,
                         reason));
    if (input->given != 0 && input->kind == INPUT_TEXTS &&
        count > 0) /* an empty text is an empty list */
        *((bool *)request + input->given) = true;
    return input_bind(ops, input, &value, arena, request, reason);
}

Status input_bind_left_out(Operations *ops, const Input *input, Arena *arena, void *request,
                           Reason *reason)
{
    if (input->fallback != NULL)
        return input_bind_texts(ops, input, NULL, 0, arena, request, reason);
    return input_bind(ops, input, &(WebValue){.present = false}, arena, request, reason);
}

/* ---- The table itself ------------------------------------------------------------------------------------------------------ */

size_t operation_input_count(const Operation *operation)
{
    size_t count = 0;
    while (count < OPERATION_INPUTS_MAX && operation->inputs[count].name != NULL)
        count++;
    return count;
}

const Input *operation_input(const Operation *operation, const char *name)
{
    for (size_t i = 0; i < operation_input_count(operation); i++)
        if (strcmp(operation->inputs[i].name, name) == 0)
            return &operation->inputs[i];
    return NULL;
}

static Status check_input(const Operation *operation, const Input *input, Reason *reason)
{
    if (input->size != KINDS[input->kind].size)
        return reason_set(reason, STATUS_INVALID, operation->name,
                          "input %s is bound to a member of another size", input->name);
    if (input->help == NULL)
        return reason_set(reason, STATUS_INVALID, operation->name, "input %s has no help",
                          input->name);
    return STATUS_OK;
}

/* What is somebody's own is for no role, and a row that shows it says so. */
static Status check_shows(const Operation *row, Reason *reason)
{
    for (int part = 0; part < PERSONAL_PARTS; part++)
        if ((row->shows >> part & 1) != 0 && PERSONAL_ROWS[part].is_own && !operation_is_own(row))
            return reason_set(reason, STATUS_INVALID, row->name,
                              "shows others what is somebody's own");
    if (row->asks && operation_is_own(row) && row->command.words != NULL && row->shows == 0)
        return reason_set(reason, STATUS_INVALID, row->name,
                          "answers somebody about themselves, and does not say what it shows");
    return STATUS_OK;
}

static Status check_row(const Operation *row, Reason *reason)
{
    for (size_t i = 0; i < operation_input_count(row); i++)
        TRY(check_input(row, &row->inputs[i], reason));
    if (row->help == NULL || (row->answers == NULL && row->answer_size != sizeof(Done)))
        return reason_set(reason, STATUS_INVALID, row->name, "has no help, or no schema");
    if ((row->api.path == NULL) != (row->no_api != NULL) ||
        (row->page.path == NULL) != (row->no_page != NULL) ||
        (row->command.words == NULL) != (row->no_command != NULL))
        return reason_set(reason, STATUS_INVALID, row->name,
                          "each door is there, or says why it is not");
    if ((row->run == NULL) == (row->run_many == NULL) ||
        (row->run_many != NULL && row->least_ms > 0) ||
        (row->begin != NULL && (row->run_many != NULL || row->outcome != NULL)))
        return reason_set(reason, STATUS_INVALID, row->name,
                          "has one function, and one for many makes nobody wait; what comes later "
                          "tells no outcome of its own");
    if (!row->asks && row->audits == 0 && row->no_audits == NULL)
        return reason_set(reason, STATUS_INVALID, row->name,
                          "changes something, and says neither what it audits nor why nothing");
    return check_shows(row, reason);
}

Status operations_check(Reason *reason)
{
    for (size_t i = 0; OPERATIONS[i] != NULL; i++)
        TRY(check_row(OPERATIONS[i], reason));
    return STATUS_OK;
}
