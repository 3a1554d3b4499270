/* Blocks on FEW and on MANY j-particles in turns, with writes between them: fewmany FEW MANY ROUNDS. Prints the precision of
 * each and a number made of all bits of its results. */
#include <stdio.h>
#include <stdlib.h>

#include "kirin.h"

enum { NI = 5, MOST = 8192 };

static double x[MOST][3], v[MOST][3];
static int label[MOST];

static unsigned long bits(const void *items, unsigned long bytes, unsigned long before)
{
    const unsigned char *each = items;
    while (bytes--)
        before = (before ^ *each++) * 1099511628211UL;
    return before;
}

static double any(void)
{
    static unsigned long state = 1;
    state = state * 6364136223846793005UL + 1442695040888963407UL;
    return (double)(state >> 11) / 9007199254740992.0 - 0.5;
}

static void write(int i, double t)
{
    double zero[3] = {0, 0, 0};
    int k;
    for (k = 0; k < 3; k++) {
        x[i][k] = any();
        v[i][k] = any();
    }
    label[i] = i;
    g6_set_j_particle(0, i, i, t, 0.0, 1e-3, zero, zero, zero, v[i], x[i]);
}

int main(int argc, char **argv)
{
    double acc[NI][3], jerk[NI][3], pot[NI], h2[NI] = {0};
    int few, many, rounds, round, i;
    unsigned long sum;
    if (argc != 4)
        return 2;
    few = atoi(argv[1]);
    many = atoi(argv[2]);
    rounds = atoi(argv[3]);
    if (many > MOST)
        return 2;
    for (i = 0; i < many; i++)
        write(i, 0.0);
    for (round = 0; round < rounds; round++) {
        int nj = round % 3 == 1 ? few : many;
        g6_set_ti(0, 0.001 * round);
        if (g6calc_lasthalf(0, nj, NI, label, x, v, 1e-4, h2, acc, jerk, pot))
            return 3;
        sum = bits(acc, sizeof acc, 14695981039346656037UL);
        sum = bits(jerk, sizeof jerk, sum);
        printf("%s %016lx\n", kirin_precision(0), bits(pot, sizeof pot, sum));
        for (i = round; i < many; i += 7 + 100 * (round % 2))
            write(i, 0.001 * round);
    }
    return 0;
}
