//! The Fortran module with an explicit interface for every call.

use kirin::symbols::{Argument, Call, Interface, Kind, Returns};

use super::{groups, text};

const GRAPE6: &str = "\
! kirin.f90: the host interface of the GRAPE-6 computer, as kirin exports it.
!
! Made from the library's table of calls by `cargo run -p ffi-tests --bin generate`:
! change the table, not this file.
!
! Programs without this module call the same procedures through implicit interfaces, as
! they always did, as subroutines or as integer functions. A call whose answer no program
! needs is a subroutine here, every other one an integer function: 0 for success and a
! negative number with one line on stderr for a refusal, unless its text says otherwise.
! What g6calc_firsthalf is refused, the next g6calc_lasthalf of the cluster returns.
!
{codes}
module kirin
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_float, c_int, c_int64_t, c_null_ptr, c_ptr
  implicit none
  private :: c_char, c_double, c_float, c_int, c_int64_t, c_null_ptr, c_ptr
  public

  ! The precisions of kirin_set_precision and kirin_precision_for.
  integer(c_int), parameter :: KIRIN_AUTO = 0, KIRIN_MIXED = 1, KIRIN_DOUBLE = 2, &
      KIRIN_SINGLE = 3, KIRIN_ADAPTIVE = 4, KIRIN_DOUBLE_SINGLE = 5, KIRIN_REDUCED = 6

  ! The arrays of the bulk interface (docs/bulk.md): at = c_loc(x). An array that is not mentioned is
  ! absent, and one with the steps 0 is packed: x(3, n) for vectors. Other steps are numbers of bytes, also
  ! negative ones: step from one particle to the next, next from one coordinate to the next.
  ! x(n, 3) is kirin_vectors(c_loc(x), 8, 8 * n). Indices of sources begin at 0.
  type, bind(C) :: kirin_numbers
    type(c_ptr) :: at = c_null_ptr
    integer(c_int64_t) :: step = 0
  end type kirin_numbers

  type, bind(C) :: kirin_vectors
    type(c_ptr) :: at = c_null_ptr
    integer(c_int64_t) :: step = 0, next = 0
  end type kirin_vectors

  ! integer(c_int64_t)
  type, bind(C) :: kirin_indices
    type(c_ptr) :: at = c_null_ptr
    integer(c_int64_t) :: step = 0
  end type kirin_indices

  type, bind(C) :: kirin_sources
    type(kirin_numbers) :: mass
    type(kirin_vectors) :: x, v, acc, jerk, snap
    type(kirin_numbers) :: time, eps2
    type(c_ptr) :: reserved(4) = c_null_ptr
  end type kirin_sources

  type, bind(C) :: kirin_targets
    type(kirin_vectors) :: x, v
    type(kirin_numbers) :: eps2, radius2
    type(kirin_indices) :: source
    type(c_ptr) :: reserved(4) = c_null_ptr
  end type kirin_targets

  type, bind(C) :: kirin_results
    type(kirin_vectors) :: acc, jerk
    type(kirin_numbers) :: pot
    type(kirin_indices) :: nearest
    type(kirin_numbers) :: distance2
    type(c_ptr) :: reserved(4) = c_null_ptr
  end type kirin_results

  interface
";

const GRAPE5: &str = "\
! kirin_grape5.f90: the host interface of the GRAPE-5 computer, as kirin exports it.
!
! Made from the library's table of calls by `cargo run -p ffi-tests --bin generate`:
! change the table, not this file.
!
! Programs without this module call the same procedures through implicit interfaces, or
! the C ones through FDPS' module phantom_grape_g5_x86. Names with capital letters, such as
! g5_set_xmjMC, need a module: without it compilers write them in lower case.
module kirin_grape5
  use, intrinsic :: iso_c_binding, only: c_double, c_int
  implicit none
  private :: c_double, c_int
  public

  interface
";

const SAPPORO: &str = "\
! kirin_sapporo.f90: names of sapporo that say nothing of it, as libkirin_sapporo exports them.
!
! Made from the library's table of calls by `cargo run -p ffi-tests --bin generate`:
! change the table, not this file.
!
! Other programs have procedures of these names, so they are not in libkirin: link with
! -lkirin_sapporo -lkirin.
module kirin_sapporo
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  private :: c_int
  public

  interface
";

const NBODY6: &str = "\
! kirin_nbody6.f90: the library of NBODY6++ and NBODY6, as libkirin_nbody6 exports it.
!
! Made from the library's table of calls by `cargo run -p ffi-tests --bin generate`:
! change the table, not this file.
!
! Other programs have procedures of some of these names, so they are not in libkirin: link with
! -lkirin_nbody6 -lkirin.
!
! NBODY6 and its relatives call the same procedures through implicit interfaces, some of them with other
! arguments, which the setting KIRIN_NBODY6 says; the interfaces here are those of NBODY6++.
module kirin_nbody6
  use, intrinsic :: iso_c_binding, only: c_double, c_int
  implicit none
  private :: c_double, c_int
  public

  interface
";

/// What an interface may have to import from the module.
const IMPORTED: [&str; 10] = [
    "c_char",
    "c_double",
    "c_float",
    "c_int",
    "c_int64_t",
    "c_ptr",
    "kirin_indices",
    "kirin_results",
    "kirin_sources",
    "kirin_targets",
];

/// Length of generated lines; the standard allows 132.
const WIDTH: usize = 100;

/// The text of a library's module.
pub fn module(interface: Interface) -> String {
    let opening = match interface {
        Interface::Grape6 => GRAPE6,
        Interface::Grape5 => GRAPE5,
        Interface::Sapporo => SAPPORO,
        Interface::Nbody6 => NBODY6,
    };
    let name = interface.name();
    let mut out = opening.replace("{codes}", text::codes("!", 92).trim_end());
    for group in groups(interface) {
        out += &format!("\n    ! ---- {}\n", group.title);
        for call in &group.calls {
            out.push('\n');
            out += &self::interface(call);
        }
    }
    out + &format!("  end interface\nend module {name}\n")
}

fn interface(call: &Call) -> String {
    let by_value = call.fortran.is_none();
    let symbol = call.fortran.or(call.c).expect("a call has a spelling");
    let name = symbol.strip_suffix('_').unwrap_or(symbol);
    let mut out = String::new();
    for line in text::paragraphs(&text::documentation(call), WIDTH - 8) {
        out += format!("    ! {line}").trim_end();
        out.push('\n');
    }
    let (head, declaration, end) = match call.returns {
        Returns::Nothing => ("subroutine".to_owned(), None, "subroutine"),
        Returns::Status | Returns::Count => {
            ("integer(c_int) function".to_owned(), None, "function")
        }
        Returns::Text => ("type(c_ptr) function".to_owned(), Some("c_ptr"), "function"),
    };
    let list = call
        .arguments
        .iter()
        .map(|a| a.name)
        .collect::<Vec<_>>()
        .join(", ");
    let statement = format!("{head} {name}({list}) bind(C, name=\"{symbol}\")");
    let lines = text::fill(statement.split(' '), WIDTH - 8);
    out += &format!("    {}\n", lines.join(" &\n        "));

    let kinds: Vec<&str> = call
        .arguments
        .iter()
        .map(|a| type_of(a.kind).1)
        .chain(declaration)
        .chain((call.returns != Returns::Nothing && declaration.is_none()).then_some("c_int"))
        .collect();
    let imported: Vec<&str> = IMPORTED.into_iter().filter(|k| kinds.contains(k)).collect();
    if !imported.is_empty() {
        out += &format!("      import :: {}\n", imported.join(", "));
    }
    for argument in call.arguments {
        out += &format!("      {}\n", declare(argument, by_value));
    }
    out += &format!("    end {end} {name}\n");
    out
}

/// Type and kind parameter of an argument.
fn type_of(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::Id
        | Kind::Int
        | Kind::Unit
        | Kind::IntRef
        | Kind::Ints
        | Kind::OutInt
        | Kind::OutInts => ("integer", "c_int"),
        Kind::OutFloats => ("real", "c_float"),
        Kind::Handle | Kind::Long | Kind::OutHandle | Kind::OutLongs => ("integer", "c_int64_t"),
        Kind::OutText => ("character", "c_char"),
        Kind::Indices => ("type", "kirin_indices"),
        Kind::Sources => ("type", "kirin_sources"),
        Kind::Targets => ("type", "kirin_targets"),
        Kind::Results => ("type", "kirin_results"),
        Kind::Double
        | Kind::DoubleRef
        | Kind::Vector
        | Kind::Vectors
        | Kind::Doubles
        | Kind::OutVector
        | Kind::OutVectors
        | Kind::OutDouble
        | Kind::OutDoubles => ("real", "c_double"),
    }
}

fn declare(argument: &Argument, by_value: bool) -> String {
    let (base, parameter) = type_of(argument.kind);
    let (passing, shape) = match argument.kind {
        Kind::Id | Kind::Int | Kind::Double | Kind::Unit if by_value => ("value", ""),
        Kind::Id | Kind::Int | Kind::Double | Kind::Unit | Kind::IntRef | Kind::DoubleRef => {
            ("intent(in)", "")
        }
        Kind::Handle | Kind::Long => ("value", ""),
        Kind::OutHandle => ("intent(inout)", ""),
        Kind::OutLongs | Kind::OutText => ("intent(inout)", "(*)"),
        Kind::Indices | Kind::Sources | Kind::Targets | Kind::Results => ("intent(in)", ""),
        Kind::Vector => ("intent(in)", "(3)"),
        Kind::Vectors => ("intent(in)", "(3, *)"),
        Kind::Ints | Kind::Doubles => ("intent(in)", "(*)"),
        Kind::OutInt | Kind::OutDouble => ("intent(inout)", ""),
        Kind::OutVector => ("intent(inout)", "(3)"),
        Kind::OutVectors => ("intent(inout)", "(3, *)"),
        // Not intent(out): a refused call writes nothing, and lasthalf2 looks at nnbindex.
        Kind::OutInts | Kind::OutDoubles | Kind::OutFloats => ("intent(inout)", "(*)"),
    };
    let parameter = match argument.kind {
        Kind::OutText => "kind=c_char",
        _ => parameter,
    };
    format!("{base}({parameter}), {passing} :: {}{shape}", argument.name)
}
