/* hardness WHAT: how one interface leaves a client that is not as most are. Prints what was asked for:
 *   traps      every floating-point exception ends the program; prints "through" in front of the end
 *   flags      the floating-point flags that are left
 *   streams    whether the descriptors 0 to 2, closed before, are closed at the end
 *   stack N    the calls are made in a thread with a stack of N kilobytes; whether they were right */
#define _GNU_SOURCE
#include <fcntl.h>
#include <fenv.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "interfaces.h"

#define N 3000

static int what;

static void *work(void *good)
{
    *(int *)good = answer(what, 1, N);
    end(what, 1);
    return NULL;
}

/* On what the client has at its own numbers, no question is asked: its arithmetic is inexact. */
static void ask(void)
{
    double acc[NI][3], jerk[NI][3], pot[NI], h2[NI] = {0}, eps = 0.5, zero[3] = {0, 0, 0}, t = 0;
    int index[NI], list[NI][2], n = N, one = 1, two = 2, none = 0, ni = NI, i, near[2] = {1, 2};
    for (i = 0; i < NI; i++)
        index[i] = i + 1;
    switch (what) {
    case GRAPE6:
        for (i = 0; i < n; i++)
            g6_set_j_particle(1, i, i, 0, 0, mass[i], zero, zero, zero, zero, place[i]);
        g6calc_firsthalf(1, n, NI, index, place, rest, acc, jerk, pot, eps, h2);
        g6calc_lasthalf(1, n, NI, index, place, rest, eps, h2, acc, jerk, pot);
        break;
    case GRAPE5:
        g5_set_xmj(0, n, place, mass);
        g5_set_n(n);
        g5_set_eps_to_all(0.1);
        g5_calculate_force_on_x(place, acc, pot, NI);
        break;
    case REGULAR:
        gpunb_send_(&n, mass, place, rest);
        gpunb_regf_(&ni, h2, h2, place, rest, acc, jerk, pot, &two, &one, list[0], &none);
        gpupot_(&none, &one, &ni, &n, mass, place, pot);
        break;
    default:
        irr_simd_open_(&n, &one, &none);
        for (i = 1; i <= n; i++) {
            irr_simd_set_jp_(&i, place[i - 1], zero, zero, zero, &mass[i - 1], &t);
            irr_simd_set_list_(&i, near);
        }
        t = 0.1;
        irr_simd_firr_vec_(&t, &ni, index, acc, jerk, list[0]);
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 2 ? argv[2] : "";
    int good = 0, k;
    what = argc > 1 ? atoi(argv[1]) : 0;
    particles();
    if (!strcmp(how, "traps")) {
        feclearexcept(FE_ALL_EXCEPT);
        feenableexcept(FE_ALL_EXCEPT);
        ask();
        puts("through");
    } else if (!strcmp(how, "flags")) {
        feclearexcept(FE_ALL_EXCEPT);
        ask();
        printf("%d\n", fetestexcept(FE_ALL_EXCEPT));
    } else if (!strcmp(how, "streams")) {
        int out = fcntl(1, F_DUPFD, 10), closed = 0;
        for (k = 0; k < 3; k++)
            close(k);
        good = answer(what, 1, N);
        for (k = 0; k < 3; k++)
            closed += fcntl(k, F_GETFD) == -1;
        end(what, 1);
        for (k = 0; k < 3; k++)
            closed += fcntl(k, F_GETFD) == -1;
        dprintf(out, "%d %d\n", good, closed);
    } else if (!strcmp(how, "stack") && argc > 3) {
        pthread_attr_t attributes;
        pthread_t thread;
        pthread_attr_init(&attributes);
        if (pthread_attr_setstacksize(&attributes, 1024 * (size_t)atoi(argv[3])))
            return 2;
        if (pthread_create(&thread, &attributes, work, &good))
            return 3;
        pthread_join(thread, NULL);
        printf("%d\n", good);
    }
    return 0;
}
