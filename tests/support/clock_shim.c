// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Preloaded into a program, so that the test controls its clocks. The file named by PAWL_CLOCK_FILE
// is a `struct clock_page`, written by tests/support/moved_clock.hpp. Other clocks, and what the
// page leaves alone, are the system's.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

struct clock_page {
    atomic_uint_least64_t version;          // odd while the page is being written
    _Atomic(int64_t) wall_is_us;            // the wall clock stands at this instant; 0: it runs
    _Atomic(int64_t) wall_ahead_us;         // otherwise it is ahead by this much,
    _Atomic(int64_t) wall_faster_ppm;       // and by this much more
    _Atomic(int64_t) wall_faster_since_us;  // for each µs since then
    _Atomic(int64_t) boot_behind_ns;        // how far boot and monotonic clocks are behind
};

static struct clock_page* page;

__attribute__((constructor)) static void open_clock(void) {
    const char* path = getenv("PAWL_CLOCK_FILE");
    if (!path) return;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) abort();
    void* mapped = mmap(NULL, sizeof *page, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (mapped == MAP_FAILED) abort();
    page = mapped;
}

static int64_t moved_wall(int64_t now) {
    for (;;) {
        const uint64_t before = page->version;
        const int64_t is = page->wall_is_us;
        const int64_t since = now - page->wall_faster_since_us;
        const int64_t moved = now + page->wall_ahead_us + since * page->wall_faster_ppm / 1000000;
        if (before % 2 == 0 && page->version == before) return is != 0 ? is : moved;
    }
}

// Straight to the kernel: the C library's own function may not be resolved yet at the first call.
int clock_gettime(clockid_t which, struct timespec* out) {
    const int result = (int)syscall(SYS_clock_gettime, which, out);
    if (result != 0 || !page) return result;
    switch (which) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE: {
        const int64_t now = moved_wall(out->tv_sec * 1000000 + out->tv_nsec / 1000);
        out->tv_sec = now / 1000000;
        out->tv_nsec = now % 1000000 * 1000;
        break;
    }
    case CLOCK_BOOTTIME:
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE: {
        const int64_t now = out->tv_sec * 1000000000 + out->tv_nsec - page->boot_behind_ns;
        out->tv_sec = now / 1000000000;
        out->tv_nsec = now % 1000000000;
        break;
    }
    default: break;
    }
    return 0;
}

// The program computes an absolute deadline from a moved boot or monotonic clock; the kernel's
// timer uses the kernel's clock, which is ahead of it.
int timerfd_settime(int timer, int flags, const struct itimerspec* when, struct itimerspec* old) {
    struct itimerspec at = *when;
    const int set = at.it_value.tv_sec != 0 || at.it_value.tv_nsec != 0;
    if (page && set && (flags & TFD_TIMER_ABSTIME) != 0) {
        const int64_t ns = at.it_value.tv_sec * 1000000000 + at.it_value.tv_nsec;
        const int64_t moved = ns + page->boot_behind_ns;
        at.it_value.tv_sec = moved / 1000000000;
        at.it_value.tv_nsec = moved % 1000000000;
    }
    return (int)syscall(SYS_timerfd_settime, timer, flags, &at, old);
}

int gettimeofday(struct timeval* restrict out, void* restrict zone) {
    struct timespec now;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
    out->tv_sec = now.tv_sec;
    out->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t* out) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}
