//! `kirin run`: programs linked against a stand-in library of recognisable wrong numbers get
//! kirin's, and nothing else of theirs changes.
#![cfg(target_os = "linux")]

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use kirin_kit::trial::skipped;

const OURS: &str = "0.25 -0.5 48\n";
const THEIRS: &str = "42 -42 48\n";

/// A place of its own for each test, with a cache folder in it.
fn folder(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("run-{test}"));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("a folder for the test");
    path
}

/// A command in `folder` without the settings and search paths of `cargo test`.
fn command(folder: &Path, program: &str) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("KIRIN_") {
            command.env_remove(name);
        }
    }
    command.env_remove("LD_LIBRARY_PATH").current_dir(folder);
    command.env("XDG_CACHE_HOME", folder.join("cache"));
    // Where no GPU is, `auto` says so on stderr.
    command.env("KIRIN_BACKEND", "cpu");
    command
}

fn kirin_run(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = command(folder, env!("CARGO_BIN_EXE_kirin"));
    command.arg("run").args(arguments);
    command
}

fn output(command: &mut Command) -> Output {
    command.output().expect("it starts")
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// What a command prints; it must succeed and say nothing on stderr.
fn printed(command: &mut Command) -> String {
    let output = output(command);
    let (out, err) = texts(&output);
    assert!(output.status.success(), "{command:?}: {err}");
    assert_eq!(err, "", "{command:?}");
    out
}

/// Compiles in `folder`; false, and a line that says so, where there is no compiler.
fn compile(folder: &Path, compiler: &str, arguments: &[&str]) -> bool {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run");
    let mut command = Command::new(compiler);
    command.current_dir(folder).args(["-Wall", "-Werror"]);
    for argument in arguments {
        let source = [".c", ".f90"].iter().any(|e| argument.ends_with(e));
        if source {
            command.arg(sources.join(argument));
        } else {
            command.arg(argument);
        }
    }
    match command.status() {
        Ok(status) => assert!(status.success(), "{compiler} {arguments:?}"),
        Err(e) => {
            skipped(format!("no {compiler} ({e})"));
            return false;
        }
    }
    true
}

/// A stand-in of file name `name`, and the C client linked with it. They find each other by
/// DT_RPATH, which goes before LD_LIBRARY_PATH.
fn pair(folder: &Path, name: &str, options: &[&str]) -> bool {
    let library = [&["-shared", "-fPIC", "-o", name, "standin.c"], options].concat();
    let rpath = "-Wl,--disable-new-dtags,-rpath,$ORIGIN";
    let at = format!("-l:{name}");
    let client = ["client.c", "-o", "client", "-L.", &at, rpath];
    compile(folder, "gcc", &library) && compile(folder, "gcc", &[&client, options].concat())
}

fn script(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("the script is written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("our file");
}

#[test]
fn c_and_fortran_programs_get_the_numbers_of_kirin() {
    let folder = folder("languages");
    if !pair(&folder, "libg6.so", &[]) {
        return;
    }
    assert_eq!(printed(&mut command(&folder, "./client")), THEIRS);
    assert_eq!(printed(&mut kirin_run(&folder, &["./client"])), OURS);
    assert_eq!(printed(&mut kirin_run(&folder, &["--", "./client"])), OURS);
    assert_eq!(printed(&mut command(&folder, "./client")), THEIRS);
    let fortran = [
        "client.f90",
        "-o",
        "fortran",
        "-L.",
        "-lg6",
        "-Wl,-rpath,$ORIGIN",
    ];
    if compile(&folder, "gfortran", &fortran) {
        assert_eq!(
            printed(&mut command(&folder, "./fortran")),
            "42.00 -42.00\n"
        );
        assert_eq!(
            printed(&mut kirin_run(&folder, &["./fortran"])),
            ".25 -.50\n"
        );
    }
}

#[test]
fn the_name_of_the_library_does_not_matter_nor_whether_it_is_there() {
    for name in [
        "libg6a.so.2",
        "libsapporo_light.so",
        "libsapporo2.so",
        "libmine.so",
    ] {
        let folder = folder(name);
        if !pair(&folder, name, &[]) {
            return;
        }
        assert_eq!(
            printed(&mut kirin_run(&folder, &["./client"])),
            OURS,
            "{name}"
        );
        std::fs::remove_file(folder.join(name)).expect("it was there");
        let without = output(&mut command(&folder, "./client"));
        assert_eq!(without.status.code(), Some(127), "{name} is not missed?");
        assert_eq!(
            printed(&mut kirin_run(&folder, &["./client"])),
            OURS,
            "no {name}"
        );
        // What was written the first time is used the second time; a damaged file is not.
        assert_eq!(
            printed(&mut kirin_run(&folder, &["./client"])),
            OURS,
            "no {name}"
        );
        for entry in folder
            .join("cache/kirin/stand-ins")
            .read_dir()
            .expect("a folder")
        {
            let path = entry.expect("an entry").path();
            std::fs::write(path, "damaged").expect("our own file");
        }
        assert_eq!(
            printed(&mut kirin_run(&folder, &["./client"])),
            OURS,
            "no {name}"
        );
    }
}

#[test]
fn a_library_named_by_its_path_can_be_absent() {
    let folder = folder("path");
    if !compile(
        &folder,
        "gcc",
        &["-shared", "-fPIC", "-o", "libx.so", "standin.c"],
    ) || !compile(&folder, "gcc", &["client.c", "-o", "client", "./libx.so"])
    {
        return;
    }
    assert_eq!(printed(&mut command(&folder, "./client")), THEIRS);
    assert_eq!(printed(&mut kirin_run(&folder, &["./client"])), OURS);
    std::fs::remove_file(folder.join("libx.so")).expect("it was there");
    assert_eq!(printed(&mut kirin_run(&folder, &["./client"])), OURS);
}

#[test]
fn the_other_library_is_not_even_loaded_unless_more_is_wanted_of_it() {
    let silent = folder("silent");
    if !pair(&silent, "libg6.so", &["-DTALKS"]) {
        return;
    }
    let theirs = printed(&mut command(&silent, "./client"));
    assert!(theirs.starts_with("the stand-in is loaded"), "{theirs}");
    assert_eq!(printed(&mut kirin_run(&silent, &["./client"])), OURS);

    let helper = folder("helper");
    assert!(pair(&helper, "libg6.so", &["-DTALKS", "-DHELPER"]));
    let found = printed(&mut kirin_run(&helper, &["./client"]));
    assert_eq!(found, format!("the stand-in is loaded\n{OURS}3\n"));
}

#[test]
fn libraries_that_are_missed_for_other_reasons_stay_missed() {
    let folder = folder("missing");
    if !pair(&folder, "libg6.so", &["-DHELPER"]) {
        return;
    }
    std::fs::write(folder.join("empty.c"), "int other(void) { return 0; }\n").expect("written");
    let empty = folder.join("empty.c");
    let empty = empty.to_str().expect("a plain path");
    let gcc = |arguments: &[&str]| {
        let status = Command::new("gcc")
            .current_dir(&folder)
            .args(arguments)
            .status();
        assert!(status.expect("gcc ran before").success());
    };
    gcc(&["-shared", "-fPIC", "-o", "libother.so", empty]);
    let rpath = "-Wl,-rpath,$ORIGIN";
    let options = [
        "-DHELPER",
        "-Wl,--no-as-needed",
        "-L.",
        "-lg6",
        "-lother",
        rpath,
    ];
    assert!(compile(
        &folder,
        "gcc",
        &[&["client.c", "-o", "client"][..], &options].concat()
    ));
    std::fs::remove_file(folder.join("libother.so")).expect("it was there");
    let output = output(&mut kirin_run(&folder, &["./client"]));
    assert_eq!(output.status.code(), Some(127));
    assert!(texts(&output).1.contains("libother.so"), "{output:?}");
}

#[test]
fn status_signals_and_streams_are_the_programs_own() {
    let folder = folder("status");
    if !pair(&folder, "libg6.so", &[]) {
        return;
    }
    let status = |words: &[&str]| output(&mut kirin_run(&folder, words)).status;
    assert_eq!(status(&["./client", "exit", "7"]).code(), Some(7));
    assert_eq!(status(&["./client", "raise", "15"]).signal(), Some(15));
    assert_eq!(status(&["./client", "raise", "9"]).signal(), Some(9));
    assert_eq!(status(&["/no/such/program"]).code(), Some(127));
    assert_eq!(status(&["/etc/passwd"]).code(), Some(126));

    let mut child = kirin_run(&folder, &["sh", "-c", "cat; exec sleep 60"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    std::io::Write::write_all(&mut stdin, b"through").expect("cat reads");
    drop(stdin);
    let mut text = [0; 7];
    let stdout = child.stdout.as_mut().expect("a pipe");
    std::io::Read::read_exact(stdout, &mut text).expect("cat writes");
    assert_eq!(&text, b"through");
    // The signal goes to the process that was started, and there is no other.
    child.kill().expect("it runs");
    assert_eq!(child.wait().expect("a child").signal(), Some(9));

    assert!(compile(&folder, "gcc", &["signals.c", "-o", "signals"]));
    // Both settings of SIGPIPE survive the runtime of Rust, which ignores it.
    for (trap, expected) in [("trap '' PIPE;", "1 0\n"), ("", "0 0\n")] {
        let line = format!(
            "{trap} exec {} run ./signals 2>/dev/null",
            env!("CARGO_BIN_EXE_kirin")
        );
        assert_eq!(
            printed(command(&folder, "sh").args(["-c", &line])),
            expected
        );
    }
}

#[test]
fn programs_out_of_reach_are_refused() {
    let folder = folder("reach");
    if !pair(&folder, "libg6.so", &[]) {
        return;
    }
    let refused = |words: &[&str], why: &str| {
        let output = output(&mut kirin_run(&folder, words));
        let (out, err) = texts(&output);
        assert_eq!(
            (output.status.code(), out.as_str()),
            (Some(125), ""),
            "{words:?}: {err}"
        );
        assert!(err.starts_with("kirin: ") && err.contains(why), "{err}");
    };
    assert!(compile(
        &folder,
        "gcc",
        &["client.c", "standin.c", "-o", "inside"]
    ));
    refused(&["./inside"], "linked into it");
    assert!(compile(
        &folder,
        "gcc",
        &["-static", "client.c", "standin.c", "-o", "static"]
    ));
    refused(&["./static"], "statically");
    assert!(compile(
        &folder,
        "gcc",
        &["-static-pie", "client.c", "standin.c", "-o", "pie"]
    ));
    refused(&["./pie"], "statically");

    let chmod = |mode| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(folder.join("client"), permissions).expect("our own file");
    };
    chmod(0o4755);
    assert_eq!(
        printed(&mut kirin_run(&folder, &["./client"])),
        OURS,
        "setuid to ourselves"
    );
    if std::os::unix::fs::chown(folder.join("client"), Some(1), Some(1)).is_err() {
        skipped("only root can make files of others: setuid and setgid not tried");
        return;
    }
    for mode in [0o4755, 0o2755] {
        chmod(mode);
        refused(&["./client"], "setuid");
    }
    chmod(0o755);
    assert_eq!(printed(&mut kirin_run(&folder, &["./client"])), OURS);
}

#[test]
fn a_program_without_the_interface_runs_and_is_told_of() {
    let folder = folder("without");
    let output = output(&mut kirin_run(&folder, &["sh", "-c", "echo out; exit 3"]));
    let (out, err) = texts(&output);
    assert_eq!((output.status.code(), out.as_str()), (Some(3), "out\n"));
    assert!(
        err.contains("neither this program nor its libraries"),
        "{err}"
    );
}

#[test]
fn scripts_and_launchers_pass_it_on() {
    let folder = folder("launchers");
    if !pair(&folder, "libg6.so", &[]) {
        return;
    }
    script(&folder, "script", "#!/bin/sh\nexec ./client \"$@\"\n");
    script(&folder, "plain", "exec ./client \"$@\"\n");
    for name in ["./script", "./plain"] {
        let output = output(&mut kirin_run(&folder, &[name, "exit", "5"]));
        let expected = (OURS.to_owned(), String::new());
        assert_eq!(
            (output.status.code(), texts(&output)),
            (Some(5), expected),
            "{name}"
        );
    }
    let nested = [env!("CARGO_BIN_EXE_kirin"), "run", "./client"];
    assert_eq!(printed(kirin_run(&folder, &[]).args(nested)), OURS);

    std::fs::remove_file(folder.join("libg6.so")).expect("it was there");
    // A launcher's program is among its arguments; a script's is not.
    assert_eq!(
        printed(&mut kirin_run(&folder, &["env", "A=1", "./client"])),
        OURS
    );
    assert_eq!(
        printed(kirin_run(&folder, &["nice", "client"]).env("PATH", path(&folder))),
        OURS
    );
    let named = ["--replace", "libg6.so", "./script"];
    assert_eq!(printed(&mut kirin_run(&folder, &named)), OURS);
}

/// The search path with `folder` in it.
fn path(folder: &Path) -> std::ffi::OsString {
    let mut path = std::env::var_os("PATH").unwrap_or_default();
    path.push(":");
    path.push(folder);
    path
}

#[test]
fn ranks_under_a_launcher() {
    let folder = folder("ranks");
    if Command::new("mpirun").arg("--version").output().is_err() {
        skipped("there is no mpirun on this machine");
        return;
    }
    if !pair(&folder, "libg6.so", &[]) {
        return;
    }
    std::fs::remove_file(folder.join("libg6.so")).expect("it was there");
    let kirin = env!("CARGO_BIN_EXE_kirin");
    let ways = [
        vec!["mpirun", "-n", "2", kirin, "run", "--", "./client"],
        vec![kirin, "run", "--", "mpirun", "-n", "2", "./client"],
    ];
    for way in ways {
        let mut command = command(&folder, way[0]);
        command.args(&way[1..]).stdin(Stdio::null());
        for name in [
            "OMPI_ALLOW_RUN_AS_ROOT",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
            "OMPI_MCA_rmaps_base_oversubscribe",
        ] {
            command.env(name, "1");
        }
        let output = output(&mut command);
        assert_eq!(texts(&output).0, OURS.repeat(2), "{way:?}: {output:?}");
    }
}

#[test]
fn options_become_settings() {
    let folder = folder("options");
    let options = [
        ("--backend", "reference", "KIRIN_BACKEND"),
        ("--devices", "0,1", "KIRIN_DEVICES"),
        ("--precision", "double", "KIRIN_PRECISION"),
        ("--pipelines", "256", "KIRIN_NPIPES"),
        ("--threads", "3", "KIRIN_THREADS"),
    ];
    for (option, value, variable) in options {
        let echo = format!("echo \"${variable}\"");
        let output = output(&mut kirin_run(&folder, &[option, value, "sh", "-c", &echo]));
        assert_eq!(texts(&output).0, format!("{value}\n"), "{option}");
    }
    let output_of = |words: &[&str]| output(&mut kirin_run(&folder, words));
    let stats = output_of(&["--stats", "sh", "-c", "echo $KIRIN_STATS"]);
    assert_eq!(texts(&stats).0, "1\n");
    let bad = output_of(&["--precision", "doubel", "true"]);
    assert_eq!(bad.status.code(), Some(125));
    assert!(texts(&bad).1.contains("mixed, double, single"), "{bad:?}");
}

#[test]
fn paths_that_a_list_cannot_hold_are_linked() {
    let folder = folder("a place: with all");
    if !pair(&folder, "libg6.so", &[]) {
        return;
    }
    // Installed: bin/kirin and lib/libkirin.so.0.
    for sub in ["bin", "lib", "home"] {
        std::fs::create_dir_all(folder.join(sub)).expect("a folder");
    }
    let command_file = folder.join("bin/kirin");
    std::fs::copy(env!("CARGO_BIN_EXE_kirin"), &command_file).expect("copied");
    let built = Path::new(env!("CARGO_BIN_EXE_kirin")).with_file_name("deps/libkirin.so");
    std::fs::copy(built, folder.join("lib/libkirin.so.0")).expect("copied");
    let mut run = command(&folder, command_file.to_str().expect("a plain path"));
    let cache = tmp("kirin-run-test");
    run.env("XDG_CACHE_HOME", &cache).args(["run", "./client"]);
    assert_eq!(printed(&mut run), OURS);
    std::fs::remove_dir_all(cache).expect("it was used");
}

/// A folder under a path without spaces.
fn tmp(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("{name}-{}", std::process::id()))
}

#[test]
fn nobody_else_can_put_libraries_into_its_folder() {
    let folder = folder("others");
    if !pair(&folder, "libg6.so", &[]) {
        return;
    }
    let open = folder.join("cache/kirin/stand-ins");
    std::fs::create_dir_all(&open).expect("a folder");
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o777)).expect("our own");
    let home = folder.join("home");
    let mut run = kirin_run(&folder, &["./client"]);
    assert_eq!(printed(run.env("HOME", &home)), OURS);
    assert_eq!(open.read_dir().expect("a folder").count(), 0, "it was used");
    assert!(home.join(".cache/kirin/stand-ins").is_dir());
}

#[test]
fn starting_takes_less_than_20_ms_longer() {
    let folder = folder("start");
    if !pair(&folder, "libg6.so", &[]) {
        return;
    }
    let time = |command: &mut Command| {
        let start = Instant::now();
        assert!(output(command).status.success());
        start.elapsed()
    };
    let mut least = [Duration::MAX; 2];
    for _ in 0..20 {
        let ways = [
            command(&folder, "./client"),
            kirin_run(&folder, &["./client"]),
        ];
        for (least, mut command) in least.iter_mut().zip(ways) {
            // Neither measures the work of kirin's threads.
            *least = time(command.env("KIRIN_THREADS", "1")).min(*least);
        }
    }
    println!("{least:?}");
    assert!(least[1] < least[0] + Duration::from_millis(20), "{least:?}");
}
