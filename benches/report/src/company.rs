//! The load of the machine during a measurement: the part of the time of the cores allowed to this process that went to other
//! programs, and to other virtual machines on the host.

use std::fmt;

use serde::Serialize;

/// Above this part of the cores' time that others had, a measurement is not to be believed.
const TOO_MUCH: f64 = 0.05;

/// A measurement under way.
pub struct Watch {
    /// The cores allowed when it began; `None` stands for all.
    cores: Option<Vec<usize>>,
    ticks: Option<Ticks>,
    own: f64,
}

/// What others took of the time of the allowed cores while a measurement ran.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Company {
    /// Part that other programs had.
    pub others: f64,
    /// Part that the host of a virtual machine gave to other guests.
    pub stolen: f64,
}

impl Watch {
    /// A measurement begins.
    pub fn start() -> Self {
        let cores = allowed_cores();
        Self {
            ticks: Ticks::now(cores.as_deref()),
            cores,
            own: own_seconds(),
        }
    }

    /// The load by others since [`Watch::start`]. Child processes, their children and so on count as this process's own.
    /// `None` where the system does not tell (no Linux).
    pub fn company(&self) -> Option<Company> {
        let second = ticks_per_second()?;
        Company::between(
            self.ticks?,
            Ticks::now(self.cores.as_deref())?,
            (own_seconds() - self.own) * second,
        )
    }
}

impl Company {
    /// From the counters before and after, and the ticks in which the measurement itself computed.
    fn between(before: Ticks, after: Ticks, own: f64) -> Option<Self> {
        let all = after.all - before.all;
        (all > 0.0).then(|| Self {
            others: ((after.busy - before.busy - own) / all).clamp(0.0, 1.0),
            stolen: ((after.stolen - before.stolen) / all).clamp(0.0, 1.0),
        })
    }

    /// Whether times that were measured in this company are not to be believed.
    fn is_too_much(&self) -> bool {
        self.others + self.stolen > TOO_MUCH
    }
}

/// Both parts in percent, and a warning where they are too much.
impl fmt::Display for Company {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |part: f64| 100.0 * part;
        write!(
            f,
            "of the allowed cores' time other programs had {:.1} %, other guests of the host {:.1} %",
            percent(self.others),
            percent(self.stolen)
        )?;
        if self.is_too_much() {
            f.write_str(
                ". The machine was too busy: do not believe the times; ratios suffer less",
            )?;
        }
        Ok(())
    }
}

/// The cores on which this thread may run; `None` where the system does not tell.
#[cfg(target_os = "linux")]
fn allowed_cores() -> Option<Vec<usize>> {
    // SAFETY: zeros are a set; the call writes no more than its size.
    let set = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        let told = libc::sched_getaffinity(0, size_of_val(&set), &raw mut set);
        // It fails on a machine with more cores than the set has room for.
        (told == 0).then_some(set)?
    };
    // SAFETY: every number below is one of the set's.
    let is_allowed = |&core: &usize| unsafe { libc::CPU_ISSET(core, &set) };
    Some((0..8 * size_of_val(&set)).filter(is_allowed).collect())
}

#[cfg(not(target_os = "linux"))]
fn allowed_cores() -> Option<Vec<usize>> {
    None
}

/// The system's counters, some cores together, in ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ticks {
    busy: f64,
    stolen: f64,
    all: f64,
}

impl Ticks {
    fn now(cores: Option<&[usize]>) -> Option<Self> {
        let text = std::fs::read_to_string("/proc/stat").ok()?;
        // A container may number its cores in another way there.
        let of_these = cores.and_then(|cores| Self::of_cores(&text, cores));
        of_these.or_else(|| Self::of_all(&text))
    }

    /// All cores of the machine: the first line of proc_stat(5).
    fn of_all(text: &str) -> Option<Self> {
        Self::parse(text.lines().next()?.strip_prefix("cpu ")?)
    }

    /// These cores, each of which has a line. `None` if one has none.
    fn of_cores(text: &str, cores: &[usize]) -> Option<Self> {
        let of = |core: &usize| {
            let name = format!("cpu{core} ");
            Self::parse(text.lines().find_map(|line| line.strip_prefix(&name))?)
        };
        let sum = |a: Self, b: Self| Self {
            busy: a.busy + b.busy,
            stolen: a.stolen + b.stolen,
            all: a.all + b.all,
        };
        let each: Option<Vec<Self>> = cores.iter().map(of).collect();
        each?.into_iter().reduce(sum)
    }

    /// What is behind a line's name: user, nice, system, idle, iowait, irq, softirq, steal; the times of guests of our own are
    /// part of user.
    fn parse(times: &str) -> Option<Self> {
        let words = times.split_ascii_whitespace();
        let values: Vec<f64> = words.map_while(|w| w.parse().ok()).collect();
        let [user, nice, system, idle, iowait, irq, softirq, stolen] =
            values.get(..8)?.try_into().ok()?;
        let busy = user + nice + system + irq + softirq;
        Some(Self {
            busy,
            stolen,
            all: busy + stolen + idle + iowait,
        })
    }
}

fn ticks_per_second() -> Option<f64> {
    // SAFETY: the call has no preconditions.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    (ticks > 0).then_some(ticks as f64)
}

/// Seconds of processor time that `getrusage` knows of this process, or of its children that have ended.
fn seconds_of(who: libc::c_int) -> f64 {
    // SAFETY: the structure consists of numbers, for which zero is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is valid for writes.
    unsafe { libc::getrusage(who, &raw mut usage) };
    let seconds = |t: libc::timeval| t.tv_sec as f64 + 1e-6 * t.tv_usec as f64;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// Seconds of processor time of all programs that this one has started and that have ended.
pub fn seconds_of_children() -> f64 {
    seconds_of(libc::RUSAGE_CHILDREN)
}

/// Seconds that this process and its descendants computed. A descendant that ended counts once its parent has waited for it.
fn own_seconds() -> f64 {
    let living = ticks_per_second().map_or(0.0, |second| {
        descendants_ticks(std::process::id(), &processes()) / second
    });
    seconds_of(libc::RUSAGE_SELF) + seconds_of_children() + living
}

/// One line of the system's table of processes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Process {
    id: u32,
    parent: u32,
    /// What it computed, with its children that it has waited for.
    ticks: f64,
}

impl Process {
    /// From `/proc/ID/stat`, proc_pid_stat(5). The name in brackets may contain blanks and brackets.
    fn parse(text: &str) -> Option<Self> {
        let id = text.split_once(' ')?.0.parse().ok()?;
        let mut words = text.rsplit_once(')')?.1.split_ascii_whitespace();
        let parent = words.nth(1)?.parse().ok()?;
        let times = words.skip(9).take(4).map(|w| w.parse::<f64>().ok());
        Some(Self {
            id,
            parent,
            ticks: times.sum::<Option<f64>>()?,
        })
    }
}

/// All processes that the system shows.
fn processes() -> Vec<Process> {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| {
            Process::parse(&std::fs::read_to_string(entry.path().join("stat")).ok()?)
        })
        .collect()
}

/// What the children of a process computed, their children and so on.
fn descendants_ticks(id: u32, all: &[Process]) -> f64 {
    let children = all.iter().filter(|p| p.parent == id);
    children
        .map(|p| p.ticks + descendants_ticks(p.id, all))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_are_what_is_left() {
        let before = Ticks::of_all("cpu  100 10 50 800 20 1 4 15 0 0\ncpu0 1 2").unwrap();
        assert_eq!(
            (before.busy, before.stolen, before.all),
            (165.0, 15.0, 1000.0)
        );
        let after = Ticks::of_all("cpu  180 10 70 880 20 1 4 35 0 0").unwrap();
        let company = Company::between(before, after, 60.0).unwrap();
        assert_eq!((company.others, company.stolen), (0.2, 0.1));
        assert!(company.to_string().ends_with(
            "had 20.0 %, other guests of the host 10.0 %. The machine was too busy: do not believe the times; ratios suffer less"
        ));
        let alone = Company::between(before, after, 100.0).unwrap();
        assert_eq!(alone.others, 0.0);
        let quiet = Company {
            others: 0.02,
            stolen: 0.03,
        };
        assert!(
            quiet
                .to_string()
                .ends_with("had 2.0 %, other guests of the host 3.0 %")
        );
        assert!(Company::between(before, before, 0.0).is_none());
        assert!(Ticks::of_all("intr 1 2 3").is_none());
    }

    /// Half a core of disturbance is half of the one allowed core, not a part of all cores.
    #[test]
    fn only_the_allowed_cores_count() {
        let text = "cpu  150 0 0 6250 0 0 0 0\ncpu0 50 0 0 50 0 0 0 0\ncpu1 100 0 0 0 0 0 0 0\ncpu11 0 0 0 9 0 0 0 1\n";
        let of = |cores: &[usize]| Ticks::of_cores(text, cores).map(|t| (t.busy, t.stolen, t.all));
        assert_eq!(of(&[0]), Some((50.0, 0.0, 100.0)));
        assert_eq!(of(&[1, 11]), Some((100.0, 1.0, 110.0)));
        assert_eq!((of(&[0, 2]), of(&[])), (None, None));
        if cfg!(target_os = "linux") {
            let cores = allowed_cores().expect("not so many cores");
            assert!(cores.len() >= crate::machine::cores());
            assert!(Ticks::now(Some(&cores)).is_some());
        }
    }

    #[test]
    fn work_of_our_own_is_no_company() {
        let before = own_seconds();
        let began = std::time::Instant::now();
        let mut x = 1.0_f64;
        while began.elapsed().as_secs_f64() < 0.05 {
            x = std::hint::black_box(x * 1.000_000_1);
        }
        assert!(own_seconds() > before);
    }

    #[test]
    fn living_children_and_theirs_are_our_own() {
        let line = |id, name: &str, parent, times| {
            let text =
                format!("{id} ({name}) S {parent} 1 1 0 -1 4194304 1 2 3 4 {times} 20 0 1 0 5");
            Process::parse(&text).unwrap()
        };
        let all = [
            line(7, "ours", 1, "1000 0 0 0"),
            line(8, "a (child) 9", 7, "100 20 3 0"),
            line(9, "its child", 8, "4000 0 0 500"),
            line(10, "another's", 1, "60000 0 0 0"),
        ];
        assert_eq!(all[1].ticks, 123.0);
        assert_eq!(descendants_ticks(7, &all), 4623.0);

        let mut child = std::process::Command::new("sh")
            .args(["-c", "while :; do :; done"])
            .spawn()
            .unwrap();
        let before = own_seconds();
        std::thread::sleep(std::time::Duration::from_millis(20));
        // However busy the machine is, the child gets its turn.
        let grew = (0..3000).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            own_seconds() - before > 0.1
        });
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(grew || !cfg!(target_os = "linux"));
    }
}
