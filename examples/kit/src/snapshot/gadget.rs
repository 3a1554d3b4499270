//! Bodies in GADGET's HDF5 layout.
//!
//! A group `Header` has the numbers of particles of six types, the time and flags; groups `PartType0` to `PartType5` have
//! `Coordinates`, `Velocities`, `Masses` and `ParticleIDs`. Springel (2005, MNRAS 364, 1105) and the user guides of GADGET-2
//! and GADGET-4 describe it. The units are in a group `Units` (written here), `Parameters` (GADGET-4) or `Header`.

use std::collections::HashMap;

use hdf5_pure::{AttrValue, DatasetBuilder, FileBuilder};

use super::Snapshot;
use super::hdf5::{Source, number, numbers_of};
use super::physical::{self, FileUnits};
use crate::body::Body;
use crate::galaxy::Units;

/// Types of particles.
const TYPES: usize = 6;
/// The type that is written: collisionless particles.
const WRITTEN: usize = 1;

/// Adds the bodies to `file`.
pub(super) fn write(file: &mut FileBuilder, snapshot: &Snapshot, units: Option<&Units>) {
    let bodies = &snapshot.bodies;
    let n = bodies.len() as u64;
    let mut counts = vec![0; TYPES];
    counts[WRITTEN] = u32::try_from(n % (1 << 32)).unwrap_or(u32::MAX);
    let mut high = vec![0; TYPES];
    high[WRITTEN] = u32::try_from(n >> 32).unwrap_or(u32::MAX);
    let mut header = file.create_group("Header");
    for (name, value) in [
        ("NumPart_ThisFile", AttrValue::U32Array(counts.clone())),
        ("NumPart_Total", AttrValue::U32Array(counts)),
        ("NumPart_Total_HighWord", AttrValue::U32Array(high)),
        ("MassTable", AttrValue::F64Array(vec![0.0; TYPES])),
        ("Time", AttrValue::F64(snapshot.time)),
        ("NumFilesPerSnapshot", AttrValue::I32(1)),
        ("Flag_DoublePrecision", AttrValue::I32(1)),
        ("HubbleParam", AttrValue::F64(1.0)),
    ] {
        header.set_attr(name, value);
    }
    for name in ["Redshift", "BoxSize", "Omega0", "OmegaLambda"] {
        header.set_attr(name, AttrValue::F64(0.0));
    }
    for name in ["Sfr", "Cooling", "StellarAge", "Metals", "Feedback"] {
        header.set_attr(&format!("Flag_{name}"), AttrValue::I32(0));
    }
    if let Some(units) = units {
        // pynbody's own: it takes `Time` for that of a universe.
        header.set_attr(
            "Time_GYR",
            AttrValue::F64(snapshot.time * units.time() / 1000.0),
        );
    }
    file.add_group(header.finish());
    if let Some(units) = units {
        let FileUnits {
            mass,
            length,
            velocity,
        } = FileUnits::of(units);
        let mut group = file.create_group("Units");
        for (name, value) in physical::GADGET.into_iter().zip([length, mass, velocity]) {
            group.set_attr(name, AttrValue::F64(value));
        }
        file.add_group(group.finish());
    }
    let mut group = file.create_group(&format!("PartType{WRITTEN}"));
    if n > 0 {
        let column = |of: fn(&Body) -> [f64; 3]| bodies.iter().flat_map(of).collect::<Vec<f64>>();
        for (name, numbers) in [
            ("Coordinates", column(|b| b.x)),
            ("Velocities", column(|b| b.v)),
        ] {
            let dataset = group.create_dataset(name).with_f64_data(&numbers);
            not_comoving(dataset.with_shape(&[n, 3]));
        }
        let masses: Vec<f64> = bodies.iter().map(|b| b.mass).collect();
        not_comoving(group.create_dataset("Masses").with_f64_data(&masses));
        let labels: Vec<i64> = bodies.iter().map(|b| i64::from(b.index)).collect();
        group.create_dataset("ParticleIDs").with_i64_data(&labels);
    }
    file.add_group(group.finish());
}

/// Says as GADGET-4 does that the numbers are multiplied by no power of the scale factor and of Hubble's constant.
fn not_comoving(dataset: &mut DatasetBuilder) {
    for name in ["a_scaling", "h_scaling"] {
        dataset.set_attr(name, AttrValue::F64(0.0));
    }
}

/// The bodies of all types, in the order of types. `foreign` means that another program has written the file: in its
/// units G may not be 1.
pub(super) fn read(source: &Source, foreign: bool) -> Result<Snapshot, String> {
    let Some(header) = source.attributes("Header")? else {
        return Err(
            "this HDF5 file has neither GADGET's group `Header` nor AMUSE's `AMUSE_INF`".to_owned(),
        );
    };
    check_one_file(&header)?;
    let table = |name: &str| header.get(name).and_then(numbers_of);
    let counts = table("NumPart_ThisFile").filter(|counts| !counts.is_empty());
    let Some(counts) = counts else {
        return Err(
            "Header/NumPart_ThisFile, the number of particles of each type, is missing".to_owned(),
        );
    };
    let masses = table("MassTable").unwrap_or_default();
    let mut snapshot = Snapshot {
        time: number(&header, "Time").unwrap_or(0.0),
        ..Snapshot::default()
    };
    let types = counts.len();
    let is_type = |name: &str| {
        name.strip_prefix("PartType")
            .and_then(|k| k.parse::<usize>().ok())
    };
    let found = source.groups("")?;
    if let Some(kind) = found
        .iter()
        .filter_map(|n| is_type(n))
        .find(|kind| *kind >= types)
    {
        return Err(format!(
            "PartType{kind} is not counted in Header/NumPart_ThisFile"
        ));
    }
    let mut has_labels = true;
    for (kind, count) in counts.iter().enumerate() {
        let group = format!("PartType{kind}");
        if source.attributes(&group)?.is_none() {
            if *count != 0.0 {
                return Err(format!(
                    "{group} is missing, of which the header counts {count} particles"
                ));
            }
            continue;
        }
        let found = of_type(
            source,
            &group,
            *count,
            masses.get(kind).copied(),
            &mut has_labels,
        )?;
        snapshot.bodies.extend(found);
    }
    if !has_labels {
        for (label, body) in (0..).zip(&mut snapshot.bodies) {
            body.index = label;
        }
    }
    if foreign {
        match units(source, &header)? {
            Some(units) => units.convert(&mut snapshot),
            None => snapshot.remark = Some("the HDF5 file names no units: G = 1 is assumed"),
        }
    }
    Ok(snapshot)
}

/// Refuses a part of a snapshot of several files, and comoving coordinates.
fn check_one_file(header: &HashMap<String, AttrValue>) -> Result<(), String> {
    let files = number(header, "NumFilesPerSnapshot").unwrap_or(1.0);
    if files > 1.0 {
        return Err(format!(
            "this is one of {files} files of a snapshot: join them first"
        ));
    }
    match number(header, "Redshift").unwrap_or(0.0) {
        0.0 => Ok(()),
        redshift => Err(format!(
            "these are comoving coordinates (redshift {redshift}), which no program here knows"
        )),
    }
}

/// The particles of one type. Without labels in any of the types `has_labels` becomes false.
fn of_type(
    source: &Source,
    group: &str,
    count: f64,
    table: Option<f64>,
    has_labels: &mut bool,
) -> Result<Vec<Body>, String> {
    if count == 0.0 && !source.has_dataset(group, "Coordinates")? {
        return Ok(Vec::new());
    }
    let needs = |name: &str| match source.has_dataset(group, name)? {
        true => Ok(format!("{group}/{name}")),
        false => Err(format!("{group}/{name} is missing")),
    };
    let agrees = |name: &str, found: usize| match found as f64 == count {
        true => Ok(()),
        false => Err(format!(
            "{group}/{name} has {found} rows, and the header counts {count} particles"
        )),
    };
    let x = source.rows::<3>(&needs("Coordinates")?)?;
    agrees("Coordinates", x.len())?;
    let v = source.rows::<3>(&needs("Velocities")?)?;
    agrees("Velocities", v.len())?;
    let masses = match table.filter(|mass| *mass != 0.0) {
        Some(mass) if !source.has_dataset(group, "Masses")? => vec![mass; x.len()],
        _ => source.column(&needs("Masses")?)?,
    };
    agrees("Masses", masses.len())?;
    let labels = match source.has_dataset(group, "ParticleIDs")? {
        true => source.labels(&format!("{group}/ParticleIDs"))?,
        false => {
            *has_labels = false;
            vec![0; x.len()]
        }
    };
    agrees("ParticleIDs", labels.len())?;
    let bodies = x.into_iter().zip(v).zip(masses.into_iter().zip(labels));
    let body = |((x, v), (mass, index))| Body { index, mass, x, v };
    Ok(bodies.map(body).collect())
}

/// The constant of gravity in a file's own units: in GADGET-4's parameters, where 0 means nature's, and in the header of
/// GIZMO.
const OWN_G: [&str; 2] = [
    "GravityConstantInternal",
    "Gravitational_Constant_In_Code_Inits",
];

/// The units that a file tells.
fn units(
    source: &Source,
    header: &HashMap<String, AttrValue>,
) -> Result<Option<FileUnits>, String> {
    let parameters = source.attributes("Parameters")?.unwrap_or_default();
    // GADGET-4 has these among the parameters.
    let known = |name: &str| number(header, name).or_else(|| number(&parameters, name));
    let own = source.attributes("Units")?;
    for place in own.iter().chain([&parameters, header]) {
        if let Some(mut units) = FileUnits::told(place)? {
            let cosmological = known("Omega0").is_some_and(|omega| omega > 0.0);
            let h = known("HubbleParam").filter(|h| cosmological && *h > 0.0);
            units.mass /= h.unwrap_or(1.0);
            units.length /= h.unwrap_or(1.0);
            if let Some(g) = OWN_G.into_iter().find_map(known).filter(|g| *g != 0.0) {
                units.set_g(g)?;
            }
            return Ok(Some(units));
        }
    }
    Ok(None)
}
