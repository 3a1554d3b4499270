//! The bulk interface: gravity on whole arrays, behind handles.
//!
//! | file | what is in it |
//! |---|---|
//! | `symbols`, `texts` | the calls with their names |
//! | `calls` | what they do: check, convert, call the state, write results |
//! | `arrays` | the client's arrays with their steps |
//! | `gravity` | what a handle stands for: a cluster, the number of its sources, neighbour lists |
//! | `check` | checks of arguments that several calls share |
//! | `handles` | handles, and what they stand for |
//! | `message` | the boundary of these calls: a code, and a message that can be asked for |

pub mod arrays;
mod calls;
pub mod check;
mod gravity;
pub mod handles;
pub mod message;
pub mod symbols;
pub mod texts;
