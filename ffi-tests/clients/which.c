/* Prints the file from which the library was loaded. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#include "kirin.h"

int main(void)
{
    Dl_info info;
    /* Any data of the library tells; a function's address cannot become a data pointer in ISO C. */
    if (!dladdr(kirin_version(), &info))
        return 1;
    puts(info.dli_fname);
    return 0;
}
