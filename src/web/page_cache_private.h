/* page_cache_private.h -- the private twin of page_cache.h: what a page consists of. */
#pragma once

#include <stdatomic.h>

#include "base/bytes.h"
#include "web/page_cache.h"

enum { FORM_MISSING, FORM_BUSY, FORM_READY, FORM_USELESS };

typedef struct PageForm {
    _Atomic int state;
    Buffer bytes; /* when READY */
} PageForm;

typedef struct PageHead {
    size_t size;
    char bytes[];
} PageHead;

struct CachedPage {
    _Atomic uint32_t references;
    int64_t made_us;
    const char *content_type;
    size_t header_count;
    PageHeader headers[PAGE_HEADERS_MAX];
    char etag[PAGE_ETAG_TEXT];
    Buffer body, extra;
    PageForm forms[HTTP_IDENTITY];
    _Atomic(PageHead *) heads[HTTP_IDENTITY + 1];
};

CachedPage *page_hold(CachedPage *page);
