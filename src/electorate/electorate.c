/* electorate.c -- see electorate.h. The cell `state` of row `rule` holds: format | id of the write (16 bytes) | version | mode | when changed | how many
 * domains | each with its size. */
#include "electorate/electorate_private.h"
#include "electorate/roll.h"

static const RecordField DOMAIN_FIELDS[] = {RECORD_ITSELF_TEXT(1, UINT8_MAX)};
static const Record DOMAIN = RECORD("domain", Slice, 0, DOMAIN_FIELDS);
static const RecordField RULE_FIELDS[] = {
    RECORD_WRITE_ID(Electorate, write),
    RECORD_U64(Electorate, version),
    RECORD_ENUM(Electorate, mode, ELECTORATE_MODES),
    RECORD_I64(Electorate, changed_us),
    RECORD_POINTER_LIST(Electorate, domains, domain_count, 2, ELECTORATE_DOMAINS_MAX, &DOMAIN),
};
const Record ELECTORATE_RECORD = RECORD("electorate", Electorate, 1, RULE_FIELDS);
static const RecordPlace RULE = {&ELECTORATE_RECORD, &TABLE_ELECTORATE, {"rule", 4}, {"state", 5}};

const char *const ELECTORATE_MODE_WORDS[] = WORDS(ELECTORATE_MODE_LIST, WORD_2);
static const char *const SENTENCES[] = WORDS(ELECTORATE_MODE_LIST, WORD_3);

const char *electorate_mode_text(ElectorateMode mode)
{
    return word_of(ELECTORATE_MODE_WORDS, mode);
}

const char *electorate_mode_sentence(ElectorateMode mode)
{
    return word_of(SENTENCES, mode);
}

bool electorate_goes_by_address(ElectorateMode mode)
{
    return mode == ELECTORATE_DOMAIN || mode == ELECTORATE_ROLL;
}

/* ---- Domains: pure ------------------------------------------------------------------------------------------- */

static bool is_separator(char at)
{
    return at == ' ' || at == ',' || at == ';' || at == '\n' || at == '\r' || at == '\t';
}

static bool is_domain_byte(char at)
{
    return (at >= 'a' && at <= 'z') || (at >= '0' && at <= '9') || at == '-' || at == '.' ||
           (unsigned char)at >= 0x80;
}

static bool is_domain(Slice domain)
{
    Slice name = slice_starts_with(domain, SLICE("*.")) ? slice_after(domain, 2) : domain, label;
    bool dotted = slice_find(name, '.') < name.size;
    if (name.size == 0 || domain.size > ELECTORATE_DOMAIN_BYTES || !dotted || !slice_is_utf8(name))
        return false;
    for (size_t i = 0; i < name.size; i++)
        if (!is_domain_byte(name.data[i]))
            return false;
    if (name.data[name.size - 1] == '.')
        return false;
    while (slice_split(&name, '.', &label))
        if (label.size == 0 || label.data[0] == '-' || label.data[label.size - 1] == '-')
            return false;
    return true;
}

/* In small letters, without the @ that some write in front. */
static Slice fold_domain(Slice word, Arena *arena)
{
    if (slice_starts_with(word, SLICE("@")))
        word = slice_after(word, 1);
    char *folded = arena_bytes(arena, word.size);
    for (size_t i = 0; i < word.size; i++) {
        char at = word.data[i];
        folded[i] = at >= 'A' && at <= 'Z' ? (char)(at + 'a' - 'A') : at;
    }
    return slice_of(folded, word.size);
}

static bool is_among(const Slice *domains, size_t count, Slice domain)
{
    for (size_t i = 0; i < count; i++)
        if (slice_equal(domains[i], domain))
            return true;
    return false;
}

static bool next_word(Slice *rest, Slice *ret_word)
{
    size_t start = 0, end;
    while (start < rest->size && is_separator(rest->data[start]))
        start++;
    for (end = start; end < rest->size && !is_separator(rest->data[end]);)
        end++;
    *ret_word = slice_of(rest->data + start, end - start);
    *rest = slice_after(*rest, end);
    return ret_word->size > 0;
}

Status electorate_domains(Slice text, Arena *arena, Slice **ret_domains, size_t *ret_count,
                          Reason *reason)
{
    Slice *domains = ARENA_ARRAY(arena, ELECTORATE_DOMAINS_MAX, Slice), word;
    size_t count = 0;
    while (text.size > 0 && next_word(&text, &word)) {
        Slice domain = fold_domain(word, arena);
        if (!is_domain(domain))
            return reason_set(reason, STATUS_INVALID, "domains",
                              "\"%.*s\" is no domain; write example.org, or *.example.org",
                              (int)(word.size < 60 ? word.size : 60), word.data);
        if (is_among(domains, count, domain))
            continue;
        if (count == ELECTORATE_DOMAINS_MAX)
            return reason_set(reason, STATUS_INVALID, "domains", "at most %d domains",
                              ELECTORATE_DOMAINS_MAX);
        domains[count++] = domain;
    }
    *ret_domains = domains;
    *ret_count = count;
    return STATUS_OK;
}

static bool ends_with(Slice text, Slice end)
{
    return text.size >= end.size && slice_equal(slice_after(text, text.size - end.size), end);
}

bool electorate_has_domain(const Electorate *electorate, Slice folded_email)
{
    size_t at = folded_email.size;
    while (at > 0 && folded_email.data[at - 1] != '@')
        at--;
    Slice own = slice_after(folded_email, at);
    for (size_t i = 0; i < electorate->domain_count; i++) {
        Slice domain = electorate->domains[i];
        bool below = slice_starts_with(domain, SLICE("*"));
        if (below ? ends_with(own, slice_after(domain, 1)) : slice_equal(own, domain))
            return true;
    }
    return false;
}

/* ---- The row ------------------------------------------------------------------------------------------------- */

Status electorate_read(Accounts *accounts, Arena *arena, Electorate *ret_electorate)
{
    Records records = accounts_records(accounts);
    ret_electorate->domains = NULL;
    return record_find(&records, &RULE, STORE_SERIAL, arena, ret_electorate,
                       &ret_electorate->value);
}

Status electorate_has_entries(Accounts *accounts, bool *ret_has)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Electorate electorate;
    TRY(electorate_read(accounts, arena, &electorate));
    *ret_has = electorate_goes_by_address(electorate.mode);
    return STATUS_OK;
}

static Status write_state(Accounts *accounts, const Electorate *before,
                          const ElectorateChange *change, Arena *arena)
{
    Records records = accounts_records(accounts);
    Electorate next = {.version = change->seen_version + 1,
                       .mode = change->mode,
                       .changed_us = clock_now_us(accounts->world.clock),
                       .domains = ARENA_ARRAY(arena, change->domain_count, Slice),
                       .domain_count = change->domain_count};
    for (size_t i = 0; i < change->domain_count; i++)
        next.domains[i] = change->domains[i];
    RecordWrite write = {.place = RULE, .record = &next, .before = before->value};
    return record_write(&records, &write, arena, NULL);
}

Status electorate_set(Accounts *accounts, const ElectorateChange *change, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Electorate before;
    CHECK(change->mode < ELECTORATE_MODES && change->domain_count <= ELECTORATE_DOMAINS_MAX);
    if (change->mode == ELECTORATE_DOMAIN && change->domain_count == 0)
        return reason_set(reason, STATUS_INVALID, "domains", "name at least one domain");
    TRY(electorate_read(accounts, arena, &before));
    Status status = before.version == change->seen_version
                        ? write_state(accounts, &before, change, arena)
                        : STATUS_CONFLICT;
    if (status == STATUS_CONFLICT)
        return reason_set(reason, status, "", "somebody else changed it in between");
    return status;
}

/* ---- At the door --------------------------------------------------------------------------------------------- */

static Status admit_invited(Accounts *accounts, Slice folded, Slice secret, Arena *arena,
                            Admission *ret_admission, Reason *reason)
{
    Admission admission = {.by_invitation = true};
    Slice own;
    Status status = invitations_peek(accounts, secret, arena, &admission.invitation, reason);
    if (status == STATUS_NOT_FOUND)
        status = STATUS_REFUSED;
    TRY(status);
    TRY(account_fold_email(admission.invitation.email, arena, &own, reason));
    if (!slice_equal(own, folded))
        return reason_set(reason, STATUS_REFUSED, "email",
                          "this invitation is for another address; use the one it was sent to");
    *ret_admission = admission;
    return STATUS_OK;
}

static Status check_roll(Accounts *accounts, Slice folded, Arena *arena, Reason *reason)
{
    RollEntry entry;
    TRY(roll_find(accounts, folded, SLICE_EMPTY, arena, &entry, reason));
    if (entry.listed)
        return STATUS_OK;
    return reason_set(reason, STATUS_REFUSED, "roll", "this address is not on the roll");
}

static Status check_rule(Accounts *accounts, const Electorate *electorate, Slice folded,
                         Arena *arena, Reason *reason)
{
    switch (electorate->mode) {
    case ELECTORATE_OPEN:
        return STATUS_OK;
    case ELECTORATE_DOMAIN:
        if (electorate_has_domain(electorate, folded))
            return STATUS_OK;
        return reason_set(reason, STATUS_REFUSED, "email",
                          "only addresses of certain domains may join here");
    case ELECTORATE_ROLL:
        return check_roll(accounts, folded, arena, reason);
    case ELECTORATE_INVITATION:
    case ELECTORATE_MODES:
        break;
    }
    return reason_set(reason, STATUS_REFUSED, "invitation",
                      "only who was invited may join; open the link in your invitation");
}

Status electorate_admit(Accounts *accounts, Slice email, Slice secret, Arena *arena,
                        Admission *ret_admission, Reason *reason)
{
    Electorate electorate;
    Slice folded;
    TRY(account_fold_email(email, arena, &folded, reason));
    if (secret.size > 0)
        return admit_invited(accounts, folded, secret, arena, ret_admission, reason);
    TRY(electorate_read(accounts, arena, &electorate));
    TRY(check_rule(accounts, &electorate, folded, arena, reason));
    *ret_admission = (Admission){.by_invitation = false};
    return STATUS_OK;
}

Status electorate_admit_change(Accounts *accounts, Slice email, Reason *reason)
{
    ARENA_SCOPE Arena *arena = arena_new();
    Electorate electorate;
    Slice folded;
    TRY(account_fold_email(email, arena, &folded, reason));
    TRY(electorate_read(accounts, arena, &electorate));
    return electorate_goes_by_address(electorate.mode)
               ? check_rule(accounts, &electorate, folded, arena, reason)
               : STATUS_OK;
}

Status electorate_admitted(Accounts *accounts, const Admission *admission, uint64_t account)
{
    if (!admission->by_invitation)
        return STATUS_OK;
    return invitations_use(accounts, &admission->invitation, account);
}
