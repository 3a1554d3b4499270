//! What the library behind NBODY6, NBODY6++ and their relatives is.
//!
//! These programs integrate with the scheme of Ahmad and Cohen (1973): a star's neighbours act on it at short
//! (irregular) steps, all other stars at long (regular) ones. Their library has one memory for each: the
//! sources of the regular force come anew for every block, those of the irregular force are written one by one
//! and predicted here.
//!
//! | file | calls |
//! |---|---|
//! | `regular` | `gpunb_*`, `gpupot_` |
//! | `irregular`, `stars` | `irr_simd_*` of NBODY6++, `gpuirr_*` of NBODY6 |
//! | `client` | whose arguments `gpunb_*` and `gpupot_` have |
//! | `helpers` | `cxvpred_`, `cnbint_`, `wtime_` of NBODY6 |

pub mod client;
pub mod helpers;
pub mod irregular;
pub mod regular;
pub mod stars;
