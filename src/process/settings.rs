//! The settings of the library: environment variables `KIRIN_*`, read once at
//! the first call that needs one.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::ptr;
use std::str::FromStr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Which implementation computes forces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BackendChoice {
    /// The best one that this machine has.
    #[default]
    Auto,
    /// Vector units of the processor.
    Cpu,
    /// NVIDIA GPUs.
    Cuda,
    /// Plain double-precision loops.
    Reference,
}

/// Arithmetic of the forces. Neighbours and prediction are double precision always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// Position differences of 48 bits, pair arithmetic in single, sums in double precision.
    #[default]
    Mixed,
    /// Everything in double precision.
    Double,
    /// The arithmetic of 2007: positions rounded to single precision first.
    Single,
}

/// What `lasthalf2` writes for an i-particle without a nearest neighbour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NoNeighbour {
    /// Leaves a -1 that the client put there, writes 0 over anything else:
    /// ph4 prefills -1 and tests for it, kira takes a negative index for a hardware error.
    #[default]
    Auto,
    /// Always 0.
    Zero,
    /// Always -1.
    MinusOne,
}

/// Which GPUs a process uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Devices {
    /// One: the first, or under MPI the one whose turn it is by the local rank.
    #[default]
    Auto,
    /// Every one.
    All,
    /// Those with these numbers.
    These(Vec<usize>),
}

/// Where something is done that the host or the GPU can do, with the same bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// Wherever it is faster.
    #[default]
    Auto,
    /// On the host, as in the thesis.
    Host,
    /// On the device.
    Device,
}

/// Which program calls the functions that have other arguments in each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nbody6 {
    /// NBODY6++.
    #[default]
    PlusPlus,
    /// AMUSE's nbody6xx.
    Amuse,
    /// NBODY6 and NBODY7.
    Six,
}

/// An instruction set of the CPU backend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InstructionSet {
    /// The widest that the processor has.
    #[default]
    Auto,
    /// No intrinsics; what the compiler makes of four lanes.
    Portable,
    /// AVX2 with fused multiply-add, x86-64.
    Avx2,
    /// AVX-512 foundation, x86-64.
    Avx512,
    /// Advanced SIMD, aarch64.
    Neon,
}

/// Where a report goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Destination {
    /// Nowhere: it is not made.
    #[default]
    Off,
    /// To stderr.
    Stderr,
    /// To the end of a file, whose name [`crate::process::file_name`] makes.
    File(OsString),
}

/// Everything a user can set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `KIRIN_BACKEND`
    pub backend: BackendChoice,
    /// `KIRIN_PRECISION`
    pub precision: Precision,
    /// `KIRIN_DEVICES`
    pub devices: Devices,
    /// `KIRIN_PREDICTOR`: where j-particles are predicted for a GPU.
    pub predictor: Place,
    /// `KIRIN_JOIN`: where the partial sums of a GPU are joined.
    pub join: Place,
    /// `KIRIN_SPLIT`: whether the j-particles of a small block are divided too.
    pub split: bool,
    /// `KIRIN_GPU_TIMEOUT`: seconds that a GPU may take beyond its time before it counts as lost.
    pub gpu_timeout: Option<u32>,
    /// `KIRIN_NPIPES`: what `g6_npipes` answers.
    pub npipes: i32,
    /// `KIRIN_THREADS`: 0 stands for the cores allowed to the process.
    pub threads: usize,
    /// `KIRIN_SIMD`
    pub simd: InstructionSet,
    /// `KIRIN_SNAP`: whether `a2by18` enters the prediction.
    pub snap: bool,
    /// `KIRIN_NO_NEIGHBOUR`
    pub no_neighbour: NoNeighbour,
    /// `KIRIN_NBODY6`
    pub nbody6: Nbody6,
    /// `KIRIN_STATS`
    pub stats: Destination,
    /// `KIRIN_CHECK`: whether samples of the results are recomputed.
    pub check: bool,
    /// `KIRIN_TRACE`: the file, if there is to be one.
    pub trace: Option<OsString>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            backend: BackendChoice::Auto,
            precision: Precision::Mixed,
            devices: Devices::Auto,
            predictor: Place::Auto,
            join: Place::Auto,
            split: true,
            gpu_timeout: None,
            npipes: 48,
            threads: 0,
            simd: InstructionSet::Auto,
            snap: true,
            no_neighbour: NoNeighbour::Auto,
            nbody6: Nbody6::PlusPlus,
            stats: Destination::Off,
            trace: None,
            check: false,
        }
    }
}

impl Settings {
    /// Whether a particle within its own radius stands in its own neighbour list.
    ///
    /// kira concludes from more than 48 pipelines that it talks to a library
    /// which lists the particle itself, and from at most 48 that it does not.
    pub fn lists_include_self(&self) -> bool {
        self.npipes > 48
    }
}

/// One setting, for the documentation and for `kirin info`.
pub struct Setting {
    /// Name of the environment variable.
    pub name: &'static str,
    /// Legal values, in words.
    pub values: &'static str,
    /// Value where the variable is not set.
    pub default: &'static str,
    /// What it does.
    pub about: &'static str,
    apply: fn(&mut Settings, &OsStr) -> Result<(), ()>,
    show: fn(&Settings) -> String,
}

impl Setting {
    /// The value in `settings`, as the user would write it.
    pub fn value(&self, settings: &Settings) -> String {
        (self.show)(settings)
    }
}

/// Every setting there is.
pub const SETTINGS: &[Setting] = &[
    Setting {
        name: "KIRIN_BACKEND",
        values: "auto, cuda, cpu, reference",
        default: "auto",
        about: "what computes the forces",
        apply: |s, v| parse(v).map(|v| s.backend = v),
        show: |s| s.backend.to_string(),
    },
    Setting {
        name: "KIRIN_PRECISION",
        values: "mixed, double, single",
        default: "mixed",
        about: "arithmetic of the forces",
        apply: |s, v| parse(v).map(|v| s.precision = v),
        show: |s| s.precision.to_string(),
    },
    Setting {
        name: "KIRIN_DEVICES",
        values: "auto, all, or numbers such as 0,2",
        default: "auto",
        about: "which GPUs to use; auto is one, chosen by the local MPI rank",
        apply: |s, v| parse(v).map(|v| s.devices = v),
        show: |s| s.devices.to_string(),
    },
    Setting {
        name: "KIRIN_PREDICTOR",
        values: "auto, host, device",
        default: "auto",
        about: "where j-particles are predicted for a GPU; the results are the same",
        apply: |s, v| parse(v).map(|v| s.predictor = v),
        show: |s| s.predictor.to_string(),
    },
    Setting {
        name: "KIRIN_JOIN",
        values: "auto, host, device",
        default: "auto",
        about: "where the partial sums of a GPU are joined; the results are the same",
        apply: |s, v| parse(v).map(|v| s.join = v),
        show: |s| s.join.to_string(),
    },
    Setting {
        name: "KIRIN_SPLIT",
        values: "auto, off",
        default: "auto",
        about: "whether the j-particles of a block too small to fill the GPU, or the cores, are divided too; the results are the same",
        apply: |s, v| {
            s.split = match lower_case(v)?.as_str() {
                "auto" => true,
                "off" => false,
                _ => return Err(()),
            };
            Ok(())
        },
        show: |s| if s.split { "auto" } else { "off" }.to_owned(),
    },
    Setting {
        name: "KIRIN_GPU_TIMEOUT",
        values: "off, 1 to 86400",
        default: "off",
        about: "seconds beyond ten times the planned time of a block after which a GPU that does not answer counts as lost",
        apply: |s, v| {
            s.gpu_timeout = match lower_case(v)?.as_str() {
                "off" => None,
                _ => Some(integer(v, 1, 86400)?.cast_unsigned()),
            };
            Ok(())
        },
        show: |s| {
            s.gpu_timeout
                .map_or_else(|| "off".to_owned(), |n| n.to_string())
        },
    },
    Setting {
        name: "KIRIN_NPIPES",
        values: "2 to 16384",
        default: "48",
        about: "number of pipelines that g6_npipes reports; 256 or more spares calls, for programs without fixed arrays for 48",
        apply: |s, v| integer(v, 2, 16384).map(|v| s.npipes = v),
        show: |s| s.npipes.to_string(),
    },
    Setting {
        name: "KIRIN_THREADS",
        values: "auto, 1 to 4096",
        default: "auto",
        about: "threads of the CPU backend; auto is the cores allowed to the process, divided by the local MPI ranks",
        apply: |s, v| {
            let threads = if lower_case(v)? == "auto" {
                0
            } else {
                integer(v, 1, 4096)?
            };
            s.threads = usize::try_from(threads).map_err(|_| ())?;
            Ok(())
        },
        show: |s| match s.threads {
            0 => "auto".to_owned(),
            n => n.to_string(),
        },
    },
    Setting {
        name: "KIRIN_SIMD",
        values: "auto, portable, avx2, avx512, neon",
        default: "auto",
        about: "instruction set of the CPU backend",
        apply: |s, v| parse(v).map(|v| s.simd = v),
        show: |s| s.simd.to_string(),
    },
    Setting {
        name: "KIRIN_SNAP",
        values: "use, ignore",
        default: "use",
        about: "whether the fourth-order term a2by18 enters the prediction, as on GRAPE-6",
        apply: |s, v| {
            s.snap = match lower_case(v)?.as_str() {
                "use" => true,
                "ignore" => false,
                _ => return Err(()),
            };
            Ok(())
        },
        show: |s| if s.snap { "use" } else { "ignore" }.to_owned(),
    },
    Setting {
        name: "KIRIN_NO_NEIGHBOUR",
        values: "auto, 0, -1",
        default: "auto",
        about: "what lasthalf2 writes where there is no neighbour; auto keeps a -1 that is there and writes 0 otherwise",
        apply: |s, v| parse(v).map(|v| s.no_neighbour = v),
        show: |s| s.no_neighbour.to_string(),
    },
    Setting {
        name: "KIRIN_NBODY6",
        values: "6++, amuse, 6",
        default: "6++",
        about: "whose arguments gpunb_* and gpupot_ have: those of NBODY6++, of AMUSE's nbody6xx, or of NBODY6 and NBODY7",
        apply: |s, v| parse(v).map(|v| s.nbody6 = v),
        show: |s| s.nbody6.to_string(),
    },
    Setting {
        name: "KIRIN_STATS",
        values: "0, 1, or a file",
        default: "0",
        about: "statistics of each cluster when it is closed and at the end: 1 to stderr, else to the end of that file; %p in its name is the process id, %r the MPI rank",
        apply: |s, v| destination(v).map(|v| s.stats = v),
        show: |s| s.stats.to_string(),
    },
    Setting {
        name: "KIRIN_TRACE",
        values: "0, or a file",
        default: "0",
        about: "file in which all calls are recorded for kirin replay; %p in its name is the process id, %r the MPI rank",
        apply: |s, v| {
            s.trace = match v.as_bytes() {
                b"" => return Err(()),
                b"0" => None,
                _ => Some(v.to_owned()),
            };
            Ok(())
        },
        show: |s| s.trace.as_deref().map_or_else(|| "0".to_owned(), echo),
    },
    Setting {
        name: "KIRIN_CHECK",
        values: "0, 1",
        default: "0",
        about: "whether some results of each block are recomputed in double precision on the host, in a tenth of the time, and wrong ones reported",
        apply: |s, v| integer(v, 0, 1).map(|v| s.check = v == 1),
        show: |s| i32::from(s.check).to_string(),
    },
];

/// Gives an enumeration the names that users write.
macro_rules! names {
    ($type:ty { $($variant:ident = $name:literal),+ $(,)? }) => {
        impl FromStr for $type {
            type Err = ();
            fn from_str(s: &str) -> Result<Self, ()> {
                match s.to_ascii_lowercase().as_str() {
                    $($name => Ok(Self::$variant),)+
                    _ => Err(()),
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$variant => $name,)+ })
            }
        }
    };
}

names!(BackendChoice { Auto = "auto", Cuda = "cuda", Cpu = "cpu", Reference = "reference" });
names!(Place { Auto = "auto", Host = "host", Device = "device" });
names!(Precision { Mixed = "mixed", Double = "double", Single = "single" });
names!(NoNeighbour { Auto = "auto", Zero = "0", MinusOne = "-1" });
names!(Nbody6 { PlusPlus = "6++", Amuse = "amuse", Six = "6" });
names!(InstructionSet {
    Auto = "auto",
    Portable = "portable",
    Avx2 = "avx2",
    Avx512 = "avx512",
    Neon = "neon",
});

impl FromStr for Devices {
    type Err = ();
    fn from_str(s: &str) -> Result<Self, ()> {
        match s {
            "auto" => Ok(Self::Auto),
            "all" => Ok(Self::All),
            list => {
                let numbers = list.split(',').map(|n| n.trim().parse().map_err(|_| ()));
                let mut numbers = numbers.collect::<Result<Vec<usize>, ()>>()?;
                numbers.sort_unstable();
                numbers.dedup();
                Ok(Self::These(numbers))
            }
        }
    }
}

impl fmt::Display for Devices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::All => f.write_str("all"),
            Self::These(numbers) => {
                let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
                f.write_str(&numbers.join(","))
            }
        }
    }
}

fn destination(value: &OsStr) -> Result<Destination, ()> {
    match value.as_bytes() {
        b"" => Err(()),
        b"0" => Ok(Destination::Off),
        b"1" => Ok(Destination::Stderr),
        _ => Ok(Destination::File(value.to_owned())),
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("0"),
            Self::Stderr => f.write_str("1"),
            Self::File(name) => f.write_str(&echo(name)),
        }
    }
}

fn parse<T: FromStr<Err = ()>>(value: &OsStr) -> Result<T, ()> {
    value.to_str().ok_or(())?.parse()
}

fn lower_case(value: &OsStr) -> Result<String, ()> {
    Ok(value.to_str().ok_or(())?.to_ascii_lowercase())
}

fn integer(value: &OsStr, least: i32, most: i32) -> Result<i32, ()> {
    let n: i32 = value.to_str().ok_or(())?.parse().map_err(|_| ())?;
    if (least..=most).contains(&n) {
        Ok(n)
    } else {
        Err(())
    }
}

/// Settings from `variables`, with a sentence for each one that is not as it should be.
/// A variable with a bad value keeps its default.
pub fn from_variables(
    variables: impl IntoIterator<Item = (OsString, OsString)>,
) -> (Settings, Vec<String>) {
    let mut settings = Settings::default();
    let mut complaints = Vec::new();
    for (name, value) in variables {
        match SETTINGS.iter().find(|s| s.name == name) {
            Some(setting) => {
                let taken = (setting.apply)(&mut settings, trimmed(&value));
                if taken.is_err() {
                    complaints.push(format!(
                        "{}={} is not one of: {}; {} is used",
                        setting.name,
                        echo(&value),
                        setting.values,
                        setting.default
                    ));
                }
            }
            None if name.as_bytes().starts_with(b"KIRIN_") => {
                complaints.push(unknown(&echo(&name)));
            }
            None => {}
        }
    }
    complaints.sort();
    (settings, complaints)
}

/// A value without blanks around it, where it is text.
fn trimmed(value: &OsStr) -> &OsStr {
    value.to_str().map_or(value, |text| OsStr::new(text.trim()))
}

/// Most characters of a user's text that messages show.
const SHOWN: usize = 200;

/// A text of the user's for a message: on one line, and cut where it is long.
pub fn echo(text: &OsStr) -> String {
    let text: Cow<'_, str> = text.to_string_lossy();
    let plain = |c: char| if c.is_control() { '?' } else { c };
    match text.char_indices().nth(SHOWN) {
        None => text.chars().map(plain).collect(),
        Some((end, _)) => text[..end]
            .chars()
            .map(plain)
            .chain("...".chars())
            .collect(),
    }
}

fn unknown(name: &str) -> String {
    let nearest = SETTINGS
        .iter()
        .map(|s| (edit_distance(name, s.name), s.name))
        .min()
        .filter(|&(distance, _)| distance <= 4);
    match nearest {
        Some((_, candidate)) => format!("unknown setting {name}; did you mean {candidate}?"),
        None => format!("unknown setting {name}"),
    }
}

/// Levenshtein distance: insertions, deletions and replacements of single bytes.
fn edit_distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, cb) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// The settings of this process. The first use reads the environment and
/// reports what is wrong with it.
pub fn settings() -> &'static Settings {
    // Nobody waits for another thread, which a child of a fork would not have: both read.
    static READ: AtomicPtr<Settings> = AtomicPtr::new(ptr::null_mut());
    // SAFETY: settings are never freed, and are complete before they can be reached.
    if let Some(settings) = unsafe { READ.load(Ordering::Acquire).as_ref() } {
        return settings;
    }
    let (settings, complaints) = from_variables(std::env::vars_os());
    let mine = Box::into_raw(Box::new(settings));
    let first = READ.compare_exchange(ptr::null_mut(), mine, Ordering::AcqRel, Ordering::Acquire);
    let settings = match first {
        Ok(_) => {
            complaints.iter().for_each(crate::process::log::line);
            mine
        }
        Err(others) => others,
    };
    // SAFETY: as above; the thread that was slower leaves its own unused.
    unsafe { &*settings }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> (Settings, Vec<String>) {
        from_variables(pairs.iter().map(|&(n, v)| (n.into(), v.into())))
    }

    #[test]
    fn good_values_are_taken() {
        let (s, complaints) = read(&[
            ("KIRIN_BACKEND", "reference"),
            ("KIRIN_PRECISION", "Double"),
            ("KIRIN_NPIPES", "48"),
            ("KIRIN_THREADS", "3"),
            ("KIRIN_SNAP", "ignore"),
            ("KIRIN_SPLIT", "off"),
            ("KIRIN_GPU_TIMEOUT", "30"),
            ("KIRIN_NO_NEIGHBOUR", "-1"),
            ("KIRIN_STATS", "/tmp/Stats-%p"),
            ("KIRIN_TRACE", "/tmp/Trace"),
            ("KIRIN_CHECK", "1"),
            ("HOME", "/root"),
        ]);
        assert_eq!(complaints, Vec::<String>::new());
        assert_eq!(s.backend, BackendChoice::Reference);
        assert_eq!(s.precision, Precision::Double);
        assert_eq!((s.npipes, s.threads, s.snap), (48, 3, false));
        assert!(!s.split);
        assert_eq!(s.gpu_timeout, Some(30));
        assert_eq!(s.no_neighbour, NoNeighbour::MinusOne);
        assert_eq!(s.stats, Destination::File("/tmp/Stats-%p".into()));
        assert_eq!(
            (s.trace.as_deref(), s.check),
            (Some("/tmp/Trace".as_ref()), true)
        );
        assert!(!s.lists_include_self());
    }

    #[test]
    fn bad_values_are_reported_and_replaced_by_the_default() {
        let (s, complaints) = read(&[("KIRIN_NPIPES", "1"), ("KIRIN_PRECISION", "doubel")]);
        assert_eq!(s, Settings::default());
        assert_eq!(complaints.len(), 2);
        assert!(
            complaints[1].contains("mixed, double, single"),
            "{complaints:?}"
        );
    }

    #[test]
    fn what_is_no_text_is_a_file_name_or_reported() {
        let bytes = OsStr::from_bytes(b"/tmp/\xff\xfe");
        let pair = |name: &str| (name.into(), bytes.to_owned());
        let (s, complaints) = from_variables([pair("KIRIN_STATS"), pair("KIRIN_TRACE")]);
        assert_eq!(complaints, Vec::<String>::new());
        assert_eq!(s.stats, Destination::File(bytes.to_owned()));
        assert_eq!(s.trace.as_deref(), Some(bytes));
        let others = || {
            SETTINGS
                .iter()
                .filter(|s| !["KIRIN_STATS", "KIRIN_TRACE"].contains(&s.name))
        };
        let (s, complaints) = from_variables(others().map(|s| pair(s.name)));
        assert_eq!(s, Settings::default());
        assert_eq!(complaints.len(), others().count());
        let (_, complaints) =
            from_variables([(OsStr::from_bytes(b"KIRIN_\xff").to_owned(), "1".into())]);
        assert_eq!(complaints.len(), 1);
    }

    #[test]
    fn echoes_are_short_and_on_one_line() {
        assert_eq!(echo(OsStr::new("a\nb\u{1b}c")), "a?b?c");
        assert_eq!(echo(OsStr::new(&"é".repeat(200))), "é".repeat(200));
        let long = echo(OsStr::new(&"é".repeat(100_000)));
        assert_eq!(long, "é".repeat(200) + "...");
    }

    #[test]
    fn misspelt_names_are_reported_with_the_nearest_valid_one() {
        let (_, complaints) = read(&[("KIRIN_PRECISON", "double")]);
        assert!(complaints[0].contains("KIRIN_PRECISION"), "{complaints:?}");
    }

    #[test]
    fn shown_values_can_be_read_back() {
        let defaults = Settings::default();
        for setting in SETTINGS {
            assert_eq!(
                setting.value(&defaults),
                setting.default,
                "{}",
                setting.name
            );
            let mut copy = defaults.clone();
            (setting.apply)(&mut copy, setting.value(&defaults).as_ref()).expect(setting.name);
            assert_eq!(copy, defaults, "{}", setting.name);
        }
    }
}
