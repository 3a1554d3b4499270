/* Forks again and again while another thread computes; each child uses the library at once: the
 * cluster at work, another one that the parent has, and a new one. During the first fork, after the library
 * has prepared for it, a third thread comes to the idle cluster. Prints how many children found what they
 * should, and the parent's own last results. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kirin.h"

#define CHILDREN 12
#define N 8192
#define NI 512
#define BUSY 3
#define IDLE 4
#define NEW 9

static double x[N][3], v[N][3], zero[3];
static int label[N];
static volatile int going = 1, forking = 0;

/* The force on the particle 0. */
static double block(int id, int ni)
{
    double acc[NI][3], jerk[NI][3], pot[NI] = {0}, h2[NI] = {0};
    int nearest[NI];
    g6calc_firsthalf(id, N, ni, label, x, v, acc, jerk, pot, 0.01, h2);
    if (g6calc_lasthalf2(id, N, ni, label, x, v, 0.01, h2, acc, jerk, pot, nearest))
        return 0.0;
    return pot[0];
}

static void load(int id)
{
    int j;
    g6_open(id);
    for (j = 0; j < N; j++)
        g6_set_j_particle(id, j, j, 0.0, 0.0, 1.0 / N, zero, zero, zero, v[j], x[j]);
}

static void *work(void *unused)
{
    while (going)
        block(BUSY, NI);
    return unused;
}

/* Registered before the library's handler, this one runs after it. */
static void fork_is_prepared(void)
{
    if (!forking) {
        forking = 1;
        usleep(50000);
    }
}

static void *come_late(void *unused)
{
    while (!forking)
        usleep(100);
    block(IDLE, 1);
    return unused;
}

int main(void)
{
    pthread_t thread, late;
    double usual;
    int j, k, good = 0, status;
    srand(7);
    for (j = 0; j < N; j++) {
        label[j] = j;
        for (k = 0; k < 3; k++)
            x[j][k] = rand() / (double)RAND_MAX - 0.5;
    }
    if (pthread_atfork(fork_is_prepared, NULL, NULL))
        return 2;
    load(BUSY);
    load(IDLE);
    usual = block(IDLE, 1);
    block(BUSY, NI);
    if (pthread_create(&thread, NULL, work, NULL) || pthread_create(&late, NULL, come_late, NULL))
        return 2;
    for (k = 0; k < CHILDREN; k++) {
        pid_t child;
        usleep(3000 + 1237 * (unsigned)k);
        child = fork();
        if (child == 0) {
            alarm(20);
            if (block(BUSY, 1) != usual)
                _exit(1);
            if (block(IDLE, NI) != usual)
                _exit(2);
            load(NEW);
            if (block(NEW, NI) != usual)
                _exit(3);
            g6_close(BUSY);
            g6_close(NEW);
            exit(0);
        }
        if (child < 0 || waitpid(child, &status, 0) != child)
            return 3;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
            good++;
        else
            fprintf(stderr, "child %d: %x\n", k, status);
    }
    going = 0;
    pthread_join(thread, NULL);
    pthread_join(late, NULL);
    printf("%d %d %d\n", good, block(IDLE, NI) == usual, block(BUSY, NI) == usual);
    return 0;
}
