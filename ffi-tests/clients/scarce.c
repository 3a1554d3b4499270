/* So many j-particles, so many i-particles, and so many kilobytes of address space: prints what the
 * loads, firsthalf and lasthalf answered, then whether the same cluster computes a small block right. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "kirin.h"

static double zero[3];

int main(int argc, char **argv)
{
    struct rlimit limit;
    int nj = argc > 1 ? atoi(argv[1]) : 1, ni = argc > 2 ? atoi(argv[2]) : 1, i, j;
    int load = 0, first, last, lists = 0;
    double (*x)[3] = calloc((size_t)ni, sizeof *x), (*v)[3] = calloc((size_t)ni, sizeof *v);
    double *pot = calloc((size_t)ni, sizeof *pot), *h2 = calloc((size_t)ni, sizeof *h2);
    double (*acc)[3] = calloc((size_t)ni, sizeof *acc), (*jerk)[3] = calloc((size_t)ni, sizeof *jerk);
    int *label = calloc((size_t)ni, sizeof *label), *nearest = calloc((size_t)ni, sizeof *nearest);
    if (!x || !v || !pot || !h2 || !acc || !jerk || !label || !nearest)
        return 2;
    limit.rlim_cur = limit.rlim_max = 1024UL * (argc > 3 ? strtoul(argv[3], NULL, 10) : 0);
    if (limit.rlim_cur && setrlimit(RLIMIT_AS, &limit))
        return 2;
    g6_open(0);
    for (j = 0; j < nj; j++) {
        double xj[3];
        int code;
        xj[0] = 1.0 + j % 1000;
        xj[1] = j / 1000 % 1000;
        xj[2] = 0.5;
        code = g6_set_j_particle(0, j, j, 0.0, 0.0, 1.0, zero, zero, zero, zero, xj);
        if (code < load)
            load = code;
    }
    for (i = 0; i < ni; i++)
        label[i] = -1 - i;
    /* Every i-particle in one place, far from all but one: with a neighbour in its list. */
    h2[0] = 1e12;
    first = g6calc_firsthalf(0, nj, ni, label, x, v, acc, jerk, pot, 1e-4, h2);
    last = g6calc_lasthalf2(0, nj, ni, label, x, v, 1e-4, h2, acc, jerk, pot, nearest);
    if (!first && !last)
        lists = g6_read_neighbour_list(0);
    printf("%d %d %d %d\n", load, first, last, lists);
    fflush(stdout);
    h2[0] = 0.0;
    /* The same cluster, and a page that it had before. */
    if (g6_set_j_particle(0, 0, 0, 0.0, 0.0, 4.0, zero, zero, zero, zero, zero))
        return 3;
    x[0][0] = 2.0;
    first = g6calc_firsthalf(0, 1, 1, label, x, v, acc, jerk, pot, 0.0, h2);
    last = g6calc_lasthalf2(0, 1, 1, label, x, v, 0.0, h2, acc, jerk, pot, nearest);
    printf("%d %d %.9f\n", first, last, pot[0]);
    return 0;
}
