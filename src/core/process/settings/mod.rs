//! The settings of the library: environment variables `KIRIN_*`, read once at
//! the first call that needs one.

mod table;
mod values;

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::allocation;
use crate::error::Result;

pub use self::table::{SETTINGS, Setting};
pub use self::values::*;

/// Everything a user can set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `KIRIN_BACKEND`
    pub backend: BackendChoice,
    /// `KIRIN_PRECISION`
    pub precision: PrecisionChoice,
    /// `KIRIN_DEVICES`
    pub devices: Devices,
    /// `KIRIN_PREDICTOR`: where j-particles are predicted for a GPU.
    pub predictor: HostOrDevice,
    /// `KIRIN_JOIN`: where the partial sums of a GPU are joined.
    pub join: HostOrDevice,
    /// `KIRIN_SPLIT`: whether the j-particles of a small block are divided too.
    pub split: bool,
    /// `KIRIN_GPU_TIMEOUT`: seconds that a GPU may take beyond its time before it counts as lost.
    pub gpu_timeout: Option<u32>,
    /// `KIRIN_NPIPES`: what `g6_npipes` answers.
    pub npipes: i32,
    /// `KIRIN_THREADS`: 0 stands for the cores allowed to the process.
    pub threads: usize,
    /// `KIRIN_WAIT_POLICY`: what the threads do between blocks.
    pub wait_policy: WaitPolicy,
    /// `KIRIN_SIMD`
    pub simd: InstructionSet,
    /// `KIRIN_SNAP`: whether `a2by18` enters the prediction.
    pub snap: bool,
    /// `KIRIN_NO_NEIGHBOUR`
    pub no_neighbour: NoNeighbour,
    /// `KIRIN_GRAPE5`: whether the calls of GRAPE-5 bring softening lengths of j-particles.
    pub grape5: Grape5,
    /// `KIRIN_NBODY6`; `None` stands for what the imports of the program show.
    pub nbody6: Option<Nbody6>,
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
            precision: PrecisionChoice::Auto,
            devices: Devices::default(),
            predictor: HostOrDevice::Auto,
            join: HostOrDevice::Auto,
            split: true,
            gpu_timeout: None,
            npipes: 48,
            threads: 0,
            wait_policy: WaitPolicy::Auto,
            simd: InstructionSet::Auto,
            snap: true,
            no_neighbour: NoNeighbour::Auto,
            grape5: Grape5::Auto,
            nbody6: None,
            stats: Destination::Off,
            trace: None,
            check: false,
        }
    }
}

impl Settings {
    /// Whether a particle within its own radius stands in its own neighbour list.
    ///
    /// With more than 48 pipelines kira expects each particle in its own neighbour list; with up to 48 it expects the
    /// opposite.
    pub fn lists_include_self(&self) -> bool {
        self.npipes > 48
    }
}

/// Settings from `variables`, and one sentence for each variable that is wrong. A setting with a bad value keeps its
/// default.
pub fn from_variables(
    variables: impl IntoIterator<Item = (OsString, OsString)>,
) -> (Settings, Vec<String>) {
    let mut settings = Settings::default();
    let mut complaints = Vec::new();
    for (name, value) in variables {
        match SETTINGS.iter().find(|s| s.name == name) {
            // As if it were not set: scripts empty a variable in order to take it back.
            Some(_) if trimmed(&value).is_empty() => {}
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

/// As [`from_variables`], but reads no variable if the program is `privileged`. Such a program has rights that its user
/// lacks, and a variable could have it write to files that the user may not write to.
fn of_process(
    privileged: bool,
    variables: impl IntoIterator<Item = (OsString, OsString)>,
) -> (Settings, Vec<String>) {
    if !privileged {
        return from_variables(variables);
    }
    let mut names = variables.into_iter().map(|(name, _)| name);
    let is_ours = |name: OsString| name.as_bytes().starts_with(b"KIRIN_");
    let complaints = match names.any(is_ours) {
        true => vec![
            "this program has other rights than its user: no setting KIRIN_* is read".to_owned(),
        ],
        false => Vec::new(),
    };
    (Settings::default(), complaints)
}

/// Whether the system started this program with other rights than those of its user: setuid, setgid, with capabilities.
fn is_privileged() -> bool {
    // SAFETY: plain questions.
    #[cfg(target_os = "linux")]
    unsafe {
        libc::getauxval(libc::AT_SECURE) != 0
    }
    // SAFETY: as above.
    #[cfg(not(target_os = "linux"))]
    unsafe {
        libc::geteuid() != libc::getuid() || libc::getegid() != libc::getgid()
    }
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

static READ: AtomicPtr<Settings> = AtomicPtr::new(ptr::null_mut());

fn known() -> Option<&'static Settings> {
    // SAFETY: settings are never freed, and are complete before they can be reached.
    unsafe { READ.load(Ordering::Acquire).as_ref() }
}

/// [`settings`], for a call that may be the first one of the process.
///
/// # Errors
///
/// They were not read yet, and there is no memory.
pub fn with_memory() -> Result<&'static Settings> {
    if known().is_none() {
        allocation::spare(0, "the settings")?;
    }
    Ok(settings())
}

/// The settings of this process. The first use reads the environment and
/// reports what is wrong with it.
pub fn settings() -> &'static Settings {
    if let Some(settings) = known() {
        return settings;
    }
    // Nobody waits for another thread, which a child of a fork would not have: both read.
    let (settings, complaints) = of_process(is_privileged(), std::env::vars_os());
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
        assert_eq!(s.precision, PrecisionChoice::Always(Precision::Double));
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
    fn every_precision_has_a_name_and_a_number() {
        for (name, number) in [
            ("auto", 0),
            ("mixed", 1),
            ("double", 2),
            ("single", 3),
            ("ADAPTIVE", 4),
            ("double-single", 5),
            ("reduced", 6),
        ] {
            let (s, complaints) = read(&[("KIRIN_PRECISION", name)]);
            assert_eq!(complaints, Vec::<String>::new());
            assert_eq!(s.precision, PrecisionChoice::ALL[number]);
        }
    }

    #[test]
    fn bad_values_are_reported_and_replaced_by_the_default() {
        let (s, complaints) = read(&[("KIRIN_NPIPES", "1"), ("KIRIN_PRECISION", "doubel")]);
        assert_eq!(s, Settings::default());
        assert_eq!(complaints.len(), 2);
        assert!(
            complaints[1].contains("auto, adaptive, mixed, double-single, double, single, reduced"),
            "{complaints:?}"
        );
    }

    #[test]
    fn an_empty_setting_is_as_unset() {
        for value in ["", "  "] {
            for setting in SETTINGS {
                let (s, complaints) = read(&[(setting.name, value)]);
                assert_eq!((s, complaints.len()), (Settings::default(), 0));
            }
        }
    }

    #[test]
    fn words_for_a_switch_name_no_file() {
        for word in ["yes", "no", "on", "off", "true", "FALSE"] {
            for name in ["KIRIN_STATS", "KIRIN_TRACE"] {
                let (s, complaints) = read(&[(name, word)]);
                assert_eq!((s, complaints.len()), (Settings::default(), 1), "{word}");
            }
        }
        let (s, complaints) = read(&[("KIRIN_TRACE", "1")]);
        assert_eq!((s.trace, complaints.len()), (None, 1));
        let (s, _) = read(&[("KIRIN_TRACE", "./on"), ("KIRIN_STATS", "10")]);
        assert_eq!(s.trace.as_deref(), Some("./on".as_ref()));
        assert_eq!(s.stats, Destination::File("10".into()));
    }

    #[test]
    fn a_privileged_program_reads_none() {
        let variables = |name: &str| [(name.into(), "1".into()), ("HOME".into(), "/root".into())];
        for (name, lines) in [("KIRIN_STATS", 1), ("KIRIN_NO_SUCH", 1), ("OTHER", 0)] {
            let (s, complaints) = of_process(true, variables(name));
            assert_eq!((s, complaints.len()), (Settings::default(), lines));
        }
        let (s, _) = of_process(false, variables("KIRIN_STATS"));
        assert_eq!(s.stats, Destination::Stderr);
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
