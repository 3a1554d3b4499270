//! Finds out which program calls, since the arguments of the same names differ between programs.

use std::fs::File;
use std::sync::atomic::{AtomicU8, Ordering};

use object::{Object, ObjectSymbol, ReadCache};

use kirin_core::error::Result;
use kirin_core::process::entry;
use kirin_core::process::settings::{self, Nbody6};

/// Whose arguments the calls have: what `KIRIN_NBODY6` says, or else what the imports of this program show.
///
/// # Errors
///
/// The settings were not read yet, and there is no memory.
pub fn client() -> Result<Nbody6> {
    // Nobody waits for another thread, which a child of a fork would not have: each may look.
    static FOUND: AtomicU8 = AtomicU8::new(UNKNOWN);
    const UNKNOWN: u8 = 0;
    const PLUS_PLUS: u8 = 1;
    const SIX: u8 = 2;
    const SIX_OF_2009: u8 = 3;
    if let Some(client) = settings::with_memory()?.nbody6 {
        return Ok(client);
    }
    Ok(match FOUND.load(Ordering::Relaxed) {
        PLUS_PLUS => Nbody6::PlusPlus,
        SIX => Nbody6::Six,
        SIX_OF_2009 => Nbody6::SixOf2009,
        _ => {
            entry::hold_cancellation();
            let found = look().unwrap_or_default();
            let number = match found {
                Nbody6::Six => SIX,
                Nbody6::SixOf2009 => SIX_OF_2009,
                _ => PLUS_PLUS,
            };
            FOUND.store(number, Ordering::Relaxed);
            found
        }
    })
}

/// `None` where the program's file cannot be read, or is not of a known format.
fn look() -> Option<Nbody6> {
    let file = ReadCache::new(File::open("/proc/self/exe").ok()?);
    let program = object::File::parse(&file).ok()?;
    let symbols = program.dynamic_symbols().filter(ObjectSymbol::is_undefined);
    Some(by_imports(symbols.filter_map(|s| s.name().ok())))
}

/// NBODY6's irregular force has calls of its own, and so has NBODY6++'s. NBODY6 of 2009 has no such force in its library, but
/// `cnbint_`. AMUSE's nbody6xx imports nothing that NBODY6++ does not, and cannot be told from it.
fn by_imports<'a>(names: impl Iterator<Item = &'a str>) -> Nbody6 {
    let mut client = Nbody6::PlusPlus;
    for name in names {
        match name {
            "irr_simd_open_" | "gpunb_profile_" => return Nbody6::PlusPlus,
            "gpuirr_open_" => client = Nbody6::Six,
            "cnbint_" if client == Nbody6::PlusPlus => client = Nbody6::SixOf2009,
            _ => {}
        }
    }
    client
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_tell_the_programs() {
        let of = |names: &[&str]| by_imports(names.iter().copied());
        assert_eq!(of(&["gpunb_regf_", "gpuirr_open_", "cnbint_"]), Nbody6::Six);
        assert_eq!(of(&["cnbint_", "gpunb_regf_", "gpuirr_open_"]), Nbody6::Six);
        assert_eq!(of(&["cnbint_", "gpunb_regf_"]), Nbody6::SixOf2009);
        assert_eq!(of(&["gpunb_regf_", "irr_simd_open_"]), Nbody6::PlusPlus);
        // Linked with AMUSE's irregular force, or by hand, or statically.
        assert_eq!(of(&["gpunb_regf_"]), Nbody6::PlusPlus);
        assert_eq!(of(&[]), Nbody6::PlusPlus);
        // A client of everything has the arguments of the headers.
        for last in ["irr_simd_open_", "gpunb_profile_"] {
            assert_eq!(of(&["cnbint_", last]), Nbody6::PlusPlus);
            assert_eq!(of(&["gpuirr_open_", last]), Nbody6::PlusPlus);
            assert_eq!(of(&[last, "gpuirr_open_"]), Nbody6::PlusPlus);
        }
    }

    #[test]
    fn this_program_is_read() {
        assert_eq!(look(), Some(Nbody6::PlusPlus));
    }
}
