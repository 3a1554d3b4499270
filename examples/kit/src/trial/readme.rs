//! The commands of a README or a `--help`, for tests that parse and run them.

/// The arguments of every command line for `program` in `text`: `cargo run --release -p program -- ...` and
/// `mpirun ... target/release/program ...` in a README, and in a help lines that begin with the program's name. What
/// is behind a `#` is a comment.
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
        assert_eq!(value(&found[1], "--t-end"), Some("2"));
        assert_eq!(
            shortened(&found[1], &[("--n", "16"), ("--eps", "1")])[1],
            "16"
        );
    }
}
