/* The host's time of block steps: hosttime LIBRARY CASE NJ NI WRITES SCATTERED MILLISECONDS, CASE a sum of
 *
 *     1  g6_set_ti
 *     2  firsthalf and lasthalf of NI i-particles
 *     4  WRITES times g6_set_j_particle
 *
 * SCATTERED 1 draws the addresses of each step at random, 0 takes one run of addresses after the other. Rounds of steps
 * until MILLISECONDS are over. Prints the median over the rounds of the thread's processor time and of the wall time a
 * step, both in microseconds; then, if the driver of ffi-tests that does nothing is loaded, bytes to the device, bytes from
 * there, kernels and copies a step. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TI = 1, FORCE = 2, UPDATE = 4, ROUNDS = 4096, BLOCKS = 16 };

typedef double vector[3];

static void (*open_cluster)(int);
static void (*set_ti)(int, double);
static void (*set_j)(int, int, int, double, double, double, double *, double *, double *, double *, double *);
static void (*first)(int, int, int, int *, vector *, vector *, vector *, vector *, double *, double, double *);
static int (*last)(int, int, int, int *, vector *, vector *, double, double *, vector *, vector *, double *);
static int (*pipelines)(void);

static struct { vector x, v, a, j; double t; } *star;
static vector *x, *v, *acc, *jerk;
static double *pot, *h2;
static int *label, *addresses;
static uint64_t state = 1;

static uint64_t draw(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
}

static double any(void) { return (double)draw() / 1073741824.0 - 1.0; }

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    double d = *(const double *)a - *(const double *)b;
    return (d > 0) - (d < 0);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, by_size);
    return values[count / 2];
}

static void *function(void *library, const char *name)
{
    void *found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return found;
}

static void step(int what, int nj, int ni, int writes, int most, const int *chosen, double ti)
{
    static double zero[3];
    int begin, i;
    if (what & TI)
        set_ti(0, ti);
    for (begin = 0; what & FORCE && begin < ni; begin += most) {
        int some = ni - begin < most ? ni - begin : most;
        first(0, nj, some, label + begin, x + begin, v + begin, acc + begin, jerk + begin, pot + begin, 1e-4, h2 + begin);
        last(0, nj, some, label + begin, x + begin, v + begin, 1e-4, h2 + begin, acc + begin, jerk + begin, pot + begin);
    }
    for (i = 0; what & UPDATE && i < writes; i++) {
        int k = chosen[i];
        set_j(0, k, k + 1, ti, 0x1p-10, 1.0 / nj, zero, star[i].j, star[i].a, star[i].v, star[i].x);
    }
}

int main(int argc, char **argv)
{
    static double processor[ROUNDS], wall[ROUNDS];
    static double zero[3];
    uint64_t before[5] = {0}, after[5] = {0};
    int (*counts)(uint64_t *);
    int what, nj, ni, writes, scattered, most, rounds = 0, each = 1, i, k, n;
    double end, begin, ti = 0.5;
    void *library;
    if (argc != 8 || !(library = dlopen(argv[1], RTLD_NOW))) {
        fprintf(stderr, "%s\n", argc == 8 ? dlerror() : "hosttime LIBRARY CASE NJ NI WRITES SCATTERED MILLISECONDS");
        return 2;
    }
    *(void **)&open_cluster = function(library, "g6_open");
    *(void **)&set_ti = function(library, "g6_set_ti");
    *(void **)&set_j = function(library, "g6_set_j_particle");
    *(void **)&first = function(library, "g6calc_firsthalf");
    *(void **)&last = function(library, "g6calc_lasthalf");
    *(void **)&pipelines = function(library, "g6_npipes");
    what = atoi(argv[2]), nj = atoi(argv[3]), ni = atoi(argv[4]), writes = atoi(argv[5]), scattered = atoi(argv[6]);
    most = pipelines();
    star = calloc((size_t)(ni > writes ? ni : writes), sizeof *star);
    x = calloc((size_t)ni, sizeof *x), v = calloc((size_t)ni, sizeof *v);
    acc = calloc((size_t)ni, sizeof *acc), jerk = calloc((size_t)ni, sizeof *jerk);
    pot = calloc((size_t)ni, sizeof *pot), h2 = calloc((size_t)ni, sizeof *h2);
    label = calloc((size_t)ni, sizeof *label);
    addresses = calloc((size_t)writes * BLOCKS + 1, sizeof *addresses);
    open_cluster(0);
    for (i = 0; i < nj; i++) {
        vector r = {any(), any(), any()}, u = {any(), any(), any()};
        set_j(0, i, i + 1, 0.0, 0x1p-10, 1.0 / nj, zero, u, u, u, r);
    }
    for (i = 0; i < ni || i < writes; i++)
        for (k = 0; k < 3; k++)
            star[i].x[k] = any(), star[i].v[k] = any(), star[i].a[k] = any(), star[i].j[k] = any();
    for (i = 0; i < ni; i++) {
        label[i] = nj + i + 1;
        for (k = 0; k < 3; k++)
            x[i][k] = star[i].x[k], v[i][k] = star[i].v[k];
    }
    for (i = 0; i < writes * BLOCKS; i++)
        addresses[i] = scattered ? (int)(draw() % (uint64_t)nj) : i % nj;
    /* Warm up, and find how many steps make 200 microseconds: the clock of the processor is slow. */
    for (k = 0; k < 2; k++) {
        begin = now(CLOCK_MONOTONIC);
        for (n = 0; n < 3; n++)
            step(what, nj, ni, writes, most, addresses + (size_t)(n % BLOCKS) * (size_t)writes, ti += 0x1p-20);
        begin = (now(CLOCK_MONOTONIC) - begin) / 3;
        each = begin > 200 ? 1 : (int)(200 / (begin + 1e-3)) + 1;
    }
    *(void **)&counts = dlsym(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), "idle_cuda_counts");
    if (counts)
        counts(before);
    n = 0;
    for (end = now(CLOCK_MONOTONIC) + 1e3 * atof(argv[7]); rounds < ROUNDS && (rounds < 5 || now(CLOCK_MONOTONIC) < end); rounds++) {
        double w = now(CLOCK_MONOTONIC), p = now(CLOCK_THREAD_CPUTIME_ID);
        for (k = 0; k < each; k++, n++)
            step(what, nj, ni, writes, most, addresses + (size_t)(n % BLOCKS) * (size_t)writes, ti += 0x1p-20);
        processor[rounds] = (now(CLOCK_THREAD_CPUTIME_ID) - p) / each;
        wall[rounds] = (now(CLOCK_MONOTONIC) - w) / each;
    }
    if (counts)
        counts(after);
    printf("%.4f %.4f", median(processor, rounds), median(wall, rounds));
    for (k = 0; k < 4 && counts; k++) {
        static const int order[] = {2, 3, 0, 1};
        printf(" %.1f", (double)(after[order[k]] - before[order[k]]) / n);
    }
    printf("\n");
    fflush(stdout);
    return 0;
}
