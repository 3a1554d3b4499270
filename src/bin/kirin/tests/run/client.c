/* Prints acceleration and potential of one particle at distance 2 from a unit mass; then does
 * what its argument says. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int g6_open_(int *id);
int g6_close_(int *id);
int g6_npipes_(void);
int g6_set_ti_(int *id, double *ti);
int g6_set_j_particle_(int *id, int *address, int *index, double *tj, double *dtj, double *mass,
                       double k18[3], double j6[3], double a2[3], double v[3], double x[3]);
int g6calc_firsthalf_(int *id, int *nj, int *ni, int index[], double xi[][3], double vi[][3],
                      double aold[][3], double jold[][3], double phiold[], double *eps2, double h2[]);
int g6calc_lasthalf_(int *id, int *nj, int *ni, int index[], double xi[][3], double vi[][3], double *eps2,
                     double h2[], double acc[][3], double jerk[][3], double pot[]);

#ifdef HELPER
double helper(double x);
#endif

#ifdef CUTOFF
void pg5_gen_s2_force_table(double sft_pp, double sft_pm);
#endif

int main(int argc, char **argv)
{
    int id = 0, nj = 1, ni = 1, address = 0, label = 1, probe[1] = {2};
    double zero[3] = {0}, at[3] = {2, 0, 0}, t = 0, dt = 1, mass = 1, eps2 = 0, h2[1] = {0};
    double x[1][3] = {{0}}, v[1][3] = {{0}}, acc[1][3], jerk[1][3], pot[1] = {0};

#ifdef CUTOFF
    pg5_gen_s2_force_table(1, 2);
#endif
    g6_open_(&id);
    g6_set_j_particle_(&id, &address, &label, &t, &dt, &mass, zero, zero, zero, zero, at);
    g6_set_ti_(&id, &t);
    g6calc_firsthalf_(&id, &nj, &ni, probe, x, v, x, v, pot, &eps2, h2);
    g6calc_lasthalf_(&id, &nj, &ni, probe, x, v, &eps2, h2, acc, jerk, pot);
    printf("%g %g %d\n", acc[0][0], pot[0], g6_npipes_());
    fflush(stdout);
    g6_close_(&id);
#ifdef HELPER
    printf("%g\n", helper(1.5));
#endif
    if (argc > 2 && !strcmp(argv[1], "exit"))
        return atoi(argv[2]);
    if (argc > 2 && !strcmp(argv[1], "raise"))
        raise(atoi(argv[2]));
    return 0;
}
