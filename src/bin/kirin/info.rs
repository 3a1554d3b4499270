//! `kirin info`: version, backends, instruction sets, threads, settings.

use std::fmt::Write;
use std::process::ExitCode;

use clap::Args;
use kirin_core::choice::{self, Rule};
use kirin_core::cpu;
use kirin_core::force::Backend;
use kirin_core::gpu::cuda;
use kirin_core::gpu::cuda::Conditions;
use kirin_core::process::settings::{
    self, BackendChoice, InstructionSet, Precision, PrecisionChoice, SETTINGS, Setting, Settings,
};
use kirin_core::sources::jmemory::PAGE;
use kirin_report::machine::Machine;

use crate::{candidate, report};

/// What to show.
#[derive(Args)]
pub struct Options {
    /// Shows how the CUDA backend would lay blocks over a device, too
    #[arg(long)]
    plan: bool,
    /// Multiprocessors of the device to plan for [default: those of the first device, or 132, an H200's]
    #[arg(long, requires = "plan", value_parser = positive)]
    multiprocessors: Option<usize>,
    /// Its compute capability, such as 8.6 [default: that of the first device, or 9.0]
    #[arg(long, requires = "plan", value_parser = capability)]
    capability: Option<(i32, i32)>,
    /// Its clock in GHz, for the predicted times [default: that of the first device, or 1.98]
    #[arg(long, requires = "plan", value_parser = candidate::positive)]
    clock: Option<f64>,
    /// Arithmetic of the forces to plan for [default: KIRIN_PRECISION, or mixed]
    #[arg(long, requires = "plan", value_parser = precision)]
    precision: Option<Precision>,
    /// Numbers of j-particles to plan for
    #[arg(long, requires = "plan", value_name = "N,...", value_delimiter = ',',
          default_values_t = [1 << 10, 1 << 14, 1 << 17, 1 << 20], value_parser = positive)]
    nj: Vec<usize>,
    /// Numbers of i-particles to plan for
    #[arg(long, requires = "plan", value_name = "NI,...", value_delimiter = ',',
          default_values_t = [1, 8, 48, 128, 256, 1024, 4096, 65536], value_parser = positive)]
    ni: Vec<usize>,
}

fn precision(text: &str) -> Result<Precision, String> {
    text.parse().map_err(|()| {
        let names = Precision::ALL.map(|precision| precision.to_string());
        format!("not one of: {}", names.join(", "))
    })
}

fn positive(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|&n| n > 0);
    number.ok_or_else(|| "not a positive number".to_owned())
}

fn capability(text: &str) -> Result<(i32, i32), String> {
    let parts = text.split_once('.').and_then(|(major, minor)| {
        let number = |part: &str| part.parse().ok();
        Some((number(major)?, number(minor)?))
    });
    parts.ok_or_else(|| "two numbers with a point between them".to_owned())
}

/// Runs the subcommand.
///
/// # Errors
///
/// Stdout cannot be written; in words.
pub fn run(options: &Options) -> Result<ExitCode, String> {
    let settings = settings::settings();
    let mut text = text(settings);
    if options.plan {
        let first = cuda::devices()
            .ok()
            .and_then(|devices| devices.iter().find(|device| device.objection().is_none()));
        let multiprocessors = options.multiprocessors.or(first.map(|d| d.multiprocessors));
        let capability = options.capability.or(first.map(|d| d.capability));
        let clock = options.clock.or(first.map(|d| d.clock)).unwrap_or(1.98);
        let conditions = Conditions {
            multiprocessors: multiprocessors.unwrap_or(132),
            capability: capability.unwrap_or((9, 0)),
            precision: options.precision.unwrap_or(settings.precision.arithmetic()),
            split: settings.split,
        };
        text.push_str(&plans(&conditions, clock, options));
    }
    report::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The launches of the CUDA backend for blocks of all sizes.
fn plans(conditions: &Conditions, clock: f64, options: &Options) -> String {
    let mut text = format!(
        "\nlaunches of the force kernel: {} multiprocessors of compute capability {}.{}, precision {}\n",
        conditions.multiprocessors,
        conditions.capability.0,
        conditions.capability.1,
        conditions.precision
    );
    let _ = writeln!(
        text,
        "  predicted from counted instructions at {clock:.2} GHz, not measured: microseconds of the kernel, and\n  \
         pairs a second as a share of what the issue slots allow\n  \
         {:>8} {:>8} {:>10} {:>6} {:>8}  launch",
        "nj", "ni", "us", "share", "limit"
    );
    for &nj in &options.nj {
        for &ni in &options.ni {
            let pages = nj.div_ceil(PAGE);
            let plan = cuda::LaunchPlan::new(ni, pages, conditions);
            let microseconds = plan.clocks / (clock * 1e3);
            let share = plan.efficiency(ni, pages, conditions);
            let _ = writeln!(
                text,
                "  {nj:>8} {ni:>8} {microseconds:>10.1} {share:>6.2} {:>8}  {plan}",
                plan.limit.to_string()
            );
        }
    }
    text
}

/// The precision that `backend` has under `settings`, with the rule where there is one.
fn precision_in_force(settings: &Settings, backend: &dyn Backend) -> String {
    let rule = match settings.precision {
        PrecisionChoice::Always(asked @ Precision::Reduced) => {
            return match backend.precision() == asked {
                true => format!(
                    "{asked} for accelerations alone, {} with jerks",
                    asked.without_reduced()
                ),
                false => format!("{} ({asked} is for CPUs)", backend.precision()),
            };
        }
        PrecisionChoice::Always(asked) if asked == backend.precision() => return asked.to_string(),
        PrecisionChoice::Always(asked @ Precision::DoubleSingle) => {
            return format!("{} ({asked} is for GPUs)", backend.precision());
        }
        PrecisionChoice::Always(_) => return backend.precision().to_string(),
        _ if settings.backend == BackendChoice::Reference => {
            return backend.precision().to_string();
        }
        rule => rule,
    };
    let Rule { up_to, better, .. } = Rule::of(settings);
    format!("{rule}: {better} for up to {up_to} j-particles with velocities, else mixed")
}

fn text(settings: &Settings) -> String {
    let machine = Machine::here();
    let available = cpu::available();
    let backend = choice::choose(settings);
    let mut text = String::new();
    let mut row = |name: &str, value: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:<18} {value}");
    };
    row("kirin", env!("CARGO_PKG_VERSION").to_owned());
    row("machine", machine.to_string());
    row(
        "in use",
        format!(
            "{}, precision {}",
            backend.name(),
            precision_in_force(settings, &*backend)
        ),
    );
    let few = Rule::of(settings).on_cpu_up_to;
    if few > 0 && settings.backend == BackendChoice::Auto && settings.devices.is_auto() {
        row(
            "small clusters",
            format!("the CPU, for up to {few} j-particles with velocities"),
        );
    }
    row(
        "threads",
        format!(
            "{}{}",
            cpu::threads(settings.threads),
            match settings.threads {
                0 => " (all cores allowed to the process, divided by the local MPI ranks)",
                _ => " (KIRIN_THREADS)",
            }
        ),
    );
    row("pipelines", settings.npipes.to_string());

    text.push_str("\nbackends\n");
    for (name, usable) in backends(&available) {
        let _ = writeln!(text, "  {name:<16} {usable}");
    }
    if let Ok(devices) = cuda::devices() {
        text.push_str("\ndevices\n");
        for device in devices {
            let _ = writeln!(
                text,
                "  {:<3} {}, {} multiprocessors, {:.1} GiB, compute capability {}.{}: {}",
                device.ordinal,
                device.name,
                device.multiprocessors,
                device.memory as f64 / f64::from(1 << 30),
                device.capability.0,
                device.capability.1,
                match device.objection() {
                    Some(objection) => format!("not usable: {objection}"),
                    None => kernels(device, settings.precision.arithmetic()),
                }
            );
        }
    }
    text.push_str("\ninstruction sets of the cpu backend\n");
    for set in SETS {
        let _ = writeln!(
            text,
            "  {:<16} {}",
            set.to_string(),
            set_state(set, &available, &backend.name())
        );
    }
    text.push_str("\nsettings\n");
    for setting in SETTINGS {
        let (value, origin) = (setting.value(settings), origin(setting));
        let _ = writeln!(text, "  {:<20} {value:<10} {origin}", setting.name);
        let _ = writeln!(text, "  {:<20} {}", "", setting.about);
    }
    text
}

/// Which code a device takes, and how long that took.
fn kernels(device: &'static cuda::Device, precision: Precision) -> String {
    let code = "PTX for compute capability 6.0 and newer";
    let conditions = Conditions {
        multiprocessors: device.multiprocessors,
        capability: device.capability,
        precision,
        split: true,
    };
    let stacks = conditions.stacks() as f64 * 1e-6;
    match cuda::load_kernels(device, precision) {
        Ok((count, time)) => format!(
            "usable\n      code: {code}, by the driver's compiler or its cache: {count} kernels in {:.2} s\n      \
             memory: up to {stacks:.0} MB for the stacks of their threads, besides the j-particles",
            time.as_secs_f64()
        ),
        Err(why) => format!("not usable: {why}\n      code: {code}"),
    }
}

/// Each backend with why it can be used or cannot.
fn backends(available: &[InstructionSet]) -> [(&'static str, String); 3] {
    let best = available
        .first()
        .map_or_else(String::new, |s| s.to_string());
    [
        (
            "cuda",
            match cuda::devices() {
                Ok(_) => format!(
                    "see the devices; {}",
                    cuda::driver_name().unwrap_or_default()
                ),
                Err(reason) => format!("not usable: {reason}"),
            },
        ),
        (
            "cpu",
            format!("usable: vector kernels, {best} is the widest this processor has"),
        ),
        (
            "reference",
            "usable: plain double-precision loops, everywhere; never chosen by itself".to_owned(),
        ),
    ]
}

const SETS: [InstructionSet; 4] = [
    InstructionSet::Avx512,
    InstructionSet::Avx2,
    InstructionSet::Neon,
    InstructionSet::Portable,
];

fn set_state(set: InstructionSet, available: &[InstructionSet], backend: &str) -> &'static str {
    if backend == format!("cpu {set}") {
        "usable, chosen"
    } else if available.contains(&set) {
        "usable"
    } else if of_this_architecture(set) {
        "not usable: this processor lacks it"
    } else {
        "not usable: it belongs to another architecture"
    }
}

fn of_this_architecture(set: InstructionSet) -> bool {
    match set {
        InstructionSet::Avx2 | InstructionSet::Avx512 => cfg!(target_arch = "x86_64"),
        InstructionSet::Neon => cfg!(target_arch = "aarch64"),
        InstructionSet::Auto | InstructionSet::Portable => true,
    }
}

/// Where the value of a setting comes from.
fn origin(setting: &Setting) -> String {
    let Some(value) = std::env::var_os(setting.name).filter(|value| !value.is_empty()) else {
        return "default".to_owned();
    };
    let (_, complaints) = settings::from_variables([(setting.name.into(), value.clone())]);
    if complaints.is_empty() {
        "environment".to_owned()
    } else {
        format!(
            "default; \"{}\" in the environment is not one of: {}",
            settings::echo(&value),
            setting.values
        )
    }
}
