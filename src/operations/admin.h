/* admin.h -- what the rows of those who run the site have in common: who may, and the reason that every change can have. */
#pragma once

#include "operations/operation.h"

#define ADMIN_ROLES  (1u << ROLE_ADMIN)
#define PEOPLE_ROLES (1u << ROLE_ADMIN | 1u << ROLE_EDIT_USERS)

/* Admins reach their pages in maintenance mode, too, so that they can end it. */
#define FOR_ADMINS .access = WEB_ROLE, .roles = ADMIN_ROLES, .always = true, .threads = WEB_SAVE
#define FOR_PEOPLE                                                                    \
    .access = WEB_ROLE, .whose = WEB_ANYBODYS, .roles = PEOPLE_ROLES, .always = true, \
    .threads = WEB_SAVE

#define REASON_INPUT(type)                                                        \
    INPUT("reason", type, reason, TEXT, .fallback = "", .most = AUDIT_REASON_MAX, \
          .help = "Why; it stands in the audit log, which admins read.")
/* The same where the form is only a button, or short. */
#define REASON_NOT_ON_PAGE(type)                                                                   \
    INPUT("reason", type, reason, TEXT, .fallback = "", .no_page = true, .most = AUDIT_REASON_MAX, \
          .help = "Why; it stands in the audit log, which admins read.")
