/* page.c -- one rendered page with its compressed forms; see page_cache.h.
 *
 * A compressed form has a state of its own: whoever moves it from MISSING to BUSY makes it, and READY publishes it. Nobody waits. */
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "web/compress.h"
#include "web/page_cache_private.h"

enum { WORTH_COMPRESSING = 512 };

static const char *copy_text(const char *text)
{
    char *copy = strdup(text);
    CHECK(copy != NULL);
    return copy;
}

static void hash_body(CachedPage *page)
{
    unsigned char hash[crypto_generichash_BYTES_MIN];
    char text[2 * sizeof hash + 1];
    crypto_generichash(hash, sizeof hash, (const unsigned char *)page->body.data, page->body.size,
                       NULL, 0);
    sodium_bin2hex(text, sizeof text, hash, sizeof hash);
    snprintf(page->etag, sizeof page->etag, "W/\"%s\"", text);
}

CachedPage *page_new(const PageContent *content)
{
    CachedPage *page = calloc(1, sizeof *page);
    CHECK(page != NULL && content->header_count <= PAGE_HEADERS_MAX);
    page->references = 1;
    page->made_us = content->made_us;
    buffer_bytes(&page->body, content->body);
    buffer_bytes(&page->extra, content->extra);
    page->content_type = content->content_type != NULL ? copy_text(content->content_type) : NULL;
    for (size_t i = 0; i < content->header_count; i++)
        page->headers[i] =
            (PageHeader){copy_text(content->headers[i].name), copy_text(content->headers[i].value)};
    page->header_count = content->header_count;
    if (page->content_type != NULL)
        hash_body(page);
    return page;
}

CachedPage *page_hold(CachedPage *page)
{
    atomic_fetch_add_explicit(&page->references, 1, memory_order_relaxed);
    return page;
}

static void free_text(const char *text)
{
    free((char *)(uintptr_t)text);
}

void page_release(CachedPage *page)
{
    if (atomic_fetch_sub_explicit(&page->references, 1, memory_order_acq_rel) > 1)
        return;
    for (size_t i = 0; i < page->header_count; i++) {
        free_text(page->headers[i].name);
        free_text(page->headers[i].value);
    }
    free_text(page->content_type);
    for (int i = 0; i <= HTTP_IDENTITY; i++)
        free(page->heads[i]);
    for (int i = 0; i < HTTP_IDENTITY; i++)
        buffer_free(&page->forms[i].bytes);
    buffer_free(&page->body);
    buffer_free(&page->extra);
    free(page);
}

Slice page_body(const CachedPage *page)
{
    return buffer_slice(&page->body);
}

const char *page_content_type(const CachedPage *page)
{
    return page->content_type;
}

Slice page_extra(const CachedPage *page)
{
    return buffer_slice(&page->extra);
}

int64_t page_made_us(const CachedPage *page)
{
    return page->made_us;
}

const PageHeader *page_headers(const CachedPage *page, size_t *ret_count)
{
    *ret_count = page->header_count;
    return page->headers;
}

const char *page_etag(const CachedPage *page)
{
    return page->etag;
}

static void make_form(CachedPage *page, HttpEncoding encoding)
{
    PageForm *form = &page->forms[encoding];
    int missing = FORM_MISSING;
    if (!atomic_compare_exchange_strong(&form->state, &missing, FORM_BUSY))
        return;
    bool is_smaller = compress_to(encoding, page_body(page), &form->bytes);
    atomic_store_explicit(&form->state, is_smaller ? FORM_READY : FORM_USELESS,
                          memory_order_release);
}

Slice page_encoded(CachedPage *page, Slice accept_encoding, HttpEncoding *ret_encoding)
{
    unsigned available = 1u << HTTP_IDENTITY | 1u << HTTP_GZIP | 1u << HTTP_BROTLI;
    HttpEncoding encoding = HTTP_IDENTITY;
    if (accept_encoding.size > 0 && page->body.size >= WORTH_COMPRESSING)
        encoding = http_choose_encoding(accept_encoding, available);
    if (encoding != HTTP_IDENTITY) {
        make_form(page, encoding);
        if (atomic_load_explicit(&page->forms[encoding].state, memory_order_acquire) != FORM_READY)
            encoding = HTTP_IDENTITY;
    }
    *ret_encoding = encoding;
    return encoding == HTTP_IDENTITY ? page_body(page) : buffer_slice(&page->forms[encoding].bytes);
}

static Slice bytes_of(const PageHead *head)
{
    return head == NULL ? SLICE_EMPTY : slice_of(head->bytes, head->size);
}

Slice page_head(const CachedPage *page, HttpEncoding encoding)
{
    return bytes_of(atomic_load_explicit(&page->heads[encoding], memory_order_acquire));
}

Slice page_keep_head(CachedPage *page, HttpEncoding encoding, Slice bytes)
{
    PageHead *head = malloc(sizeof *head + bytes.size), *other = NULL;
    CHECK(head != NULL);
    head->size = bytes.size;
    memcpy(head->bytes, bytes.data, bytes.size);
    if (atomic_compare_exchange_strong(&page->heads[encoding], &other, head))
        return bytes_of(head);
    free(head);
    return bytes_of(other);
}
