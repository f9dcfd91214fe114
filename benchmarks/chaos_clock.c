/* A wall clock of its own for the processes that this is loaded into (LD_PRELOAD): the machine's, and ahead of it by what
   the file named by CHAOS_CLOCK says. The kernel's receive stamps are moved alike, each by what held when it was made, so
   a stamp from before a step keeps the time of before. Monotonic clocks, sleeps and relative limits are left alone; a wait
   until an instant of the wall clock would be wrong, and nothing in these processes waits so.

   The file: a count, then that many pairs (true wall time, ahead from then on), all 64-bit, nanoseconds. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SIZE 4096
#define SECOND 1000000000LL

static volatile const int64_t *steps;
static int (*true_clock)(clockid_t, struct timespec *);
static ssize_t (*true_recvmsg)(int, struct msghdr *, int);

__attribute__((constructor)) static void load(void) {
    const char *name = getenv("CHAOS_CLOCK");
    int file = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
    true_clock = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    true_recvmsg = (ssize_t(*)(int, struct msghdr *, int))dlsym(RTLD_NEXT, "recvmsg");
    if (file < 0) return;
    void *mapped = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (mapped != MAP_FAILED) steps = mapped;
}

static void move(struct timespec *at) {
    int64_t wall = at->tv_sec * SECOND + at->tv_nsec;
    int64_t number = steps ? steps[0] : 0;
    while (number > 0 && steps[2 * number - 1] > wall) number--;
    if (number == 0) return;
    wall += steps[2 * number];
    at->tv_sec = wall / SECOND;
    at->tv_nsec = wall % SECOND;
}

int clock_gettime(clockid_t clock, struct timespec *at) {
    if (!true_clock) load();
    int failed = true_clock(clock, at);
    if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) move(at);
    return failed;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone) {
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    at->tv_sec = now.tv_sec;
    at->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *at) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at) *at = now.tv_sec;
    return now.tv_sec;
}

ssize_t recvmsg(int socket, struct msghdr *message, int flags) {
    if (!true_recvmsg) load();
    ssize_t size = true_recvmsg(socket, message, flags);
    if (size < 0) return size;
    for (struct cmsghdr *one = CMSG_FIRSTHDR(message); one; one = CMSG_NXTHDR(message, one)) {
        if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SCM_TIMESTAMPNS) continue;
        struct timespec at;
        memcpy(&at, CMSG_DATA(one), sizeof at);
        move(&at);
        memcpy(CMSG_DATA(one), &at, sizeof at);
    }
    return size;
}
