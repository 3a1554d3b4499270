/* Each rank holds a share of the j-particles, and one holds none; the partial forces are added
 * and compared with the direct sum. Prints the largest relative error, and the ranks that were
 * asked for nothing and did not answer with exact zeros. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>

#include "kirin.h"

enum { N = 200, EACH = 7 };

static double x[N][3], v[N][3], zero[3], h2[N];
static double sums[EACH * N], total[EACH * N];
static int label[N];

static double next(void)
{
    static unsigned state = 1;
    state = state * 1664525u + 1013904223u;
    return state / 4294967296.0 - 0.5;
}

static void direct(int i, double eps2, double f[EACH])
{
    int j, k;
    for (k = 0; k < EACH; k++)
        f[k] = 0.0;
    for (j = 0; j < N; j++) {
        double r2 = eps2, rv = 0.0, dx[3], dv[3], y;
        if (j == i)
            continue;
        for (k = 0; k < 3; k++) {
            dx[k] = x[j][k] - x[i][k];
            dv[k] = v[j][k] - v[i][k];
            r2 += dx[k] * dx[k];
            rv += dx[k] * dv[k];
        }
        y = 1.0 / (N * r2 * sqrt(r2));
        for (k = 0; k < 3; k++) {
            f[k] += y * dx[k];
            f[3 + k] += y * (dv[k] - 3.0 * rv / r2 * dx[k]);
        }
        f[6] -= y * r2;
    }
}

int main(int argc, char **argv)
{
    static double acc[N][3], jerk[N][3], pot[N];
    double eps2 = 1.0 / 1024.0, worst = 0.0;
    int rank, ranks, i, k, nj = 0, wrong = 0, wrongs;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    g6_open(rank);
    for (i = 0; i < N; i++) {
        label[i] = i + 1;
        for (k = 0; k < 3; k++) {
            x[i][k] = next();
            v[i][k] = next();
        }
        /* The last rank has none. */
        if (ranks > 1 && i % (ranks - 1) == rank)
            g6_set_j_particle(rank, nj++, label[i], 0.0, 1.0, 1.0 / N, zero, zero, zero, v[i], x[i]);
    }
    for (i = 0; i < N; i++)
        acc[i][0] = jerk[i][0] = pot[i] = 99.0;
    g6_set_ti(rank, 0.0);
    g6calc_firsthalf(rank, nj, N, label, x, v, acc, jerk, pot, eps2, h2);
    if (g6calc_lasthalf(rank, nj, N, label, x, v, eps2, h2, acc, jerk, pot))
        MPI_Abort(MPI_COMM_WORLD, 3);
    for (i = 0; i < N; i++) {
        for (k = 0; k < 3; k++) {
            sums[EACH * i + k] = acc[i][k];
            sums[EACH * i + 3 + k] = jerk[i][k];
        }
        sums[EACH * i + 6] = pot[i];
    }
    for (i = 0; nj == 0 && i < EACH * N; i++)
        wrong += sums[i] != 0.0;
    MPI_Allreduce(sums, total, EACH * N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&wrong, &wrongs, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (i = 0; i < N; i++) {
        double f[EACH], scale[2] = {0.0, 0.0};
        direct(i, eps2, f);
        for (k = 0; k < 6; k++)
            scale[k / 3] += f[k] * f[k];
        for (k = 0; k < EACH; k++) {
            double size = k < 6 ? sqrt(scale[k / 3]) : -f[6];
            worst = fmax(worst, fabs(total[EACH * i + k] - f[k]) / size);
        }
    }
    if (rank == 0)
        printf("%.3e %d\n", worst, wrongs);
    g6_close(rank);
    MPI_Finalize();
    return 0;
}
