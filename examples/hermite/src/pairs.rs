//! Close pairs that take most of the time: two stars whose steps are so short that most blocks consist of these
//! two.

use kirin_kit::Body;
use kirin_kit::few_body::kepler::Orbit;
use kirin_kit::snapshot::State;
use kirin_kit::vector::sub;

use crate::counts::Counts;
use crate::settings::Settings;

/// Fewer blocks than these between two looks mean nothing.
const FEWEST_BLOCKS: u64 = 1000;

/// Among so few stars two of them are most of the work without being close.
const FEWEST_STARS: usize = 16;

/// What was seen of close pairs so far.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    /// Blocks at the last look, and those of them with up to three stars.
    blocks: u64,
    small: u64,
    /// Pairs that were named.
    named: Vec<[i32; 2]>,
}

/// Blocks, and those of up to three stars.
fn blocks(counts: &Counts) -> (u64, u64) {
    (counts.block_steps, counts.block_sizes.iter().take(2).sum())
}

impl Pairs {
    /// Nothing was seen since the run had done `counts`.
    pub fn after(counts: &Counts) -> Self {
        let (blocks, small) = blocks(counts);
        Self {
            blocks,
            small,
            named: Vec::new(),
        }
    }

    /// Names the two of `bodies` that make most of the blocks since the last look, and what helps; each pair once.
    pub fn remark(
        &mut self,
        counts: &Counts,
        bodies: &[Body],
        states: &[State],
        settings: &Settings,
    ) -> Option<String> {
        let (blocks, small) = blocks(counts);
        let (new, new_small) = (blocks - self.blocks, small - self.small);
        (self.blocks, self.small) = (blocks, small);
        if new < FEWEST_BLOCKS || 4 * new_small <= 3 * new || bodies.len() < FEWEST_STARS {
            return None;
        }
        let [a, b] = shortest(states)?;
        let orbit = orbit(&bodies[a], &bodies[b])?;
        let mut labels = [bodies[a].index, bodies[b].index];
        labels.sort_unstable();
        if self.named.contains(&labels) {
            return None;
        }
        self.named.push(labels);
        let [first, second] = labels;
        let (axis, eccentricity) = (orbit.axis, orbit.eccentricity);
        let finer = 0.25 * settings.eta;
        let help = match settings.eps > 0.0 {
            true => "",
            false => "--regularize moves it as two bodies, ",
        };
        Some(format!(
            "stars {first} and {second} are a close pair (semi-major axis {axis:.2e}, eccentricity \
             {eccentricity:.2}), and {:.0} % of the blocks are of up to three stars: --eta {finer} follows it \
             more exactly, {help}--eps above {axis:.0e} softens it",
            100.0 * new_small as f64 / new as f64
        ))
    }
}

/// The two stars with the shortest steps, if all other steps are at least four times as long as both. Then at least
/// three quarters of the blocks are of these two alone.
fn shortest(states: &[State]) -> Option<[usize; 2]> {
    let mut order: Vec<usize> = (0..states.len()).collect();
    let by_step = |a: &usize, b: &usize| states[*a].dt.total_cmp(&states[*b].dt);
    if order.len() < 3 {
        return None;
    }
    let (first, third, _) = order.select_nth_unstable_by(2, by_step);
    let pair = [first[0], first[1]];
    let longest = states[pair[0]].dt.max(states[pair[1]].dt);
    (4.0 * longest <= states[*third].dt).then_some(pair)
}

/// The orbit of two stars around each other; `None` where they are not bound.
fn orbit(a: &Body, b: &Body) -> Option<Orbit> {
    let orbit = Orbit::of(&sub(&b.x, &a.x), &sub(&b.v, &a.v), a.mass + b.mass);
    orbit.is_bound().then_some(orbit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kirin_kit::models::plummer;

    /// Two stars on a circle of radius 1e-4 take nearly all blocks: they are named once, with both options.
    #[test]
    fn a_close_pair_is_named_once() {
        let mut bodies = plummer(20, 1);
        let mut states = vec![
            State {
                dt: 0.01,
                ..State::default()
            };
            20
        ];
        bodies[7].x = bodies[3].x;
        bodies[7].x[0] += 1e-4;
        bodies[7].v = bodies[3].v;
        bodies[7].v[1] += (0.1_f64 / 1e-4).sqrt();
        (states[3].dt, states[7].dt) = (1e-6, 2e-6);
        let mut counts = Counts::default();
        let mut pairs = Pairs::after(&counts);
        let mut look = |small: u64, large: u64| {
            (0..small).for_each(|_| counts.add(2, 20));
            (0..large).for_each(|_| counts.add(20, 20));
            pairs.remark(&counts, &bodies, &states, &Settings::default())
        };
        assert_eq!(look(900, 0), None);
        assert_eq!(look(1500, 500), None);
        let remark = look(1600, 400).unwrap();
        assert!(!remark.contains("--regularize"), "{remark}");
        for words in [
            "stars 3 and 7",
            "1.00e-4",
            "80 %",
            "--eta 0.0025",
            "--eps above 1e-4",
        ] {
            assert!(remark.contains(words), "{words}: {remark}");
        }
        assert_eq!(look(1600, 400), None);
        let unsoftened = Settings {
            eps: 0.0,
            ..Settings::default()
        };
        let mut pairs = Pairs::default();
        let remark = pairs
            .remark(&counts, &bodies, &states, &unsoftened)
            .unwrap();
        assert!(remark.contains("--regularize moves it"), "{remark}");
        // Those who only pass each other are no pair.
        assert!(orbit(&bodies[0], &bodies[1]).is_none_or(|orbit| orbit.axis > 0.1));
    }

    #[test]
    fn three_stars_of_one_step_are_no_pair() {
        let mut states = vec![
            State {
                dt: 0.01,
                ..State::default()
            };
            5
        ];
        assert_eq!(shortest(&states), None);
        (states[0].dt, states[4].dt) = (0.001, 0.002);
        assert_eq!(
            shortest(&states).map(|mut p| {
                p.sort_unstable();
                p
            }),
            Some([0, 4])
        );
        states[2].dt = 0.005;
        assert_eq!(shortest(&states), None);
        assert_eq!(shortest(&states[..2]), None);
    }
}
