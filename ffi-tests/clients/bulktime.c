/* What the bulk interface costs beside the older calls: bulktime [N]. Prints processor time, each the least of several turns:
 * nanoseconds per particle of loads of N sources in order, and microseconds of a call for one target among 1000 sources.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <kirin.h>
#include <kirin_grape5.h>

#define TURNS 7
#define FEW 1000
#define CALLS 3000

typedef double vector[3];

static vector *x, *v;
static double *m;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fill(int n, int turn)
{
    int i, k;
    for (i = 0; i < n; i++)
        for (m[i] = 1.0 / (n + turn), k = 0; k < 3; k++)
            x[i][k] = rand() / (double)RAND_MAX + turn, v[i][k] = rand() / (double)RAND_MAX;
}

static void send(int64_t handle, int what, int n)
{
    static const vector zero;
    kirin_sources s;
    int i;
    memset(&s, 0, sizeof s);
    s.mass.at = m;
    s.x.at = x[0];
    if (what == 1)
        s.v.at = v[0];
    switch (what) {
    case 0:
    case 1:
        if (kirin_bulk_set_sources(handle, n, &s))
            printf("refused: %s\n", kirin_bulk_message());
        break;
    case 2:
        g5_set_xmj(0, n, x, m);
        break;
    default:
        for (i = 0; i < n; i++)
            g6_set_j_particle(0, i, i, 0.0, 0.0, m[i], zero, zero, zero, v[i], x[i]);
    }
}

static double one_target(int64_t handle, int old)
{
    const double begin = now();
    vector acc, jerk;
    double pot, h2 = 0.0;
    int k, index = 3;
    int64_t self = 3;
    kirin_targets t;
    kirin_results r;
    memset(&t, 0, sizeof t);
    memset(&r, 0, sizeof r);
    t.source.at = &self;
    r.acc.at = acc;
    r.jerk.at = jerk;
    r.pot.at = &pot;
    for (k = 0; k < CALLS; k++) {
        t.x.at = x[k % FEW];
        t.v.at = v[k % FEW];
        if (old) {
            g6calc_firsthalf(0, FEW, 1, &index, &x[k % FEW], &v[k % FEW], NULL, NULL, NULL, 1e-4, &h2);
            g6calc_lasthalf(0, FEW, 1, &index, &x[k % FEW], &v[k % FEW], 1e-4, &h2, &acc, &jerk, &pot);
        } else
            kirin_bulk_forces(handle, 0.0, 1e-4, 1, &t, &r);
    }
    return (now() - begin) / CALLS;
}

int main(int argc, char **argv)
{
    static const char *names[] = {"kirin_bulk_set_sources (m, x)", "kirin_bulk_set_sources (m, x, v)", "g5_set_xmj (m, x)",
                                  "g6_set_j_particle (m, x, v)"};
    const int n = argc > 1 ? atoi(argv[1]) : 1000000;
    double first[4], least[4] = {1e9, 1e9, 1e9, 1e9}, calls[2] = {1e9, 1e9};
    int64_t handles[2] = {0, 0};
    int turn, what;
    x = malloc((size_t)n * sizeof *x);
    v = malloc((size_t)n * sizeof *v);
    m = malloc((size_t)n * sizeof *m);
    if (!x || !v || !m || n < FEW || kirin_bulk_open(&handles[0]) || kirin_bulk_open(&handles[1]) || g6_open(0))
        return 2;
    for (turn = 0; turn < TURNS; turn++) {
        fill(n, turn);
        for (what = 0; what < 4; what++) {
            const double begin = now();
            double took;
            send(handles[what % 2], what, n);
            took = now() - begin;
            if (turn == 0)
                first[what] = took;
            else if (took < least[what])
                least[what] = took;
        }
    }
    for (what = 0; what < 4; what++)
        printf("%-36s first %6.1f again %6.1f ns\n", names[what], 1e9 * first[what] / n, 1e9 * least[what] / n);
    send(handles[1], 1, FEW);
    send(0, 3, FEW);
    for (turn = 0; turn < TURNS; turn++)
        for (what = 0; what < 2; what++) {
            const double took = one_target(handles[1], what);
            if (took < calls[what])
                calls[what] = took;
        }
    printf("%-36s %6.2f us\n%-36s %6.2f us\n", "kirin_bulk_forces", 1e6 * calls[0], "g6calc_firsthalf, g6calc_lasthalf",
           1e6 * calls[1]);
    return 0;
}
