/* answer_letters.h -- letters to those with the role `respond`: a policy waits for its official answer. */
#pragma once

#include "app/app.h"

/* For TasksOptions.answer_teller, with the app as `self`. Each person gets one letter about a policy, however often it is asked. A site without a
 * mail server has nobody to write to: then it is the policy's page and the desk that say it. */
MUST_USE Status app_tell_answer_due(void *self, uint64_t policy, Reason *reason);
