//! The structures that are sent to the device and back. They are those of `kernels/regular_layout.cuh`, which
//! explains the fields.

use crate::gpu::layout::{Pod, Pointer, pod};

pod! {
    /// `PAGE` consecutive addresses of the sources.
    RegularPage: 32 {
        mass_unit: f64,
        mass_inverse: f64,
        fastest: f64,
        is_told: u32,
        unused: u32,
    }
}
pod! {
    /// A particle on which the force is wanted.
    RegularTarget: 96 {
        x: [f64; 3],
        v: [f64; 3],
        speed: f64,
        h2: f64,
        dtr: f64,
        error: f64,
        error_of_speed: f64,
        closest2: f64,
    }
}
pod! {
    /// Arguments of all kernels of the regular force.
    RegularArgs: 144 {
        info: Pointer,
        columns: Pointer,
        tiles: Pointer,
        targets: Pointer,
        words: Pointer,
        sums: Pointer,
        exact: Pointer,
        results: Pointer,
        counts: Pointer,
        list: Pointer,
        inverse_root: f64,
        doubt: f64,
        absolute: f64,
        on_the_way: f64,
        sources: u64,
        ni: u32,
        pages: u32,
        rows: u32,
        longest: u32,
        by_mass: u32,
        minus_three: f32,
    }
}
