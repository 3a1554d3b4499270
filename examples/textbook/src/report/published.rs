//! The chapter's tables of run times, in seconds.

/// A row of a table: threads, processes or particles, and the times of its columns.
pub type Row<const N: usize> = (usize, [f64; N]);

/// Table 7.3: OpenMP, 400 particles, 1000 steps. Basic; reduced with the default schedule, with cyclic forces, all cyclic.
pub const TABLE_7_3: [Row<4>; 4] = [
    (1, [7.71, 3.90, 3.90, 3.90]),
    (2, [3.87, 2.94, 1.98, 2.01]),
    (4, [1.95, 1.73, 1.01, 1.08]),
    (8, [0.99, 0.95, 0.54, 0.61]),
];

/// Table 7.5: MPI, 800 particles, 1000 steps, a process on each node of a cluster. Basic, reduced.
pub const TABLE_7_5: [Row<2>; 5] = [
    (1, [17.30, 8.68]),
    (2, [8.65, 4.45]),
    (4, [4.35, 2.30]),
    (8, [2.20, 1.26]),
    (16, [1.13, 0.78]),
];

/// Table 7.6: the same problem. Basic and reduced with OpenMP, basic and reduced with MPI.
pub const TABLE_7_6: [Row<4>; 3] = [
    (1, [15.13, 8.77, 17.30, 8.68]),
    (2, [7.62, 4.42, 8.65, 4.45]),
    (4, [3.85, 2.26, 4.35, 2.30]),
];

/// Table 7.7, by particles: serial on a Xeon of 2.1 GHz, CUDA on a Pascal GPU of 20 multiprocessors, both in single precision.
/// The chapter does not say how many steps these are.
pub const TABLE_7_7: [Row<2>; 6] = [
    (1024, [7.01e-2, 1.93e-3]),
    (2048, [2.82e-1, 2.89e-3]),
    (32_768, [5.07e1, 7.34e-2]),
    (65_536, [2.02e2, 2.94e-1]),
    (262_144, [3.23e3, 2.24]),
    (1_048_576, [5.20e4, 4.81e1]),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// What the text says of the tables.
    #[test]
    fn the_tables_are_those_of_the_text() {
        // "50 to 75% longer" than with cyclic forces, on more than one thread.
        for (threads, [_, default, cyclic, _]) in &TABLE_7_3[1..] {
            let longer = default / cyclic;
            assert!((1.48..1.77).contains(&longer), "{threads}: {longer}");
        }
        // Efficiencies on 16 nodes of "about 0.95" and "only about 0.70".
        let [one, .., sixteen] = TABLE_7_5.map(|(_, times)| times);
        for (k, efficiency) in [(0, 0.957), (1, 0.696)] {
            assert!((one[k] / sixteen[k] / 16.0 - efficiency).abs() < 1e-3);
        }
        for ((p, [.., basic, reduced]), (q, mpi)) in TABLE_7_6.into_iter().zip(TABLE_7_5) {
            assert_eq!((p, [basic, reduced]), (q, mpi));
        }
        // "Nearly 25,000 times" the time of the smallest run.
        let [first, .., last] = TABLE_7_7.map(|(_, [_, cuda])| cuda);
        assert!((24_000.0..25_000.0).contains(&(last / first)));
        // The serial solver takes time as the square of the particles.
        for pair in TABLE_7_7.windows(2) {
            let [(few, [less, _]), (many, [more, _])] = [pair[0], pair[1]];
            let growth = more / less / (many as f64 / few as f64).powi(2);
            assert!((growth - 1.0).abs() < 0.3, "{many}: {growth}");
        }
    }
}
