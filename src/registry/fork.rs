//! Clusters, memories and handles in a process that forks while other threads are in calls. The child has all of them.
//!
//! The fork waits for every member that is in a short call. It does not wait for long work (forces, lists), which
//! changes nothing but its own results: the child repeats that work when it asks for the results.

use super::{Entry, Member, Open, Registry};
use kirin_core::process::fork::{self, Deadline, Prepared, Subject};
use kirin_core::process::{biased, lock, log};

/// The members of a registry while the process forks.
struct HeldMembers<M: Member> {
    open: Option<lock::Guard<'static, Open>>,
    members: Vec<biased::Guard<'static, Option<Box<M>>>>,
    /// Members on which other threads are at long work, which cannot end until the fork is made.
    at_work: Vec<&'static Entry<M>>,
    /// Members that other threads did not release in time.
    lost: Vec<&'static Entry<M>>,
}

/// From here on forks are prepared.
pub fn watch<M: Member>() {
    fork::watch(M::registry(), &M::registry().is_watched);
}

impl<M: Member> Subject for Registry<M> {
    /// For the lists of members.
    fn room(&self) -> usize {
        self.entries().count() * size_of::<usize>() * 8
    }

    fn prepare(&'static self, deadline: &Deadline) -> Box<dyn Prepared> {
        let mut held = HeldMembers {
            // `None`: another thread has the ids.
            open: deadline.wait_for(|| self.open.try_lock()),
            members: Vec::new(),
            at_work: Vec::new(),
            lost: Vec::new(),
        };
        for entry in self.entries() {
            let attempt = || match entry.member.try_lock() {
                Some(guard) => Some(Some(guard)),
                // Long work on it is held up: no guard, and nothing to wait for.
                None => entry.work.hold_up().then_some(None),
            };
            match deadline.wait_for(attempt) {
                Some(Some(guard)) => held.members.push(guard),
                Some(None) => held.at_work.push(entry),
                None => held.lost.push(entry),
            }
        }
        Box::new(held)
    }
}

impl<M: Member> Prepared for HeldMembers<M> {
    fn resume(&mut self) {
        self.at_work.iter().for_each(|entry| entry.work.let_go());
    }

    unsafe fn inherit(&mut self) {
        if self.open.is_none() {
            // SAFETY: passed on: this is the child's only thread. A thread of the parent held it.
            let _ = unsafe { M::registry().open.take_from_the_dead() };
        }
        for entry in self.at_work.iter().chain(&self.lost) {
            // SAFETY: as above.
            let member = unsafe { entry.member.take_from_the_dead() };
            if entry.work.forget() {
                member.iter_mut().for_each(|member| member.inherit());
            } else if let Some(member) = member.take() {
                // Half-changed, so that it cannot even be dropped.
                std::mem::forget(member);
                log::line(format_args!(
                    "{} was being changed by another thread when the process forked: it is empty here",
                    M::name(entry.id)
                ));
            }
        }
    }
}
