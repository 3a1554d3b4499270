/* Steps at changing times with particles on many pages, of which few are written to: prints the bits of the forces of each
 * step. */
#include <stdio.h>

#include "kirin.h"

enum { PAGES = 300, PAGE = 512, FIRST = PAGE * PAGES };

static double mass = 1.0 / PAGES, snap = 0.0;

/* Particle `n`, on its page the first (0) or another one. */
static void put(int page, int slot, int n, double t)
{
    double s[3] = {snap, 0.0, 0.0}, x[3], v[3], a[3], j[3];
    int k;
    for (k = 0; k < 3; k++) {
        x[k] = (n * (37 + 4 * k) % 101) / 50.5 - 1.0;
        v[k] = (n * (53 + 6 * k) % 89) / 44.5 - 1.0;
        a[k] = 0.25 * v[(k + 1) % 3];
        j[k] = 0.125 * x[(k + 2) % 3];
    }
    g6_set_j_particle(0, page * PAGE + slot, n + 1, t, 0.5, mass, s, j, a, v, x);
}

static void force(double ti, int nj)
{
    double x[2][3] = {{0.1, 0.2, 0.3}, {-0.4, 0.5, 0.01}}, v[2][3] = {{0.3, 0.0, 0.1}, {0.0, 0.2, 0.0}};
    double acc[2][3], jerk[2][3], pot[2], h2[2] = {0.0};
    int label[2] = {-5, -6}, i, k;
    g6_set_ti(0, ti);
    g6calc_firsthalf(0, nj, 2, label, x, v, acc, jerk, pot, 1e-4, h2);
    g6calc_lasthalf(0, nj, 2, label, x, v, 1e-4, h2, acc, jerk, pot);
    for (i = 0; i < 2; i++) {
        for (k = 0; k < 3; k++)
            printf("%a %a ", acc[i][k], jerk[i][k]);
        printf("%a\n", pot[i]);
    }
}

int main(void)
{
    int page, n;
    g6_open(0);
    for (page = 0; page < PAGES; page++)
        put(page, 0, page, 0.0), put(page, 100, PAGES + page, 0.0);
    force(0.125, FIRST);
    force(0.25, FIRST);
    /* Three particles move on. */
    for (n = 0; n < 3; n++)
        put(90 * n + 7, 0, 90 * n + 7, 0.25);
    force(0.375, FIRST);
    /* Other masses and labels, and a second derivative of an acceleration, change what is known of a page. */
    mass *= 4096.0;
    put(17, 0, 1017, 0.375);
    put(18, 3, 1018, 0.375);
    snap = 8.0;
    put(19, 3, 1019, 0.375);
    snap = 0.0;
    force(0.5, FIRST);
    force(0.625, FIRST);
    /* An earlier time again, with fewer particles, then with all. */
    force(0.5, FIRST / 2);
    force(0.5, FIRST);
    force(0.625, FIRST / 2);
    force(0.75, FIRST / 2);
    force(0.625, FIRST);
    /* At the same time; on a new page. */
    put(200, 0, 200, 0.5);
    force(0.625, FIRST);
    put(PAGES, 0, 999, 0.5);
    force(0.75, FIRST + PAGE);
    put(5, 0, 5, 0.75);
    force(0.875, FIRST + PAGE);
    force(1.0, FIRST + PAGE);
    return 0;
}
