// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Preloaded into a program, so that the test fills its disk: while the first byte of the file named
// by PAWL_DISK_FILE is not 0, no file grows. What the program prints is left alone.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static volatile const char* is_full;

__attribute__((constructor)) static void open_switch(void) {
    const char* path = getenv("PAWL_DISK_FILE");
    if (!path) return;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) abort();
    void* mapped = mmap(NULL, 1, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (mapped == MAP_FAILED) abort();
    is_full = mapped;
}

// A negative begin: at the end, or at the file's position.
static int lacks_space(int file, off_t begin, size_t count) {
    struct stat facts;
    if (!is_full || !*is_full || file <= STDERR_FILENO) return 0;
    if (fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode)) return 0;
    if (begin < 0)
        begin = fcntl(file, F_GETFL) & O_APPEND ? facts.st_size : lseek(file, 0, SEEK_CUR);
    return begin + (off_t)count > facts.st_size;
}

static ssize_t refuse(void) {
    errno = ENOSPC;
    return -1;
}

ssize_t write(int file, const void* data, size_t count) {
    return lacks_space(file, -1, count) ? refuse() : syscall(SYS_write, file, data, count);
}

ssize_t pwrite64(int file, const void* data, size_t count, off64_t begin) {
    return lacks_space(file, begin, count) ? refuse()
                                           : syscall(SYS_pwrite64, file, data, count, begin);
}

ssize_t pwrite(int file, const void* data, size_t count, off_t begin) {
    return pwrite64(file, data, count, begin);
}

ssize_t pwritev64(int file, const struct iovec* parts, int number, off64_t begin) {
    size_t count = 0;
    for (int i = 0; i < number; ++i)
        count += parts[i].iov_len;
    return lacks_space(file, begin, count) ? refuse()
                                           : syscall(SYS_pwritev, file, parts, number, begin, 0);
}

ssize_t pwritev(int file, const struct iovec* parts, int number, off_t begin) {
    return pwritev64(file, parts, number, begin);
}

int fallocate64(int file, int mode, off64_t begin, off64_t count) {
    return lacks_space(file, begin, (size_t)count)
               ? (int)refuse()
               : (int)syscall(SYS_fallocate, file, mode, begin, count);
}

int fallocate(int file, int mode, off_t begin, off_t count) {
    return fallocate64(file, mode, begin, count);
}

int posix_fallocate64(int file, off64_t begin, off64_t count) {
    return fallocate64(file, 0, begin, count) == 0 ? 0 : errno;
}

int posix_fallocate(int file, off_t begin, off_t count) {
    return posix_fallocate64(file, begin, count);
}
