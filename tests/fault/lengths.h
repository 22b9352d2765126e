/* lengths.h -- how many bytes of each file would survive a power cut.
 *
 * Files are known by inode, so renames and hard links change nothing. The caller holds the lock. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

void lengths_load(void);
/* A file was opened: `emptied` if it is new or was opened with O_TRUNC. */
void lengths_opened(int fd, bool emptied);
/* Bytes from `start` on were written. */
void lengths_written(int fd, off_t start);
void lengths_truncated(ino_t inode, off_t size);
/* A sync that began when the file had `size` bytes has ended. */
void lengths_synced(ino_t inode, off_t size);
void lengths_sync_failed(ino_t inode);
/* Cuts every file below `root` back. */
void lengths_cut(const char *root);
