/* control.c -- both ends of the control socket; see control.h for the protocol. */
#include "cli/control.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/threads.h"

enum { REQUEST_S = 10 };

struct Control {
    int listener;
    int wake[2]; /* closing the write end ends the accepting thread */
    char *path;
    Clock clock;
    ControlRun *run;
    void *self;
    pthread_t thread;
    pthread_mutex_t lock; /* guards `clients` */
    pthread_cond_t client_left;
    int clients;
};

typedef struct Client {
    Control *control;
    int fd;
} Client;

/* ---- The request as bytes -------------------------------------------------------------------------------- */

static void encode_slice(Buffer *to, Slice bytes)
{
    buffer_u32(to, (uint32_t)bytes.size);
    buffer_bytes(to, bytes);
}

void control_encode(const ControlRequest *request, Buffer *to)
{
    buffer_u16(to, (uint16_t)request->count);
    for (size_t i = 0; i < request->count; i++)
        encode_slice(to, request->words[i]);
    encode_slice(to, slice_from(request->directory));
    encode_slice(to, request->input);
}

/* INVALID for anything that control_encode does not write. */
Status control_decode(Slice bytes, Arena *arena, ControlRequest *ret_request)
{
    Reader reader = reader_of(bytes);
    ControlRequest request = {.count = reader_u16(&reader)};
    if (request.count > CONTROL_WORDS)
        return STATUS_INVALID;
    request.words = ARENA_ARRAY(arena, request.count, Slice);
    for (size_t i = 0; i < request.count; i++)
        request.words[i] = arena_copy(arena, reader_bytes(&reader, reader_u32(&reader)));
    Slice directory = reader_bytes(&reader, reader_u32(&reader));
    request.input = arena_copy(arena, reader_bytes(&reader, reader_u32(&reader)));
    if (!reader_done(&reader) || directory.size == 0 || directory.data[0] != '/' ||
        slice_find(directory, '\0') < directory.size)
        return STATUS_INVALID;
    request.directory = arena_text(arena, directory);
    *ret_request = request;
    return STATUS_OK;
}

/* ---- Sockets --------------------------------------------------------------------------------------------- */

static bool send_all(int fd, Slice bytes)
{
    while (bytes.size > 0) {
        ssize_t sent = send(fd, bytes.data, bytes.size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        bytes = slice_after(bytes, (size_t)sent);
    }
    return true;
}

/* When a request must be here, whole; NULL: the other side may take its time. */
typedef struct Deadline {
    Clock clock;
    int64_t until_us;
} Deadline;

static bool arrives(int fd, const Deadline *deadline)
{
    if (deadline == NULL)
        return true;
    int64_t left_us = deadline->until_us - clock_steady_us(deadline->clock);
    struct pollfd wait = {fd, POLLIN, 0};
    return left_us > 0 && poll(&wait, 1, (int)(left_us / US_PER_MS) + 1) != 0;
}

static bool receive_all(int fd, char *to, size_t size, const Deadline *deadline)
{
    while (size > 0) {
        if (!arrives(fd, deadline))
            return false;
        ssize_t got = recv(fd, to, size, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        to += got;
        size -= (size_t)got;
    }
    return true;
}

/* A size and as many bytes; false when the other side is gone, too slow, or over the bound. */
static bool receive_sized(int fd, size_t most, const Deadline *deadline, Buffer *to)
{
    char head[4];
    if (!receive_all(fd, head, sizeof head, deadline))
        return false;
    Reader reader = reader_of(slice_of(head, sizeof head));
    size_t size = reader_u32(&reader);
    if (size > most || !receive_all(fd, buffer_reserve(to, size), size, deadline))
        return false;
    to->size += size;
    return true;
}

static bool send_frame(int fd, char kind, Slice bytes)
{
    BUFFER_SCOPE Buffer frame = {0};
    buffer_u8(&frame, (uint8_t)kind);
    encode_slice(&frame, bytes);
    if (send_all(fd, buffer_slice(&frame)))
        return true;
    shutdown(fd, SHUT_RDWR); /* what came after a torn frame could only be misread */
    return false;
}

/* A socket's address holds 107 bytes, a path may be longer: /proc/self/fd/N of the directory is always short. */
static Status address_of(const char *data, int *ret_directory, struct sockaddr_un *ret_address,
                         Reason *reason)
{
    int directory = open(data, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return reason_set(reason, errno == ENOENT ? STATUS_NOT_FOUND : STATUS_UNAVAILABLE, "data",
                          "%s: %s", data, strerror(errno));
    *ret_address = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(ret_address->sun_path, sizeof ret_address->sun_path, "/proc/self/fd/%d/control.sock",
             directory);
    *ret_directory = directory;
    return STATUS_OK;
}

/* ---- The server's end ------------------------------------------------------------------------------------ */

static void write_frame(void *self, int stream, Slice bytes)
{
    static const char KINDS[] = {[1] = 'o', [2] = 'e', [OUTPUT_PROGRESS] = 'p'};
    (void)!send_frame(*(int *)self, KINDS[stream], bytes); /* the client may be gone */
}

static bool may_ask(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           (peer.uid == 0 || peer.uid == geteuid());
}

static void answer(Control *control, int fd)
{
    ARENA_SCOPE Arena *arena = arena_new();
    BUFFER_SCOPE Buffer bytes = {0};
    ControlRequest request;
    char code = EXIT_FAILED;
    Deadline deadline = {control->clock, clock_steady_us(control->clock) + REQUEST_S * US_PER_S};
    if (!may_ask(fd) || !receive_sized(fd, CONTROL_MAX, &deadline, &bytes))
        return;
    if (control_decode(buffer_slice(&bytes), arena, &request) == STATUS_OK)
        code = (char)control->run(control->self, &request, (Output){write_frame, &fd});
    else
        (void)!send_frame(fd, 'e', SLICE("ostraka: the request cannot be read\n"));
    (void)!send_frame(fd, 'x', slice_of(&code, 1));
}

static void *serve_client(void *argument)
{
    Client client = *(Client *)argument;
    free(argument);
    answer(client.control, client.fd);
    close(client.fd);
    pthread_mutex_lock(&client.control->lock);
    client.control->clients--;
    pthread_cond_broadcast(&client.control->client_left);
    pthread_mutex_unlock(&client.control->lock);
    return NULL;
}

static void start_client(Control *control, int fd)
{
    struct timeval limit = {.tv_sec = REQUEST_S};
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    Client *client = malloc(sizeof *client);
    CHECK(client != NULL);
    *client = (Client){control, fd};
    pthread_mutex_lock(&control->lock);
    while (control->clients >= CONTROL_CLIENTS)
        pthread_cond_wait(&control->client_left, &control->lock);
    control->clients++;
    pthread_mutex_unlock(&control->lock);
    pthread_detach(thread_start(THREAD_CONTROL_CLIENT, serve_client, client));
}

static void *accept_clients(void *argument)
{
    Control *control = argument;
    for (;;) {
        struct pollfd wait[] = {{control->listener, POLLIN, 0}, {control->wake[0], POLLIN, 0}};
        if (poll(wait, 2, -1) < 0 && errno != EINTR)
            return NULL;
        if (wait[1].revents != 0)
            return NULL;
        int fd = wait[0].revents != 0 ? accept4(control->listener, NULL, NULL, SOCK_CLOEXEC) : -1;
        if (fd >= 0)
            start_client(control, fd);
        else if (wait[0].revents != 0)
            poll(NULL, 0, 100); /* out of descriptors: it would come back at once */
    }
}

/* The data directory's lock is ours, so a socket that is there was left by a process that is gone. */
static Status listen_at(const char *data, int *ret_listener, Reason *reason)
{
    struct sockaddr_un address;
    int directory, fd = -1;
    TRY(address_of(data, &directory, &address, reason));
    (void)!unlinkat(directory, "control.sock", 0);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    /* The name gets the socket's own mode. (The mask is the whole process's: other threads make files now, too.) */
    bool bound = fd >= 0 && fchmod(fd, 0600) == 0 &&
                 bind(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
                 listen(fd, CONTROL_CLIENTS) == 0;
    int error = errno;
    close(directory);
    if (bound) {
        *ret_listener = fd;
        return STATUS_OK;
    }
    if (fd >= 0)
        close(fd);
    return reason_set(reason, STATUS_UNAVAILABLE, "data", "%s/control.sock: %s", data,
                      strerror(error));
}

Status control_start(const char *data, Clock clock, ControlRun *run, void *self,
                     Control **ret_control, Reason *reason)
{
    int listener = -1;
    TRY(listen_at(data, &listener, reason));
    Control *control = calloc(1, sizeof *control);
    CHECK(control != NULL);
    *control = (Control){.listener = listener, .clock = clock, .run = run, .self = self};
    CHECK(asprintf(&control->path, "%s/control.sock", data) >= 0);
    CHECK(pipe2(control->wake, O_CLOEXEC) == 0);
    pthread_mutex_init(&control->lock, NULL);
    pthread_cond_init(&control->client_left, NULL);
    control->thread = thread_start(THREAD_CONTROL, accept_clients, control);
    *ret_control = control;
    return STATUS_OK;
}

void control_stop(Control *control)
{
    close(control->wake[1]);
    pthread_join(control->thread, NULL);
    close(control->listener);
    (void)!unlink(control->path);
    pthread_mutex_lock(&control->lock);
    while (control->clients > 0)
        pthread_cond_wait(&control->client_left, &control->lock);
    pthread_mutex_unlock(&control->lock);
    pthread_mutex_destroy(&control->lock);
    pthread_cond_destroy(&control->client_left);
    close(control->wake[0]);
    free(control->path);
    free(control);
}

/* ---- The client's end ------------------------------------------------------------------------------------ */

/* Passes frames on until the exit code comes. */
static Status read_answer(int fd, Output output, int *ret_code, Reason *reason)
{
    BUFFER_SCOPE Buffer frame = {0};
    for (char kind; receive_all(fd, &kind, 1, NULL);) {
        buffer_clear(&frame);
        if (!receive_sized(fd, SIZE_MAX / 4, NULL, &frame))
            break;
        if (kind == 'x' && frame.size == 1) {
            *ret_code = frame.data[0];
            return STATUS_OK;
        }
        output.write(output.self,
                     kind == 'o'   ? STDOUT_FILENO
                     : kind == 'p' ? OUTPUT_PROGRESS
                                   : STDERR_FILENO,
                     buffer_slice(&frame));
    }
    return reason_set(
        reason, STATUS_UNKNOWN, "",
        "the running server went away before it answered: the command may have been done or not");
}

Status control_ask(const char *data, const ControlRequest *request, int *ret_fd, Reason *reason)
{
    struct sockaddr_un address;
    int data_fd;
    TRY(address_of(data, &data_fd, &address, reason));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool connected = fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
    int error = errno;
    close(data_fd);
    if (!connected) {
        if (fd >= 0)
            close(fd);
        bool nobody = error == ENOENT || error == ECONNREFUSED;
        return reason_set(reason, nobody ? STATUS_NOT_FOUND : STATUS_UNAVAILABLE, "data",
                          "%s/control.sock: %s", data, strerror(error));
    }
    BUFFER_SCOPE Buffer body = {0};
    BUFFER_SCOPE Buffer sized = {0};
    control_encode(request, &body);
    encode_slice(&sized, buffer_slice(&body));
    if (!send_all(fd, buffer_slice(&sized))) {
        close(fd);
        return reason_set(reason, STATUS_UNAVAILABLE, "",
                          "the running server does not take the command");
    }
    *ret_fd = fd;
    return STATUS_OK;
}

Status control_take(int fd, Output output, int *ret_code, Reason *reason)
{
    Status status = read_answer(fd, output, ret_code, reason);
    close(fd);
    return status;
}

Status control_call(const char *data, const ControlRequest *request, Output output, int *ret_code,
                    Reason *reason)
{
    int fd;
    TRY(control_ask(data, request, &fd, reason));
    return control_take(fd, output, ret_code, reason);
}
