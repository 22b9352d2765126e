/* routes_test.c -- what must hold for every route of the site, whoever added it. */
#include "site/site_private.h"
#include "test.h"

/* Bodies of strangers are read before anybody knows what they are worth, unless the route has a rule of its own that is asked first. */
TEST(no_route_takes_much_of_who_need_not_be_logged_in)
{
    size_t count, of_strangers = 0;
    const WebRoute *routes = site_routes(&count);
    for (size_t i = 0; i < count; i++) {
        if (routes[i].access > WEB_GUEST || routes[i].body_bytes == 0 || routes[i].admits != NULL)
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

TEST(only_routes_of_journals_have_a_rule_of_their_own_for_whose_body_is_read)
{
    size_t count, with_a_rule = 0;
    const WebRoute *routes = site_routes(&count);
    for (size_t i = 0; i < count; i++) {
        bool is_of_journals = strcmp(routes[i].path, "/api/v1/journals/{journal}") == 0 ||
                              strcmp(routes[i].path, "/api/v1/journals/claim") == 0 ||
                              strncmp(routes[i].path, "/api/v1/journals/{journal}/", 27) == 0;
        with_a_rule += routes[i].admits != NULL;
        if (routes[i].admits != NULL && (!is_of_journals || !routes[i].by_program))
            test_fail(__FILE__, __LINE__, "%s has", routes[i].path);
        if (routes[i].admits == NULL && is_of_journals && routes[i].access <= WEB_GUEST)
            test_fail(__FILE__, __LINE__, "%s has none", routes[i].path);
    }
    EXPECT(with_a_rule >= 10);
}
