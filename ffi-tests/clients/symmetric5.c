/*
 * symmetric5.c: a client of a Phantom-GRAPE that was built with SYMMETRIC. The last argument of g5_set_xmj are the squares of the
 * j-particles' softening lengths. Prints the largest error of forces and potentials, relative to the sum of magnitudes.
 *
 * "symmetric5 usual N" calls the C names, "symmetric5 fortran N" the Fortran names, "symmetric5 plain N" passes no such argument
 * and compares with forces without it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef OWN_HEADER
typedef double (*vectors)[3];
int g5_open(void);
int g5_close(void);
int g5_set_n(int n);
int g5_set_nMC(int devid, int n);
int g5_set_eps_to_all(double eps);
int g5_set_xi(int ni, vectors xi);
int g5_set_xiMC(int devid, int ni, vectors xi);
int g5_set_xei(int ni, vectors xi, double *eps2);
int g5_set_eps(int ni, double *eps);
int g5_run(void);
int g5_runMC(int devid);
int g5_get_force(int ni, vectors a, double *p);
int g5_get_forceMC(int devid, int ni, vectors a, double *p);
int g5_set_xmj(int adr, int nj, vectors xj, double *mj, double *epsj2);
int g5_set_xmjMC(int devid, int adr, int nj, vectors xj, double *mj, double *epsj2);
int g5_calculate_force_on_x(vectors x, vectors a, double *p, int ni);
int g5_calculate_force_on_xMC(int devid, vectors x, vectors a, double *p, int ni);
int g5_calculate_force_on_xe(vectors x, double *eps2, vectors a, double *p, int ni);
int g5_calculate_force_on_xeMC(int devid, vectors x, double *eps2, vectors a, double *p, int ni);
int g5_set_n_(int *n);
int g5_set_xmj_(int *adr, int *nj, vectors xj, double *mj, double *epsj2);
int g5_set_xmjMC_(int *devid, int *adr, int *nj, vectors xj, double *mj, double *epsj2);
int g5_set_nMC_(int *devid, int *n);
int g5_calculate_force_on_xe_(vectors x, double *eps2, vectors a, double *p, int *ni);
int g5_calculate_force_on_xeMC_(int *devid, vectors x, double *eps2, vectors a, double *p, int *ni);
#else
#define SYMMETRIC
#include "gp5util.h"
#endif

enum { N = 1003, NI = 37 };

static double x[N][3], m[N], ej2[N], ej[N], a[NI][3], p[NI], worst;

static double noise(void)
{
    static unsigned state = 1;
    state = state * 1664525u + 1013904223u;
    return state / 4294967296.0 - 0.5;
}

/* i-particles have softening lengths of their own (`own`) or the length `eps`; j-particles theirs, if `both`. */
static void compare(const char *what, int own, double eps, int both, int n)
{
    double largest = 0.0;
    int i, j, k;
    for (i = 0; i < NI; i++) {
        double sum[4] = {0.0}, scale[2] = {0.0}, error = 0.0;
        for (j = 0; j < n; j++) {
            double r[3], r2 = 0.0, s2, s;
            for (k = 0; k < 3; k++) {
                r[k] = x[j][k] - x[i][k];
                r2 += r[k] * r[k];
            }
            s2 = r2 + (own ? ej2[i] : eps * eps) + (both ? ej2[j] : 0.0);
            s = sqrt(s2);
            for (k = 0; k < 3; k++)
                sum[k] += m[j] * r[k] / (s2 * s);
            sum[3] += m[j] / s;
            scale[0] += m[j] * sqrt(r2) / (s2 * s);
            scale[1] += m[j] / s;
        }
        for (k = 0; k < 3; k++)
            error = fmax(error, fabs(a[i][k] - sum[k]) / scale[0]);
        error = fmax(error, fabs(p[i] - sum[3]) / scale[1]);
        largest = error <= largest ? largest : error; /* NaN, too */
    }
    if (!(largest < 1e-5))
        fprintf(stderr, "%s: %g\n", what, largest);
    worst = largest <= worst ? worst : largest;
    memset(a, 0, sizeof a);
    memset(p, 0, sizeof p);
}

static void usual(int both)
{
    g5_set_xmj(0, N, x, m, ej2);
    g5_set_n(N);
    g5_calculate_force_on_xe(x, ej2, a, p, NI);
    compare("g5_calculate_force_on_xe", 1, 0.0, both, N);
    g5_set_eps_to_all(0.125);
    g5_calculate_force_on_x(x, a, p, NI);
    compare("g5_calculate_force_on_x", 0, 0.125, both, N);
    g5_set_xei(NI, x, ej2);
    g5_run();
    g5_get_force(NI, a, p);
    compare("g5_set_xei, g5_run", 1, 0.0, both, N);
    g5_set_xi(NI, x);
    g5_set_eps(NI, ej);
    g5_run();
    g5_get_force(NI, a, p);
    compare("g5_set_eps, g5_run", 1, 0.0, both, N);
    g5_set_xmjMC(3, 0, N, x, m, ej2);
    g5_set_nMC(3, N - 100);
    g5_calculate_force_on_xeMC(3, x, ej2, a, p, NI);
    compare("g5_calculate_force_on_xeMC", 1, 0.0, both, N - 100);
    g5_calculate_force_on_xMC(3, x, a, p, NI);
    compare("g5_calculate_force_on_xMC", 0, 0.125, both, N - 100);
    g5_set_xiMC(3, NI, x);
    g5_runMC(3);
    g5_get_forceMC(3, NI, a, p);
    compare("g5_runMC", 0, 0.125, both, N - 100);
}

#ifdef OWN_HEADER
static void fortran(void)
{
    int zero = 0, two = 2, n = N, less = N - 100, ni = NI;
    g5_set_xmj_(&zero, &n, x, m, ej2);
    g5_set_n_(&n);
    g5_calculate_force_on_xe_(x, ej2, a, p, &ni);
    compare("g5_calculate_force_on_xe_", 1, 0.0, 1, N);
    g5_set_xmjMC_(&two, &zero, &n, x, m, ej2);
    g5_set_nMC_(&two, &less);
    g5_calculate_force_on_xeMC_(&two, x, ej2, a, p, &ni);
    compare("g5_calculate_force_on_xeMC_", 1, 0.0, 1, N - 100);
}
#endif

int main(int argc, char **argv)
{
    int j, k;
    for (j = 0; j < N; j++) {
        m[j] = (1.5 + noise()) / N;
        ej[j] = 0.1 + 0.09 * noise();
        ej2[j] = ej[j] * ej[j];
        for (k = 0; k < 3; k++)
            x[j][k] = noise();
    }
    g5_open();
#ifdef OWN_HEADER
    if (argc > 1 && !strcmp(argv[1], "fortran"))
        fortran();
    else
#endif
        usual(!(argc > 1 && !strcmp(argv[1], "plain")));
    g5_close();
    puts(worst < 1e-5 ? "right" : "wrong");
    return 0;
}
