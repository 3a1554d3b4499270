/* Forces by a tree: tree WHAT:
 *   direct    theta = 0 is the sum over all pairs
 *   errors    medians of the errors: N THETA QUADRUPOLES ERROR, a line each
 *   bits      the bits of results: does not depend on order of calls
 *   device    targets in some groups of a GPU, whose lists several clusters get in turn
 *   targets   targets that are no sources, some of the sources, sources at other places, coincident ones
 *   refused   a line for each refusal: code and message
 *   fork      a child is refused its parent's handle, and opens its own
 * Prints what is wrong, too. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kirin.h>

#define N 4000

static double m[N], x[N][3], acc[N][3], pot[N], exact[N][3], exact_pot[N];
static int wrong;

static double noise(void)
{
    static unsigned long long state = 9;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) / 4503599627370496.0 - 1.0;
}

static void say(const char *what, double number)
{
    if (wrong++ < 20)
        printf("wrong: %s: %g\n", what, number);
}

static void good(int status, const char *what)
{
    if (status != 0) {
        say(what, status);
        printf("%s\n", kirin_bulk_message());
    }
}

/* A Plummer model with two kinds of masses. */
static void make_stars(void)
{
    for (int k = 0; k < N; k++) {
        double r = 1.0 / sqrt(pow(0.5 * (1.0 + noise()), -2.0 / 3.0) - 1.0), d[3], length = 0.0;
        m[k] = (k % 5 ? 1.0 : 3.0) / N;
        for (int c = 0; c < 3; c++)
            d[c] = noise() + noise() + noise(), length += d[c] * d[c];
        for (int c = 0; c < 3; c++)
            x[k][c] = r * d[c] / sqrt(length);
    }
}

static kirin_sources sources(void)
{
    kirin_sources s;
    memset(&s, 0, sizeof s);
    s.mass.at = m;
    s.x.at = x[0];
    return s;
}

static kirin_results results(void)
{
    kirin_results r;
    memset(&r, 0, sizeof r);
    memset(acc, 0, sizeof acc);
    memset(pot, 0, sizeof pot);
    r.acc.at = acc[0];
    r.pot.at = pot;
    return r;
}

/* The force on a point, without source `self`. */
static void sum(const double *at, int self, double eps2, double *a, double *p)
{
    a[0] = a[1] = a[2] = *p = 0.0;
    for (int j = 0; j < N; j++) {
        double d[3], r2 = eps2;
        for (int c = 0; c < 3; c++)
            d[c] = x[j][c] - at[c], r2 += d[c] * d[c];
        if (j == self || r2 == 0.0)
            continue;
        for (int c = 0; c < 3; c++)
            a[c] += m[j] * d[c] / (r2 * sqrt(r2));
        *p -= m[j] / sqrt(r2);
    }
}

static double error(const double *a, const double *b)
{
    double e = 0.0, f = 0.0;
    for (int c = 0; c < 3; c++)
        e += (a[c] - b[c]) * (a[c] - b[c]), f += b[c] * b[c];
    return sqrt(e / f);
}

static int ascending(const void *a, const void *b)
{
    const double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

static int64_t open_tree(void)
{
    int64_t handle = 0;
    kirin_sources s = sources();
    good(kirin_tree_open(&handle), "open");
    good(kirin_tree_set_sources(handle, N, &s), "sources");
    return handle;
}

static void direct(void)
{
    const double eps2 = 1e-4;
    int64_t handle = open_tree();
    kirin_results r = results();
    good(kirin_bulk_set_precision(handle, KIRIN_DOUBLE), "precision");
    good(kirin_tree_forces(handle, 0.0, 0, eps2, N, NULL, &r), "forces");
    for (int k = 0; k < N; k += 37) {
        sum(x[k], k, eps2, exact[0], exact_pot);
        if (!(error(acc[k], exact[0]) < 1e-12 && fabs(pot[k] / exact_pot[0] - 1.0) < 1e-12))
            say("direct sum", error(acc[k], exact[0]));
    }
    good(kirin_bulk_close(handle), "close");
}

static void errors(void)
{
    static const double thetas[] = {0.3, 0.6, 1.2};
    static double all[N];
    int64_t handle = open_tree();
    for (int k = 0; k < N; k++)
        sum(x[k], k, 1e-4, exact[k], &exact_pot[k]);
    for (int quadrupoles = 0; quadrupoles < 2; quadrupoles++)
        for (int t = 0; t < 3; t++) {
            kirin_results r = results();
            double of_pot = 0.0;
            good(kirin_tree_forces(handle, thetas[t], quadrupoles, 1e-4, N, NULL, &r), "forces");
            for (int k = 0; k < N; k++)
                all[k] = error(acc[k], exact[k]), of_pot += fabs(pot[k] / exact_pot[k] - 1.0) / N;
            qsort(all, N, sizeof all[0], ascending);
            printf("%g %d %g %g %g\n", thetas[t], quadrupoles, all[N / 2], all[99 * N / 100], of_pot);
        }
    good(kirin_bulk_close(handle), "close");
}

static uint64_t hash(const void *bytes, size_t count)
{
    uint64_t h = 14695981039346656037u;
    for (size_t k = 0; k < count; k++)
        h = (h ^ ((const unsigned char *)bytes)[k]) * 1099511628211u;
    return h;
}

static void bits(void)
{
    int64_t handle = open_tree();
    uint64_t first[2] = {0, 0};
    for (int turn = 0; turn < 2; turn++)
        for (int quadrupoles = 0; quadrupoles < 2; quadrupoles++) {
            kirin_results r = results();
            uint64_t h;
            good(kirin_tree_forces(handle, 0.7, quadrupoles, 1e-4, N, NULL, &r), "forces");
            h = hash(acc, sizeof acc) ^ hash(pot, sizeof pot);
            if (turn == 0)
                printf("%016" PRIx64 "\n", first[quadrupoles] = h);
            else if (h != first[quadrupoles])
                say("other bits after other calls", quadrupoles);
            r = results();
            good(kirin_tree_forces(handle, 1.1, 1, 0.0, 17, NULL, &r), "other forces");
        }
    good(kirin_bulk_close(handle), "close");
}

static void compare(const char *what, int n, double (*at)[3], const int64_t *self, double eps2)
{
    for (int k = 0; k < n; k++) {
        double a[3], p;
        sum(at[k], self ? (int)self[k] : -1, eps2, a, &p);
        if (!(error(acc[k], a) < 0.02 && fabs(pot[k] / p - 1.0) < 0.003))
            say(what, k);
    }
}

static void targets(void)
{
    static double at[N][3], v[N][3];
    static int64_t self[N];
    const double eps2 = 1e-3;
    int64_t handle = open_tree();
    kirin_targets t;
    kirin_results r = results();
    memset(&t, 0, sizeof t);

    /* Velocities have no effect, neither at points nor at sources. */
    v[3][1] = NAN;
    t.v.at = v[0];

    /* Points inside and far outside. */
    for (int k = 0; k < N; k++)
        for (int c = 0; c < 3; c++)
            at[k][c] = (k % 7 ? 1.5 : 100.0) * noise();
    t.x.at = at[0];
    good(kirin_tree_forces(handle, 0.5, 1, eps2, N, &t, &r), "points");
    compare("points", N, at, NULL, eps2);

    /* A large angle: no cell acts as a whole on a target inside it. */
    r = results();
    good(kirin_tree_forces(handle, 100.0, 1, eps2, N, &t, &r), "a large angle");
    for (int k = 0; k < N; k++)
        if (!(fabs(pot[k]) > 0.0 && fabs(pot[k]) < 100.0))
            say("a large angle", pot[k]);

    /* Sources at other places: each leaves itself out. */
    r = results();
    for (int k = 0; k < N; k++)
        self[k] = k % 3 ? (k * 31) % N : -1;
    t.source.at = self;
    good(kirin_tree_forces(handle, 0.5, 1, eps2, N, &t, &r), "sources elsewhere");
    compare("sources elsewhere", N, at, self, eps2);

    /* Some of the sources, one of them twice, with softening lengths of their own. */
    r = results();
    t.x.at = NULL;
    for (int k = 0; k < N / 2; k++)
        self[k] = (k * 31) % N;
    self[7] = self[8];
    for (int k = 0; k < N / 2; k++)
        exact_pot[k] = eps2, memcpy(at[k], x[self[k]], sizeof at[k]);
    t.eps2.at = exact_pot;
    good(kirin_tree_forces(handle, 0.5, 1, 7.0, N / 2, &t, &r), "some sources");
    compare("some sources", N / 2, at, self, eps2);
    if (memcmp(acc[7], acc[8], sizeof acc[7]))
        say("the same source twice", 7);

    /* A heap on one place, and results over the positions. */
    memset(&t, 0, sizeof t);
    for (int k = 0; k < 1000; k++)
        memcpy(x[k], x[2000], sizeof x[k]);
    good(kirin_bulk_close(handle), "close");
    handle = open_tree();
    r = results();
    good(kirin_tree_forces(handle, 0.5, 0, 0.0, N, NULL, &r), "a heap");
    for (int k = 0; k < N; k++)
        self[k] = k;
    for (int k = 0; k < 1000; k += 100)
        if (!(fabs(pot[k]) < 1e3) || memcmp(acc[k], acc[0], sizeof acc[k]) != 0)
            say("a heap", pot[k]);
    memcpy(at, x, sizeof at);
    t.x.at = at[0];
    t.source.at = self;
    r.acc.at = at[0];
    good(kirin_tree_forces(handle, 0.5, 0, 0.0, N, &t, &r), "over the positions");
    if (memcmp(at, acc, sizeof at))
        say("over the positions", 0);
    good(kirin_bulk_close(handle), "close");
}

static void device(void)
{
    enum { MANY = 2100 };
    static double at[MANY][3];
    const double eps2 = 1e-3;
    int64_t handle = open_tree();
    kirin_targets t;
    kirin_results r = results();
    memset(&t, 0, sizeof t);
    for (int k = 0; k < MANY; k++)
        for (int c = 0; c < 3; c++)
            at[k][c] = 2.0 * noise();
    t.x.at = at[0];
    good(kirin_tree_forces(handle, 0.7, 1, eps2, MANY, &t, &r), "forces on a device");
    compare("points on a device", MANY, at, NULL, eps2);
    r = results();
    good(kirin_tree_forces(handle, 0.7, 0, eps2, 3, &t, &r), "few on a device");
    compare("few points on a device", 3, at, NULL, eps2);
    printf("%s\n", kirin_bulk_backend(handle));
    good(kirin_bulk_close(handle), "close");
}

static void show(const char *what, int status)
{
    if (status >= 0)
        say(what, status);
    printf("%s | %d | %s\n", what, status, kirin_bulk_message());
}

static void refused(void)
{
    static int64_t self[N];
    int64_t handle = open_tree(), other = 0;
    kirin_sources s = sources(), bad = s;
    kirin_targets t, none;
    kirin_results r = results(), more;
    memset(&none, 0, sizeof none);
    good(kirin_tree_forces(handle, 0.5, 1, 0.0, N, NULL, &r), "forces");
    memcpy(exact, acc, sizeof acc);
    show("a null pointer for the handle", kirin_tree_open(NULL));
    show("no handle", kirin_tree_forces(0, 0.5, 0, 0.0, 1, NULL, &r));
    good(kirin_bulk_open(&other), "open");
    show("a handle of `kirin_bulk_open`", kirin_tree_set_sources(other, N, &s));
    good(kirin_bulk_close(other), "close");
    show("the handle of a tree for direct sums", kirin_bulk_forces(handle, 0.0, 0.0, 1, NULL, &r));
    show("a negative count", kirin_tree_set_sources(handle, -1, &s));
    show("no arrays", kirin_tree_set_sources(handle, N, NULL));
    bad.v = s.x;
    show("velocities of sources", kirin_tree_set_sources(handle, N, &bad));
    bad = s;
    bad.eps2 = s.mass;
    show("softening of sources", kirin_tree_set_sources(handle, N, &bad));
    m[5] = -1.0;
    show("a negative mass", kirin_tree_set_sources(handle, N, &s));
    m[5] = NAN;
    show("NaN", kirin_tree_set_sources(handle, N, &s));
    m[5] = 1.0 / N;
    x[0][0] = 1e308, x[1][0] = -1e308;
    show("sources too far apart", kirin_tree_set_sources(handle, N, &s));
    show("theta that is negative", kirin_tree_forces(handle, -0.5, 0, 0.0, N, NULL, &r));
    show("theta that is NaN", kirin_tree_forces(handle, NAN, 0, 0.0, N, NULL, &r));
    show("quadrupoles", kirin_tree_forces(handle, 0.5, 2, 0.0, N, NULL, &r));
    show("softening that is negative", kirin_tree_forces(handle, 0.5, 0, -1.0, N, NULL, &r));
    show("more targets than sources", kirin_tree_forces(handle, 0.5, 0, 0.0, N + 1, NULL, &r));
    t = none;
    t.radius2 = s.mass;
    show("neighbour lists", kirin_tree_forces(handle, 0.5, 0, 0.0, N, &t, &r));
    more = r;
    more.jerk = r.acc;
    show("jerks", kirin_tree_forces(handle, 0.5, 0, 0.0, N, NULL, &more));
    more = r;
    more.nearest.at = self;
    show("nearest sources", kirin_tree_forces(handle, 0.5, 0, 0.0, N, NULL, &more));
    t = none;
    t.source.at = self;
    self[3] = N;
    show("a target that is no source", kirin_tree_forces(handle, 0.5, 0, 0.0, N, &t, &r));
    t = none;
    t.x.at = x[0];
    show("targets too far apart", kirin_tree_forces(handle, 0.5, 0, 0.0, N, &t, &r));

    /* Nothing was lost, and nothing written. */
    if (memcmp(exact, acc, sizeof acc))
        say("written by a refused call", 0);
    good(kirin_tree_forces(handle, 0.5, 1, 0.0, N, NULL, &r), "forces after all this");
    if (memcmp(exact, acc, sizeof acc))
        say("lost by a refused call", 0);
    good(kirin_tree_forces(handle, 0.5, 1, 0.0, 0, NULL, NULL), "no targets");
    good(kirin_tree_set_sources(handle, 0, NULL), "no sources");
    t.x.at = exact[0];
    good(kirin_tree_forces(handle, 0.5, 1, 0.0, 7, &t, &r), "targets of no sources");
    if (acc[0][0] != 0.0 || pot[6] != 0.0 || kirin_bulk_source_count(handle) != 0)
        say("no sources", acc[0][0]);
    x[0][0] = x[1][0] = 0.0;
    good(kirin_tree_set_sources(handle, N, &s), "sources again");
    good(kirin_tree_set_sources(handle, 0, &s), "no sources, with arrays");
    acc[0][0] = pot[6] = 1.0;
    good(kirin_tree_forces(handle, 0.5, 1, 0.0, 7, &t, &r), "targets of no sources in arrays");
    if (acc[0][0] != 0.0 || pot[6] != 0.0 || kirin_bulk_source_count(handle) != 0)
        say("no sources, with arrays", acc[0][0]);
    good(kirin_bulk_close(handle), "close");
    show("closing twice", kirin_bulk_close(handle));
}

static void forks(void)
{
    int64_t handle = open_tree();
    int status = -1;
    kirin_results r = results();
    pid_t child;
    good(kirin_tree_forces(handle, 0.5, 1, 0.0, N, NULL, &r), "forces");
    memcpy(exact, acc, sizeof acc);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        int64_t own;
        alarm(60);
        show("use after a fork", kirin_tree_forces(handle, 0.5, 1, 0.0, N, NULL, &r));
        own = open_tree();
        r = results();
        good(kirin_tree_forces(own, 0.5, 1, 0.0, N, NULL, &r), "forces in the child");
        if (memcmp(exact, acc, sizeof acc))
            say("other bits in the child", 0);
        good(kirin_bulk_close(own), "close in the child");
        fflush(stdout);
        _exit(wrong != 0);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        say("child", status);
    r = results();
    good(kirin_tree_forces(handle, 0.5, 1, 0.0, N, NULL, &r), "forces in the parent");
    if (memcmp(exact, acc, sizeof acc))
        say("other bits in the parent", 0);
    good(kirin_bulk_close(handle), "close");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } parts[] = {{"direct", direct},   {"errors", errors},   {"bits", bits},
                 {"device", device},   {"targets", targets}, {"refused", refused}, {"fork", forks}};
    make_stars();
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++)
        if (argc > 1 && !strcmp(argv[1], parts[k].name)) {
            parts[k].run();
            return wrong != 0;
        }
    return 2;
}
