/* second.h -- what pages and programs show and do about the second factor (accounts/second.h); rows are those of the route. */
#pragma once

#include "accounts/second.h"
#include "site/inside.h"

typedef struct SecondView {
    SecondFactor factor;
    bool is_required; /* a role of the viewer asks for it (setting second_factor_roles) */
    Slice secret;     /* offered: as people type it, and as apps read it */
    Slice link;
    /* For pages. */
    Slice csrf;
    FormFault fault;
    bool has_picture;
    Markup picture;
    const RecoveryCodes *codes;
    int64_t now_us;
} SecondView;

MUST_USE Status second_view(WebRequest *request, SecondView *ret_view);
/* Makes a secret, or gives the one that was offered. */
MUST_USE Status second_begin(WebRequest *request, SecondView *ret_view);
/* Row 0, a code of the device. A letter tells the owner. */
MUST_USE Status second_turn_on(WebRequest *request, RecoveryCodes *ret_codes);
/* Row 0, a code. */
MUST_USE Status second_new_codes(WebRequest *request, RecoveryCodes *ret_codes);
/* Rows 0 and 1, password and code. */
MUST_USE Status second_turn_off(WebRequest *request);
