/* A GRAPE-6 library whose numbers are wrong, and all alike. */
#include <stdio.h>

int g6_open_(int *id) { return *id * 0; }
int g6_close_(int *id) { return *id * 0; }
int g6_npipes_(void) { return 48; }
int g6_set_ti_(int *id, double *ti) { return *id * (int)*ti * 0; }
int g6_set_j_particle_(int *id) { return *id * 0; }
int g6calc_firsthalf_(int *id) { return *id * 0; }
int g6calc_lasthalf_(int *id, int *nj, int *ni, int index[], double x[][3], double v[][3], double *eps2,
                     double h2[], double acc[][3], double jerk[][3], double pot[])
{
    int i, k;
    (void)id, (void)nj, (void)index, (void)x, (void)v, (void)eps2, (void)h2;
    for (i = 0; i < *ni; i++) {
        for (k = 0; k < 3; k++)
            acc[i][k] = jerk[i][k] = 42.0;
        pot[i] = -42.0;
    }
    return 0;
}

#ifdef HELPER
/* What a program may want of the same library besides. */
double helper(double x) { return 2.0 * x; }
#endif

#ifdef CUTOFF
/* As a library for forces with a cutoff. */
void pg5_gen_s2_force_table(double sft_pp, double sft_pm) { (void)sft_pp, (void)sft_pm; }
#endif

#ifdef TALKS
__attribute__((constructor)) static void start(void) { puts("the stand-in is loaded"); }
#endif
