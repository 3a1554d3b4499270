/* Stars, targets and arrays for answers: what the clients of the bulk interface share. `say` counts what is wrong. */
#ifndef BULK_H
#define BULK_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static inline double noise(void)
{
    static unsigned long long state = 5;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) / 4503599627370496.0 - 1.0;
}

static inline void say(const char *what, const char *when, int k)
{
    if (wrong++ < 20)
        printf("wrong: %s, %s: %d\n", what, when, k);
}

static inline void good(int status, const char *what)
{
    if (status < 0) {
        say(what, kirin_bulk_message(), status);
    }
}

static inline void make_stars(int moving)
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
static inline void make_targets(void)
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

static inline kirin_sources sources(int moving)
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

static inline kirin_targets targets(void)
{
    kirin_targets t;
    memset(&t, 0, sizeof t);
    t.x.at = xi[0];
    t.v.at = vi[0];
    t.eps2.at = ei2;
    t.source.at = self;
    return t;
}

static inline kirin_results results(struct answer *to)
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

/* Whether the answers have the same bits. */
static inline void same(const char *when, int ni, int nearest)
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

#endif
