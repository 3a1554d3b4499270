//! The table of all settings: names, legal values, defaults, and how each is read and shown.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::str::FromStr;

use super::values::Destination;
use super::{Settings, echo};

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
    pub(super) apply: fn(&mut Settings, &OsStr) -> Result<(), ()>,
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
        values: "auto, adaptive, mixed, double-single, double, single, reduced",
        default: "auto",
        about: "arithmetic of the forces; auto is double precision for few j-particles with velocities (double-single on GPUs with few units for it), else mixed; adaptive turns to that when noise limits time steps, too; double-single is for GPUs, a CPU takes double; reduced is for forces without jerks on a CPU, others take single",
        apply: |s, v| parse(v).map(|v| s.precision = v),
        show: |s| s.precision.to_string(),
    },
    Setting {
        name: "KIRIN_DEVICES",
        values: "auto, all, or numbers such as 0,2",
        default: "auto",
        about: "which GPUs to use; auto is one for each cluster, in turn by the local MPI rank and the clusters of the process",
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
        about: "number of pipelines that g6_npipes reports; 256 or more spares calls, for programs without fixed arrays for 48; with more than 48 a particle is in its own neighbour list, as kira expects",
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
        name: "KIRIN_WAIT_POLICY",
        values: "auto, active, passive",
        default: "auto",
        about: "what the threads of the CPU backend do between blocks: stay awake while blocks keep coming (auto), stay awake for a second (active), or sleep at once (passive: blocks below 100 microseconds take one thread)",
        apply: |s, v| parse(v).map(|v| s.wait_policy = v),
        show: |s| s.wait_policy.to_string(),
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
        name: "KIRIN_GRAPE5",
        values: "auto, plain, symmetric",
        default: "auto",
        about: "symmetric for programs that were compiled for Phantom-GRAPE with SYMMETRIC: g5_set_xmj and g5_set_xmjMC bring the square of a softening length for each j-particle; plain for all others; auto is plain, with a line on stderr where the program may be one of these",
        apply: |s, v| parse(v).map(|v| s.grape5 = v),
        show: |s| s.grape5.to_string(),
    },
    Setting {
        name: "KIRIN_NBODY6",
        values: "auto, 6++, amuse, 6, 6-radius, 6-2009",
        default: "auto",
        about: "whose arguments gpunb_* and gpupot_ have: those of NBODY6++, of AMUSE's nbody6xx and NBODY6++ of 2012 (amuse), of NBODY6 and NBODY7, of older versions of NBODY6, whose h2 is RS**2 (6-radius), or of NBODY6's and NBODY6++'s first versions for GPUs, which also pass no regular step (6-2009); auto is 6 for a program that imports gpuirr_open_, 6-2009 for one that imports only cnbint_, else 6++",
        apply: |s, v| {
            s.nbody6 = match lower_case(v)?.as_str() {
                "auto" => None,
                _ => Some(parse(v)?),
            };
            Ok(())
        },
        show: |s| {
            s.nbody6
                .map_or_else(|| "auto".to_owned(), |n| n.to_string())
        },
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
                b"0" => None,
                // There is no other place for a trace than a file.
                b"1" => return Err(()),
                _ => Some(file(v)?),
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

fn destination(value: &OsStr) -> Result<Destination, ()> {
    match value.as_bytes() {
        b"0" => Ok(Destination::Off),
        b"1" => Ok(Destination::Stderr),
        _ => Ok(Destination::File(file(value)?)),
    }
}

/// The name of a file, which is none of the words for a switch. A file of such a name has a folder before it, as `./on`.
fn file(value: &OsStr) -> Result<OsString, ()> {
    const SWITCHES: [&str; 6] = ["yes", "no", "on", "off", "true", "false"];
    match SWITCHES.iter().any(|word| value.eq_ignore_ascii_case(word)) {
        true => Err(()),
        false => Ok(value.to_owned()),
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
