//! The structures that are sent to the device and back. They are those of `kernels/layout.cuh`, which explains the
//! fields.

use crate::sources::jmemory::{ROW, Row, SHORT_ROW};

/// Numbers that are summed for an i-particle: acceleration (3), potential, jerk (3).
pub const SUMS: usize = 7;
/// 64-bit words of one j-particle.
pub const RECORD: usize = ROW;

/// 64-bit words of one j-particle of a page at rest.
pub const SHORT_RECORD: usize = SHORT_ROW;

/// Flag of the work on a page: the place held another page, or none.
pub const WORK_FRESH: u32 = 1;
/// Flag of the work on a page: its records are short.
pub const WORK_SHORT: u32 = 2;

/// Most i-particles, and most changed j-particles, that the kernels `step_*` take in their arguments.
pub const FEW: usize = 16;

/// Flag of a page: some a2by18 is not zero.
pub const HAS_SNAP: u32 = 1;
/// Flag of a page: some of its masses are positive, and some negative.
pub const HAS_BOTH_SIGNS: u32 = 2;

/// An address in the memory of the device.
pub type Pointer = u64;

/// Types that may be copied to the device byte by byte.
///
/// # Safety
///
/// The type is `repr(C)`, has no padding and no pointers of the host.
pub unsafe trait Pod: Copy {}

macro_rules! pod {
    ($(#[$about:meta])* $name:ident: $bytes:literal { $($field:ident: $type:ty),* $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        #[repr(C)]
        #[allow(missing_docs, reason = "layout.cuh explains them")]
        pub struct $name { $(pub $field: $type),* }
        const _: () = assert!(size_of::<$name>() == $bytes, "layout.cuh has the same");
        const _: () = assert!(0 $(+ size_of::<$type>())* == $bytes, "no padding");
        // SAFETY: asserted just above.
        unsafe impl Pod for $name {}
    };
}

pub(super) use pod;

// SAFETY: numbers.
unsafe impl Pod for u8 {}
// SAFETY: numbers.
unsafe impl Pod for i32 {}
// SAFETY: numbers.
unsafe impl Pod for u32 {}
// SAFETY: numbers.
unsafe impl Pod for u64 {}
// SAFETY: numbers.
unsafe impl Pod for f64 {}
// SAFETY: numbers.
unsafe impl Pod for f32 {}
// SAFETY: an array of numbers, and nothing else.
unsafe impl Pod for Row {}
// SAFETY: an array of such.
unsafe impl<T: Pod, const N: usize> Pod for [T; N] {}

pod! {
    /// One page, by its place in device memory.
    PageInfo: 40 {
        mass_unit: f64,
        mass_inverse: f64,
        least_mass: f64,
        number: u32,
        least_label: i32,
        greatest_label: i32,
        flags: u32,
    }
}
pod! {
    /// A page to bring up to date.
    PageWork: 56 {
        info: PageInfo,
        place: u32,
        begin: u32,
        records: u32,
        flags: u32,
    }
}
pod! {
    /// One i-particle, in the client's units.
    IRecord: 72 {
        x: [f64; 3],
        v: [f64; 3],
        eps2: f64,
        h2: f64,
        label: i64,
    }
}
pod! {
    /// The j-particles of one device.
    Sources: 56 {
        pages: Pointer,
        raw: Pointer,
        predicted: Pointer,
        exact: Pointer,
        far: Pointer,
        length: f64,
        velocity: f64,
    }
}
pod! {
    /// Arguments of `advance_*`.
    AdvanceArgs: 112 {
        j: Sources,
        work: Pointer,
        records: Pointer,
        predictions: Pointer,
        from: Pointer,
        to: Pointer,
        ti: f64,
        pages: u32,
        fetch: u32,
    }
}
pod! {
    /// How the sums of all parts are joined.
    Joining: 48 {
        steps: Pointer,
        rounds: Pointer,
        kept: Pointer,
        results: Pointer,
        count: u32,
        keep: u32,
        sums: u32,
        unused: u32,
    }
}
pod! {
    /// Where the nearest neighbours go.
    Deciding: 32 {
        r2: Pointer,
        label: Pointer,
        precision: f64,
        farthest: f64,
    }
}
pod! {
    /// Leaves that were summed again in double precision.
    Redone: 16 {
        leaves: u64,
        clocks: u64,
    }
}
pod! {
    /// Arguments of `force_*`, `join_sums` and `nearest_neighbours`.
    ForceArgs: 272 {
        j: Sources,
        particles: Pointer,
        order: Pointer,
        joins: Pointer,
        first_sum: Pointer,
        sums: Pointer,
        least: Pointer,
        second: Pointer,
        leaf: Pointer,
        joining: Joining,
        deciding: Deciding,
        redone: Pointer,
        root: f64,
        inverse_root: f64,
        nj: u64,
        ti: f64,
        ni: u32,
        pages: u32,
        parts: u32,
        minus_three: f32,
        done: Pointer,
        number: u32,
        unused: u32,
    }
}
pod! {
    /// Arguments of `step_*`.
    StepArgs: 3800 {
        force: ForceArgs,
        predicts: u32,
        records: u32,
        place: [u32; FEW],
        particles: [IRecord; FEW],
        record: [[f64; RECORD]; FEW],
    }
}
// The devices for which the kernels are compiled have so much room for arguments.
const _: () = assert!(size_of::<StepArgs>() <= 4096);
pod! {
    /// Arguments of `reciprocal_roots`.
    RootArgs: 24 {
        x: Pointer,
        y: Pointer,
        count: u32,
        unused: u32,
    }
}
pod! {
    /// Arguments of `count_neighbours` and `fill_neighbours`.
    ListArgs: 120 {
        j: Sources,
        particles: Pointer,
        order: Pointer,
        counts: Pointer,
        begins: Pointer,
        labels: Pointer,
        nj: u64,
        ni: u32,
        pages: u32,
        include_self: u32,
        unused: u32,
    }
}
