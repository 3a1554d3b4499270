/* Declares the calls itself, as old codes do: the units are doubles by value, and several
 * calls return nothing. Prints the force between two particles. */
#include <stdio.h>

int g6_open_special(int ngpu, int *list);
int g6_open_special2(int ngpu, int *list, int nmax);
int g6_set_tunit(double unit);
void g6_set_xunit(double unit);
void g6_set_ti(int id, double ti);
void g6_set_j_particle(int id, int address, int index, double tj, double dtj, double mass,
                       double a2by18[3], double a1by6[3], double aby2[3], double v[3],
                       double x[3]);
void g6calc_firsthalf(int id, int nj, int ni, int index[], double xi[][3], double vi[][3],
                      double aold[][3], double jold[][3], double phiold[], double eps2,
                      double h2[]);
int g6calc_lasthalf(int id, int nj, int ni, int index[], double xi[][3], double vi[][3],
                    double eps2, double h2[], double acc[][3], double jerk[][3], double pot[]);
void g6_set_overflow_flag_test_mode_(int *flag);
void g6_close(int id);

int main(void)
{
    double zero[3] = {0, 0, 0}, x[1][3] = {{2, 0, 0}}, v[1][3] = {{0, 0, 0}};
    double acc[1][3], jerk[1][3], pot[1], h2[1] = {0};
    int index[1] = {1}, flag = 1;
    if (g6_open_special(1, index) || g6_open_special2(0, 0, 1000))
        return 3;
    if (g6_set_tunit(45.0))
        return 1;
    g6_set_xunit(45.0);
    g6_set_overflow_flag_test_mode_(&flag);
    g6_set_j_particle(0, 0, 0, 0.0, 0.125, 1.0, zero, zero, zero, zero, zero);
    g6_set_ti(0, 0.0);
    g6calc_firsthalf(0, 1, 1, index, x, v, acc, jerk, pot, 0.0, h2);
    if (g6calc_lasthalf(0, 1, 1, index, x, v, 0.0, h2, acc, jerk, pot))
        return 2;
    printf("%g %g\n", acc[0][0], pot[0]);
    g6_close(0);
    return 0;
}
