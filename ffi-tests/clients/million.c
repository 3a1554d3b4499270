/* Loads a million j-particles, computes one block, and prints how many bytes of memory
 * each of them costs; the program itself keeps none of them. */
#include <stdio.h>
#include <stdlib.h>

#include "kirin.h"
#include "memory.h"

#define N 1000000

static void particle(int j, double scale)
{
    double x[3], v[3], a[3];
    int k;
    for (k = 0; k < 3; k++) {
        x[k] = scale * ((j * (k + 7.0) * 0.618) - (long)(j * (k + 7.0) * 0.618) - 0.5);
        v[k] = 0.1 * x[k];
        a[k] = -0.1 * x[k];
    }
    if (g6_set_j_particle(0, j, j, 0.0, 0.125, 1.0 / N, a, a, a, v, x))
        exit(3);
}

int main(void)
{
    static double xi[4][3] = {{2, 0, 0}, {0, 2, 0}, {0, 0, 2}, {1, 1, 1}};
    static double vi[4][3], acc[4][3], jerk[4][3], pot[4], h2[4];
    static int index[4] = {-1, -2, -3, -4}, nearest[4];
    double before, after;
    int j;
    g6_open(0);
    particle(0, 1.0);
    g6_set_ti(0, 0.25);
    g6calc_firsthalf(0, 1, 4, index, xi, vi, acc, jerk, pot, 0.01, h2);
    g6calc_lasthalf2(0, 1, 4, index, xi, vi, 0.01, h2, acc, jerk, pot, nearest);
    before = 1024.0 * most_memory();
    for (j = 0; j < N; j++)
        particle(j, 1.0);
    g6calc_firsthalf(0, N, 4, index, xi, vi, acc, jerk, pot, 0.01, h2);
    if (g6calc_lasthalf2(0, N, 4, index, xi, vi, 0.01, h2, acc, jerk, pot, nearest))
        return 4;
    /* A client's habit: a part of the particles is sent again behind a block. */
    for (j = 0; j < N; j += 10)
        particle(j, 2.0);
    g6calc_firsthalf(0, N, 4, index, xi, vi, acc, jerk, pot, 0.01, h2);
    if (g6calc_lasthalf2(0, N, 4, index, xi, vi, 0.01, h2, acc, jerk, pot, nearest))
        return 4;
    after = 1024.0 * most_memory();
    printf("%.1f\n", (after - before) / N);
    return pot[0] < 0.0 ? 0 : 5;
}
