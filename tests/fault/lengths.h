/* lengths.h -- how many bytes of each file would survive a power cut.
 *
 * Files are known by inode, so renames and hard links change nothing. The caller holds the lock. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

void lengths_load(void);
/* A file was opened: `emptied` if it is new or was opened with O_TRUNC. */
void lengths_opened(int fd, bool emptied);
/* Bytes from `start` on are about to be written: synced ones among them are remembered as they are. */
void lengths_writing(int fd, off_t start, size_t size);
void lengths_truncated(ino_t inode, off_t size);
/* A sync begins; what is written from now on is not saved by it. */
uint64_t lengths_sync_begins(void);
/* It has ended, and the file had `size` bytes when it began. */
void lengths_synced(ino_t inode, off_t size, uint64_t began);
void lengths_sync_failed(ino_t inode);
/* Leaves of every file below `root` what the power cut leaves. */
void lengths_cut(const char *root);
