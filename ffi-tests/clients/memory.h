/* What the system says of this process' memory, in kilobytes. */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number behind a name in /proc/self/status; -1 where there is none. */
static long from_status(const char *name)
{
    char line[256];
    long kilobytes = -1;
    FILE *status = fopen("/proc/self/status", "r");
    if (!status)
        return -1;
    while (fgets(line, sizeof line, status))
        if (!strncmp(line, name, strlen(name)))
            kilobytes = strtol(line + strlen(name), NULL, 10);
    fclose(status);
    return kilobytes;
}

/* The most memory that this process has had at a time. */
static long most_memory(void)
{
    return from_status("VmHWM:");
}

#endif
