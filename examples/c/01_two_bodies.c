/* Lesson 1 in C: two bodies on a circular orbit. Prints the digits of 01_two_bodies.rs.
 *
 * cc -I include examples/c/01_two_bodies.c -o two_bodies -L target/release -lkirin
 * LD_LIBRARY_PATH=target/release ./two_bodies
 */
#include <stdio.h>
#include <stdlib.h>

#include "kirin.h"

#define ID 0
/* A power of two: its products are exact, so that no compiler's fused operation changes a digit. */
#define H (1.0 / 128.0)

/* Two masses of 1/2 at the distance 1, each moving with 1/2: one orbit takes 2 pi. */
static int index_of[2] = {1, 2};
static double x[2][3] = {{-0.5, 0.0, 0.0}, {0.5, 0.0, 0.0}};
static double v[2][3] = {{0.0, -0.5, 0.0}, {0.0, 0.5, 0.0}};
static double acc[2][3], jerk[2][3], pot[2];

/* Sends the stars as j-particles and gets the forces on them as i-particles. */
static void force(void)
{
    static const double zero[3], h2[2];
    for (int i = 0; i < 2; i++)
        g6_set_j_particle(ID, i, index_of[i], 0.0, H, 0.5, zero, zero, zero, zero, x[i]);
    g6_set_ti(ID, 0.0);
    g6calc_firsthalf(ID, 2, 2, index_of, x, v, acc, jerk, pot, 0.0, h2);
    if (g6calc_lasthalf(ID, 2, 2, index_of, x, v, 0.0, h2, acc, jerk, pot) != 0)
        exit(EXIT_FAILURE);
}

static void add(double to[2][3], double factor, double rate[2][3])
{
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++)
            to[i][k] += factor * rate[i][k];
}

int main(void)
{
    g6_open(ID);
    force();
    for (int step = 0; step <= 804; step++) {
        if (step % 201 == 0)
            printf("%4d%22.18f%22.18f%22.18f\n", step, x[0][0], x[0][1], pot[0]);
        /* Leapfrog: half a kick, a drift, half a kick. */
        add(v, H / 2.0, acc);
        add(x, H, v);
        force();
        add(v, H / 2.0, acc);
    }
    g6_close(ID);
    return 0;
}
