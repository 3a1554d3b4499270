//! The cores of a machine, divided among the ranks on it.

use kirin_report::machine::cores;

/// The number of threads for one of `ranks` ranks on this machine. It is the value of the first of these
/// environment variables that is at least 1, or else the rank's share of the cores.
pub fn threads_of_rank(ranks: usize, variables: &[&str]) -> usize {
    let told = |name: &&str| std::env::var(name).ok()?.trim().parse().ok();
    let told = variables
        .iter()
        .filter_map(told)
        .find(|&threads| threads > 0);
    told.unwrap_or_else(|| (cores() / ranks).max(1))
}

/// From now on, parallel loops that this thread begins run on so many threads, of which it is the first.
///
/// # Errors
///
/// The system has no threads; in words.
pub fn use_threads(threads: usize) -> Result<(), String> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .use_current_thread()
        .build();
    // The pool of a thread lasts as long as the thread.
    pool.map(std::mem::forget).map_err(|e| e.to_string())
}
