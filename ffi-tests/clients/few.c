/* Small blocks: few ROUNDS. Each round writes some j-particles, mostly few, asks for the forces on some i-particles, mostly
 * few, and prints a number made of all bits of the results. Times, masses, labels, derivatives, the number of addresses
 * and the wish for nearest neighbours change now and then. */
#include <stdio.h>
#include <stdlib.h>

#include "grape6.h"

enum { N = 2600, MOST = 40 };

static unsigned long state = 1;

static unsigned draw(unsigned below)
{
    state = state * 6364136223846793005UL + 1442695040888963407UL;
    return (unsigned)(state >> 33) % below;
}

static double any(void) { return draw(1u << 20) / 524288.0 - 1.0; }

static unsigned long bits(const void *items, unsigned long bytes, unsigned long before)
{
    const unsigned char *each = items;
    while (bytes--)
        before = (before ^ *each++) * 1099511628211UL;
    return before;
}

static double mass = 1.0 / 4096;

static void put(int address, double t, int is_odd)
{
    double s[3] = {0.0, 0.0, 0.0}, j[3], a[3], v[3], x[3];
    int k;
    for (k = 0; k < 3; k++)
        x[k] = any(), v[k] = any(), a[k] = any(), j[k] = any();
    if (is_odd)
        s[draw(3)] = any();
    g6_set_j_particle(0, address, address + (is_odd ? 9000 : 1), t, 0.5, is_odd ? 3.0 * mass : mass, s, j, a, v, x);
}

int main(int argc, char **argv)
{
    static double x[MOST][3], v[MOST][3], acc[MOST][3], jerk[MOST][3], pot[MOST], h2[MOST];
    static int label[MOST], nearest[MOST];
    double ti = 0.0;
    int rounds = argc > 1 ? atoi(argv[1]) : 1, round, i, k;
    g6_open(0);
    for (i = 0; i < N; i++)
        put(i, 0.0, 0);
    for (round = 0; round < rounds; round++) {
        int ni = draw(5) ? 1 + (int)draw(16) : 1 + (int)draw(MOST), wants = draw(3) == 0;
        int nj = draw(8) ? N : N - 600, writes = draw(4) ? (int)draw(17) : (int)draw(MOST);
        unsigned long sum = 14695981039346656037UL;
        /* On the first pages, or anywhere. */
        unsigned among = draw(2) ? 700 : N;
        for (i = 0; i < writes; i++)
            put((int)draw(among), ti, draw(60) == 0);
        if (draw(4))
            ti += 1.0 / 1024;
        for (i = 0; i < ni; i++) {
            label[i] = 1 + (int)draw(N);
            for (k = 0; k < 3; k++)
                x[i][k] = any(), v[i][k] = any();
        }
        g6_set_ti(0, ti);
        g6calc_firsthalf(0, nj, ni, label, x, v, acc, jerk, pot, 1e-4, h2);
        if (wants)
            i = g6calc_lasthalf2(0, nj, ni, label, x, v, 1e-4, h2, acc, jerk, pot, nearest);
        else
            i = g6calc_lasthalf(0, nj, ni, label, x, v, 1e-4, h2, acc, jerk, pot);
        if (i)
            return 3;
        sum = bits(acc, (unsigned long)ni * sizeof *acc, sum);
        sum = bits(jerk, (unsigned long)ni * sizeof *jerk, sum);
        sum = bits(pot, (unsigned long)ni * sizeof *pot, sum);
        printf("%d %d %016lx\n", ni, writes, wants ? bits(nearest, (unsigned long)ni * sizeof *nearest, sum) : sum);
    }
    g6_close(0);
    return 0;
}
