//! The programs in processes of their own: their output, and the input they refuse.

mod common;

use common::PROGRAM;
use kirin_testing::Folder;

/// Every program, with arguments that make sense before those of the problem.
const NBODY: [&[&str]; 9] = [
    &["basic"],
    &["reduced"],
    &["basic-threads", "3"],
    &["reduced-threads", "3"],
    &["reduced-threads", "--sums=critical", "3"],
    &["reduced-threads", "--sums=locks", "3"],
    &["basic-ranks", "--ranks=3"],
    &["reduced-ranks", "--ranks=3"],
    &["library"],
];

/// Every sort likewise.
const SORTS: [&[&str]; 3] = [
    &["sort", "3"],
    &["sort-threads", "3"],
    &["sort-ranks", "--ranks=3"],
];

fn out(arguments: &[&str]) -> String {
    String::from_utf8(PROGRAM.succeed(arguments).stdout).expect("UTF-8")
}

#[test]
fn one_particle_goes_straight() {
    let folder = Folder::new("alone");
    std::fs::write(folder.file("alone"), "1e24 1 2 3 4\n").expect("a temporary file");
    for program in NBODY {
        for scheme in [&["--input"][..], &["--leapfrog", "--input"]] {
            let text = out(&[
                program,
                &["1", "8", "0.5"],
                scheme,
                &[&folder.file("alone")],
            ]
            .concat());
            let words: Vec<f64> = text
                .split_whitespace()
                .map(|w| w.parse().expect("a number"))
                .collect();
            assert_eq!(words, [4.0, 0.0, 13.0, 18.0, 3.0, 4.0], "{program:?}");
        }
    }
}

#[test]
fn all_print_the_same_whatever_divides_what() {
    let problem = ["7", "10", "2000", "--every", "5"];
    let expected = out(&[&["basic"][..], &problem].concat());
    let times: Vec<&str> = expected.lines().filter(|l| !l.starts_with(' ')).collect();
    assert_eq!(times, ["0e0", "1e4", "2e4"]);
    assert_eq!(expected.lines().count(), 3 * 8);
    for program in NBODY {
        let found = out(&[program, &problem].concat());
        let numbers = |text: &str| -> Vec<f64> {
            let words = text.split_whitespace().map(str::parse);
            words.collect::<Result<_, _>>().expect("numbers")
        };
        let (found, expected) = (numbers(&found), numbers(&expected));
        assert_eq!(found.len(), expected.len());
        for (a, b) in found.iter().zip(expected) {
            // Mixed precision in the library; rounding in the others.
            let bound = if program == ["library"] { 1e-5 } else { 1e-9 };
            assert!((a - b).abs() <= bound * b.abs(), "{program:?}: {a} {b}");
        }
    }
    assert_eq!(out(&["basic", "7", "10", "2000", "--no-output"]), "");
}

#[test]
fn wrong_numbers_of_arguments_are_refused() {
    let problems = NBODY.map(|program| [program, &["4", "1", "1"]].concat());
    let lists = SORTS.map(|program| [program, &["4"]].concat());
    for complete in problems.into_iter().chain(lists) {
        for short in 1..complete.len() {
            let why = PROGRAM.fail(&complete[..short]);
            assert!(
                why.contains("required arguments were not provided"),
                "{why}"
            );
        }
        let why = PROGRAM.fail(&[&complete[..], &["1"]].concat());
        assert!(why.contains("unexpected argument '1'"), "{why}");
    }
    assert!(
        PROGRAM
            .fail(&["tables", "1"])
            .contains("unexpected argument '1'")
    );
    assert!(PROGRAM.fail(&[]).contains("Usage"));
    assert!(
        PROGRAM
            .fail(&["no-such"])
            .contains("unrecognized subcommand")
    );
}

#[test]
fn senseless_arguments_are_refused_with_a_reason() {
    for (arguments, why) in [
        (&["basic", "0", "1", "1"][..], "at least one"),
        (&["basic", "1e10", "1", "1"], "is above"),
        (&["sort", "2", "1e10"], "is above"),
        (&["sort", "0", "10"], "at least one"),
        (&["sort-threads", "1.5", "10"], "not a whole number"),
        (&["sort-threads", "2", "10", "--keys", "x"], "reversed"),
        (
            &["sort-ranks", "10", "--ranks", "3", "--input", "/no/such"],
            "/no/such: No such file",
        ),
        (
            &["library", "2", "1", "1", "--library", "/no/such.so"],
            "/no/such.so",
        ),
        (&["basic", "2.5", "1", "1"], "not a whole number"),
        (&["basic", "4", "1", "nan"], "not a finite number"),
        (&["basic", "4", "1", "1", "--every", "0"], "at least one"),
        (&["basic-threads", "0", "4", "1", "1"], "at least one"),
        (&["basic-threads", "2000", "4", "1", "1"], "above 1024"),
        (
            &["reduced-threads", "2", "4", "1", "1", "--schedule", "x"],
            "forces-cyclic",
        ),
        (
            &["reduced-threads", "2", "4", "1", "1", "--sums", "x"],
            "critical",
        ),
        (
            &["basic", "4", "1", "1", "--input", "/no/such"],
            "/no/such: No such file",
        ),
    ] {
        let told = PROGRAM.fail(arguments);
        assert!(told.contains(why), "{arguments:?}: {told}");
    }
}

#[test]
fn inputs_that_are_no_particles_are_refused_with_a_reason() {
    let folder = Folder::new("inputs");
    for (text, why) in [
        ("1 0 0 0 0\n", "1 particles, not 2"),
        ("1 0 0 0 0\n1 1 0 0\n", "line 2: not five numbers"),
        ("1 0 0 0 0\n\n1 1 0 0 x\n", "line 3: invalid float"),
        (
            "1 0 0 0 0\n0 1 0 0 0\n",
            "line 2: a mass that is not positive",
        ),
        ("1 0 0 0 0\n1 inf 0 0 0\n", "not finite"),
        (
            "1 3 4 0 0\n1 3 4 1 0\n",
            "particles 0 and 1 are at one place",
        ),
        (
            "1 0 4 0 0\n1 -0 4 1 0\n",
            "particles 0 and 1 are at one place",
        ),
    ] {
        let path = folder.file("particles");
        std::fs::write(&path, text).expect("a temporary file");
        let told = PROGRAM.fail(&["basic", "2", "1", "1", "--input", &path]);
        assert!(told.contains(why), "{text}: {told}");
    }
}

#[test]
fn sorts_print_their_keys_in_order() {
    let folder = Folder::new("keys");
    let path = folder.file("keys");
    std::fs::write(&path, "3 -1\n2147483647 -2147483648 3\n").expect("a temporary file");
    for program in SORTS {
        let text = out(&[program, &["5", "--input", &path]].concat());
        assert_eq!(text, "-2147483648\n-1\n3\n3\n2147483647\n", "{program:?}");
        let why = PROGRAM.fail(&[program, &["4", "--input", &path]].concat());
        assert!(why.contains("5 keys, not 4"), "{why}");
        assert_eq!(out(&[program, &["100", "--no-output"]].concat()), "");
    }
    std::fs::write(&path, "1 2147483648\n").expect("a temporary file");
    let why = PROGRAM.fail(&["sort", "2", "2", "--input", &path]);
    assert!(why.contains("`2147483648`: number too large"), "{why}");
}

/// The output is the result: without it the program has failed, also where it is written before the end, and by one
/// process of several.
#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_an_error() {
    for program in NBODY {
        let problem = ["7", "10", "2000", "--every", "5"];
        PROGRAM.assert_needs_stdout(&[program, &problem].concat(), 1);
    }
    for program in SORTS {
        PROGRAM.assert_needs_stdout(&[program, &["100"]].concat(), 1);
    }
}

/// Nobody reads what these programs would print later. (Processes that exchange messages go on: others wait for them.)
#[cfg(target_os = "linux")]
#[test]
fn a_run_ends_with_its_reader() {
    for program in NBODY
        .iter()
        .filter(|program| !program[0].ends_with("-ranks"))
    {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let problem = ["2", "1e15", "1000", "--every", "1"];
        let mut command = PROGRAM.command(&[program, &problem[..]].concat());
        command.stderr(std::process::Stdio::null());
        let mut run = command.stdout(writer).spawn().expect("it starts");
        let ended = (0..6000).find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            run.try_wait().expect("it is a child")
        });
        if ended.is_none() {
            run.kill().expect("it is a child");
        }
        assert!(ended.is_some_and(|status| status.success()), "{program:?}");
    }
}

/// A launcher starts programs several times that do not share their work: the first one says so, once for all.
#[test]
fn a_program_without_ranks_is_not_for_a_launcher() {
    let alone = NBODY
        .iter()
        .map(|program| [program, &["4", "1", "1"][..]].concat());
    let sorts = SORTS.iter().map(|program| [program, &["4"][..]].concat());
    let others = [
        vec!["tables"],
        vec!["basic-gpu", "4", "1", "1"],
        vec!["sort-gpu", "4"],
        vec!["--report", "chapter", "--minutes", "0"],
    ];
    for arguments in alone.chain(sorts).chain(others) {
        let is_on_ranks = arguments[0].ends_with("-ranks");
        for rank in ["0", "1"] {
            let mut command = PROGRAM.command(&arguments);
            command.envs([
                ("OMPI_COMM_WORLD_RANK", rank),
                ("OMPI_COMM_WORLD_SIZE", "2"),
            ]);
            let output = command.output().expect("it starts");
            let told = String::from_utf8(output.stderr).expect("UTF-8");
            assert!(
                !output.status.success() && output.stdout.is_empty(),
                "{arguments:?}"
            );
            let why = match is_on_ranks {
                true => "built without MPI",
                false => "a launcher started several processes",
            };
            assert_eq!(told.contains(why), rank == "0", "{arguments:?}: {told}");
            assert_eq!(told.is_empty(), rank == "1", "{arguments:?}: {told}");
        }
    }
}

/// A program is what one reads in one go: solvers, sorts and the kernels of each.
#[test]
fn every_program_is_at_most_150_lines() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut programs = 0;
    for folder in ["src/nbody", "src/sort", "kernels"] {
        for entry in std::fs::read_dir(root.join(folder)).expect("a folder of the member") {
            let path = entry.expect("an entry").path();
            if path.is_file() {
                let text = std::fs::read_to_string(&path).expect("a source");
                let lines = text.lines().count();
                assert!(lines <= 150, "{}: {lines} lines", path.display());
                programs += 1;
            }
        }
    }
    assert!(programs >= 20, "{programs} files");
}
