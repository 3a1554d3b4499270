/* The same question to each interface: the forces of N particles on the first NI of them. */
#ifndef INTERFACES_H
#define INTERFACES_H

#include <math.h>
#include <stdlib.h>

#include "kirin.h"
#include "kirin_grape5.h"
#include "kirin_nbody6.h"

enum { GRAPE6, GRAPE5, REGULAR, IRREGULAR, INTERFACES };

#define MOST 20000
#define NI 16
#define NEIGHBOURS 100
#define EPS 0.1

static double mass[MOST], place[MOST][3], rest[MOST][3];

static void particles(void)
{
    unsigned state = 7;
    int j, k;
    for (j = 0; j < MOST; j++) {
        mass[j] = 1.0;
        for (k = 0; k < 3; k++) {
            state = state * 1664525u + 1013904223u;
            place[j][k] = state / 4294967296.0;
        }
    }
}

/* The address, from 0, of a neighbour of a star. */
static int neighbour(int star, int k, int n)
{
    return (star + 7 * k) % n;
}

static void add(double sum[3], int i, int j, double eps2)
{
    double r[3], r2 = eps2;
    int k;
    for (k = 0; k < 3; k++) {
        r[k] = place[j][k] - place[i][k];
        r2 += r[k] * r[k];
    }
    for (k = 0; k < 3 && r2 > 0; k++)
        sum[k] += mass[j] * r[k] / (r2 * sqrt(r2));
}

/* Whether the accelerations are those of a plain sum. */
static int is_right(int what, int n, double acc[NI][3])
{
    double eps2 = what == GRAPE5 ? EPS * EPS : what == GRAPE6 ? EPS : 0.0;
    int i, j, k;
    for (i = 0; i < NI; i++) {
        double sum[3] = {0, 0, 0}, error = 0, size = 0;
        if (what == IRREGULAR)
            for (k = 1; k <= NEIGHBOURS; k++)
                add(sum, i, neighbour(i, k, n), 0.0);
        else
            for (j = 0; j < n; j++)
                if (j != i)
                    add(sum, i, j, eps2);
        for (k = 0; k < 3; k++) {
            error += fabs(acc[i][k] - sum[k]);
            size += fabs(sum[k]);
        }
        if (!(error < 1e-4 * size))
            return 0;
    }
    return 1;
}

/* What a client does as soon as the interface is open. */
static void (*when_open)(void);

static int opened(int code)
{
    if (when_open)
        when_open();
    return code;
}

/* Asks one interface, beginning with the call that opens it. Returns whether it answered everything and rightly.
 * GRAPE-6 is asked for cluster `id`. */
static int answer(int what, int id, int n)
{
    double acc[NI][3] = {{0}}, jerk[NI][3] = {{0}}, pot[NI] = {0}, h2[NI] = {0}, zero[3] = {0, 0, 0}, t = 0;
    int index[NI], list[NI][2], codes = 0, one = 1, two = 2, none = 0, ni = NI, i, k;
    for (i = 0; i < NI; i++)
        index[i] = i;
    switch (what) {
    case GRAPE6:
        codes |= opened(g6_open(id));
        for (i = 0; i < n; i++)
            codes |= g6_set_j_particle(id, i, i, 0, 0, mass[i], zero, zero, zero, zero, place[i]);
        codes |= g6_set_ti(id, 0);
        codes |= g6calc_firsthalf(id, n, NI, index, place, rest, acc, jerk, pot, EPS, h2);
        codes |= g6calc_lasthalf(id, n, NI, index, place, rest, EPS, h2, acc, jerk, pot);
        break;
    case GRAPE5:
        codes |= opened(g5_open());
        codes |= g5_set_n(n) | g5_set_eps_to_all(EPS) | g5_set_xmj(0, n, place, mass);
        codes |= g5_calculate_force_on_x(place, acc, pot, NI);
        break;
    case REGULAR:
        codes |= opened(gpunb_open_(&n, &none));
        codes |= gpunb_send_(&n, mass, place, rest);
        codes |= gpunb_regf_(&ni, h2, h2, place, rest, acc, jerk, pot, &two, &one, list[0], &none);
        break;
    default:
        codes |= opened(irr_simd_open_(&n, &one, &none));
        for (i = 1; i <= n; i++) {
            int near[1 + NEIGHBOURS] = {NEIGHBOURS};
            for (k = 1; k <= NEIGHBOURS; k++)
                near[k] = 1 + neighbour(i - 1, k, n);
            codes |= irr_simd_set_jp_(&i, place[i - 1], zero, zero, zero, &mass[i - 1], &t);
            codes |= irr_simd_set_list_(&i, near);
        }
        for (i = 0; i < NI; i++)
            index[i] = i + 1;
        codes |= irr_simd_firr_vec_(&t, &ni, index, acc, jerk, list[0]);
    }
    return codes == 0 && is_right(what, n, acc);
}

/* Gives back what the question took. */
static void end(int what, int id)
{
    int none = 0;
    switch (what) {
    case GRAPE6: g6_close(id); break;
    case GRAPE5: g5_close(); break;
    case REGULAR: gpunb_close_(); break;
    default: irr_simd_close_(&none);
    }
}

#endif
