/* Is linked with the library and makes no call that needs a setting: prints the number of
 * threads of the process. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grape6.h"

int main(void)
{
    char line[256];
    FILE *status = fopen("/proc/self/status", "r");
    if (!status || !kirin_version()[0])
        return 2;
    while (fgets(line, sizeof line, status))
        if (!strncmp(line, "Threads:", 8))
            printf("%ld\n", strtol(line + 8, NULL, 10));
    fclose(status);
    return 0;
}
