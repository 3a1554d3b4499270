//! The published results: Capuzzo-Dolcetta, Mastrobuono-Battisti and Maschietti (2011), Tables 2 to 8. The numbers
//! of its figures are not in its text.

/// What the published columns were measured on.
pub const HARDWARE: &str = "\
The published columns were measured on two quad-core Intel Xeons of 2 GHz with two NVIDIA Tesla C1060: version C has the
pairs on one GPU and the rest on one core, D the rest on all cores, E pairs and galaxy on the GPUs (`E2`: on both).
";

/// Numbers of particles of Tables 3 to 6.
pub const SIZES: [usize; 3] = [480, 30_720, 1_536_000];

/// Table 3: GFLOP/s of C in single and double precision, then those of E on two GPUs.
pub const TABLE_3: [[f64; 4]; 3] = [
    [5.97, 3.36, 11.29, 3.37],
    [409.0, 21.9, 797.0, 43.8],
    [423.0, 22.0, 846.0, 44.0],
];

/// Floating-point operations that the paper counts for a pair: "20 to 30" (section 4.1), taken here as 25.
pub const FLOPS: f64 = 25.0;

/// Tables 4, 5 and 6: leapfrog in single precision, leapfrog in double precision, and sixth order. Each has a row for
/// each of the three sizes: per cent of the time that version C takes for force, galaxy, prediction and transfer.
pub const SHARES: [[[f64; 4]; 3]; 3] = [
    [
        [23.5, 70.3, 4.5, 1.7],
        [58.4, 38.0, 2.7, 0.9],
        [98.56, 1.31, 0.10, 0.03],
    ],
    [
        [94.0, 5.3, 0.5, 0.2],
        [99.03, 0.90, 0.06, 0.02],
        [99.9810, 0.0165, 0.0018, 0.0007],
    ],
    [
        [85.5, 13.1, 0.9, 0.5],
        [99.14, 0.80, 0.04, 0.02],
        [99.9819, 0.0163, 0.0012, 0.0006],
    ],
];

/// Table 2: time, and per cent of energy and of the angular momentum's components by which they change in a step.
pub const TABLE_2: [[f64; 5]; 6] = [
    [1.25, 8.83e-14, 3.20e-13, 1.88e-13, 3.54e-17],
    [5.0, 1.44e-14, 8.26e-12, 1.43e-12, 1.13e-17],
    [10.0, 1.37e-14, 1.39e-11, 3.12e-12, 4.53e-17],
    [15.0, 6.87e-14, 3.42e-12, 4.75e-11, 0.0],
    [20.0, 3.45e-14, 3.90e-12, 1.76e-10, 1.41e-17],
    [25.0, 8.42e-14, 9.32e-11, 2.42e-10, 3.68e-17],
];

/// Table 7: N, then |dE/E| after 1000 steps: leapfrog in double and in double-single, sixth order in both.
pub const TABLE_7: [(usize, [f64; 4]); 6] = [
    (480, [3.39e-13, 6.68e-10, 3.09e-15, 1.15e-10]),
    (960, [1.57e-10, 5.93e-11, 0.0, 5.10e-11]),
    (1920, [6.75e-13, 1.90e-11, 3.04e-15, 2.11e-11]),
    (3840, [8.60e-13, 1.18e-11, 8.10e-10, 1.19e-11]),
    (7680, [1.12e-12, 7.32e-12, 1.01e-15, 4.64e-12]),
    (15_360, [1.18e-12, 2.73e-13, 2.83e-15, 5.12e-12]),
];

/// Table 8: mass of the black hole, |dE/E| and |dL/L| of 15 360 stars after 40 000 steps to t = 4.
pub const TABLE_8: [[f64; 3]; 4] = [
    [0.1, 3.06e-7, 5.90e-4],
    [1.0, 7.75e-6, 1.06e-2],
    [50.0, 9.23e-5, 2.65],
    [1e5, 5.63e-3, 3.91],
];
