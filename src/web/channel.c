/* channel.c -- see channel.h. */
#include "web/channel.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "web/loop.h"
#include "web/server_private.h"

/* What one channel may do before others have their turn, and not even that when it takes long: reads or sends, and requests of one read. */
enum { ROUNDS_MAX = 4, REQUESTS_A_ROUND = 16 };

Channel *channel_new(Loop *loop, Connection *connection, int fd)
{
    Channel *channel = calloc(1, sizeof *channel);
    CHECK(channel != NULL);
    channel->loop = loop;
    channel->connection = connection;
    channel->fd = fd;
    channel->is_hungry = true;
    return channel;
}

static int64_t now_us(const Channel *channel)
{
    return clock_steady_us(channel->loop->server->options.world.clock);
}

/* The request is over, well or not. One whose head never came to its end is a line in the log, too. */
static void end_request(Channel *channel, bool is_cut)
{
    if (channel->request == NULL && channel->has_begun) {
        channel->request = loop_take_request(channel->loop);
        exchange_begin_torn(channel->request, channel->connection, buffer_slice(&channel->kept));
    }
    if (channel->request != NULL) {
        exchange_end(channel->request, is_cut);
        loop_give_request(channel->loop, channel->request);
        channel->request = NULL;
    }
    if (channel->has_begun && channel->fd >= 0)
        connection_end(channel->connection, now_us(channel));
    channel->has_begun = false;
}

/* Neither the kernel nor the timer has to do with it any more. */
static void forget_socket(Channel *channel)
{
    loop_forget(channel->loop, channel->fd);
    connections_remove(channel->loop->server->connections, channel->connection);
    channel->fd = -1;
}

void channel_free(Channel *channel)
{
    int fd = channel->fd;
    CHECK(channel->state != CHANNEL_RUNS);
    end_request(channel, true);
    if (fd >= 0) {
        forget_socket(channel);
        close(fd);
    }
    buffer_free(&channel->kept);
    free(channel);
}

/* ---- Out ---- */

static void skip_sent(Channel *channel, size_t sent)
{
    while (channel->part < channel->part_count && sent >= channel->parts[channel->part].iov_len)
        sent -= channel->parts[channel->part++].iov_len;
    if (channel->part < channel->part_count) {
        struct iovec *part = &channel->parts[channel->part];
        part->iov_base = (char *)part->iov_base + sent;
        part->iov_len -= sent;
    }
}

static void is_answered(Channel *channel)
{
    bool closes = channel->request->answer.close;
    if (closes && channel->is_readable)
        connection_linger(
            channel->connection); /* closing over what is unread would take the answer back */
    channel->state = closes ? CHANNEL_IS_DONE : CHANNEL_READS;
    channel->is_hungry = channel->kept.size == 0;
    end_request(channel, false);
}

static void send_parts(Channel *channel)
{
    for (int rounds = 0; channel->part < channel->part_count; rounds++) {
        if (rounds == ROUNDS_MAX) {
            channel->state = CHANNEL_SENDS;
            loop_again(channel->loop, channel);
            return;
        }
        struct msghdr message = {.msg_iov = channel->parts + channel->part,
                                 .msg_iovlen = channel->part_count - channel->part};
        ssize_t sent = sendmsg(channel->fd, &message, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0) {
            channel->state = errno == EAGAIN ? CHANNEL_SENDS : CHANNEL_IS_DONE;
            return;
        }
        skip_sent(channel, (size_t)sent);
    }
    is_answered(channel);
}

/* The socket leaves us, as it is: from then on its number may stand for another one. */
static void hand_over(Channel *channel)
{
    int fd = channel->fd;
    forget_socket(channel);
    exchange_hand_over(channel->request, loop_date_line(channel->loop), fd);
    channel->state = CHANNEL_IS_DONE;
    end_request(channel, false);
}

static void send_answer(Channel *channel)
{
    if (exchange_is_watch(channel->request)) {
        hand_over(channel);
        return;
    }
    channel->part = 0;
    channel->part_count =
        exchange_parts(channel->request, loop_date_line(channel->loop), channel->parts);
    send_parts(channel);
}

/* Whoever was cut before the last byte of the request was here knows that nothing was answered, and must be able to rely on it that nothing was
 * done. */
static void make_answer(Channel *channel)
{
    if (connection_is_cut(channel->connection)) {
        channel->state = CHANNEL_IS_DONE;
        return;
    }
    /* Before a pool can have it: whoever has made the answer must find it so. */
    channel->state = CHANNEL_RUNS;
    if (exchange_make(channel->request))
        send_answer(channel);
    else if (channel->is_ending)
        channel_cancel(channel);
}

void channel_cancel(Channel *channel)
{
    CHECK(channel->state == CHANNEL_RUNS);
    exchange_cancel_later(channel->request);
}

void channel_made(Channel *channel)
{
    CHECK(channel->state == CHANNEL_RUNS);
    if (request_is_later(channel->request))
        exchange_end_later(channel->request);
    send_answer(channel);
    channel_go_on(channel);
}

/* ---- In ---- */

/* Whether the whole body is among the bytes behind the head; of one in chunks nobody knows. */
static bool is_body_here(const HttpHead *head, size_t behind)
{
    uint64_t size;
    return head_body_size(head, &size) && size <= behind;
}

static void begin_body(Channel *channel, bool is_here)
{
    static const Slice GO_ON = {"HTTP/1.1 100 Continue\r\n\r\n", 25};
    const WebRequest *request = channel->request;
    channel->chunks = (FramingChunks){0};
    channel->body_left = 0;
    if (head_body_size(&request->head, &channel->body_left))
        (void)buffer_reserve(&channel->request->body, channel->body_left);
    connection_received(channel->connection, 0);
    if (is_here || !exchange_expects_continue(request))
        return;
    ssize_t sent = send(channel->fd, GO_ON.data, GO_ON.size, MSG_NOSIGNAL);
    if (sent != (ssize_t)GO_ON.size &&
        (sent >= 0 || errno != EAGAIN)) /* without room, it goes on without */
        channel->state = CHANNEL_IS_DONE;
}

/* How many bytes belong to the head, when it is complete or too large; 0: more must come. */
static size_t use_head(Channel *channel, Slice bytes)
{
    static const Slice EMPTY_LINE = {"\r\n", 2};
    size_t most = (size_t)channel->loop->server->options.config->header_bytes;
    if (slice_starts_with(bytes, EMPTY_LINE))
        return EMPTY_LINE.size; /* in front of a request it means nothing (RFC 9112, 2.2) */
    if (slice_equal(bytes, slice_of(EMPTY_LINE.data, 1)))
        return 0; /* perhaps another one */
    if (!channel->has_begun && !connection_begin(channel->connection, now_us(channel))) {
        channel->state = CHANNEL_IS_DONE;
        return bytes.size;
    }
    channel->has_begun = true;
    size_t size = framing_head_size(bytes, channel->looked);
    if (size == 0 && bytes.size <= most) {
        channel->looked = bytes.size;
        return 0;
    }
    channel->looked = 0;
    channel->request = loop_take_request(channel->loop);
    channel->request->channel = channel;
    if (size == 0 || size > most) {
        exchange_begin_torn(channel->request, channel->connection, slice_of(bytes.data, most));
        connection_linger(channel->connection);
        make_answer(channel);
        return bytes.size;
    }
    exchange_begin(channel->request, channel->connection, slice_of(bytes.data, size));
    if (exchange_wants_body(channel->request,
                            is_body_here(&channel->request->head, bytes.size - size)))
        begin_body(channel, bytes.size > size);
    else
        make_answer(channel);
    return size;
}

static FramingStep read_body(Channel *channel, Slice bytes, size_t *ret_used)
{
    WebRequest *request = channel->request;
    if (request->head.present[HEAD_TRANSFER_ENCODING])
        return framing_read_chunks(&channel->chunks, bytes, request->body_max, &request->body,
                                   ret_used);
    *ret_used = bytes.size < channel->body_left ? bytes.size : (size_t)channel->body_left;
    buffer_bytes(&request->body, slice_of(bytes.data, *ret_used));
    channel->body_left -= *ret_used;
    return channel->body_left == 0 ? FRAMING_DONE : FRAMING_MORE;
}

static size_t use_body(Channel *channel, Slice bytes)
{
    size_t used = 0;
    FramingStep step = read_body(channel, bytes, &used);
    if (step == FRAMING_MORE) {
        connection_received(channel->connection, (int64_t)channel->request->body.size);
        return used;
    }
    connection_received(channel->connection, CONNECTION_BODY_WHOLE);
    if (step != FRAMING_DONE) {
        used = bytes.size;
        exchange_refuse_body(channel->request, step);
    }
    make_answer(channel);
    return used;
}

/* How many of the bytes are used up; those behind them wait for more, for the answer that is under way, or for the next turn. */
static size_t use(Channel *channel, Slice bytes)
{
    size_t used = 0, step = 1;
    for (int requests = 0; channel->state == CHANNEL_READS;) {
        Slice rest = slice_after(bytes, used);
        if (rest.size > 0)
            step = channel->request == NULL ? use_head(channel, rest) : use_body(channel, rest);
        channel->is_hungry = rest.size == 0 || step == 0;
        if (channel->is_hungry)
            break;
        used += step;
        if (channel->request == NULL && used < bytes.size &&
            (++requests == REQUESTS_A_ROUND || loop_is_held_up(channel->loop)))
            break;
    }
    return used;
}

/* What was kept and what can be read now, in the loop's memory. */
static Slice receive(Channel *channel)
{
    Loop *loop = channel->loop;
    size_t size = channel->kept.size, room = loop->memory_size - size;
    if (size > 0)
        memcpy(loop->memory, channel->kept.data, size);
    if (!channel->is_readable || room == 0)
        return slice_of(loop->memory, size);
    ssize_t got = recv(channel->fd, loop->memory + size, room, 0);
    if (got < 0 && errno != EAGAIN && errno != EINTR)
        channel->state = CHANNEL_IS_DONE;
    channel->is_at_end = got == 0;
    /* Less than there is room for: that was all, and the kernel tells when there is more. Of the end it has told already. */
    channel->is_readable =
        got == (ssize_t)room || (got > 0 && channel->is_ending) || (got < 0 && errno == EINTR);
    return slice_of(loop->memory, size + (got > 0 ? (size_t)got : 0));
}

static void keep(Channel *channel, Slice rest)
{
    buffer_clear(&channel->kept);
    if (rest.size > 0)
        buffer_bytes(&channel->kept, rest);
    else
        buffer_free(&channel->kept);
}

static void read_once(Channel *channel)
{
    Slice bytes = receive(channel);
    if (channel->state != CHANNEL_READS)
        return;
    size_t used = use(channel, bytes);
    keep(channel, slice_after(bytes, used));
}

void channel_go_on(Channel *channel)
{
    if (channel->state == CHANNEL_SENDS)
        send_parts(channel);
    for (int rounds = 0; channel->state == CHANNEL_READS; rounds++) {
        if (channel->is_hungry && !channel->is_readable) {
            if (channel->is_at_end)
                channel->state = CHANNEL_IS_DONE;
            return;
        }
        if (rounds == ROUNDS_MAX || (rounds > 0 && loop_is_held_up(channel->loop))) {
            loop_again(channel->loop, channel);
            return;
        }
        read_once(channel);
    }
}

void channel_event(Channel *channel, uint32_t events)
{
    bool is_ending = (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    channel->is_ending |= is_ending;
    channel->is_readable |= is_ending || (events & EPOLLIN) != 0;
    if (channel->state == CHANNEL_RUNS && is_ending)
        channel_cancel(channel);
    if (channel->state != CHANNEL_RUNS && !channel->is_queued)
        channel_go_on(channel);
}
