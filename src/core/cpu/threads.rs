//! How many threads a process should use.

use std::fs;
use std::path::Path;

use crate::process::ranks;

/// The number of threads of this process: `KIRIN_THREADS` or, by default, its share of the cores. The cores allowed to
/// it are divided by the number of MPI ranks on the machine, unless a launcher that binds ranks to cores has divided
/// them already.
pub fn threads(set: usize) -> usize {
    if set > 0 {
        return set;
    }
    // What a quota of the control group allows counts, too.
    let allowed = std::thread::available_parallelism().map_or(1, usize::from);
    match ranks::local_rank() {
        Some((_, ranks)) if ranks > 1 => share(allowed, affinity(), of_all_ranks(), ranks),
        _ => allowed,
    }
}

/// `affinity` cores are named to this rank, out of `of_all` that the ranks of the machine have together.
fn share(allowed: usize, affinity: usize, of_all: usize, ranks: usize) -> usize {
    if affinity < of_all && affinity * ranks <= of_all {
        return allowed.min(affinity); // a launcher that binds its ranks has divided the cores already
    }
    (allowed / ranks).max(1)
}

/// The number of cores on which this thread may run.
#[cfg(target_os = "linux")]
fn affinity() -> usize {
    // SAFETY: zeros are a set; the call writes no more than its size.
    let set = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        match libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) {
            0 => set,
            _ => return online(), // more cores than the set has room for
        }
    };
    // SAFETY: a plain question.
    usize::try_from(unsafe { libc::CPU_COUNT(&set) }).unwrap_or(1)
}

#[cfg(not(target_os = "linux"))]
fn affinity() -> usize {
    online()
}

/// The cores that the ranks of this machine have together: those of the job's or container's control group, or all.
fn of_all_ranks() -> usize {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    of_group(&groups, Path::new("/sys/fs/cgroup")).unwrap_or_else(online)
}

/// The number of cores of the control group that `groups` (`/proc/self/cgroup`) names, of version 2 or 1; the file of a group
/// without one of its own is that of a group above it.
fn of_group(groups: &str, mounted: &Path) -> Option<usize> {
    groups.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, group) = (fields.next()?, fields.next()?);
        let (folder, file) = match controllers {
            "" => (mounted.to_owned(), "cpuset.cpus.effective"),
            _ if controllers.split(',').any(|c| c == "cpuset") => {
                (mounted.join("cpuset"), "cpuset.effective_cpus")
            }
            _ => return None,
        };
        let own = Path::new(group.trim_start_matches('/'));
        let read = |group: &Path| fs::read_to_string(folder.join(group).join(file)).ok();
        own.ancestors()
            .find_map(read)
            .and_then(|list| listed(&list))
    })
}

/// The length of a list of cores such as `0-3,8`.
fn listed(list: &str) -> Option<usize> {
    let length = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        (last + 1).checked_sub(first)
    };
    list.trim().split(',').map(length).sum()
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
        assert_eq!(share(16, 16, 16, 4), 4);
        assert_eq!(share(16, 16, 16, 3), 5);
        assert_eq!(share(2, 2, 2, 64), 1);
    }

    #[test]
    fn bound_ranks_have_their_share_already() {
        assert_eq!(share(4, 4, 16, 4), 4);
        assert_eq!(share(2, 4, 16, 4), 2, "of four cores, half of whose time");
        assert_eq!(share(16, 16, 64, 16), 1, "a part of the machine, not bound");
    }

    #[test]
    fn ranks_share_the_cores_of_a_container() {
        assert_eq!(share(4, 4, 4, 4), 1, "four of sixteen cores");
        assert_eq!(
            share(4, 16, 16, 4),
            1,
            "the time of four cores, on any of sixteen"
        );
    }

    #[test]
    fn the_cores_of_a_control_group_are_counted() {
        let mounted = folder();
        let write = |file: &str, list: &str| {
            let file = mounted.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, list).unwrap();
        };
        write("cpuset.cpus.effective", "0-15\n");
        write("job/cpuset.cpus.effective", "0-3,8\n");
        write("job/step/other", "");
        write("cpuset/slurm/cpuset.effective_cpus", "2\n");
        for (groups, wanted) in [
            ("0::/job\n", Some(5)),
            ("0::/job/step\n", Some(5)),
            ("0::/\n", Some(16)),
            ("5:memory:/x\n4:cpu,cpuset:/slurm\n", Some(1)),
            ("5:memory:/x\n", None),
            ("", None),
        ] {
            assert_eq!(of_group(groups, &mounted), wanted, "{groups:?}");
        }
        fs::remove_dir_all(mounted).unwrap();
        assert_eq!(listed("0-3,8-9,11"), Some(7));
        assert_eq!(listed(""), None);
    }

    fn folder() -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("kirin-cpuset-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn a_set_number_holds() {
        assert_eq!(threads(3), 3);
    }
}
