/* A process forks after its first block; parent and child both go on. */
#define _POSIX_C_SOURCE 200112L
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kirin.h"

#define N 5000
#define NI 64

static double x[N][3], v[N][3], acc[NI][3], jerk[NI][3], pot[NI], h2[NI];
static int index_i[NI], nearest[NI];

static double block(void)
{
    int i;
    double sum = 0.0;
    g6calc_firsthalf(0, N, NI, index_i, x, v, acc, jerk, pot, 0.01, h2);
    if (g6calc_lasthalf2(0, N, NI, index_i, x, v, 0.01, h2, acc, jerk, pot, nearest))
        exit(3);
    for (i = 0; i < NI; i++)
        sum += pot[i];
    return sum;
}

int main(void)
{
    static const double zero[3];
    double before, after;
    int j, status;
    pid_t child;
    srand(7);
    for (j = 0; j < N; j++) {
        int k;
        for (k = 0; k < 3; k++)
            x[j][k] = rand() / (double)RAND_MAX - 0.5;
        g6_set_j_particle(0, j, j, 0.0, 0.0, 1.0 / N, zero, zero, zero, v[j], x[j]);
    }
    for (j = 0; j < NI; j++)
        index_i[j] = j;
    before = block();
    child = fork();
    after = block();
    if (child == 0)
        _exit(after == before ? 0 : 1);
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 2;
    printf("%d %d\n", after == before, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    g6_close(0);
    return 0;
}
