/* Opens the library at run time, uses it, closes it while its threads may still run, and
 * opens it again. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define N 3000

typedef int (*set_j)(const int *, const int *, const int *, const double *, const double *,
                     const double *, const double *, const double *, const double *,
                     const double *, const double *);
typedef int (*first)(const int *, const int *, const int *, const int *, double (*)[3],
                     double (*)[3], double (*)[3], double (*)[3], const double *, const double *,
                     const double *);

int main(int argc, char **argv)
{
    static double x[N][3], v[N][3], zero[3], h2[N], one = 1.0, eps2 = 0.01;
    static int index[N], id, n = N;
    int round, j;
    if (argc != 2)
        return 2;
    for (round = 0; round < 3; round++) {
        void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        set_j load;
        first start;
        if (!library) {
            fprintf(stderr, "%s\n", dlerror());
            return 3;
        }
        /* ISO C knows no conversion from data to function pointers; POSIX asks for this copy. */
        *(void **)&load = dlsym(library, "g6_set_j_particle_");
        *(void **)&start = dlsym(library, "g6calc_firsthalf_");
        if (!load || !start)
            return 4;
        for (j = 0; j < N; j++) {
            x[j][0] = j;
            index[j] = j;
            load(&id, &j, &j, zero, zero, &one, zero, zero, zero, zero, x[j]);
        }
        start(&id, &n, &n, index, x, v, x, v, h2, &eps2, h2);
        dlclose(library);
        /* Its threads may be at work: it must still be there. */
        if (!dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD))
            return 5;
    }
    return 0;
}
