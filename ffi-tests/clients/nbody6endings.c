/* Calls of NBODY6's library on 100 stars: two sends, seven calls for regular forces on 1, 2, 3, 1, 2, 3, 1 of them, two
 * for potentials of four, four for irregular forces on five with three neighbours each; then the end that the argument
 * names. */
#define _POSIX_C_SOURCE 200112L
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kirin_nbody6.h"

#define N 100
#define ROW 3

static double m[N], x[N][3], v[N][3], sum;

static double uniform(void)
{
    static unsigned long long state = 12345;
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(state >> 11) / 9007199254740992.0;
}

static void send(void)
{
    int n = N;
    gpunb_send_(&n, m, x, v);
}

/* The neighbours of the first star are itself and another, which a row holds; others have three. */
static void regular(int ni)
{
    double h2[3] = {2, 2, 2}, dtr[3] = {0, 0, 0}, acc[3][3], jrk[3][3], pot[3];
    int row = ROW, longest = ROW - 1, flag = 0, list[3 * ROW], i;
    gpunb_regf_(&ni, h2, dtr, x, v, acc, jrk, pot, &row, &longest, list, &flag);
    for (i = 0; i < ni; i++) sum += acc[i][0] + jrk[i][1] + pot[i] + list[i * ROW];
}

static void potentials(int start)
{
    double pot[4];
    int rank = 0, ni = 4, n = N;
    gpupot_(&rank, &start, &ni, &n, m, x, pot);
    sum += pot[0] - pot[3];
}

static void set_up(void)
{
    int nmax = N, lmax = 10, rank = 0, i, k, list[4] = {3};
    double acc2[3] = {0.1, 0.2, 0.3}, jrk6[3] = {0.01, 0.02, 0.03}, time = 0.0625;
    irr_simd_open_(&nmax, &lmax, &rank);
    for (i = 1; i <= N; i++) {
        for (k = 1; k <= 3; k++) list[k] = 1 + (i + 7 * k) % N;
        irr_simd_set_jp_(&i, x[i - 1], v[i - 1], acc2, jrk6, &m[i - 1], &time);
        irr_simd_set_list_(&i, list);
    }
}

static void irregular(int first)
{
    double ti = 0.125, acc[5][3], jrk[5][3];
    int ni = 5, addr[5], nearest[5], i;
    for (i = 0; i < 5; i++) addr[i] = first + 2 * i;
    irr_simd_firr_vec_(&ti, &ni, addr, acc, jrk, nearest);
    for (i = 0; i < 5; i++) sum += acc[i][0] + jrk[i][1] + nearest[i];
}

static void *work(void *unused)
{
    (void)unused;
    for (;;) {
        regular(3);
        irregular(1);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    const char *end = argc > 1 ? argv[1] : "return";
    int i, k, rank = 0, nbmax = N, status = 0;
    for (i = 0; i < N; i++) {
        m[i] = 1.0 / N;
        for (k = 0; k < 3; k++) {
            x[i][k] = (k == 0 ? i : 0) + 0.1 * uniform();
            v[i][k] = uniform();
        }
    }
    gpunb_open_(&nbmax, &rank);
    set_up();
    for (i = 0; i < 7; i++) {
        if (i % 4 == 0) send();
        regular(1 + i % 3);
    }
    potentials(1);
    potentials(51);
    for (i = 0; i < 4; i++) irregular(1 + 10 * i);
    printf("%.17g\n", sum);
    fflush(stdout);
    if (!strcmp(end, "close")) {
        gpunb_close_();
        irr_simd_close_(&rank);
    }
    if (!strcmp(end, "idle child") || !strcmp(end, "busy child")) {
        pid_t child = fork();
        if (child == 0) {
            if (!strcmp(end, "busy child")) {
                regular(3);
                irregular(1);
                irregular(2);
            }
            exit(0);
        }
        if (child < 0 || waitpid(child, &status, 0) != child) return 2;
    }
    if (!strcmp(end, "thread")) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, NULL)) return 2;
    }
    if (!strcmp(end, "forever")) work(NULL);
    return status;
}
