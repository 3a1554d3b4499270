/* The habits of ph4: it defines and exports the C names itself, as wrappers around the Fortran
 * ones, opens one id and uses another, starts blocks that it never fetches, and takes
 * accelerations and jerks into one array.
 */
#include <stdio.h>
#include <stdlib.h>

#define N 64

/* As in its header: the units are doubles, and some calls return nothing. */
int g6_open_(int *id);
int g6_close_(int *id);
int g6_npipes_(void);
int g6_set_tunit_(double *unit);
int g6_set_xunit_(double *unit);
int g6_set_ti_(int *id, double *ti);
int g6_set_j_particle_(int *id, int *address, int *index, double *tj, double *dtj, double *mass,
                       double k18[3], double j6[3], double a2[3], double v[3], double x[3]);
void g6calc_firsthalf_(int *id, int *nj, int *ni, int index[], double xi[][3], double vi[][3],
                       double aold[][3], double jold[][3], double phiold[], double *eps2,
                       double h2[]);
int g6calc_lasthalf_(int *id, int *nj, int *ni, int index[], double xi[][3], double vi[][3],
                     double *eps2, double h2[], double acc[][3], double jerk[][3], double pot[]);
int g6calc_lasthalf2_(int *id, int *nj, int *ni, int index[], double xi[][3], double vi[][3],
                      double *eps2, double h2[], double acc[][3], double jerk[][3], double pot[],
                      int nnbindex[]);
int g6_initialize_jp_buffer_(int *id, int *size);
int g6_flush_jp_buffer_(int *id);
int g6_reset_(int *id);
int g6_reset_fofpga_(int *id);
int g6_read_neighbour_list_(int *id);
int g6_get_neighbour_list_(int *id, int *pipe, int *most, int *length, int list[]);

static int wrapped;

int g6_open(int id) { wrapped++; return g6_open_(&id); }
int g6_close(int id) { wrapped++; return g6_close_(&id); }
int g6_npipes(void) { wrapped++; return g6_npipes_(); }
int g6_set_tunit(double unit) { wrapped++; return g6_set_tunit_(&unit); }
int g6_set_xunit(double unit) { wrapped++; return g6_set_xunit_(&unit); }
int g6_set_ti(int id, double ti) { wrapped++; return g6_set_ti_(&id, &ti); }
int g6_set_j_particle(int id, int address, int index, double tj, double dtj, double mass,
                      double k18[3], double j6[3], double a2[3], double v[3], double x[3])
{
    wrapped++;
    return g6_set_j_particle_(&id, &address, &index, &tj, &dtj, &mass, k18, j6, a2, v, x);
}
void g6calc_firsthalf(int id, int nj, int ni, int index[], double xi[][3], double vi[][3],
                      double aold[][3], double jold[][3], double phiold[], double eps2,
                      double h2[])
{
    wrapped++;
    g6calc_firsthalf_(&id, &nj, &ni, index, xi, vi, aold, jold, phiold, &eps2, h2);
}
int g6calc_lasthalf2(int id, int nj, int ni, int index[], double xi[][3], double vi[][3],
                     double eps2, double h2[], double acc[][3], double jerk[][3], double pot[],
                     int nnbindex[])
{
    wrapped++;
    return g6calc_lasthalf2_(&id, &nj, &ni, index, xi, vi, &eps2, h2, acc, jerk, pot, nnbindex);
}
int g6_reset(int id) { wrapped++; return g6_reset_(&id); }
int g6_reset_fofpga(int id) { wrapped++; return g6_reset_fofpga_(&id); }
void g6_initialize_jp_buffer(int id, int size) { wrapped++; g6_initialize_jp_buffer_(&id, &size); }
void g6_flush_jp_buffer(int id) { wrapped++; g6_flush_jp_buffer_(&id); }
void g6_set_neighbour_list_sort_mode(int mode) { (void)mode; wrapped++; }
int g6_get_neighbour_list_sort_mode(void) { wrapped++; return 0; }
void g6_set_overflow_flag_test_mode(int a, int j, int p) { (void)a; (void)j; (void)p; wrapped++; }

static FILE *input;

static double number(void)
{
    double value;
    if (fscanf(input, "%lf", &value) != 1)
        exit(2);
    return value;
}

static void vector(double v[3])
{
    int k;
    for (k = 0; k < 3; k++)
        v[k] = number();
}

int main(int argc, char **argv)
{
    static double x[N][3], v[N][3], acc[N][3], jerk[N][3], h2[N], pot[N];
    static double sync_x[16384][3], sync_v[16384][3], sync_h2[16384], zero[16384][3];
    static int index[N], nearest[N], sync_index[16384];
    int opened = 32544, id = 0, nj, ni, j, i, k, pipes;
    double ti, eps2;

    if (argc != 2 || !(input = fopen(argv[1], "r")))
        return 2;
    nj = (int)number();
    ni = (int)number();
    ti = number();
    eps2 = number();
    if (ni > N)
        return 2;
    g6_open(opened);
    g6_set_tunit(51.0);
    g6_set_xunit(51.0);
    pipes = g6_npipes();
    for (j = 0; j < nj; j++) {
        double s[3], j6[3], a2[3], vj[3], xj[3], t, mass;
        int address = (int)number(), label = (int)number();
        t = number();
        number();
        mass = number();
        vector(s);
        vector(j6);
        vector(a2);
        vector(vj);
        vector(xj);
        if (g6_set_j_particle(id, address, label, t, 0.0, mass, s, j6, a2, vj, xj))
            return 3;
    }
    /* As ph4 does to send waiting particles: a block with the same label in every pipe, never fetched. */
    for (i = 0; i < pipes; i++)
        sync_index[i] = 1;
    g6_set_ti(id, ti);
    g6calc_firsthalf(id, nj, pipes, sync_index, sync_x, sync_v, zero, zero, sync_h2, 0.0, sync_h2);
    g6_set_ti(id, ti);
    for (i = 0; i < ni; i++) {
        index[i] = (int)number();
        vector(x[i]);
        vector(v[i]);
        h2[i] = number();
        nearest[i] = -1;
    }
    g6calc_firsthalf(id, nj, ni, index, x, v, acc, jerk, pot, eps2, h2);
    if (g6calc_lasthalf2(id, nj, ni, index, x, v, eps2, h2, acc, jerk, pot, nearest))
        return 4;
    for (i = 0; i < ni; i++) {
        printf("%12d", index[i]);
        for (k = 0; k < 3; k++)
            printf("%25.16E", acc[i][k]);
        for (k = 0; k < 3; k++)
            printf("%25.16E", jerk[i][k]);
        printf("%25.16E%12d%6d\n", pot[i], nearest[i], 0);
    }
    /* Each wrapper ran once for each call of this program, and was not called by the library. */
    if (wrapped != 4 + nj + 2 + 2 + 1) {
        fprintf(stderr, "the wrappers were called %d times\n", wrapped);
        return 5;
    }
    g6calc_firsthalf(id, nj, ni, index, x, v, acc, acc, pot, eps2, h2);
    return g6calc_lasthalf_(&id, &nj, &ni, index, x, v, &eps2, h2, acc, acc, pot);
}
