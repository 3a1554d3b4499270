//! A thousand forks around the first call, a thousand pairs of cancelled threads, a hundred limits of the memory, in each interface.

#[path = "processes/lost.rs"]
mod lost;

use lost::nothing_lost;

#[test]
fn a_thousand_children_of_first_calls() {
    nothing_lost("forkfirst.c", 1000, &[("KIRIN_THREADS", "2")]);
}

#[test]
fn a_thousand_cancelled_threads() {
    nothing_lost("cancel.c", 1000, &[("KIRIN_THREADS", "2")]);
}

#[test]
fn a_hundred_limits_of_the_memory() {
    for threads in ["1", "4"] {
        nothing_lost("limits.c", 100, &[("KIRIN_THREADS", threads)]);
    }
}
