/* A thread asks for regular forces without end, and the process forks: the child asks for some of its own. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kirin_nbody6.h"

#define N 20000
#define NI 64

static double m[N], x[N][3], v[N][3];
static volatile int ended;

static int ask(double h2) {
    static double radius[2][NI], dtr[NI], acc[2][NI][3], jrk[2][NI][3], pot[2][NI];
    static int list[2][NI][2];
    int ni = NI, lmax = 2, nbmax = 1, flag = 0, i, who = h2 == 0;
    for (i = 0; i < NI; i++) radius[who][i] = h2;
    gpunb_regf_(&ni, radius[who], dtr, x, v, acc[who], jrk[who], pot[who], &lmax, &nbmax, &list[who][0][0], &flag);
    return list[who][7][0];
}

static void *work(void *nothing) {
    while (!ended) ask(1e-20);
    return nothing;
}

int main(void) {
    pthread_t thread;
    int n = N, i, k, wrong = 0;
    for (i = 0; i < N; i++) {
        m[i] = 1.0 / N;
        for (k = 0; k < 3; k++) x[i][k] = rand() / (double)RAND_MAX;
    }
    gpunb_send_(&n, m, x, v);
    pthread_create(&thread, NULL, work, NULL);
    for (i = 0; i < 20; i++) {
        int status = -1;
        pid_t child = fork();
        if (child == 0) {
            /* The sources are there: with no radius there is no neighbour, with a small one the particle itself. */
            _exit(ask(0) == 0 && ask(1e-20) == 1 ? 0 : 1);
        }
        waitpid(child, &status, 0);
        if (status != 0) wrong++;
    }
    ended = 1;
    pthread_join(thread, NULL);
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
