/* Computes on clusters 0, 1, ... in turn: turns CLUSTERS. Prints what computes for each; then once more for
 * cluster 1, which was closed and opened again. With a further argument each cluster has a thread of its own, and all compute
 * at the same time. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "kirin.h"

enum { MOST = 64 };

static const char *backend[MOST];

static int compute(int id)
{
    static const double zero[3];
    double x[2][3] = {{0.0}, {1.0, 2.0, 2.0}}, v[2][3] = {{0.0}}, acc[2][3], jerk[2][3], pot[2], h2[2] = {0.0};
    int label[2] = {1, 2}, j;
    g6_open(id);
    for (j = 0; j < 2; j++)
        g6_set_j_particle(id, j, label[j], 0.0, 0.0, 27.0, zero, zero, zero, v[j], x[j]);
    g6_set_ti(id, 0.0);
    g6calc_firsthalf(id, 2, 2, label, x, v, acc, jerk, pot, 0.0, h2);
    if (g6calc_lasthalf(id, 2, 2, label, x, v, 0.0, h2, acc, jerk, pot))
        return 1;
    backend[id] = kirin_backend(id);
    /* 27 (1, 2, 2) / 3^3 */
    return !(acc[0][0] > 0.999999 && acc[0][0] < 1.000001);
}

static void *in_thread(void *id)
{
    return compute(*(int *)id) ? id : NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[MOST];
    int ids[MOST], id, clusters = argc > 1 ? atoi(argv[1]) : 0, failed = 0;
    void *wrong;
    if (clusters < 2 || clusters > MOST)
        return 2;
    for (id = 0; id < clusters; id++) {
        ids[id] = id;
        if (argc == 2)
            failed |= compute(id);
        else if (pthread_create(&thread[id], NULL, in_thread, &ids[id]))
            return 3;
    }
    for (id = 0; id < clusters && argc > 2; id++)
        failed |= pthread_join(thread[id], &wrong) || wrong;
    for (id = 0; id < clusters; id++)
        puts(backend[id]);
    g6_close(1);
    failed |= compute(1);
    puts(backend[1]);
    return failed;
}
