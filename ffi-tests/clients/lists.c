/* Asks for the lists of everything around N particles, and then for short ones. Prints status and length. */
#include <stdio.h>
#include <stdlib.h>

#include "kirin.h"

static double (*x)[3], (*v)[3], (*acc)[3], (*jerk)[3], *pot, *h2;
static int *label, *list;

static void ask(int n, double radius2)
{
    int i, length = -1, status;
    for (i = 0; i < n; i++)
        h2[i] = radius2;
    g6calc_firsthalf(0, n, n, label, x, v, acc, jerk, pot, 0.01, h2);
    status = g6calc_lasthalf(0, n, n, label, x, v, 0.01, h2, acc, jerk, pot);
    printf("%d %d", status, g6_read_neighbour_list(0));
    status = g6_get_neighbour_list(0, n - 1, n, &length, list);
    printf(" %d %d\n", status, length);
}

int main(int argc, char **argv)
{
    static const double zero[3];
    int i, n = argc > 1 ? atoi(argv[1]) : 2;
    x = calloc(n, sizeof *x);
    v = calloc(n, sizeof *v);
    acc = calloc(n, sizeof *acc);
    jerk = calloc(n, sizeof *jerk);
    pot = calloc(n, sizeof *pot);
    h2 = calloc(n, sizeof *h2);
    label = calloc(n, sizeof *label);
    list = calloc(n, sizeof *list);
    if (!x || !v || !acc || !jerk || !pot || !h2 || !label || !list)
        return 2;
    g6_open(0);
    for (i = 0; i < n; i++) {
        label[i] = i;
        x[i][0] = i;
        g6_set_j_particle(0, i, i, 0.0, 0.0, 1.0, zero, zero, zero, zero, x[i]);
    }
    g6_set_ti(0, 0.0);
    ask(n, 1e30);
    ask(n, 1.5 * 1.5);
    g6_close(0);
    return 0;
}
