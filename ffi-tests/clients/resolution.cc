// Reads states of an i-particle, a page and the sums of a leaf; prints what the kernels make of them.
#include <cstdio>

#include "resolution.cuh"

// Whether the trigger of the pair loop, which knows bounds of the page only, lets the leaf pass.
template <class P, bool JERK> static bool proves(const IRecord &i, const PageInfo &page, unsigned far, const double *sums)
{
    Sources sources{};
    sources.length = sources.velocity = 1.0;
    Target<P> target;
    target.load(i, sources);
    Run<P> run;
    run.learn(page, far);
    return prove_every_pair<P, JERK>(run, target, (typename P::Number)fabs(sums[3]), sums);
}

int main()
{
    IRecord i{};
    LeafBounds bounds;
    PageInfo page{};
    double sums[SUMS], f[9];
    unsigned far, split, jerk, one_sign;
    while (scanf("%la %la %la %la %la %la %la", &i.x[0], &i.x[1], &i.x[2], &i.v[0], &i.v[1], &i.v[2], &i.eps2) == 7) {
        if (scanf("%u %u %u %u %la %la %la %la", &split, &jerk, &far, &one_sign, &f[0], &f[1], &f[2], &f[3]) != 8) {
            return 1;
        }
        for (double &sum : sums) {
            if (scanf("%la", &sum) != 1) {
                return 1;
            }
        }
        bounds.one_sign = one_sign;
        bounds.least_mass = page.least_mass = f[0];
        bounds.radius = f[1];
        bounds.fastest = f[2];
        bounds.slowest = f[3];
        page.flags = one_sign ? 0 : PAGE_HAS_BOTH_SIGNS;
        const Reach reach(i, 1.0, 1.0, split);
        const bool trigger = split ? (jerk ? proves<Mixed, true>(i, page, far, sums) : proves<Mixed, false>(i, page, far, sums))
                                   : (jerk ? proves<Single, true>(i, page, far, sums) : proves<Single, false>(i, page, far, sums));
        printf("%d %.17g %.17g %.17g %.17g %d %d %d %d\n", reach.in_range, reach.closest, reach.closest2, reach.distance,
               reach.speed, reach.loses_nothing(bounds, jerk), reach.loses_little(sums, bounds, jerk), are_finite(sums),
               trigger);
    }
    return 0;
}
