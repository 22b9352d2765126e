/* operation_wait.h -- who waits in operation_wait (operation.h). */
#pragma once

#include "operations/operation.h"

typedef struct OperationWaits OperationWaits;
OperationWaits *operation_waits_new(void);
/* Nobody may wait any more. */
void operation_waits_free(OperationWaits *waits);
