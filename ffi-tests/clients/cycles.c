/* Opens, loads, computes and closes over and over; prints the most memory it had
 * (in kilobytes) until a tenth of the rounds and until the end. */
#include <stdio.h>

#include "kirin.h"
#include "memory.h"

#define N 2000

int main(void)
{
    static const double zero[3];
    static double xi[16][3], vi[16][3], acc[16][3], jerk[16][3], pot[16], h2[16];
    static int index[16], nearest[16], list[N];
    int round, j, length;
    for (round = 0; round < 400; round++) {
        int id = round % 7;
        g6_open(id);
        for (j = 0; j < N; j++) {
            double x[3];
            x[0] = j;
            x[1] = round;
            x[2] = 1.0;
            /* Some at great addresses: each costs a page. */
            g6_set_j_particle(id, j % 10 ? j : j * 100000, j, 0.0, 0.0, 1.0, zero, zero, zero, zero, x);
        }
        for (j = 0; j < 16; j++) {
            xi[j][0] = j;
            h2[j] = 1e8;
        }
        g6_set_ti(id, 0.25 * round);
        g6calc_firsthalf(id, N, 16, index, xi, vi, acc, jerk, pot, 0.01, h2);
        g6_set_j_particle(id, 1, 1, 0.0, 0.0, 1.0, zero, zero, zero, zero, zero);
        if (round % 3)
            g6calc_lasthalf2(id, N, 16, index, xi, vi, 0.01, h2, acc, jerk, pot, nearest);
        g6_read_neighbour_list(id);
        g6_get_neighbour_list(id, 3, N, &length, list);
        /* Refused calls must not leak either. */
        g6_set_j_particle(id, -1, 1, 0.0, 0.0, 1.0, zero, zero, zero, zero, zero);
        g6calc_firsthalf(id, N, -1, index, xi, vi, acc, jerk, pot, 0.01, h2);
        if (!kirin_backend(id)[0] || !kirin_precision(id)[0])
            return 1;
        g6_close(id);
        if (round == 39)
            printf("%ld\n", most_memory());
    }
    printf("%ld\n", most_memory());
    return 0;
}
