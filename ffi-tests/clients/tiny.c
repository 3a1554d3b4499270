/* tiny GRAPE TOLERANCE: the least softening lengths there are, with particles that coincide, through GRAPE-5 or GRAPE-6 (5
 * or 6), beside a plain sum. Errors are parts of the sums of the magnitudes of the terms. Prints what is wrong, and how many
 * sums were compared. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kirin.h"
#include "kirin_grape5.h"

#define N 200
#define NI 40

/* Of four particles two coincide, in one leaf of the sum; and each i-particle has a companion AWAY addresses later. */
#define BESIDE 1
#define AWAY 100

typedef double vector[3];

static vector x[N], v[N], zero, a[NI], jerk[NI];
static double m[N], half[N], p[NI];
static double tolerance;
static int wrong, compared;

static double noise(void)
{
    static unsigned long long state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) / 4503599627370496.0 - 1.0;
}

static void fill(void)
{
    int j, k;
    for (j = 0; j < N; j++) {
        int twin = j >= AWAY && j < AWAY + NI ? j - AWAY : j % 4 == BESIDE ? j - BESIDE : j;
        m[j] = (1.5 + noise()) / N;
        for (k = 0; k < 3; k++) {
            x[j][k] = twin < j ? x[twin][k] : noise();
            v[j][k] = twin < j ? v[twin][k] : noise();
        }
    }
}

static void near(const char *how, double eps2, int i, const char *what, double found, double sum, double scale)
{
    compared++;
    if (fabs(found - sum) <= tolerance * scale)
        return;
    if (wrong++ < 10)
        printf("%s, eps2 %g, particle %d: %s %g and not %g\n", how, eps2, i, what, found, sum);
}

/* Coincident particles have one velocity: they add to the potential only. */
static void compare(const char *how, double eps2, int with_self, double sign)
{
    int i, j, k;
    for (i = 0; i < NI; i++) {
        double acc[3] = {0}, jrk[3] = {0}, pot = 0, scale[3] = {0};
        for (j = 0; j < N; j++) {
            double r[3], w[3], r2 = 0, w2 = 0, rw = 0, s;
            for (k = 0; k < 3; k++) {
                r[k] = x[j][k] - x[i][k];
                w[k] = v[j][k] - v[i][k];
                r2 += r[k] * r[k];
                w2 += w[k] * w[k];
                rw += r[k] * w[k];
            }
            if (!with_self && j == i)
                continue;
            s = sqrt(r2 + eps2);
            if (s > 0)
                pot += m[j] / s;
            if (!(r2 > 0))
                continue;
            for (k = 0; k < 3; k++) {
                acc[k] += m[j] * r[k] / (s * s * s);
                jrk[k] += m[j] * (w[k] - 3 * rw / (s * s) * r[k]) / (s * s * s);
            }
            scale[0] += m[j] * sqrt(r2) / (s * s * s);
            scale[1] += m[j] * (sqrt(w2) + 3 * fabs(rw) / s) / (s * s * s);
        }
        scale[2] = pot;
        for (k = 0; k < 3; k++) {
            near(how, eps2, i, "acceleration", a[i][k], acc[k], scale[0]);
            if (!with_self)
                near(how, eps2, i, "jerk", jerk[i][k], jrk[k], scale[1]);
        }
        near(how, eps2, i, "potential", p[i], sign * pot, scale[2]);
    }
}

static void grape5(double eps)
{
    double eps2 = eps * eps, each[NI], lengths[NI];
    int i;
    for (i = 0; i < NI; i++) {
        each[i] = eps2;
        lengths[i] = eps;
    }
    for (i = 0; i < N; i++)
        half[i] = i % 3 ? 0 : eps2;
    g5_set_xmj(0, N, x, m);
    g5_set_n(N);
    g5_set_eps_to_all(eps);
    g5_calculate_force_on_x(x, a, p, NI);
    compare("g5_set_eps_to_all", eps2, 1, 1);
    g5_set_eps2_to_all(eps2);
    g5_calculate_force_on_x(x, a, p, NI);
    compare("g5_set_eps2_to_all", eps2, 1, 1);
    g5_set_eps_to_all(0.5);
    g5_calculate_force_on_xe(x, each, a, p, NI);
    compare("g5_calculate_force_on_xe", eps2, 1, 1);
    g5_set_xi(NI, x);
    g5_set_eps(NI, lengths);
    g5_run();
    g5_get_force(NI, a, p);
    compare("g5_set_eps", eps2, 1, 1);
    /* Squares of i- and j-particles are added. */
    for (i = 0; i < N; i++)
        half[i] = eps2 / 2;
    for (i = 0; i < NI; i++)
        each[i] = eps2 - eps2 / 2;
    g5_set_xmj0(0, N, x, m, half);
    g5_calculate_force_on_x0(x, a, p, NI, each);
    compare("g5_calculate_force_on_x0", eps2, 1, 1);
}

static void grape6(double eps2)
{
    double h2[NI] = {0};
    int index[NI], j, at, ni;
    for (j = 0; j < N; j++)
        g6_set_j_particle(0, j, j, 0, 0, m[j], zero, zero, zero, v[j], x[j]);
    g6_set_ti(0, 0);
    for (at = 0; at < NI; at += ni) {
        ni = g6_npipes() < NI - at ? g6_npipes() : NI - at;
        for (j = 0; j < ni; j++)
            index[j] = at + j;
        g6calc_firsthalf(0, N, ni, index, x + at, v + at, a + at, jerk + at, p + at, eps2, h2);
        g6calc_lasthalf(0, N, ni, index, x + at, v + at, eps2, h2, a + at, jerk + at, p + at);
    }
    compare("GRAPE-6", eps2, 0, -1);
}

int main(int argc, char **argv)
{
    /* Their squares are subnormal, or their cubes are beyond a double's range, or they are beyond single precision's. */
    static const double lengths[] = {1e-161, 1e-160, 1e-157, 1e-155, 1e-154, 1e-150, 1e-125, 1e-105,
                                     1e-103, 1e-102, 1e-80,  1e-60,  1e-30,  1e-22,  1e-19,  1e-10};
    size_t k;
    if (argc < 3)
        return 2;
    tolerance = atof(argv[2]);
    fill();
    if (argv[1][0] == '5')
        g5_open();
    else
        g6_open(0);
    for (k = 0; k < sizeof lengths / sizeof *lengths; k++)
        argv[1][0] == '5' ? grape5(lengths[k]) : grape6(lengths[k] * lengths[k]);
    if (argv[1][0] == '5')
        g5_close();
    else
        g6_close(0);
    printf("%d of %d wrong\n", wrong, compared);
    return 0;
}
