/* The bulk interface beside others: bulk WHAT:
 *   bits    forces, nearest neighbours and lists beside those of the g6 calls, bit by bit, in every precision
 *   soft    sources with softening lengths of their own beside a plain sum, to the relative error 1e-13
 *   units   sources that replace far larger ones, bit by bit beside the g6 calls
 *   lists   neighbour lists of which nobody wants forces: prints them
 * Else prints nothing but what is wrong. */
#define _GNU_SOURCE
#include "bulk.h"

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

/* Some stars anew, by their indices: masses, and all but the masses. */
static void update_some(int64_t handle, int moving)
{
    static struct star old[N];
    static int64_t index[N];
    const kirin_sources s = sources(moving);
    kirin_sources part = s;
    kirin_indices which = {index, 0};
    int k;
    for (k = 0; k < N; k++)
        index[k] = (k * 11 + 5) % N;
    memcpy(old, star, sizeof star);
    make_stars(moving);
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

/* Other stars, n of them; without nearest neighbours; results where the positions are. */
/* On a CPU sources at rest have the reduced precision that was chosen, whatever was there before. */
static void is_reduced(int64_t handle, int precision)
{
    if (precision == KIRIN_REDUCED && !strncmp(kirin_bulk_backend(handle), "cpu", 3)
        && strcmp(kirin_bulk_precision(handle), "reduced"))
        say(kirin_bulk_precision(handle), "asked for reduced", precision);
}

static void replace(const char *when, int64_t handle, int precision, int moving, int n)
{
    const int id = 10000 + n;
    kirin_sources s;
    kirin_targets t = targets();
    kirin_results r = results(&found);
    int k;
    g6_open(id);
    kirin_set_precision(id, precision);
    make_stars(moving);
    s = sources(moving);
    for (k = 0; k < NI / 2; k++)
        if (self[k] >= n)
            self[k] = -1;
    good(kirin_bulk_set_sources(handle, n, &s), "other sources");
    send(id, n);
    ask_g6(id, n, NI, 0.0);
    memcpy(found.acc, xi, sizeof found.acc);
    t.x.at = found.acc[0];
    r.nearest.at = NULL;
    r.distance2.at = NULL;
    good(kirin_bulk_forces(handle, 0.0, 0.0, NI, &t, &r), "forces of others");
    same(when, NI, 0);
    if (kirin_bulk_source_count(handle) != n)
        say("count", when, n);
    if (!moving)
        is_reduced(handle, precision);
    g6_close(id);
}

static void bits_in(int precision, int moving)
{
    const int id = 1 + precision + 10 * moving;
    char when[64];
    const char *wanted;
    int64_t handle = 0;
    kirin_sources s;
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
    is_reduced(handle, precision);
    good(kirin_bulk_set_sources(handle, N, &s), "sources");
    send(id, N);
    ask_g6(id, N, NI, 0.02);
    good(kirin_bulk_forces(handle, 0.02, 0.0, NI, &t, &r), "forces");
    same(when, NI, 1);
    wanted = kirin_precision(id);
    /* g6_set_j_particle stores velocities, even if they are zero. */
    if (precision == KIRIN_REDUCED && !moving && !strncmp(kirin_bulk_backend(handle), "cpu", 3)) wanted = "reduced";
    if (strcmp(kirin_bulk_precision(handle), wanted)) say(kirin_bulk_precision(handle), wanted, precision);
    if (strcmp(kirin_bulk_backend(handle), kirin_backend(id)))
        say(kirin_bulk_backend(handle), kirin_backend(id), precision);
    if (precision == KIRIN_DOUBLE && strcmp(kirin_bulk_precision(handle), "double"))
        say(kirin_bulk_precision(handle), "asked for double", precision);
    compare_lists(when, handle, id, N);

    update_some(handle, moving);
    send(id, N);
    ask_g6(id, N, NI, 0.03);
    good(kirin_bulk_forces(handle, 0.03, 0.0, NI, &t, &r), "forces again");
    same(when, NI, 1);

    replace(when, handle, precision, moving, 700);
    replace(when, handle, precision, moving, N);
    replace(when, handle, precision, !moving, N - 3);
    good(kirin_bulk_close(handle), "close");
    g6_close(id);
}

static void bits(void)
{
    int precision, moving;
    for (moving = 0; moving < 2; moving++)
        for (precision = KIRIN_AUTO; precision <= KIRIN_REDUCED; precision++)
            bits_in(precision, moving);
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

/* Larger sources before these, some at addresses that are free again: they have no say in the units. */
static void units(void)
{
    int64_t handle = 0;
    int j, k;
    kirin_sources s;
    kirin_targets t;
    kirin_results r = results(&found);
    make_stars(1);
    make_targets();
    for (j = 0; j < N; j++)
        for (k = 0; k < 3; k++)
            star[j].x[k] *= 1e20;
    s = sources(1);
    t = targets();
    good(kirin_bulk_open(&handle), "open");
    good(kirin_bulk_set_precision(handle, KIRIN_MIXED), "precision");
    good(kirin_bulk_set_sources(handle, N, &s), "large sources");
    good(kirin_bulk_forces(handle, 0.0, 0.0, NI, &t, &r), "forces of large sources");
    replace("after large ones", handle, KIRIN_MIXED, 1, 600);
    good(kirin_bulk_close(handle), "close");
}

static void lists_alone(void)
{
    static int64_t offsets[NI + 1], all[NI * N];
    int64_t handle = 0, k;
    kirin_sources s;
    kirin_targets t;
    kirin_results r;
    make_stars(1);
    make_targets();
    s = sources(1);
    t = targets();
    t.radius2.at = hi2;
    memset(&r, 0, sizeof r);
    good(kirin_bulk_open(&handle), "open");
    good(kirin_bulk_set_sources(handle, N, &s), "sources");
    good(kirin_bulk_forces(handle, 0.01, 0.0, NI, &t, &r), "lists");
    good(kirin_bulk_neighbour_offsets(handle, NI, offsets), "offsets");
    good(kirin_bulk_neighbour_indices(handle, NI * N, all), "indices");
    for (k = 0; k <= NI; k++)
        printf("%lld\n", (long long)offsets[k]);
    for (k = 0; k < offsets[NI]; k++)
        printf("%lld\n", (long long)all[k]);
    good(kirin_bulk_close(handle), "close");
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

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "bits")) {
        bits();
        themselves();
    } else if (!strcmp(what, "soft"))
        soft();
    else if (!strcmp(what, "units"))
        units();
    else if (!strcmp(what, "lists"))
        lists_alone();
    else
        return 2;
    return 0;
}
