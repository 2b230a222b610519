/* How long a cache line takes from one core to another, in ns: two threads hand it to and fro.

   cc -O2 -pthread -o cores_apart cores_apart.c && ./cores_apart 0 1 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TIMES = 100000 };

static _Alignas(128) atomic_long line;

static void take_core(int core) {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(core, &only);
    sched_setaffinity(0, sizeof only, &only);
}

static void *answer(void *core) {
    take_core(*(int *)core);
    for (long k = 0; k < TIMES; k++) {
        while (atomic_load(&line) != 2 * k + 1) {
        }
        atomic_store(&line, 2 * k + 2);
    }
    return NULL;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

int main(int count, char **words) {
    if (count != 3) {
        fprintf(stderr, "cores_apart CORE CORE\n");
        return 2;
    }
    int one = atoi(words[1]), other = atoi(words[2]);
    pthread_t thread;
    if (pthread_create(&thread, NULL, answer, &other) != 0)
        return 1;
    take_core(one);
    double begun = now();
    for (long k = 0; k < TIMES; k++) {
        atomic_store(&line, 2 * k + 1);
        while (atomic_load(&line) != 2 * k + 2) {
        }
    }
    printf("%.1f\n", (now() - begun) / TIMES / 2);
    pthread_join(thread, NULL);
    return 0;
}
