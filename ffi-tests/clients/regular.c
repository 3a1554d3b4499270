/* Prints regular forces, neighbour lists and potentials: regular N NI BY_MASS SCENE BLOCK LONGEST. Targets are the
 * first NI of N stars, asked for BLOCK at a time; a line for each has its sums, the magnitudes that the terms of
 * acceleration and jerk add up to, and its list; then come the potentials. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kirin_nbody6.h"

typedef double vector[3];

static int n, by_mass;
static double *m;
static vector *x, *v;

static double uniform(void) {
    static unsigned long long state = 12345;
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(state >> 11) / 9007199254740992.0;
}

static void *array(size_t count, size_t size) {
    void *made = calloc(count, size);
    if (!made) exit(9);
    return made;
}

/* As the neighbour test has it: without fused operations. */
static double square(const double *r) {
    volatile double xx = r[0] * r[0], yy = r[1] * r[1], zz = r[2] * r[2], sum = xx + yy;
    return sum + zz;
}

/* s of the neighbour test now, or a regular step ahead. */
static double distance2(int i, int j, double dtr, int is_ahead) {
    volatile double way;
    vector r;
    int k;
    for (k = 0; k < 3; k++) {
        r[k] = x[j][k] - x[i][k];
        way = dtr * (v[j][k] - v[i][k]);
        if (is_ahead) r[k] += way;
    }
    return square(r);
}

static void set_up(const char *scene, int ni, double *h2, double *dtr) {
    int i, k;
    for (i = 0; i < n; i++) {
        m[i] = (0.5 + uniform()) / n;
        for (k = 0; k < 3; k++) {
            x[i][k] = 2 * uniform() - 1;
            v[i][k] = 2 * uniform() - 1;
        }
    }
    for (i = 0; i < ni; i++) {
        double radius = i % 7 == 0 ? 0 : i % 7 == 1 ? 1e-9 : i % 7 == 2 ? 4 : 0.05 * (i % 7);
        h2[i] = radius * radius * (by_mass ? n : 1);
        dtr[i] = 0.02 * (i % 5);
    }
    if (!strcmp(scene, "edge")) {
        /* Radii that are the distance of some star, or the next number: the test decides by the last bit. Ways are long
         * enough for the rounding of their products to matter. */
        for (i = 0; i < ni; i++) {
            int j = (i * 37 + 11) % n;
            double s, bound;
            dtr[i] = 0.3 * (i % 5);
            s = fmin(distance2(i, j, dtr[i], 0), distance2(i, j, dtr[i], 1));
            bound = by_mass ? s / m[j] : s;
            h2[i] = i % 3 == 0 ? bound : i % 3 == 1 ? nextafter(bound, 100) : bound * (1 + 1e-7 * (i % 11 - 5));
        }
    } else if (!strcmp(scene, "close")) {
        /* Pairs that are no neighbours, at distances down to 1e-14, and at none. */
        for (i = 0; i < ni; i++) {
            h2[i] = 0;
            memcpy(x[n - 1 - i], x[i], sizeof x[i]);
            if (i % 15) x[n - 1 - i][i % 3] += pow(10.0, -(i % 15));
        }
    } else if (!strcmp(scene, "odd")) {
        /* Escapers, fast stars, masses that single precision does not hold, and what is no number. */
        for (i = 0; i < ni; i++) h2[i] = i % 7 == 2 ? 1e60 : h2[i];
        x[n / 2][1] = 1e9;
        v[n / 3][2] = 1e12;
        m[n / 2] = 1e-60;
        m[n - 1] = 1e50;
        x[1][0] = -1e10;
        dtr[2] = 1e30;
        h2[3] = NAN;
        dtr[4] = NAN;
    } else if (!strcmp(scene, "negative")) {
        /* A target, and stars that are close to others: by mass their bounds are below zero. */
        m[8] = -1e-3;
        for (i = 9; i < 20; i++) {
            m[n / 4 + i] = -1e-3;
            memcpy(x[n / 4 + i], x[i], sizeof x[i]);
            x[n / 4 + i][i % 3] += 1e-11;
            h2[i] = by_mass ? 0.04 * n : 0;
        }
    }
}

/* The magnitudes of the terms of acceleration and jerk. */
static void magnitudes(int i, const int *row, double *scale) {
    int j, k, next = 1;
    scale[0] = scale[1] = 0;
    for (j = 0; j < n; j++) {
        vector w;
        double r2 = distance2(i, j, 0, 0);
        if (next <= row[0] && row[next] == j) {
            next++;
            continue;
        }
        for (k = 0; k < 3; k++) w[k] = v[j][k] - v[i][k];
        if (r2 == 0) continue;
        scale[0] += fabs(m[j]) / r2;
        scale[1] += 4 * fabs(m[j]) * sqrt(square(w)) / (r2 * sqrt(r2));
    }
}

int main(int argc, char **argv) {
    int ni = argc > 6 ? atoi(argv[2]) : 0, block, longest, row, rank = 0, first, i, k;
    double *h2, *dtr, *pot, scale[2];
    vector *acc, *jrk;
    int *list;
    if (argc <= 6) return 2;
    n = atoi(argv[1]);
    by_mass = atoi(argv[3]);
    block = atoi(argv[5]);
    longest = atoi(argv[6]);
    row = longest + 1;
    m = array(n, sizeof *m);
    x = array(n, sizeof *x);
    v = array(n, sizeof *v);
    h2 = array(ni, sizeof *h2);
    dtr = array(ni, sizeof *dtr);
    pot = array(n, sizeof *pot);
    acc = array(ni, sizeof *acc);
    jrk = array(ni, sizeof *jrk);
    list = array((size_t)ni * row, sizeof *list);
    set_up(argv[4], ni, h2, dtr);
    gpunb_open_(&n, &rank);
    gpunb_send_(&n, m, x, v);
    for (first = 0; first < ni; first += block) {
        int some = ni - first < block ? ni - first : block;
        gpunb_regf_(&some, h2 + first, dtr + first, x + first, v + first, acc + first, jrk + first, pot + first, &row,
                    &longest, list + (size_t)first * row, &by_mass);
    }
    for (i = 0; i < ni; i++) {
        const int *found = list + (size_t)i * row;
        printf("%.17g %.17g %.17g ", acc[i][0], acc[i][1], acc[i][2]);
        printf("%.17g %.17g %.17g %.17g ", jrk[i][0], jrk[i][1], jrk[i][2], pot[i]);
        magnitudes(i, found, scale);
        printf("%.6g %.6g %d", scale[0], scale[1], found[0]);
        for (k = 1; k <= found[0]; k++) printf(" %d", found[k]);
        printf("\n");
    }
    for (first = 0; first < ni; first += block) {
        int some = ni - first < block ? ni - first : block, start = first + 1;
        gpupot_(&rank, &start, &some, &n, m, x, pot);
        for (i = 0; i < some; i++) printf("%.17g\n", pot[i]);
    }
    gpunb_close_();
    return 0;
}
