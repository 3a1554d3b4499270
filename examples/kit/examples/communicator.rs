//! Checks every operation of the communicator among the ranks of an MPI launcher; the tests of `parallel` run it.

use kirin_kit::communicator::mpi::Mpi;
use kirin_kit::communicator::{Communicator, Counted, check::every_operation};

fn main() {
    let universe = mpi::initialize().expect("MPI starts");
    let world = Mpi::world(&universe);
    every_operation(&world).expect("no rank is lost");
    every_operation(&Counted::new(Mpi::world(&universe))).expect("no rank is lost");
    println!("every operation on rank {}", world.rank());
}
