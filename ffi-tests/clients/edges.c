/* edges WHAT: one mistake that clients make, twice, in a program that goes on. The lines on stderr are what is tested. */
#include <math.h>
#include <string.h>

#include "kirin.h"

static double zero[3], x[2][3] = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}}, v[2][3];
static double acc[2][3], jerk[2][3], pot[2], h2[2] = {9.0, 9.0};
static int label[2] = {10, 11};

static void store(int cluster, int address, double mass, double place)
{
    double at[3] = {place, 0.0, 0.0};
    g6_set_j_particle(cluster, address, address, 0.0, 0.0, mass, zero, zero, zero, zero, at);
}

static void block(int cluster, int first_nj, int last_nj)
{
    g6calc_firsthalf(cluster, first_nj, 2, label, x, v, acc, jerk, pot, 0.0, h2);
    g6calc_lasthalf(cluster, last_nj, 2, label, x, v, 0.0, h2, acc, jerk, pot);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int round, address, length, list[8], flag[4];
    int first = strcmp(what, "from-one") == 0;
    g6_open(0);
    for (address = first; address < 600 + first; address++)
        store(0, address, 1.0, 2.0 + address);
    if (strcmp(what, "far") == 0)
        store(0, 5, 1.0, 1e155);
    if (strcmp(what, "nan") == 0)
        store(0, 5, NAN, 3.0);
    for (round = 0; round < 2; round++) {
        if (strcmp(what, "closed") == 0) {
            g6_open(1);
            store(1, 0, 1.0, 2.0);
            block(1, 1, 1);
            g6_close(1);
            block(1, 1, 1);
        } else if (strcmp(what, "never-opened") == 0) {
            g6_open(1);
            block(2, 1, 1);
        } else if (strcmp(what, "empty") == 0) {
            g6_open(1);
            block(1, 7, 7);
        } else if (strcmp(what, "refused") == 0) {
            block(0, -2, 2);
        } else if (strcmp(what, "other-nj") == 0) {
            block(0, 600, 599);
        } else if (strcmp(what, "registers") == 0) {
            g6_set_i_particle(0, 0, 7, x[0], v[0], 0.0, 0.0);
            g6_set_nip(0, 4);
            g6_get_force(0, acc, jerk, pot, flag);
        } else {
            block(0, 600, 600);
            g6_read_neighbour_list(0);
            g6_get_neighbour_list(0, strcmp(what, "list") == 0 ? 2 : 1, 8, &length, list);
        }
    }
    return 0;
}
