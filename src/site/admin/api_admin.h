/* api_admin.h -- views of /api/v1/admin that no page has. */
#pragma once

#include "site/admin/admin.h"
#include "site/api.h"

typedef struct ApiPersonLine {
    Account account;
    const char *roles[ROLE_COUNT], *denied[RIGHT_COUNT];
    size_t role_count, denied_count;
} ApiPersonLine;

typedef struct ApiPeople {
    ApiPersonLine *people;
    size_t count;
    Slice next;
} ApiPeople;

typedef struct ApiElectorate {
    const char *mode;
    uint64_t version, roll;
    bool roll_is_more;
    Slice domains[ELECTORATE_DOMAINS_MOST];
    size_t domain_count;
} ApiElectorate;

typedef struct ApiInvitations {
    Invitation *invitations;
    size_t count;
    Slice next;
} ApiInvitations;

typedef struct ApiBackup {
    Slice name, directory;
} ApiBackup;

typedef struct ApiText {
    const char *kind;
    SiteText text;
} ApiText;
