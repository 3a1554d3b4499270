//! The modules that ship with one mistake each: every mistake is caught by the interpreter of the fake driver, or
//! gives other digits.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ffi_tests::compiler::{Link, compile};
use ffi_tests::fake_cuda::{self, Run};
use ffi_tests::generate::repository;
use ffi_tests::library;
use ffi_tests::sets::{Set, cloud};

/// Particles and a device: together they take every way through the kernels.
struct Scene {
    input: PathBuf,
    settings: Vec<(&'static str, &'static str)>,
}

/// The scenes that launch a kernel, with what they give when nothing is wrong.
type Launches<'a> = BTreeMap<String, Vec<(&'a Scene, String)>>;

fn set(nj: usize, ni: usize) -> Set {
    let mut set = cloud(nj, 5, 1e-4);
    let more = cloud(ni, 6, 1e-4);
    set.probes.extend(more.probes.into_iter().skip(nj));
    set.probes.truncate(ni);
    for probe in &mut set.probes {
        probe.h2 = 0.3; // neighbours in every page
    }
    set
}

/// Two neighbours in different leaves of each of the last probes, whose distances single precision does not tell apart.
fn near_tie(mut set: Set) -> Set {
    for n in 0..8 {
        let at = set.probes[set.probes.len() - 1 - n].x;
        let near = [
            (5 + n * 11, 0, 1e-3 * (1.0 + 1e-9)),
            (660 - n * 53, 1, 1e-3),
        ];
        for (address, axis, distance) in near {
            let source = &mut set.sources[address];
            (source.v, source.aby2) = ([0.0; 3], [0.0; 3]);
            (source.a1by6, source.a2by18) = ([0.0; 3], [0.0; 3]);
            source.x = at;
            source.x[axis] += distance;
        }
    }
    set
}

/// All lengths so small that their squares are no normal numbers of single precision.
fn tiny(mut set: Set) -> Set {
    let scale = 2.0_f64.powi(-70);
    set.eps2 *= scale * scale;
    for source in &mut set.sources {
        for vector in [
            &mut source.x,
            &mut source.v,
            &mut source.aby2,
            &mut source.a1by6,
            &mut source.a2by18,
        ] {
            *vector = vector.map(|c| c * scale);
        }
    }
    for probe in &mut set.probes {
        probe.x = probe.x.map(|c| c * scale);
        probe.v = probe.v.map(|c| c * scale);
        probe.h2 *= scale * scale;
    }
    set
}

fn at_rest(mut set: Set) -> Set {
    for source in &mut set.sources {
        (source.v, source.aby2) = ([0.0; 3], [0.0; 3]);
        (source.a1by6, source.a2by18) = ([0.0; 3], [0.0; 3]);
    }
    for probe in &mut set.probes {
        probe.v = [0.0; 3];
    }
    set
}

fn scenes() -> Vec<Scene> {
    let mut scenes = Vec::new();
    let kinds: [(Set, &str, &str); 8] = [
        (near_tie(set(700, 20)), "4", "device"),
        (set(2600, 20), "4", "device"),
        (set(2600, 20), "1", "auto"),
        (set(1100, 700), "4", "device"),
        (set(1100, 1500), "4", "device"),
        (near_tie(set(1100, 1000)), "2", "device"),
        (set(2600, 1000), "1", "auto"),
        (tiny(set(700, 20)), "1", "auto"),
    ];
    for (number, (moving, multiprocessors, join)) in kinds.into_iter().enumerate() {
        for (name, set) in [("moving", moving.clone()), ("still", at_rest(moving))] {
            let input = library::workspace().join(format!("mutants-{number}-{name}"));
            std::fs::write(&input, set.to_text()).expect("the target folder is writable");
            let settings = vec![
                ("KIRIN_PRECISION", "mixed"),
                ("KIRIN_NPIPES", "16384"),
                ("KIRIN_THREADS", "1"),
                ("KIRIN_JOIN", join),
                ("FAKE_CUDA_MULTIPROCESSORS", multiprocessors),
            ];
            scenes.push(Scene { input, settings });
        }
    }
    scenes
}

fn run(scene: &Scene, modules: Option<&Path>) -> Option<Run> {
    let client = compile("forces.c", Link::Shared)?;
    let mut settings = scene.settings.clone();
    if let Some(folder) = modules {
        settings.push((
            "FAKE_CUDA_MODULES",
            folder.to_str().expect("a path in UTF-8"),
        ));
    }
    let arguments = [scene.input.as_os_str()];
    Some(fake_cuda::run(
        fake_cuda::driver()?,
        &client,
        &arguments,
        &settings,
    ))
}

/// What each scene gives, by the kernels that it launches.
fn launches(scenes: &[Scene]) -> Option<Launches<'_>> {
    let mut launches = Launches::new();
    for scene in scenes {
        let run = run(scene, None)?;
        assert!(run.success && run.err.is_empty(), "{run:?}");
        assert_eq!(run.log.complaints, [""; 0]);
        for kernel in run.log.kernels() {
            let those = launches.entry(kernel).or_default();
            those.push((scene, run.out.clone()));
        }
    }
    Some(launches)
}

/// A line of a module: the kernel that it belongs to, and the text that takes its place.
struct Mutant {
    kernel: String,
    line: usize,
    text: String,
}

/// The mutants of a module: `change` says what becomes of a line, which line of its kernel has that kind of
/// instruction, counted from 0, and what the lines behind it are.
fn mutants(module: &str, change: &dyn Fn(&str, usize, &[&str]) -> Option<String>) -> Vec<Mutant> {
    let lines: Vec<&str> = module.lines().collect();
    let (mut kernel, mut count, mut found) = (String::new(), 0, Vec::new());
    for (n, line) in lines.iter().enumerate() {
        if let Some((_, rest)) = line.split_once(".entry ") {
            kernel = rest.trim_end_matches('(').to_owned();
            count = 0;
        }
        if let Some(text) = change(line, count, &lines[n + 1..]) {
            count += 1;
            let kernel = kernel.clone();
            let line = n;
            found.push(Mutant { kernel, line, text });
        }
    }
    found
}

/// Makes each mutant of the modules and says which nobody noticed.
fn survivors(change: &dyn Fn(&str, usize, &[&str]) -> Option<String>, least: usize) -> Vec<String> {
    let scenes = scenes();
    let Some(launches) = launches(&scenes) else {
        return Vec::new();
    };
    let place = tempfile::tempdir_in(library::workspace()).expect("the target folder is writable");
    let (mut survivors, mut made) = (Vec::new(), 0);
    for name in ["mixed.ptx", "common.ptx"] {
        let path = repository().join("kernels/prebuilt").join(name);
        let module = std::fs::read_to_string(path).expect("the module is there");
        for Mutant { kernel, line, text } in mutants(&module, change) {
            made += 1;
            let mut lines: Vec<&str> = module.lines().collect();
            lines[line] = &text;
            std::fs::write(place.path().join(name), lines.join("\n")).expect("writable");
            let is_caught = launches[&kernel].iter().any(|(scene, expected)| {
                let run = run(scene, Some(place.path())).expect("g++ was here");
                !run.log.complaints.is_empty() || run.out != *expected
            });
            if !is_caught {
                survivors.push(format!("{kernel}, line {}: {}", line + 1, text.trim()));
            }
        }
        let _ = std::fs::remove_file(place.path().join(name));
    }
    println!("{} of {made} mutants caught", made - survivors.len());
    assert!(made >= least, "{made} mutants only");
    survivors
}

fn none_survives(change: &dyn Fn(&str, usize, &[&str]) -> Option<String>, least: usize) {
    let survivors = survivors(change, least);
    assert!(survivors.is_empty(), "{}", survivors.join("\n"));
}

#[test]
fn no_fence_can_be_left_out() {
    none_survives(
        &|line, _, _| line.contains("membar.gl").then(String::new),
        8,
    );
}

/// Two bytes behind the place where it belongs: the first three stores of each kernel.
#[test]
fn no_store_can_miss_its_place() {
    let change = |line: &str, count: usize, _: &[&str]| {
        if count >= 3 || !(line.contains("st.shared") || line.contains("st.global")) {
            return None;
        }
        let (before, rest) = line.split_once(']')?;
        let (place, by) = before.split_once('+').unwrap_or((before, "0"));
        let by: i64 = by.parse().ok()?;
        Some(format!("{place}+{}]{rest}", by + 2))
    };
    none_survives(&change, 40);
}

/// The predictor's first product and sum in one operation, in place of two that round.
#[test]
fn the_predictor_cannot_be_fused() {
    let change = |line: &str, _: usize, behind: &[&str]| {
        let next = behind.first()?;
        let factors = line
            .trim()
            .strip_prefix("mul.rn.f64")?
            .trim_end_matches(';');
        let (product, factors) = factors.trim().split_once(", ")?;
        let sum = next
            .trim()
            .strip_prefix("add.rn.f64")?
            .trim_end_matches(';');
        let (_, terms) = sum.trim().split_once(", ")?;
        let (other, last) = terms.split_once(", ")?;
        // The sum that follows takes what is here; fma(a, b, c) - c gives the product back unrounded.
        (last == product).then(|| {
            format!(
                "{{ .reg .f64 %mutant; fma.rn.f64 %mutant, {factors}, {other}; sub.rn.f64 {product}, %mutant, {other}; }}"
            )
        })
    };
    let in_advance = |line: &str, count: usize, behind: &[&str]| {
        (count < 4).then(|| change(line, count, behind)).flatten()
    };
    let survivors = survivors(&in_advance, 4);
    let of_predictor = survivors.iter().filter(|s| s.starts_with("advance"));
    let of_predictor: Vec<_> = of_predictor.collect();
    assert!(of_predictor.is_empty(), "{of_predictor:?}");
}

/// The square of a distance in single precision, small ones flushed.
#[test]
fn distances_of_lists_cannot_be_flushed() {
    let change = |line: &str, count: usize, _: &[&str]| {
        let factors = line
            .trim()
            .strip_prefix("mul.rn.f64")?
            .trim_end_matches(';');
        let words: Vec<&str> = factors.trim().split(", ").collect();
        let [square, x, y] = words[..] else {
            return None;
        };
        (x == y && count < 3).then(|| {
            format!(
                "{{ .reg .f32 %mutant; cvt.rn.ftz.f32.f64 %mutant, {x}; mul.rn.ftz.f32 %mutant, %mutant, %mutant; \
                 cvt.ftz.f64.f32 {square}, %mutant; }}"
            )
        })
    };
    let survivors = survivors(&change, 6);
    let of_lists = survivors
        .iter()
        .filter(|s| s.starts_with("count") || s.starts_with("fill"));
    let of_lists: Vec<_> = of_lists.collect();
    assert!(of_lists.is_empty(), "{of_lists:?}");
}
