/* What a client's floating-point environment does to kirin, and kirin to it. The argument:
 *   traps     invalid, zero, overflow, underflow, inexact and denormal operands end the program
 *   flags     prints the flags that the calls leave, once from none and once from all
 *   rounding  prints whether the results have the same bits in every mode, and whether the modes stay
 * Every call that computes is made, with numbers that are hard on it. */
#define _GNU_SOURCE
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kirin.h"

#define N 4096
#define NI 300
#define CLUSTER 5

static double x[N][3], v[N][3], a[N][3], zero[3];
static double acc[NI][3], jerk[NI][3], pot[NI], h2[NI], xp[N][3], vp[N][3];
static int label[N], nearest[NI], list[N], flag[NI];
static float distance[NI];
/* Sums of the bits of all results. */
static unsigned long long answers;

static void keep(const void *from, size_t bytes)
{
    const unsigned char *b = from;
    size_t k;
    for (k = 0; k < bytes; k++)
        answers = answers * 1099511628211ULL + b[k];
}

static void keep_block(void)
{
    keep(acc, sizeof acc);
    keep(jerk, sizeof jerk);
    keep(pot, sizeof pot);
    keep(nearest, sizeof nearest);
    keep(distance, sizeof distance);
}

static void particles(double scale)
{
    int j;
    for (j = 0; j < N; j++) {
        double xs[3];
        int k;
        for (k = 0; k < 3; k++)
            xs[k] = scale * x[j][k];
        g6_set_j_particle(CLUSTER, j, j, 0.0, 0.125, 1.0 / N, a[j], a[j], a[j], v[j], xs);
    }
}

static void calls(void)
{
    double close_by[3] = {0, 0, 0};
    int i, length;
    answers = 0;
    g6_open(CLUSTER);
    particles(1.0);
    g6_set_ti(CLUSTER, 0.015625);
    /* Two particles in one place, one far away, one that hardly moves, and a wrong one behind nj. */
    for (i = 0; i < 2; i++)
        g6_set_j_particle(CLUSTER, i, i, 0.0, 0.0, 1.0 / N, zero, zero, zero, zero, close_by);
    close_by[0] = 1e30;
    g6_set_j_particle(CLUSTER, 2, 2, 0.0, 0.0, 1e-300, zero, zero, zero, zero, close_by);
    close_by[0] = 4e-320;
    g6_set_j_particle(CLUSTER, 3, 3, 4e-320, 0.0, 4e-320, zero, zero, close_by, close_by, close_by);
    close_by[0] = NAN;
    g6_set_j_particle(CLUSTER, N, N, 0.0, 0.0, NAN, zero, zero, zero, close_by, close_by);
    g6calc_firsthalf(CLUSTER, N, NI, label, x, v, a, a, pot, 0.0, h2);
    g6_set_j_particle(CLUSTER, 5, 5, 0.0, 0.0, 1.0 / N, zero, zero, zero, zero, x[5]);
    g6calc_lasthalf2(CLUSTER, N, NI, label, x, v, 0.0, h2, acc, jerk, pot, nearest);
    keep_block();
    g6_read_neighbour_list(CLUSTER);
    for (i = 0; i < NI; i += 50) {
        g6_get_neighbour_list(CLUSTER, i, N, &length, list);
        keep(list, sizeof *list * (size_t)length);
    }
    /* One i-particle; then three, with a NaN among the j-particles. */
    g6calc_firsthalf(CLUSTER, N, 1, label, x, v, a, a, pot, 1e-300, h2);
    g6calc_lasthalf2p(CLUSTER, N, 1, label, x, v, 1e-300, h2, acc, jerk, pot, nearest, distance);
    keep_block();
    g6calc_firsthalf(CLUSTER, N + 1, 3, label, x, v, a, a, pot, 1e-4, h2);
    g6calc_lasthalf(CLUSTER, N + 1, 3, label, x, v, 1e-4, h2, acc, jerk, pot);
    /* So many writes after a firsthalf that its block is computed to make room for them. They are large (2^66: exact). */
    g6calc_firsthalf(CLUSTER, N, NI, label, x, v, a, a, pot, 1e-4, h2);
    particles(73786976294838206464.0);
    particles(73786976294838206464.0);
    particles(73786976294838206464.0);
    g6calc_lasthalf(CLUSTER, N, NI, label, x, v, 1e-4, h2, acc, jerk, pot);
    keep_block();
    g6calc_firsthalf(CLUSTER, N, NI, label, x, v, a, a, pot, 1e-4, h2);
    g6calc_lasthalf(CLUSTER, N, NI, label, x, v, 1e-4, h2, acc, jerk, pot);
    keep_block();
    g6_get_predicted_j_particles(CLUSTER, N, xp, vp);
    keep(xp, sizeof xp);
    keep(vp, sizeof vp);
    g6_set_nip(CLUSTER, 2);
    g6_set_njp(CLUSTER, N);
    g6_set_i_particle(CLUSTER, 0, 7, x[7], v[7], 0.0, 0.5);
    g6_set_i_particle(CLUSTER, 1, 8, x[8], v[8], 0.0, 0.0);
    g6_get_force(CLUSTER, acc, jerk, pot, flag);
    keep_block();
    g6_close(CLUSTER);
}

/* DENORMAL: the mask of a trap that x86 has and C does not name. */
#ifdef __x86_64__
#include <xmmintrin.h>
#define DENORMAL 0x100U
static unsigned x87(void)
{
    unsigned short control, status;
    __asm__ volatile("fnstcw %0\n\tfnstsw %1" : "=m"(control), "=m"(status));
    return control | (unsigned)status << 16;
}
static unsigned control(void) { return _mm_getcsr(); }
static void set_control(unsigned value) { _mm_setcsr(value); }
#define FLUSH 0x8040U
#else
#define DENORMAL 0U
static unsigned x87(void) { return 0; }
static unsigned control(void)
{
    unsigned long value;
    __asm__ volatile("mrs %0, fpcr" : "=r"(value));
    return (unsigned)value;
}
static void set_control(unsigned value)
{
    unsigned long wide = value;
    __asm__ volatile("msr fpcr, %0" : : "r"(wide));
}
#define FLUSH 0x1000000U
#endif

static int flags(void) { return fetestexcept(FE_ALL_EXCEPT) | (int)(x87() >> 16 & 0x3f) << 8; }

int main(int argc, char **argv)
{
    static const int modes[4] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    const char *what = argc > 1 ? argv[1] : "";
    int j, k;
    srand(7);
    for (j = 0; j < N; j++) {
        label[j] = j;
        for (k = 0; k < 3; k++) {
            x[j][k] = rand() / (double)RAND_MAX - 0.5;
            v[j][k] = rand() / (double)RAND_MAX - 0.5;
            a[j][k] = 0.01 * x[j][k];
        }
    }
    for (j = 0; j < NI; j++)
        h2[j] = j % 2 ? 0.01 : 0.0;
    memset(x[0], 0, 2 * sizeof x[0]);
    if (!strcmp(what, "traps")) {
        unsigned trapping;
        feclearexcept(FE_ALL_EXCEPT);
        feenableexcept(FE_ALL_EXCEPT);
        set_control(control() & ~DENORMAL);
        trapping = control();
        calls();
        printf("%d\n", control() == trapping);
        return 0;
    }
    if (!strcmp(what, "flags")) {
        feclearexcept(FE_ALL_EXCEPT);
        calls();
        printf("%d ", flags());
        feclearexcept(FE_ALL_EXCEPT);
        feraiseexcept(FE_DIVBYZERO);
        calls();
        printf("%d\n", fetestexcept(FE_ALL_EXCEPT) == FE_DIVBYZERO);
        return 0;
    }
    {
        unsigned long long usual;
        unsigned usual_control = control(), usual_x87;
        calls();
        usual = answers;
        usual_x87 = x87();
        for (k = 0; k < 4; k++) {
            fesetround(modes[k]);
            usual_x87 = x87();
            calls();
            printf("%d%d ", answers == usual, fegetround() == modes[k] && x87() == usual_x87);
        }
        fesetround(FE_TONEAREST);
        set_control(usual_control | FLUSH);
        calls();
        printf("%d%d\n", answers == usual, (control() & FLUSH) == FLUSH);
    }
    return 0;
}
