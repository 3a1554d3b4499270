/* Wall-clock time of blocks with one thread and with several, for libraries with the GRAPE-6 interface in turn:
 *
 *     gcc -std=gnu11 -O2 -pthread -o /tmp/threads benches/threads.c -ldl -lm
 *     /tmp/threads [-r ROUNDS] [-t THREADS,THREADS...] LIBRARY...
 *
 * Each round starts a program for each library and number of threads (1 and 2 unless told otherwise), which calls the library for every row of
 * the table until 0.1 s have passed. The table has the medians over the rounds of each program's median block, in microseconds.
 *
 * j-particles and i-particles are stars of a Plummer model, softened. In rows with set_ti the time is a new one for each block; in the others
 * the j-particles have been predicted before. A library with fewer pipelines than i-particles gets the block in pieces. kirin runs in `mixed` on
 * the CPU with 256 pipelines unless the environment says otherwise; OpenMP's threads wait actively (OMP_WAIT_POLICY).
 *
 * What the machine can do stands before the table, measured before each round: how long a cache line takes from one core to the other, and how
 * much more two cores multiply than one (1.0 to 1.3: they are two threads of one core). Other programs spoil everything: run it alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "plummer.h"

enum { MOST = 16384, WIDEST = 256, LIBRARIES = 4, COUNTS = 8, ROUNDS = 200, SAMPLES = 65536, TRIPS = 20000 };

static const struct row {
    int nj, ni, set_ti;
} ROWS[] = { { 4096, 48, 0 }, { 4096, 256, 0 }, { 16384, 1, 0 }, { 16384, 8, 0 }, { 16384, 48, 0 }, { 16384, 256, 0 }, { 16384, 1, 1 }, { 16384, 8, 1 } };
enum { TABLE = sizeof ROWS / sizeof *ROWS };

static double clock_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static double now(void) { return clock_of(CLOCK_MONOTONIC); }

static int by_size(const void *a, const void *b)
{
    double d = *(const double *)a - *(const double *)b;
    return (d > 0) - (d < 0);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, by_size);
    return count % 2 ? values[count / 2] : 0.5 * (values[count / 2 - 1] + values[count / 2]);
}

static void fail(const char *why)
{
    fprintf(stderr, "threads: %s\n", why);
    exit(1);
}

/* ---- One program: a library, as many threads as the environment says ---- */

static int (*open_cluster)(int);
static int (*pipelines)(void);
static int (*set_ti)(int, double);
static int (*set_j)(int, int, int, double, double, double, const double *, const double *, const double *, const double *, const double *);
static int (*first_half)(int, int, int, int *, double (*)[3], double (*)[3], double (*)[3], double (*)[3], double *, double, double *);
static int (*last_half)(int, int, int, int *, double (*)[3], double (*)[3], double, double *, double (*)[3], double (*)[3], double *);

static double x[MOST][3], v[MOST][3], acc[WIDEST][3], jerk[WIDEST][3], pot[WIDEST], h2[WIDEST];
static int labels[MOST];

static void *symbol(void *library, const char *name)
{
    void *found = dlsym(library, name);
    if (!found)
        fail(dlerror());
    return found;
}

static void load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    if (!library)
        fail(dlerror());
    *(void **)&open_cluster = symbol(library, "g6_open");
    *(void **)&pipelines = symbol(library, "g6_npipes");
    *(void **)&set_ti = symbol(library, "g6_set_ti");
    *(void **)&set_j = symbol(library, "g6_set_j_particle");
    *(void **)&first_half = symbol(library, "g6calc_firsthalf");
    *(void **)&last_half = symbol(library, "g6calc_lasthalf");
}

/* A Plummer model in N-body units, with the model's acceleration and jerk at each star. */
static void send_model(void)
{
    const double nothing[3] = { 0 };
    for (int k = 0; k < MOST; k++) {
        double r = plummer_star(x[k], v[k]), a[3], j[3];
        double square = r * r + unit * unit, force = 1 / (square * sqrt(square));
        double along = x[k][0] * v[k][0] + x[k][1] * v[k][1] + x[k][2] * v[k][2];
        for (int c = 0; c < 3; c++) {
            a[c] = -0.5 * force * x[k][c];
            j[c] = -force * (v[k][c] - 3 * along / square * x[k][c]) / 6;
        }
        labels[k] = k + 1;
        set_j(0, k, labels[k], 0.0, 0x1p-10, 1.0 / MOST, nothing, j, a, v[k], x[k]);
    }
}

static void block(const struct row *row, int most, double t)
{
    if (row->set_ti)
        set_ti(0, t);
    for (int begin = 0; begin < row->ni; begin += most) {
        /* The stars of a block are anywhere in memory. */
        int some = row->ni - begin < most ? row->ni - begin : most, at = begin * (row->nj / WIDEST);
        first_half(0, row->nj, some, labels + at, x + at, v + at, acc + begin, jerk + begin, pot + begin, 1e-4, h2 + begin);
        last_half(0, row->nj, some, labels + at, x + at, v + at, 1e-4, h2 + begin, acc + begin, jerk + begin, pot + begin);
    }
}

/* Prints the median time of a block for each row, in microseconds. */
static void run(const char *path)
{
    static double times[SAMPLES];
    double t = 0;
    load(path);
    int most = pipelines();
    open_cluster(0);
    send_model();
    for (const struct row *row = ROWS; row < ROWS + TABLE; row++) {
        int count = 0;
        set_ti(0, t += 0x1p-20);
        for (double begin = now(), before = begin; before < begin + 1.2e5 && count < SAMPLES;) {
            block(row, most, t += 0x1p-30);
            double after = now();
            if (before > begin + 2e4)
                times[count++] = after - before;
            before = after;
        }
        printf("%.3f\n", median(times, count));
    }
}

/* ---- What the machine can do ---- */

static _Atomic int ball;
static int cores[2];

static void stay_on(int core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

static void *answer(void *unused)
{
    stay_on(cores[1]);
    for (int k = 0; k < TRIPS; k++) {
        while (atomic_load_explicit(&ball, memory_order_acquire) != 2 * k + 1)
            ;
        atomic_store_explicit(&ball, 2 * k + 2, memory_order_release);
    }
    return unused;
}

/* Nanoseconds that a cache line takes from one core to the other. */
static double distance(void)
{
    pthread_t other;
    double begin = 0;
    atomic_store(&ball, 0);
    if (pthread_create(&other, NULL, answer, NULL))
        fail("no thread");
    for (int k = 0; k < TRIPS; k++) {
        if (k == TRIPS / 10)
            begin = now();
        atomic_store_explicit(&ball, 2 * k + 1, memory_order_release);
        while (atomic_load_explicit(&ball, memory_order_acquire) != 2 * k + 2)
            ;
    }
    double nanoseconds = 1e3 * (now() - begin) / (2 * (TRIPS - TRIPS / 10));
    pthread_join(other, NULL);
    return nanoseconds;
}

/* Microseconds for 4e7 multiplications in ten chains, which fill two pipes of four cycles each. */
static void *multiply(void *core)
{
    stay_on(*(int *)core);
    double y[10], begin = now();
    for (int c = 0; c < 10; c++)
        y[c] = 1 + c * 1e-9;
    for (int k = 0; k < 4000000; k++)
        for (int c = 0; c < 10; c++) {
            y[c] *= 1.0000000001;
            __asm__ volatile("" : "+x"(y[c]));
        }
    double *took = malloc(sizeof *took);
    if (!took)
        fail("no memory");
    *took = now() - begin;
    return took;
}

/* How many times as much two cores multiply as one. */
static double both(void)
{
    double *alone = multiply(&cores[0]), slowest = 0;
    pthread_t threads[2];
    for (int k = 0; k < 2; k++)
        if (pthread_create(&threads[k], NULL, multiply, &cores[k]))
            fail("no thread");
    for (int k = 0; k < 2; k++) {
        void *took;
        pthread_join(threads[k], &took);
        slowest = fmax(slowest, *(double *)took);
        free(took);
    }
    double gain = 2 * *alone / slowest;
    free(alone);
    return gain;
}

/* ---- The table ---- */

static double figures[LIBRARIES][COUNTS][TABLE][ROUNDS], distances[ROUNDS], gains[ROUNDS];

/* Starts this program anew for one library, and reads its rows. */
static void child(const char *path, int threads, int library, int count, int round)
{
    int ends[2];
    if (pipe(ends))
        fail("no pipe");
    pid_t pid = fork();
    if (pid < 0)
        fail("no process");
    if (!pid) {
        char number[16];
        snprintf(number, sizeof number, "%d", threads);
        setenv("KIRIN_THREADS", number, 1);
        setenv("OMP_NUM_THREADS", number, 1);
        setenv("OMP_WAIT_POLICY", "active", 0);
        setenv("KIRIN_BACKEND", "cpu", 0);
        setenv("KIRIN_PRECISION", "mixed", 0);
        setenv("KIRIN_NPIPES", "256", 0);
        dup2(ends[1], 1);
        close(ends[0]);
        close(ends[1]);
        execl("/proc/self/exe", "threads", "--run", path, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    FILE *from = fdopen(ends[0], "r");
    for (int row = 0; row < TABLE; row++)
        if (!from || fscanf(from, "%lf", &figures[library][count][row][round]) != 1)
            fail("a program ended without its figures");
    fclose(from);
    waitpid(pid, NULL, 0);
}

static void print_table(char **libraries, int number, const int *threads, int counts, int rounds)
{
    double distance = median(distances, rounds), gain = median(gains, rounds);
    printf("A cache line takes %.0f ns from core to core (%.0f to %.0f); two cores multiply %.2f times as much as one (%.2f to %.2f).\n\n", distance,
           distances[0], distances[rounds - 1], gain, gains[0], gains[rounds - 1]);
    for (int k = 0; k < number; k++)
        printf("%d: %s\n", k + 1, libraries[k]);
    printf("\n| block |");
    for (int k = 0; k < number; k++)
        for (int c = 0; c < counts; c++)
            printf(c ? " %d | gain |" : " library %2$d, threads: %1$d |", threads[c], k + 1);
    for (int k = 1; k < number; k++)
        for (int c = 0; c < counts; c++)
            printf(" %d over 1, threads: %d |", k + 1, threads[c]);
    printf("\n|---|");
    for (int k = 0; k < number * (2 * counts - 1) + (number - 1) * counts; k++)
        printf("---|");
    printf("\n");
    for (int row = 0; row < TABLE; row++) {
        double result[LIBRARIES][COUNTS];
        printf("| %sN = %d, ni = %d |", ROWS[row].set_ti ? "`set_ti`, " : "", ROWS[row].nj, ROWS[row].ni);
        for (int k = 0; k < number; k++)
            for (int c = 0; c < counts; c++) {
                result[k][c] = median(figures[k][c][row], rounds);
                printf(" %.1f |", result[k][c]);
                if (c)
                    printf(" %.2f |", result[k][0] / result[k][c]);
            }
        for (int k = 1; k < number; k++)
            for (int c = 0; c < counts; c++)
                printf(" %.2f |", result[k][c] / result[0][c]);
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    int threads[COUNTS] = { 1, 2 }, counts = 2, rounds = 20, option;
    cpu_set_t allowed, two;
    if (argc == 3 && !strcmp(argv[1], "--run")) {
        run(argv[2]);
        return 0;
    }
    while ((option = getopt(argc, argv, "r:t:")) != -1)
        if (option == 'r')
            rounds = atoi(optarg);
        else if (option == 't') {
            counts = 0;
            for (char *each = strtok(optarg, ","); each && counts < COUNTS; each = strtok(NULL, ","))
                threads[counts++] = atoi(each);
        } else
            return 2;
    int number = argc - optind;
    if (number < 1 || number > LIBRARIES || rounds < 1 || rounds > ROUNDS || counts < 1)
        fail("[-r ROUNDS, 1 to 200] [-t THREADS,THREADS...] LIBRARY..., at most four");
    sched_getaffinity(0, sizeof allowed, &allowed);
    for (int core = 0, found = 0; core < CPU_SETSIZE && found < 2; core++)
        if (CPU_ISSET(core, &allowed))
            cores[found++] = core;
    for (int round = 0; round < rounds; round++) {
        if (CPU_COUNT(&allowed) > 1) {
            CPU_ZERO(&two);
            CPU_SET(cores[0], &two);
            sched_setaffinity(0, sizeof two, &two);
            distances[round] = distance();
            gains[round] = both();
            sched_setaffinity(0, sizeof allowed, &allowed);
        }
        for (int k = 0; k < counts; k++)
            for (int library = 0; library < number; library++)
                child(argv[optind + library], threads[k], library, k, round);
    }
    print_table(argv + optind, number, threads, counts, rounds);
    return 0;
}
