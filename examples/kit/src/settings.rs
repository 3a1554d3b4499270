//! The settings of a method, which a program declares once, as a structure that is both `clap::Args` and `serde`. The
//! fields of the structure are the options with their help and defaults. They are also the words of a line in the
//! state, and names in the JSON.

use std::fmt::Display;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Settings from the command line, and which of them it gave. The others have their defaults.
#[derive(Clone, Debug)]
pub struct Given<S> {
    /// All settings.
    pub all: S,
    /// The names of the fields that were given.
    names: Vec<String>,
}

impl<S: Args> Default for Given<S> {
    /// What a command line without options gives.
    fn default() -> Self {
        let command = Self::augment_args(Command::new("settings"));
        let matches = command.get_matches_from(["settings"]);
        Self::from_arg_matches(&matches).expect("defaults are values")
    }
}

impl<S: Args> Args for Given<S> {
    fn augment_args(command: Command) -> Command {
        let shown = |command: Command, id| command.mut_arg(id, with_default);
        let command = S::augment_args(command);
        names::<S>().into_iter().fold(command, shown)
    }

    fn augment_args_for_update(command: Command) -> Command {
        S::augment_args_for_update(command)
    }
}

impl<S: Args> FromArgMatches for Given<S> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Self::from_arg_matches_mut(&mut matches.clone())
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, clap::Error> {
        let is_given = |name: &String| matches.value_source(name) == Some(ValueSource::CommandLine);
        Ok(Self {
            names: names::<S>().into_iter().filter(is_given).collect(),
            all: S::from_arg_matches_mut(matches)?,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The names of the options.
fn names<S: Args>() -> Vec<String> {
    let command = S::augment_args(Command::new("settings"));
    let arguments = command.get_arguments();
    arguments.map(|arg| arg.get_id().to_string()).collect()
}

/// The default at the end of the help, as with options that have none of clap's.
fn with_default(arg: Arg) -> Arg {
    let [value] = arg.get_default_values() else {
        return arg;
    };
    match arg.get_help() {
        Some(help) if !arg.is_hide_default_value_set() => {
            let help = format!("{help} [default: {}]", value.to_string_lossy());
            arg.help(help).hide_default_value(true)
        }
        _ => arg,
    }
}

impl<S: Serialize + DeserializeOwned> Given<S> {
    /// The given settings, and for all others those of `saved`. Fields that serde skips have their defaults.
    ///
    /// # Errors
    ///
    /// A number is not finite; in words.
    pub fn or(&self, saved: &S) -> Result<S, String> {
        let mut all = fields(saved)?;
        if let Some((name, _)) = all.iter().find(|(_, value)| value.is_null()) {
            return Err(format!("{}: a finite number is needed", option(name)));
        }
        for (name, value) in self.given()? {
            match value {
                Some(value) => all.insert(name.to_owned(), value),
                None => all.remove(name),
            };
        }
        serde_json::from_value(Value::Object(all)).map_err(|why| why.to_string())
    }

    /// Checks that no given setting contradicts `saved`, the settings of the run that is resumed, but for those that
    /// `may_change`.
    ///
    /// # Errors
    ///
    /// One does; in words.
    pub fn check(&self, saved: &S, may_change: &[&str]) -> Result<(), String> {
        let saved = fields(saved)?;
        for (name, value) in self.given()? {
            let was = saved.get(name);
            if value.as_ref() != was && !may_change.contains(&name) {
                let was = was.map_or_else(|| "default".to_owned(), Value::to_string);
                return Err(contradiction(name, was, may_change));
            }
        }
        Ok(())
    }

    /// The given fields by name; nothing for those that serde leaves out because they have their default.
    fn given(&self) -> Result<Vec<(&str, Option<Value>)>, String> {
        let mut all = fields(&self.all)?;
        let names = self.names.iter().map(String::as_str);
        Ok(names.map(|name| (name, all.remove(name))).collect())
    }
}

fn option(name: &str) -> String {
    format!("--{}", name.replace('_', "-"))
}

/// That the option of the field `name` is not the `saved` value, with which the input was made.
pub fn contradiction(name: &str, saved: impl Display, may_change: &[&str]) -> String {
    let saved = saved.to_string();
    let why = format!(
        "{} is not the {} that the input was made with",
        option(name),
        saved.trim_matches('"')
    );
    let free: Vec<String> = may_change.iter().map(|name| option(name)).collect();
    match free.split_last() {
        None => why,
        Some((last, [])) => format!("{why}; a resumed run may change only {last}"),
        Some((last, others)) => {
            let others = others.join(", ");
            format!("{why}; a resumed run may change only {others} and {last}")
        }
    }
}

/// The name of a choice as on the command line, for `#[serde(with = ...)]`.
pub mod choice {
    use clap::ValueEnum;
    use serde::{Deserialize, Deserializer, Serializer, de};

    /// The name of `choice`.
    ///
    /// # Errors
    ///
    /// Those of the serializer.
    pub fn serialize<T: ValueEnum, S: Serializer>(choice: &T, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&name(choice))
    }

    /// The choice with this name.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn deserialize<'de, T: ValueEnum, D: Deserializer<'de>>(d: D) -> Result<T, D::Error> {
        T::from_str(&String::deserialize(d)?, false).map_err(de::Error::custom)
    }

    /// The name of `choice` on the command line.
    pub fn name(choice: &impl ValueEnum) -> String {
        let value = choice.to_possible_value().expect("no choice is hidden");
        value.get_name().to_owned()
    }
}

fn fields(settings: &impl Serialize) -> Result<Map<String, Value>, String> {
    match serde_json::to_value(settings) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(other) => Err(format!("{other} is no set of settings")),
        Err(why) => Err(why.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::number;
    use clap::{CommandFactory, Parser};
    use serde::Deserialize;

    #[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize)]
    struct Settings {
        /// Accuracy
        #[arg(long, default_value = "1/64", value_parser = number)]
        eta: f64,
        /// Largest step
        #[arg(long, default_value_t = 0.5)]
        dt_max: f64,
        /// Whether cells have quadrupoles
        #[arg(long)]
        quadrupoles: bool,
        /// Factor of distances
        #[arg(long, default_value = "0", hide_default_value = true, value_parser = number)]
        #[serde(default, skip_serializing_if = "is_zero")]
        factor: f64,
    }

    fn is_zero(x: &f64) -> bool {
        *x == 0.0
    }

    #[derive(Parser)]
    struct Options {
        #[arg(long)]
        n: Option<u64>,
        #[command(flatten)]
        settings: Given<Settings>,
    }

    const SAVED: Settings = Settings {
        eta: 0.25,
        dt_max: 2.0,
        quadrupoles: true,
        factor: 0.0,
    };

    fn given(arguments: &[&str]) -> Given<Settings> {
        Options::parse_from([&["test", "--n", "3"], arguments].concat()).settings
    }

    #[test]
    fn defaults_are_those_of_the_options() {
        let default = Given::<Settings>::default().all;
        assert_eq!(default, given(&[]).all);
        assert_eq!(
            (default.eta, default.dt_max, default.quadrupoles),
            (1.0 / 64.0, 0.5, false)
        );
        let help = Options::command().render_long_help().to_string();
        assert!(help.contains("Accuracy [default: 1/64]\n"), "{help}");
        assert!(
            help.contains("quadrupoles\n\n")
                && help.ends_with("distances\n\n  -h, --help\n          Print help\n"),
            "{help}"
        );
    }

    #[test]
    fn what_is_not_given_is_that_of_the_saved_run() {
        assert_eq!(given(&[]).or(&SAVED), Ok(SAVED));
        let changed = given(&["--dt-max", "0.5"]).or(&SAVED);
        assert_eq!(
            changed,
            Ok(Settings {
                dt_max: 0.5,
                ..SAVED
            })
        );
        let other = Settings {
            quadrupoles: false,
            ..SAVED
        };
        assert!(given(&["--quadrupoles"]).or(&other).unwrap().quadrupoles);
        let other = Settings {
            factor: 2.0,
            ..SAVED
        };
        assert_eq!(given(&["--factor", "0"]).or(&other), Ok(SAVED));
        assert_eq!(given(&["--factor", "2"]).or(&SAVED), Ok(other));
        let infinite = Settings {
            eta: f64::INFINITY,
            ..SAVED
        };
        let why = given(&[]).or(&infinite).unwrap_err();
        assert_eq!(why, "--eta: a finite number is needed");
    }

    #[test]
    fn a_setting_may_be_repeated_but_not_contradicted() {
        let check = |arguments: &[&str], free: &[&str]| given(arguments).check(&SAVED, free);
        assert_eq!(check(&[], &[]), Ok(()));
        assert_eq!(check(&["--eta", "1/4", "--dt-max", "2"], &[]), Ok(()));
        assert_eq!(check(&["--eta", "1/8"], &["eta"]), Ok(()));
        assert_eq!(check(&["--factor", "0"], &[]), Ok(()));
        let why = check(&["--factor", "2"], &[]).unwrap_err();
        assert_eq!(
            why,
            "--factor is not the default that the input was made with"
        );
        // The default, but given.
        let why = check(&["--dt-max", "0.5"], &["eta"]).unwrap_err();
        assert_eq!(
            why,
            "--dt-max is not the 2.0 that the input was made with; a resumed run may change only --eta"
        );
    }
}
