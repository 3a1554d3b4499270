//! How many threads a process should use.

/// Variables in which launchers tell how many ranks share the machine: Open MPI, MPICH, Slurm.
const LOCAL_RANKS: [&str; 3] = [
    "OMPI_COMM_WORLD_LOCAL_SIZE",
    "MPI_LOCALNRANKS",
    "SLURM_STEP_TASKS_PER_NODE",
];

/// Threads for one process: what is set, or the cores allowed to it, divided by the MPI ranks
/// that share the machine.
pub fn threads(set: usize) -> usize {
    if set > 0 {
        return set;
    }
    let allowed = std::thread::available_parallelism().map_or(1, usize::from);
    share(allowed, online(), |name| std::env::var(name).ok())
}

fn share(allowed: usize, online: usize, variable: impl Fn(&str) -> Option<String>) -> usize {
    let ranks = LOCAL_RANKS
        .iter()
        .find_map(|name| leading_number(&variable(name)?));
    let ranks = ranks.unwrap_or(1).max(1);
    if allowed < online && allowed * ranks <= online {
        return allowed; // a launcher that binds its ranks has divided the cores already
    }
    (allowed / ranks).max(1)
}

/// The number that a text begins with: Slurm writes "2(x3),1".
fn leading_number(text: &str) -> Option<usize> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    text[..end].parse().ok()
}

fn online() -> usize {
    // SAFETY: a plain question.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) }).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &'static str, value: &'static str) -> impl Fn(&str) -> Option<String> {
        move |asked| (asked == name).then(|| value.to_owned())
    }

    #[test]
    fn ranks_share_the_cores() {
        assert_eq!(share(16, 16, |_| None), 16);
        assert_eq!(share(16, 16, with("OMPI_COMM_WORLD_LOCAL_SIZE", "4")), 4);
        assert_eq!(share(16, 16, with("MPI_LOCALNRANKS", "3")), 5);
        assert_eq!(
            share(16, 16, with("SLURM_STEP_TASKS_PER_NODE", "8(x2),1")),
            2
        );
        assert_eq!(share(2, 2, with("MPI_LOCALNRANKS", "64")), 1);
        assert_eq!(share(2, 2, with("MPI_LOCALNRANKS", "0")), 2);
        assert_eq!(share(2, 2, with("MPI_LOCALNRANKS", "many")), 2);
    }

    #[test]
    fn bound_ranks_have_their_share_already() {
        assert_eq!(share(4, 16, with("MPI_LOCALNRANKS", "4")), 4);
        let job = with("MPI_LOCALNRANKS", "16");
        assert_eq!(share(16, 64, job), 1, "a part of the machine, not bound");
    }

    #[test]
    fn a_set_number_holds() {
        assert_eq!(threads(3), 3);
    }
}
