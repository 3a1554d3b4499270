/* The calls that have no effect. */
#include <stddef.h>

#include "kirin.h"
#include "kirin_sapporo.h"

/* Every call that is accepted without effect; the sum of what they return is 0. The units are
   integers in some clients and doubles in others. */
static int accepted(int id)
{
    int i = 45, scales[3] = {7, 8, 9};
    double d = 45.0, v[3] = {1.0, 2.0, 3.0};
    return g6_set_tunit(45) + g6_set_tunit_(&i) + g6_set_tunit_(&d) + g6_set_tunit_(NULL)
         + g6_set_xunit(45) + g6_set_xunit_(&i) + g6_set_xunit_(&d) + g6_set_xunit_(NULL)
         + GPU_g6_set_tunit(45) + GPU_g6_set_tunit_(&i) + GPU_g6_set_xunit(45)
         + GPU_g6_set_xunit_(&d)
         + g6_initialize_jp_buffer(id, 1000) + g6_initialize_jp_buffer_(&id, &i)
         + GPU_g6_initialize_jp_buffer(id, 1000) + GPU_g6_initialize_jp_buffer_(&id, &i)
         + g6_flush_jp_buffer(id) + g6_flush_jp_buffer_(&id) + GPU_g6_flush_jp_buffer(id)
         + GPU_g6_flush_jp_buffer_(&id) + g6_flush_jp_buffer_and_multisend(id, 1)
         + g6_flush_jp_buffer_and_multisend_(&id, &i) + GPU_g6_flush_jp_buffer_and_multisend(id, 1)
         + force_j_particle_send()
         + g6_reset(id) + g6_reset_(&id) + GPU_g6_reset(id) + GPU_g6_reset_(&id)
         + g6_reset_fofpga(id) + g6_reset_fofpga_(&id) + GPU_g6_reset_fofpga(id)
         + GPU_g6_reset_fofpga_(&id) + g6_reinitialize(id) + g6_reinitialize_(&id)
         + GPU_g6_reinitialize(id) + g6_print_chip_status(id) + g6_print_chip_status_(&id)
         + GPU_g6_print_chip_status(id) + g6_setup_njdata(id, 5) + g6_setup_njdata_(&id, &i)
         + g6_set_overflow_flag_test_mode(1, 1, 1) + g6_set_overflow_flag_test_mode_(&i, NULL, &d)
         + GPU_g6_set_overflow_flag_test_mode(1, 1, 1)
         + g6_set_i_particle_scales_from_real_value(id, 0, v, v, d, d, d)
         + g6_set_i_particle_scales_from_real_value_(&id, &i, v, v, &d, &d, &d)
         + g6_set_i_particle_scales_from_real_value_all(0, v, v, d, d, d)
         + g6_set_i_particle_scales_from_real_value_all_(&i, v, v, &d, &d, &d)
         + g6_set_ip_scales_(&id, &i, v, v, &d, &d, &d) + g6_adjust_ip_scales_(&id, &i, &i)
         + g6_copy_i_particle_scales_(&id, &i, scales, scales, scales)
         + g6_calc_i_particle_scales_from_real_value_(&id, scales, v, v, &d, &d, &d, scales, scales, scales)
         + (scales[0] != 7 || scales[1] != 8 || scales[2] != 9)
         + g6_preset_i_particle_scales_from_real_value(id, 0, v, v, &d, 0, 0)
         + g6_preset_i_particle_scales_from_real_value_(&id, &i, v, v, &d, &d, &d)
         + g6_test_flag_(&id, &i) + g6_test_flag_(NULL, NULL)
         + g6_set_simulator_use(1) + g6_set_simulator_use_(NULL)
         + g6_set_ijp_mode(id, 1) + g6_set_ijp_mode_(&id, &i)
         + g6_change_cbjpmode(id, 1) + g6_change_cbjpmode_(&id, &i)
         + g6_setcbjpmode_(&id, &i, &i, &i) + g6_setfoerrchkmode_(&id, &i) + g6_change_clock(id, 1)
         + g6_debugfunc(1) + g6_debugfunc_(&i) + g6_debugfunc_double(1.0)
         + g6_debugfunc_double_(&d);
}

/* Every call that is not supported says so, and writes nothing; the sum of what is wrong is 0. */
static int unsupported(void)
{
    int n = 1;
    double t = 0.5, m[1] = {1.0}, x[1][3] = {{1.0, 2.0, 3.0}};
    int told = (g6_dump(t, n, m, x, x) < 0) + (g6_dump_(&t, &n, m, x, x) < 0)
             + (get_j_part_data(0, 1) < 0);
    return told - 3 + (x[0][0] != 1.0) + (m[0] != 1.0);
}

/* There is room for the particles of any client. */
static int room(int id)
{
    return (g6_getnjmax(id) < 131072) + (g6_getnjmax_(&id) < 131072) + (g6_getnjmax_all() < 131072)
         + (g6_getnjmax_all_() < 131072);
}

/* No scale was changed, which NBODY4 takes for a hardware error: it passes a cluster, the original
   reads none. Whatever is passed stays as it is. */
static int unchanged(int id)
{
    int passed = id, told = (g6_changed_index(id) == -1) + (g6_changed_index_(&passed) == -1)
                          + (g6_changed_index_(NULL) == -1);
    return told - 3 + (passed != id);
}

/* A number that is set and asked for, and the devices: the CPU at least. */
static int numbers(void)
{
    int i = 17, wrong = g6_setmccount(5) + (g6_mccount_() != 5);
    return wrong + g6_setmccount_(&i) + (g6_mccount_() != 17) + (get_device_count() < 1);
}

static int without_effect(int id)
{
    return accepted(id) + unsupported() + room(id) + unchanged(id) + numbers();
}
