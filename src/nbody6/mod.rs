//! The library behind NBODY6, NBODY6++ and their relatives.
//!
//! These programs integrate with the scheme of Ahmad and Cohen (1973). The neighbours of a star act on it at short
//! (irregular) steps, all other stars at long (regular) steps. The library has one memory for each force. The client
//! sends all sources of the regular force anew for every block. It writes the stars of the irregular force one by
//! one, and this library predicts them.
//!
//! | file | what is in it |
//! |---|---|
//! | `symbols` | the calls with their names |
//! | `calls` | what they do: check, convert, call the library, write results |
//! | `regular_library` | sources and targets of `gpunb_*` and `gpupot_` |
//! | `irregular_library` | stars and lists of `irr_simd_*` of NBODY6++, `gpuirr_*` of NBODY6 |
//! | `program` | whose arguments `gpunb_*` and `gpupot_` have |
//! | `helpers` | `cxvpred_`, `cnbint_`, `wtime_` of NBODY6 |
//! | `statistics` | what is counted |

mod calls;
pub mod helpers;
pub mod irregular_library;
pub mod program;
pub mod regular_library;
pub mod statistics;
pub mod symbols;
