/* cancel WHAT THREADS: threads that use one interface without end are cancelled, the first time in the first calls of
 * a process. After each the library must be as usable as before. Prints how many processes did not live to find that. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interfaces.h"

#define N 2000

static int what;

/* Has no cancellation point but the one at the end. */
static void *work(void *unused)
{
    static double x[3];
    int id;
    for (id = 1;; id++) {
        if (!answer(what, id % 50, id % 7 ? 50 : N))
            return unused;
        if (what == GRAPE6) {
            /* A refusal, and a message. */
            g6_set_j_particle(id % 50, -1, 0, 0, 0, 0, x, x, x, x, x);
            end(what, id % 50);
        }
        pthread_testcancel();
    }
}

static int cancelled(unsigned delay)
{
    pthread_t thread;
    void *result = NULL;
    if (pthread_create(&thread, NULL, work, NULL))
        return 2;
    usleep(delay);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    return result != PTHREAD_CANCELED || !answer(what, 1, N) || !answer(what, 60, 50);
}

int main(int argc, char **argv)
{
    int count, k, lost = 0;
    if (argc < 3)
        return 2;
    particles();
    what = atoi(argv[1]);
    count = atoi(argv[2]);
    for (k = 0; k < count; k++) {
        int status = -1;
        pid_t child = fork();
        if (child == 0) {
            alarm(20);
            /* Not once but twice: the second thread comes to a library at work. */
            _exit(cancelled(100 + k * 377 % 9000) || cancelled(k * 733 % 9000));
        }
        waitpid(child, &status, 0);
        lost += status != 0;
    }
    printf("%d lost\n", lost);
    return 0;
}
