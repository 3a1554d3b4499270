/* What NBODY6's calls leave behind where they are refused, since their callers are subroutines: forces and potentials are NaN, so that
 * nothing goes on with old numbers, and lists have two stars, so that nobody asks for longer or shorter ones. Where the number of
 * arguments may be wrong nothing is written. Ends with "0 wrong". */
#include <math.h>
#include <stdio.h>

#include "kirin_nbody6.h"

#define N 3
#define ROW 4
#define UNTOUCHED (-77)

static double m[N] = {1, 1, 1}, x[N][3] = {{0}, {1}, {3}}, v[N][3];
static double acc[N][3], jrk[N][3], pot[N];
static int list[N * ROW], wrong;

static void expect(int good, const char *what)
{
    if (!good) {
        fprintf(stderr, "%s\n", what);
        wrong++;
    }
}

static int is_number(double value) { return isnan(value) ? 0 : 1; }

enum { REFUSED, THERE, NOTHING };

/* Regular forces on the first two. Whether they are there, or refused, or nothing is written; what is beyond them is untouched. */
static void regular_of(int longest, int flag, int there, const char *what)
{
    double h2[2] = {0.25, 0.25}, dtr[2] = {0, 0};
    int ni = 2, row = ROW, i, k;
    for (i = 0; i < N; i++) {
        pot[i] = UNTOUCHED;
        list[i * ROW] = UNTOUCHED;
        for (k = 0; k < 3; k++) acc[i][k] = jrk[i][k] = UNTOUCHED;
    }
    gpunb_regf_(&ni, h2, dtr, x, v, acc, jrk, pot, &row, &longest, list, &flag);
    for (i = 0; i < 2 && there == NOTHING; i++) {
        expect(pot[i] == UNTOUCHED && acc[i][0] == UNTOUCHED && jrk[i][2] == UNTOUCHED && list[i * ROW] == UNTOUCHED, what);
    }
    for (i = 0; i < 2 && there != NOTHING; i++) {
        expect(there ? list[i * ROW] == 1 : list[i * ROW] == 2 && list[i * ROW + 1] == 0 && list[i * ROW + 2] == 1, what);
        expect(is_number(pot[i]) == there && pot[i] != UNTOUCHED, what);
        for (k = 0; k < 3; k++) {
            expect(is_number(acc[i][k]) == there && acc[i][k] != UNTOUCHED, what);
            expect(is_number(jrk[i][k]) == there && jrk[i][k] != UNTOUCHED, what);
        }
    }
    expect(pot[2] == UNTOUCHED && acc[2][0] == UNTOUCHED && jrk[2][2] == UNTOUCHED && list[2 * ROW] == UNTOUCHED, what);
}

static void regular(int flag, int there, const char *what) { regular_of(ROW - 1, flag, there, what); }

/* The force of stars 2 and 3, or of what is no star, on star `i`. */
static void force_of_list(int i, int last, const double *masses, int there, const char *what)
{
    int neighbours[2] = {2, 3}, length = 3, k;
    double f[3] = {UNTOUCHED, UNTOUCHED, UNTOUCHED}, fdot[3] = {UNTOUCHED, UNTOUCHED, UNTOUCHED};
    neighbours[1] = last;
    cnbint_(&i, x, v, masses, &length, neighbours, f, fdot);
    for (k = 0; k < 3; k++) expect(is_number(f[k]) == there && is_number(fdot[k]) == there && f[k] != UNTOUCHED, what);
}

int main(void)
{
    int n = N, minus = -1, rank = 0, start = 1, ni = 2;
    gpunb_open_(&n, &rank);
    gpunb_send_(&n, m, x, v);
    regular(0, THERE, "after a send");
    regular(7, NOTHING, "another m_flag");
    regular_of(0, 0, NOTHING, "an nbmax of 0");
    regular(0, THERE, "after another m_flag");
    gpunb_send_(&minus, m, x, v);
    regular(0, REFUSED, "after a refused send");
    gpunb_send_(&n, m, NULL, v);
    regular(0, REFUSED, "after a send without positions");
    gpunb_send_(&n, m, x, v);
    regular(0, THERE, "after a send again");
    pot[0] = pot[1] = pot[2] = UNTOUCHED;
    gpupot_(&rank, &start, &ni, &n, NULL, x, pot);
    expect(isnan(pot[0]) && isnan(pot[1]) && pot[2] == UNTOUCHED, "potentials without masses");
    gpupot_(&rank, &start, &ni, &n, m, x, pot);
    expect(fabs(pot[0] - 4.0 / 3.0) < 1e-5 && pot[2] == UNTOUCHED, "potentials");
    force_of_list(1, 3, m, THERE, "the force of a list");
    force_of_list(1, 0, m, REFUSED, "the force of a list with a star that is none");
    force_of_list(0, 3, m, REFUSED, "the force of a list on a star that is none");
    force_of_list(1, 3, NULL, REFUSED, "the force of a list without masses");
    gpunb_close_();
    printf("%d wrong\n", wrong);
    return 0;
}
