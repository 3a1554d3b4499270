//! The rate of collisions against the theory, with standard errors of 3 %.

#[path = "common/mergers.rs"]
#[allow(dead_code, reason = "`collisions.rs` needs more of it")]
mod mergers;

#[test]
fn stars_of_a_plummer_sphere_merge_at_the_rate_of_the_theory() {
    for radius in [1e-3, 1e-6] {
        let found = mergers::over_theory(radius, 30);
        assert!((found - 1.0).abs() < 0.09, "{radius:e}: {found}");
    }
}
