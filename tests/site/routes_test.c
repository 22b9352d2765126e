/* routes_test.c -- what must hold for every route of the site, whoever added it. */
#include "site/site_private.h"
#include "test.h"

/* Bodies of strangers are read before anybody knows what they are worth. */
TEST(no_route_takes_much_of_who_need_not_be_logged_in)
{
    size_t count, of_strangers = 0;
    const WebRoute *routes = site_routes(&count);
    for (size_t i = 0; i < count; i++) {
        if (routes[i].access > WEB_GUEST || routes[i].body_bytes == 0)
            continue;
        of_strangers++;
        if (routes[i].body_bytes < 0 || routes[i].body_bytes > SITE_STRANGER_BODY ||
            routes[i].files)
            test_fail(__FILE__, __LINE__, "%s takes %lld bytes", routes[i].path,
                      (long long)routes[i].body_bytes);
        if (routes[i].seconds != 0)
            test_fail(__FILE__, __LINE__, "%s may take %lld seconds", routes[i].path,
                      (long long)routes[i].seconds);
    }
    EXPECT(of_strangers > 5);
}
