/* Noise and cost of mixed precision, for libraries in turn:
 *
 *     gcc -O2 -o /tmp/noise benches/noise.c -ldl -lm
 *     env -u KIRIN_PRECISION KIRIN_BACKEND=cpu KIRIN_THREADS=1 /tmp/noise LIBRARY...
 *
 * Plummer models in N-body units; where asked for, 64 of the stars have a companion at a thousandth, a ten-thousandth, ... of the unit of
 * length. For stars of the core (r < 0.3), of the halo (r > 3) and of binaries: the root mean square of the error of the acceleration
 * against double precision, and of what of it changes from one step to the next, divided by the root of two; both relative to the
 * acceleration. At the end, processor time for each library in turn: nanoseconds a pair and the first library's time beside it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "plummer.h"

enum { MIXED = 1, DOUBLE = 2, MOST = 16384, NI = 48, STEPS = 4, TARGETS = 960, LIBRARIES = 4, ROUNDS = 41, COMPANIONS = 64 };
enum { CORE, HALO, BINARY, GROUPS };
static const char *const NAMES[GROUPS] = { "core", "halo", "binaries" };

struct library {
    const char *name;
    int (*open)(int);
    int (*set_precision)(int, int);
    int (*set_ti)(int, double);
    int (*set_j)(int, int, int, double, double, double, const double *, const double *, const double *, const double *, const double *);
    int (*first)(int, int, int, const int *, double (*)[3], double (*)[3], double (*)[3], double (*)[3], const double *, double,
                 const double *);
    int (*last)(int, int, int, const int *, double (*)[3], double (*)[3], double, const double *, double (*)[3], double (*)[3],
                double *);
};

static struct library libraries[LIBRARIES];
static double x[MOST][3], v[MOST][3];
static int group_of[MOST], targets[TARGETS];

/* A Plummer model; the last stars of a number become companions of stars anywhere in memory. */
static void model(int n, int with_binaries)
{
    for (int k = 0; k < n; k++) {
        double r = plummer_star(x[k], v[k]);
        group_of[k] = r < 0.3 ? CORE : r > 3 ? HALO : -1;
    }
    for (int k = 0; with_binaries && k < COMPANIONS; k++) {
        int star = k * (n / COMPANIONS), other = n - 1 - k * (n / COMPANIONS / 2);
        double apart = pow(10, -3 - k % 4), separation[3];
        if (other == star)
            continue;
        on_sphere(apart, separation);
        for (int c = 0; c < 3; c++)
            x[other][c] = x[star][c] + separation[c];
        /* At rest beside each other, so that they stay apart by as much. */
        memcpy(v[other], v[star], sizeof v[star]);
        group_of[star] = group_of[other] = BINARY;
    }
}

static void *must(void *found, const char *what)
{
    if (!found) {
        fprintf(stderr, "%s: %s\n", what, dlerror());
        exit(1);
    }
    return found;
}

static void load(struct library *l, const char *name)
{
    void *handle = must(dlopen(name, RTLD_NOW | RTLD_LOCAL), name);
    *l = (struct library){ .name = name };
    *(void **)&l->open = must(dlsym(handle, "g6_open"), name);
    *(void **)&l->set_precision = must(dlsym(handle, "kirin_set_precision"), name);
    *(void **)&l->set_ti = must(dlsym(handle, "g6_set_ti"), name);
    *(void **)&l->set_j = must(dlsym(handle, "g6_set_j_particle"), name);
    *(void **)&l->first = must(dlsym(handle, "g6calc_firsthalf"), name);
    *(void **)&l->last = must(dlsym(handle, "g6calc_lasthalf"), name);
    for (int id = MIXED; id <= DOUBLE; id++) {
        l->open(id);
        l->set_precision(id, id);
    }
}

static void forces(const struct library *l, int id, int n, const int *which, int ni, double t, double (*acc)[3])
{
    static int label[NI];
    static double xi[NI][3], vi[NI][3], jerk[NI][3], zero[NI][3], pot[NI], h2[NI];
    l->set_ti(id, t);
    for (int k = 0; k < ni; k++) {
        label[k] = which[k];
        for (int c = 0; c < 3; c++) {
            vi[k][c] = v[which[k]][c];
            xi[k][c] = x[which[k]][c] + t * vi[k][c];
        }
    }
    l->first(id, n, ni, label, xi, vi, zero, zero, pot, 0, h2);
    l->last(id, n, ni, label, xi, vi, 0, h2, acc, jerk, pot);
}

static void noise(const struct library *l, int n, int with_binaries)
{
    static const double zero[3];
    static double error[TARGETS][3], acc[2][NI][3];
    double errors[GROUPS] = { 0 }, noises[GROUPS] = { 0 };
    int counts[GROUPS] = { 0 }, count = 0;
    for (int id = MIXED; id <= DOUBLE; id++)
        for (int k = 0; k < n; k++)
            l->set_j(id, k, k, 0, 0, 1.0 / n, zero, zero, zero, v[k], x[k]);
    int of_group[GROUPS] = { 0 };
    for (int k = 0; k < n; k++)
        if (group_of[k] >= 0 && of_group[group_of[k]]++ < TARGETS / GROUPS)
            targets[count++] = k;
    for (int step = 0; step <= STEPS; step++) {
        double t = ldexp(step, -12);
        for (int begin = 0; begin < count; begin += NI) {
            int ni = count - begin < NI ? count - begin : NI;
            for (int id = MIXED; id <= DOUBLE; id++)
                forces(l, id, n, targets + begin, ni, t, acc[id - 1]);
            for (int k = 0; k < ni; k++) {
                double *exact = acc[1][k], size2 = 0, e2 = 0, d2 = 0;
                for (int c = 0; c < 3; c++)
                    size2 += exact[c] * exact[c];
                for (int c = 0; c < 3; c++) {
                    double e = (acc[0][k][c] - exact[c]) / sqrt(size2);
                    e2 += e * e;
                    d2 += (e - error[begin + k][c]) * (e - error[begin + k][c]);
                    error[begin + k][c] = e;
                }
                int group = group_of[targets[begin + k]];
                if (step > 0) {
                    errors[group] += e2;
                    noises[group] += d2 / 2;
                    counts[group]++;
                }
            }
        }
    }
    printf("%6d %-8s", n, with_binaries ? "binaries" : "");
    for (int g = 0; g < (with_binaries ? GROUPS : BINARY); g++)
        printf("  %s %4d: %.1e %.1e", NAMES[g], counts[g] / STEPS, sqrt(errors[g] / counts[g]), sqrt(noises[g] / counts[g]));
    printf("  %s\n", l->name);
}

static double processor_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double d = *(const double *)a - *(const double *)b;
    return (d > 0) - (d < 0);
}

/* Blocks of ni stars at random addresses, at a new time each if `step`. */
static void cost(int count, int id, int n, int ni, int step)
{
    static double times[LIBRARIES][ROUNDS], ratios[ROUNDS], acc[NI][3];
    int blocks = (int)(1e7 / n / ni) + 1;
    for (int round = 0; round < ROUNDS; round++)
        for (int k = 0; k < count; k++) {
            int which[NI];
            double begin = processor_time();
            for (int block = 0; block < blocks; block++) {
                for (int i = 0; i < ni; i++)
                    which[i] = (block * 7919 + i * 331) % n;
                forces(&libraries[k], id, n, which, ni, step ? ldexp(round * 100000 + block, -40) : 0, acc);
            }
            times[k][round] = (processor_time() - begin) / blocks / ni / n * 1e9;
        }
    printf("%6d %2d %s %s", n, ni, id == MIXED ? "mixed " : "double", step ? "at new times  " : "at one time   ");
    for (int k = 0; k < count; k++) {
        for (int round = 0; round < ROUNDS; round++)
            ratios[round] = times[k][round] / times[0][round];
        qsort(ratios, ROUNDS, sizeof *ratios, ascending);
        double sorted[ROUNDS];
        memcpy(sorted, times[k], sizeof sorted);
        qsort(sorted, ROUNDS, sizeof *sorted, ascending);
        printf("  %.4f ns %.3f", sorted[ROUNDS / 2], ratios[ROUNDS / 2]);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    int count = argc - 1 < LIBRARIES ? argc - 1 : LIBRARIES;
    for (int k = 0; k < count; k++)
        load(&libraries[k], argv[k + 1]);
    int only_noise = getenv("NOISE_ONLY") != NULL;
    for (int with_binaries = 0; with_binaries < 2; with_binaries++)
        for (int n = 256; n <= MOST; n *= 4) {
            model(n, with_binaries);
            for (int k = 0; k < count; k++)
                noise(&libraries[k], n, with_binaries);
            for (int ni = 1; !only_noise && n > 256 && ni <= NI; ni += NI - 1)
                for (int step = 0; step < 2; step++)
                    cost(count, MIXED, n, ni, step);
        }
    return 0;
}
