/* What a client may do between the halves of a block, while other threads may be at it: wait, write, set another time, fork,
 * drop the block, close the cluster, use another cluster, ask for other results than before.
 * Prints how many results differ in any bit from those of a block whose halves follow at once, and whether
 * other threads were at work while the client slept. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kirin.h"

#define N 8192
#define NI 192
#define FAR 40000
#define FEW 8
#define ROUNDS 24
#define ATTEMPTS 50

typedef struct {
    double acc[NI][3], jerk[NI][3], pot[NI];
    int nearest[NI];
} Results;

static double x[N][3], v[N][3], zero[3], h2[NI];
static int label[N];
static Results usual, found;

static void put(int id, int address, double mass)
{
    int j = address % N;
    g6_set_j_particle(id, address, j, 0.0, 0.0, mass, zero, zero, zero, v[j], x[j]);
}

static void load(int id)
{
    int j;
    g6_open(id);
    for (j = 0; j < N; j++)
        put(id, j, 1.0 / N);
    g6_set_ti(id, 0.125);
}

/* Small blocks without a surprise between their halves: after a surprise other threads stay away for some blocks. */
static void calm(int id)
{
    double acc[FEW][3], jerk[FEW][3], pot[FEW];
    int k;
    for (k = 0; k < 70; k++) {
        g6calc_firsthalf(id, N, FEW, label, x, v, x, v, x[0], 0.01, h2);
        g6calc_lasthalf(id, N, FEW, label, x, v, 0.01, h2, acc, jerk, pot);
    }
}

static void first(int id, int from)
{
    calm(id);
    g6calc_firsthalf(id, N, NI, label + from, x + from, v + from, x, v, x[0], 0.01, h2);
}

static int last(int id, int nearest, Results *to)
{
    memset(to, 0, sizeof *to);
    return nearest ? g6calc_lasthalf2(id, N, NI, label, x, v, 0.01, h2, to->acc, to->jerk, to->pot, to->nearest)
                   : g6calc_lasthalf(id, N, NI, label, x, v, 0.01, h2, to->acc, to->jerk, to->pot);
}

/* 1 if the block of cluster `id` has other results than the usual ones. */
static int differs(int id, int nearest)
{
    size_t compared = nearest ? sizeof usual : sizeof usual - sizeof usual.nearest;
    return last(id, nearest, &found) != 0 || memcmp(&found, &usual, compared) != 0;
}

static void pause_for(int microseconds)
{
    if (microseconds)
        usleep(microseconds);
}

static int in_a_child(int k)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        int wrong = 0;
        alarm(20);
        switch (k % 3) {
        case 0:
            wrong = differs(0, 0);
            break;
        case 1:
            put(0, 5, 3.0);
            wrong = differs(0, 0);
            break;
        case 2:
            g6_close(0);
            load(0);
            first(0, 0);
            wrong = differs(0, 0);
        }
        _exit(wrong);
    }
    return waitpid(child, &status, 0) != child || status != 0;
}

/* Seconds of processor time that other threads of this process have taken. */
static double of_others(void)
{
    struct timespec all, mine;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &all);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &mine);
    return all.tv_sec - mine.tv_sec + 1e-9 * (all.tv_nsec - mine.tv_nsec);
}

static int others_work(void)
{
    int k;
    for (k = 0; k < ATTEMPTS; k++) {
        double before;
        pause_for(20000);
        before = of_others();
        first(0, 0);
        pause_for(20000);
        /* The block takes one thread about a millisecond; a worker that has nothing to do sleeps after 0.05 ms. */
        if (of_others() - before > 4e-4)
            return differs(0, 0) ? -1 : 1;
        last(0, 0, &found);
    }
    return 0;
}

int main(void)
{
    int j, k, wrong[7] = {0};
    srand(7);
    for (j = 0; j < N; j++) {
        label[j] = j;
        for (k = 0; k < 3; k++) {
            x[j][k] = rand() / (double)RAND_MAX - 0.5;
            v[j][k] = rand() / (double)RAND_MAX - 0.5;
        }
    }
    load(0);
    load(1);
    first(0, 0);
    last(0, 1, &usual);
    for (k = 0; k < ROUNDS; k++) {
        int wait = k % 4 * 150;
        first(0, 0);
        pause_for(wait);
        wrong[0] += differs(0, 0);

        first(0, 0);
        pause_for(wait);
        put(0, 7, 5.0);
        g6_set_ti(0, 0.5);
        put(0, FAR + 600 * k, 1.0);
        wrong[1] += differs(0, 0);
        put(0, 7, 1.0 / N);
        g6_set_ti(0, 0.125);

        first(0, 0);
        pause_for(wait);
        wrong[2] += in_a_child(k);
        wrong[2] += differs(0, 0);

        first(0, 100);
        pause_for(wait);
        first(0, 0);
        wrong[3] += differs(0, 0);

        first(1, 0);
        pause_for(wait);
        g6_close(1);
        load(1);
        first(1, 0);
        wrong[4] += differs(1, 0);

        first(0, 0);
        pause_for(wait);
        wrong[5] += differs(0, 1);

        calm(1);
        first(0, 0);
        first(1, 0);
        pause_for(wait);
        wrong[6] += differs(1, 0);
        wrong[6] += differs(0, 0);
    }
    for (k = 0; k < 7; k++)
        printf("%d ", wrong[k]);
    printf("%d\n", others_work());
    return 0;
}
