//! The C header, made by cbindgen.
//!
//! On a stable compiler cbindgen does not see functions that macros make. So the table is first written out as plain
//! Rust declarations, one file for each section of the header.

use kirin::symbols::{Argument, Call, Interface, Kind, Returns};

use super::{groups, text};

const GRAPE6: &str = "\
/* kirin.h: the host interface of the GRAPE-6 computer, as kirin exports it.
 *
 * Made from the library's table of calls by `cargo run -p ffi-tests --bin generate`:
 * change the table, not this file.
 *
 * Each call has up to two spellings: the C one takes scalars by value; the Fortran one
 * has a trailing underscore and takes scalars by reference. Every call returns an int, 0
 * for success and a negative number with one line on stderr for a refusal, unless its
 * text says otherwise. (The calls kirin_bulk_* and kirin_tree_* have one spelling, and a message
 * that can be asked for in place of the line.) `double (*x)[3]` is the type of an array `double x[n][3]`.
 *
{codes}
 *
 * A null pointer is tolerated for the cluster id (it stands for 0), for the old
 * accelerations, jerks and potentials (read only for a trace) and for h2 (no neighbour lists).
 * Input and output arrays may overlap in any way.
 *
 * Accuracy (docs/numbers.md): by default blocks with few j-particles of g6_set_j_particle
 * are computed in double precision and others in `mixed`, where an acceleration and a
 * potential err by less than 1e-6 of the sum of the magnitudes of their terms, a jerk by less
 * than 2e-6 of it (2.5e-6 where one mass outweighs the others by 10^6). That is not relative to what is left where terms cancel, as those of masses
 * of both signs do. Velocities v are rounded to single precision before they are subtracted:
 * the jerk of a pair whose relative velocity is tiny beside them errs by up to
 * 2^-23 |v| m / (r^2 + eps^2)^(3/2). `KIRIN_PRECISION=double` rounds nothing.
 *
 * Programs that define the C names themselves, or link the static library made with the
 * feature fortran-names-only, define KIRIN_FORTRAN_NAMES_ONLY before they include this.
 */
#ifndef KIRIN_H
#define KIRIN_H

/* The precisions of kirin_set_precision and kirin_precision_for. */
#define KIRIN_AUTO 0
#define KIRIN_MIXED 1
#define KIRIN_DOUBLE 2
#define KIRIN_SINGLE 3
#define KIRIN_ADAPTIVE 4
#define KIRIN_DOUBLE_SINGLE 5
#define KIRIN_REDUCED 6
{structures}
#ifdef __cplusplus
extern \"C\" {
#endif
";

/// The arrays of the bulk interface.
const STRUCTURES: &str = "
/* The arrays of the bulk interface (docs/bulk.md). A structure whose bytes are all zero has only absent arrays, and
 * an array with the steps 0 is packed. Other steps are numbers of bytes, also negative ones. */
#include <stdint.h>

/* A number of each particle: that of particle k lies k * step bytes after `at`; step 0 stands for 8. */
typedef struct { const double *at; int64_t step; } kirin_numbers;
typedef struct { double *at; int64_t step; } kirin_out_numbers;

/* Three numbers of each particle: coordinate c of particle k lies k * step + c * next bytes after `at`;
 * step 0 stands for 24, next 0 for 8. */
typedef struct { const double *at; int64_t step, next; } kirin_vectors;
typedef struct { double *at; int64_t step, next; } kirin_out_vectors;

/* The index of a source for each particle; step 0 stands for 8. */
typedef struct { const int64_t *at; int64_t step; } kirin_indices;
typedef struct { int64_t *at; int64_t step; } kirin_out_indices;

/* acc, jerk and snap: first, second and third derivative of the velocity, not divided by anything. */
typedef struct {
  kirin_numbers mass;
  kirin_vectors x, v, acc, jerk, snap;
  kirin_numbers time, eps2;
  const void *reserved[4];
} kirin_sources;

typedef struct {
  kirin_vectors x, v;
  kirin_numbers eps2, radius2;
  kirin_indices source;
  const void *reserved[4];
} kirin_targets;

typedef struct {
  kirin_out_vectors acc, jerk;
  kirin_out_numbers pot;
  kirin_out_indices nearest;
  kirin_out_numbers distance2;
  const void *reserved[4];
} kirin_results;
";

const GRAPE5: &str = "\
/* kirin_grape5.h: the host interface of the GRAPE-5 computer, as kirin exports it.
 *
 * Made from the library's table of calls by `cargo run -p ffi-tests --bin generate`:
 * change the table, not this file.
 *
 * Each call has two spellings: the C one takes scalars by value; the Fortran one has a trailing
 * underscore and takes scalars by reference. Where older libraries return nothing, 0 stands for
 * success and a negative number, with one line on stderr, for a refusal: the numbers of kirin.h.
 * `double (*x)[3]` is the type of an array `double x[n][3]`.
 *
 * Results are accelerations and positive potentials. By default, in the precision `mixed`, both
 * err by less than 1e-6 of the sum of the magnitudes of their terms, or 2.5e-6 where one mass
 * outweighs the others by 10^6 (docs/numbers.md). An array of results may be that of the
 * positions.
 *
 * kirin has no force with a cutoff and no quadrupoles. Programs for Phantom-GRAPE's library with a
 * table must not use kirin: they can be linked with it unless they call pg5_gen_s2_force_table or
 * g5_set_cutoff_table, since g5_open of that library makes the table, but they get Newton's force.
 * Programs that call g5c_* (quadrupoles) cannot be linked with it.
 *
 * Programs that define the C names themselves, or link the static library made with the
 * feature fortran-names-only, define KIRIN_FORTRAN_NAMES_ONLY before they include this.
 */
#ifndef KIRIN_GRAPE5_H
#define KIRIN_GRAPE5_H

#ifdef __cplusplus
extern \"C\" {
#endif
";

const SAPPORO: &str = "\
/* kirin_sapporo.h: names of sapporo that say nothing of it, as libkirin_sapporo exports them.
 *
 * Made from the library's table of calls by `cargo run -p ffi-tests --bin generate`:
 * change the table, not this file.
 *
 * Other programs have functions of these names, so they are not in libkirin, and no header of kirin's
 * includes this one: link with -lkirin_sapporo -lkirin.
 */
#ifndef KIRIN_SAPPORO_H
#define KIRIN_SAPPORO_H

#ifdef __cplusplus
extern \"C\" {
#endif
";

const NBODY6: &str = "\
/* kirin_nbody6.h: the library of NBODY6++ and NBODY6, as libkirin_nbody6 exports it.
 *
 * Made from the library's table of calls by `cargo run -p ffi-tests --bin generate`:
 * change the table, not this file.
 *
 * Other programs have functions of some of these names, so they are not in libkirin: link with
 * -lkirin_nbody6 -lkirin.
 *
 * There are Fortran names only, with a trailing underscore, and all arguments by reference: x[n][3]
 * is X(3,N). The arguments are those of NBODY6++ (nbodyx and beijing). Four settings of KIRIN_NBODY6 give
 * them another meaning. Unless the program imports gpunb_profile_ or irr_simd_open_ from the shared library,
 * 6 is also taken where it imports gpuirr_open_, and 6-2009 where it imports cnbint_ without that:
 *
 *   amuse  AMUSE's nbody6xx and NBODY6++ of 2012: gpunb_regf_ has no m_flag, and neighbours are nearer than h2
 *   6      NBODY6 and NBODY7: gpunb_open_ and gpunb_devinit_ have no irank, gpunb_regf_ no
 *          m_flag, and neighbours are nearer than m_j h2; gpupot_ has (n, m, x, pot)
 *   6-radius  older versions of NBODY6: the same, and neighbours are nearer than h2
 *   6-2009  the first versions of NBODY6 and NBODY6++ for GPUs: as 6-radius, and gpunb_regf_ has no dtr
 *
 * Every call returns an int, which the original libraries do not: 0 for success and a negative number with one
 * line on stderr for a refusal (the numbers of kirin.h). Refused forces and potentials are NaN, and each list of a refused
 * gpunb_regf_ has the first two stars at most. Nothing is written by a gpupot_ whose numbers contradict
 * each other, nor by a gpunb_regf_ with an nbmax that is not positive or an m_flag that is neither 0 nor 1.
 * No list has a greatest length, and no array is read or written beyond what the arguments say.
 *
 * Regular forces and potentials have the precision that KIRIN_PRECISION says, irregular forces
 * double precision. The former are computed on a GPU where KIRIN_BACKEND finds or allows one, on one
 * of several; the latter on the CPU.
 */
#ifndef KIRIN_NBODY6_H
#define KIRIN_NBODY6_H

#ifdef __cplusplus
extern \"C\" {
#endif
";

/// The text of a library's header.
pub fn header(interface: Interface) -> String {
    let (opening, guard) = match interface {
        Interface::Grape6 => (GRAPE6, "KIRIN_H"),
        Interface::Grape5 => (GRAPE5, "KIRIN_GRAPE5_H"),
        Interface::Sapporo => (SAPPORO, "KIRIN_SAPPORO_H"),
        Interface::Nbody6 => (NBODY6, "KIRIN_NBODY6_H"),
    };
    let mut out = opening
        .replace("{codes}", text::codes(" *", 92).trim_end())
        .replace("{structures}", STRUCTURES);
    for group in groups(interface) {
        let (always, others): (Vec<Call>, Vec<Call>) =
            group.calls.iter().partition(|call| is_always_there(call));
        let always = declarations(&always, Spelling::C);
        let c = declarations(&others, Spelling::C);
        let fortran = declarations(&group.calls, Spelling::Fortran);
        let title = group.title;
        if !c.is_empty() {
            out += &format!("\n#ifndef KIRIN_FORTRAN_NAMES_ONLY\n/* {title} */\n\n");
            out += &by_cbindgen(&c);
            out += "#endif /* KIRIN_FORTRAN_NAMES_ONLY */\n";
        }
        if !always.is_empty() {
            let which = match c.is_empty() {
                true => "",
                false => ": C spellings alone",
            };
            out += &format!("\n/* {title}{which} */\n\n{}", by_cbindgen(&always));
        }
        if !fortran.is_empty() {
            out += &format!("\n/* {title}: Fortran spellings */\n\n");
            out += &by_cbindgen(&fortran);
        }
    }
    out + &format!("\n#ifdef __cplusplus\n}}\n#endif\n\n#endif /* {guard} */\n")
}

/// Whether the C name is in every form of the library: it has no Fortran twin, or no other library has the call.
fn is_always_there(call: &Call) -> bool {
    call.fortran.is_none() || call.symbols().all(|name| name.starts_with("kirin_"))
}

#[derive(Clone, Copy, PartialEq)]
enum Spelling {
    C,
    Fortran,
}

/// The calls of one spelling as Rust functions.
fn declarations(calls: &[Call], spelling: Spelling) -> String {
    let mut out = String::new();
    for call in calls {
        let name = match spelling {
            Spelling::C => call.c,
            Spelling::Fortran => call.fortran,
        };
        let Some(name) = name else { continue };
        for line in text::paragraphs(&docs(call, spelling), 96) {
            out += format!("/// {line}").trim_end();
            out.push('\n');
        }
        let arguments: Vec<String> = call
            .arguments
            .iter()
            .map(|a| format!("{}: {}", a.name, rust_type(a, spelling)))
            .collect();
        let returned = match call.returns {
            Returns::Text => "*const c_char",
            _ => "c_int",
        };
        out += &format!(
            "#[unsafe(no_mangle)]\npub unsafe extern \"C\" fn {name}({}) -> {returned} {{ loop {{}} }}\n\n",
            arguments.join(", ")
        );
    }
    out
}

/// The documentation stands at the C spelling; the Fortran spelling refers to it.
fn docs(call: &Call, spelling: Spelling) -> String {
    match (spelling, call.c) {
        (Spelling::Fortran, Some(c)) => format!("`{c}` with scalars by reference."),
        _ => text::documentation(call),
    }
}

fn rust_type(argument: &Argument, spelling: Spelling) -> &'static str {
    let by_reference = spelling == Spelling::Fortran;
    match argument.kind {
        Kind::Id | Kind::Int if by_reference => "*const c_int",
        Kind::Double if by_reference => "*const f64",
        // Clients pass integers or doubles; it is not looked at.
        Kind::Unit if by_reference => "*const c_void",
        Kind::Id | Kind::Int | Kind::Unit => "c_int",
        Kind::Double => "f64",
        Kind::DoubleRef | Kind::Vector | Kind::Doubles => "*const f64",
        Kind::IntRef | Kind::Ints => "*const c_int",
        Kind::Vectors | Kind::OutVectors => "*mut [f64; 3]",
        Kind::OutInt | Kind::OutInts => "*mut c_int",
        Kind::OutVector | Kind::OutDouble | Kind::OutDoubles => "*mut f64",
        Kind::OutFloats => "*mut f32",
        Kind::Handle | Kind::Long => "i64",
        Kind::OutHandle | Kind::OutLongs => "*mut i64",
        Kind::OutText => "*mut c_char",
        Kind::Indices => "*const kirin_indices",
        Kind::Sources => "*const kirin_sources",
        Kind::Targets => "*const kirin_targets",
        Kind::Results => "*const kirin_results",
    }
}

/// What cbindgen makes of Rust declarations.
fn by_cbindgen(declarations: &str) -> String {
    let source = tempfile::Builder::new()
        .suffix(".rs")
        .tempfile()
        .expect("the temporary folder is writable");
    std::fs::write(source.path(), declarations).expect("a temporary file is writable");
    let mut config = cbindgen::Config {
        language: cbindgen::Language::C,
        no_includes: true,
        line_length: 100,
        documentation_style: cbindgen::DocumentationStyle::Doxy,
        ..Default::default()
    };
    config.function.sort_by = Some(cbindgen::SortKey::None);
    let mut out = Vec::new();
    cbindgen::Builder::new()
        .with_config(config)
        .with_src(source.path())
        .generate()
        .expect("the table is made of types that C has")
        .write(&mut out);
    let out = String::from_utf8(out).expect("the table is UTF-8");
    format!("{}\n", out.trim())
}
