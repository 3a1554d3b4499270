/* scarce NJ NI KILOBYTES: so many j-particles, so many i-particles, and so much address space (with a '+':
 * so much more than the program has; 0: any). Prints what the loads, firsthalf, lasthalf2 and the reading of
 * the lists answered, then what a small block on the same cluster answered, and its potential. Without
 * a limit a third line has the memory of the large block, in bytes an i-particle.
 *
 * scarce NJ NI KILOBYTES tree: a tree of NJ sources, of which the first NI are targets, and the limit after
 * a first call with theta = 1. Prints what the first call answered, then with theta = 0, with quadrupoles, and with
 * theta = 1 again; then the number of wrong results. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "kirin.h"
#include "memory.h"

typedef double (*rows)[3];

static double zero[3];

static int load(int address, double mass, double *x)
{
    return g6_set_j_particle(0, address, address, 0.0, 0.0, mass, zero, zero, zero, zero, x);
}

/* An array that has its pages. */
static void *array(int n, size_t size)
{
    void *begin = malloc((size_t)n * size);
    if (!begin)
        exit(2);
    return memset(begin, 0, (size_t)n * size);
}

static void restrict_to(const char *kilobytes)
{
    struct rlimit limit;
    rlim_t bytes = 1024 * strtoul(kilobytes + (*kilobytes == '+'), NULL, 10);
    if (*kilobytes == '+')
        bytes += 1024 * (rlim_t)from_status("VmSize:");
    limit.rlim_cur = limit.rlim_max = bytes;
    if (bytes && setrlimit(RLIMIT_AS, &limit))
        exit(2);
}

static int forces(int64_t tree, double theta, int quadrupoles, int ni, double *pot)
{
    kirin_results results;
    memset(&results, 0, sizeof results);
    results.pot.at = pot;
    return kirin_tree_forces(tree, theta, quadrupoles, 1e-4, ni, NULL, &results);
}

static void scarce_tree(int nj, int ni, const char *kilobytes)
{
    rows x = array(nj, sizeof *x);
    double *mass = array(nj, sizeof *mass);
    double *first = array(ni, sizeof *first), *pot = array(ni, sizeof *pot);
    int64_t tree;
    kirin_sources sources;
    int code, codes[4], i, j, wrong = 0;
    memset(&sources, 0, sizeof sources);
    sources.mass.at = mass;
    sources.x.at = x[0];
    for (j = 0; j < nj; j++) {
        mass[j] = 1.0;
        x[j][0] = j % 100;
        x[j][1] = j / 100 % 100;
        x[j][2] = j / 10000;
    }
    if (kirin_tree_open(&tree) || kirin_tree_set_sources(tree, nj, &sources))
        exit(2);
    codes[0] = forces(tree, 1.0, 0, ni, first);
    restrict_to(kilobytes);
    for (i = 1; i < 4; i++) {
        for (j = 0; j < ni; j++)
            pot[j] = 1.0;
        codes[i] = code = forces(tree, i == 1 ? 0.0 : 1.0, i == 2, ni, pot);
        /* A refused call writes nothing; potentials are negative. */
        for (j = 0; j < ni; j++)
            wrong += code ? pot[j] != 1.0 : i == 3 ? pot[j] != first[j] : !(pot[j] < 0.0);
    }
    printf("%d %d %d %d\n%d\n", codes[0], codes[1], codes[2], codes[3], wrong);
}

int main(int argc, char **argv)
{
    int nj = argc > 1 ? atoi(argv[1]) : 1, ni = argc > 2 ? atoi(argv[2]) : 1, i, j, code;
    int loads = 0, first, last, lists = 0;
    rows x = array(ni, sizeof *x), v = array(ni, sizeof *v);
    rows acc = array(ni, sizeof *acc), jerk = array(ni, sizeof *jerk);
    double *pot = array(ni, sizeof *pot), *h2 = array(ni, sizeof *h2), before;
    int *label = array(ni, sizeof *label), *nearest = array(ni, sizeof *nearest);
    const char *kilobytes = argc > 3 ? argv[3] : "0";
    if (argc > 4) {
        scarce_tree(nj, ni, kilobytes);
        return 0;
    }
    restrict_to(kilobytes);
    g6_open(0);
    for (j = 0; j < nj; j++) {
        double xj[3];
        xj[0] = 1.0 + j % 1000;
        xj[1] = j / 1000 % 1000;
        xj[2] = 0.5;
        code = load(j, 1.0, xj);
        if (code < loads)
            loads = code;
    }
    /* Every i-particle in one place, one of them with neighbours. */
    for (i = 0; i < ni; i++)
        label[i] = -1 - i;
    h2[0] = 1e12;
    before = 1024.0 * most_memory();
    first = g6calc_firsthalf(0, nj, ni, label, x, v, acc, jerk, pot, 1e-4, h2);
    /* More writes than are kept for the next block: the present one is computed to make room. */
    for (j = 0; j < 10000; j++) {
        code = load(j % nj, 1.0, zero);
        if (code < loads)
            loads = code;
    }
    last = g6calc_lasthalf2(0, nj, ni, label, x, v, 1e-4, h2, acc, jerk, pot, nearest);
    if (!first && !last)
        lists = g6_read_neighbour_list(0);
    printf("%d %d %d %d\n", loads, first, last, lists);
    fflush(stdout);
    before = (1024.0 * most_memory() - before) / ni;
    h2[0] = 0.0;
    code = load(0, 4.0, zero);
    x[0][0] = 2.0;
    first = g6calc_firsthalf(0, 1, 1, label, x, v, acc, jerk, pot, 0.0, h2);
    last = g6calc_lasthalf2(0, 1, 1, label, x, v, 0.0, h2, acc, jerk, pot, nearest);
    printf("%d %d %d %.6f\n", code, first, last, pot[0]);
    if (!strcmp(kilobytes, "0"))
        printf("%.1f\n", before);
    return 0;
}
