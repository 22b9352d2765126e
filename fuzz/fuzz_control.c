/* fuzz_control.c -- the control socket's requests: any bytes, and the way back for those that can be read. */
#include "cli/control.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ARENA_SCOPE Arena *arena = arena_new();
    ControlRequest request;
    if (control_decode(slice_of(data, size), arena, &request) != STATUS_OK)
        return 0;
    BUFFER_SCOPE Buffer back = {0};
    control_encode(&request, &back);
    CHECK(slice_equal(buffer_slice(&back), slice_of(data, size)));
    return 0;
}
