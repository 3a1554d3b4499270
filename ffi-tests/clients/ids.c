/* Opens and closes as many clusters as the argument says, one after the other and then all at once,
 * writing to each, and prints the seconds that it took. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "kirin.h"

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 1, id;
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (id = 0; id < count; id++) {
        g6_open(7 * id);
        g6_set_ti(7 * id, 1.0);
        g6_close(7 * id);
    }
    for (id = 0; id < count; id++)
        g6_open(-id);
    for (id = 0; id < count; id++)
        g6_close(-id);
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%.6f\n", (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec));
    return 0;
}
