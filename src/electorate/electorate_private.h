/* electorate_private.h -- what the files of electorate share. They work on the handle of accounts (accounts_private.h). */
#pragma once

#include "access/access_private.h"
#include "electorate/electorate.h"

/* What is stored, for the fuzzer of all records. */
extern const Record ELECTORATE_RECORD, INVITATION_RECORD;
