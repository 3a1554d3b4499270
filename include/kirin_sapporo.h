/* kirin_sapporo.h: names of sapporo that say nothing of it, as libkirin_sapporo exports them.
 *
 * Made from the library's table of calls by `cargo run -p ffi-tests --bin generate`:
 * change the table, not this file.
 *
 * Other programs have functions of these names, so they are not in libkirin, and no header of kirin's
 * includes this one: link with -lkirin_sapporo -lkirin.
 */
#ifndef KIRIN_SAPPORO_H
#define KIRIN_SAPPORO_H

#ifdef __cplusplus
extern "C" {
#endif

/* Names of sapporo that other programs may have, too */

/**
 * Reads a j-particle back, in sapporo and ph4. Nothing is written.
 *
 * Not supported: clients disagree on its arguments; use g6_get_predicted_j_particles.
 */
int get_j_part_data(int address, int nj);

/**
 * Returns the number of GPUs that `g6_open_special` can name, and 1 where there is none or the CPU
 * was asked for, as in sapporo.
 */
int get_device_count(void);

/**
 * Sends the waiting j-particles at once, in old versions of sapporo.
 *
 * Accepted without effect: every write takes effect at the next block by itself.
 */
int force_j_particle_send(void);

#ifdef __cplusplus
}
#endif

#endif /* KIRIN_SAPPORO_H */
