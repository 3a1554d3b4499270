/* kirin_grape5.h: the host interface of the GRAPE-5 computer, as kirin exports it.
 *
 * Made from the library's table of calls by `cargo run -p ffi-tests --bin generate`:
 * change the table, not this file.
 *
 * Each call has two spellings: the C one takes scalars by value; the Fortran one has a trailing
 * underscore and takes scalars by reference. Where older libraries return nothing, 0 stands for
 * success and a negative number, with one line on stderr, for a refusal: the numbers of kirin.h.
 * `double (*x)[3]` is the type of an array `double x[n][3]`.
 *
 * Results are accelerations and positive potentials. By default, in the precision `mixed`, both
 * err by less than 1e-6 of the sum of the magnitudes of their terms, or 2.5e-6 where one mass
 * outweighs the others by 10^6 (docs/numbers.md). An array of results may be that of the
 * positions.
 *
 * kirin has no force with a cutoff and no quadrupoles. Programs for Phantom-GRAPE's library with a
 * table must not use kirin: they can be linked with it unless they call pg5_gen_s2_force_table or
 * g5_set_cutoff_table, since g5_open of that library makes the table, but they get Newton's force.
 * Programs that call g5c_* (quadrupoles) cannot be linked with it.
 *
 * Programs that define the C names themselves, or link the static library made with the
 * feature fortran-names-only, define KIRIN_FORTRAN_NAMES_ONLY before they include this.
 */
#ifndef KIRIN_GRAPE5_H
#define KIRIN_GRAPE5_H

#ifdef __cplusplus
extern "C" {
#endif

#ifndef KIRIN_FORTRAN_NAMES_ONLY
/* The GRAPE-5 interface */

/**
 * Makes device 0 ready. Every other call does that, too.
 */
int g5_open(void);

/**
 * sapporo2's: as `g5_open`, and names the GPUs to use: `list[ndev]`; none for the library's
 * choice.
 */
int g5_open_special(int ndev, const int *list);

/**
 * Forgets the j-particles and i-particles of all devices. Nothing is needed before the next call.
 */
int g5_close(void);

/**
 * GRAPE-7's: makes a device ready. Every other call does that, too.
 */
int g5_openMC(int devid);

/**
 * GRAPE-7's: ends the use of one device.
 *
 * Accepted without effect: g5_close gives back the memory of all devices.
 */
int g5_closeMC(int devid);

/**
 * Returns the number of i-particles that one run should bring at most: 96, those of a GRAPE-5
 * board, or `KIRIN_NPIPES` if that is more than 96 or less than 48. A run may bring any number.
 */
int g5_get_number_of_pipelines(void);

/**
 * GRAPE-7's: the same as `g5_get_number_of_pipelines`.
 */
int g5_get_number_of_pipelinesMC(int devid);

/**
 * The same as `g5_get_number_of_pipelines`: there is one board.
 */
int g5_get_number_of_pipelines_per_board(void);

/**
 * Returns 16, the pipelines of a GRAPE-5 board without their turns.
 */
int g5_get_number_of_real_pipelines(void);

/**
 * Returns 1. Devices beyond work like boards: see `g5_set_xmjMC`.
 */
int g5_get_number_of_boards(void);

/**
 * Returns 0, the number of the first board.
 */
int g5_get_firstcluster(void);

/**
 * Returns 33, the MHz of the bus that GRAPE-5 was on.
 */
int g5_get_pcibus_freq(void);

/**
 * Returns 1048576, a number of j-particles for which there is always room. (There is room for any
 * number, memory permitting; programs dimension arrays by this one, and send more in parts.)
 */
int g5_get_jmemsize(void);

/**
 * GRAPE-7's: the same as `g5_get_jmemsize`.
 */
int g5_get_jmemsizeMC(int devid);

/**
 * Sets the range of coordinates and the smallest mass, from which GRAPE-5 made its fixed-point
 * units.
 *
 * Accepted without effect: floating-point sums need no scale.
 */
int g5_set_range(double xmin, double xmax, double mmin);

/**
 * GRAPE-7's: `g5_set_range` for one device.
 *
 * Accepted without effect: floating-point sums need no scale.
 */
int g5_set_rangeMC(int devid, double xmin, double xmax, double mmin);

/**
 * GRAPE-7's: sets the length in units of which the table of a force with a cutoff is read. kirin
 * has no such table. If `eta` is not 0, a line on stderr says so once.
 *
 * Accepted without effect: there is no such table: the force is Newton's at any distance.
 */
int g5_set_eta(double eta);

/**
 * `g5_set_eta` for one device.
 *
 * Accepted without effect: there is no such table: the force is Newton's at any distance.
 */
int g5_set_etaMC(int devid, double eta);

/**
 * Sets the number of j-particles that act: those at the addresses `0..n`.
 */
int g5_set_n(int n);

/**
 * `g5_set_n` for one device. A device to which it was never told takes that of device 0.
 */
int g5_set_nMC(int devid, int n);

/**
 * Sets the softening length of the i-particles that `g5_set_xi`, `g5_calculate_force_on_x` and
 * their `MC` forms bring after this. It is 0 before.
 */
int g5_set_eps_to_all(double eps);

/**
 * sapporo2's: `g5_set_eps_to_all` with the square of the length.
 */
int g5_set_eps2_to_all(double eps2);

/**
 * GRAPE-7's: `g5_set_eps_to_all` for the i-particles of one device. The next `g5_set_eps_to_all`
 * or `g5_set_eps2_to_all` holds for all devices again.
 */
int g5_set_eps_to_allMC(int devid, double eps);

/**
 * GRAPE-7's: `g5_set_eps_to_allMC` with the square of the length.
 */
int g5_set_eps2_to_allMC(int devid, double eps2);

/**
 * Sets a softening length for each i-particle of the last `g5_set_xi`: `eps[ni]`, not squared. The
 * next `g5_set_xi` forgets these lengths.
 */
int g5_set_eps(int ni, const double *eps);

/**
 * `g5_set_eps` for one device.
 */
int g5_set_epsMC(int devid, int ni, const double *eps);

/**
 * GRAPE-7's: `g5_set_eps` with the squares of the lengths.
 */
int g5_set_eps2(int ni, const double *eps2);

/**
 * `g5_set_eps2` for one device.
 */
int g5_set_eps2MC(int devid, int ni, const double *eps2);

/**
 * Stores j-particles at the addresses `adr..adr+nj`: positions `xj` and masses `mj` from the
 * element `adr` of the arrays on, as Phantom-GRAPE and sapporo2 do.
 *
 * A Phantom-GRAPE that is built with `SYMMETRIC` has a further argument here, the squares of
 * softening lengths of the j-particles. With `KIRIN_GRAPE5=symmetric` this call is `g5_set_xmj0`,
 * and `g5_run`, `g5_calculate_force_on_x`, `g5_calculate_force_on_xe` and their `MC` forms act
 * with these j-particles. Without the setting the further argument is not read.
 */
int g5_set_xmj(int adr, int nj, double (*xj)[3], const double *mj);

/**
 * `g5_set_xmj` for one device, which has j-particles of its own from then on. Until then those of
 * device 0 act on its i-particles. Calls for different devices may come from different threads at
 * once.
 */
int g5_set_xmjMC(int devid, int adr, int nj, double (*xj)[3], const double *mj);

/**
 * From FDPS: `g5_set_xmj` with the square of a softening length for each j-particle, `epsj2`.
 * These j-particles are kept apart from the others. They act in the calls whose names end in 0,
 * which add the squares of the softening lengths of both particles.
 */
int g5_set_xmj0(int adr, int nj, double (*xj)[3], const double *mj, const double *epsj2);

/**
 * `g5_set_xmj0` for one device, as `g5_set_xmjMC`.
 */
int g5_set_xmjMC0(int devid,
                  int adr,
                  int nj,
                  double (*xj)[3],
                  const double *mj,
                  const double *epsj2);

/**
 * ASURA's, of its library with SSE: as `g5_set_xmj0`. `g5_run` acts with these j-particles, too,
 * without their softening lengths.
 */
int g5_set_xmeps2j(int adr, int nj, double (*xj)[3], const double *mj, const double *epsj2);

/**
 * sapporo2's: `g5_set_xmj` with the masses first.
 */
int g5_set_jp(int addr, int nj, const double *mj, double (*xj)[3]);

/**
 * GRAPE-7's: `g5_set_jp` for one device, as `g5_set_xmjMC`.
 */
int g5_set_jpMC(int devid, int addr, int nj, const double *mj, double (*xj)[3]);

/**
 * Stores positions only, from the element `adr` of `xj` on, as `g5_set_xmj` does. The masses at
 * these addresses stay as they are, 0 if there are none.
 */
int g5_set_xj(int adr, int nj, double (*xj)[3]);

/**
 * Stores masses only; the positions at these addresses stay as they are.
 */
int g5_set_mj(int adr, int nj, const double *mj);

/**
 * Loads i-particles at the positions `xi[ni]`, with the softening length of `g5_set_eps_to_all`.
 */
int g5_set_xi(int ni, double (*xi)[3]);

/**
 * `g5_set_xi` for one device.
 */
int g5_set_xiMC(int devid, int ni, double (*xi)[3]);

/**
 * Loads i-particles with the squares of softening lengths of their own, `eps2[ni]`.
 */
int g5_set_xei(int ni, double (*xi)[3], const double *eps2);

/**
 * `g5_set_xei` for one device.
 */
int g5_set_xeiMC(int devid, int ni, double (*xi)[3], const double *eps2);

/**
 * The library of GRAPE-6A: as `g5_set_xei`, with the lengths and not their squares, `eps[ni]`.
 */
int g5_set_xepsi(int ni, double (*xi)[3], const double *eps);

/**
 * GRAPE-5's: as `g5_set_xepsi`. `h[ni]`, the radii in which GRAPE-5 searched for neighbours, is
 * not read: kirin has no calls that return such lists.
 */
int g5_set_ip(int ni, double (*xi)[3], const double *eps, const double *h);

/**
 * FDPS': the same as `g5_set_xeiMC`.
 */
int g5_set_xiMC0(int devid, int ni, double (*xi)[3], const double *eps2);

/**
 * Computes the forces on the i-particles that were loaded last.
 */
int g5_run(void);

/**
 * `g5_run` for one device.
 */
int g5_runMC(int devid);

/**
 * FDPS': `g5_runMC` with the j-particles of `g5_set_xmjMC0`.
 */
int g5_runMC0(int devid);

/**
 * ASURA's: `g5_run` with the j-particles of `g5_set_xmeps2j` or `g5_set_xmj0`. The squares of the
 * softening lengths of both particles are added.
 */
int g5_run_symmetrized_softening(void);

/**
 * Writes accelerations `a[ni]` and potentials `p[ni]` that the last run computed: a = sum m_j (x_j
 * - x_i) / s^3, p = + sum m_j / s with s^2 = |x_j - x_i|^2 + eps^2.
 *
 * The potential is positive. The interface has no labels, so an i-particle that is also among the
 * j-particles acts on itself: this adds m / eps to its potential. Pairs with s = 0 add nothing.
 * NaN and infinite numbers are not refused. `KIRIN_CHECK=1` reports the first result that is not
 * finite.
 */
int g5_get_force(int ni, double (*a)[3], double *p);

/**
 * `g5_get_force` for one device.
 */
int g5_get_forceMC(int devid, int ni, double (*a)[3], double *p);

/**
 * Computes the forces on any number of i-particles at `x[ni]`. The results are those of
 * `g5_set_xi`, `g5_run` and `g5_get_force`, but the registers that these calls share stay as they
 * are.
 */
int g5_calculate_force_on_x(double (*x)[3], double (*a)[3], double *p, int ni);

/**
 * `g5_calculate_force_on_x` for one device.
 */
int g5_calculate_force_on_xMC(int devid, double (*x)[3], double (*a)[3], double *p, int ni);

/**
 * As `g5_calculate_force_on_x`, with the squares of softening lengths of the i-particles,
 * `eps2[ni]`.
 */
int g5_calculate_force_on_xe(double (*x)[3], const double *eps2, double (*a)[3], double *p, int ni);

/**
 * `g5_calculate_force_on_xe` for one device.
 */
int g5_calculate_force_on_xeMC(int devid,
                               double (*x)[3],
                               const double *eps2,
                               double (*a)[3],
                               double *p,
                               int ni);

/**
 * FDPS': as `g5_calculate_force_on_xe`, with the j-particles of `g5_set_xmj0`. Note the order of
 * the arguments.
 */
int g5_calculate_force_on_x0(double (*x)[3], double (*a)[3], double *p, int ni, const double *eps2);

/**
 * `g5_calculate_force_on_x0` for one device.
 */
int g5_calculate_force_on_xMC0(int devid,
                               double (*x)[3],
                               double (*a)[3],
                               double *p,
                               int ni,
                               const double *eps2);

/**
 * ASURA's: as `g5_calculate_force_on_xe`, with the j-particles of `g5_set_xmeps2j` or
 * `g5_set_xmj0`, and with lengths, not their squares, `eps[ni]`.
 */
int g5_calculate_force_on_xeps(double (*x)[3],
                               const double *eps,
                               double (*a)[3],
                               double *p,
                               int ni);
#endif /* KIRIN_FORTRAN_NAMES_ONLY */

/* The GRAPE-5 interface: Fortran spellings */

/**
 * `g5_open` with scalars by reference.
 */
int g5_open_(void);

/**
 * `g5_open_special` with scalars by reference.
 */
int g5_open_special_(const int *ndev, const int *list);

/**
 * `g5_close` with scalars by reference.
 */
int g5_close_(void);

/**
 * `g5_openMC` with scalars by reference.
 */
int g5_openMC_(const int *devid);

/**
 * `g5_closeMC` with scalars by reference.
 */
int g5_closeMC_(const int *devid);

/**
 * `g5_get_number_of_pipelines` with scalars by reference.
 */
int g5_get_number_of_pipelines_(void);

/**
 * `g5_get_number_of_pipelinesMC` with scalars by reference.
 */
int g5_get_number_of_pipelinesMC_(const int *devid);

/**
 * `g5_get_number_of_pipelines_per_board` with scalars by reference.
 */
int g5_get_number_of_pipelines_per_board_(void);

/**
 * `g5_get_number_of_real_pipelines` with scalars by reference.
 */
int g5_get_number_of_real_pipelines_(void);

/**
 * `g5_get_number_of_boards` with scalars by reference.
 */
int g5_get_number_of_boards_(void);

/**
 * `g5_get_firstcluster` with scalars by reference.
 */
int g5_get_firstcluster_(void);

/**
 * `g5_get_pcibus_freq` with scalars by reference.
 */
int g5_get_pcibus_freq_(void);

/**
 * `g5_get_jmemsize` with scalars by reference.
 */
int g5_get_jmemsize_(void);

/**
 * `g5_get_jmemsizeMC` with scalars by reference.
 */
int g5_get_jmemsizeMC_(const int *devid);

/**
 * `g5_set_range` with scalars by reference.
 */
int g5_set_range_(const double *xmin, const double *xmax, const double *mmin);

/**
 * `g5_set_rangeMC` with scalars by reference.
 */
int g5_set_rangeMC_(const int *devid, const double *xmin, const double *xmax, const double *mmin);

/**
 * `g5_set_eta` with scalars by reference.
 */
int g5_set_eta_(const double *eta);

/**
 * `g5_set_etaMC` with scalars by reference.
 */
int g5_set_etaMC_(const int *devid, const double *eta);

/**
 * `g5_set_n` with scalars by reference.
 */
int g5_set_n_(const int *n);

/**
 * `g5_set_nMC` with scalars by reference.
 */
int g5_set_nMC_(const int *devid, const int *n);

/**
 * `g5_set_eps_to_all` with scalars by reference.
 */
int g5_set_eps_to_all_(const double *eps);

/**
 * `g5_set_eps2_to_all` with scalars by reference.
 */
int g5_set_eps2_to_all_(const double *eps2);

/**
 * `g5_set_eps_to_allMC` with scalars by reference.
 */
int g5_set_eps_to_allMC_(const int *devid, const double *eps);

/**
 * `g5_set_eps2_to_allMC` with scalars by reference.
 */
int g5_set_eps2_to_allMC_(const int *devid, const double *eps2);

/**
 * `g5_set_eps` with scalars by reference.
 */
int g5_set_eps_(const int *ni, const double *eps);

/**
 * `g5_set_epsMC` with scalars by reference.
 */
int g5_set_epsMC_(const int *devid, const int *ni, const double *eps);

/**
 * `g5_set_eps2` with scalars by reference.
 */
int g5_set_eps2_(const int *ni, const double *eps2);

/**
 * `g5_set_eps2MC` with scalars by reference.
 */
int g5_set_eps2MC_(const int *devid, const int *ni, const double *eps2);

/**
 * `g5_set_xmj` with scalars by reference.
 */
int g5_set_xmj_(const int *adr, const int *nj, double (*xj)[3], const double *mj);

/**
 * `g5_set_xmjMC` with scalars by reference.
 */
int g5_set_xmjMC_(const int *devid,
                  const int *adr,
                  const int *nj,
                  double (*xj)[3],
                  const double *mj);

/**
 * `g5_set_xmj0` with scalars by reference.
 */
int g5_set_xmj0_(const int *adr,
                 const int *nj,
                 double (*xj)[3],
                 const double *mj,
                 const double *epsj2);

/**
 * `g5_set_xmjMC0` with scalars by reference.
 */
int g5_set_xmjMC0_(const int *devid,
                   const int *adr,
                   const int *nj,
                   double (*xj)[3],
                   const double *mj,
                   const double *epsj2);

/**
 * `g5_set_xmeps2j` with scalars by reference.
 */
int g5_set_xmeps2j_(const int *adr,
                    const int *nj,
                    double (*xj)[3],
                    const double *mj,
                    const double *epsj2);

/**
 * `g5_set_jp` with scalars by reference.
 */
int g5_set_jp_(const int *addr, const int *nj, const double *mj, double (*xj)[3]);

/**
 * `g5_set_jpMC` with scalars by reference.
 */
int g5_set_jpMC_(const int *devid,
                 const int *addr,
                 const int *nj,
                 const double *mj,
                 double (*xj)[3]);

/**
 * `g5_set_xj` with scalars by reference.
 */
int g5_set_xj_(const int *adr, const int *nj, double (*xj)[3]);

/**
 * `g5_set_mj` with scalars by reference.
 */
int g5_set_mj_(const int *adr, const int *nj, const double *mj);

/**
 * `g5_set_xi` with scalars by reference.
 */
int g5_set_xi_(const int *ni, double (*xi)[3]);

/**
 * `g5_set_xiMC` with scalars by reference.
 */
int g5_set_xiMC_(const int *devid, const int *ni, double (*xi)[3]);

/**
 * `g5_set_xei` with scalars by reference.
 */
int g5_set_xei_(const int *ni, double (*xi)[3], const double *eps2);

/**
 * `g5_set_xeiMC` with scalars by reference.
 */
int g5_set_xeiMC_(const int *devid, const int *ni, double (*xi)[3], const double *eps2);

/**
 * `g5_set_xepsi` with scalars by reference.
 */
int g5_set_xepsi_(const int *ni, double (*xi)[3], const double *eps);

/**
 * `g5_set_ip` with scalars by reference.
 */
int g5_set_ip_(const int *ni, double (*xi)[3], const double *eps, const double *h);

/**
 * `g5_set_xiMC0` with scalars by reference.
 */
int g5_set_xiMC0_(const int *devid, const int *ni, double (*xi)[3], const double *eps2);

/**
 * `g5_run` with scalars by reference.
 */
int g5_run_(void);

/**
 * `g5_runMC` with scalars by reference.
 */
int g5_runMC_(const int *devid);

/**
 * `g5_runMC0` with scalars by reference.
 */
int g5_runMC0_(const int *devid);

/**
 * `g5_run_symmetrized_softening` with scalars by reference.
 */
int g5_run_symmetrized_softening_(void);

/**
 * `g5_get_force` with scalars by reference.
 */
int g5_get_force_(const int *ni, double (*a)[3], double *p);

/**
 * `g5_get_forceMC` with scalars by reference.
 */
int g5_get_forceMC_(const int *devid, const int *ni, double (*a)[3], double *p);

/**
 * `g5_calculate_force_on_x` with scalars by reference.
 */
int g5_calculate_force_on_x_(double (*x)[3], double (*a)[3], double *p, const int *ni);

/**
 * `g5_calculate_force_on_xMC` with scalars by reference.
 */
int g5_calculate_force_on_xMC_(const int *devid,
                               double (*x)[3],
                               double (*a)[3],
                               double *p,
                               const int *ni);

/**
 * `g5_calculate_force_on_xe` with scalars by reference.
 */
int g5_calculate_force_on_xe_(double (*x)[3],
                              const double *eps2,
                              double (*a)[3],
                              double *p,
                              const int *ni);

/**
 * `g5_calculate_force_on_xeMC` with scalars by reference.
 */
int g5_calculate_force_on_xeMC_(const int *devid,
                                double (*x)[3],
                                const double *eps2,
                                double (*a)[3],
                                double *p,
                                const int *ni);

/**
 * `g5_calculate_force_on_x0` with scalars by reference.
 */
int g5_calculate_force_on_x0_(double (*x)[3],
                              double (*a)[3],
                              double *p,
                              const int *ni,
                              const double *eps2);

/**
 * `g5_calculate_force_on_xMC0` with scalars by reference.
 */
int g5_calculate_force_on_xMC0_(const int *devid,
                                double (*x)[3],
                                double (*a)[3],
                                double *p,
                                const int *ni,
                                const double *eps2);

/**
 * `g5_calculate_force_on_xeps` with scalars by reference.
 */
int g5_calculate_force_on_xeps_(double (*x)[3],
                                const double *eps,
                                double (*a)[3],
                                double *p,
                                const int *ni);

#ifdef __cplusplus
}
#endif

#endif /* KIRIN_GRAPE5_H */
