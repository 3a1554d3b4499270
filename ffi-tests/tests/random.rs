//! Random sequences of calls, valid and not, from a C client's process. No call may crash, hang or exit, and only the
//! answers may appear on stdout. Every answer must be the oracle's.

use ffi_tests::direct::{Probe, Source};
use ffi_tests::script::{Call, Form, Request, Script, Spelling, odd};
use ffi_tests::trial::{Settings, under};
use kirin_testing::skipped;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;

/// Numbers on a coarse grid. Coincident particles, equal distances and distances of exactly the radius are then common,
/// and prediction is exact in any order of summation.
fn grid() -> impl Strategy<Value = f64> {
    (-4..=4i32).prop_map(|k| f64::from(k) / 2.0)
}

/// Mostly `usual`, now and then one of `others`.
fn mostly<T: Clone + std::fmt::Debug + 'static>(
    usual: impl Strategy<Value = T> + 'static,
    others: Vec<T>,
) -> impl Strategy<Value = T> {
    prop_oneof![19 => usual, 1 => select(others)]
}

fn coordinate() -> impl Strategy<Value = f64> {
    prop_oneof![
        99 => grid(),
        1 => select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY]),
    ]
}

fn vector() -> impl Strategy<Value = [f64; 3]> {
    [coordinate(), coordinate(), coordinate()]
}

fn derivative() -> impl Strategy<Value = [f64; 3]> {
    prop_oneof![3 => Just([0.0; 3]), 1 => vector()]
}

fn label() -> impl Strategy<Value = i32> {
    mostly(-1..8i32, vec![i32::MAX, i32::MIN, 16_777_217])
}

fn id() -> impl Strategy<Value = i32> {
    mostly(0..2i32, vec![-7, 64, i32::MAX, i32::MIN])
}

fn address() -> impl Strategy<Value = i32> {
    mostly(0..10i32, vec![-1, 511, 512, 70_000, i32::MAX, i32::MIN])
}

fn time() -> impl Strategy<Value = f64> {
    mostly(grid(), vec![f64::NAN, 1024.0])
}

fn source() -> impl Strategy<Value = Source> {
    let mass = mostly(
        grid().prop_map(f64::abs),
        vec![1e18, 1e-12, f64::NAN, f64::INFINITY],
    );
    (
        label(),
        grid(),
        mass,
        (
            derivative(),
            derivative(),
            derivative(),
            derivative(),
            vector(),
        ),
    )
        .prop_map(|(index, t, mass, (a2by18, a1by6, aby2, v, x))| Source {
            index,
            t,
            mass,
            a2by18,
            a1by6,
            aby2,
            v,
            x,
        })
}

fn probe() -> impl Strategy<Value = Probe> {
    let h2 = mostly(grid(), vec![f64::NAN, f64::INFINITY, 100.0]);
    (label(), vector(), vector(), h2).prop_map(|(index, x, v, h2)| Probe { index, x, v, h2 })
}

fn softening() -> impl Strategy<Value = f64> {
    mostly(
        select(vec![0.0, 0.0, 0.25, 1.0]),
        vec![f64::NAN, -1.0, f64::INFINITY],
    )
}

fn request() -> impl Strategy<Value = Request> {
    let nj = mostly(0..12i32, vec![-1, 513, i32::MAX, i32::MIN]);
    let ni =
        prop_oneof![8 => Just(None), 1 => (-2..9i32).prop_map(Some), 1 => Just(Some(i32::MIN))];
    let oddity = prop_oneof![
        8 => Just(0),
        1 => select(vec![odd::SAME, odd::SHIFTED, odd::MODE, odd::NO_H2 | odd::NO_OLD]),
        1 => 0..4096u32,
    ];
    let probes = proptest::collection::vec(probe(), 0..7);
    (id(), nj, ni, oddity, softening(), probes).prop_map(|(id, nj, ni, odd, eps2, probes)| {
        Request {
            id,
            nj,
            ni: ni.unwrap_or(probes.len() as i32),
            odd,
            eps2,
            probes,
        }
    })
}

fn spelling() -> impl Strategy<Value = Spelling> {
    select(Spelling::ALL.to_vec())
}

fn form() -> impl Strategy<Value = Form> {
    select(vec![
        Form::Plain,
        Form::Nearest,
        Form::Nearest,
        Form::Distance,
        Form::PlainLists,
        Form::NearestLists,
        Form::DistanceLists,
        Form::Mode,
    ])
}

fn call() -> impl Strategy<Value = Call> {
    let null = prop_oneof![19 => Just(0), 1 => 1..6u32];
    let fill = select(vec![-1, 0, 12345]);
    prop_oneof![
        3 => spelling().prop_map(Call::Spelling),
        1 => id().prop_map(Call::Open),
        1 => id().prop_map(Call::Close),
        1 => Just(Call::Npipes),
        3 => (id(), time()).prop_map(|(id, t)| Call::Time(id, t)),
        20 => (id(), address(), source(), null).prop_map(|(id, a, s, n)| Call::Particle(id, a, s, n)),
        1 => (id(), address(), label(), grid(), vector())
            .prop_map(|(id, a, i, m, x)| Call::Mass(id, a, i, m, x)),
        6 => request().prop_map(Call::First),
        8 => (form(), request(), fill).prop_map(|(f, r, n)| Call::Last(f, r, n)),
        1 => id().prop_map(Call::Read),
        4 => (id(), -1..8i32, -1..12i32, mostly(Just(0), vec![1, 2]))
            .prop_map(|(id, i, m, n)| Call::Get(id, i, m, n)),
        1 => (id(), -1..8i32).prop_map(|(id, n)| Call::Nip(id, n)),
        1 => (id(), address()).prop_map(|(id, n)| Call::Njp(id, n)),
        3 => (id(), -1..6i32, probe(), softening()).prop_map(|(id, a, p, e)| Call::Probe(id, a, p, e)),
        1 => (id(), any::<bool>()).prop_map(|(id, etc)| Call::Force(id, 8, etc)),
        1 => (id(), -1..12i32).prop_map(|(id, nj)| Call::Predicted(id, nj)),
        1 => id().prop_map(Call::Harmless),
    ]
}

fn settings() -> impl Strategy<Value = Settings> {
    (
        select(vec!["reference", "cpu", "cuda"]),
        select(vec!["double", "mixed"]),
        select(vec![2, 48, 49, 256]),
        select(vec![None, Some(0), Some(-1)]),
        any::<bool>(),
    )
        .prop_map(
            |(backend, precision, npipes, no_neighbour, snap)| Settings {
                backend,
                precision,
                npipes,
                no_neighbour,
                snap,
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig {
        // A case takes a few milliseconds; PROPTEST_CASES asks for more, and .ci/long does.
        cases: 2 * ProptestConfig::default().cases,
        // The file of regressions would be written into the source tree.
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_sequence_of_calls_is_answered_as_the_model_says(
        settings in settings(),
        calls in proptest::collection::vec(call(), 1..80),
    ) {
        under(&Script(calls), &settings);
    }
}

/// Rounds of one random script; a tenth of them need as much memory as all of them.
#[test]
fn no_sequence_of_calls_leaks() {
    if !std::path::Path::new("/proc/self/status").exists() {
        skipped("there is no /proc here to read memory from");
        return;
    }
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let calls = proptest::collection::vec(call(), 300);
    let round = calls
        .new_tree(&mut runner)
        .expect("nothing is filtered")
        .current();
    let ids = [0, 1, -7, 64, i32::MAX, i32::MIN];
    let mut script = Script::new();
    for number in 1..=200 {
        script.0.extend(round.iter().cloned());
        script.0.extend(ids.map(Call::Close));
        if number == 20 || number == 200 {
            script.call(Call::Memory);
        }
    }
    for backend in ["reference", "cpu"] {
        let settings = Settings {
            backend,
            ..Default::default()
        };
        let Some(answers) = under(&script, &settings) else {
            return;
        };
        let memory: Vec<f64> = script
            .0
            .iter()
            .filter(|call| !matches!(call, Call::Spelling(_)))
            .zip(&answers)
            .filter(|(call, _)| matches!(call, Call::Memory))
            .map(|(_, answer)| answer[0])
            .collect();
        let growth = memory[1] - memory[0];
        assert!(
            growth < 2048.0,
            "{backend}: {growth} kB more after 180 rounds"
        );
    }
}
