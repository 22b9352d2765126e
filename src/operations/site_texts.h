/* site_texts.h -- the pages on privacy and on terms, for those who write them. The operations are in site_texts.c. */
#pragma once

#include "operations/admin.h"
#include "texts/texts.h"

typedef struct SiteTextView {
    TextKind kind;
    SiteText text;
} SiteTextView;
