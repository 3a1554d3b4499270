/* Block steps in parts of at most g6_npipes particles, with arrays for the 48 of GRAPE-6 as in
 * NBODY4: parts NJ ROUNDS. Prints the number of parts and how many of them follow a full one of the
 * same step. Status 4 where there are more pipelines than room. */
#include <stdio.h>
#include <stdlib.h>

#include "kirin.h"

enum { PIPES = 48 };

static double x[PIPES][3], v[PIPES][3], acc[PIPES][3], jerk[PIPES][3], pot[PIPES], h2[PIPES];
static int label[PIPES];

static double place(int i, int k) { return (double)((i * 37 + k * 101) % 1009) / 1009.0; }

int main(int argc, char **argv)
{
    static double zero[3];
    int nj, rounds, round, pipes = g6_npipes(), parts = 0, following = 0, i, k;
    if (argc != 3)
        return 2;
    if (pipes > PIPES)
        return 4;
    nj = atoi(argv[1]);
    rounds = atoi(argv[2]);
    for (i = 0; i < nj; i++) {
        double at[3];
        for (k = 0; k < 3; k++)
            at[k] = place(i, k);
        g6_set_j_particle(0, i, i, 0.0, 0.0, 1.0 / nj, zero, zero, zero, zero, at);
    }
    for (round = 0; round < rounds; round++) {
        int size = 1 + round * 29 % nj, from;
        g6_set_ti(0, 0.001 * (round + 1));
        for (from = 0; from < size; from += pipes) {
            int ni = size - from < pipes ? size - from : pipes;
            for (i = 0; i < ni; i++) {
                label[i] = from + i;
                for (k = 0; k < 3; k++)
                    x[i][k] = place(from + i, k);
            }
            g6calc_firsthalf(0, nj, ni, label, x, v, acc, jerk, pot, 1e-4, h2);
            if (g6calc_lasthalf(0, nj, ni, label, x, v, 1e-4, h2, acc, jerk, pot))
                return 3;
            parts++;
            following += from > 0;
        }
    }
    printf("%d %d\n", parts, following);
    return 0;
}
