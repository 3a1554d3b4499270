/* Opens a cluster on GPU number 1, as kira does with -P, and prints what computes. */
#include <stdio.h>

#include "kirin.h"

int main(void)
{
    int list[] = {1};
    if (g6_open_special(1, list) != 0)
        return 1;
    puts(kirin_backend(0));
    return g6_close(0) != 0;
}
