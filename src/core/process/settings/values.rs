//! The values of settings: enumerations with the names that users write.

use crate::error::Error;
use std::ffi::OsString;
use std::fmt;
use std::str::FromStr;

use super::echo;

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

impl BackendChoice {
    /// Whether GPUs may compute.
    pub fn may_take_gpu(self) -> bool {
        matches!(self, Self::Auto | Self::Cuda)
    }
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
    /// Acceleration and potential in pairs of single-precision numbers, jerks in single precision: for GPUs.
    DoubleSingle,
    /// As single, with reciprocal roots of 11 bits: for accelerations and potentials on a CPU.
    Reduced,
}

impl Precision {
    /// Every precision.
    pub const ALL: [Self; 5] = [
        Self::Mixed,
        Self::DoubleSingle,
        Self::Double,
        Self::Single,
        Self::Reduced,
    ];

    /// Replaces `double-single` by double precision, for CPUs and for NBODY6's regular force on any backend. Neither
    /// computes in pairs of single-precision numbers.
    pub fn without_pairs(self) -> Self {
        match self {
            Self::DoubleSingle => Self::Double,
            other => other,
        }
    }

    /// Replaces `reduced` by `single`, for jerks, for NBODY6's regular force and for GPUs. None of these is computed in
    /// `reduced`.
    pub fn without_reduced(self) -> Self {
        match self {
            Self::Reduced => Self::Single,
            other => other,
        }
    }

    /// The name in those of kernels.
    pub fn in_kernels(self) -> &'static str {
        match self {
            Self::Mixed => "mixed",
            Self::Double => "double",
            Self::Single | Self::Reduced => "single",
            Self::DoubleSingle => "double_single",
        }
    }
}

/// Which arithmetic a cluster of GRAPE-6 takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PrecisionChoice {
    /// A better precision than `mixed` for few j-particles that have velocities, `mixed` for all others. The better
    /// precision and the largest number of j-particles for it depend on what computes: see [`crate::choice::Rule`].
    #[default]
    Auto,
    /// The same, and the better precision for good once the noise of single precision limits the time steps.
    Adaptive,
    /// This one.
    Always(Precision),
}

impl PrecisionChoice {
    /// Every choice, at the number that stands for it in `kirin_set_precision`.
    pub const ALL: [Self; 7] = [
        Self::Auto,
        Self::Always(Precision::Mixed),
        Self::Always(Precision::Double),
        Self::Always(Precision::Single),
        Self::Adaptive,
        Self::Always(Precision::DoubleSingle),
        Self::Always(Precision::Reduced),
    ];

    /// The choice at a number.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn by_number(number: i32) -> crate::error::Result<Self> {
        let choice = usize::try_from(number).ok().and_then(|n| Self::ALL.get(n));
        choice.copied().ok_or(Error::OutOfRange {
            argument: "precision",
            value: number.into(),
            legal: "precisions are KIRIN_AUTO to KIRIN_REDUCED, 0 to 6",
        })
    }

    /// The arithmetic where no rule applies: for NBODY6, GRAPE-5, and masses at rest.
    pub fn arithmetic(self) -> Precision {
        match self {
            Self::Always(precision) => precision,
            Self::Auto | Self::Adaptive => Precision::Mixed,
        }
    }
}

impl FromStr for PrecisionChoice {
    type Err = ();
    fn from_str(s: &str) -> Result<Self, ()> {
        match s.to_ascii_lowercase().as_str() {
            "auto" => Ok(Self::Auto),
            "adaptive" => Ok(Self::Adaptive),
            other => other.parse().map(Self::Always),
        }
    }
}

impl fmt::Display for PrecisionChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Adaptive => f.write_str("adaptive"),
            Self::Always(precision) => precision.fmt(f),
        }
    }
}

/// What `lasthalf2` writes for an i-particle without a nearest neighbour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NoNeighbour {
    /// An entry that is -1 before the call stays -1, any other becomes 0: ph4 prefills -1 and tests for it, kira takes
    /// a negative index for a hardware error.
    #[default]
    Auto,
    /// Always 0.
    Zero,
    /// Always -1.
    MinusOne,
}

/// Which GPUs a cluster uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Devices {
    /// One that can be used, in turns by the local MPI rank and by this number of the cluster in its process.
    Auto(usize),
    /// All of them.
    All,
    /// Those with these numbers.
    These(Vec<usize>),
}

/// Where something is done that the host or the GPU can do, with the same bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HostOrDevice {
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
    /// NBODY6++, nbodyx's and the one of Beijing.
    #[default]
    PlusPlus,
    /// AMUSE's nbody6xx, NBODY6++ of 2012 and 2013.
    Amuse,
    /// NBODY6 and NBODY7.
    Six,
    /// Older versions of NBODY6, in which a neighbour radius holds for stars of any mass.
    SixRadius,
    /// The first versions of NBODY6 (2009 to 2012, folder `GPU`) and NBODY6++ (2009 to 2011) for GPUs: as [`Self::SixRadius`], and no
    /// regular step is passed.
    SixOf2009,
}

impl Nbody6 {
    /// Whether it is a version of NBODY6 or NBODY7, whose `gpupot_` has four arguments.
    pub fn is_six(self) -> bool {
        matches!(self, Self::Six | Self::SixRadius | Self::SixOf2009)
    }
}

/// Whether the calls of GRAPE-5 bring softening lengths of j-particles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grape5 {
    /// They do not, as far as anyone said.
    #[default]
    Auto,
    /// They do not.
    Plain,
    /// They do: the program was compiled for Phantom-GRAPE with `SYMMETRIC`.
    Symmetric,
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

/// What worker threads of the CPU do between blocks, as OpenMP's `OMP_WAIT_POLICY` says it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WaitPolicy {
    /// They stay awake while blocks keep coming.
    #[default]
    Auto,
    /// They stay awake for a second after each block.
    Active,
    /// They sleep at once; small blocks are computed by the calling thread.
    Passive,
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
names!(HostOrDevice { Auto = "auto", Host = "host", Device = "device" });
names!(Precision {
    Mixed = "mixed",
    Double = "double",
    Single = "single",
    DoubleSingle = "double-single",
    Reduced = "reduced",
});
names!(NoNeighbour { Auto = "auto", Zero = "0", MinusOne = "-1" });
names!(Grape5 { Auto = "auto", Plain = "plain", Symmetric = "symmetric" });
names!(Nbody6 { PlusPlus = "6++", Amuse = "amuse", Six = "6", SixRadius = "6-radius", SixOf2009 = "6-2009" });
names!(WaitPolicy { Auto = "auto", Active = "active", Passive = "passive" });
names!(InstructionSet {
    Auto = "auto",
    Portable = "portable",
    Avx2 = "avx2",
    Avx512 = "avx512",
    Neon = "neon",
});

impl Default for Devices {
    fn default() -> Self {
        Self::Auto(0)
    }
}

impl Devices {
    /// Whether neither the user nor the client named any.
    pub fn is_auto(&self) -> bool {
        matches!(self, Self::Auto(_))
    }
}

impl FromStr for Devices {
    type Err = ();
    fn from_str(s: &str) -> Result<Self, ()> {
        match s {
            "auto" => Ok(Self::default()),
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
            Self::Auto(_) => f.write_str("auto"),
            Self::All => f.write_str("all"),
            Self::These(numbers) => {
                let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
                f.write_str(&numbers.join(","))
            }
        }
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
