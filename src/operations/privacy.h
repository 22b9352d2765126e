/* privacy.h -- what the page on privacy says beside the words of those who run the site: every cookie, how long things are kept by the
 * periods that are set now, and who sees what. All of it is made from the tables that the software itself goes by: web/cookies.h,
 * settings/retention.h, and the rows of the operations (personal.h). */
#pragma once

#include "operations/operation.h"

typedef struct KeptLine {
    const char *about;
    int64_t seconds;
} KeptLine;

typedef struct SeenLine {
    const char *what;
    Slice by;
} SeenLine;

typedef struct CookieLine {
    const char *name, *purpose, *when;
    int64_t seconds;
} CookieLine;

typedef struct PrivacyView {
    CookieLine cookies[COOKIE_KINDS];
    KeptLine *kept;
    size_t kept_count;
    SeenLine seen[PERSONAL_PARTS];
} PrivacyView;

MUST_USE Status privacy_view(Operations *ops, Arena *arena, PrivacyView *ret_view);
/* Who sees a part of what is kept of somebody, in a sentence to that person. */
Slice personal_seen_by(Personal part, Arena *arena);
