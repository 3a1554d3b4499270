//! Keeps launches short on devices with a display: their drivers end a kernel that runs for a few seconds.

/// Longest launch that is planned there, seconds. It is far below the drivers' limit of some seconds because plans are predictions.
pub const LONGEST: f64 = 0.3;

/// How many times as long a launch may take in the worst case.
const SLACK: f64 = 5.0;

/// What is compared with [`LONGEST`] for a launch that is planned to take `seconds`, and `worst_case` times as long in the worst case.
pub fn limited(seconds: f64, worst_case: f64) -> f64 {
    seconds * (worst_case / SLACK).max(1.0)
}

/// Halves `most` until its planned `seconds` are within [`LONGEST`]. Never less than `least`, below which a launch would
/// not become shorter.
pub fn most(most: usize, least: usize, mut seconds: impl FnMut(usize) -> f64) -> usize {
    let mut number = most;
    while number > least && seconds(number) > LONGEST {
        number = number.div_ceil(2).max(least);
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::plan::chip::Conditions;
    use crate::gpu::plan::{LEAST_COLUMNS, LaunchPlan};
    use crate::process::settings::Precision;

    /// A GTX 1050, an RTX 2060, a 3050 and a 4090 with as many j-particles as they have memory for.
    #[test]
    fn no_launch_of_a_card_with_a_display_is_long() {
        for (capability, multiprocessors, clock, pages) in [
            ((6, 1), 5, 1.4, 16_000),
            ((7, 5), 30, 1.7, 50_000),
            ((8, 6), 20, 1.8, 60_000),
            ((8, 9), 128, 2.5, 200_000),
        ] {
            for precision in [Precision::Mixed, Precision::Double, Precision::Single] {
                let conditions = Conditions {
                    multiprocessors,
                    capability,
                    precision,
                    split: true,
                };
                let seconds = |clocks: f64| clocks / (clock * 1e9);
                let plan = |ni| LaunchPlan::new(ni, pages, &conditions);
                let limit = |ni| {
                    let plan = plan(ni);
                    limited(seconds(plan.clocks), conditions.worst_case(plan.tile))
                };
                let ni = most(65536, LEAST_COLUMNS, limit);
                let planned = seconds(plan(ni).clocks);
                // The smallest block of all on the slowest of them takes 0.35 s.
                let allowed = if ni == LEAST_COLUMNS { 0.4 } else { LONGEST };
                assert!(planned <= allowed, "{conditions:?}: {ni}");
                let worst = planned * conditions.worst_case(plan(ni).tile);
                assert!(
                    ni == LEAST_COLUMNS || worst <= SLACK * LONGEST,
                    "{conditions:?}: {ni}"
                );
                assert!(
                    ni == 65536 || limit(2 * ni) > LONGEST,
                    "{conditions:?}: {ni}"
                );
                let planned = |ni| seconds(conditions.list_clocks(ni, pages));
                let ni = most(65536, 1, planned);
                assert!(planned(ni) <= LONGEST, "{conditions:?}: lists of {ni}");
                let planned = |pages| seconds(conditions.prediction_clocks(pages));
                let pages = most(pages, 1, planned);
                assert!(planned(pages) <= LONGEST, "{conditions:?}: {pages} pages");
            }
        }
    }
}
