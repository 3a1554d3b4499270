/* Writes in the order of the addresses, and what may come in the middle of them: refused calls, calls of another thread, a fork, a
 * close. After each the force on one i-particle is compared with the sum done here. Prints how often it was as it should be, and how
 * many calls were refused. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kirin.h"

enum { N = 1300 };

static double mine[N][3], now;
static int refused;

static double place(int j, int k) { return sin(1.0 + j + 0.37 * k + 7.0 * now) + 3.0 * (k == 0); }

static void put(int j)
{
    double v[3] = {1e-3, 0.0, -1e-3}, zero[3] = {0.0};
    int k;
    for (k = 0; k < 3; k++)
        mine[j][k] = place(j, k);
    if (g6_set_j_particle(0, j, j, now, 0.5, 1.0 / N, zero, zero, zero, v, mine[j]))
        refused++;
}

static void fill(int begin, int end)
{
    for (; begin < end; begin++)
        put(begin);
}

static int is_right(void)
{
    int index[1] = {-5}, j, k;
    double x[1][3] = {{0.0}}, v[1][3] = {{0.0}}, acc[1][3], jerk[1][3], pot[1], h2[1] = {0.0}, sum[3] = {0.0}, worst = 0.0;
    for (j = 0; j < N; j++) {
        double r2 = 1e-2;
        for (k = 0; k < 3; k++)
            r2 += mine[j][k] * mine[j][k];
        for (k = 0; k < 3; k++)
            sum[k] += mine[j][k] / (N * r2 * sqrt(r2));
    }
    g6_set_ti(0, now);
    g6calc_firsthalf(0, N, 1, index, x, v, NULL, NULL, NULL, 1e-2, h2);
    if (g6calc_lasthalf(0, N, 1, index, x, v, 1e-2, h2, acc, jerk, pot))
        return 0;
    for (k = 0; k < 3; k++)
        worst = fmax(worst, fabs(acc[0][k] - sum[k]));
    return worst < 1e-6;
}

static void *other(void *range)
{
    fill(((int *)range)[0], ((int *)range)[1]);
    return NULL;
}

static void in_thread(int begin, int end)
{
    int range[2];
    pthread_t thread;
    range[0] = begin, range[1] = end;
    if (pthread_create(&thread, NULL, other, range))
        return;
    pthread_join(thread, NULL);
}

static int in_child(void)
{
    int status = 1;
    pid_t child = fork();
    if (!child) {
        fill(700, N);
        _exit(!is_right());
    }
    return waitpid(child, &status, 0) == child && status == 0;
}

int main(void)
{
    double zero[3] = {0.0};
    int round, right = 0, k;
    g6_open(0);
    for (round = 0; round < 6; round++) {
        now = round;
        fill(0, N);
        right += is_right();
        /* Every pointer and the address in turn, in the middle of a run. */
        now += 0.25;
        fill(0, 600);
        for (k = 0; k < 6; k++) {
            double *p[5] = {zero, zero, zero, zero, zero};
            if (k < 5)
                p[k] = NULL;
            if (g6_set_j_particle(0, k < 5 ? 600 : -600, 600, now, 0.5, 1.0, p[0], p[1], p[2], p[3], p[4]))
                refused++;
        }
        fill(600, 700);
        /* A child goes on, and so does the parent. */
        right += in_child();
        fill(700, N);
        right += is_right();
        /* A new cluster in the middle of a run. */
        now += 0.25;
        fill(0, 600);
        g6_close(0);
        g6_open(0);
        fill(0, N);
        right += is_right();
        now += 0.25;
        fill(0, N);
        right += is_right();
        if (round < 3)
            continue;
        /* Another thread goes on where this one has stopped, and this one where the other has. */
        now += 0.125;
        fill(0, 600);
        in_thread(600, 900);
        fill(900, N);
        right += is_right();
    }
    printf("%d %d\n", right, refused);
    return 0;
}
