//! Finds out which program calls, since the arguments of the same names differ between programs.

use std::fs::File;
use std::sync::atomic::{AtomicU8, Ordering};

use object::{Object, ObjectSymbol, ReadCache};

use kirin_core::error::{Error, Result};
use kirin_core::process::entry;
use kirin_core::process::settings::{self, Nbody6};

/// Whose arguments the calls have: what `KIRIN_NBODY6` says, or else what the imports of this program show.
///
/// # Errors
///
/// It is NBODY6+P3T; or the settings were not read yet, and there is no memory.
pub fn client() -> Result<Nbody6> {
    // Nobody waits for another thread, which a child of a fork would not have: each may look.
    static FOUND: AtomicU8 = AtomicU8::new(UNKNOWN);
    const UNKNOWN: u8 = 0;
    const PLUS_PLUS: u8 = 1;
    const SIX: u8 = 2;
    const SIX_OF_2009: u8 = 3;
    const OTHER: u8 = 4;
    if let Some(client) = settings::with_memory()?.nbody6 {
        return Ok(client);
    }
    match FOUND.load(Ordering::Relaxed) {
        PLUS_PLUS => Ok(Nbody6::PlusPlus),
        SIX => Ok(Nbody6::Six),
        SIX_OF_2009 => Ok(Nbody6::SixOf2009),
        OTHER => Err(P3T),
        _ => {
            entry::hold_cancellation();
            let found = look().unwrap_or(Ok(Nbody6::PlusPlus));
            let number = match found {
                Ok(Nbody6::Six) => SIX,
                Ok(Nbody6::SixOf2009) => SIX_OF_2009,
                Ok(_) => PLUS_PLUS,
                Err(_) => OTHER,
            };
            FOUND.store(number, Ordering::Relaxed);
            found
        }
    }
}

/// Its forces depend on a changeover radius, the last argument of its calls.
const P3T: Error = Error::Unsupported {
    reason: "this is NBODY6+P3T (it calls gpunb_regf_ and gpuirr_open_, but no gpunb_send_), and kirin has no forces with a changeover radius; another program needs KIRIN_NBODY6",
};

/// `None` where the program's file cannot be read, or is not of a known format.
fn look() -> Option<Result<Nbody6>> {
    let file = ReadCache::new(File::open("/proc/self/exe").ok()?);
    let program = object::File::parse(&file).ok()?;
    let symbols = program.dynamic_symbols().filter(ObjectSymbol::is_undefined);
    Some(by_imports(symbols.filter_map(|s| s.name().ok())))
}

/// NBODY6's irregular force has calls of its own, and so has NBODY6++'s. NBODY6 of 2009 has no such force in its library, but
/// `cnbint_`. AMUSE's nbody6xx imports nothing that NBODY6++ does not, and cannot be told from it. If built for one process, it has
/// the imports of NBODY6++ of 2009 to 2011, which passes one argument less.
///
/// # Errors
///
/// It is NBODY6+P3T, whose regular force sends its own sources.
fn by_imports<'a>(names: impl Iterator<Item = &'a str>) -> Result<Nbody6> {
    let mut client = Nbody6::PlusPlus;
    let (mut has_regular, mut has_send) = (false, false);
    for name in names {
        match name {
            "irr_simd_open_" | "gpunb_profile_" => return Ok(Nbody6::PlusPlus),
            "gpuirr_open_" => client = Nbody6::Six,
            "cnbint_" if client == Nbody6::PlusPlus => client = Nbody6::SixOf2009,
            "gpunb_regf_" => has_regular = true,
            "gpunb_send_" => has_send = true,
            _ => {}
        }
    }
    if client == Nbody6::Six && has_regular && !has_send {
        return Err(P3T);
    }
    Ok(client)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_tell_the_programs() {
        let of = |names: &str| by_imports(names.split_whitespace());
        let six = "gpunb_send_ gpunb_regf_ gpuirr_open_";
        assert_eq!(of(&format!("{six} cnbint_")), Ok(Nbody6::Six));
        assert_eq!(of(&format!("cnbint_ {six}")), Ok(Nbody6::Six));
        assert_eq!(of("cnbint_ gpunb_send_ gpunb_regf_"), Ok(Nbody6::SixOf2009));
        assert_eq!(of("gpunb_regf_ irr_simd_open_"), Ok(Nbody6::PlusPlus));
        // AMUSE's nbody6xx, NBODY6++ of 2009 to 2011, or linked by hand or statically.
        assert_eq!(of("gpunb_send_ gpunb_regf_"), Ok(Nbody6::PlusPlus));
        assert_eq!(of("gpunb_regf_"), Ok(Nbody6::PlusPlus));
        assert_eq!(of(""), Ok(Nbody6::PlusPlus));
        assert_eq!(of("gpuirr_open_ gpunb_regf_ cnbint_"), Err(P3T));
        assert_eq!(of("gpuirr_open_"), Ok(Nbody6::Six));
        // A client of everything has the arguments of the headers.
        for last in ["irr_simd_open_", "gpunb_profile_"] {
            assert_eq!(of(&format!("cnbint_ {last}")), Ok(Nbody6::PlusPlus));
            assert_eq!(of(&format!("{six} {last}")), Ok(Nbody6::PlusPlus));
            assert_eq!(of(&format!("{last} {six}")), Ok(Nbody6::PlusPlus));
        }
    }

    #[test]
    fn this_program_is_read() {
        assert_eq!(look(), Some(Ok(Nbody6::PlusPlus)));
    }
}
