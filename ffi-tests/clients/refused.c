/* A block that is refused while the results of another one wait: neither half may answer with those. Prints the
 * codes of both halves and the acceleration as it was, a second lasthalf, which computes the block that it names, and the block after it.
 * Then the same for its neighbour lists: the codes of both calls, and the length as it was. Then the first line again for null scalars
 * in the Fortran spelling. */
#include <stdio.h>

#include "kirin.h"

int main(void)
{
    static double x[2][3], v[2][3], zero[3], pot[2], jerk[2][3], h2[2] = {9.0, 9.0};
    static double acc[2][3] = {{7.0, 7.0, 7.0}, {7.0, 7.0, 7.0}};
    double place[3] = {2.0, 0.0, 0.0}, other_place[3] = {4.0, 0.0, 0.0};
    int label[2] = {2, 3}, list[3], length, first, last;
    g6_set_j_particle(0, 0, 1, 0.0, 0.0, 1.0, zero, zero, zero, zero, place);
    if (g6calc_firsthalf(0, 1, 2, label, x, v, acc, jerk, pot, 0.0, h2))
        return 1;
    first = g6calc_firsthalf(0, -1, 2, label, x, v, acc, jerk, pot, 0.0, h2);
    last = g6calc_lasthalf(0, 1, 2, label, x, v, 0.0, h2, acc, jerk, pot);
    printf("%d %d %g\n", first, last, acc[0][0]);
    g6_set_j_particle(0, 0, 1, 0.0, 0.0, 1.0, zero, zero, zero, zero, other_place);
    last = g6calc_lasthalf(0, 1, 2, label, x, v, 0.0, h2, acc, jerk, pot);
    printf("%d %g\n", last, acc[0][0]);
    g6_set_j_particle(0, 0, 1, 0.0, 0.0, 1.0, zero, zero, zero, zero, place);
    acc[0][0] = 7.0;
    first = g6calc_firsthalf0(0, 1, 2, label, x, v, acc, jerk, pot, NULL, h2, 1);
    last = g6calc_lasthalf(0, 1, 2, label, x, v, 0.0, h2, acc, jerk, pot);
    printf("%d %d %g\n", first, last, acc[0][0]);
    first = g6calc_firsthalf(0, 1, 2, 0, x, v, acc, jerk, pot, 0.0, h2);
    last = g6calc_lasthalf(0, 1, 2, label, x, v, 0.0, h2, acc, jerk, pot);
    printf("%d %d %g\n", first, last, acc[0][0]);
    first = g6calc_firsthalf(0, 1, 2, label, x, v, acc, jerk, pot, 0.0, h2);
    last = g6calc_lasthalf(0, 1, 2, label, x, v, 0.0, h2, acc, jerk, pot);
    printf("%d %d %g\n", first, last, acc[0][0]);
    first = g6_read_neighbour_list(0);
    last = g6_get_neighbour_list(0, 0, 3, &length, list);
    printf("%d %d %d\n", first, last, length);
    first = g6calc_firsthalf(0, 1, -2, label, x, v, acc, jerk, pot, 0.0, h2);
    last = g6_read_neighbour_list(0);
    printf("%d %d", first, last);
    last = g6_get_neighbour_list(0, 0, 3, &length, list);
    printf(" %d %d\n", last, length);
    for (int null = 0; null < 4; null++) {
        int one = 1;
        double eps2 = 0.0;
        acc[0][0] = 7.0;
        g6calc_firsthalf(0, 1, 1, label, x, v, acc, jerk, pot, 0.0, h2);
        first = null < 3 ? g6calc_firsthalf_(NULL, null == 0 ? NULL : &one, null == 1 ? NULL : &one, label, x, v, acc, jerk, pot,
                                             null == 2 ? NULL : &eps2, h2)
                         : g6calc_firsthalf0_(NULL, &one, &one, label, x, v, acc, jerk, pot, &eps2, h2, NULL);
        last = g6calc_lasthalf(0, 1, 1, label, x, v, 0.0, h2, acc, jerk, pot);
        printf("%d %d %g\n", first, last, acc[0][0]);
    }
    return 0;
}
