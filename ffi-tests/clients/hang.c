/* On a device that stops to answer: hang MODE. 0: the cluster is closed while a block is under way. 1: two clusters compute, one block after the
 * other, and are closed. Every block that is asked for has its forces. */
#include <stdlib.h>

#include "kirin.h"

static const double zero[3];
static double x[3][3], v[3][3], acc[3][3], jerk[3][3], pot[3], h2[3];
static int label[3] = {1, 2, 3};

static void begin(int id, double time)
{
    g6_set_ti(id, time);
    g6calc_firsthalf(id, 3, 3, label, x, v, acc, jerk, pot, 0.01, h2);
}

static int end(int id)
{
    return g6calc_lasthalf(id, 3, 3, label, x, v, 0.01, h2, acc, jerk, pot) || !(acc[0][0] > 0.1 && acc[0][0] < 10.0);
}

int main(int argc, char **argv)
{
    int mode = argc > 1 ? atoi(argv[1]) : 0, id, j, k;
    for (j = 0; j < 3; j++)
        x[j][0] = x[j][1] = j;
    for (id = 0; id <= mode; id++) {
        g6_open(id);
        for (j = 0; j < 3; j++)
            g6_set_j_particle(id, j, label[j], 0.0, 0.0, 1.0, zero, zero, zero, v[j], x[j]);
    }
    if (mode == 0)
        begin(0, 0.0);
    for (k = 0; mode && k < 6; k++) {
        begin(k % 2, k);
        if (end(k % 2))
            return 4;
    }
    for (id = mode; id >= 0; id--)
        g6_close(id);
    return 0;
}
