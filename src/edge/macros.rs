//! The macro that declares every symbol, and the code for each kind of argument.

/// Type of an argument in the C spelling.
macro_rules! c_type {
    (id) => { c_int };
    (int) => { c_int };
    (double) => { f64 };
    (int_or_error) => { c_int };
    (double_or_error) => { f64 };
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
    (handle) => { i64 };
    (long) => { i64 };
    (out_handle) => { *mut i64 };
    (out_longs) => { *mut i64 };
    (out_text) => { *mut c_char };
    (indices) => { *const Indices };
    (sources) => { *const Sources };
    (targets) => { *const Targets };
    (results) => { *const Results };
}

/// Type of an argument in the Fortran spelling: scalars by reference.
macro_rules! fortran_type {
    (id) => { *const c_int };
    (int) => { *const c_int };
    (double) => { *const f64 };
    (int_or_error) => { *const c_int };
    (double_or_error) => { *const f64 };
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
    // A `Result`: the call itself refuses a null pointer, since it has to note that.
    (int_or_error, $name:ident) => {
        pointers::scalar($name, stringify!($name))
    };
    (double_or_error, $name:ident) => {
        pointers::scalar($name, stringify!($name))
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
    (int_or_error, $name:ident) => {
        Ok($name)
    };
    (double_or_error, $name:ident) => {
        Ok($name)
    };
    (unit, $name:ident) => {
        ()
    };
    ($other:ident, $name:ident) => {
        $name
    };
}

/// How the Safety section of a call begins.
macro_rules! safety {
    (@c id $($rest:ident)*) => { safety!(@c $($rest)*) };
    (@c int $($rest:ident)*) => { safety!(@c $($rest)*) };
    (@c double $($rest:ident)*) => { safety!(@c $($rest)*) };
    (@c int_or_error $($rest:ident)*) => { safety!(@c $($rest)*) };
    (@c double_or_error $($rest:ident)*) => { safety!(@c $($rest)*) };
    (@c handle $($rest:ident)*) => { safety!(@c $($rest)*) };
    (@c long $($rest:ident)*) => { safety!(@c $($rest)*) };
    (@$spelling:ident unit $($rest:ident)*) => { safety!(@$spelling $($rest)*) };
    (@$spelling:ident) => { "No pointer is read: any arguments are safe." };
    (@$spelling:ident $($pointer:ident)+) => {
        "These pointers are null or valid for the whole call, and no other thread writes to what they point to:\n"
    };
}

/// What an argument must point to, as an entry in the list of the Safety section.
macro_rules! lives {
    (@c id $name:ident) => { "" };
    (@c int $name:ident) => { "" };
    (@c double $name:ident) => { "" };
    (@c int_or_error $name:ident) => { "" };
    (@c double_or_error $name:ident) => { "" };
    (@c handle $name:ident) => { "" };
    (@c long $name:ident) => { "" };
    (@$spelling:ident unit $name:ident) => { "" };
    (@$spelling:ident id $name:ident) => { lives!(@text $name "an integer") };
    (@$spelling:ident int $name:ident) => { lives!(@text $name "an integer") };
    (@$spelling:ident double $name:ident) => { lives!(@text $name "a double") };
    (@$spelling:ident int_or_error $name:ident) => { lives!(@text $name "an integer") };
    (@$spelling:ident double_or_error $name:ident) => { lives!(@text $name "a double") };
    (@$spelling:ident int_ref $name:ident) => { lives!(@text $name "an integer") };
    (@$spelling:ident double_ref $name:ident) => { lives!(@text $name "one double or an array, as the text says") };
    (@$spelling:ident vector $name:ident) => { lives!(@text $name "3 doubles") };
    (@$spelling:ident ints $name:ident) => { lives!(@text $name "an array of integers of the length in the text") };
    (@$spelling:ident doubles $name:ident) => { lives!(@text $name "an array of doubles of the length in the text") };
    (@$spelling:ident vectors $name:ident) => { lives!(@text $name "an array of 3 doubles each, of the length in the text") };
    (@$spelling:ident out_int $name:ident) => { lives!(@text $name "an integer to be written") };
    (@$spelling:ident out_double $name:ident) => { lives!(@text $name "a double to be written") };
    (@$spelling:ident out_vector $name:ident) => { lives!(@text $name "3 doubles to be written") };
    (@$spelling:ident out_ints $name:ident) => {
        lives!(@text $name "an array of integers to be written, of the length in the text")
    };
    (@$spelling:ident out_doubles $name:ident) => {
        lives!(@text $name "an array of doubles to be written, of the length in the text")
    };
    (@$spelling:ident out_floats $name:ident) => {
        lives!(@text $name "an array of floats to be written, of the length in the text")
    };
    (@$spelling:ident out_vectors $name:ident) => {
        lives!(@text $name "an array of 3 doubles each, to be written, of the length in the text")
    };
    (@$spelling:ident out_handle $name:ident) => { lives!(@text $name "a 64-bit integer to be written") };
    (@$spelling:ident out_longs $name:ident) => {
        lives!(@text $name "an array of 64-bit integers to be written, of the length in the text")
    };
    (@$spelling:ident out_text $name:ident) => { lives!(@text $name "characters to be written, as many as the text says") };
    (@$spelling:ident indices $name:ident) => { lives!(@text $name "a structure with an array of the length in the text") };
    (@$spelling:ident sources $name:ident) => { lives!(@text $name "a structure with arrays of the length in the text") };
    (@$spelling:ident targets $name:ident) => { lives!(@text $name "a structure with arrays of the length in the text") };
    (@$spelling:ident results $name:ident) => {
        lives!(@text $name "a structure with arrays to be written, of the length in the text")
    };
    (@text $name:ident $what:literal) => { concat!("* `", stringify!($name), "`: ", $what, "\n") };
}

/// Declares calls, one row each. A row has the documentation, the support, what is returned, the C and Fortran names,
/// the arguments with their kinds, and the private function behind all names. A `-` stands for a spelling that never
/// existed. A C name in parentheses is exported even with the feature `fortran-names-only`. After `all` stand the names
/// of the form without `cluster_id`, which goes to cluster 0. After `also` stand further names of the same call.
///
/// After `beyond` stand arguments that some programs pass besides, and that no header declares: the function behind the names
/// reads them only if it knows that the program is one of these.
///
/// `exported as "PREFIX";` at the beginning puts a prefix before the exported names.
///
/// Defines the symbols and three tables: `CALLS`, `ALL_BOARDS` (the `all` forms) and `OTHER_NAMES`.
macro_rules! calls {
    (exported as $prefix:literal; $($rows:tt)+) => { calls!(@rows [$prefix] $($rows)+); };
    (@rows $prefix:tt $(
        $(#[doc = $doc:literal])+
        $support:ident $(($reason:literal))? $returns:ident [$c:tt $fortran:tt]
        $(all [$($all:tt)+])?
        $(also $([$($also:tt)+])+)?
        ($($arg:tt)*) $(beyond ($($beyond:tt)*))? = $body:expr;
    )+) => {
        $( calls!(
            @row $prefix [$c $fortran] [$($($all)+)?] [$($([$($also)+])+)?] [$(#[doc = $doc])+] [$($arg)* $(, $($beyond)*)?] [$body]
        ); )+

        /// The calls of this group.
        pub(crate) const CALLS: &[Call] = &[$( calls!(
            @entry [$c $fortran] [concat!($($doc, "\n"),+)] [$support $($reason)?] $returns [$($arg)*]
        ) ),+];

        /// Their forms for all boards at once.
        #[allow(dead_code, reason = "not every group has such forms")]
        pub(crate) const ALL_BOARDS: &[&[Call]] = &[$( calls!(
            @all_entry [$($($all)+)?] $c [$support $($reason)?] $returns [$($arg)*]
        ) ),+];

        /// Their other names.
        #[allow(dead_code, reason = "not every group has other names")]
        pub(crate) const OTHER_NAMES: &[&[Call]] = &[$( calls!(
            @other_entries [$($([$($also)+])+)?] $c [$support $($reason)?] $returns [$($arg)*]
        ) ),+];
    };

    (@row $prefix:tt $names:tt $all:tt [$($also:tt)*] $docs:tt $args:tt $body:tt) => {
        calls!(@symbols $prefix $names $docs $args $body);
        calls!(@all_symbols $prefix $all $names $args $body);
        $( calls!(@other_symbols $prefix $also $names $args $body); )*
    };
    (@all_symbols $prefix:tt [] $($rest:tt)*) => {};
    (@all_symbols $prefix:tt $all:tt [$c:tt $fortran:tt] [$cluster:ident: id $(, $($arg:tt)*)?] [$body:expr]) => {
        calls!(
            @symbols $prefix $all [#[doc = concat!("[`", stringify!($c), "`] for cluster 0.")]] [$($($arg)*)?]
            [{
                let $cluster = ALL;
                $body
            }]
        );
    };
    (@other_symbols $prefix:tt $also:tt [$c:tt $fortran:tt] $args:tt $body:tt) => {
        calls!(@symbols $prefix $also [#[doc = concat!("The same as [`", stringify!($c), "`].")]] $args $body);
    };

    (@entry [$c:tt $fortran:tt] [$docs:expr] $support:tt $returns:ident
        [$($arg:ident: $kind:ident),* $(,)?]) => {
        Call {
            c: calls!(@name $c),
            fortran: calls!(@name $fortran),
            docs: $docs,
            support: calls!(@support $support),
            returns: calls!(@returns $returns),
            arguments: &[$( Argument { name: stringify!($arg), kind: calls!(@kind $kind) } ),*],
        }
    };
    (@all_entry [] $($rest:tt)*) => { &[] };
    (@all_entry $all:tt $c:tt $support:tt $returns:ident [$cluster:ident: id $(, $($arg:tt)*)?]) => {
        &[calls!(
            @entry $all [concat!("`", stringify!($c), "` for all boards at once, that is for cluster 0.\n")]
            $support $returns [$($($arg)*)?]
        )]
    };
    (@other_entries [$($also:tt)*] $c:tt $support:tt $returns:ident $args:tt) => {
        &[$( calls!(
            @entry $also [concat!("The same as `", stringify!($c), "`.\n")] $support $returns $args
        ) ),*]
    };

    (@symbols $prefix:tt [$c:ident $fortran:ident] $docs:tt [$($arg:ident: $kind:ident),* $(,)?] [$body:expr]) => {
        calls!(@c $prefix $c $docs ($($arg: $kind),*) $body);
        calls!(
            @fortran $prefix $fortran [#[doc = concat!("Fortran spelling of [`", stringify!($c), "`].")]]
            ($($arg: $kind),*) $body
        );
    };
    (@symbols $prefix:tt [($c:ident) $fortran:ident] $docs:tt $args:tt $body:tt) => {
        calls!(@symbols $prefix [$c -] $docs $args $body);
        calls!(
            @symbols $prefix [- $fortran] [#[doc = concat!("Fortran spelling of [`", stringify!($c), "`].")]] $args $body
        );
    };
    // A C name without a Fortran twin is needed in every library.
    (@symbols [$($prefix:literal)?] [$c:ident -] $docs:tt [$($arg:ident: $kind:ident),* $(,)?] [$body:expr]) => {
        calls!(
            @define [cfg_attr(
                feature = "export-symbols",
                unsafe(export_name = concat!($($prefix,)? stringify!($c)))
            )] $c $docs ($($arg: $kind),*) $body
        );
    };
    (@symbols $prefix:tt [- $fortran:ident] $docs:tt [$($arg:ident: $kind:ident),* $(,)?] [$body:expr]) => {
        calls!(@fortran $prefix $fortran $docs ($($arg: $kind),*) $body);
    };

    (@c [$($prefix:literal)?] $name:ident $docs:tt $args:tt $body:expr) => {
        calls!(
            @define [cfg_attr(
                all(feature = "export-symbols", not(feature = "fortran-names-only")),
                unsafe(export_name = concat!($($prefix,)? stringify!($name)))
            )] $name $docs $args $body
        );
    };
    (@define [$($export:tt)+] $name:ident [$(#[$doc:meta])+] ($($arg:ident: $kind:ident),*) $body:expr) => {
        $(#[$doc])+
        ///
        /// # Safety
        ///
        #[doc = concat!(safety!(@c $($kind)*) $(, lives!(@c $kind $arg))*)]
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
    (@fortran [$($prefix:literal)?] $name:ident [$(#[$doc:meta])+] ($($arg:ident: $kind:ident),*) $body:expr) => {
        $(#[$doc])+
        ///
        /// # Safety
        ///
        #[doc = concat!(safety!(@fortran $($kind)*) $(, lives!(@fortran $kind $arg))*)]
        #[cfg_attr(feature = "export-symbols", unsafe(export_name = concat!($($prefix,)? stringify!($name))))]
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
    (@name ($name:ident)) => { Some(stringify!($name)) };
    (@name $name:ident) => { Some(stringify!($name)) };
    (@support [implemented]) => { Support::Implemented };
    (@support [accepted $reason:literal]) => { Support::Accepted($reason) };
    (@support [unsupported $reason:literal]) => { Support::Unsupported($reason) };
    (@returns status) => { Returns::Status };
    (@returns nothing) => { Returns::Nothing };
    (@returns count) => { Returns::Count };
    (@kind id) => { Kind::Id };
    (@kind int) => { Kind::Int };
    (@kind double) => { Kind::Double };
    (@kind int_or_error) => { Kind::Int };
    (@kind double_or_error) => { Kind::Double };
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
    (@kind handle) => { Kind::Handle };
    (@kind long) => { Kind::Long };
    (@kind out_handle) => { Kind::OutHandle };
    (@kind out_longs) => { Kind::OutLongs };
    (@kind out_text) => { Kind::OutText };
    (@kind indices) => { Kind::Indices };
    (@kind sources) => { Kind::Sources };
    (@kind targets) => { Kind::Targets };
    (@kind results) => { Kind::Results };
    ($($rows:tt)+) => { calls!(@rows [] $($rows)+); };
}
