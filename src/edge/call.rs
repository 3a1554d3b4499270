//! The table of calls: names, arguments and documentation of each. The C headers, the Fortran modules and the list
//! of calls are made from it, and the library's symbols are checked against it.

/// How far a call is supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// It does what it says.
    Implemented,
    /// It returns success and has no effect, for the reason given.
    Accepted(&'static str),
    /// It does nothing but say so, for the reason given.
    Unsupported(&'static str),
}

/// What the returned integer means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returns {
    /// 0 for success.
    Status,
    /// 0 for success; the function was `void` in the original library and is a
    /// subroutine in the Fortran module.
    Nothing,
    /// A number that was asked for.
    Count,
    /// A text of the library's own, `const char *`.
    Text,
}

/// Type and direction of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A cluster id.
    Id,
    /// An integer.
    Int,
    /// A double-precision number.
    Double,
    /// The exponent of a fixed-point unit, whose type differs between clients; never looked at.
    Unit,
    /// An integer that is passed by reference in C too, and not by every client.
    IntRef,
    /// A double-precision number that is passed by reference in C too.
    DoubleRef,
    /// `const int a[]`
    Ints,
    /// `const double a[3]`
    Vector,
    /// `double a[][3]`, read only
    Vectors,
    /// `const double a[]`
    Doubles,
    /// `int *a`, written
    OutInt,
    /// `int a[]`, written
    OutInts,
    /// `double a[3]`, written
    OutVector,
    /// `double a[][3]`, written
    OutVectors,
    /// `double *a`, written
    OutDouble,
    /// `double a[]`, written
    OutDoubles,
    /// `float a[]`, written
    OutFloats,
    /// A handle of the bulk interface, a 64-bit integer.
    Handle,
    /// A 64-bit integer.
    Long,
    /// `int64_t *a`, written
    OutHandle,
    /// `int64_t a[]`, written
    OutLongs,
    /// `char a[]`, written
    OutText,
    /// `const kirin_indices *`
    Indices,
    /// `const kirin_sources *`
    Sources,
    /// `const kirin_targets *`
    Targets,
    /// `const kirin_results *`, whose arrays are written
    Results,
}

/// One argument of a call.
#[derive(Clone, Copy, Debug)]
pub struct Argument {
    /// Its name.
    pub name: &'static str,
    /// Its type and direction.
    pub kind: Kind,
}

/// One call in its spellings.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// Name in C, if that spelling exists.
    pub c: Option<&'static str>,
    /// Name in Fortran with the trailing underscore, if that spelling exists.
    pub fortran: Option<&'static str>,
    /// Documentation in Markdown.
    pub docs: &'static str,
    /// How far it is supported.
    pub support: Support,
    /// What the returned integer means.
    pub returns: Returns,
    /// Its arguments.
    pub arguments: &'static [Argument],
}

impl Call {
    /// The exported symbols.
    pub fn symbols(self) -> impl Iterator<Item = &'static str> {
        self.c.into_iter().chain(self.fortran)
    }
}

/// Whose library has a call: each has a header and a Fortran module of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    /// GRAPE-6's.
    Grape6,
    /// GRAPE-5's.
    Grape5,
    /// The names of sapporo that say nothing of it.
    Sapporo,
    /// That of NBODY6, NBODY6++ and AMUSE's nbody6xx.
    Nbody6,
}

/// Every interface.
pub const INTERFACES: [Interface; 4] = [
    Interface::Grape6,
    Interface::Grape5,
    Interface::Sapporo,
    Interface::Nbody6,
];

impl Interface {
    /// The name of its header and of its Fortran module.
    pub fn name(self) -> &'static str {
        match self {
            Self::Grape6 => "kirin",
            Self::Grape5 => "kirin_grape5",
            Self::Sapporo => "kirin_sapporo",
            Self::Nbody6 => "kirin_nbody6",
        }
    }

    /// The name of the library that exports the call, if it is not `kirin`. Other programs have functions of the
    /// same name, and a preloaded library would replace these.
    pub fn library(self) -> Option<&'static str> {
        match self {
            Self::Grape6 | Self::Grape5 => None,
            Self::Sapporo | Self::Nbody6 => Some(self.name()),
        }
    }

    /// The name under which `libkirin` itself exports one of its calls.
    pub fn exported(self, symbol: &str) -> String {
        match self.library() {
            Some(library) => format!("{library}_{symbol}"),
            None => symbol.to_owned(),
        }
    }
}

/// Calls of one origin.
#[derive(Clone, Debug)]
pub struct CallGroup {
    /// Whose library has them.
    pub interface: Interface,
    /// Where the calls come from.
    pub title: &'static str,
    /// The calls.
    pub calls: Vec<Call>,
}
