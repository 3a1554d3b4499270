/* limits WHAT LIMITS: one interface under a limit of the memory, and then without it: whatever was refused before, the
 * second time the answers must be right. Prints how many processes did not live to find that. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interfaces.h"

/* Bytes of the largest limit, above what the program has. */
#define LARGEST 12e6

/* Has the stack grow before its growth is limited. */
static __attribute__((noinline)) int touch_stack(void)
{
    volatile char pages[600000];
    int k, sum = 0;
    for (k = 0; k < 600000; k += 1000)
        sum += pages[k] = 1;
    return sum;
}

/* Bytes of the address space in use. */
static rlim_t in_use(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu", &pages) != 1 || fclose(file))
        exit(2);
    return pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

static rlim_t most;

static void begin_limit(void)
{
    struct rlimit limit;
    if (touch_stack() != 600 || getrlimit(RLIMIT_AS, &limit))
        exit(2);
    limit.rlim_cur = in_use() + most;
    setrlimit(RLIMIT_AS, &limit);
}

/* Opening asks for more than some interfaces take afterwards: every other limit comes when the interface is open. */
static int limited(int what, rlim_t bytes)
{
    struct rlimit limit;
    int right;
    most = bytes;
    if (bytes % 2)
        when_open = begin_limit;
    else
        begin_limit();
    answer(what, 1, MOST);
    when_open = NULL;
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_AS, &limit);
    end(what, 1);
    right = answer(what, 1, MOST);
    end(what, 1);
    return !right;
}

int main(int argc, char **argv)
{
    int what, count, k, lost = 0;
    if (argc < 3)
        return 2;
    particles();
    what = atoi(argv[1]);
    count = atoi(argv[2]);
    if (argc > 3)
        return limited(what, strtoul(argv[3], NULL, 10));
    for (k = 0; k < count; k++) {
        /* Closer together where they are small. */
        double part = (k + 0.5) / count;
        char text[30];
        int status = -1;
        pid_t child;
        sprintf(text, "%lu", (unsigned long)(LARGEST * part * part) / 2 * 2 + k % 2);
        child = fork();
        if (child == 0) {
            alarm(60);
            execl("/proc/self/exe", argv[0], argv[1], argv[2], text, (char *)0);
            _exit(3);
        }
        waitpid(child, &status, 0);
        if (status) {
            fprintf(stderr, "with %s bytes: status %x\n", text, status);
            lost++;
        }
    }
    printf("%d lost\n", lost);
    return 0;
}
