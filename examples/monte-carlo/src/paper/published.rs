//! Results that the text of the paper states. Everything else about its runs is in figures only.

/// A cluster of the paper.
pub struct Published {
    /// Number of stars.
    pub n: usize,
    /// Core collapse in initial half-mass relaxation times.
    pub collapse: f64,
    /// Processors of the run to collapse, and its wall time in seconds.
    pub run: (usize, f64),
    /// Greatest speedup.
    pub speedup: f64,
}

/// Sections 4.2 and 4.3.
pub const CLUSTERS: [Published; 3] = [
    Published {
        n: 100_000,
        collapse: 17.4,
        run: (128, 684.0),
        speedup: 60.0,
    },
    Published {
        n: 1_000_000,
        collapse: 16.7,
        run: (256, 4212.0),
        speedup: 100.0,
    },
    Published {
        n: 10_000_000,
        collapse: 16.6,
        run: (1024, 46_080.0),
        speedup: 220.0,
    },
];

/// Energy error throughout all simulations.
pub const ENERGY_ERROR: f64 = 4e-4;
