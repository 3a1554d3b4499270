/* What the sums of `mixed` and `single` take without a library around them: loops of intrinsics behind the calls of GRAPE-6, for benches/rates.c.
 *
 *     gcc -std=gnu11 -O3 -march=native -DWIDTH=16 -shared -fPIC -o libplain.so benches/plain.c
 *
 * -DWIDTH=16 is AVX-512, 8 is AVX2. Further macros:
 *
 *     -DSINGLE=1     positions are not split (`single`), and twice the root is computed, which takes an operation less
 *     -DVECTORS=32   vectors of a leaf, whose sums in single precision are then added in double; 0: no leaves, all sums in single precision
 *     -DREGULAR=1    what NBODY6's regular force does for each pair, too: the distance a step ahead is compared with a neighbour radius. Distances
 *                    and a bit for each pair are kept for the neighbour list, which is left out
 *     -DORDER=PLAIN  one vector of pairs after the other; AHEAD: the roots of the next vector before the terms of this one; HALVES: distances
 *                    and roots of a leaf first, four vectors at a time, then its terms, from memory
 *
 * Lanes run over j-particles. The terms are those of kirin's pair loop. There is no prediction, no nearest neighbour, no test for close pairs or
 * for the range of single precision, and the i-particles must be softened. A number of j-particles that does not fill the last page of 512 is
 * filled up with masses of zero. */
#include <immintrin.h>
#include <string.h>

#ifndef SINGLE
#define SINGLE 0
#endif
#ifndef REGULAR
#define REGULAR 0
#endif
#ifndef VECTORS
#define VECTORS 32
#endif
#define PLAIN 0
#define AHEAD 1
#define HALVES 2
#ifndef ORDER
#define ORDER PLAIN
#endif

enum { MOST = 65536, PAGE = 512, PIPELINES = 512, TOGETHER = 4, SUMS = 7 };

#if WIDTH == 16
typedef __m512 vector;
#define OP(name) _mm512_##name
#define ESTIMATE _mm512_rsqrt14_ps
#elif WIDTH == 8
typedef __m256 vector;
#define OP(name) _mm256_##name
#define ESTIMATE _mm256_rsqrt_ps
#else
#error WIDTH is 8 or 16
#endif
#define FMA OP(fmadd_ps)
#define FNMA OP(fnmadd_ps)
#define MUL OP(mul_ps)
#define ADD OP(add_ps)
#define SUB OP(sub_ps)
#define SPLAT OP(set1_ps)
#define LOAD OP(load_ps)
#define STORE OP(store_ps)

enum { LEAF = VECTORS ? VECTORS * WIDTH : PAGE };
enum { X, LOW = 3, V = 6, MASS = 9, COLUMNS };
/* The padding keeps the columns from competing for the same lines of the cache. */
static _Alignas(64) float page[MOST / PAGE][COLUMNS][PAGE + 16];

struct target {
    vector x[3], low[3], v[3], eps2, minus_three;
};

static struct target targets[PIPELINES];
static vector running[PIPELINES][SUMS];
static double sums[PIPELINES][SUMS];

int g6_open(int id) { return id & 0; }
int g6_npipes(void) { return PIPELINES; }
int g6_set_ti(int id, double t) { return (id & 0) + (t != t); }

int g6_set_j_particle(int id, int address, int index, double t, double dt, double m, const double *a2, const double *j, const double *a, const double *v,
                      const double *x)
{
    (void)index, (void)t, (void)dt, (void)a2, (void)j, (void)a;
    float(*to)[PAGE + 16] = page[address / PAGE];
    int slot = address % PAGE;
    for (int k = 0; k < 3; k++) {
        to[X + k][slot] = (float)x[k];
        to[LOW + k][slot] = (float)(x[k] - (double)(float)x[k]);
        to[V + k][slot] = (float)v[k];
    }
    to[MASS][slot] = (float)m;
    return id & 0;
}

int g6calc_firsthalf(int id, int nj, int ni, int *index, double (*x)[3], double (*v)[3], double (*a)[3], double (*j)[3], double *p, double eps2, double *h2)
{
    (void)nj, (void)ni, (void)index, (void)x, (void)v, (void)a, (void)j, (void)p, (void)eps2, (void)h2;
    return id & 0;
}

#define INLINE static inline __attribute__((always_inline))

INLINE vector root(vector r2)
{
    vector y = ESTIMATE(r2);
    if (SINGLE)
        return MUL(y, FNMA(r2, MUL(y, y), SPLAT(3)));
    return FMA(y, FNMA(MUL(y, y), MUL(SPLAT(0.5f), r2), SPLAT(0.5f)), y);
}

INLINE vector component(const struct target *i, float (*j)[PAGE + 16], int k, int at)
{
    vector r = SUB(LOAD(j[X + k] + at), i->x[k]);
    return SINGLE ? r : ADD(r, SUB(LOAD(j[LOW + k] + at), i->low[k]));
}

/* Writes the separations, and returns their squares. */
INLINE vector distance(const struct target *i, float (*j)[PAGE + 16], int at, vector r[3])
{
    vector r2 = i->eps2;
    for (int k = 0; k < 3; k++) {
        r[k] = component(i, j, k, at);
        r2 = FMA(r[k], r[k], r2);
    }
    return r2;
}

/* Not static, or the compiler would leave the writes out. */
_Alignas(64) float distances[PAGE + 16];
_Alignas(64) unsigned char bits[PAGE / 8];

/* Returns y, or 0 within the radius, for which a number serves that no pair is below; keeps what a search for neighbours reads. */
INLINE vector beyond(const struct target *i, vector r2, vector rv, int at, vector y)
{
    vector least = OP(min_ps)(FMA(i->eps2, rv, r2), r2);
    STORE(distances + at, r2);
#if WIDTH == 16
    __mmask16 far = _mm512_cmp_ps_mask(i->minus_three, least, _CMP_LE_OQ);
    memcpy(bits + at / 8, &far, sizeof far);
    return _mm512_maskz_mov_ps(far, y);
#else
    vector far = _mm256_cmp_ps(i->minus_three, least, _CMP_LE_OQ);
    bits[at / 8] = (unsigned char)_mm256_movemask_ps(far);
    return _mm256_and_ps(far, y);
#endif
}

INLINE void add(const struct target *i, float (*j)[PAGE + 16], int at, const vector r[3], vector r2, vector y, vector sum[SUMS])
{
    vector v[3];
    for (int k = 0; k < 3; k++)
        v[k] = SUB(LOAD(j[V + k] + at), i->v[k]);
    vector rv = FMA(r[2], v[2], FMA(r[1], v[1], MUL(r[0], v[0])));
    if (REGULAR)
        y = beyond(i, r2, rv, at, y);
    vector m = MUL(LOAD(j[MASS] + at), y), y2 = MUL(y, y), f = MUL(m, y2);
    rv = MUL(MUL(rv, i->minus_three), y2);
    for (int k = 0; k < 3; k++) {
        sum[k] = FMA(f, r[k], sum[k]);
        sum[3 + k] = FMA(f, FMA(rv, r[k], v[k]), sum[3 + k]);
    }
    sum[6] = ADD(sum[6], m);
}

INLINE void leaf(const struct target *i, float (*j)[PAGE + 16], int begin, vector sum[SUMS])
{
    struct target own = *i;
#if ORDER == PLAIN
    for (int at = begin; at < begin + LEAF; at += WIDTH) {
        vector r[3], r2 = distance(&own, j, at, r);
        add(&own, j, at, r, r2, root(r2), sum);
    }
#elif ORDER == AHEAD
    vector r[3], r2 = distance(&own, j, begin, r);
    int at = begin;
    for (; at < begin + LEAF - WIDTH; at += WIDTH) {
        vector next[3], next2 = distance(&own, j, at + WIDTH, next);
        add(&own, j, at, r, r2, root(r2), sum);
        r2 = next2;
        for (int k = 0; k < 3; k++)
            r[k] = next[k];
    }
    add(&own, j, at, r, r2, root(r2), sum);
#elif REGULAR
#error the halves have no REGULAR
#else
    static _Alignas(64) float halfway[4][PAGE + 16];
    for (int first = begin; first < begin + LEAF; first += TOGETHER * WIDTH) {
        vector r2[TOGETHER];
        for (int n = 0; n < TOGETHER; n++)
            r2[n] = own.eps2;
        for (int k = 0; k < 3; k++)
            for (int n = 0; n < TOGETHER; n++) {
                vector r = component(&own, j, k, first + n * WIDTH);
                STORE(halfway[k] + first + n * WIDTH, r);
                r2[n] = FMA(r, r, r2[n]);
            }
        for (int n = 0; n < TOGETHER; n++)
            STORE(halfway[3] + first + n * WIDTH, root(r2[n]));
    }
    /* Keeps nothing of the first half in registers. */
    __asm__ volatile("" : "+r"(i) : : "memory");
    for (int at = begin; at < begin + LEAF; at += WIDTH) {
        vector r[3] = { LOAD(halfway[0] + at), LOAD(halfway[1] + at), LOAD(halfway[2] + at) };
        add(i, j, at, r, SPLAT(0), LOAD(halfway[3] + at), sum);
    }
#endif
}

INLINE double over_lanes(vector v)
{
#if WIDTH == 16
    return (double)_mm512_reduce_add_ps(v);
#else
    __m256d four = _mm256_add_pd(_mm256_cvtps_pd(_mm256_castps256_ps128(v)), _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1)));
    __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return two[0] + two[1];
#endif
}

int g6calc_lasthalf(int id, int nj, int ni, int *index, double (*x)[3], double (*v)[3], double eps2, double *h2, double (*acc)[3], double (*jerk)[3],
                    double *pot)
{
    (void)index, (void)h2;
    for (int i = 0; i < ni; i++) {
        for (int k = 0; k < SUMS; k++)
            sums[i][k] = 0, running[i][k] = SPLAT(0);
        for (int k = 0; k < 3; k++) {
            float high = (float)x[i][k];
            targets[i].x[k] = SPLAT(high);
            targets[i].low[k] = SPLAT((float)(x[i][k] - (double)high));
            targets[i].v[k] = SPLAT((float)v[i][k]);
        }
        targets[i].eps2 = SPLAT((float)eps2);
        /* In `single` 1 / r^2 is four times too large. */
        targets[i].minus_three = SPLAT(SINGLE ? -0.75f : -3.0f);
    }
    for (int p = 0; p * PAGE < nj; p++)
        for (int begin = 0; begin < PAGE; begin += LEAF)
            for (int i = 0; i < ni; i++) {
                vector sum[SUMS];
                for (int k = 0; k < SUMS; k++)
                    sum[k] = VECTORS ? SPLAT(0) : running[i][k];
                leaf(&targets[i], page[p], begin, sum);
                for (int k = 0; k < SUMS; k++)
                    if (VECTORS)
                        sums[i][k] += over_lanes(sum[k]);
                    else
                        running[i][k] = sum[k];
            }
    for (int i = 0; i < ni; i++) {
        for (int k = 0; k < SUMS; k++)
            sums[i][k] += over_lanes(running[i][k]);
        double cube = SINGLE ? 0.125 : 1;
        for (int k = 0; k < 3; k++)
            acc[i][k] = cube * sums[i][k], jerk[i][k] = cube * sums[i][3 + k];
        pot[i] = -sums[i][6] * (SINGLE ? 0.5 : 1);
    }
    return id & 0;
}
