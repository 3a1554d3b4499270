//! Chooses the backend for each kind of force, as the settings ask. If there is no GPU, the CPU computes.

use crate::cpu;
use crate::force::Backend;
use crate::force::irregular::{self, IrregularForce};
use crate::force::reference;
use crate::force::regular::{self, RegularForce};
use crate::gpu::cuda;
use crate::process::settings::{BackendChoice, Precision, PrecisionChoice, Settings};

/// The rules by which `auto` chooses a precision and what computes. They depend only on the kind of processor
/// and on the GPUs that `settings` name, and not on whether one of these GPUs fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Up to how many j-particles it takes the better precision; above, `mixed`.
    pub up_to: usize,
    /// The better precision, which is also that of `adaptive` where noise limits the time steps.
    pub better: Precision,
    /// Whether GPUs compute.
    pub on_gpu: bool,
    /// Up to how many moving j-particles the CPU computes the blocks of a GRAPE-6 cluster although GPUs compute the
    /// others, if `KIRIN_BACKEND` is `auto`.
    pub on_cpu_up_to: usize,
}

impl Rule {
    /// The rule under `settings`.
    pub fn of(settings: &Settings) -> Self {
        let on_gpu = match settings.backend {
            BackendChoice::Auto | BackendChoice::Cuda => cuda::rule(settings),
            BackendChoice::Cpu | BackendChoice::Reference => None,
        };
        on_gpu.unwrap_or(Self {
            up_to: cpu::DOUBLE_UP_TO,
            better: Precision::Double,
            on_gpu: false,
            on_cpu_up_to: 0,
        })
    }

    /// Whether the CPU computes a block of a GRAPE-6 cluster with `nj` moving j-particles in place of a GPU.
    pub fn gives_to_cpu(&self, nj: usize) -> bool {
        self.on_gpu && nj <= self.on_cpu_up_to
    }

    /// What computes where `precision` is asked for.
    pub fn takes(&self, precision: Precision) -> Precision {
        match self.on_gpu {
            true => precision.without_reduced(),
            false => precision.without_pairs(),
        }
    }
}

/// The backend that `settings` ask for.
pub fn choose(settings: &Settings) -> Box<dyn Backend> {
    match settings.backend {
        BackendChoice::Auto | BackendChoice::Cuda => match cuda::choose(settings) {
            Ok(backend) => backend,
            Err(absence) => {
                cuda::report_absence(settings, &absence);
                cpu::choose(settings)
            }
        },
        BackendChoice::Cpu => cpu::choose(settings),
        BackendChoice::Reference => Box::new(reference::Reference),
    }
}

/// As [`choose`], for NBODY6's regular force.
pub fn choose_regular(settings: &Settings) -> Box<dyn RegularForce> {
    let settings = &Settings {
        precision: PrecisionChoice::Always(regular_precision(settings)),
        ..settings.clone()
    };
    match settings.backend {
        BackendChoice::Auto | BackendChoice::Cuda => match cuda::choose_regular(settings) {
            Ok(backend) => backend,
            Err(absence) => {
                cuda::report_absence(settings, &absence);
                cpu::choose_regular(settings)
            }
        },
        BackendChoice::Cpu => cpu::choose_regular(settings),
        BackendChoice::Reference => Box::new(regular::PlainRegular),
    }
}

/// The precision of that.
pub fn regular_precision(settings: &Settings) -> Precision {
    match settings.backend {
        BackendChoice::Reference => Precision::Double,
        _ => (settings.precision.arithmetic())
            .without_pairs()
            .without_reduced(),
    }
}

/// The precision of the forces of GRAPE-5, whose sources are at rest.
pub fn precision_at_rest(settings: &Settings) -> Precision {
    match settings.backend {
        BackendChoice::Reference => Precision::Double,
        _ => Rule::of(settings).takes(settings.precision.arithmetic()),
    }
}

/// As [`choose`], for NBODY6's irregular force, which no GPU computes.
pub fn choose_irregular(settings: &Settings) -> Box<dyn IrregularForce> {
    match settings.backend {
        BackendChoice::Reference => Box::new(irregular::PlainIrregular),
        _ => cpu::choose_irregular(settings),
    }
}
