//! A program whose functions have the same names as some of kirin's keeps its own functions.

use std::path::{Path, PathBuf};

use ffi_tests::compiler::{available, clean_command, run, succeed, texts};
use ffi_tests::library;
use kirin::symbols::table;

/// A folder with files of C in it.
fn folder(name: &str, files: &[(&str, String)]) -> PathBuf {
    let folder = library::workspace().join(name);
    std::fs::create_dir_all(&folder).expect("the target folder is writable");
    for (file, text) in files {
        std::fs::write(folder.join(file), text).expect("the target folder is writable");
    }
    folder
}

/// Runs the compiler in a folder.
fn gcc(folder: &Path, arguments: &[&str]) {
    let mut gcc = clean_command("gcc", &[]);
    let output = run(gcc.current_dir(folder).arg("-w").args(arguments));
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        texts(&output).1
    );
}

/// Every name that says nothing of kirin.
fn forwarded() -> Vec<&'static str> {
    let groups = table().into_iter();
    let groups = groups.filter(|g| g.interface.library().is_some());
    groups
        .flat_map(|g| g.calls)
        .flat_map(|c| c.symbols())
        .collect()
}

/// A library that defines these names, each with an answer of its own, and a program that asks for all of them.
fn own(names: &[&str]) -> [(&'static str, String); 2] {
    let each = |make: &dyn Fn(usize, &str) -> String| -> String {
        names
            .iter()
            .enumerate()
            .map(|(k, name)| make(k, name))
            .collect()
    };
    let library = each(&|k, name| format!("double {name}(void) {{ return {k} + 0.5; }}\n"));
    let declared = each(&|_, name| format!("double {name}(void);\n"));
    let wrong = each(&|k, name| format!("    wrong += {name}() != {k} + 0.5;\n"));
    let program = format!(
        "#include <stdio.h>\n{declared}int main(void)\n{{\n    int wrong = 0;\n{wrong}    \
         printf(\"%d wrong\\n\", wrong);\n    return 0;\n}}\n"
    );
    [("library.c", library), ("program.c", program)]
}

#[test]
fn a_preloaded_kirin_takes_no_name_from_a_program() {
    if !available("gcc") {
        return;
    }
    let names = forwarded();
    assert!(names.contains(&"wtime_") && names.contains(&"get_device_count"));
    let folder = folder("own-names", &own(&names));
    gcc(
        &folder,
        &["-shared", "-fPIC", "-o", "libown.so", "library.c"],
    );
    gcc(
        &folder,
        &[
            "-o",
            "program",
            "program.c",
            "-L.",
            "-lown",
            "-Wl,-rpath,$ORIGIN",
        ],
    );
    let program = folder.join("program");
    let kirin = library::fresh().shared.display().to_string();
    assert_eq!(
        succeed(&program, &[], &[("LD_PRELOAD", &kirin)]),
        "0 wrong\n"
    );
}

/// The static library has no such name either.
#[test]
fn a_program_with_such_names_links_the_archive() {
    if !available("gcc") {
        return;
    }
    let program = "#include <stdio.h>\nint g6_npipes(void);\ndouble wtime_(void) { return 1.5; }\n\
        int get_device_count(void) { return 7; }\n\
        int main(void) { printf(\"%d %g %d\\n\", g6_npipes(), wtime_(), get_device_count()); return 0; }\n";
    let folder = folder("own-static", &[("program.c", program.to_owned())]);
    let archive = library::fresh().archive.display().to_string();
    let words = [
        "-o",
        "program",
        "program.c",
        &archive,
        "-lpthread",
        "-ldl",
        "-lrt",
        "-lm",
    ];
    gcc(&folder, &words);
    assert_eq!(succeed(&folder.join("program"), &[], &[]), "48 1.5 7\n");
}

/// Runs a program with `kirin run`.
fn kirin_run(folder: &Path, program: &str) -> String {
    let command = library::fresh()
        .command
        .as_ref()
        .expect("these tests are for this machine");
    let mut command = clean_command(command, &[]);
    command.env("XDG_CACHE_HOME", folder.join("cache"));
    let output = run(command.arg("run").arg(folder.join(program)));
    let (out, err) = texts(&output);
    assert!(output.status.success() && err.is_empty(), "{out}{err}");
    out
}

/// A client of GRAPE-6 whose own library has such names, and one of sapporo, whose library is the one to be replaced.
#[test]
fn kirin_run_takes_the_names_that_are_meant() {
    if !available("gcc") {
        return;
    }
    let grape = "int g6calc_firsthalf_(void) { return 0; }\nint g6_npipes_(void) { return 42; }\n";
    let own = "double wtime_(void) { return 1.5; }\nint get_device_count(void) { return 7; }\n";
    let sapporo = format!("{grape}int get_device_count(void) {{ return 42; }}\n");
    let client = "#include <stdio.h>\nint g6_npipes_(void), get_device_count(void), g6calc_firsthalf_();\n\
        #ifdef OWN\ndouble wtime_(void);\n#else\n#define wtime_() 0.0\n#endif\n\
        int main(void) { printf(\"%d %d %g\\n\", g6_npipes_(), get_device_count(), wtime_()); \
        return getchar() == 'x' && g6calc_firsthalf_(); }\n";
    let files = [
        ("grape.c", grape.to_owned()),
        ("own.c", own.to_owned()),
        ("sapporo.c", sapporo),
        ("client.c", client.to_owned()),
    ];
    let folder = folder("names-that-are-meant", &files);
    for (library, source) in [
        ("libg6.so", "grape.c"),
        ("libown.so", "own.c"),
        ("libsapporo.so", "sapporo.c"),
    ] {
        gcc(&folder, &["-shared", "-fPIC", "-o", library, source]);
    }
    let rpath = "-Wl,--disable-new-dtags,-rpath,$ORIGIN";
    gcc(
        &folder,
        &[
            "-DOWN", "-o", "own", "client.c", "-L.", "-lg6", "-lown", rpath,
        ],
    );
    gcc(
        &folder,
        &["-o", "sapporo", "client.c", "-L.", "-lsapporo", rpath],
    );
    assert_eq!(kirin_run(&folder, "own"), "48 7 1.5\n");
    assert_eq!(kirin_run(&folder, "sapporo"), "48 1 0\n");
}
