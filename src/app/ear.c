/* ear.c -- see ear.h. The ranking is told first, so that who hears of a save finds it there. */
#include "app/ear.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "app/app.h"

struct AppEar {
    VoteListener ranking;
    _Atomic(const VoteListener *) also;
};

static void hear_told(void *self, VoteStep step, const VoteNews *news)
{
    struct AppEar *ear = self;
    ear->ranking.told(ear->ranking.self, step, news);
    const VoteListener *also = atomic_load(&ear->also);
    if (also != NULL)
        also->told(also->self, step, news);
}

static void hear_projected(void *self, uint64_t voter, uint64_t seq)
{
    struct AppEar *ear = self;
    ear->ranking.projected(ear->ranking.self, voter, seq);
    const VoteListener *also = atomic_load(&ear->also);
    if (also != NULL)
        also->projected(also->self, voter, seq);
}

struct AppEar *app_ear_new(Ranking *ranking)
{
    struct AppEar *ear = calloc(1, sizeof *ear);
    CHECK(ear != NULL);
    ear->ranking = ranking_listener(ranking);
    return ear;
}

VoteListener app_ear_listener(struct AppEar *ear)
{
    return (VoteListener){hear_told, hear_projected, ear};
}

void app_listen(App *app, const VoteListener *listener)
{
    atomic_store(&app->ear->also, listener);
}
