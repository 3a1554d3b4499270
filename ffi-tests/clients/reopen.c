/* Opens, computes and closes: reopen ROUNDS RESET. All forces must be those of the first round. Where
 * RESET is 1 the client resets CUDA's first device between two rounds, as a program does that uses
 * the GPU for something else. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kirin.h"

typedef int reset(int device);

static int reset_device(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    void *symbol = library ? dlsym(library, "cuDevicePrimaryCtxReset_v2") : NULL;
    reset *call;
    if (!symbol)
        return 1;
    memcpy(&call, &symbol, sizeof call);
    return call(0);
}

int main(int argc, char **argv)
{
    static const double zero[3];
    double x[3][3] = {{0.0}}, v[3][3] = {{0.0}}, acc[3][3], jerk[3][3], pot[3], first[3][3], h2[3] = {0.0};
    int label[3] = {1, 2, 3}, round, j;
    if (argc != 3)
        return 2;
    for (j = 0; j < 3; j++)
        x[j][0] = x[j][1] = j * j;
    for (round = 0; round < atoi(argv[1]); round++) {
        if (round && atoi(argv[2]) && reset_device())
            return 3;
        g6_open(0);
        for (j = 0; j < 3; j++)
            g6_set_j_particle(0, j, label[j], 0.0, 0.0, 1.0, zero, zero, zero, v[j], x[j]);
        g6_set_ti(0, 0.0);
        g6calc_firsthalf(0, 3, 3, label, x, v, acc, jerk, pot, 0.01, h2);
        if (g6calc_lasthalf(0, 3, 3, label, x, v, 0.01, h2, acc, jerk, pot))
            return 4;
        g6_close(0);
        if (round == 0)
            memcpy(first, acc, sizeof acc);
        if (memcmp(first, acc, sizeof acc))
            return 5;
    }
    printf("%.17g\n", first[1][0]);
    return 0;
}
