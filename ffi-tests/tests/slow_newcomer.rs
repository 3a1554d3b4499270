//! The files and commands of `docs/building.md` in an empty folder: every build system, against an installation of
//! this build.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use ffi_tests::compiler::{available, clean_command, run, texts};
use ffi_tests::generate::repository;
use ffi_tests::installation::{fine, installed, text};
use ffi_tests::library;

/// What the first lesson prints first, in every language.
const LESSON: &str = "   0 -0.5";

/// The page.
fn page() -> String {
    std::fs::read_to_string(repository().join("docs/building.md")).expect("the page")
}

/// The block of a file: the first fenced one after the line that begins with the file's name.
fn block(name: &str) -> String {
    let page = page();
    let head = format!("\n`{name}`");
    let rest = page
        .split_once(&head)
        .unwrap_or_else(|| panic!("no {name} in the page"))
        .1;
    let fence = rest.split_once("\n```").expect("a block").1;
    let (_, body) = fence.split_once('\n').expect("a kind of block");
    body.split_once("\n```").expect("an end").0.to_owned() + "\n"
}

/// The lines of commands in the page that begin so, without what comes before.
fn commands(begin: &str) -> Vec<String> {
    let page = page();
    let lines = page.lines().filter(|l| l.starts_with(begin));
    let lines: Vec<String> = lines.map(str::to_owned).collect();
    assert!(!lines.is_empty(), "no `{begin}` in the page");
    lines
}

/// A home with kirin installed under `~/kirin`, made once.
fn home() -> &'static Path {
    static HOME: OnceLock<PathBuf> = OnceLock::new();
    HOME.get_or_init(|| {
        let home = library::workspace().join("newcomer");
        let _ = std::fs::remove_dir_all(&home);
        std::fs::create_dir_all(&home).expect("the target folder is writable");
        installed(&home.join("kirin"));
        home
    })
}

/// An empty folder with the lessons as `program.c` and `program.f90`.
fn project(name: &str) -> PathBuf {
    let folder = home().join(name);
    std::fs::create_dir_all(&folder).expect("the target folder is writable");
    for (lesson, file) in [
        ("c/01_two_bodies.c", "program.c"),
        ("fortran/01_two_bodies.f90", "program.f90"),
    ] {
        let from = repository().join("examples").join(lesson);
        std::fs::copy(from, folder.join(file)).expect("a lesson");
    }
    folder
}

/// Runs a line of the page in a folder, as a shell with the page's exports would.
fn shell(folder: &Path, line: &str) -> Output {
    let mut command = clean_command("sh", &[]);
    command.args(["-ec", line]).current_dir(folder);
    command.env("HOME", home());
    command.env("PKG_CONFIG_PATH", home().join("kirin/lib/pkgconfig"));
    command.env("CMAKE_PREFIX_PATH", home().join("kirin"));
    run(&mut command)
}

/// The line succeeds and prints the lesson's digits last.
fn runs(folder: &Path, line: &str) {
    let output = shell(folder, line);
    fine(&output);
    let out = texts(&output).0;
    assert!(out.contains(LESSON), "{line}: {out}");
}

#[test]
fn by_hand_in_c_and_fortran() {
    let folder = project("by-hand");
    if !available("pkg-config") {
        return;
    }
    for (begin, compiler) in [("cc program.c $(", "cc"), ("gfortran ~", "gfortran")] {
        if available(compiler) {
            for line in commands(begin) {
                runs(&folder, &format!("{line} && ./program"));
            }
        }
    }
}

#[test]
fn with_the_static_library() {
    let folder = project("static");
    if !available("cc") || !available("pkg-config") {
        return;
    }
    for begin in ["cc program.c -I", "cc -static"] {
        let [line] = &commands(begin)[..] else {
            panic!("one line is to begin with {begin}");
        };
        runs(&folder, &format!("{line} && ./program"));
        // It needs no shared library of ours.
        let needed = texts(&shell(&folder, "readelf -d program")).0;
        assert!(!needed.contains("libkirin"), "{line}: {needed}");
    }
}

#[test]
fn with_make() {
    let folder = project("make");
    if !available("make") || !available("cc") || !available("pkg-config") {
        return;
    }
    std::fs::write(folder.join("Makefile"), block("Makefile")).expect("our folder");
    runs(&folder, "make && ./program");
}

#[test]
fn with_cmake() {
    let folder = project("cmake");
    if !available("cmake") || !available("cc") || !available("gfortran") {
        return;
    }
    let text = block("CMakeLists.txt");
    std::fs::write(folder.join("CMakeLists.txt"), &text).expect("our folder");
    let [line] = &commands("cmake -S")[..] else {
        panic!("one line is to call cmake");
    };
    runs(&folder, line);
    runs(&folder, "build/program_fortran");
    // The other target, and a version.
    let text = text
        .replace("kirin::kirin)", "kirin::kirin_static)")
        .replace("find_package(kirin ", "find_package(kirin 0.1 ");
    std::fs::write(folder.join("CMakeLists.txt"), &text).expect("our folder");
    runs(
        &folder,
        &line
            .replace(" build", " static")
            .replace("build/", "static/"),
    );
    let needed = texts(&shell(&folder, "readelf -d static/program")).0;
    assert!(!needed.contains("libkirin"), "{needed}");
    // A project in Fortran alone.
    let fortran = text.replace(" C Fortran", " Fortran");
    let fortran: Vec<&str> = fortran
        .lines()
        .filter(|l| !l.contains("(program ") || l.starts_with("project"))
        .collect();
    std::fs::write(folder.join("CMakeLists.txt"), fortran.join("\n")).expect("our folder");
    runs(
        &folder,
        "cmake -S . -B fortran && cmake --build fortran && fortran/program_fortran",
    );
    // A version that is not there is refused.
    let text = text.replace("find_package(kirin 0.1 ", "find_package(kirin 99 ");
    std::fs::write(folder.join("CMakeLists.txt"), &text).expect("our folder");
    let refused = shell(&folder, "cmake -S . -B refused");
    assert!(!refused.status.success(), "{refused:?}");
}

#[test]
fn with_meson() {
    let folder = project("meson");
    if !available("meson") || !available("ninja") || !available("cc") || !available("pkg-config") {
        return;
    }
    std::fs::write(folder.join("meson.build"), block("meson.build")).expect("our folder");
    let [line] = &commands("meson setup")[..] else {
        panic!("one line is to call meson");
    };
    runs(&folder, line);
}

#[test]
fn with_python() {
    let folder = project("python");
    if !available("python3") {
        return;
    }
    std::fs::write(folder.join("program.py"), block("program.py")).expect("our folder");
    let output = shell(&folder, "python3 program.py");
    fine(&output);
    assert_eq!(texts(&output).0, "0 0.25 -0.5\n");
}

/// A project of its own, with its own target folder: the whole library is compiled.
#[test]
fn with_rust_in_another_project() {
    let folder = project("rust");
    std::fs::create_dir_all(folder.join("src")).expect("our folder");
    let path = format!("path = \"{}\"", text(&repository()));
    let manifest = block("Cargo.toml").replace("path = \"../kirin\"", &path);
    // This folder is below kirin's workspace, and no member of it.
    std::fs::write(folder.join("Cargo.toml"), manifest + "\n[workspace]\n").expect("our folder");
    std::fs::write(folder.join("src/main.rs"), block("src/main.rs")).expect("our folder");
    std::fs::copy(repository().join("Cargo.lock"), folder.join("Cargo.lock")).expect("our folder");
    let mut cargo = clean_command(std::env::var_os("CARGO").unwrap_or("cargo".into()), &[]);
    let output = run(cargo
        .args(["run", "--quiet", "--offline", "--target-dir", "target"])
        .current_dir(&folder));
    fine(&output);
    assert_eq!(texts(&output).0, "[0.250000, 0.000000, 0.000000]\n");
    if available("nm") {
        let output = run(Command::new("nm").arg(folder.join("target/debug/program")));
        fine(&output);
        let names = texts(&output).0;
        assert!(names.contains(" main\n"), "the program has symbols");
        let exported = names.lines().find(|line| line.ends_with(" g6_open_"));
        assert_eq!(exported, None, "a name that the program may define itself");
    }
}
