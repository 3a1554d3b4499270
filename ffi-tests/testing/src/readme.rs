//! The commands of a README or a `--help`, for tests that parse and run them.

use clap::{CommandFactory, Parser};
use serde_json::Value;

use super::{Folder, Program};

/// The arguments of every command line for `program` in `text`. In a README such a line is `cargo run --release -p
/// program -- ...` or `mpirun ... target/release/program ...`; in a help text it begins with the program's name. A
/// `#` begins a comment.
pub fn commands(text: &str, program: &str) -> Vec<Vec<String>> {
    let run = format!("cargo run --release -p {program}");
    let built = format!("target/release/{program} ");
    let bare = format!("{program} --");
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        let arguments = if let Some(rest) = line.strip_prefix(&run) {
            rest.trim_start().strip_prefix("-- ").or(Some(rest))
        } else if line.starts_with("mpirun ") {
            line.split_once(&built).map(|(_, rest)| rest)
        } else if line.starts_with(&bare) {
            line.strip_prefix(program)
        } else {
            None
        };
        let Some(arguments) = arguments else { continue };
        let words = arguments
            .split_whitespace()
            .take_while(|word| !word.starts_with('#'));
        found.push(words.map(str::to_owned).collect());
    }
    found
}

/// The commands of `text` that have ranks of MPI, as [`commands`] has them: number of ranks and arguments.
pub fn commands_of_mpi(text: &str, program: &str) -> Vec<(usize, Vec<String>)> {
    let ranks = |line: &str| line.split_whitespace().nth(2)?.parse().ok();
    let of_line = |line: &str| Some((ranks(line)?, commands(line, program).pop()?));
    let lines = text.lines().map(str::trim);
    lines
        .filter(|line| line.starts_with("mpirun -n "))
        .filter_map(of_line)
        .collect()
}

/// Checks that the options of a program are consistent, and that they accept every command in `readme` and in the
/// program's own help. Returns the help.
///
/// # Panics
///
/// Some command is not understood, or there are fewer than three.
pub fn understood<O: CommandFactory + Parser>(readme: &str, program: &str) -> String {
    O::command().debug_assert();
    let help = O::command().render_long_help().to_string();
    let texts = [readme, &help];
    let all: Vec<_> = texts.iter().flat_map(|t| commands(t, program)).collect();
    assert!(all.len() > 2, "{all:?}");
    for arguments in all {
        let words = std::iter::once(program.to_owned()).chain(arguments.clone());
        let parsed = O::try_parse_from(words);
        assert!(parsed.is_ok(), "{arguments:?}: {:?}", parsed.err());
    }
    help
}

/// What came of a command.
pub struct Ran {
    /// What it wrote to stdout.
    pub text: String,
    /// Its JSON; null where it was not asked for any.
    pub figures: Value,
}

impl Ran {
    /// The number `key` of the JSON.
    ///
    /// # Panics
    ///
    /// There is none.
    pub fn number(&self, key: &str) -> f64 {
        let number = self.figures[key].as_f64();
        number.unwrap_or_else(|| panic!("{key}: {}", self.figures[key]))
    }
}

/// Types a command of a README in `folder`, for its JSON too where there is to be any.
///
/// # Panics
///
/// It fails, or says something on stderr.
pub fn typed(program: &Program, folder: &Folder, arguments: &[String], json: bool) -> Ran {
    let mut words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if json {
        words.extend(["--json", "figures.json"]);
    }
    let mut command = program.command(&words);
    let output = command.current_dir(folder.file("")).output();
    let output = output.expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && said.is_empty(),
        "{words:?}: {said}"
    );
    let figures = match json {
        true => serde_json::from_str(&folder.text("figures.json")).expect("it is JSON"),
        false => Value::Null,
    };
    Ran {
        text: String::from_utf8(output.stdout).expect("UTF-8"),
        figures,
    }
}

/// The value of `option` in `arguments`.
pub fn value<'a>(arguments: &'a [String], option: &str) -> Option<&'a str> {
    let place = arguments.iter().position(|word| word == option)?;
    arguments.get(place + 1).map(String::as_str)
}

/// `arguments` with smaller values for some options: those that are given and not as small.
pub fn shortened(arguments: &[String], values: &[(&str, &str)]) -> Vec<String> {
    let mut short = arguments.to_vec();
    for (option, value) in values {
        if let Some(place) = short.iter().position(|word| word == option) {
            short[place + 1] = (*value).to_owned();
        }
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found() {
        let text = "```sh\ncargo run --release -p hermite          # as it is\n\
                    cargo run --release -p hermite -- --n 4096 --t-end 2  # more\n\
                    cargo run --release -p other -- --n 3\nmpirun -n 4 target/release/hermite --n 9\n```\n  \
                    hermite --eps 0\nhermite is a program";
        let found = commands(text, "hermite");
        let expected = [
            &[][..],
            &["--n", "4096", "--t-end", "2"],
            &["--n", "9"],
            &["--eps", "0"],
        ];
        assert_eq!(found, expected);
        assert_eq!(commands_of_mpi(text, "hermite"), [(4, found[2].clone())]);
        assert_eq!(value(&found[1], "--t-end"), Some("2"));
        assert_eq!(
            shortened(&found[1], &[("--n", "16"), ("--eps", "1")])[1],
            "16"
        );
    }
}
