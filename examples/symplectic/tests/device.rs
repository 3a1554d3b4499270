//! The galaxy's field on a GPU, here the driver that interprets PTX: each part has the bits that the processor finds, and a GPU
//! that fails loses nothing.

mod common;

use std::fmt::Write;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::PROGRAM;
use fake_cuda::Run;
use kirin_kit::Snapshot;
use kirin_testing::Folder;

/// Stars from the centre to beyond every model, also in the plane and on the axis; in the unit of 10 pc.
fn stars(folder: &Folder) -> String {
    let mut text = "kirin-snapshot 1\nn 72\ncolumns mass x y z vx vy vz\n".to_owned();
    for i in 0..72 {
        let r = 10.0_f64.powf(-2.5 + 7.5 * f64::from(i) / 71.0);
        let (sin, cos) = (2.4 * f64::from(i)).sin_cos();
        let z = [0.3, -0.002, 0.0, 40.0][i as usize % 4];
        let [x, y] = match i % 9 {
            8 => [0.0, 0.0],
            _ => [r * cos, r * sin],
        };
        let _ = writeln!(text, "0.01 {x:e} {y:e} {:e} 0 0.01 0", r * z);
    }
    let path = folder.file("stars");
    std::fs::write(&path, text + "end\n").expect("the folder is writable");
    path
}

/// A run with the fake driver; nothing where there is no compiler for it.
fn run(arguments: &[&str], settings: &[(&str, &str)]) -> Option<Run> {
    fake_cuda::run_program(Path::new(PROGRAM.path), arguments, settings)
}

/// Two steps of `stars` in a galaxy.
fn steps<'a>(stars: &'a str, output: &'a str, galaxy: &[&'a str]) -> Vec<&'a str> {
    let steps = [
        "--input", stars, "--output", output, "--dt", "1/64", "--t-end", "1/32",
    ];
    [
        &steps[..],
        &[
            "--eps",
            "0.1",
            "--energy-limit",
            "none",
            "--orbit",
            "rest",
            "--force",
        ],
        galaxy,
    ]
    .concat()
}

fn end(path: &str) -> Snapshot {
    Snapshot::load(path.as_ref()).expect("it was written")
}

const ON_CPU: (&str, &str) = ("KIRIN_BACKEND", "cpu");

/// The run made no error with the device, and left nothing on it.
fn went_well(run: &Run, what: &str) {
    assert!(run.success, "{what}: {} {:?}", run.err, run.log.complaints);
    assert_eq!(run.log.complaints, [""; 0], "{what}");
    assert_eq!(run.log.left(), [""; 0], "{what}");
}

/// The lines of a state that have the torque, and the energy that the stars gained by a change of the galaxy.
const ENDS: [&str; 2] = ["symplectic.balance", "symplectic.gain"];

/// Bodies, torque and gained energy at the end of two runs have the same bits.
fn end_alike(here: &str, there: &str, what: &str) {
    let [here, there] = [here, there].map(end);
    assert_eq!(here.bodies.len(), there.bodies.len(), "{what}");
    for (a, b) in here.bodies.iter().zip(&there.bodies) {
        let bits = |body: &kirin_kit::Body| [body.x, body.v].map(|v| v.map(f64::to_bits));
        assert_eq!(bits(a), bits(b), "{what}, star {}: {a:?} {b:?}", a.index);
        assert!(a == b, "{what}: {a:?} {b:?}");
    }
    for key in ENDS {
        assert_eq!(here.value(key), there.value(key), "{what}: {key}");
    }
}

/// The field in `galaxy` has the same bits on both, and the program says where it was computed.
fn alike(galaxy: &[&str], order: &str) {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder = Folder::new(&format!("field-{number}"));
    let (stars, [here, there]) = (
        stars(&folder),
        ["here", "there"].map(|name| folder.file(name)),
    );
    PROGRAM.succeed(&[&steps(&stars, &here, galaxy)[..], &["--device", "cpu"]].concat());
    let arguments = [&steps(&stars, &there, galaxy)[..], &["--device", "gpu"]].concat();
    let Some(run) = run(&arguments, &[ON_CPU, ("FAKE_CUDA_ORDER", order)]) else {
        return;
    };
    went_well(&run, &format!("{galaxy:?}"));
    assert_eq!(run.log.count("kernel:galaxy"), 2, "{galaxy:?}");
    assert!(run.out.contains("on cuda 0 (Fake 0)"), "{}", run.out);
    end_alike(&here, &there, &format!("{galaxy:?}"));
    let here = end(&here);
    for body in &here.bodies {
        assert!(body.v.iter().all(|c| c.is_finite()), "{galaxy:?}: {body:?}");
    }
    let [torque, gain] = ENDS;
    assert!(here.value(torque).is_some());
    let changing = ["--growth", "--bar", "plummer:1e9:1.2:20,0,5:0,150,0"];
    let changes = galaxy.iter().any(|word| changing.contains(word));
    let gained = here
        .value(gain)
        .map(|words| words.split(' ').next().unwrap().parse() != Ok(0.0));
    assert_eq!(
        gained,
        changes.then_some(true),
        "{galaxy:?}: {:?}",
        here.value(gain)
    );
}

#[test]
fn models_have_the_bits_of_the_processor() {
    alike(&["--galaxy", "allen-santillan"], "forward");
    alike(&["--galaxy", "irrgang"], "reverse");
    alike(&["--galaxy", "mwpotential2014"], "1");
    alike(&["--galaxy", "mcmillan2017"], "2");
}

#[test]
fn additions_have_the_bits_of_the_processor() {
    let bar = ["--bar", "1e10,4,1,0.5,-39,28"];
    let plummer = ["--satellite", "plummer:1e9:1.2:20,0,5:0,150,0"];
    let hernquist = ["--satellite", "hernquist:1e9:1.2:2,0,5:0,150,0:fixed"];
    let nfw = ["--satellite", "nfw:1e10:3:0.1,0,0.2:30,150,0"];
    alike(&["--black-hole", "10"], "forward");
    let [model, hole] = [["--galaxy", "irrgang"], ["--black-hole", "2"]];
    alike(
        &[&model[..], &hole, &["--black-hole-eps", "0.1"], &bar].concat(),
        "1",
    );
    alike(
        &[&model[..], &plummer, &hernquist, &nfw].concat(),
        "reverse",
    );
    // The energy that stars gain needs the potentials, too. Orbits of satellites take seconds in other models.
    for name in ["allen-santillan", "mwpotential2014", "mcmillan2017"] {
        let model = ["--galaxy", name];
        alike(
            &[&model[..], &bar, &["--growth", "0.5"], &hernquist].concat(),
            "forward",
        );
    }
}

/// Close encounters with the black hole take it out of the field.
#[test]
fn a_divided_black_hole_has_the_bits_of_the_processor() {
    let galaxy = [
        "--galaxy",
        "allen-santillan",
        "--black-hole",
        "3",
        "--changeover",
        "0,2",
    ];
    alike(&galaxy, "forward");
}

#[test]
fn the_field_is_computed_where_the_pairs_are() {
    let folder = Folder::new("auto");
    let (stars, output) = (stars(&folder), folder.file("end"));
    let arguments = steps(&stars, &output, &["--galaxy", "irrgang"]);
    for (settings, kernels) in [(&[][..], 2), (&[ON_CPU], 0)] {
        let Some(run) = run(&arguments, settings) else {
            return;
        };
        assert!(run.success, "{run:?}");
        assert_eq!(run.log.count("kernel:galaxy"), kernels, "{settings:?}");
        assert_eq!(
            run.out.contains("on cuda 0 (Fake 0)"),
            kernels > 0,
            "{}",
            run.out
        );
        assert_eq!(run.log.complaints, [""; 0], "{settings:?}");
    }
    // Of two GPUs the one that is asked for.
    let settings = [("FAKE_CUDA_DEVICES", "2"), ("KIRIN_DEVICES", "1")];
    let run = run(&arguments, &settings).expect("a driver");
    assert!(run.out.contains("on cuda 1 (Fake 1)"), "{}", run.out);
}

/// At any of its operations: the run goes on with the same bits.
#[test]
fn a_gpu_that_fails_loses_nothing() {
    let folder = Folder::new("lost");
    let (stars, [here, there]) = (
        stars(&folder),
        ["here", "there"].map(|name| folder.file(name)),
    );
    let galaxy = ["--galaxy", "irrgang"];
    PROGRAM.succeed(&[&steps(&stars, &here, &galaxy)[..], &["--device", "cpu"]].concat());
    let arguments = [&steps(&stars, &there, &galaxy)[..], &["--device", "gpu"]].concat();
    let failures = [
        "cuMemcpyHtoDAsync_v2#4:700:device",
        "cuLaunchKernel:2",
        "cuLaunchKernel#2:700:device",
        "cuStreamQuery#2:719:device",
    ];
    let failing = failures.map(|failure| ("FAKE_CUDA_FAIL", failure));
    for setting in failing.into_iter().chain([("FAKE_CUDA_HANG", "2")]) {
        let settings = [ON_CPU, setting, ("KIRIN_GPU_TIMEOUT", "1")];
        let Some(run) = run(&arguments, &settings) else {
            return;
        };
        assert!(run.success, "{setting:?}: {run:?}");
        let told = "the processor goes on with the galaxy, as the GPU failed: cu";
        assert!(run.err.contains(told), "{setting:?}: {}", run.err);
        assert!(!run.out.contains("on cuda"), "{}", run.out);
        assert!(end(&here).bodies == end(&there).bodies, "{setting:?}");
    }
}

#[test]
fn a_gpu_that_cannot_be_used_is_told() {
    let folder = Folder::new("none");
    let (stars, output) = (stars(&folder), folder.file("end"));
    let galaxy = ["--galaxy", "irrgang", "--device", "gpu"];
    let arguments = steps(&stars, &output, &galaxy);
    for (setting, why) in [
        (
            ("FAKE_CUDA_DEVICES", "0"),
            "no GPU is visible to this process",
        ),
        (
            ("FAKE_CUDA_CAPABILITY", "5.2"),
            "its compute capability 5.2 is below 6.0",
        ),
        (
            ("FAKE_CUDA_FAIL", "cuModuleLoadDataEx:218"),
            "cuModuleLoadDataEx: ",
        ),
        (("FAKE_CUDA_FAIL", "cuMemAlloc_v2#2:2"), "cuMemAlloc_v2: "),
        (
            ("KIRIN_DEVICES", "3"),
            "device 3 is asked for, but there are 1",
        ),
    ] {
        let Some(run) = run(&arguments, &[ON_CPU, setting]) else {
            return;
        };
        assert!(!run.success, "{setting:?}: {run:?}");
        let told = run.err.contains("symplectic: ") && run.err.contains("--device gpu: ");
        assert!(told && run.err.contains(why), "{setting:?}: {}", run.err);
    }
    let alone = PROGRAM.fail(&["--device", "gpu", "--n", "8"]);
    assert!(alone.contains("--device gpu needs a --galaxy"), "{alone}");
    let table = folder.file("table");
    std::fs::write(
        &table,
        "r_kpc mass_solar\n0.1 1e8\n1 1e9\n10 1e10\n100 1e11\n",
    )
    .expect("writable");
    let arguments = steps(&stars, &output, &["--potential", &table, "--device", "gpu"]);
    let run = run(&arguments, &[ON_CPU]).expect("a driver");
    assert!(
        run.err
            .contains("the potential of a file is computed on the processor"),
        "{}",
        run.err
    );
}

/// Some steps with forces by the program's own pairs. With 300 stars their sums have two parts.
fn own_pairs<'a>(output: &'a str, device: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let end: &[&str] = if more.contains(&"--t-end") {
        &[]
    } else {
        &["--t-end", "3/64"]
    };
    let run = [
        "--n",
        "300",
        "--model",
        "plummer",
        "--pairs",
        "program",
        "--eps",
        "0.1",
        "--dt",
        "1/64",
        "--energy-limit",
        "none",
        "--changeover",
        "none",
        "--force",
    ];
    [
        &run[..],
        end,
        &["--output", output, "--device", device],
        more,
    ]
    .concat()
}

#[test]
fn whole_steps_have_the_bits_of_the_processor() {
    let folder = Folder::new("steps");
    let [here, there] = ["here", "there"].map(|name| folder.file(name));
    let changing = [
        "--galaxy",
        "irrgang",
        "--black-hole",
        "2",
        "--black-hole-eps",
        "0.1",
        "--growth",
        "0.5",
        "--scheme",
        "forest-ruth",
        "--orbit",
        "circular",
        "--radius",
        "4",
    ];
    for (more, forces, order) in [
        (&["--galaxy", "allen-santillan"][..], 3, "forward"),
        (&changing, 9, "reverse"),
        (&["--mass-function", "kroupa"], 3, "1"),
    ] {
        PROGRAM.succeed(&own_pairs(&here, "cpu", more));
        let Some(run) = run(
            &own_pairs(&there, "gpu", more),
            &[ON_CPU, ("FAKE_CUDA_ORDER", order)],
        ) else {
            return;
        };
        went_well(&run, &format!("{more:?}"));
        // The first forces are those of the state that is sent.
        for kernel in ["pairs", "join", "total"] {
            assert_eq!(
                run.log.count(&format!("kernel:{kernel}")),
                1 + forces,
                "{more:?}"
            );
        }
        let told = "cuda 0 (Fake 0), double precision: symplectic's own pairs";
        assert!(run.out.contains(told), "{}", run.out);
        end_alike(&here, &there, &format!("{more:?}"));
    }
}

/// Who looks at the stars changes nothing; a run goes on elsewhere, and back.
#[test]
fn stars_come_back_when_they_are_wanted() {
    let folder = Folder::new("wanted");
    let [here, there, back] = ["here", "there", "back"].map(|name| folder.file(name));
    let galaxy = [
        "--galaxy",
        "allen-santillan",
        "--orbit",
        "circular",
        "--radius",
        "2",
    ];
    PROGRAM.succeed(&own_pairs(&here, "cpu", &galaxy));
    let looks = [&galaxy[..], &["--every", "1/64", "--t-end", "1/32"]].concat();
    let Some(run_there) = run(&own_pairs(&there, "gpu", &looks)[..], &[ON_CPU]) else {
        return;
    };
    assert!(run_there.success, "{run_there:?}");
    // It still sums over the pairs itself.
    let rest = ["--input", &there, "--t-end", "3/64"];
    let output = PROGRAM.succeed(&rest);
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        told.contains("cpu, double precision: symplectic's own pairs"),
        "{told}"
    );
    end_alike(&here, &there, "continued");
    let reverse = [
        "--input",
        &there,
        "--output",
        &back,
        "--reverse",
        "--t-end",
        "6/64",
        "--device",
        "gpu",
    ];
    let turned = run(&reverse, &[ON_CPU]).expect("a driver");
    assert!(turned.success, "{turned:?}");
    let on_cpu = folder.file("back-on-cpu");
    PROGRAM.succeed(&[
        "--input",
        &there,
        "--output",
        &on_cpu,
        "--reverse",
        "--t-end",
        "6/64",
    ]);
    end_alike(&back, &on_cpu, "reversed");
}

#[test]
fn a_gpu_that_fails_in_a_step_loses_nothing() {
    let folder = Folder::new("lost-steps");
    let [here, there] = ["here", "there"].map(|name| folder.file(name));
    let galaxy = ["--galaxy", "irrgang"];
    PROGRAM.succeed(&own_pairs(&here, "cpu", &galaxy));
    let failing = [
        "cuLaunchKernel#7:700:device",
        "cuLaunchKernel#12:719:device",
        "cuMemcpyDtoHAsync_v2#2:700:device",
    ];
    let failing = failing.map(|failure| ("FAKE_CUDA_FAIL", failure));
    for setting in failing.into_iter().chain([("FAKE_CUDA_HANG", "9")]) {
        let settings = [ON_CPU, setting, ("KIRIN_GPU_TIMEOUT", "1")];
        let Some(run) = run(&own_pairs(&there, "gpu", &galaxy), &settings) else {
            return;
        };
        assert!(run.success, "{setting:?}: {run:?}");
        let told = "the processor goes on with the steps, as the GPU failed: cu";
        assert!(run.err.contains(told), "{setting:?}: {}", run.err);
        end_alike(&here, &there, setting.1);
    }
}

/// A force that is no number is told with its star, and the state is that before the step.
#[test]
fn what_goes_wrong_there_is_told_as_here() {
    let folder = Folder::new("wrong-steps");
    let stars = folder.file("stars");
    let text = "kirin-snapshot 1\nn 3\ncolumns mass x y z vx vy vz\n0.5 0 0 0 0 0 0\n0.3 1 0 0 0 0.5 0\n0.2 0 3 0 1e160 0 0\nend\n";
    std::fs::write(&stars, text).expect("the folder is writable");
    let arguments = |device: &'static str, output: &str| {
        let words = [
            "--input",
            &stars,
            "--pairs",
            "program",
            "--eps",
            "0.1",
            "--dt",
            "1/64",
            "--t-end",
            "1/8",
            "--energy-limit",
            "none",
            "--changeover",
            "none",
            "--device",
            device,
            "--output",
            output,
        ];
        words.map(str::to_owned)
    };
    let [here, there] = ["here", "there"].map(|name| folder.file(name));
    let words = arguments("cpu", &here);
    let said = PROGRAM.fail(&words.each_ref().map(String::as_str));
    assert!(said.contains("is not a finite number"), "{said}");
    let words = arguments("gpu", &there);
    let Some(run) = run(&words.each_ref().map(String::as_str), &[ON_CPU]) else {
        return;
    };
    assert!(!run.success, "{run:?}");
    let line = |said: &str| {
        said.lines()
            .find(|l| l.contains("finite"))
            .unwrap_or_default()
            .replace("there", "here")
    };
    assert_eq!(line(&run.err), line(&said));
}

#[test]
fn steps_that_cannot_stay_there_are_refused() {
    let folder = Folder::new("no-steps");
    let output = folder.file("end");
    for (more, why) in [
        (
            &["--bits", "exact"][..],
            "fixed point (--bits exact) is for the processor",
        ),
        (
            &["--changeover", "0.1"],
            "close encounters, which are part of the drift",
        ),
        (
            &["--precision", "mixed"],
            "--pairs program is in double precision",
        ),
        (
            &["--library", "./libg6.so"],
            "--pairs program uses no --library",
        ),
    ] {
        let own = own_pairs(&output, "gpu", &[]);
        let none = own
            .iter()
            .position(|word| *word == "--changeover")
            .expect("it is there");
        let without = [&own[..none], &own[none + 2..], more].concat();
        let said = PROGRAM.fail(&without);
        assert!(said.contains(why), "{more:?}: {said}");
    }
}
