/* Forces on N particles in parts of g5_get_number_of_pipelines, after g5_set_eta with the argument and once more:
 * parts5 ETA. Prints the number of parts. */
#include <stdio.h>
#include <stdlib.h>

#include "g5util.h"

enum { N = 250 };

static double x[N][3], m[N], a[N][3], p[N];

int main(int argc, char **argv)
{
    int pipes = g5_get_number_of_pipelines(), parts = 0, from, j, k;
    if (argc != 2)
        return 2;
    for (j = 0; j < N; j++)
        for (m[j] = 1.0, k = 0; k < 3; k++)
            x[j][k] = 1e-3 * (j * 7919 % (1000 + k));
    g5_open();
    for (k = 0; k < 2; k++)
        g5_set_eta(atof(argv[1]));
    g5_set_eps_to_all(0.01);
    g5_set_n(N);
    g5_set_xmj(0, N, x, m);
    for (from = 0; from < N; from += pipes, parts++) {
        int ni = N - from < pipes ? N - from : pipes;
        g5_set_xi(ni, x + from);
        g5_run();
        g5_get_force(ni, a + from, p + from);
    }
    g5_close();
    printf("%d\n", parts);
    return 0;
}
