/* A clock that is off: CLOCK_OFF seconds are added to the time of day. See stores_clock.rs. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real)
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, time);
    const char *off = getenv("CLOCK_OFF");
    if (result == 0 && off && clock == CLOCK_REALTIME)
        time->tv_sec += atol(off);
    return result;
}
