/* A signal handler that calls the library, again and again, whatever it interrupts. Prints whether
 * calls were refused inside others, and whether all results of the program itself were right. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "kirin.h"

#define N 2000
#define NI 8

static double x[N][3], v[N][3], zero[3];
static double acc[NI][3], jerk[NI][3], pot[NI], h2[NI];
static int label[N], nearest[NI];
static volatile sig_atomic_t done, refused, odd;

static void note(int code)
{
    if (code == 0)
        done++;
    else if (code < 0)
        refused++;
    else
        odd++;
}

/* None of these changes what the program waits for, in whatever order they come. */
static void handler(int signal)
{
    static int turn;
    (void)signal;
    switch (turn++ % 4) {
    case 0:
        note(g6_set_j_particle(0, N + 1, 1, 0.0, 0.0, 1.0, zero, zero, zero, zero, zero));
        break;
    case 1:
        note(g6_set_ti(0, 0.0));
        break;
    case 2:
        note(g6_open(0));
        break;
    default:
        note(g6_set_j_particle(7, 0, 1, 0.0, 0.0, 1.0, zero, zero, zero, zero, zero));
    }
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double block(void)
{
    g6calc_firsthalf(0, N, NI, label, x, v, acc, jerk, pot, 0.01, h2);
    if (g6calc_lasthalf2(0, N, NI, label, x, v, 0.01, h2, acc, jerk, pot, nearest))
        exit(3);
    return pot[0] + acc[1][0];
}

int main(void)
{
    struct sigaction action;
    struct itimerval often = {{0, 20}, {0, 20}}, never = {{0, 0}, {0, 0}};
    double usual, begin;
    int j, k, wrong = 0;
    srand(7);
    for (j = 0; j < N; j++) {
        label[j] = j;
        for (k = 0; k < 3; k++)
            x[j][k] = rand() / (double)RAND_MAX - 0.5;
        g6_set_j_particle(0, j, j, 0.0, 0.0, 1.0 / N, zero, zero, zero, v[j], x[j]);
    }
    g6_open(7);
    usual = block();
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (begin = seconds(); seconds() < begin + 2.0;) {
        for (j = 0; j < N; j++)
            if (g6_set_j_particle(0, j, j, 0.0, 0.0, 1.0 / N, zero, zero, zero, v[j], x[j]))
                wrong++;
        wrong += block() != usual;
        /* Refused calls of the program itself: messages come while others are made. */
        for (j = 0; j < 20; j++)
            wrong += g6_set_j_particle(0, -1, 0, 0.0, 0.0, 1.0, zero, zero, zero, zero, zero) != -1;
        /* A cluster that comes and goes. */
        g6_open(11);
        g6_close(11);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    printf("%d %d %d %d\n", refused > 0, done > 0, odd, wrong);
    return 0;
}
