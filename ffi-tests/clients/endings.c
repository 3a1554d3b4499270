/* Seven blocks of 1, 2, 3, 1, 2, 3, 1 i-particles on 100 j-particles, and then the end that the
 * argument names. */
#define _POSIX_C_SOURCE 200112L
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kirin.h"

#define N 100

static double x[N][3], v[N][3], acc[3][3], jerk[3][3], pot[3], h2[3];
static int label[N];

static void block(int ni)
{
    g6calc_firsthalf(0, N, ni, label, x, v, acc, jerk, pot, 0.01, h2);
    if (g6calc_lasthalf(0, N, ni, label, x, v, 0.01, h2, acc, jerk, pot))
        exit(3);
}

static void *work(void *unused)
{
    (void)unused;
    for (;;)
        block(1);
    return NULL;
}

static void late(void) { block(2); }

int main(int argc, char **argv)
{
    static const double zero[3];
    const char *end = argc > 1 ? argv[1] : "return";
    int j, status = 0;
    if (!strcmp(end, "late"))
        atexit(late);
    g6_open(0);
    for (j = 0; j < N; j++) {
        x[j][0] = j;
        label[j] = j;
        g6_set_j_particle(0, j, j, 0.0, 0.0, 1.0 / N, zero, zero, zero, v[j], x[j]);
    }
    for (j = 0; j < 7; j++)
        block(1 + j % 3);
    puts("done");
    fflush(stdout);
    if (!strncmp(end, "chosen", 6) && kirin_set_precision(0, KIRIN_MIXED))
        return 4;
    if (!strcmp(end, "chosen and used"))
        block(1);
    if (!strcmp(end, "exit"))
        exit(5);
    if (!strcmp(end, "close"))
        g6_close(0);
    if (!strcmp(end, "idle child") || !strcmp(end, "busy child")) {
        pid_t child = fork();
        if (child == 0) {
            if (!strcmp(end, "busy child"))
                block(3);
            exit(0);
        }
        if (child < 0 || waitpid(child, &status, 0) != child)
            return 2;
    }
    if (!strcmp(end, "thread")) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, NULL))
            return 2;
    }
    if (!strcmp(end, "forever"))
        work(NULL);
    if (!strcmp(end, "crowd")) {
        g6_open(7);
        g6_set_j_particle(7, 0, 0, 0.0, 0.0, 1.0, zero, zero, zero, v[0], x[0]);
    }
    return status;
}
