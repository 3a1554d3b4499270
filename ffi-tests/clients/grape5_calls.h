/* Every call of GRAPE-5 in the spelling that `fortran` says. */
#ifndef GRAPE5_CALLS_H
#define GRAPE5_CALLS_H

#include "g5nbutil.h"

static int fortran;

static inline int open(void)
{
    return fortran ? g5_open_() : g5_open();
}

static inline int open_special(int ndev, const int *list)
{
    return fortran ? g5_open_special_(&ndev, list)
                   : g5_open_special(ndev, list);
}

static inline int close(void)
{
    return fortran ? g5_close_() : g5_close();
}

static inline int get_number_of_pipelines(void)
{
    return fortran ? g5_get_number_of_pipelines_() : g5_get_number_of_pipelines();
}

static inline int get_number_of_pipelines_per_board(void)
{
    return fortran ? g5_get_number_of_pipelines_per_board_() : g5_get_number_of_pipelines_per_board();
}

static inline int get_number_of_real_pipelines(void)
{
    return fortran ? g5_get_number_of_real_pipelines_() : g5_get_number_of_real_pipelines();
}

static inline int get_number_of_boards(void)
{
    return fortran ? g5_get_number_of_boards_() : g5_get_number_of_boards();
}

static inline int get_firstcluster(void)
{
    return fortran ? g5_get_firstcluster_() : g5_get_firstcluster();
}

static inline int get_pcibus_freq(void)
{
    return fortran ? g5_get_pcibus_freq_() : g5_get_pcibus_freq();
}

static inline int get_jmemsize(void)
{
    return fortran ? g5_get_jmemsize_() : g5_get_jmemsize();
}

static inline int set_range(double xmin, double xmax, double mmin)
{
    return fortran ? g5_set_range_(&xmin, &xmax, &mmin)
                   : g5_set_range(xmin, xmax, mmin);
}

/* GRAPE-7's names, called once with arguments that change nothing; the sum of what is wrong is 0. */
static inline int grape7(int device, const double *m, double (*x)[3])
{
    int none = 0;
    double zero = 0.0, one = 1.0;
    if (fortran)
        return g5_openMC_(&device) + g5_set_rangeMC_(&device, &zero, &one, &one) + g5_set_eta_(&zero)
             + g5_set_etaMC_(&device, &zero) + g5_set_jpMC_(&device, &none, &none, m, x)
             + (g5_get_number_of_pipelinesMC_(&device) != g5_get_number_of_pipelines())
             + (g5_get_jmemsizeMC_(&device) != g5_get_jmemsize()) + g5_closeMC_(&device);
    return g5_openMC(device) + g5_set_rangeMC(device, zero, one, one) + g5_set_eta(zero)
         + g5_set_etaMC(device, zero) + g5_set_jpMC(device, none, none, m, x)
         + (g5_get_number_of_pipelinesMC(device) != g5_get_number_of_pipelines())
         + (g5_get_jmemsizeMC(device) != g5_get_jmemsize()) + g5_closeMC(device);
}

static inline int set_jpMC(int devid, int addr, int nj, const double *mj, double (*xj)[3])
{
    return fortran ? g5_set_jpMC_(&devid, &addr, &nj, mj, xj)
                   : g5_set_jpMC(devid, addr, nj, mj, xj);
}

static inline int set_n(int n)
{
    return fortran ? g5_set_n_(&n)
                   : g5_set_n(n);
}

static inline int set_nMC(int devid, int n)
{
    return fortran ? g5_set_nMC_(&devid, &n)
                   : g5_set_nMC(devid, n);
}

static inline int set_eps_to_all(double eps)
{
    return fortran ? g5_set_eps_to_all_(&eps)
                   : g5_set_eps_to_all(eps);
}

static inline int set_eps2_to_all(double eps2)
{
    return fortran ? g5_set_eps2_to_all_(&eps2)
                   : g5_set_eps2_to_all(eps2);
}

static inline int set_eps(int ni, const double *eps)
{
    return fortran ? g5_set_eps_(&ni, eps)
                   : g5_set_eps(ni, eps);
}

static inline int set_epsMC(int devid, int ni, const double *eps)
{
    return fortran ? g5_set_epsMC_(&devid, &ni, eps)
                   : g5_set_epsMC(devid, ni, eps);
}

static inline int set_xmj(int adr, int nj, double (*xj)[3], const double *mj)
{
    return fortran ? g5_set_xmj_(&adr, &nj, xj, mj)
                   : g5_set_xmj(adr, nj, xj, mj);
}

static inline int set_xmjMC(int devid, int adr, int nj, double (*xj)[3], const double *mj)
{
    return fortran ? g5_set_xmjMC_(&devid, &adr, &nj, xj, mj)
                   : g5_set_xmjMC(devid, adr, nj, xj, mj);
}

static inline int set_xmj0(int adr, int nj, double (*xj)[3], const double *mj, const double *epsj2)
{
    return fortran ? g5_set_xmj0_(&adr, &nj, xj, mj, epsj2)
                   : g5_set_xmj0(adr, nj, xj, mj, epsj2);
}

static inline int set_xmjMC0(int devid, int adr, int nj, double (*xj)[3], const double *mj, const double *epsj2)
{
    return fortran ? g5_set_xmjMC0_(&devid, &adr, &nj, xj, mj, epsj2)
                   : g5_set_xmjMC0(devid, adr, nj, xj, mj, epsj2);
}

static inline int set_jp(int addr, int nj, const double *mj, double (*xj)[3])
{
    return fortran ? g5_set_jp_(&addr, &nj, mj, xj)
                   : g5_set_jp(addr, nj, mj, xj);
}

static inline int set_xj(int adr, int nj, double (*xj)[3])
{
    return fortran ? g5_set_xj_(&adr, &nj, xj)
                   : g5_set_xj(adr, nj, xj);
}

static inline int set_mj(int adr, int nj, const double *mj)
{
    return fortran ? g5_set_mj_(&adr, &nj, mj)
                   : g5_set_mj(adr, nj, mj);
}

static inline int set_xi(int ni, double (*xi)[3])
{
    return fortran ? g5_set_xi_(&ni, xi)
                   : g5_set_xi(ni, xi);
}

static inline int set_xiMC(int devid, int ni, double (*xi)[3])
{
    return fortran ? g5_set_xiMC_(&devid, &ni, xi)
                   : g5_set_xiMC(devid, ni, xi);
}

static inline int set_xei(int ni, double (*xi)[3], const double *eps2)
{
    return fortran ? g5_set_xei_(&ni, xi, eps2)
                   : g5_set_xei(ni, xi, eps2);
}

static inline int set_xeiMC(int devid, int ni, double (*xi)[3], const double *eps2)
{
    return fortran ? g5_set_xeiMC_(&devid, &ni, xi, eps2)
                   : g5_set_xeiMC(devid, ni, xi, eps2);
}

static inline int set_xiMC0(int devid, int ni, double (*xi)[3], const double *eps2)
{
    return fortran ? g5_set_xiMC0_(&devid, &ni, xi, eps2)
                   : g5_set_xiMC0(devid, ni, xi, eps2);
}

static inline int run(void)
{
    return fortran ? g5_run_() : g5_run();
}

static inline int runMC(int devid)
{
    return fortran ? g5_runMC_(&devid)
                   : g5_runMC(devid);
}

static inline int runMC0(int devid)
{
    return fortran ? g5_runMC0_(&devid)
                   : g5_runMC0(devid);
}

static inline int get_force(int ni, double (*a)[3], double *p)
{
    return fortran ? g5_get_force_(&ni, a, p)
                   : g5_get_force(ni, a, p);
}

static inline int get_forceMC(int devid, int ni, double (*a)[3], double *p)
{
    return fortran ? g5_get_forceMC_(&devid, &ni, a, p)
                   : g5_get_forceMC(devid, ni, a, p);
}

static inline int calculate_force_on_x(double (*x)[3], double (*a)[3], double *p, int ni)
{
    return fortran ? g5_calculate_force_on_x_(x, a, p, &ni)
                   : g5_calculate_force_on_x(x, a, p, ni);
}

static inline int calculate_force_on_xMC(int devid, double (*x)[3], double (*a)[3], double *p, int ni)
{
    return fortran ? g5_calculate_force_on_xMC_(&devid, x, a, p, &ni)
                   : g5_calculate_force_on_xMC(devid, x, a, p, ni);
}

static inline int calculate_force_on_xe(double (*x)[3], const double *eps2, double (*a)[3], double *p, int ni)
{
    return fortran ? g5_calculate_force_on_xe_(x, eps2, a, p, &ni)
                   : g5_calculate_force_on_xe(x, eps2, a, p, ni);
}

static inline int calculate_force_on_xeMC(int devid, double (*x)[3], const double *eps2, double (*a)[3], double *p, int ni)
{
    return fortran ? g5_calculate_force_on_xeMC_(&devid, x, eps2, a, p, &ni)
                   : g5_calculate_force_on_xeMC(devid, x, eps2, a, p, ni);
}

static inline int calculate_force_on_x0(double (*x)[3], double (*a)[3], double *p, int ni, const double *eps2)
{
    return fortran ? g5_calculate_force_on_x0_(x, a, p, &ni, eps2)
                   : g5_calculate_force_on_x0(x, a, p, ni, eps2);
}

static inline int calculate_force_on_xMC0(int devid, double (*x)[3], double (*a)[3], double *p, int ni, const double *eps2)
{
    return fortran ? g5_calculate_force_on_xMC0_(&devid, x, a, p, &ni, eps2)
                   : g5_calculate_force_on_xMC0(devid, x, a, p, ni, eps2);
}

static inline int set_eps_to_allMC(int devid, double eps)
{
    return fortran ? g5_set_eps_to_allMC_(&devid, &eps) : g5_set_eps_to_allMC(devid, eps);
}

static inline int set_eps2_to_allMC(int devid, double eps2)
{
    return fortran ? g5_set_eps2_to_allMC_(&devid, &eps2) : g5_set_eps2_to_allMC(devid, eps2);
}

static inline int set_eps2(int ni, const double *eps2)
{
    return fortran ? g5_set_eps2_(&ni, eps2) : g5_set_eps2(ni, eps2);
}

static inline int set_eps2MC(int devid, int ni, const double *eps2)
{
    return fortran ? g5_set_eps2MC_(&devid, &ni, eps2) : g5_set_eps2MC(devid, ni, eps2);
}

static inline int set_xmeps2j(int adr, int nj, double (*xj)[3], const double *mj, const double *epsj2)
{
    return fortran ? g5_set_xmeps2j_(&adr, &nj, xj, mj, epsj2)
                   : g5_set_xmeps2j(adr, nj, xj, mj, epsj2);
}

static inline int set_xepsi(int ni, double (*xi)[3], const double *eps)
{
    return fortran ? g5_set_xepsi_(&ni, xi, eps) : g5_set_xepsi(ni, xi, eps);
}

static inline int set_ip(int ni, double (*xi)[3], const double *eps, const double *h)
{
    return fortran ? g5_set_ip_(&ni, xi, eps, h) : g5_set_ip(ni, xi, eps, h);
}

static inline int run_symmetrized_softening(void)
{
    return fortran ? g5_run_symmetrized_softening_() : g5_run_symmetrized_softening();
}

static inline int calculate_force_on_xeps(double (*x)[3], const double *eps, double (*a)[3], double *p, int ni)
{
    return fortran ? g5_calculate_force_on_xeps_(x, eps, a, p, &ni)
                   : g5_calculate_force_on_xeps(x, eps, a, p, ni);
}

#endif
