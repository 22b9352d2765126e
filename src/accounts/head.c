/* head.c -- see head.h. */
#include "accounts/head.h"

enum { FORMAT = 1 };

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

void head_encode(const AccountHead *head, Buffer *buffer)
{
    buffer_u8(buffer, FORMAT);
    buffer_bytes(buffer, id_slice(&head->id));
    buffer_u64(buffer, head->version);
    buffer_u8(buffer, (uint8_t)head->state);
    buffer_i64(buffer, head->state_time_us);
    buffer_i64(buffer, head->registered_us);
    buffer_u32(buffer, head->roles);
    buffer_u32(buffer, head->denied);
    put_text(buffer, head->password_hash);
    for (int kind = 0; kind < CLAIM_KINDS; kind++) {
        const Wish *wish = &head->wishes[kind];
        put_label(buffer, &head->labels[kind]);
        buffer_bytes(buffer, id_slice(&wish->id));
        put_label(buffer, &wish->label);
        buffer_i64(buffer, wish->time_us);
    }
}

/* Also what a reader accepts can be nonsense: states and bits that no release knew. */
static bool is_sound(const AccountHead *head)
{
    return head->state < ACCOUNT_STATE_COUNT && head->version > 0 &&
           (head->roles & ~(uint32_t)ACCOUNT_ROLES_ALL) == 0 &&
           (head->denied & ~(uint32_t)ACCOUNT_RIGHTS_ALL) == 0;
}

Status head_decode(Slice value, AccountHead *ret_head)
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
    head.password_hash = get_text(&reader);
    for (int kind = 0; kind < CLAIM_KINDS; kind++) {
        Wish *wish = &head.wishes[kind];
        head.labels[kind] = get_label(&reader);
        wish->id = get_id(&reader);
        wish->label = get_label(&reader);
        wish->time_us = reader_i64(&reader);
    }
    if (!known || !reader_done(&reader) || !is_sound(&head))
        return STATUS_CORRUPT;
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

void head_forget_labels(AccountHead *head)
{
    for (int kind = 0; kind < CLAIM_KINDS; kind++) {
        head->labels[kind] = (Label){SLICE_EMPTY, SLICE_EMPTY};
        head->wishes[kind] = (Wish){.label = {SLICE_EMPTY, SLICE_EMPTY}};
    }
}
