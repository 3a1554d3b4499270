/* Pairs per second of one thread and errors of the forces, for libraries with the interface of GRAPE-6 or GRAPE-5 in turn:
 *
 *     gcc -std=gnu11 -O2 -o /tmp/rates benches/rates.c -ldl -lm
 *     /tmp/rates [-r ROUNDS] [-n N] ENTRY...
 *
 * An entry is INTERFACE[:NAME=VALUE...]:LIBRARY, such as g6:KIRIN_PRECISION=mixed:KIRIN_SIMD=avx2:target/release/libkirin.so. INTERFACE is
 *
 *     g6   forces with jerks, softened
 *     rest the same of particles at rest, whose jerks are zero
 *     g5   forces without jerks, softened
 *     g50  forces without jerks and without softening
 *
 * Each entry opens a copy of its library, so that one library can be measured with several settings. The j-particles are a Plummer model of
 * equal masses; the i-particles are among them and lie anywhere in memory. In each round all entries take turns, with blocks of 48 and of 480
 * i-particles. The figures are by the thread's processor time: medians over the rounds, and the fastest round in brackets. A library with fewer
 * pipelines than i-particles gets a block in pieces; kirin has 512. Errors are root mean squares over 480 i-particles, relative, against sums
 * in extended precision. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "plummer.h"

enum { MOST = 65536, NI = 480, ENTRIES = 48, ROUNDS = 1001, SIZES = 2 };
static const int BLOCKS[SIZES] = { 48, NI };
static const double EPS = 0.01;
typedef double vector[3];

static struct entry {
    const char *text, *settings, *library;
    double eps;
    int grape5, rest, most;
    int (*open)(int), (*pipelines)(void), (*set_ti)(int, double);
    int (*set_j)(int, int, int, double, double, double, const double *, const double *, const double *, const double *, const double *);
    int (*first)(int, int, int, int *, vector *, vector *, vector *, vector *, double *, double, double *);
    int (*last)(int, int, int, int *, vector *, vector *, double, double *, vector *, vector *, double *);
    void (*open5)(void), (*set_eps)(double), (*set_n)(int), (*set_xmj)(int, int, vector *, double *);
    void (*force)(vector *, vector *, double *, int);
    int repeats[SIZES];
    double times[SIZES][ROUNDS], error[2];
} entries[ENTRIES];

static vector x[MOST], v[MOST], xi[NI], vi[NI], nothing[NI], acc[NI], jerk[NI], exact[2][NI], exact_jerk[NI];
static double m[MOST], pot[NI], h2[NI];
static int label[NI], nj = 16384;

static void fail(const char *why)
{
    fprintf(stderr, "rates: %s\n", why);
    exit(1);
}

static void make_model(void)
{
    for (int k = 0; k < nj; k++) {
        plummer_star(x[k], v[k]);
        m[k] = 1.0 / nj;
    }
    for (int i = 0; i < NI; i++) {
        int k = (int)((long)i * nj / NI);
        label[i] = k + 1;
        memcpy(xi[i], x[k], sizeof *xi);
        memcpy(vi[i], v[k], sizeof *vi);
    }
}

static void sum_exactly(double eps, vector *a, vector *j)
{
    for (int i = 0; i < NI; i++) {
        long double sum[6] = { 0 };
        for (int k = 0; k < nj; k++) {
            long double r[3], u[3], square = (long double)eps * eps, along = 0;
            if (k + 1 == label[i])
                continue;
            for (int c = 0; c < 3; c++) {
                r[c] = (long double)x[k][c] - xi[i][c];
                u[c] = (long double)v[k][c] - vi[i][c];
                square += r[c] * r[c];
                along += r[c] * u[c];
            }
            long double f = m[k] / (square * sqrtl(square));
            for (int c = 0; c < 3; c++) {
                sum[c] += f * r[c];
                sum[3 + c] += f * (u[c] - 3 * along / square * r[c]);
            }
        }
        for (int c = 0; c < 3; c++) {
            a[i][c] = (double)sum[c];
            if (j)
                j[i][c] = (double)sum[3 + c];
        }
    }
}

static double error(vector *found, vector *right)
{
    double sum = 0;
    for (int i = 0; i < NI; i++) {
        double apart = 0, size = 0;
        for (int c = 0; c < 3; c++) {
            apart += (found[i][c] - right[i][c]) * (found[i][c] - right[i][c]);
            size += right[i][c] * right[i][c];
        }
        sum += apart / size;
    }
    return sqrt(sum / NI);
}

static void *symbol(void *library, const char *name)
{
    void *found = dlsym(library, name);
    if (!found)
        fail(dlerror());
    return found;
}

/* A copy of the library has memory and settings of its own. */
static void *open_copy(const char *path)
{
    char copy[] = "/tmp/rates-XXXXXX", bytes[65536];
    int to = mkstemp(copy);
    FILE *from = fopen(path, "rb");
    if (to < 0 || !from)
        fail(path);
    for (size_t some; (some = fread(bytes, 1, sizeof bytes, from)) > 0;)
        if (write(to, bytes, some) != (ssize_t)some)
            fail("cannot copy a library");
    fclose(from);
    close(to);
    void *library = dlopen(copy, RTLD_NOW | RTLD_LOCAL);
    unlink(copy);
    if (!library)
        fail(dlerror());
    return library;
}

static void block(struct entry *e, int ni)
{
    if (e->grape5) {
        e->force(xi, acc, pot, ni);
        return;
    }
    vector *velocities = e->rest ? nothing : vi;
    for (int at = 0; at < ni; at += e->most) {
        int some = ni - at < e->most ? ni - at : e->most;
        e->first(0, nj, some, label + at, xi + at, velocities + at, acc + at, jerk + at, pot + at, e->eps * e->eps, h2 + at);
        e->last(0, nj, some, label + at, xi + at, velocities + at, e->eps * e->eps, h2 + at, acc + at, jerk + at, pot + at);
    }
}

static double processor(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Opens the library under the entry's settings, sends the model, and finds how many blocks take 8 ms. */
static void prepare(struct entry *e, char *text)
{
    static const double zero[3] = { 0 };
    char *parts[16], *names[16];
    int count = 0, settings = 0;
    e->text = strdup(text);
    for (char *part = strtok(text, ":"); part && count < 16; part = strtok(NULL, ":"))
        parts[count++] = part;
    if (count < 2)
        fail("an entry is INTERFACE[:NAME=VALUE...]:LIBRARY");
    e->grape5 = !strcmp(parts[0], "g5") || !strcmp(parts[0], "g50");
    e->rest = !strcmp(parts[0], "rest");
    if (!e->grape5 && !e->rest && strcmp(parts[0], "g6"))
        fail("the interface is g6, rest, g5 or g50");
    e->eps = strcmp(parts[0], "g50") ? EPS : 0;
    for (int k = 1; k < count - 1; k++) {
        char *value = strchr(parts[k], '=');
        if (!value)
            fail("a setting is NAME=VALUE");
        *value = 0;
        setenv(parts[k], value + 1, 1);
        names[settings++] = parts[k];
    }
    void *library = open_copy(parts[count - 1]);
    if (e->grape5) {
        *(void **)&e->open5 = symbol(library, "g5_open");
        *(void **)&e->set_eps = symbol(library, "g5_set_eps_to_all");
        *(void **)&e->set_n = symbol(library, "g5_set_n");
        *(void **)&e->set_xmj = symbol(library, "g5_set_xmj");
        *(void **)&e->force = symbol(library, "g5_calculate_force_on_x");
        e->open5();
        e->set_eps(e->eps);
        e->set_xmj(0, nj, x, m);
        e->set_n(nj);
    } else {
        *(void **)&e->open = symbol(library, "g6_open");
        *(void **)&e->pipelines = symbol(library, "g6_npipes");
        *(void **)&e->set_ti = symbol(library, "g6_set_ti");
        *(void **)&e->set_j = symbol(library, "g6_set_j_particle");
        *(void **)&e->first = symbol(library, "g6calc_firsthalf");
        *(void **)&e->last = symbol(library, "g6calc_lasthalf");
        e->open(0);
        e->most = e->pipelines();
        for (int k = 0; k < nj; k++)
            e->set_j(0, k, k + 1, 0.0, 1.0, m[k], zero, zero, zero, e->rest ? zero : v[k], x[k]);
        e->set_ti(0, 0.0);
    }
    block(e, NI);
    e->error[0] = error(acc, exact[e->eps == 0]);
    e->error[1] = e->grape5 || e->rest ? 0 : error(jerk, exact_jerk);
    for (int s = 0; s < SIZES; s++) {
        double begin = processor();
        block(e, BLOCKS[s]);
        e->repeats[s] = 1 + (int)(8e-3 / (processor() - begin));
    }
    for (int k = 0; k < settings; k++)
        unsetenv(names[k]);
}

static int by_size(const void *a, const void *b)
{
    double d = *(const double *)a - *(const double *)b;
    return (d > 0) - (d < 0);
}

int main(int argc, char **argv)
{
    int rounds = 21, option;
    while ((option = getopt(argc, argv, "r:n:")) != -1)
        if (option == 'r')
            rounds = atoi(optarg);
        else if (option == 'n')
            nj = atoi(optarg);
        else
            return 2;
    int number = argc - optind;
    if (number < 1 || number > ENTRIES || rounds < 1 || rounds > ROUNDS || nj < NI || nj > MOST)
        fail("[-r ROUNDS, 1 to 1001] [-n N, 480 to 65536] ENTRY..., at most 48");
    setenv("KIRIN_BACKEND", "cpu", 0);
    setenv("KIRIN_THREADS", "1", 1);
    setenv("KIRIN_NPIPES", "512", 0);
    setenv("OMP_NUM_THREADS", "1", 1);
    make_model();
    sum_exactly(EPS, exact[0], exact_jerk);
    sum_exactly(0, exact[1], NULL);
    for (int k = 0; k < number; k++)
        prepare(&entries[k], argv[optind + k]);
    for (int round = 0; round < rounds; round++)
        for (int k = 0; k < number; k++)
            for (int s = 0; s < SIZES; s++) {
                struct entry *e = &entries[k];
                block(e, BLOCKS[s]);
                double begin = processor();
                for (int repeat = 0; repeat < e->repeats[s]; repeat++)
                    block(e, BLOCKS[s]);
                e->times[s][round] = (processor() - begin) / e->repeats[s];
            }
    printf("1e9 pairs/s, N = %d, %d rounds\n\n| | ni = %d | ni = %d | error of the acceleration | of the jerk |\n|---|---|---|---|---|\n", nj, rounds, BLOCKS[0],
           BLOCKS[1]);
    for (struct entry *e = entries; e < entries + number; e++) {
        printf("| %s |", e->text);
        for (int s = 0; s < SIZES; s++) {
            double pairs = 1e-9 * nj * BLOCKS[s];
            qsort(e->times[s], (size_t)rounds, sizeof(double), by_size);
            printf(" %.3f (%.3f) |", pairs / e->times[s][rounds / 2], pairs / e->times[s][0]);
        }
        printf(e->grape5 || e->rest ? " %.1e | |\n" : " %.1e | %.1e |\n", e->error[0], e->error[1]);
    }
    return 0;
}
