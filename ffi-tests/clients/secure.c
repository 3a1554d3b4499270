/* Prints whether the system started this program with other rights than its user's, and the number of pipelines; then
 * uses a cluster. */
#include <stdio.h>
#include <sys/auxv.h>

#include "kirin.h"

int main(void)
{
    double x[3] = {1, 0, 0}, zero[3] = {0, 0, 0};
    printf("%d %d\n", getauxval(AT_SECURE) != 0, g6_npipes());
    g6_open(0);
    g6_set_j_particle(0, 0, 0, 0.0, 0.0, 1.0, zero, zero, zero, zero, x);
    g6_close(0);
    return 0;
}
