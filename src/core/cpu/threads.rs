//! How many threads a process should use.

use crate::process::ranks;

/// The number of threads of this process: `KIRIN_THREADS` or, by default, its share of the cores. The cores allowed to
/// it are divided by the number of MPI ranks on the machine, unless a launcher that binds ranks to cores has divided
/// them already.
pub fn threads(set: usize) -> usize {
    if set > 0 {
        return set;
    }
    let allowed = std::thread::available_parallelism().map_or(1, usize::from);
    let ranks = ranks::local_rank().map_or(1, |(_, size)| size);
    share(allowed, online(), ranks)
}

fn share(allowed: usize, online: usize, ranks: usize) -> usize {
    if allowed < online && allowed * ranks <= online {
        return allowed; // a launcher that binds its ranks has divided the cores already
    }
    (allowed / ranks).max(1)
}

fn online() -> usize {
    // SAFETY: a plain question.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) }).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_share_the_cores() {
        assert_eq!(share(16, 16, 1), 16);
        assert_eq!(share(16, 16, 4), 4);
        assert_eq!(share(16, 16, 3), 5);
        assert_eq!(share(2, 2, 64), 1);
    }

    #[test]
    fn bound_ranks_have_their_share_already() {
        assert_eq!(share(4, 16, 4), 4);
        assert_eq!(share(16, 64, 16), 1, "a part of the machine, not bound");
    }

    #[test]
    fn a_set_number_holds() {
        assert_eq!(threads(3), 3);
    }
}
