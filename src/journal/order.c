/* order.c -- see order.h. The tree is a treap: the place of a node follows from its priority, its height from a random rank. */
#include "journal/order.h"

#include <stdlib.h>

#include "base/status.h"
#include "journal/table.h"

struct OrderBand {
    OrderBand *left, *right;
    Heap heap;
    int64_t head;  /* date of the heap's first */
    int64_t least; /* of this and all below */
    int64_t last;  /* no date here is later */
    uint64_t rank;
    uint32_t priority;
};

static int64_t least_of(const OrderBand *band)
{
    return band == NULL ? INT64_MAX : band->least;
}

static void update(OrderBand *band)
{
    int64_t left = least_of(band->left), right = least_of(band->right);
    band->least = band->head;
    if (left < band->least)
        band->least = left;
    if (right < band->least)
        band->least = right;
}

static OrderBand *join(OrderBand *left, OrderBand *right)
{
    if (left == NULL || right == NULL)
        return left == NULL ? right : left;
    OrderBand *top = left->rank > right->rank ? left : right;
    if (top == left)
        left->right = join(left->right, right);
    else
        right->left = join(left, right->left);
    update(top);
    return top;
}

/* All below `priority` into *ret_left, the others into *ret_right. */
static void split(OrderBand *band, uint32_t priority, OrderBand **ret_left, OrderBand **ret_right)
{
    if (band == NULL) {
        *ret_left = *ret_right = NULL;
        return;
    }
    if (band->priority < priority) {
        split(band->right, priority, &band->right, ret_right);
        *ret_left = band;
    } else {
        split(band->left, priority, ret_left, &band->left);
        *ret_right = band;
    }
    update(band);
}

static OrderBand *find(OrderBand *band, uint32_t priority)
{
    while (band != NULL && band->priority != priority)
        band = priority < band->priority ? band->left : band->right;
    return band;
}

/* The head of one band has changed: the least dates on the way to it. */
static void update_way(OrderBand *band, uint32_t priority)
{
    if (band->priority != priority)
        update_way(priority < band->priority ? band->left : band->right, priority);
    update(band);
}

static OrderBand *insert(Order *order, uint32_t priority)
{
    OrderBand *left, *right, *band = calloc(1, sizeof *band);
    CHECK(band != NULL);
    band->priority = priority;
    band->rank = table_mix(order->shape += UINT64_C(0x9E3779B97F4A7C15));
    band->head = band->least = INT64_MAX;
    band->last = INT64_MIN;
    split(order->root, priority, &left, &right);
    order->root = join(join(left, band), right);
    return band;
}

static OrderBand *without(OrderBand *band, uint32_t priority)
{
    if (band->priority == priority)
        return join(band->left, band->right);
    if (priority < band->priority)
        band->left = without(band->left, priority);
    else
        band->right = without(band->right, priority);
    update(band);
    return band;
}

static void head_changed(Order *order, const OrderKind *kind, OrderBand *band)
{
    int64_t head = band->heap.count > 0 ? kind->date(heap_first(&band->heap)) : INT64_MAX;
    if (head == band->head)
        return;
    band->head = head;
    update_way(order->root, band->priority);
}

void journal_order_add(Order *order, const OrderKind *kind, void *item)
{
    OrderBand *band = find(order->root, kind->priority(item));
    if (band == NULL)
        band = insert(order, kind->priority(item));
    heap_add(&band->heap, &kind->heap, item);
    if (kind->date(item) > band->last)
        band->last = kind->date(item);
    order->count++;
    head_changed(order, kind, band);
}

void journal_order_remove(Order *order, const OrderKind *kind, void *item)
{
    OrderBand *band = find(order->root, kind->priority(item));
    CHECK(band != NULL);
    heap_remove(&band->heap, &kind->heap, item);
    order->count--;
    if (band->heap.count > 0) {
        head_changed(order, kind, band);
        return;
    }
    order->root = without(order->root, band->priority);
    heap_free(&band->heap);
    free(band);
}

static void free_band(OrderBand *band)
{
    if (band == NULL)
        return;
    free_band(band->left);
    free_band(band->right);
    heap_free(&band->heap);
    free(band);
}

void journal_order_free(Order *order)
{
    free_band(order->root);
    order->root = NULL;
    order->count = 0;
}

void *journal_order_due(const Order *order, int64_t now, uint32_t most)
{
    const OrderBand *band = order->root;
    while (band != NULL && band->least <= now) {
        if (least_of(band->left) <= now)
            band = band->left;
        else if (band->head <= now)
            return band->priority <= most ? heap_first(&band->heap) : NULL;
        else
            band = band->right;
    }
    return NULL;
}

int64_t journal_order_next(const Order *order, uint32_t most)
{
    int64_t next = INT64_MAX;
    for (const OrderBand *band = order->root; band != NULL;) {
        if (band->priority > most) {
            band = band->left;
            continue;
        }
        int64_t left = least_of(band->left);
        if (left < next)
            next = left;
        if (band->head < next)
            next = band->head;
        band = band->right;
    }
    return next;
}

/* The due ones are the top of the heap. */
static void survey_heap(const OrderBand *band, const OrderKind *kind, uint32_t at, int64_t now,
                        OrderSurvey *survey)
{
    if (at >= band->heap.count || survey->looked >= ORDER_SURVEY_MAX)
        return;
    void *item = band->heap.items[at];
    if (kind->date(item) <= now) {
        survey->looked++;
        survey->due++;
        survey_heap(band, kind, 2 * at + 1, now, survey);
        survey_heap(band, kind, 2 * at + 2, now, survey);
    } else if (survey->first_future == NULL || kind->heap.before(item, survey->first_future)) {
        survey->first_future = item;
    }
}

static void survey_band(const OrderBand *band, const OrderKind *kind, int64_t now, uint32_t below,
                        OrderSurvey *survey)
{
    if (band == NULL)
        return;
    survey_band(band->left, kind, now, below, survey);
    size_t before = survey->due;
    if (band->last <= now)
        survey->due += band->heap.count;
    else
        survey_heap(band, kind, 0, now, survey);
    if (band->priority < below)
        survey->due_below += survey->due - before;
    survey_band(band->right, kind, now, below, survey);
}

OrderSurvey journal_order_survey(const Order *order, const OrderKind *kind, int64_t now,
                                 uint32_t below)
{
    OrderSurvey survey = {0};
    survey_band(order->root, kind, now, below, &survey);
    return survey;
}
