/* book_body.c -- keys and data: in memory as far as there is room for them, else in the log. */
#include <stdlib.h>

#include "journal/book.h"

void book_release_body(Body *body)
{
    if (--body->refs == 0)
        free(body);
}

void book_forget_body(Book *book, Entry *entry)
{
    Body *body = entry->body;
    if (body == NULL)
        return;
    *(body->older != NULL ? &body->older->newer : &book->oldest) = body->newer;
    *(body->newer != NULL ? &body->newer->older : &book->newest) = body->older;
    book->body_bytes -= body->size;
    entry->body = NULL;
    body->entry = NULL;
    book_release_body(body);
}

void book_weigh(Book *book, const Entry *entry, bool add)
{
    uint64_t bytes = (uint64_t)entry->key_size + entry->data_size;
    Journal *journal = journal_of(entry);
    journal->bytes = add ? journal->bytes + bytes : journal->bytes - bytes;
    uint64_t *slot = &book->slot_bytes[entry->slot];
    *slot = add ? *slot + bytes : *slot - bytes;
}

/* The oldest that the log has go first; what is still to be written stays. */
static void make_room(Book *book)
{
    Body *body = book->oldest;
    while (body != NULL && book->body_bytes > book->cache_bytes) {
        Body *next = body->newer;
        Entry *entry = body->entry;
        if (!(entry->flags & ENTRY_BODY_DIRTY) && body->refs == 1)
            book_forget_body(book, entry);
        else if (entry->flags & ENTRY_BODY_DIRTY)
            break; /* those behind it are newer */
        body = next;
    }
}

static Body *add_body(Book *book, Entry *entry, size_t size)
{
    Body *body = malloc(sizeof *body + size);
    CHECK(body != NULL);
    *body = (Body){.older = book->newest, .entry = entry, .refs = 1, .size = (uint32_t)size};
    *(book->newest != NULL ? &book->newest->newer : &book->oldest) = body;
    book->newest = body;
    book->body_bytes += size;
    entry->body = body;
    return body;
}

/* Journals, sizes and hashes follow the new body: the entry must not be in the indexes by key with another one. */
void book_set_body(Book *book, Entry *entry, Slice key, Slice data)
{
    char size[4];
    uint32_t big = __builtin_bswap32((uint32_t)key.size);
    memcpy(size, &big, sizeof size);
    Body *old = entry->body;
    if (old != NULL)
        old->refs++; /* key and data may be views of it */
    book_forget_body(book, entry);
    Body *body = add_body(book, entry, 4 + key.size + data.size);
    memcpy(body->bytes, size, 4);
    if (key.size > 0)
        memcpy(body->bytes + 4, key.data, key.size);
    if (data.size > 0)
        memcpy(body->bytes + 4 + key.size, data.data, data.size);
    if (old != NULL)
        book_release_body(old);
    bool known = book_find(book, entry->id) == entry;
    if (known)
        book_weigh(book, entry, false);
    entry->key_size = (uint32_t)key.size;
    entry->data_size = (uint32_t)data.size;
    if (known)
        book_weigh(book, entry, true);
    entry->flags |= ENTRY_BODY_DIRTY;
    book_dirty(book, entry);
    make_room(book);
}

Status book_body(Book *book, Entry *entry, Slice *ret_key, Slice *ret_data, Reason *reason)
{
    if (entry->body == NULL) {
        ARENA_SCOPE Arena *arena = arena_new();
        char key[9];
        Slice value;
        Status status = book->log->read(book->log, entry->slot, stored_id_key(key, 'B', entry->id),
                                        arena, &value, reason);
        if (status == STATUS_NOT_FOUND ||
            (status == STATUS_OK && value.size != 4u + entry->key_size + entry->data_size))
            status = STATUS_CORRUPT;
        if (status != STATUS_OK)
            return reason_set(reason, status, "entry", "the data of entry %llu cannot be read",
                              (unsigned long long)entry->id);
        make_room(book); /* before, so that the new one stays */
        Body *body = add_body(book, entry, value.size);
        memcpy(body->bytes, value.data, value.size);
    }
    if (stored_body_read(slice_of(entry->body->bytes, entry->body->size), ret_key, ret_data) !=
        STATUS_OK)
        return reason_set(reason, STATUS_CORRUPT, "entry", "the data of entry %llu is damaged",
                          (unsigned long long)entry->id);
    return STATUS_OK;
}
