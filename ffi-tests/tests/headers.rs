//! The generated headers, Fortran modules and lists of calls are up to date, and the headers and modules compile. The
//! library exports every call that its clients make. The package contains the figures of the README.

use std::process::Command;

use ffi_tests::{compiler, generate, library};
use kirin::symbols::INTERFACES;

#[test]
fn generated_files_are_fresh() {
    for file in generate::all() {
        assert!(
            file.is_fresh(),
            "{} is stale: cargo run -p ffi-tests --bin generate",
            file.path.display()
        );
    }
}

#[test]
fn every_call_of_a_client_is_exported() {
    let clients = generate::clients();
    assert!(clients.len() > 10, "{} clients", clients.len());
    let missing = generate::missing(&clients);
    assert!(missing.is_empty(), "kirin lacks {}", missing.join(", "));
}

#[test]
fn every_client_of_the_matrix_has_a_chapter() {
    let page = std::fs::read_to_string(generate::repository().join("CLIENTS.md"))
        .expect("CLIENTS.md is a text");
    for client in generate::clients() {
        let link = format!("](#{})", client.chapter);
        assert!(page.contains(&link), "CLIENTS.md has no link {link}");
    }
}

/// Cargo leaves a folder with a `Cargo.toml` of its own out of the package.
#[test]
fn the_figures_of_the_readme_are_in_the_package() {
    let root = generate::repository();
    let readme = std::fs::read_to_string(root.join("README.md")).expect("README.md is a text");
    let figures = readme.lines().filter(|line| line.starts_with("!["));
    let paths: Vec<&str> = figures
        .map(|line| line.rsplit_once("](").expect("a link").1)
        .map(|path| path.trim_end_matches(')'))
        .collect();
    assert!(!paths.is_empty(), "README.md has no figure");
    for path in paths {
        assert!(root.join(path).is_file(), "{path} is not there");
        let mut folders = std::path::Path::new(path).ancestors().skip(1);
        let package =
            folders.find(|f| !f.as_os_str().is_empty() && root.join(f).join("Cargo.toml").exists());
        assert_eq!(package, None, "{path} is not in the package");
    }
}

/// Compiles one line of source in a strict mode.
fn compiles(compiler: &str, name: &str, text: &str, options: &[&str]) {
    if !compiler::available(compiler) {
        return;
    }
    let folder = library::workspace().join(format!("header-{name}"));
    std::fs::create_dir_all(&folder).expect("the target folder is writable");
    let source = folder.join(name);
    std::fs::write(&source, text).expect("the target folder is writable");
    let include = generate::repository().join("include");
    let output = Command::new(compiler)
        .args(options)
        .args(["-Wall", "-Wextra", "-Werror", "-c", "-I"])
        .arg(&include)
        .arg(&source)
        .current_dir(&folder)
        .output()
        .expect("the compiler was there a moment ago");
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name} {options:?}:\n{messages}");
}

const TWICE: &str = "#include <kirin.h>\n#include <kirin_grape5.h>\n#include <kirin_nbody6.h>\n\
    #include <kirin.h>\n#include <kirin_grape5.h>\n#include <kirin_nbody6.h>\n\
    int main(void) { return g6_npipes() + g5_get_jmemsize(); }\n";

#[test]
fn the_header_is_c99_and_later() {
    for standard in ["-std=c99", "-std=c11", "-std=gnu17"] {
        let options = [standard, "-pedantic", "-Wstrict-prototypes", "-Wconversion"];
        compiles("gcc", &format!("twice{standard}.c"), TWICE, &options);
    }
}

#[test]
fn the_header_is_cpp() {
    for standard in ["-std=c++98", "-std=c++17"] {
        let options = [standard, "-pedantic", "-Wold-style-cast"];
        compiles("g++", &format!("twice{standard}.cc"), TWICE, &options);
    }
}

#[test]
fn the_header_leaves_the_c_names_to_clients_that_define_them() {
    let text = "#define KIRIN_FORTRAN_NAMES_ONLY\n#include <kirin.h>\n\
                double g6_open(double x);\ndouble g6_open(double x) { int id = 0; return x + g6_open_(&id); }\n";
    compiles("gcc", "own.c", text, &["-std=c99", "-pedantic"]);
}

/// The library without the other C names has these, too.
#[test]
fn the_header_always_declares_c_names_without_a_fortran_twin() {
    let text = "#define KIRIN_FORTRAN_NAMES_ONLY\n#include <kirin.h>\n#include <kirin_sapporo.h>\n\
                int main(void) { int gpu = 0; return g6_open_special(1, &gpu) + g6_open_special2(1, &gpu, 1)\n\
                + g6_change_clock(0, 1) + GPU_g6_reinitialize(0) + get_device_count() + kirin_set_precision(0, 0); }\n";
    compiles("gcc", "twinless.c", text, &["-std=c99", "-pedantic"]);
}

#[test]
fn the_fortran_modules_are_standard() {
    for interface in INTERFACES {
        let text = generate::fortran_module(interface);
        let longest = text.lines().map(str::len).max().unwrap_or(0);
        assert!(longest <= 132, "a line has {longest} characters");
        for standard in ["-std=f2008", "-std=f2018"] {
            let file = format!("{}{standard}.f90", interface.name());
            compiles("gfortran", &file, &text, &[standard, "-pedantic"]);
        }
    }
}
