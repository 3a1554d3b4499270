/* Calls the library of NBODY6 as NBODY6++, AMUSE's nbody6xx or NBODY6 do, and compares every answer with a plain
 * double-precision sum: nbody6 6++|amuse|6|6-radius|6-2009 [tolerance [traps]]. Ends with a line on stdout, or with what is wrong on stderr. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kirin_nbody6.h"

#define N 1500
#define NI 37
#define ROW 1400
#define UNTOUCHED (-77)

typedef double vector[3];

/* As the other programs declare them. */
typedef int (*regf_of_11)(int *, double *, double *, vector *, vector *, vector *, vector *, double *, int *, int *,
                          int *);
typedef int (*regf_of_10)(int *, double *, vector *, vector *, vector *, vector *, double *, int *, int *, int *);
typedef int (*pot_of_4)(int *, double *, vector *, double *);
typedef int (*open_of_1)(int *);

static double m[N], pot[N + 1], dtr[NI], h2[NI];
static vector x[N], v[N], acc[N + 1], jrk[N + 1];
static int list[(NI + 1) * ROW];
static int failures;
static double tolerance = 1e-6;

static void check(int good, const char *what, int i) {
    if (!good) {
        fprintf(stderr, "%s: %d\n", what, i);
        failures++;
    }
}

static double uniform(void) {
    static unsigned long long state = 12345;
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(state >> 11) / 9007199254740992.0;
}

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void close_to(const double *found, const double *expected, double scale, const char *what, int i) {
    int k;
    for (k = 0; k < 3; k++) check(fabs(found[k] - expected[k]) <= tolerance * scale, what, i);
}

/* Adds the force of j on a particle, with the magnitudes of the terms; nothing at no distance. */
static void add(const double *xi, const double *vi, const double *xj, const double *vj, double mj, double *a, double *j,
                double *p, double *scale) {
    double r[3], w[3], r2, rv, m3;
    int k;
    for (k = 0; k < 3; k++) {
        r[k] = xj[k] - xi[k];
        w[k] = vj[k] - vi[k];
    }
    r2 = dot(r, r);
    if (r2 == 0) return;
    m3 = mj / (r2 * sqrt(r2));
    rv = 3 * dot(r, w) / r2;
    for (k = 0; k < 3; k++) {
        a[k] += m3 * r[k];
        j[k] += m3 * (w[k] - rv * r[k]);
    }
    *p += mj / sqrt(r2);
    scale[0] += fabs(mj) / r2;
    scale[1] += fabs(m3) * (sqrt(dot(w, w)) + fabs(rv) * sqrt(r2));
}

/* Compares row i of a block with the definition. */
static void check_row(int i, int target, int by_mass, int longest) {
    const int *row = list + i * ROW;
    vector a = {0, 0, 0}, j = {0, 0, 0};
    double p = 0, scale[2] = {1e-200, 1e-200};
    int n = 0, k, source;
    for (source = 0; source < N; source++) {
        double now[3], then[3], bound = by_mass ? m[source] * h2[i] : h2[i];
        for (k = 0; k < 3; k++) {
            now[k] = x[source][k] - x[target][k];
            then[k] = now[k] + dtr[i] * (v[source][k] - v[target][k]);
        }
        if (dot(now, now) < bound || dot(then, then) < bound) {
            if (row[0] >= 0) check(row[1 + n] == source, "neighbour", i);
            n++;
        } else {
            add(x[target], v[target], x[source], v[source], m[source], a, j, &p, scale);
        }
    }
    check(row[0] == (n > longest ? -n : n), "number of neighbours", i);
    for (k = n > longest ? 1 : 1 + n; k < ROW; k++) check(row[k] == UNTOUCHED, "beyond the list", i);
    close_to(acc[i], a, scale[0], "regular acceleration", i);
    close_to(jrk[i], j, scale[1], "regular jerk", i);
    check(fabs(pot[i] - p) <= tolerance * p, "regular potential", i);
}

/* The same symbol, as a program with other arguments calls it. */
static void symbol(const char *name, void *function, size_t size) {
    void *found = dlsym(RTLD_DEFAULT, name);
    check(found != NULL, name, 0);
    memcpy(function, &found, size);
}

static void clear(void) {
    int k;
    for (k = 0; k <= N; k++) pot[k] = acc[k][0] = jrk[k][0] = UNTOUCHED;
    for (k = 0; k < (NI + 1) * ROW; k++) list[k] = UNTOUCHED;
}

static void regular(const char *variant, int flag, int nbmax) {
    int ni = NI, row = ROW, i, by_mass, rank = 0;
    if (flag < 0) by_mass = !strcmp(variant, "6");
    else by_mass = flag != 0;
    for (i = 0; i < NI; i++) {
        double radius = i == 5 ? 0 : i == 6 ? 1e-3 : 0.1 + 0.01 * i;
        h2[i] = radius * radius * (by_mass ? N : 1);
        dtr[i] = strcmp(variant, "6-2009") ? 0.01 * (i % 7) : 0;
    }
    clear();
    if (!strcmp(variant, "6-2009")) {
        regf_of_10 regf;
        symbol("gpunb_regf_", &regf, sizeof regf);
        regf(&ni, h2, x + 3, v + 3, acc, jrk, pot, &row, &nbmax, list);
    } else if (flag < 0) {
        regf_of_11 regf;
        symbol("gpunb_regf_", &regf, sizeof regf);
        regf(&ni, h2, dtr, x + 3, v + 3, acc, jrk, pot, &row, &nbmax, list);
    } else {
        gpunb_regf_(&ni, h2, dtr, x + 3, v + 3, acc, jrk, pot, &row, &nbmax, list, &flag);
        gpunb_profile_(&rank);
    }
    for (i = 0; i < NI; i++) check_row(i, i + 3, by_mass, nbmax < ROW - 1 ? nbmax : ROW - 1);
    check(pot[NI] == UNTOUCHED && acc[NI][0] == UNTOUCHED && jrk[NI][0] == UNTOUCHED, "beyond ni", NI);
    check(list[NI * ROW] == UNTOUCHED, "beyond the rows", NI);
}

/* As NBODY7 with MPI does: those of 300 stars, `expected`, in an array of all. */
static void potentials_of_a_slice(const double *expected) {
    static double all[N];
    int start = 101, ni = 300, n = N, beyond = N - 298, i;
    for (i = 0; i < N; i++) all[i] = UNTOUCHED;
    check(gpupot_range_(&beyond, &ni, &n, m, x, all) == -1 && all[N - 1] == UNTOUCHED, "a slice beyond the last", beyond);
    gpupot_range_(&start, &ni, &n, m, x, all);
    for (i = 0; i < N; i++) {
        double found = all[i], p = i >= 100 && i < 400 ? expected[i - 100] : UNTOUCHED;
        check(fabs(found - p) <= tolerance * fabs(p), "potential of a slice", i);
    }
}

static void potentials(int nbody6) {
    int rank = 0, start = nbody6 ? 1 : 101, ni = nbody6 ? N : 300, n = N, i, k;
    clear();
    if (nbody6) {
        pot_of_4 all;
        symbol("gpupot_", &all, sizeof all);
        all(&n, m, x, pot);
    } else {
        gpupot_(&rank, &start, &ni, &n, m, x, pot);
    }
    for (i = 0; i < ni; i++) {
        vector a = {0, 0, 0}, j = {0, 0, 0};
        double p = 0, scale[2] = {0, 0};
        for (k = 0; k < N; k++) add(x[start - 1 + i], v[0], x[k], v[0], m[k], a, j, &p, scale);
        check(fabs(pot[i] - p) <= tolerance * p, "potential", i);
    }
    check(pot[ni] == UNTOUCHED, "potentials beyond ni", ni);
    potentials_of_a_slice(pot + 101 - start);
}

static vector acc2[N], jrk6[N];
static double t0[N];
static int neighbours[N + 1];

/* The neighbours of star i: few, or very many. */
static void choose(int i) {
    int k, length = i == 0 ? 0 : i == 1 ? N - 2 : 1 + i % 120;
    neighbours[0] = length;
    for (k = 1; k <= length; k++) neighbours[k] = 1 + (i + (i == 1 ? k : 1 + (k * 7 + i) % (N - 2))) % N;
}

static void predict(int i, double ti, double *xp, double *vp) {
    double s = ti - t0[i];
    int k;
    for (k = 0; k < 3; k++) {
        xp[k] = x[i][k] + s * (v[i][k] + s * (acc2[i][k] + s * jrk6[i][k]));
        vp[k] = v[i][k] + 2 * s * (acc2[i][k] + 1.5 * s * jrk6[i][k]);
    }
}

static void check_irregular(int i, double ti, const double *a_found, const double *j_found, const int *nearest) {
    vector xi, vi, xj, vj, a = {0, 0, 0}, j = {0, 0, 0}, r;
    double p = 0, scale[2] = {1e-200, 1e-200}, least = INFINITY;
    int k, c, expected = 0;
    predict(i, ti, xi, vi);
    choose(i);
    for (k = 1; k <= neighbours[0]; k++) {
        predict(neighbours[k] - 1, ti, xj, vj);
        add(xi, vi, xj, vj, m[neighbours[k] - 1], a, j, &p, scale);
        for (c = 0; c < 3; c++) r[c] = xj[c] - xi[c];
        if (dot(r, r) < least) {
            least = dot(r, r);
            expected = neighbours[k];
        }
    }
    tolerance = 1e-12;
    close_to(a_found, a, scale[0], "irregular acceleration", i);
    close_to(j_found, j, scale[1], "irregular jerk", i);
    tolerance = 1e-6;
    if (nearest) check(*nearest == expected, "nearest neighbour", i);
}

static void set_up(int nbody6) {
    int nmax = N, lmax = 10, rank = 0, i, k;
    if (nbody6) gpuirr_open_(&nmax, &lmax);
    else irr_simd_open_(&nmax, &lmax, &rank);
    for (i = 0; i < N; i++) {
        int address = i + 1;
        t0[i] = uniform() / 64;
        for (k = 0; k < 3; k++) {
            acc2[i][k] = uniform() - 0.5;
            jrk6[i][k] = uniform() - 0.5;
        }
        choose(i);
        if (nbody6) {
            gpuirr_set_jp_(&address, x[i], v[i], acc2[i], jrk6[i], &m[i], &t0[i]);
            gpuirr_set_list_(&address, neighbours);
        } else {
            irr_simd_set_jp_(&address, x[i], v[i], acc2[i], jrk6[i], &m[i], &t0[i]);
            irr_simd_set_list_(&address, neighbours);
        }
    }
}

static void irregular(int nbody6) {
    int address[N], nearest[N + 1], ni = N, one = 1, i, rank = 0, count;
    double ti = 0.03125;
    set_up(nbody6);
    for (i = 0; i < N; i++) address[i] = 1 + (i * 7) % N;
    for (count = 1; count <= N; count = count == 1 ? 40 : count == 40 ? N : N + 1) {
        ni = count;
        clear();
        nearest[ni] = UNTOUCHED;
        if (nbody6) {
            if (count == 40) gpuirr_pred_act_(&ni, address, &ti);
            else gpuirr_pred_all_(&one, &ni, &ti);
            gpuirr_firr_vec_(&ni, address, acc, jrk);
        } else {
            irr_simd_firr_vec_(&ti, &ni, address, acc, jrk, nearest);
        }
        for (i = 0; i < ni; i++) check_irregular(address[i] - 1, ti, acc[i], jrk[i], nbody6 ? NULL : &nearest[i]);
        check(acc[ni][0] == UNTOUCHED && jrk[ni][0] == UNTOUCHED && nearest[ni] == UNTOUCHED, "beyond ni", ni);
    }
    if (nbody6) {
        gpuirr_firr_(&address[5], acc[0], jrk[0]);
        check_irregular(address[5] - 1, ti, acc[0], jrk[0], NULL);
        gpuirr_close_();
    } else {
        irr_simd_profile_(&rank);
        irr_simd_close_(&rank);
    }
}

/* Two stars at tiny distances, of which one is the other's only neighbour: the case that gives NaN elsewhere. */
static void tight_binaries(void) {
    int nmax = 3, lmax = 1, rank = 0, one = 1, i, k, e;
    for (e = 3; e <= 14; e++) {
        double d = pow(10.0, -e), ti = 1.0 / 1024, zero = 0, half = 0.5, r2 = 0, speed;
        vector position[2] = {{0.3, -0.2, 0.1}, {0.3, -0.2, 0.1}}, velocity[2] = {{3, 0, 0}, {3, 0, 0}};
        vector none = {0, 0, 0}, a = {0, 0, 0}, j = {0, 0, 0}, xp[2], vp[2], fa, fj;
        double p = 0, scale[2] = {0, 0};
        int pair[2], nearest = UNTOUCHED;
        position[1][0] += d;
        velocity[1][1] = speed = 1 / sqrt(d);
        irr_simd_open_(&nmax, &lmax, &rank);
        for (i = 1; i <= 2; i++) {
            pair[0] = 1;
            pair[1] = 3 - i;
            irr_simd_set_jp_(&i, position[i - 1], velocity[i - 1], none, none, &half, &zero);
            irr_simd_set_list_(&i, pair);
        }
        for (ti = 0; ti < 0.002; ti += 1.0 / 1024) {
            irr_simd_firr_vec_(&ti, &one, &one, &fa, &fj, &nearest);
            memset(a, 0, sizeof a);
            memset(j, 0, sizeof j);
            scale[0] = scale[1] = 0;
            for (i = 0; i < 2; i++)
                for (k = 0; k < 3; k++) {
                    vp[i][k] = velocity[i][k];
                    xp[i][k] = position[i][k] + ti * velocity[i][k];
                }
            add(xp[0], vp[0], xp[1], vp[1], half, a, j, &p, scale);
            close_to(fa, a, scale[0], "tight binary, acceleration", e);
            close_to(fj, j, scale[1], "tight binary, jerk", e);
            check(nearest == 2, "tight binary, nearest", e);
            for (k = 0, r2 = 0; k < 3; k++) r2 += fa[k] * fa[k];
            check(isfinite(r2) && speed > 0, "tight binary, finite", e);
        }
        irr_simd_close_(&rank);
    }
}

/* What is not there, or nowhere. */
static void odd(void) {
    int nmax = 4, lmax = 1, rank = 0, one = 1, two = 2, three = 3, five = 5, zero = 0, minus = -1, nearest = UNTOUCHED;
    int pair[4] = {3, 2, 3, 1}, far[2] = {1, 5};
    double t = 0, mass = 1, ti = 1;
    vector a = {1, 0, 0}, b = {0, 0, 0}, none = {0, 0, 0}, fa = {7, 7, 7}, fj;
    check(irr_simd_set_jp_(&one, a, none, none, none, &mass, &t) == -2, "closed", 0);
    irr_simd_open_(&nmax, &lmax, &rank);
    irr_simd_set_jp_(&one, a, none, none, none, &mass, &t);
    irr_simd_set_jp_(&three, b, none, none, none, &mass, &t);
    /* Address 2 was never written, and 1 is the star itself. */
    irr_simd_set_list_(&one, pair);
    irr_simd_firr_vec_(&ti, &one, &one, &fa, &fj, &nearest);
    check(fa[0] == -1 && fa[1] == 0 && nearest == 3, "a neighbour that was never written", 2);
    check(irr_simd_set_list_(&one, far) == -1, "a list with an address beyond", 5);
    check(irr_simd_firr_vec_(&ti, &one, &one, &fa, &fj, &nearest) == -1, "a refused list", 1);
    check(isnan(fa[0]) && isnan(fj[2]) && nearest == 0, "nothing of the list before it", 1);
    irr_simd_set_list_(&one, pair);
    irr_simd_firr_vec_(&ti, &one, &one, &fa, &fj, &nearest);
    check(fa[0] == -1 && nearest == 3, "the list after it", 1);
    irr_simd_set_list_(&one, NULL);
    check(irr_simd_firr_vec_(&ti, &one, &one, &fa, &fj, &nearest) == -1 && isnan(fa[0]), "no list", 1);
    irr_simd_set_list_(&one, pair);
    check(irr_simd_set_jp_(&five, a, none, none, none, &mass, &t) == -1, "an address beyond", 5);
    check(irr_simd_set_jp_(&zero, a, none, none, none, &mass, &t) == -1, "an address below", 0);
    fa[0] = 7;
    check(irr_simd_firr_vec_(&ti, &one, &two, &fa, &fj, &nearest) == -1 && isnan(fa[0]) && nearest == 0, "no star", 2);
    check(irr_simd_firr_vec_(&ti, &minus, &two, &fa, &fj, &nearest) == -1, "a negative count", -1);
    /* At no distance. */
    irr_simd_set_jp_(&three, a, none, none, none, &mass, &t);
    irr_simd_firr_vec_(&ti, &one, &one, &fa, &fj, &nearest);
    check(fa[0] == 0 && fj[0] == 0 && nearest == 3, "coincident stars", 3);
    irr_simd_set_list_(&one, &zero);
    irr_simd_firr_vec_(&ti, &one, &one, &fa, &fj, &nearest);
    check(fa[0] == 0 && nearest == 0, "no neighbours", 0);
    irr_simd_close_(&rank);
    irr_simd_close_(&rank);
    /* Sources at one place, and targets without a radius. */
    {
        int nj = 2, ni = 1, row = 3, flag = 0;
        double masses[2] = {1, 1}, h = 0, step = 0.1, p = 7;
        vector places[2] = {{1, 2, 3}, {1, 2, 3}};
        gpunb_send_(&nj, masses, places, places);
        gpunb_regf_(&ni, &h, &step, places, places, &fa, &fj, &p, &row, &nj, list, &flag);
        check(fa[0] == 0 && fj[1] == 0 && p == 0 && list[0] == 0, "coincident sources", 0);
        h = 1e-30;
        gpunb_regf_(&ni, &h, &step, places, places, &fa, &fj, &p, &row, &nj, list, &flag);
        check(list[0] == 2 && list[1] == 0 && list[2] == 1, "both are neighbours", 2);
        /* What may stand behind the arguments of AMUSE's nbody6xx. */
        fa[0] = 7;
        flag = 4096;
        check(gpunb_regf_(&ni, &h, &step, places, places, &fa, &fj, &p, &row, &nj, list, &flag) == -1 && fa[0] == 7,
              "neither 0 nor 1", flag);
        flag = 0;
        row = 2;
        list[1] = UNTOUCHED;
        gpunb_regf_(&ni, &h, &step, places, places, &fa, &fj, &p, &row, &nj, list, &flag);
        check(list[0] == -2 && list[1] == UNTOUCHED, "a row of one", 2);
        row = 0;
        check(gpunb_regf_(&ni, &h, &step, places, places, &fa, &fj, &p, &row, &nj, list, &flag) == -1, "no row", 0);
        check(gpunb_send_(&minus, masses, places, places) == -1, "a negative number of sources", -1);
        check(gpunb_send_(&nj, NULL, places, places) == -1, "no masses", 0);
        gpunb_close_();
        gpunb_close_();
        row = 3;
        gpunb_regf_(&ni, &h, &step, places, places, &fa, &fj, &p, &row, &nj, list, &flag);
        check(fa[0] == 0 && p == 0 && list[0] == 0, "no sources", 0);
    }
}

/* The small functions of NBODY6. */
static void helpers(void) {
    static vector f[N], fdot[N], xp[N], vp[N];
    static double tpred[N];
    int js = 2, je = N - 1, i, k, hour = -1, minute = -1, second = -1, number = 3, length;
    double time = 0.25;
    vector fa, fj, a = {0, 0, 0}, j = {0, 0, 0};
    double p = 0, scale[2] = {0, 0};
    for (i = 0; i < N; i++) {
        for (k = 0; k < 3; k++) {
            f[i][k] = acc2[i][k];
            fdot[i][k] = jrk6[i][k];
            xp[i][k] = vp[i][k] = UNTOUCHED;
        }
        tpred[i] = i % 5 == 0 ? time : 0;
    }
    cxvpred_(&js, &je, &time, t0, x, v, f, fdot, xp, vp, tpred);
    for (i = 0; i < N; i++) {
        vector xe, ve;
        predict(i, time, xe, ve);
        if (i == 0 || i == N - 1 || i % 5 == 0) {
            check(xp[i][0] == UNTOUCHED && vp[i][2] == UNTOUCHED, "prediction of others", i);
            continue;
        }
        close_to(xp[i], xe, 1e-9, "predicted position", i);
        close_to(vp[i], ve, 1e-9, "predicted velocity", i);
        check(tpred[i] == time, "time of prediction", i);
    }
    choose(number - 1);
    length = neighbours[0] + 1;
    cnbint_(&number, x, v, m, &length, neighbours + 1, fa, fj);
    for (k = 1; k < length; k++) {
        i = neighbours[k] - 1;
        add(x[number - 1], v[number - 1], x[i], v[i], m[i], a, j, &p, scale);
    }
    close_to(fa, a, scale[0] * 1e-6, "force of a list", 3);
    close_to(fj, j, scale[1] * 1e-6, "jerk of a list", 3);
    wtime_(&hour, &minute, &second);
    check(hour == 0 && minute == 0 && second >= 0 && second < 60, "wall clock", second);
}

int main(int argc, char **argv) {
    const char *variant = argc > 1 ? argv[1] : "6++";
    int nbody6 = variant[0] == '6' && strcmp(variant, "6++"), nbmax = N, rank = 0, n = N, i, k, flag;
    for (i = 0; i < N; i++) {
        m[i] = (0.5 + uniform()) / N;
        for (k = 0; k < 3; k++) {
            x[i][k] = 2 * uniform() - 1;
            v[i][k] = 2 * uniform() - 1;
        }
    }
    if (argc > 2) tolerance = atof(argv[2]);
    if (argc > 3) feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW);
    /* A close pair that is nobody's neighbour: targets 5 and 6 have no radius or a small one. */
    for (k = 0; k < 3; k++) x[700][k] = x[8][k] + (k == 1) * 1e-11;
    gpunb_devinit_(&rank);
    for (i = 0; i < 2; i++) {
        if (nbody6) {
            open_of_1 alone;
            symbol("gpunb_open_", &alone, sizeof alone);
            alone(&nbmax);
        } else {
            gpunb_open_(&nbmax, &rank);
        }
    }
    gpunb_send_(&n, m, x, v);
    if (!strcmp(variant, "6++")) {
        for (flag = 0; flag < 2; flag++) {
            regular(variant, flag, N);
            regular(variant, flag, 20);
        }
    } else {
        regular(variant, -1, N);
        regular(variant, -1, 20);
    }
    potentials(nbody6);
    irregular(nbody6);
    if (!strcmp(variant, "6++")) {
        tight_binaries();
        odd();
    }
    helpers();
    gpunb_close_();
    printf("%d wrong\n", failures);
    return failures != 0;
}
