/* head.c -- see head.h. */
#include "accounts/head.h"

enum { FORMAT = 2, SHOWN = 1, SECOND = 2, FLAGS_ALL = 3 };

static void put_text(Buffer *buffer, Slice text)
{
    CHECK(text.size <= UINT16_MAX);
    buffer_u16(buffer, (uint16_t)text.size);
    buffer_bytes(buffer, text);
}

static Slice get_text(Reader *reader)
{
    return reader_bytes(reader, reader_u16(reader));
}

static Id get_id(Reader *reader)
{
    Id id = {{0}};
    Slice bytes = reader_bytes(reader, ID_BYTES);
    if (!reader->failed)
        memcpy(id.bytes, bytes.data, ID_BYTES);
    return id;
}

static void put_label(Buffer *buffer, const Label *label)
{
    put_text(buffer, label->text);
    put_text(buffer, label->folded);
}

static Label get_label(Reader *reader)
{
    Label label;
    label.text = get_text(reader);
    label.folded = get_text(reader);
    return label;
}

/* ---- What is personal ---------------------------------------------------------------------------------------- */

static const char *const PURPOSE = "account";
enum { PERSONAL = 5 };

static void personal_parts(AccountHead *head, Slice *parts[PERSONAL])
{
    Label *email = &head->labels[CLAIM_EMAIL], *wished = &head->wishes[CLAIM_EMAIL].label;
    parts[0] = &email->text;
    parts[1] = &email->folded;
    parts[2] = &wished->text;
    parts[3] = &wished->folded;
    parts[4] = &head->real_name;
}

/* Nothing is sealed for an account of which nothing personal is left. */
static void put_personal(Buffer *buffer, const AccountHead *head, const Vault *vault, Arena *arena)
{
    BUFFER_SCOPE Buffer plain = {0};
    AccountHead copy = *head;
    Slice *parts[PERSONAL];
    bool any = false;
    personal_parts(&copy, parts);
    for (int i = 0; i < PERSONAL; i++) {
        put_text(&plain, *parts[i]);
        any |= parts[i]->size > 0;
    }
    put_text(buffer, any ? vault_seal(vault, PURPOSE, buffer_slice(&plain), arena) : SLICE_EMPTY);
}

static Status open_personal(Slice sealed, const Vault *vault, Arena *arena, AccountHead *head)
{
    Slice *parts[PERSONAL], plain;
    personal_parts(head, parts);
    for (int i = 0; i < PERSONAL; i++)
        *parts[i] = SLICE_EMPTY;
    if (sealed.size == 0)
        return STATUS_OK;
    TRY(vault_unseal(vault, PURPOSE, sealed, arena, &plain));
    Reader reader = reader_of(plain);
    for (int i = 0; i < PERSONAL; i++)
        *parts[i] = get_text(&reader);
    return reader_done(&reader) ? STATUS_OK : STATUS_CORRUPT;
}

/* ---- The whole ------------------------------------------------------------------------------------------------ */

Slice head_encode(const AccountHead *head, const Vault *vault, Arena *arena)
{
    BUFFER_SCOPE Buffer buffer = {0};
    buffer_u8(&buffer, FORMAT);
    buffer_bytes(&buffer, id_slice(&head->id));
    buffer_u64(&buffer, head->version);
    buffer_u8(&buffer, (uint8_t)head->state);
    buffer_i64(&buffer, head->state_time_us);
    buffer_i64(&buffer, head->registered_us);
    buffer_u32(&buffer, head->roles);
    buffer_u32(&buffer, head->denied);
    buffer_u64(&buffer, head->epoch);
    buffer_u8(&buffer,
              (uint8_t)((head->real_name_shown ? SHOWN : 0) | (head->second ? SECOND : 0)));
    put_text(&buffer, head->password_hash);
    put_label(&buffer, &head->labels[CLAIM_NAME]);
    put_label(&buffer, &head->wishes[CLAIM_NAME].label);
    for (int kind = 0; kind < CLAIM_KINDS; kind++) {
        buffer_bytes(&buffer, id_slice(&head->wishes[kind].id));
        buffer_i64(&buffer, head->wishes[kind].time_us);
    }
    put_personal(&buffer, head, vault, arena);
    return arena_copy(arena, buffer_slice(&buffer));
}

/* Also what a reader accepts can be nonsense: states and bits that no release knew. */
static bool is_sound(const AccountHead *head, uint8_t flags)
{
    return head->state < ACCOUNT_STATE_COUNT && head->version > 0 && flags <= FLAGS_ALL &&
           (head->roles & ~(uint32_t)ACCOUNT_ROLES_ALL) == 0 &&
           (head->denied & ~(uint32_t)ACCOUNT_RIGHTS_ALL) == 0;
}

Status head_decode(Slice value, const Vault *vault, Arena *arena, AccountHead *ret_head)
{
    Reader reader = reader_of(value);
    bool known = reader_u8(&reader) == FORMAT;
    AccountHead head = {.id = get_id(&reader)};
    head.version = reader_u64(&reader);
    head.state = (AccountState)reader_u8(&reader);
    head.state_time_us = reader_i64(&reader);
    head.registered_us = reader_i64(&reader);
    head.roles = reader_u32(&reader);
    head.denied = reader_u32(&reader);
    head.epoch = reader_u64(&reader);
    uint8_t flags = reader_u8(&reader);
    head.real_name_shown = (flags & SHOWN) != 0;
    head.second = (flags & SECOND) != 0;
    head.password_hash = get_text(&reader);
    head.labels[CLAIM_NAME] = get_label(&reader);
    head.wishes[CLAIM_NAME].label = get_label(&reader);
    for (int kind = 0; kind < CLAIM_KINDS; kind++) {
        head.wishes[kind].id = get_id(&reader);
        head.wishes[kind].time_us = reader_i64(&reader);
    }
    Slice sealed = get_text(&reader);
    if (!known || !reader_done(&reader) || !is_sound(&head, flags))
        return STATUS_CORRUPT;
    TRY(open_personal(sealed, vault, arena, &head));
    *ret_head = head;
    return STATUS_OK;
}

bool head_is_alive(const AccountHead *head)
{
    return head->state == ACCOUNT_PENDING || head->state == ACCOUNT_CONFIRMED;
}

bool head_bears(const AccountHead *head, ClaimKind kind, Slice folded)
{
    const Wish *wish = &head->wishes[kind];
    return head_is_alive(head) &&
           (slice_equal(head->labels[kind].folded, folded) ||
            (!id_is_zero(wish->id) && slice_equal(wish->label.folded, folded)));
}

void head_forget(AccountHead *head)
{
    for (int kind = 0; kind < CLAIM_KINDS; kind++) {
        head->labels[kind] = (Label){SLICE_EMPTY, SLICE_EMPTY};
        head->wishes[kind] = (Wish){.label = {SLICE_EMPTY, SLICE_EMPTY}};
    }
    head->real_name = SLICE_EMPTY;
    head->real_name_shown = false;
}
