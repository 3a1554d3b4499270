/* Particles at rest: rest TIME. Every particle has this time, which changes no force, but where it is not zero the library
 * does not take the particles to be at rest for ever. Prints the bits of the forces while particles are written again, on
 * pages old and new, and then begin to move. */
#include <stdio.h>
#include <stdlib.h>

#include "kirin.h"

enum { N = 1300, NI = 20 };

static double since;

static void put(int n, int address, const double *v)
{
    double zero[3] = {0.0}, x[3], w[3], t = v ? 1.0 : since;
    int k;
    for (k = 0; k < 3; k++) {
        x[k] = (n * (37 + 4 * k) % 1009) / 504.5 - 1.0;
        w[k] = v ? v[k] : 0.0;
    }
    g6_set_j_particle(0, address, n + 1, t, 0.5, (1 + n % 7) / 4096.0, zero, zero, zero, w, x);
}

static void force(double ti, int nj)
{
    static double x[NI][3], v[NI][3], acc[NI][3], jerk[NI][3], pot[NI], h2[NI];
    static int label[NI];
    int i, k;
    for (i = 0; i < NI; i++) {
        label[i] = i % 3 ? -5 : 40 * i;
        for (k = 0; k < 3; k++)
            x[i][k] = 0.07 * i - 0.5 + 0.1 * k;
    }
    g6_set_ti(0, ti);
    g6calc_firsthalf(0, nj, NI, label, x, v, acc, jerk, pot, 1e-4, h2);
    g6calc_lasthalf(0, nj, NI, label, x, v, 1e-4, h2, acc, jerk, pot);
    for (i = 0; i < NI; i++)
        printf("%a %a %a %a %a\n", acc[i][0], acc[i][1], acc[i][2], pot[i], jerk[i][0]);
}

int main(int argc, char **argv)
{
    double v[3] = {0.25, 0.0, -0.5};
    int n;
    since = argc > 1 ? atof(argv[1]) : 0.0;
    g6_open(0);
    for (n = 0; n < N; n++)
        put(n, n, 0);
    force(0.5, N);
    for (n = 3; n < N; n += 7)
        put(n + 2000, n, 0);
    force(0.75, N);
    /* A new page, of which one address in three is written. */
    for (n = 2048; n < 2500; n += 3)
        put(n, n, 0);
    force(1.0, 2500);
    put(5000, 700, v);
    put(5001, 701, 0);
    force(1.25, 2500);
    for (n = 600; n < 800; n += 2)
        put(n + 9, n, n % 4 ? 0 : v);
    force(1.5, 2500);
    return 0;
}
