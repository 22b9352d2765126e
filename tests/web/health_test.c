/* health_test.c -- what everybody may know of a reason. */
#include "web/health.h"

#include "test.h"

TEST(paths_are_hidden_and_the_rest_stays)
{
    static const char *const cases[][2] = {
        {"", ""},
        {"no space left on device", "no space left on device"},
        {"cannot write /srv/db/1.log", "cannot write (path)"},
        {"cannot write /srv/db/1.log: no space", "cannot write (path): no space"},
        {"cannot write \"data/db\", sorry", "cannot write (path), sorry"},
        {"/srv/my data/db/1.log: no space", "(path) (path): no space"},
        {"/a and /b: gone", "(path) and (path): gone"},
        {"/a: Input/output error", "(path): Input/output error"},
        {"two  blanks", "two  blanks"},
        {"/", "(path)"},
        {"a /: b", "a (path): b"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        BUFFER_SCOPE Buffer out = {0};
        health_hide_paths(slice_from(cases[i][0]), &out);
        EXPECT_SLICE(buffer_slice(&out), slice_from(cases[i][1]));
    }
}
