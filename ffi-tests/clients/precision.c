/* Prints which precision clusters take: precision SPELLING, 0 for C and 1 for Fortran. Then writes steps of a
 * particle whose forces are full of noise, and computes a block behind them. */
#include <stdio.h>
#include <stdlib.h>

#include "kirin.h"

enum { MANY = 1300, STEPS = 1200 };

static int fortran;

static int choose(int id, int precision)
{
    return fortran ? kirin_set_precision_(&id, &precision) : kirin_set_precision(id, precision);
}

static int taken(int id, int nj)
{
    return fortran ? kirin_precision_for_(&id, &nj) : kirin_precision_for(id, nj);
}

static int write(int address, double t, double a)
{
    double zero[3] = {0, 0, 0}, aby2[3] = {0, 0, 0}, x[3] = {0, 0, 0};
    aby2[0] = a / 2;
    x[0] = address;
    return g6_set_j_particle(0, address, address, t, 0.0, 1.0, zero, zero, aby2, zero, x);
}

/* The precision of a block. */
static const char *block(int nj)
{
    int label = -1;
    double x[1][3] = {{0.5, 1, 0}}, v[1][3] = {{0}}, h2 = 0, acc[1][3], jerk[1][3], pot;
    if (g6calc_lasthalf(0, nj, 1, &label, x, v, 0.0, &h2, acc, jerk, &pot))
        exit(3);
    return kirin_precision(0);
}

int main(int argc, char **argv)
{
    int i;
    fortran = argc > 1 && atoi(argv[1]);
    g6_open(0);
    printf("%s", kirin_precision(0));
    for (i = 0; i < MANY; i++)
        if (write(i, 0.0, 1.0))
            return 4;
    printf(" %d %d %d", taken(0, 1280), taken(0, 1281), taken(0, -1));
    printf(" %s", block(1280));
    printf(" %s\n", block(1281));
    for (i = KIRIN_AUTO - 1; i <= KIRIN_REDUCED + 1; i++) {
        int status = choose(0, i);
        printf("%d %s\n", status, block(MANY));
    }
    choose(0, KIRIN_MIXED);
    block(MANY); /* noise counts where the last block was not in double precision */
    for (i = 0; i < STEPS; i++)
        write(0, i == 0 ? 0.0 : 0.125 + i / 1024.0, i % 2 ? 1 + 1e-7 : 1 - 1e-7);
    printf("%s\n", block(MANY));
    choose(0, KIRIN_ADAPTIVE);
    for (i = 0; i < STEPS; i++)
        write(0, 2 + i / 1024.0, i % 2 ? 1 + 1e-7 : 1 - 1e-7);
    printf("%s\n", block(MANY));
    return 0;
}
