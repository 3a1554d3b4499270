//! The rank of this process, from the environment variables of MPI launchers. They are there
//! before MPI is initialised, and no MPI library is needed.

/// Variables with the rank and the number of ranks: of Open MPI, MPICH, Slurm.
const RANKS: [(&str, &str); 3] = [
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
];

/// Variables with the rank and the number of ranks on this machine: of Open MPI, MPICH and Intel MPI,
/// MVAPICH, Cray PALS, Slurm.
const LOCAL_RANKS: [(&str, &str); 5] = [
    ("OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"),
    ("MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
    ("MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE"),
    ("PALS_LOCAL_RANKID", "PALS_LOCAL_SIZE"),
    ("SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE"),
];

/// The rank of this process; `None` unless a launcher started several.
pub fn rank() -> Option<u32> {
    rank_of(|name| std::env::var(name).ok())
}

fn rank_of(variable: impl Fn(&str) -> Option<String>) -> Option<u32> {
    let number = |name| variable(name)?.trim().parse::<u32>().ok();
    RANKS
        .iter()
        .find_map(|(rank, size)| Some((number(rank)?, number(size)?)))
        .and_then(|(rank, size)| (size > 1).then_some(rank))
}

/// The rank of this process among those on its machine, from 0, and their number; `None` without a
/// launcher.
pub fn local_rank() -> Option<(usize, usize)> {
    local_rank_in(|name| std::env::var(name).ok())
}

/// The same, from a given environment.
pub fn local_rank_in(variable: impl Fn(&str) -> Option<String>) -> Option<(usize, usize)> {
    LOCAL_RANKS.iter().find_map(|(rank, size)| {
        let rank = variable(rank)?.trim().parse().ok()?;
        let text = variable(size)?;
        let node = variable("SLURM_NODEID").and_then(|n| n.trim().parse().ok());
        let size = tasks_on(text.trim(), node.unwrap_or(0))?;
        (rank < size).then_some((rank, size))
    })
}

/// The number of tasks on a node. Slurm writes "2(x3),1" for three nodes with two tasks and one node with
/// one; other launchers write a single number.
fn tasks_on(text: &str, node: usize) -> Option<usize> {
    let mut nodes = 0;
    let mut last = None;
    for part in text.split(',') {
        let (tasks, times) = match part.split_once("(x") {
            Some((tasks, times)) => (tasks, times.strip_suffix(')')?.parse().ok()?),
            None => (part, 1),
        };
        last = Some(tasks.parse().ok()?);
        nodes += times;
        if node < nodes {
            break;
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local(variables: &[(&str, &str)]) -> Option<(usize, usize)> {
        local_rank_in(|name| {
            let found = variables.iter().find(|(n, _)| *n == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn every_launcher_is_understood() {
        for (id, size) in LOCAL_RANKS {
            assert_eq!(local(&[(id, "1"), (size, "4")]), Some((1, 4)), "{id}");
            assert_eq!(local(&[(id, "1")]), None, "{id}");
            assert_eq!(local(&[(size, "4")]), None, "{id}");
            assert_eq!(local(&[(id, "4"), (size, "4")]), None, "{id}");
            assert_eq!(local(&[(id, "x"), (size, "4")]), None, "{id}");
        }
        assert_eq!(local(&[]), None);
    }

    #[test]
    fn slurm_counts_by_node() {
        let slurm = |node| {
            let tasks = ("SLURM_STEP_TASKS_PER_NODE", "8(x2),3");
            local(&[("SLURM_LOCALID", "2"), tasks, ("SLURM_NODEID", node)])
        };
        assert_eq!(slurm("0"), Some((2, 8)));
        assert_eq!(slurm("1"), Some((2, 8)));
        assert_eq!(slurm("2"), Some((2, 3)));
    }

    #[test]
    fn the_nearest_launcher_wins() {
        // mpirun inside a Slurm job.
        let both = [
            ("SLURM_LOCALID", "0"),
            ("SLURM_STEP_TASKS_PER_NODE", "1"),
            ("OMPI_COMM_WORLD_LOCAL_RANK", "3"),
            ("OMPI_COMM_WORLD_LOCAL_SIZE", "4"),
        ];
        assert_eq!(local(&both), Some((3, 4)));
    }

    #[test]
    fn a_rank_is_one_of_several() {
        let slurm = |size: &'static str| {
            move |name: &str| match name {
                "SLURM_PROCID" => Some("2".to_owned()),
                "SLURM_STEP_NUM_TASKS" => Some(size.to_owned()),
                _ => None,
            }
        };
        assert_eq!(rank_of(slurm("4")), Some(2));
        assert_eq!(rank_of(slurm("1")), None);
        assert_eq!(rank_of(|_| None), None);
        let open_mpi = |name: &str| Some(if name.ends_with("SIZE") { "8" } else { "5" }.to_owned());
        assert_eq!(rank_of(open_mpi), Some(5));
    }
}
