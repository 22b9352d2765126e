/* report_make.h -- what is known once somebody has told the moderators something. */
#pragma once

#include "operations/operation.h"

typedef struct ReportMade {
    Done done;
    Slice address;      /* of the policy */
    bool is_answerable; /* there is an account or an e-mail address to tell what comes of it */
} ReportMade;
