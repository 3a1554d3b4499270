/* Prints what it inherited: whether SIGPIPE is ignored, and whether SIGUSR1 is blocked. */
#include <signal.h>
#include <stdio.h>

int main(void)
{
    struct sigaction pipe;
    sigset_t blocked;
    sigaction(SIGPIPE, NULL, &pipe);
    sigprocmask(SIG_BLOCK, NULL, &blocked);
    printf("%d %d\n", pipe.sa_handler == SIG_IGN, sigismember(&blocked, SIGUSR1));
    return 0;
}
