//! `kirin nbody6` links the program of a build tree once more, with kirin. The tests make a tree that resembles
//! NBODY6++'s: a makefile with its variables, and a program that makes one of its calls.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use ffi_tests::compiler::{available, clean_command, run, succeed, texts};
use ffi_tests::installation::{fine, installed, text, uninstall};
use ffi_tests::library;

const MAKEFILE: &str = "RESULT = nbody6++.avx
AVX_OBJECTS=reg.avx.o pot.avx.o irr.avx.o
SSE_OBJECTS=reg.sse.o pot.sse.o irr.sse.o
CUDA_OBJECTS = gpunb.velocity.o
HIP_OBJECTS = gpunb.velocity.o
LDFLAGS = -o $(RESULT)
EXTRAOBJ= @EXTRAOBJ@
OBJECTS = nbody6.o
TARGET: $(RESULT)
$(RESULT): $(OBJECTS) $(EXTRAOBJ)
\tgcc $(LDFLAGS) $(OBJECTS) $(EXTRAOBJ)
%.o: %.c
\tgcc -c $<
";

/// One potential of two masses at a distance of 2.
const PROGRAM: &str = "#include <stdio.h>
int gpupot_(const int *, const int *, const int *, const int *, const double *, const double (*)[3], double *);
int main(void)
{
    const int rank = 0, first = 1, n = 2;
    const double m[2] = { 3.0, 4.0 }, x[2][3] = { { 0.0 }, { 2.0 } };
    double pot[2];
    gpupot_(&rank, &first, &n, &n, m, x, pot);
    printf(\"%g %g\\n\", pot[0], pot[1]);
    return 0;
}
";

/// A tree, configured to have these objects.
fn tree(name: &str, objects: &str) -> PathBuf {
    let tree = library::workspace().join(name);
    fs::create_dir_all(tree.join("build")).expect("the target folder is writable");
    let makefile = MAKEFILE.replace("@EXTRAOBJ@", objects);
    fs::write(tree.join("build/Makefile"), makefile).expect("it is writable");
    fs::write(tree.join("build/nbody6.c"), PROGRAM).expect("it is writable");
    tree
}

/// An installed kirin, whose path make can name.
fn kirin(prefix: &str) -> PathBuf {
    let prefix = library::workspace().join(prefix);
    installed(&prefix);
    prefix.join("bin/kirin")
}

fn nbody6(command: &Path, tree: &Path) -> Output {
    run(clean_command(command, &[]).args(["nbody6", text(tree)]))
}

#[test]
fn a_tree_is_linked_once_more() {
    if !available("gcc") || !available("make") {
        return;
    }
    let kirin = kirin("nbody6-linked");
    for (name, objects, given) in [
        ("nbody6-avx", " ${AVX_OBJECTS}", ""),
        ("nbody6-sse", "$(SSE_OBJECTS)", "build"),
    ] {
        let tree = tree(name, objects);
        let output = nbody6(&kirin, &tree.join(given));
        fine(&output);
        let program = tree.join("build/nbody6++.avx.kirin");
        let out = texts(&output).0;
        assert!(
            out.contains(&format!("linked:    {}", program.display())),
            "{out}"
        );
        assert!(
            out.contains(&format!(
                "run:       ulimit -s unlimited; {} < input",
                program.display()
            )),
            "{out}"
        );
        assert_eq!(succeed(&program, &[], &[]), "2 1.5\n");
        // Its own program is never made.
        assert!(!tree.join("build/nbody6++.avx").exists());
    }
}

/// make would find the program up to date.
#[test]
fn a_program_with_another_kirin_is_linked_anew() {
    if !available("gcc") || !available("make") {
        return;
    }
    let [first, second] = ["nbody6-first", "nbody6-second"].map(kirin);
    let tree = tree("nbody6-anew", " ${AVX_OBJECTS}");
    for command in [&first, &second] {
        fine(&nbody6(command, &tree));
    }
    fine(&uninstall(&library::workspace().join("nbody6-first")));
    let program = tree.join("build/nbody6++.avx.kirin");
    assert_eq!(succeed(&program, &[], &[]), "2 1.5\n");
}

#[test]
fn other_trees_are_refused_with_what_to_do() {
    let kirin = kirin("nbody6-refused");
    let empty = library::workspace().join("nbody6-empty");
    fs::create_dir_all(&empty).expect("the target folder is writable");
    for (tree, why) in [
        (empty, "there is no configured NBODY6++"),
        (
            tree("nbody6-cuda", "$(CUDA_OBJECTS) ${IRRAVX_OBJECTS}"),
            "it is configured for its own GPU code",
        ),
        (
            tree("nbody6-hip", "$(HIP_OBJECTS) ${IRRAVX_OBJECTS}"),
            "it is configured for its own GPU code",
        ),
        (
            tree("nbody6-plain", ""),
            "it is configured without AVX and SSE",
        ),
    ] {
        let output = nbody6(&kirin, &tree);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let err = texts(&output).1;
        assert!(
            err.contains(why) && err.contains("--disable-gpu --enable-simd=avx"),
            "{err}"
        );
        assert!(!tree.join("build/nbody6++.avx.kirin").exists());
    }
}
