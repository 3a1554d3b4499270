/* One block and two error messages, under conditions that end programs which are not careful. The
 * arguments: "limit" lets no file grow beyond 64 bytes; "pipe" makes stderr a pipe without a reader;
 * both leave the signals as they are by default. After "own" the program itself writes to that pipe. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kirin.h"

static double x[3] = {1, 0, 0}, zero[3];

static int masked(void)
{
    sigset_t set;
    sigprocmask(SIG_SETMASK, NULL, &set);
    return sigismember(&set, SIGPIPE) || sigismember(&set, SIGXFSZ);
}

int main(int argc, char **argv)
{
    double acc[1][3], jerk[1][3], pot[1], h2[1] = {0}, origin[1][3] = {{0}};
    int label[1] = {7}, ends[2], k;
    for (k = 1; k < argc; k++) {
        if (!strcmp(argv[k], "limit")) {
            struct rlimit limit = {64, 64};
            setrlimit(RLIMIT_FSIZE, &limit);
        }
        if (!strcmp(argv[k], "pipe")) {
            if (pipe(ends) || dup2(ends[1], 2) != 2)
                return 2;
            close(ends[0]);
            close(ends[1]);
        }
    }
    g6_open(0);
    /* Two error messages of one call. */
    g6_set_j_particle(0, -1, 1, 0.0, 0.0, 1.0, zero, zero, zero, zero, x);
    g6_set_j_particle(0, -1, 1, 0.0, 0.0, 1.0, zero, zero, zero, zero, x);
    for (k = 0; k < 5000; k++)
        g6_set_j_particle(0, k, k, 0.0, 0.0, 1.0, zero, zero, zero, zero, x);
    g6calc_firsthalf(0, 1, 1, label, origin, origin, origin, origin, pot, 0.0, h2);
    g6calc_lasthalf(0, 1, 1, label, origin, origin, 0.0, h2, acc, jerk, pot);
    g6_close(0);
    if (write(1, "through", 7) != 7 || masked())
        return 3;
    return argc > 2 && write(2, "own", 3) == 3;
}
