/* settings_private.h -- what the files of settings share. */
#pragma once

#include "settings/retention.h"
#include "store/record.h"

Records settings_records(const Settings *settings);
/* What is stored, for the fuzzer of all records. */
extern const Record SETTINGS_HEAD_RECORD, SETTINGS_RECORD, RETENTION_RECORD;
