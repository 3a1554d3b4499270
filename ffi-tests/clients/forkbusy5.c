/* Forks while another thread computes on its device of GRAPE-5, in both ways: children compute on both devices, with
 * the i-particles that were loaded before the fork, too, and get the bits of the parent. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "g5util.h"

enum { N = 3000, FORKS = 12 };

typedef double vector[3];

static vector x[N], a[N], b[N];
static double m[N], p[N], q[N];
static volatile int stop;

static void *compute(void *unused)
{
    static vector c[N];
    static double d[N];
    (void)unused;
    while (!stop) {
        g5_calculate_force_on_xMC(1, x, c, d, N);
        g5_runMC(1);
    }
    return NULL;
}

static int differs(int device)
{
    g5_calculate_force_on_xMC(device, x, b, q, N);
    return memcmp(a, b, sizeof a) || memcmp(p, q, sizeof p);
}

static int runs_differ(int device)
{
    g5_runMC(device);
    return g5_get_forceMC(device, N, b, q) || memcmp(a, b, sizeof a) || memcmp(p, q, sizeof p);
}

int main(void)
{
    pthread_t thread;
    int j, k, wrong = 0;
    for (j = 0; j < N; j++)
        for (m[j] = 1.0, k = 0; k < 3; k++)
            x[j][k] = 1e-3 * (j * 7919 % (1000 + k));
    g5_open();
    g5_set_eps_to_all(0.01);
    for (k = 0; k < 2; k++) {
        g5_set_xmjMC(k, 0, N, x, m);
        g5_set_nMC(k, N);
        g5_set_xiMC(k, N, x);
    }
    g5_calculate_force_on_x(x, a, p, N);
    pthread_create(&thread, NULL, compute, NULL);
    for (j = 0; j < FORKS; j++) {
        int status;
        pid_t child = fork();
        if (!child)
            _exit(differs(0) || differs(1) || runs_differ(0) || runs_differ(1));
        waitpid(child, &status, 0);
        wrong += status != 0;
    }
    stop = 1;
    pthread_join(thread, NULL);
    wrong += differs(1) + runs_differ(1);
    printf("%d wrong\n", wrong);
    return 0;
}
