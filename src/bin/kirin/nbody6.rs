//! `kirin nbody6`: links NBODY6++ once more in its build tree, with kirin in the place of the objects that compute forces.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Args;

use crate::library::{self, SONAME};
use crate::report::{self, quoted};
use crate::run::linked;

/// Options of `nbody6`.
#[derive(Args)]
pub struct Options {
    /// NBODY6++'s folder, or its folder `build`, after `./configure --disable-gpu --enable-simd=avx`
    #[arg(value_name = "FOLDER")]
    tree: PathBuf,
    /// How many compilers may run at the same time [default: one for each core]
    #[arg(short, long, value_name = "NUMBER")]
    jobs: Option<usize>,
}

/// The library with NBODY6's names.
const NAMES: &str = "kirin_nbody6";

/// The variables of the makefile that name the objects in whose place kirin is linked. Each computes all three kinds of forces.
const OBJECTS: [&str; 2] = ["AVX_OBJECTS", "SSE_OBJECTS"];

/// Runs `nbody6`.
///
/// # Errors
///
/// The folder is not NBODY6++'s, or is configured otherwise, or the libraries cannot be linked, or `make` fails.
pub fn run(options: &Options) -> Result<ExitCode, String> {
    let (folder, makefile) = makefile(&options.tree)?;
    let variable = objects(&makefile).map_err(|why| format!("{}: {why}", folder.display()))?;
    let own = value(&makefile, "RESULT").ok_or("its makefile has no RESULT")?;
    let ours = format!("{own}.kirin");
    let (libraries, place) = libraries()?;

    let jobs = options
        .jobs
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get));
    // It may be linked with another kirin, which make would not notice.
    let program = folder.join(&ours);
    match fs::remove_file(&program) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            return Err(format!("{}: {e}", program.display()));
        }
        _ => {}
    }
    let status = Command::new("make")
        .arg("-C")
        .arg(&folder)
        .arg(format!("-j{jobs}"))
        .arg(format!("{variable}={libraries}"))
        .arg(format!("RESULT={ours}"))
        .arg(format!("LDFLAGS=-o {ours} -Wl,-rpath,{place}"))
        .arg(&ours)
        .status()
        .map_err(|e| format!("make: {e}"))?;
    if !status.success() {
        return Err(format!("make in {}: {status}", folder.display()));
    }
    let uses_kirin = linked(&program)
        .iter()
        .any(|l| l.name.starts_with("libkirin_nbody6") && l.file.is_some());
    if !uses_kirin {
        let program = program.display();
        return Err(format!(
            "{program} was linked, but the loader finds no lib{NAMES} for it"
        ));
    }
    report::print(&format!(
        "linked:    {}, with kirin of {place}\n\
         unchanged: {}, if it is there\n\
         run:       ulimit -s unlimited; {} < input\n",
        program.display(),
        folder.join(&own).display(),
        quoted(&program),
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// The folder with the configured makefile, and its text.
fn makefile(tree: &Path) -> Result<(PathBuf, String), String> {
    for folder in [tree.join("build"), tree.to_owned()] {
        match fs::read_to_string(folder.join("Makefile")) {
            Ok(text) if text.contains("EXTRAOBJ") => return Ok((folder, text)),
            _ => {}
        }
    }
    Err(format!(
        "{}: there is no configured NBODY6++ (no build/Makefile with EXTRAOBJ): run `./configure --disable-gpu --enable-simd=avx` \
         there first",
        tree.display()
    ))
}

/// The value of a variable of the makefile.
fn value(makefile: &str, name: &str) -> Option<String> {
    makefile.lines().find_map(|line| {
        let (left, right) = line.split_once('=')?;
        (left.trim() == name).then(|| right.trim().to_owned())
    })
}

/// The variable that names the objects of forces.
fn objects(makefile: &str) -> Result<&'static str, String> {
    let extra = value(makefile, "EXTRAOBJ").unwrap_or_default();
    let configure = "configure it with `--disable-gpu --enable-simd=avx`";
    if ["CUDA", "HIP"].iter().any(|gpu| extra.contains(gpu)) {
        return Err(format!(
            "it is configured for its own GPU code: {configure}. kirin computes regular forces on the GPU itself"
        ));
    }
    let names = |variable: &&&str| {
        extra
            .split(['$', '{', '}', '(', ')', ' '])
            .any(|w| w == **variable)
    };
    let found = OBJECTS.iter().find(names);
    found.copied().ok_or_else(|| {
        format!("it is configured without AVX and SSE, and computes forces in Fortran: {configure}")
    })
}

/// The files to link with, as make takes them, and the folder where the loader will find them.
fn libraries() -> Result<(String, String), String> {
    let shared = library::shared()?;
    let names = library::companion(&shared, NAMES)?;
    let place = shared.parent().unwrap_or(Path::new("/"));
    let by_loader = [SONAME.to_owned(), format!("lib{NAMES}.so.0")];
    if let Some(missing) = by_loader.iter().find(|name| !place.join(name).exists()) {
        let place = place.display();
        return Err(format!(
            "{place} has no {missing}: install kirin with `kirin install --prefix FOLDER` and use FOLDER/bin/kirin"
        ));
    }
    let plain = |path: &Path| {
        let text = path
            .to_str()
            .filter(|t| !t.contains(|c: char| c.is_whitespace() || "$#%:;,\\'\"".contains(c)));
        text.map(str::to_owned)
            .ok_or_else(|| format!("{}: make could not name this file", path.display()))
    };
    Ok((
        format!("{} {}", plain(&names)?, plain(&shared)?),
        plain(place)?,
    ))
}
