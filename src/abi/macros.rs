//! The macro through which every symbol passes, and what an argument's kind means in it.

/// Type of an argument in the C spelling.
macro_rules! c_type {
    (id) => { c_int };
    (int) => { c_int };
    (double) => { f64 };
    (unit) => { c_int };
    (int_ref) => { *const c_int };
    (double_ref) => { *const f64 };
    (ints) => { *const c_int };
    (vector) => { *const f64 };
    (vectors) => { *mut [f64; 3] };
    (doubles) => { *const f64 };
    (out_int) => { *mut c_int };
    (out_ints) => { *mut c_int };
    (out_vector) => { *mut f64 };
    (out_vectors) => { *mut [f64; 3] };
    (out_double) => { *mut f64 };
    (out_doubles) => { *mut f64 };
    (out_floats) => { *mut f32 };
}

/// Type of an argument in the Fortran spelling: scalars by reference.
macro_rules! fortran_type {
    (id) => { *const c_int };
    (int) => { *const c_int };
    (double) => { *const f64 };
    (unit) => { *const c_int };
    ($other:ident) => { c_type!($other) };
}

/// The value of an argument that came in the Fortran spelling.
macro_rules! fortran_value {
    (id, $name:ident) => {
        pointers::id($name)
    };
    (int, $name:ident) => {
        pointers::scalar($name, stringify!($name))?
    };
    (double, $name:ident) => {
        pointers::scalar($name, stringify!($name))?
    };
    // int, double, by value or by reference, as the client believes: never looked at.
    (unit, $name:ident) => {
        ()
    };
    ($other:ident, $name:ident) => {
        $name
    };
}

macro_rules! c_value {
    (unit, $name:ident) => {
        ()
    };
    ($other:ident, $name:ident) => {
        $name
    };
}

/// Declares calls: documentation, support, what is returned, the C and Fortran
/// names (`-` for a spelling that never existed), the arguments with their kinds,
/// and the private function behind both names. Defines the symbols and `CALLS`.
macro_rules! calls {
    ($(
        $(#[doc = $doc:literal])+
        $support:ident $(($reason:literal))? $returns:ident [$c:tt $fortran:tt]
        ($($arg:ident : $kind:ident),* $(,)?) = $body:expr;
    )+) => {
        $( calls!(@symbols $c $fortran [$(#[doc = $doc])+] ($($arg: $kind),*) $body); )+

        /// The calls of this group.
        pub(super) const CALLS: &[Call] = &[$(
            Call {
                c: calls!(@name $c),
                fortran: calls!(@name $fortran),
                docs: concat!($($doc, "\n"),+),
                support: calls!(@support $support $($reason)?),
                returns: calls!(@returns $returns),
                arguments: &[$( Argument { name: stringify!($arg), kind: calls!(@kind $kind) } ),*],
            },
        )+];
    };

    (@symbols $c:ident $fortran:ident $docs:tt $args:tt $body:expr) => {
        calls!(@c $c $docs $args $body);
        calls!(@fortran $fortran [#[doc = concat!("Fortran spelling of [`", stringify!($c), "`].")]] $args $body);
    };
    // A C name without a Fortran twin is needed in every library.
    (@symbols $c:ident - $docs:tt $args:tt $body:expr) => {
        calls!(@define [unsafe(no_mangle)] $c $docs $args $body);
    };
    (@symbols - $fortran:ident $docs:tt $args:tt $body:expr) => {
        calls!(@fortran $fortran $docs $args $body);
    };

    (@c $name:ident $docs:tt $args:tt $body:expr) => {
        calls!(@define [cfg_attr(not(feature = "fortran-names-only"), unsafe(no_mangle))] $name $docs $args $body);
    };
    (@define [$($export:tt)+] $name:ident [$(#[$doc:meta])+] ($($arg:ident: $kind:ident),*) $body:expr) => {
        $(#[$doc])+
        ///
        /// # Safety
        ///
        /// Arrays have the lengths that the arguments announce, and nobody writes to them during the call.
        #[$($export)+]
        #[allow(unused_variables)]
        pub unsafe extern "C" fn $name($($arg: c_type!($kind)),*) -> c_int {
            guard(stringify!($name), || {
                $( let $arg = c_value!($kind, $arg); )*
                // SAFETY: the caller vouches for the arrays, and nothing else is dereferenced.
                #[allow(unused_unsafe, clippy::let_unit_value)]
                unsafe { $body }
            })
        }
    };
    (@fortran $name:ident [$(#[$doc:meta])+] ($($arg:ident: $kind:ident),*) $body:expr) => {
        $(#[$doc])+
        ///
        /// # Safety
        ///
        /// Arrays have the lengths that the arguments announce, and nobody writes to them during the call.
        #[unsafe(no_mangle)]
        #[allow(unused_variables)]
        pub unsafe extern "C" fn $name($($arg: fortran_type!($kind)),*) -> c_int {
            guard(stringify!($name), || {
                // SAFETY: the caller vouches for scalars and arrays; null pointers are found here.
                #[allow(unused_unsafe, clippy::let_unit_value)]
                unsafe {
                    $( let $arg = fortran_value!($kind, $arg); )*
                    $body
                }
            })
        }
    };

    (@name -) => { None };
    (@name $name:ident) => { Some(stringify!($name)) };
    (@support implemented) => { Support::Implemented };
    (@support accepted $reason:literal) => { Support::Accepted($reason) };
    (@support unsupported $reason:literal) => { Support::Unsupported($reason) };
    (@returns status) => { Returns::Status };
    (@returns nothing) => { Returns::Nothing };
    (@returns count) => { Returns::Count };
    (@kind id) => { Kind::Id };
    (@kind int) => { Kind::Int };
    (@kind double) => { Kind::Double };
    (@kind unit) => { Kind::Unit };
    (@kind int_ref) => { Kind::IntRef };
    (@kind double_ref) => { Kind::DoubleRef };
    (@kind ints) => { Kind::Ints };
    (@kind vector) => { Kind::Vector };
    (@kind vectors) => { Kind::Vectors };
    (@kind doubles) => { Kind::Doubles };
    (@kind out_int) => { Kind::OutInt };
    (@kind out_ints) => { Kind::OutInts };
    (@kind out_vector) => { Kind::OutVector };
    (@kind out_vectors) => { Kind::OutVectors };
    (@kind out_double) => { Kind::OutDouble };
    (@kind out_doubles) => { Kind::OutDoubles };
    (@kind out_floats) => { Kind::OutFloats };
}
