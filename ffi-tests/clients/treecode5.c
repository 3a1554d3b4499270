/* A treecode on GRAPE-5: groups of stars with one list of cells and stars each, two threads with a device
 * of their own, leapfrog.
 *
 * treecode5 THETA: opening angle, 0 for direct summation. Prints the rms and the greatest difference of
 * the accelerations from a plain double-precision sum, each relative to that star's own, the greatest
 * relative difference of the potentials, and the relative change of the energy in 32 steps of 1/64.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gp5util.h"

enum { N = 2048, LEAF = 8, GROUP = 64, CELLS = 2 * N, THREADS = 2 };

typedef double vector[3];

struct cell {
    vector middle, centre; /* of the cube, and of mass */
    double half, mass;
    int first, count, child[8];
};

static const double eps = 1.0 / 32.0;
static double theta;
static vector x[N], v[N], a[N];
static double m[N], p[N];
static struct cell cell[CELLS];
static int cells, group[CELLS], groups;

static double noise(void)
{
    static unsigned long long state = 7;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) / 4503599627370496.0 - 1.0;
}

static void swap(int i, int j)
{
    int k;
    double t = m[i];
    m[i] = m[j];
    m[j] = t;
    for (k = 0; k < 3; k++) {
        t = x[i][k], x[i][k] = x[j][k], x[j][k] = t;
        t = v[i][k], v[i][k] = v[j][k], v[j][k] = t;
    }
}

/* Stars of first..end with a coordinate below `at` come first; returns where the others begin. */
static int split(int first, int end, int k, double at)
{
    int i, below = first;
    for (i = first; i < end; i++)
        if (x[i][k] < at)
            swap(i, below++);
    return below;
}

static int build(int first, int count, const double *middle, double half, int depth)
{
    int me = cells++, i, k, o, bound[9];
    struct cell *c = &cell[me];
    memset(c, 0, sizeof *c);
    memcpy(c->middle, middle, sizeof c->middle);
    c->half = half;
    c->first = first;
    c->count = count;
    for (i = first; i < first + count; i++)
        for (c->mass += m[i], k = 0; k < 3; k++)
            c->centre[k] += m[i] * x[i][k];
    for (k = 0; k < 3; k++)
        c->centre[k] /= c->mass;
    if (count <= LEAF || depth > 40)
        return me;
    bound[0] = first;
    bound[8] = first + count;
    bound[4] = split(first, bound[8], 0, middle[0]);
    for (o = 0; o < 8; o += 4)
        bound[o + 2] = split(bound[o], bound[o + 4], 1, middle[1]);
    for (o = 0; o < 8; o += 2)
        bound[o + 1] = split(bound[o], bound[o + 2], 2, middle[2]);
    for (o = 0; o < 8; o++) {
        vector its;
        if (bound[o + 1] == bound[o])
            continue;
        its[0] = middle[0] + (o & 4 ? 0.5 : -0.5) * half;
        its[1] = middle[1] + (o & 2 ? 0.5 : -0.5) * half;
        its[2] = middle[2] + (o & 1 ? 0.5 : -0.5) * half;
        k = build(bound[o], bound[o + 1] - bound[o], its, 0.5 * half, depth + 1);
        cell[me].child[o] = k;
    }
    return me;
}

static void find_groups(int c)
{
    int o;
    if (cell[c].count <= GROUP) {
        group[groups++] = c;
        return;
    }
    for (o = 0; o < 8; o++)
        if (cell[c].child[o])
            find_groups(cell[c].child[o]);
}

struct list {
    vector x[N];
    double m[N];
    int n;
};

static void walk(struct list *list, const struct cell *of, const struct cell *c)
{
    double d2 = 0.0, size = 2.0 * c->half;
    int i, k, o, inner = 0;
    for (k = 0; k < 3; k++) {
        double gap = fabs(c->centre[k] - of->middle[k]) - of->half;
        d2 += gap > 0.0 ? gap * gap : 0.0;
    }
    if (size * size < theta * theta * d2) {
        memcpy(list->x[list->n], c->centre, sizeof c->centre);
        list->m[list->n++] = c->mass;
        return;
    }
    for (o = 0; o < 8; o++)
        if (c->child[o]) {
            walk(list, of, &cell[c->child[o]]);
            inner = 1;
        }
    for (i = c->first; !inner && i < c->first + c->count; i++) {
        memcpy(list->x[list->n], x[i], sizeof x[i]);
        list->m[list->n++] = m[i];
    }
}

static void *compute(void *argument)
{
    int device = *(int *)argument, g;
    struct list *list = malloc(sizeof *list);
    for (g = device; g < groups; g += THREADS) {
        const struct cell *of = &cell[group[g]];
        list->n = 0;
        walk(list, of, cell);
        g5_set_xmjMC(device, 0, list->n, list->x, list->m);
        g5_set_nMC(device, list->n);
        g5_calculate_force_on_xMC(device, x + of->first, a + of->first, p + of->first, of->count);
    }
    free(list);
    return NULL;
}

static void forces(void)
{
    static const vector middle = {0.0, 0.0, 0.0};
    pthread_t thread[THREADS];
    int device[THREADS], t;
    double half = 1.0;
    for (t = 0; t < N; t++)
        while (fabs(x[t][0]) > half || fabs(x[t][1]) > half || fabs(x[t][2]) > half)
            half *= 2.0;
    cells = groups = 0;
    build(0, N, middle, half, 0);
    find_groups(0);
    for (t = 0; t < THREADS; t++) {
        device[t] = t;
        pthread_create(&thread[t], NULL, compute, &device[t]);
    }
    for (t = 0; t < THREADS; t++)
        pthread_join(thread[t], NULL);
}

static double energy(void)
{
    double e = 0.0;
    int i;
    for (i = 0; i < N; i++) {
        double v2 = v[i][0] * v[i][0] + v[i][1] * v[i][1] + v[i][2] * v[i][2];
        /* Without the star's own part of its potential. */
        e += 0.5 * m[i] * (v2 - (p[i] - m[i] / eps));
    }
    return e;
}

static void report(void)
{
    double squares = 0.0, worst = 0.0, worst_p = 0.0;
    int i, j, k;
    for (i = 0; i < N; i++) {
        double sum[4] = {0.0}, error = 0.0, size = 0.0;
        for (j = 0; j < N; j++) {
            double s2 = eps * eps, s;
            for (k = 0; k < 3; k++)
                s2 += (x[j][k] - x[i][k]) * (x[j][k] - x[i][k]);
            s = sqrt(s2);
            for (k = 0; k < 3; k++)
                sum[k] += m[j] * (x[j][k] - x[i][k]) / (s2 * s);
            sum[3] += m[j] / s;
        }
        for (k = 0; k < 3; k++) {
            error += (a[i][k] - sum[k]) * (a[i][k] - sum[k]);
            size += sum[k] * sum[k];
        }
        squares += error / size;
        worst = fmax(worst, sqrt(error / size));
        worst_p = fmax(worst_p, fabs(p[i] / sum[3] - 1.0));
    }
    printf("%.3e %.3e %.3e ", sqrt(squares / N), worst, worst_p);
}

int main(int argc, char **argv)
{
    const double dt = 1.0 / 64.0;
    double before;
    int i, k, step;
    theta = argc > 1 ? atof(argv[1]) : 0.5;
    for (i = 0; i < N; i++) {
        double r2;
        do
            for (r2 = 0.0, k = 0; k < 3; k++) {
                x[i][k] = noise();
                r2 += x[i][k] * x[i][k];
            }
        while (r2 > 1.0);
        for (k = 0; k < 3; k++)
            v[i][k] = 0.3 * noise();
        m[i] = (1.5 + noise()) / (1.5 * N);
    }
    g5_open();
    g5_set_eps_to_all(eps);
    forces();
    report();
    before = energy();
    for (step = 0; step < 32; step++) {
        for (i = 0; i < N; i++)
            for (k = 0; k < 3; k++) {
                v[i][k] += 0.5 * dt * a[i][k];
                x[i][k] += dt * v[i][k];
            }
        forces(); /* which sorts the stars with all their properties */
        for (i = 0; i < N; i++)
            for (k = 0; k < 3; k++)
                v[i][k] += 0.5 * dt * a[i][k];
    }
    printf("%.3e\n", (energy() - before) / before);
    g5_close();
    return 0;
}
