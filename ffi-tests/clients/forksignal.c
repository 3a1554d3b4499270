/* A signal handler forks in the middle of the program's own calls. In the child the handler's call is
 * refused as it would be in the parent; every second child then returns from the handler and goes on with
 * the call that was interrupted, and another one. Prints how many children were made and found what they
 * should, whether any was refused (some interrupt the program between two calls), and how many of the
 * parent's results were wrong. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kirin.h"

#define CHILDREN 24
#define N 16384
#define NI 512
#define REFUSED 3

static double x[N][3], v[N][3], zero[3];
static double acc[NI][3], jerk[NI][3], pot[NI], h2[NI];
static int label[N], nearest[NI];
static volatile sig_atomic_t made, is_child, inside, refused;
static pid_t children[CHILDREN];

static void handler(int number)
{
    pid_t child;
    (void)number;
    if (!inside || made == CHILDREN)
        return;
    child = fork();
    if (child > 0)
        children[made++] = child;
    if (child != 0)
        return;
    signal(SIGALRM, SIG_DFL);
    alarm(20);
    refused = g6_set_ti(0, 0.0);
    if (refused && refused != -6)
        _exit(1);
    if (made % 2 == 0)
        _exit(refused ? REFUSED : 0);
    is_child = 1;
}

static double block(void)
{
    double sum = 0.0;
    int i;
    inside = 1;
    g6calc_firsthalf(0, N, NI, label, x, v, acc, jerk, pot, 0.01, h2);
    i = g6calc_lasthalf2(0, N, NI, label, x, v, 0.01, h2, acc, jerk, pot, nearest);
    inside = 0;
    if (i)
        return 0.0;
    for (i = 0; i < NI; i++)
        sum += pot[i] + acc[i][0] + nearest[i];
    return sum;
}

int main(void)
{
    struct sigaction action;
    double usual;
    int j, k, good = 0, any = 0, wrong = 0;
    srand(7);
    for (j = 0; j < N; j++) {
        label[j] = j;
        for (k = 0; k < 3; k++)
            x[j][k] = rand() / (double)RAND_MAX - 0.5;
        g6_set_j_particle(0, j, j, 0.0, 0.0, 1.0 / N, zero, zero, zero, v[j], x[j]);
    }
    usual = block();
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    for (k = 0; made < CHILDREN && k < 100 * CHILDREN; k++) {
        struct itimerval once = {{0, 0}, {0, 0}};
        /* Another time too each time, so that there is something to predict. */
        g6_set_ti(0, k % 2 ? 0.0 : -0.0);
        once.it_value.tv_usec = 100 + 370 * (k % 17);
        setitimer(ITIMER_REAL, &once, NULL);
        if (block() != usual)
            wrong++;
        if (is_child)
            _exit(wrong == 0 && block() == usual ? 0 : 2);
    }
    for (k = 0; k < made; k++) {
        int status;
        if (waitpid(children[k], &status, 0) == children[k] && WIFEXITED(status)
            && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == REFUSED))
            good++;
        else
            fprintf(stderr, "child %d: %x\n", k, status);
        any |= WIFEXITED(status) && WEXITSTATUS(status) == REFUSED;
    }
    printf("%d %d %d %d\n", (int)made, good, any, wrong);
    return 0;
}
