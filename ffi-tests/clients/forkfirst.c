/* forkfirst WHAT CHILDREN: a thread makes the first call of its process, and the process forks at the same time. The
 * child uses the library at once. Prints how many of the children, and of their parents, did not get what they should. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interfaces.h"

#define N 300

static volatile int going;
static int what, good;

static void *work(void *unused)
{
    going = 1;
    good = answer(what, 1, N);
    end(what, 1);
    return unused;
}

/* A process that forks so many turns of a loop after its thread began. */
static int first(int delay)
{
    pthread_t thread;
    volatile int k;
    int status = -1;
    pid_t child;
    if (pthread_create(&thread, NULL, work, NULL))
        return 2;
    while (!going)
        ;
    for (k = 0; k < delay; k++)
        ;
    child = fork();
    if (child == 0) {
        alarm(20);
        _exit(!answer(what, 2, N));
    }
    waitpid(child, &status, 0);
    pthread_join(thread, NULL);
    return status != 0 || !good;
}

int main(int argc, char **argv)
{
    int count, k, lost = 0;
    if (argc < 3)
        return 2;
    particles();
    what = atoi(argv[1]);
    if (argc > 3)
        return first(atoi(argv[3]));
    count = atoi(argv[2]);
    for (k = 0; k < count; k++) {
        /* Three of four in the first microseconds, one in the first block. */
        int status = -1, delay = k % 4 < 3 ? k * 97 % 20000 : k * 4507 % 2000000;
        char text[20];
        pid_t child;
        sprintf(text, "%d", delay);
        child = fork();
        if (child == 0) {
            execl("/proc/self/exe", argv[0], argv[1], argv[2], text, (char *)0);
            _exit(3);
        }
        waitpid(child, &status, 0);
        lost += status != 0;
    }
    printf("%d lost\n", lost);
    return 0;
}
