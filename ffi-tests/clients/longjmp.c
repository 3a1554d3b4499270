/* A signal handler that leaves a call by siglongjmp, which the documentation forbids. Prints what the calls after it
 * return, and ends as usual. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

#include "kirin.h"

#define N 4000

static sigjmp_buf out;
static double x[N][3], v[N][3], zero[3], acc[N][3], jerk[N][3], pot[N], h2[N];
static int label[N];
static volatile sig_atomic_t inside;

static void handler(int signal)
{
    (void)signal;
    if (inside)
        siglongjmp(out, 1);
}

int main(void)
{
    struct itimerval timer = {{0, 2000}, {0, 2000}}, none = {{0, 0}, {0, 0}};
    struct sigaction action;
    int i;
    g6_open(0);
    for (i = 0; i < N; i++) {
        x[i][0] = label[i] = i;
        g6_set_j_particle(0, i, i, 0.0, 0.0, 1.0, zero, zero, zero, zero, x[i]);
    }
    action.sa_handler = handler;
    action.sa_flags = 0;
    sigemptyset(&action.sa_mask);
    sigaction(SIGALRM, &action, 0);
    setitimer(ITIMER_REAL, &timer, 0);
    if (sigsetjmp(out, 1) == 0) {
        for (;;) {
            g6calc_firsthalf(0, N, N, label, x, v, acc, jerk, pot, 0.01, h2);
            inside = 1;
            g6calc_lasthalf(0, N, N, label, x, v, 0.01, h2, acc, jerk, pot);
            inside = 0;
        }
    }
    setitimer(ITIMER_REAL, &none, 0);
    printf("%d %d %d\n", g6_set_ti(0, 0.0), g6_open(1), g6_close(0));
    return 0;
}
