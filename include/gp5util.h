/* gp5util.h: the name under which clients of GRAPE-5 include the header of their library. */
#ifndef KIRIN_GP5UTIL_H
#define KIRIN_GP5UTIL_H

#include "kirin_grape5.h"

/* What g5_get_jmemsize answers: clients dimension arrays by it. */
#ifndef JMEMSIZE
#define JMEMSIZE (1 << 20)
#endif

/*
 * Clients of a Phantom-GRAPE that was built with SYMMETRIC define SYMMETRIC, too. Their g5_set_xmj and g5_set_xmjMC have a
 * further argument, the squares of softening lengths of the j-particles, and all their forces have the softening of both
 * particles. Such programs call kirin by the names of these calls that have one meaning only.
 */
#ifdef SYMMETRIC

#ifdef __cplusplus
extern "C" {
#endif

static __inline__ int kirin_symmetric_on_xeMC(int devid, double (*x)[3], const double *eps2, double (*a)[3], double *p, int ni)
{
    return g5_calculate_force_on_xMC0(devid, x, a, p, ni, eps2);
}

static __inline__ int kirin_symmetric_on_xe(double (*x)[3], const double *eps2, double (*a)[3], double *p, int ni)
{
    return g5_calculate_force_on_x0(x, a, p, ni, eps2);
}

/* With the softening of g5_set_eps_to_all; through the registers, as in Phantom-GRAPE. */
static __inline__ int kirin_symmetric_on_xMC(int devid, double (*x)[3], double (*a)[3], double *p, int ni)
{
    int status = g5_set_xiMC(devid, ni, x);
    if (status == 0)
        status = g5_runMC0(devid);
    return status == 0 ? g5_get_forceMC(devid, ni, a, p) : status;
}

static __inline__ int kirin_symmetric_on_x(double (*x)[3], double (*a)[3], double *p, int ni)
{
    return kirin_symmetric_on_xMC(0, x, a, p, ni);
}

#ifdef __cplusplus
}
#endif

#define g5_set_xmj g5_set_xmj0
#define g5_set_xmjMC g5_set_xmjMC0
#define g5_run g5_run_symmetrized_softening
#define g5_runMC g5_runMC0
#define g5_calculate_force_on_x kirin_symmetric_on_x
#define g5_calculate_force_on_xMC kirin_symmetric_on_xMC
#define g5_calculate_force_on_xe kirin_symmetric_on_xe
#define g5_calculate_force_on_xeMC kirin_symmetric_on_xeMC

#endif /* SYMMETRIC */

#endif /* KIRIN_GP5UTIL_H */
