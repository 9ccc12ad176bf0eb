// Preloaded into a real redis-server, so that its wall clock is what a test says: the first eight
// bytes of the file named by PAWL_CLOCK_FILE, µs since 1970. Other clocks are the system's.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t* clock_us;

__attribute__((constructor)) static void open_clock(void) {
    const char* path = getenv("PAWL_CLOCK_FILE");
    if (!path) return;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) abort();
    void* page = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (page == MAP_FAILED) abort();
    clock_us = page;
}

// Straight to the kernel: the C library's own function may not be found yet at the first call.
int clock_gettime(clockid_t which, struct timespec* out) {
    if (clock_us && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE)) {
        const int64_t now = *clock_us;
        out->tv_sec = now / 1000000;
        out->tv_nsec = now % 1000000 * 1000;
        return 0;
    }
    return (int)syscall(SYS_clock_gettime, which, out);
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
