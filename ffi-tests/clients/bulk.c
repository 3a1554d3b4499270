/* The bulk interface. bulk WHAT:
 *   bits    forces, nearest neighbours and lists beside those of the g6 calls, bit by bit, in every precision
 *   soft    sources with softening lengths of their own beside a plain sum, to the relative error 1e-13
 *   errors  a line for each refusal: code and message
 *   fork    a child is refused its parent's handle, and opens its own
 * Prints nothing but what is wrong, and what errors prints. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kirin.h>

#define N 1300
#define NI 90

typedef double vector[3];

/* As a program may have them: nothing is aligned for the library. */
#pragma pack(push, 4)
struct star {
    int name;
    double m, t, eps2;
    vector x, v, a, j, s;
};
#pragma pack(pop)

struct answer {
    vector acc[N], jerk[N];
    double pot[N], distance2[N];
    int64_t nearest[N];
};

static struct star star[N];
static vector xi[N], vi[N];
static double ei2[N], hi2[N];
static int64_t self[N];
static struct answer found, expected;
static int wrong;

static double noise(void)
{
    static unsigned long long state = 5;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) / 4503599627370496.0 - 1.0;
}

static void say(const char *what, const char *when, int k)
{
    if (wrong++ < 20)
        printf("wrong: %s, %s: %d\n", what, when, k);
}

static void good(int status, const char *what)
{
    if (status < 0) {
        say(what, kirin_bulk_message(), status);
    }
}

static void make_stars(int moving)
{
    int j, k;
    for (j = 0; j < N; j++) {
        struct star *p = &star[j];
        memset(p, 0, sizeof *p);
        p->name = j;
        p->m = noise() / N;
        p->eps2 = 1e-3 * (1.0 + noise());
        p->t = moving ? 0.01 * noise() : 0.0;
        for (k = 0; k < 3; k++) {
            p->x[k] = noise();
            p->v[k] = moving ? noise() : 0.0;
            p->a[k] = moving ? noise() : 0.0;
            p->j[k] = moving ? noise() : 0.0;
            p->s[k] = moving ? noise() : 0.0;
        }
    }
}

/* The first targets are sources, the others are not. */
static void make_targets(void)
{
    int i, k;
    for (i = 0; i < N; i++) {
        self[i] = i < NI / 2 ? 7 * i : -1 - i;
        ei2[i] = i % 3 ? 1e-4 * (1 + i % 7) : 0.0;
        hi2[i] = i % 5 ? 0.1 : 0.0;
        for (k = 0; k < 3; k++) {
            xi[i][k] = i < NI / 2 ? star[7 * i].x[k] : noise();
            vi[i][k] = noise();
        }
    }
}

static kirin_sources sources(int moving)
{
    const int64_t step = sizeof star[0];
    kirin_sources s;
    memset(&s, 0, sizeof s);
    s.mass.at = &star[0].m;
    s.x.at = star[0].x;
    if (moving) {
        s.v.at = star[0].v;
        s.acc.at = star[0].a;
        s.jerk.at = star[0].j;
        s.snap.at = star[0].s;
        s.time.at = &star[0].t;
    }
    s.mass.step = s.x.step = s.v.step = s.acc.step = s.jerk.step = s.snap.step = s.time.step = step;
    return s;
}

static kirin_targets targets(void)
{
    kirin_targets t;
    memset(&t, 0, sizeof t);
    t.x.at = xi[0];
    t.v.at = vi[0];
    t.eps2.at = ei2;
    t.source.at = self;
    return t;
}

static kirin_results results(struct answer *to)
{
    kirin_results r;
    memset(&r, 0, sizeof r);
    r.acc.at = to->acc[0];
    r.jerk.at = to->jerk[0];
    r.pot.at = to->pot;
    r.nearest.at = to->nearest;
    r.distance2.at = to->distance2;
    return r;
}

/* The first n stars in a cluster of GRAPE-6. */
static void send(int id, int n)
{
    int j, k;
    for (j = 0; j < n; j++) {
        struct star *p = &star[j];
        vector a, b, c, v, x;
        for (k = 0; k < 3; k++) {
            a[k] = p->s[k] / 18.0;
            b[k] = p->j[k] / 6.0;
            c[k] = p->a[k] / 2.0;
            v[k] = p->v[k];
            x[k] = p->x[k];
        }
        g6_set_j_particle(id, j, j, p->t, 0.0, p->m, a, b, c, v, x);
    }
}

static void same(const char *when, int ni, int nearest)
{
    const size_t n = (size_t)ni;
    if (memcmp(found.acc, expected.acc, n * sizeof(vector)))
        say("accelerations", when, ni);
    if (memcmp(found.jerk, expected.jerk, n * sizeof(vector)))
        say("jerks", when, ni);
    if (memcmp(found.pot, expected.pot, n * sizeof(double)))
        say("potentials", when, ni);
    if (nearest && memcmp(found.nearest, expected.nearest, n * sizeof(int64_t)))
        say("nearest neighbours", when, ni);
}

/* The answer of the g6 calls. */
static void ask_g6(int id, int n, int ni, double time)
{
    int index[N], nearest[N], i;
    for (i = 0; i < ni; i++)
        index[i] = self[i] < 0 ? -1 : (int)self[i], nearest[i] = -1;
    g6_set_ti(id, time);
    /* Mode 0: a softening for each i-particle. */
    if (g6calc_firsthalf0(id, n, ni, index, xi, vi, NULL, NULL, NULL, ei2, hi2, 0) ||
        g6calc_lasthalf0a_(&id, &n, &ni, index, xi, vi, ei2, hi2, expected.acc, expected.jerk, expected.pot,
                           nearest, (int[]){0}))
        say("g6", "refused", ni);
    for (i = 0; i < ni; i++)
        expected.nearest[i] = nearest[i];
}

static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* The lists of both. Those of g6 may have the i-particle itself. */
static void compare_lists(const char *when, int64_t handle, int id, int n)
{
    static int64_t offsets[NI + 1], all[NI * N];
    int i;
    good(kirin_bulk_neighbour_offsets(handle, NI, offsets), "offsets");
    good(kirin_bulk_neighbour_indices(handle, NI * N, all), "indices");
    if (g6_read_neighbour_list(id))
        say("g6_read_neighbour_list", when, n);
    for (i = 0; i < NI; i++) {
        int list[N], length, k, at = 0;
        if (g6_get_neighbour_list(id, i, N, &length, list))
            say("g6_get_neighbour_list", when, i);
        qsort(list, (size_t)length, sizeof list[0], ascending);
        for (k = 0; k < length; k++)
            if (list[k] != self[i] && (offsets[i] + at >= offsets[i + 1] || all[offsets[i] + at++] != list[k]))
                say("lists", when, i);
        if (offsets[i] + at != offsets[i + 1])
            say("lengths of lists", when, i);
    }
    if (offsets[NI] == 0)
        say("no neighbours", when, 0);
}

static void bits(void)
{
    int precision, moving, id = 1;
    for (moving = 0; moving < 2; moving++)
        for (precision = KIRIN_AUTO; precision <= KIRIN_DOUBLE_SINGLE; precision++, id++) {
            char when[64];
            int n, k;
            int64_t handle = 0, index[N];
            kirin_sources s, part;
            kirin_targets t;
            kirin_results r = results(&found);
            sprintf(when, "precision %d, moving %d", precision, moving);
            make_stars(moving);
            make_targets();
            s = sources(moving);
            t = targets();
            t.radius2.at = hi2;
            g6_open(id);
            kirin_set_precision(id, precision);
            good(kirin_bulk_open(&handle), "open");
            good(kirin_bulk_set_precision(handle, precision), "precision");
            good(kirin_bulk_set_sources(handle, N, &s), "sources");
            send(id, N);
            ask_g6(id, N, NI, 0.02);
            good(kirin_bulk_forces(handle, 0.02, 0.0, NI, &t, &r), "forces");
            same(when, NI, 1);
            if (strcmp(kirin_bulk_precision(handle), kirin_precision(id)))
                say(kirin_bulk_precision(handle), kirin_precision(id), precision);
            if (strcmp(kirin_bulk_backend(handle), kirin_backend(id)))
                say(kirin_bulk_backend(handle), kirin_backend(id), precision);
            compare_lists(when, handle, id, N);

            /* Some of them anew, by their indices: masses, and all but the masses. */
            for (k = 0; k < N; k++)
                index[k] = (k * 11 + 5) % N;
            {
                static struct star old[N];
                kirin_indices which;
                memcpy(old, star, sizeof star);
                which.at = index;
                which.step = 0;
                make_stars(moving);
                part = s;
                part.mass.at = NULL;
                good(kirin_bulk_update_sources(handle, 400, &which, &part), "update");
                memset(&part, 0, sizeof part);
                part.mass = s.mass;
                good(kirin_bulk_update_sources(handle, 200, &which, &part), "update masses");
                for (k = 0; k < 400; k++) {
                    struct star *to = &old[index[k]];
                    const double m = k < 200 ? star[k].m : to->m;
                    *to = star[k];
                    to->m = m;
                }
                memcpy(star, old, sizeof star);
            }
            send(id, N);
            ask_g6(id, N, NI, 0.03);
            good(kirin_bulk_forces(handle, 0.03, 0.0, NI, &t, &r), "forces again");
            same(when, NI, 1);

            /* Fewer, and more again; without nearest neighbours; results where the positions are. */
            for (n = 700; n <= N; n += 600) {
                int id2 = id + 100 * n;
                g6_open(id2);
                kirin_set_precision(id2, precision);
                make_stars(moving);
                for (k = 0; k < NI / 2; k++)
                    if (self[k] >= n)
                        self[k] = -1;
                good(kirin_bulk_set_sources(handle, n, &s), "other sources");
                send(id2, n);
                ask_g6(id2, n, NI, 0.0);
                memcpy(found.acc, xi, sizeof found.acc);
                t = targets();
                t.x.at = found.acc[0];
                r.nearest.at = NULL;
                r.distance2.at = NULL;
                good(kirin_bulk_forces(handle, 0.0, 0.0, NI, &t, &r), "forces of others");
                same(when, NI, 0);
                if (kirin_bulk_source_count(handle) != n)
                    say("count", when, n);
                g6_close(id2);
            }
            good(kirin_bulk_close(handle), "close");
            g6_close(id);
        }
}

/* The sources themselves, by place and by list; results with steps; accelerations alone. */
static void themselves(void)
{
    static double columns[3][N];
    int64_t handle = 0;
    int k, c;
    kirin_sources s;
    kirin_targets t;
    kirin_results r;
    make_stars(1);
    make_targets();
    s = sources(1);
    good(kirin_bulk_open(&handle), "open");
    good(kirin_bulk_set_sources(handle, N, &s), "sources");
    g6_open(9000);
    send(9000, N);
    g6_set_ti(9000, 0.5);
    g6_get_predicted_j_particles(9000, N, xi, vi);
    for (k = 0; k < N; k++)
        self[k] = k, ei2[k] = 1e-5, hi2[k] = 0.0;
    ask_g6(9000, N, N, 0.5);
    memset(&t, 0, sizeof t);
    r = results(&found);
    good(kirin_bulk_forces(handle, 0.5, 1e-5, N, &t, &r), "forces on the sources");
    same("on all sources", N, 1);
    for (k = 0; k < N; k++)
        self[k] = N - 1 - k;
    t.source.at = self;
    r.acc.at = found.acc[N - 1];
    r.acc.step = -(int64_t)sizeof(vector);
    r.jerk.at = columns[0];
    r.jerk.step = sizeof(double);
    r.jerk.next = sizeof columns[0];
    r.pot.at = NULL;
    r.nearest.at = NULL;
    memset(found.acc, 0, sizeof found.acc);
    good(kirin_bulk_forces(handle, 0.5, 1e-5, N, &t, &r), "forces on listed sources");
    for (k = 0; k < N; k++)
        for (c = 0; c < 3; c++)
            found.jerk[k][c] = columns[c][N - 1 - k];
    same("on listed sources", N, 0);
    good(kirin_bulk_close(handle), "close");
    g6_close(9000);
}

static void soft(void)
{
    int64_t handle = 0, offsets[NI + 1], list[NI * 8];
    int i, j, k;
    kirin_sources s;
    kirin_targets t;
    kirin_results r = results(&found);
    make_stars(1);
    make_targets();
    s = sources(1);
    s.time.at = NULL;
    s.eps2.at = &star[0].eps2;
    s.eps2.step = sizeof star[0];
    t = targets();
    for (i = 0; i < NI; i++)
        hi2[i] = 1e-3;
    t.radius2.at = hi2;
    good(kirin_bulk_open(&handle), "open");
    good(kirin_bulk_set_sources(handle, N, &s), "soft sources");
    good(kirin_bulk_forces(handle, 0.0, 0.0, NI, &t, &r), "soft forces");
    good(kirin_bulk_neighbour_offsets(handle, NI, offsets), "offsets");
    good(kirin_bulk_neighbour_indices(handle, NI * 8, list), "indices");
    for (i = 0; i < NI; i++) {
        double sum[7] = {0}, size[3] = {0}, least = INFINITY;
        int64_t nearest = -1, near = 0;
        for (j = 0; j < N; j++) {
            double d2 = 0.0, rv = 0.0, s2, m_s3, dx[3], dv[3];
            if (self[i] == j)
                continue;
            for (k = 0; k < 3; k++) {
                dx[k] = star[j].x[k] - xi[i][k];
                dv[k] = star[j].v[k] - vi[i][k];
                d2 += dx[k] * dx[k];
                rv += dx[k] * dv[k];
            }
            if (d2 < least)
                least = d2, nearest = j;
            near += d2 < hi2[i];
            s2 = d2 + ei2[i] + star[j].eps2;
            m_s3 = star[j].m / (s2 * sqrt(s2));
            for (k = 0; k < 3; k++) {
                sum[k] += m_s3 * dx[k];
                sum[3 + k] += m_s3 * (dv[k] - 3.0 * rv / s2 * dx[k]);
                size[0] += fabs(m_s3 * dx[k]);
                size[1] += fabs(m_s3) * (fabs(dv[k]) + 3.0 * fabs(rv / s2 * dx[k]));
            }
            sum[6] -= star[j].m / sqrt(s2);
            size[2] += fabs(star[j].m) / sqrt(s2);
        }
        for (k = 0; k < 3; k++)
            if (!(fabs(found.acc[i][k] - sum[k]) <= 1e-13 * size[0]) ||
                !(fabs(found.jerk[i][k] - sum[3 + k]) <= 1e-13 * size[1]))
                say("soft forces", "plain sum", i);
        if (!(fabs(found.pot[i] - sum[6]) <= 1e-13 * size[2]))
            say("soft potential", "plain sum", i);
        if (found.nearest[i] != nearest || !(fabs(found.distance2[i] - least) <= 1e-13))
            say("nearest of soft ones", "plain sum", i);
        if (offsets[i + 1] - offsets[i] != near)
            say("list of soft ones", "plain sum", i);
    }
    /* Without softening again, and back. */
    s.eps2.at = NULL;
    good(kirin_bulk_set_sources(handle, N, &s), "hard sources");
    good(kirin_bulk_close(handle), "close");
}

static void show(const char *what, int status)
{
    char text[300];
    const int length = kirin_bulk_message_text(text, sizeof text);
    if (status >= 0 || length != (int)strlen(kirin_bulk_message()) || memcmp(text, kirin_bulk_message(), (size_t)length))
        printf("wrong: %s gives %d\n", what, status);
    printf("%s | %d | %s\n", what, status, kirin_bulk_message());
}

static void errors(void)
{
    int64_t handle = 0, closed = 0, places[N + 1] = {0}, bad = N;
    kirin_sources s, part;
    kirin_targets t;
    kirin_results r = results(&found);
    kirin_indices which = {&bad, 0};
    make_stars(1);
    make_targets();
    s = sources(1);
    t = targets();
    show("a null pointer for the handle", kirin_bulk_open(NULL));
    good(kirin_bulk_open(&closed), "open");
    good(kirin_bulk_close(closed), "close");
    show("closing twice", kirin_bulk_close(closed));
    show("a closed handle", kirin_bulk_forces(closed, 0.0, 0.0, 1, &t, &r));
    show("no handle", kirin_bulk_set_sources(0, N, &s));
    good(kirin_bulk_open(&handle), "open");
    good(kirin_bulk_set_sources(handle, N, &s), "sources");
    good(kirin_bulk_forces(handle, 0.0, 0.0, NI, &t, &r), "forces");
    expected = found;
    show("a negative count", kirin_bulk_set_sources(handle, -1, &s));
    show("too many sources", kirin_bulk_set_sources(handle, 1LL << 31, &s));
    show("no arrays", kirin_bulk_set_sources(handle, N, NULL));
    part = s;
    part.x.at = NULL;
    show("no positions", kirin_bulk_set_sources(handle, N, &part));
    part = s;
    part.reserved[2] = (const char *)NULL + 1;
    show("a reserved word", kirin_bulk_set_sources(handle, N, &part));
    star[1234].v[1] = NAN;
    show("NaN", kirin_bulk_set_sources(handle, N, &s));
    star[1234].v[1] = 0.0;
    star[N - 1].m = -INFINITY;
    show("infinity", kirin_bulk_set_sources(handle, N, &s));
    star[N - 1].m = 1.0;
    part = s;
    part.eps2.at = &star[0].eps2;
    part.eps2.step = sizeof star[0];
    star[9].eps2 = -1e-9;
    show("softening of a source that is negative", kirin_bulk_set_sources(handle, N, &part));
    show("an index beyond the sources", kirin_bulk_update_sources(handle, 1, &which, &s));
    bad = -1;
    show("a negative index", kirin_bulk_update_sources(handle, 1, &which, &s));
    bad = 0;
    star[0].x[0] = NAN;
    show("NaN in an update", kirin_bulk_update_sources(handle, 1, &which, &s));
    part = s;
    part.x.at = NULL;
    part.eps2 = part.mass;
    show("softening in an update", kirin_bulk_update_sources(handle, 1, &which, &part));
    show("no indices", kirin_bulk_update_sources(handle, 1, NULL, &s));
    show("lists that were not made", kirin_bulk_neighbour_offsets(handle, NI, places));
    show("time that is NaN", kirin_bulk_forces(handle, NAN, 0.0, NI, &t, &r));
    show("softening that is infinite", kirin_bulk_forces(handle, 0.0, INFINITY, NI, &t, &r));
    show("softening that is negative", kirin_bulk_forces(handle, 0.0, -1e-4, NI, &t, &r));
    ei2[9] = -1e-9;
    show("softening of a target that is negative", kirin_bulk_forces(handle, 0.0, 0.0, NI, &t, &r));
    ei2[9] = 0.0;
    show("a negative number of targets", kirin_bulk_forces(handle, 0.0, 0.0, -5, &t, &r));
    self[3] = N;
    show("a target that is no source", kirin_bulk_forces(handle, 0.0, 0.0, NI, &t, &r));
    self[3] = 21;
    xi[17][2] = NAN;
    show("a target at NaN", kirin_bulk_forces(handle, 0.0, 0.0, NI, &t, &r));
    xi[17][2] = 0.5;
    t.x.at = NULL;
    show("velocities without positions", kirin_bulk_forces(handle, 0.0, 0.0, NI, &t, &r));
    t.v.at = NULL;
    t.source.at = NULL;
    show("more targets than sources", kirin_bulk_forces(handle, 0.0, 0.0, N + 1, &t, &r));
    t = targets();
    t.radius2.at = hi2;
    good(kirin_bulk_forces(handle, 0.0, 0.0, NI, &t, NULL), "lists alone");
    show("another number of targets", kirin_bulk_neighbour_offsets(handle, NI - 1, places));
    show("too little room", kirin_bulk_neighbour_indices(handle, 1, places));
    show("a null pointer for lists", kirin_bulk_neighbour_indices(handle, 1LL << 40, NULL));
    show("precision", kirin_bulk_set_precision(handle, 6));
    show("a null pointer for the message", kirin_bulk_message_text(NULL, 5));

    /* Nothing was lost. */
    xi[17][2] = noise();
    good(kirin_bulk_forces(handle, 0.0, 0.0, 17, &t, &r), "forces after all this");
    same("after refusals", 17, 1);
    good(kirin_bulk_forces(handle, 0.0, 0.0, 0, NULL, NULL), "no targets");
    good(kirin_bulk_set_sources(handle, 0, NULL), "no sources");
    t.source.at = NULL;
    good(kirin_bulk_forces(handle, 0.0, 0.0, 17, &t, &r), "no sources");
    if (kirin_bulk_source_count(handle) != 0 || found.acc[0][0] != 0.0)
        say("no sources", "force", 0);
    good(kirin_bulk_close(handle), "close");
}

static void forks(void)
{
    int64_t handle = 0;
    int status = -1;
    kirin_sources s;
    kirin_targets t;
    kirin_results r = results(&found);
    pid_t child;
    make_stars(1);
    make_targets();
    s = sources(1);
    t = targets();
    good(kirin_bulk_open(&handle), "open");
    good(kirin_bulk_set_sources(handle, N, &s), "sources");
    good(kirin_bulk_forces(handle, 0.0, 0.0, NI, &t, &r), "forces");
    expected = found;
    fflush(stdout);
    child = fork();
    if (child == 0) {
        int64_t own = 0;
        alarm(60);
        show("use after a fork", kirin_bulk_forces(handle, 0.0, 0.0, NI, &t, &r));
        show("closing after a fork", kirin_bulk_close(handle));
        good(kirin_bulk_open(&own), "open in the child");
        good(kirin_bulk_set_sources(own, N, &s), "sources in the child");
        memset(&found, 0, sizeof found);
        good(kirin_bulk_forces(own, 0.0, 0.0, NI, &t, &r), "forces in the child");
        same("in the child", NI, 1);
        good(kirin_bulk_close(own), "close in the child");
        fflush(stdout);
        _exit(wrong != 0);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        say("child", "status", status);
    memset(&found, 0, sizeof found);
    good(kirin_bulk_forces(handle, 0.0, 0.0, NI, &t, &r), "forces in the parent");
    same("in the parent", NI, 1);
    good(kirin_bulk_close(handle), "close");
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "bits")) {
        bits();
        themselves();
    } else if (!strcmp(what, "soft"))
        soft();
    else if (!strcmp(what, "errors"))
        errors();
    else if (!strcmp(what, "fork"))
        forks();
    else
        return 2;
    return 0;
}
