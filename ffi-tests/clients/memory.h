/* The most memory that this process has had at a time, in kilobytes. */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long most_memory(void)
{
    char line[256];
    long kilobytes = -1;
    FILE *status = fopen("/proc/self/status", "r");
    if (!status)
        return -1;
    while (fgets(line, sizeof line, status))
        if (!strncmp(line, "VmHWM:", 6))
            kilobytes = strtol(line + 6, NULL, 10);
    fclose(status);
    return kilobytes;
}

#endif
