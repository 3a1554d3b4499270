/* Several clusters at once, each from a thread of its own, with particles of its own; then
 * all threads on one cluster. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>

#include "kirin.h"

#define THREADS 8
#define N 200
#define ROUNDS 40

static void place(int thread, int round, int j, double x[3])
{
    x[0] = 1.0 + thread + 0.01 * j;
    x[1] = 0.5 * round;
    x[2] = -0.02 * j;
}

/* One thread's error: the largest difference from the sum done here. */
static double work(int id, int thread, int shared)
{
    static const double zero[3];
    double worst = 0.0;
    int round, j, k;
    for (round = 0; round < ROUNDS; round++) {
        int index[1] = {-5};
        double x[1][3] = {{0.0}}, v[1][3] = {{0.0}}, acc[1][3], jerk[1][3], pot[1], h2[1] = {1e4};
        double sum[3] = {0.0};
        g6_open(id);
        for (j = 0; j < N; j++) {
            double xj[3], r2 = 0.0;
            place(thread, round, j, xj);
            g6_set_j_particle(id, j, j, 0.0, 0.0, 1.0 / N, zero, zero, zero, zero, xj);
            for (k = 0; k < 3; k++)
                r2 += xj[k] * xj[k];
            for (k = 0; k < 3; k++)
                sum[k] += xj[k] / (N * r2 * sqrt(r2));
        }
        g6_set_ti(id, round);
        g6calc_firsthalf(id, N, 1, index, x, v, NULL, NULL, NULL, 0.0, h2);
        if (g6calc_lasthalf(id, N, 1, index, x, v, 0.0, h2, acc, jerk, pot))
            return 1e30;
        g6_read_neighbour_list(id);
        if (shared)
            continue;
        for (k = 0; k < 3; k++)
            worst = fmax(worst, fabs(acc[0][k] - sum[k]));
        if (round % 5 == 4)
            g6_close(id);
    }
    return worst;
}

static double error[THREADS];

static void *apart(void *argument)
{
    int thread = (int)((double *)argument - error);
    error[thread] = work(1000 * thread - 3, thread, 0);
    return NULL;
}

static void *together(void *argument)
{
    int thread = (int)((double *)argument - error);
    error[thread] = work(77, thread, 1);
    return NULL;
}

int main(void)
{
    int round, t;
    for (round = 0; round < 2; round++) {
        pthread_t threads[THREADS];
        for (t = 0; t < THREADS; t++)
            if (pthread_create(&threads[t], NULL, round ? together : apart, &error[t]))
                return 2;
        for (t = 0; t < THREADS; t++)
            pthread_join(threads[t], NULL);
        for (t = 0; t < THREADS; t++)
            printf("%.17g\n", error[t]);
    }
    return 0;
}
