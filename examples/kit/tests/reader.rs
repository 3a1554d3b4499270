//! The reader in SNAPSHOTS.md reads what the programs write.

use std::process::Command;

use kirin_kit::snapshot::State;
use kirin_kit::{Snapshot, models};
use kirin_testing::{Folder, skipped};

/// Prints the file's numbers for a comparison of bits, one column a line.
const CALL: &str = r#"
import sys
time, columns = read_snapshot(sys.argv[1])
print("time", time.hex())
for name, column in columns.items():
    print(name, *[number.hex() for number in column])
"#;

fn python(program: &str, argument: &str) -> Option<String> {
    let output = match Command::new("python3")
        .args(["-c", program, argument])
        .output()
    {
        Ok(output) => output,
        Err(e) => {
            skipped(format!("python3: {e}"));
            return None;
        }
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    Some(String::from_utf8(output.stdout).unwrap())
}

/// `1.5` for Python's `0x1.8000000000000p+0`.
fn from_hex(text: &str) -> f64 {
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text),
    };
    let (digits, exponent) = text.strip_prefix("0x").unwrap().split_once('p').unwrap();
    let (whole, fraction) = digits.split_once('.').unwrap();
    let places = 4 * i32::try_from(fraction.len()).unwrap();
    let mantissa = u64::from_str_radix(&format!("{whole}{fraction}"), 16).unwrap() as f64;
    sign * mantissa * 2.0_f64.powi(exponent.parse::<i32>().unwrap() - places)
}

#[test]
fn python_reads_every_bit() {
    let text = include_str!("../SNAPSHOTS.md");
    let (_, reader) = text.split_once("```python\n").unwrap();
    let (reader, _) = reader.split_once("```").unwrap();
    let lines = reader.lines().filter(|line| !line.contains("\"\"\""));
    assert!(lines.count() <= 10, "ten lines were promised");

    let folder = Folder::new("reader");
    let path = folder.file("run.txt");
    let bodies = models::plummer(50, 1);
    let state = |k: usize| State {
        t: 0.125,
        dt: 2.0_f64.powi(-(k as i32)),
        acc: bodies[k].v,
        jerk: bodies[k].x,
    };
    for states in [None, Some((0..50).map(state).collect())] {
        let snapshot = Snapshot {
            time: 0.1 + 0.2,
            bodies: bodies.clone(),
            states,
            run: vec![("run.model".to_owned(), "Plummer sphere".to_owned())],
            ..Snapshot::default()
        };
        snapshot.save_as(path.as_ref()).unwrap();
        let Some(output) = python(&format!("{reader}{CALL}"), &path) else {
            return;
        };
        let column = |name: &str| -> Vec<f64> {
            let mut lines = output.lines().map(|line| line.split(' '));
            let line = lines.find_map(|mut words| (words.next() == Some(name)).then_some(words));
            line.expect(name).map(from_hex).collect()
        };
        assert_eq!(column("time"), [snapshot.time]);
        let of = |f: fn(&kirin_kit::Body) -> f64| bodies.iter().map(f).collect::<Vec<_>>();
        assert_eq!(column("index"), of(|b| f64::from(b.index)));
        assert_eq!(column("mass"), of(|b| b.mass));
        assert_eq!(column("x"), of(|b| b.x[0]));
        assert_eq!(column("vz"), of(|b| b.v[2]));
        if let Some(states) = &snapshot.states {
            let steps: Vec<f64> = states.iter().map(|s| s.dt).collect();
            assert_eq!(column("dt"), steps);
        }
    }
}

#[test]
fn the_example_is_a_snapshot() {
    let text = include_str!("../SNAPSHOTS.md");
    let (_, example) = text.split_once("```text\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    let snapshot = Snapshot::parse(example.as_bytes()).unwrap();
    assert_eq!((snapshot.bodies.len(), snapshot.time), (2, 0.25));
    // So is the table.
    let (_, table) = text.rsplit_once("```text\n").unwrap();
    let (table, _) = table.split_once("```").unwrap();
    let table = Snapshot::parse(table.as_bytes()).unwrap();
    assert_eq!(table.bodies, snapshot.bodies);
    // Its checksum is checked: another digit is noticed.
    let other = example.replacen("0.25", "0.26", 1);
    assert!(Snapshot::parse(other.as_bytes()).is_err());
}
