/* Reads particle sets, one after the other, computes the forces through the C spellings, prints them. Asks for no nearest
 * neighbours if the environment has WITHOUT_NEAREST: the kernels differ. */
#include <stdio.h>
#include <stdlib.h>

#include "kirin.h"

#define PIPES 16384
#define LONGEST 1000

static FILE *input;

static double number(void)
{
    double value;
    if (fscanf(input, "%lf", &value) != 1) {
        fprintf(stderr, "the file ends early\n");
        exit(1);
    }
    return value;
}

static void vector(double v[3])
{
    int k;
    for (k = 0; k < 3; k++)
        v[k] = number();
}

static int index_i[PIPES], nearest[PIPES], list[LONGEST];
static double x[PIPES][3], v[PIPES][3], acc[PIPES][3], jerk[PIPES][3], pot[PIPES], h2[PIPES];

static void print_block(int ni)
{
    int i, k, length;
    g6_read_neighbour_list(0);
    for (i = 0; i < ni; i++) {
        printf("%12d", index_i[i]);
        for (k = 0; k < 3; k++)
            printf("%25.16E", acc[i][k]);
        for (k = 0; k < 3; k++)
            printf("%25.16E", jerk[i][k]);
        g6_get_neighbour_list(0, i, LONGEST, &length, list);
        printf("%25.16E%12d%6d", pot[i], nearest[i], length);
        for (k = 0; k < length; k++)
            printf("%12d", list[k]);
        printf("\n");
    }
}

static int forces(int nj)
{
    int ni = (int)number(), pipes = g6_npipes(), j, i, done, n;
    double ti = number(), eps2 = number();
    int without = getenv("WITHOUT_NEAREST") != NULL;

    for (j = 0; j < nj; j++) {
        double a2by18[3], a1by6[3], aby2[3], vj[3], xj[3], t, dt, mass;
        int address = (int)number(), label = (int)number();
        t = number();
        dt = number();
        mass = number();
        vector(a2by18);
        vector(a1by6);
        vector(aby2);
        vector(vj);
        vector(xj);
        if (g6_set_j_particle(0, address, label, t, dt, mass, a2by18, a1by6, aby2, vj, xj))
            return 3;
    }
    g6_set_ti(0, ti);
    for (done = 0; done < ni; done += n) {
        n = ni - done < pipes ? ni - done : pipes;
        for (i = 0; i < n; i++) {
            index_i[i] = (int)number();
            vector(x[i]);
            vector(v[i]);
            h2[i] = number();
        }
        g6calc_firsthalf(0, nj, n, index_i, x, v, acc, jerk, pot, eps2, h2);
        if (without ? g6calc_lasthalf(0, nj, n, index_i, x, v, eps2, h2, acc, jerk, pot)
                    : g6calc_lasthalf2(0, nj, n, index_i, x, v, eps2, h2, acc, jerk, pot, nearest))
            return 4;
        print_block(n);
    }
    return 0;
}

int main(int argc, char **argv)
{
    int nj, status = 0;

    if (argc != 2 || !(input = fopen(argv[1], "r")))
        return 2;
    g6_npipes();
    g6_open(0);
    g6_set_tunit(45);
    g6_set_xunit(45);
    while (!status && fscanf(input, "%d", &nj) == 1)
        status = forces(nj);
    g6_close(0);
    fclose(input);
    return status;
}
