/* watch.h -- which calls are watched, and the frame around each of them.
 *
 * A watched call is judged, made and recorded between watch_begin (or watch_refused) and watch_end. One lock is held
 * meanwhile, so that the power fails between two calls and never inside one. Descriptors are remembered by inode
 * and compared at each use: stdio closes files behind our back, and their numbers come back as sockets. */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "plan.h"

#define EXPORT        __attribute__((visibility("default")))
#define ALSO_AS(name) __attribute__((visibility("default"), alias(#name)))

/* True if the path leads to the root or below it; `full` is then its absolute form without dots. */
bool watch_inside(int directory, const char *path, char full[PATH_MAX]);
void watch_opened(int fd);
bool watch_is_on(int fd);
void watch_closed(int fd);

void watch_lock(void);
void watch_unlock(void);
/* Takes the lock, counts and judges. The call is described by its path, or by its descriptor where that is NULL.
 * Plays the power cut if it is time. After VERDICT_FAIL errno says what the call is to say. */
Verdict watch_begin(FaultKind kind, int fd, const char *path);
/* The same for calls that know no half. */
bool watch_refused(FaultKind kind, int fd, const char *path);
/* Releases the lock and hands the result on; errno stays. */
long watch_end(long result);
_Noreturn void watch_cut(void);
