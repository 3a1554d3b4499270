/* A signal handler that leaves a call by siglongjmp, which the documentation forbids. Prints what the calls after it
 * return, and ends as usual. It leaves only where the library's own code was interrupted: inside malloc it would leave the C
 * library's memory in disorder. */
#define _GNU_SOURCE
#include <link.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

#include "kirin.h"

#define N 4000

static sigjmp_buf out;
static double x[N][3], v[N][3], zero[3], acc[N][3], jerk[N][3], pot[N], h2[N];
static int label[N];
static volatile sig_atomic_t inside;

/* Where the library's code begins and ends. */
static ElfW(Addr) first, last;

static int find(struct dl_phdr_info *object, size_t size, void *unused)
{
    int k;
    (void)size, (void)unused;
    if (strstr(object->dlpi_name, "libkirin"))
        for (k = 0; k < object->dlpi_phnum; k++) {
            const ElfW(Phdr) *part = &object->dlpi_phdr[k];
            if (part->p_type == PT_LOAD && part->p_flags & PF_X) {
                first = object->dlpi_addr + part->p_vaddr;
                last = first + part->p_memsz;
            }
        }
    return 0;
}

static ElfW(Addr) interrupted(const ucontext_t *context)
{
#if defined(__x86_64__)
    return context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return context->uc_mcontext.pc;
#else
    (void)context;
    return first;
#endif
}

static void handler(int signal, siginfo_t *information, void *context)
{
    ElfW(Addr) place = interrupted(context);
    (void)signal, (void)information;
    if (inside && place >= first && place < last)
        siglongjmp(out, 1);
}

int main(void)
{
    struct itimerval timer = {{0, 2000}, {0, 2000}}, none = {{0, 0}, {0, 0}};
    struct sigaction action;
    int i;
    g6_open(0);
    for (i = 0; i < N; i++) {
        x[i][0] = label[i] = i;
        g6_set_j_particle(0, i, i, 0.0, 0.0, 1.0, zero, zero, zero, zero, x[i]);
    }
    dl_iterate_phdr(find, 0);
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    sigaction(SIGALRM, &action, 0);
    setitimer(ITIMER_REAL, &timer, 0);
    if (sigsetjmp(out, 1) == 0) {
        for (;;) {
            g6calc_firsthalf(0, N, N, label, x, v, acc, jerk, pot, 0.01, h2);
            inside = 1;
            g6calc_lasthalf(0, N, N, label, x, v, 0.01, h2, acc, jerk, pot);
            inside = 0;
        }
    }
    setitimer(ITIMER_REAL, &none, 0);
    printf("%d %d %d\n", g6_set_ti(0, 0.0), g6_open(1), g6_close(0));
    return 0;
}
