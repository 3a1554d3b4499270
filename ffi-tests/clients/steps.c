/* Block steps: steps NJ NI ROUNDS NEAREST WORK. Each round sets the time, asks for the forces on NI of
 * NJ particles, does WORK milliseconds of something else before it fetches them, and moves those
 * particles. Prints for each round the seconds that firsthalf took, those of firsthalf, work and
 * lasthalf together, and a number made of all bits of the results. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "kirin.h"

#define MOST 65536

static double x[MOST][3], v[MOST][3], acc[MOST][3], jerk[MOST][3], pot[MOST], h2[MOST];
static int label[MOST], nearest[MOST];

static unsigned long bits(const void *items, unsigned long bytes, unsigned long before)
{
    const unsigned char *each = items;
    while (bytes--)
        before = (before ^ *each++) * 1099511628211UL;
    return before;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double any(void)
{
    static unsigned long state = 1;
    state = state * 6364136223846793005UL + 1442695040888963407UL;
    return (double)(state >> 11) / 9007199254740992.0 - 0.5;
}

int main(int argc, char **argv)
{
    static double zero[3];
    int nj, ni, rounds, round, k, i;
    unsigned long sum;
    struct timespec work;
    if (argc != 6)
        return 2;
    nj = atoi(argv[1]);
    ni = atoi(argv[2]);
    rounds = atoi(argv[3]);
    work.tv_sec = 0;
    work.tv_nsec = atol(argv[5]) * 1000000;
    if (nj > MOST || ni > nj)
        return 2;
    g6_open(0);
    for (i = 0; i < nj; i++) {
        label[i] = i + 1;
        for (k = 0; k < 3; k++) {
            x[i][k] = any();
            v[i][k] = any();
        }
        g6_set_j_particle(0, i, label[i], 0.0, 0.0, 1.0 / nj, zero, zero, zero, v[i], x[i]);
    }
    for (round = 0; round < rounds; round++) {
        double begin, queued, ti = 0.001 * (round + 1);
        g6_set_ti(0, ti);
        begin = now();
        g6calc_firsthalf(0, nj, ni, label, x, v, acc, jerk, pot, 1e-4, h2);
        queued = now();
        if (work.tv_nsec) /* the shortest sleep takes 50 microseconds */
            nanosleep(&work, NULL);
        if (atoi(argv[4]))
            i = g6calc_lasthalf2(0, nj, ni, label, x, v, 1e-4, h2, acc, jerk, pot, nearest);
        else
            i = g6calc_lasthalf(0, nj, ni, label, x, v, 1e-4, h2, acc, jerk, pot);
        if (i)
            return 3;
        printf("%.6f %.6f ", queued - begin, now() - begin);
        sum = bits(acc, ni * sizeof *acc, 14695981039346656037UL);
        sum = bits(jerk, ni * sizeof *jerk, sum);
        sum = bits(pot, ni * sizeof *pot, sum);
        printf("%016lx\n", bits(nearest, ni * sizeof *nearest, sum));
        for (i = 0; i < ni; i++)
            for (k = 0; k < 3; k++)
                x[i][k] += 0.001 * v[i][k];
        for (i = 0; i < ni; i++)
            g6_set_j_particle(0, i, label[i], ti, 0.0, 1.0 / nj, zero, zero, zero, v[i], x[i]);
    }
    g6_close(0);
    return 0;
}
