/* The sentences of the specification of GRAPE-5, each against a plain double-precision sum.
 *
 * grape5 SPELLING TOLERANCE: spelling c or fortran; errors are parts of the sums of the magnitudes
 * of the terms. Prints nothing but what is wrong, and the bits of some results.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grape5_calls.h"

#define N 1500
#define NI 70
#define UNTOUCHED 12345.0

typedef double vector[3];

static vector x[N], xi[NI + 1], a[NI + 1];
static double m[N], ej2[N], ei2[NI + 1], ei[NI + 1], p[NI + 1];
static double tolerance;
static int wrong;

static double noise(void)
{
    static unsigned long long state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) / 4503599627370496.0 - 1.0;
}

static void say(const char *what, int i, double error)
{
    wrong++;
    if (wrong < 20)
        printf("wrong: %s: %d, %g\n", what, i, error);
}

static void expect(const char *what, double found, double expected)
{
    if (!(found == expected))
        say(what, 0, found);
}

static void prefill(void)
{
    int i, k;
    for (i = 0; i <= NI; i++)
        for (p[i] = UNTOUCHED, k = 0; k < 3; k++)
            a[i][k] = UNTOUCHED;
}

/* The results of ni i-particles beside the sum over the first n of these j-particles. */
static void compare(const char *what, int ni, double e2, const double *e2i, int n, vector *xj,
                    const double *mj, const double *e2j)
{
    int i, j, k;
    for (i = 0; i < ni; i++) {
        double sum[4] = {0.0}, scale[2] = {0.0}, error = 0.0;
        for (j = 0; j < n; j++) {
            double r[3], s2 = (e2i ? e2i[i] : e2) + (e2j ? e2j[j] : 0.0), r2 = 0.0, s;
            for (k = 0; k < 3; k++) {
                r[k] = xj[j][k] - xi[i][k];
                r2 += r[k] * r[k];
            }
            s2 += r2;
            if (s2 == 0.0)
                continue;
            s = sqrt(s2);
            for (k = 0; k < 3; k++)
                sum[k] += mj[j] * r[k] / (s2 * s);
            sum[3] += mj[j] / s;
            scale[0] += mj[j] * sqrt(r2) / (s2 * s);
            scale[1] += mj[j] / s;
        }
        for (k = 0; k < 3; k++)
            error = fmax(error, fabs(a[i][k] - sum[k]));
        if (!(error <= tolerance * scale[0]) || (scale[0] > 0.0 && a[i][0] != a[i][0]))
            say(what, i, error / scale[0]);
        error = fabs(p[i] - sum[3]);
        if (!(error <= tolerance * scale[1]))
            say(what, i, error / scale[1]);
    }
    for (k = 0; k < 3; k++)
        expect("beyond the last acceleration", a[ni][k], UNTOUCHED);
    expect("beyond the last potential", p[ni], UNTOUCHED);
}

static void by_registers(int device, int softened)
{
    prefill();
    softened ? runMC0(device) : runMC(device);
    get_forceMC(device, NI, a, p);
}

static void simple_calls(void)
{
    const double eps = 0.01;
    int i;
    set_eps_to_all(eps);
    set_xmj(0, N, x, m);
    set_n(N);
    prefill();
    calculate_force_on_x(xi, a, p, NI);
    compare("calculate_force_on_x", NI, eps * eps, NULL, N, x, m, NULL);
    /* The first i-particle is one of the j-particles, and contributes m / eps to its own potential. */
    if (!(p[0] > m[0] / eps))
        say("own potential", 0, p[0]);
    set_xi(NI, xi);
    set_eps_to_all(1.0); /* for those that come after this */
    prefill();
    run();
    get_force(NI, a, p);
    compare("set_xi, run, get_force", NI, eps * eps, NULL, N, x, m, NULL);
    prefill();
    get_force(3, a, p);
    compare("get_force again, of some", 3, eps * eps, NULL, N, x, m, NULL);
    set_xi(NI, xi);
    set_eps(NI, ei);
    prefill();
    run();
    get_force(NI, a, p);
    compare("set_eps", NI, 0.0, ei2, N, x, m, NULL);
    set_xi(NI, xi);
    prefill();
    run();
    get_force(NI, a, p);
    compare("set_xi forgets set_eps", NI, 1.0, NULL, N, x, m, NULL);
    set_eps2(NI, ei2);
    prefill();
    run();
    get_force(NI, a, p);
    compare("set_eps2", NI, 0.0, ei2, N, x, m, NULL);
    set_xei(NI, xi, ei2);
    prefill();
    run();
    get_force(NI, a, p);
    compare("set_xei", NI, 0.0, ei2, N, x, m, NULL);
    set_xepsi(NI, xi, ei);
    prefill();
    run();
    get_force(NI, a, p);
    compare("set_xepsi", NI, 0.0, ei2, N, x, m, NULL);
    set_xi(NI, xi);
    set_ip(NI, xi, ei, ei2);
    prefill();
    run();
    get_force(NI, a, p);
    compare("set_ip", NI, 0.0, ei2, N, x, m, NULL);
    prefill();
    calculate_force_on_xe(xi, ei2, a, p, NI);
    compare("calculate_force_on_xe", NI, 0.0, ei2, N, x, m, NULL);
    set_eps2_to_all(0.25);
    prefill();
    calculate_force_on_x(xi, a, p, NI);
    compare("set_eps2_to_all", NI, 0.25, NULL, N, x, m, NULL);
    set_eps_to_all(0.0);
    prefill();
    calculate_force_on_x(xi, a, p, NI);
    compare("without softening", NI, 0.0, NULL, N, x, m, NULL);
    for (i = 0; i < 40; i++) {
        int n = 1 + i * i;
        if (n > N)
            n = N;
        set_n(n);
        prefill();
        calculate_force_on_x(xi, a, p, NI);
        compare("set_n", NI, 0.0, NULL, n, x, m, NULL);
    }
    set_n(0);
    prefill();
    calculate_force_on_x(xi, a, p, NI);
    compare("no j-particles", NI, 0.0, NULL, 0, x, m, NULL);
    set_n(N);
    calculate_force_on_x(xi, a, p, 0);
}

/* Parts of the arrays, from the address on in both. */
static void parts(void)
{
    static vector other[N];
    static double others[N];
    int j, k;
    for (j = 0; j < N; j++) {
        others[j] = 1.0;
        for (k = 0; k < 3; k++)
            other[j][k] = j < 600 || j >= 1111 ? x[j][k] : 7.0 + j + k;
        if (j < 600 || j >= 1111)
            others[j] = m[j];
    }
    set_xmj(0, N, x, m);
    set_xmj(600, 511, other, others);
    set_n(N);
    prefill();
    calculate_force_on_xe(xi, ei2, a, p, NI);
    compare("set_xmj from an address", NI, 0.0, ei2, N, other, others, NULL);
    set_jp(600, 500, m, x);
    set_jpMC(0, 1100, 11, m, x);
    prefill();
    calculate_force_on_xe(xi, ei2, a, p, NI);
    compare("set_jp", NI, 0.0, ei2, N, x, m, NULL);
    set_mj(0, N, others);
    prefill();
    calculate_force_on_xe(xi, ei2, a, p, NI);
    compare("set_mj", NI, 0.0, ei2, N, x, others, NULL);
    set_xj(0, N, other);
    prefill();
    calculate_force_on_xe(xi, ei2, a, p, NI);
    compare("set_xj", NI, 0.0, ei2, N, other, others, NULL);
    close();
    prefill();
    calculate_force_on_xe(xi, ei2, a, p, NI);
    compare("close forgets", NI, 0.0, ei2, 0, x, m, NULL);
    open();
    set_mj(0, N, m); /* as NEMO does it */
    set_xj(0, N, x);
    set_n(N);
    prefill();
    calculate_force_on_xe(xi, ei2, a, p, NI);
    compare("masses, then positions", NI, 0.0, ei2, N, x, m, NULL);
    /* What was never sent has no mass. */
    close();
    set_xmj(700, 100, x, m);
    set_n(N);
    prefill();
    calculate_force_on_xe(xi, ei2, a, p, NI);
    compare("absent particles", NI, 0.0, ei2, 100, x + 700, m + 700, NULL);
}

/* A board that has the j-particles of device 0, and devices that have their own. */
static void devices(void)
{
    int device;
    set_xmj(0, N, x, m);
    set_n(N);
    for (device = 0; device < get_number_of_boards() + 1; device++) {
        int c = get_firstcluster() + device;
        set_xeiMC(c, NI, xi, ei2);
        by_registers(c, 0);
        compare("a board", NI, 0.0, ei2, N, x, m, NULL);
        set_xiMC(c, NI, xi);
        set_epsMC(c, NI, ei);
        by_registers(c, 0);
        compare("a board with set_eps", NI, 0.0, ei2, N, x, m, NULL);
        set_xiMC(c, NI, xi);
        set_eps2MC(c, NI, ei2);
        by_registers(c, 0);
        compare("a board with set_eps2", NI, 0.0, ei2, N, x, m, NULL);
    }
    set_nMC(1, 500);
    prefill();
    calculate_force_on_xeMC(1, xi, ei2, a, p, NI);
    compare("n of a board", NI, 0.0, ei2, 500, x, m, NULL);
    set_xmjMC(1, 0, 300, x + 900, m + 900);
    set_nMC(1, 300);
    prefill();
    calculate_force_on_xeMC(1, xi, ei2, a, p, NI);
    compare("j-particles of a device", NI, 0.0, ei2, 300, x + 900, m + 900, NULL);
    prefill();
    calculate_force_on_xeMC(0, xi, ei2, a, p, NI);
    compare("those of device 0", NI, 0.0, ei2, N, x, m, NULL);
    set_eps_to_all(0.125);
    prefill();
    calculate_force_on_xMC(1, xi, a, p, NI);
    compare("calculate_force_on_xMC", NI, 0.015625, NULL, 300, x + 900, m + 900, NULL);
    set_eps_to_allMC(1, 0.5);
    prefill();
    calculate_force_on_xMC(1, xi, a, p, NI);
    compare("the softening of a device", NI, 0.25, NULL, 300, x + 900, m + 900, NULL);
    prefill();
    calculate_force_on_xMC(0, xi, a, p, NI);
    compare("that of the others", NI, 0.015625, NULL, N, x, m, NULL);
    set_eps2_to_allMC(1, 0.75);
    set_xiMC(1, NI, xi);
    by_registers(1, 0);
    compare("its square", NI, 0.75, NULL, 300, x + 900, m + 900, NULL);
    set_eps_to_all(0.125);
    prefill();
    calculate_force_on_xMC(1, xi, a, p, NI);
    compare("that of all devices again", NI, 0.015625, NULL, 300, x + 900, m + 900, NULL);
    set_nMC(123456789, N);
    prefill();
    calculate_force_on_xMC(123456789, xi, a, p, NI);
    compare("any device", NI, 0.015625, NULL, N, x, m, NULL);
}

/* Softening lengths of i- and j-particles, whose squares are added; such particles have a memory of their own. */
static void softened(void)
{
    static vector nowhere[N];
    set_xmj(0, N, nowhere, m);
    set_xmj0(0, N, x, m, ej2);
    set_n(N);
    prefill();
    calculate_force_on_x0(xi, a, p, NI, ei2);
    compare("calculate_force_on_x0", NI, 0.0, ei2, N, x, m, ej2);
    set_xiMC0(20, NI, xi, ei2);
    by_registers(20, 1);
    compare("runMC0 on those of device 0", NI, 0.0, ei2, N, x, m, ej2);
    set_xmjMC0(20, 0, 1000, x + 17, m + 17, ej2 + 17);
    set_nMC(20, 777);
    by_registers(20, 1);
    compare("runMC0", NI, 0.0, ei2, 777, x + 17, m + 17, ej2 + 17);
    prefill();
    calculate_force_on_xMC0(20, xi, a, p, NI, ei2);
    compare("calculate_force_on_xMC0", NI, 0.0, ei2, 777, x + 17, m + 17, ej2 + 17);
    set_xmeps2j(100, N - 100, x, m, ej2);
    set_xmeps2j(0, 100, x, m, ej2);
    set_xi(NI, xi);
    set_eps(NI, ei);
    prefill();
    run_symmetrized_softening();
    get_force(NI, a, p);
    compare("run_symmetrized_softening", NI, 0.0, ei2, N, x, m, ej2);
    prefill();
    run();
    get_force(NI, a, p);
    compare("run after set_xmeps2j", NI, 0.0, ei2, N, x, m, NULL);
    prefill();
    calculate_force_on_xeps(xi, ei, a, p, NI);
    compare("calculate_force_on_xeps", NI, 0.0, ei2, N, x, m, ej2);
    memset(ei2, 0, sizeof ei2); /* some of ej2 are zero, too, and some particles coincide */
    prefill();
    calculate_force_on_x0(xi, a, p, NI, ei2);
    compare("softening of one", NI, 0.0, ei2, N, x, m, ej2);
    set_xmj(0, N, x, m);
}

/* More j-particles than any GRAPE-5 had, more i-particles than pipelines, the same bits. */
static void large(void)
{
    enum { MANY = 70001 };
    vector *xj = malloc(MANY * sizeof *xj), *found = malloc(20000 * sizeof *found);
    double *mj = malloc(MANY * sizeof *mj), *pot = malloc(20000 * sizeof *pot);
    int i, j, k;
    for (j = 0; j < MANY; j++)
        for (mj[j] = 1.0 + noise(), k = 0; k < 3; k++)
            xj[j][k] = noise();
    expect("pipelines", get_number_of_pipelines(), 96);
    expect("pipelines of a board", get_number_of_pipelines_per_board(), 96);
    expect("real pipelines", get_number_of_real_pipelines(), 16);
    expect("bus", get_pcibus_freq(), 33);
    expect("range", set_range(-1.0, 1.0, 1e-9), 0);
    expect("room", get_jmemsize(), JMEMSIZE);
    expect("GRAPE-7", grape7(0, m, x), 0);
    set_xmj(0, MANY, xj, mj);
    set_n(MANY);
    set_eps_to_all(0.03125);
    prefill();
    calculate_force_on_x(xi, a, p, NI);
    compare("70001 particles", NI, 0.0009765625, NULL, MANY, xj, mj, NULL);
    set_n(64);
    calculate_force_on_x(xj, found, pot, 20000);
    for (i = 0; i < 20000; i += 4999) {
        vector one[1];
        double its[1];
        calculate_force_on_x(xj + i, one, its, 1);
        if (memcmp(one, found + i, sizeof one) || its[0] != pot[i])
            say("other bits in another block", i, its[0] - pot[i]);
    }
    /* Results in the place of the positions. */
    memcpy(a, xi, NI * sizeof *a);
    p[NI] = a[NI][0] = a[NI][1] = a[NI][2] = UNTOUCHED;
    calculate_force_on_x(a, a, p, NI);
    compare("in place", NI, 0.0009765625, NULL, 64, xj, mj, NULL);
    for (i = 0; i < 8; i++)
        printf("%a %a %a %a\n", found[i][0], found[i][1], found[i][2], pot[i]);
    free(xj);
    free(found);
    free(mj);
    free(pot);
}

struct job {
    int device;
    double worst;
};

/* A thread with a device of its own, as FDPS has them: other j-particles in each round. */
static void *at_once(void *argument)
{
    struct job *job = argument;
    int round, i, j, k;
    for (round = 0; round < 60; round++) {
        int n = 200 + 37 * round % 900, from = 13 * (round + 7 * job->device) % 300;
        vector found[5];
        double pot[5];
        set_xmjMC(job->device, 0, n, x + from, m + from);
        set_nMC(job->device, n);
        calculate_force_on_xeMC(job->device, xi, ei2, found, pot, 5);
        for (i = 0; i < 5; i++) {
            double sum = 0.0;
            for (j = from; j < from + n; j++) {
                double s2 = ei2[i];
                for (k = 0; k < 3; k++)
                    s2 += (x[j][k] - xi[i][k]) * (x[j][k] - xi[i][k]);
                sum += m[j] / sqrt(s2);
            }
            job->worst = fmax(job->worst, fabs(pot[i] / sum - 1.0));
        }
    }
    return NULL;
}

static void threads(void)
{
    enum { THREADS = 6 };
    pthread_t thread[THREADS];
    struct job job[THREADS];
    int t;
    for (t = 0; t < THREADS; t++) {
        job[t].device = t;
        job[t].worst = 0.0;
        pthread_create(&thread[t], NULL, at_once, &job[t]);
    }
    for (t = 0; t < THREADS; t++) {
        pthread_join(thread[t], NULL);
        if (!(job[t].worst <= tolerance))
            say("threads", t, job[t].worst);
    }
}

/* Each costs a line on stderr, and nothing else. */
static void refused(void)
{
    static const int list[1] = {0};
    set_xmj(0, N, x, m);
    set_n(N);
    set_xei(NI, xi, ei2);
    by_registers(0, 0);
    expect("negative device", set_nMC(-1, 1), -1);
    expect("negative n", set_n(-1), -1);
    expect("negative address", set_xmj(-1, 1, x, m), -1);
    expect("negative nj", set_xmjMC(0, 0, -5, x, m), -1);
    expect("no positions", set_xmj(0, 1, NULL, m), -1);
    expect("no masses", set_xmj(0, 1, x, NULL), -1);
    expect("no softening", set_xmj0(0, 1, x, m, NULL), -1);
    expect("no softening of j-particles", set_xmeps2j(0, 1, x, m, NULL), -1);
    expect("no softening of i-particles", set_xepsi(1, xi, NULL), -1);
    expect("no squares", set_eps2(1, NULL), -1);
    expect("no lengths", calculate_force_on_xeps(xi, NULL, a, p, 1), -1);
    expect("negative device of a softening", set_eps_to_allMC(-1, 1.0), -1);
    expect("beyond all addresses", set_xmj(2147483647, 2, x, m), -1);
    expect("no i-particles", set_xi(1, NULL), -1);
    expect("no results", calculate_force_on_x(xi, NULL, p, 1), -1);
    expect("more results than there are", get_force(NI + 1, a, p), -1);
    expect("no registers", get_forceMC(77, 1, a, p), -1);
    expect("empty block", get_force(0, NULL, NULL), 0);
    expect("devices by name", open_special(1, list), 0);
    prefill();
    get_force(NI, a, p);
    compare("after refusals", NI, 0.0, ei2, N, x, m, NULL);
}

int main(int argc, char **argv)
{
    int i, j, k;
    if (argc < 3)
        return 2;
    fortran = !strcmp(argv[1], "fortran");
    tolerance = atof(argv[2]);
    for (j = 0; j < N; j++) {
        m[j] = (1.5 + noise()) / N;
        ej2[j] = j % 5 ? 0.01 * (1.0 + noise()) : 0.0;
        for (k = 0; k < 3; k++)
            x[j][k] = noise();
    }
    for (i = 0; i < NI; i++) {
        ei[i] = 0.1 + 0.09 * noise();
        ei2[i] = ei[i] * ei[i];
        /* Half of them are j-particles. */
        for (k = 0; k < 3; k++)
            xi[i][k] = i % 2 ? noise() : x[20 * i][k];
    }
    open();
    simple_calls();
    parts();
    devices();
    refused();
    large();
    threads();
    softened();
    close();
    return wrong != 0;
}
