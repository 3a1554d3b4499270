//! The intervals between jobs. They decide whether workers share a small job, whether sleeping workers are woken for
//! it, and how long workers stay awake.

use std::time::{Duration, Instant};

use crate::process::settings::WaitPolicy;

/// Less work than this is small: to wake a thread for it takes a good part of it.
const SMALL: Duration = Duration::from_micros(100);

/// Small jobs keep coming if the gaps between them are shorter than this many times their effort. In that case workers
/// are woken for them and stay awake. Staying awake through longer gaps would cost more processor time than it saves.
const KEEP_COMING: u32 = 10;

/// A longer gap counts as this long, so that an interruption is soon forgotten.
const LONGEST_GAP: Duration = Duration::from_millis(10);

/// Workers stay awake for so many usual gaps, within these bounds.
const GAPS: u32 = 8;
const LEAST_SPIN_TIME: Duration = Duration::from_micros(50);
const MOST_SPIN_TIME: Duration = Duration::from_millis(4);

/// With the policy `active` they stay awake this long.
const ACTIVE_SPIN_TIME: Duration = Duration::from_secs(1);

/// A wait for the workers is in vain if it is longer than this and than the whole effort, and longer than what sharing
/// has saved since the last such wait, of which at most the second number counts. (A wait that was paid for may come of a
/// short task of the system; long ones come of other programs.)
const WAITED: Duration = Duration::from_micros(50);
const MOST_SAVED: Duration = Duration::from_millis(1);

/// After a wait in vain so many small jobs are not shared; twice as many after each further one, up to the second number.
const ALONE: (u32, u32) = (64, 1 << 14);

/// After so many small jobs without one the number falls back to the first.
const FORGIVEN: u32 = 4096;

/// What is known of the jobs so far.
pub struct JobIntervals {
    policy: WaitPolicy,
    /// When the last job ended.
    ended: Option<Instant>,
    /// The usual gap between jobs: each new one counts for an eighth.
    gap: Duration,
    /// How many small jobs are still to be done alone.
    alone: u32,
    /// How many there will be after the next wait in vain.
    next_alone: u32,
    /// How many small jobs were shared without a wait in vain.
    undisturbed: u32,
    /// What sharing has saved, less what waits have cost.
    saved: Duration,
}

/// What to do with a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Whether workers that are awake may join.
    pub shares: bool,
    /// Whether workers that sleep are woken, and missing ones made.
    pub wakes: bool,
    /// Whether the job is small.
    pub is_small: bool,
}

impl JobIntervals {
    /// Nothing is known yet.
    pub fn new(policy: WaitPolicy) -> Self {
        Self {
            policy,
            ended: None,
            gap: LONGEST_GAP,
            alone: 0,
            next_alone: ALONE.0,
            undisturbed: 0,
            saved: Duration::ZERO,
        }
    }

    /// A job comes that takes one thread about `effort`.
    pub fn begin(&mut self, effort: Duration) -> Plan {
        if let Some(ended) = self.ended {
            self.gap = (self.gap * 7 + ended.elapsed().min(LONGEST_GAP)) / 8;
        }
        self.plan(effort)
    }

    fn plan(&mut self, effort: Duration) -> Plan {
        if effort >= SMALL {
            return Plan {
                shares: true,
                wakes: true,
                is_small: false,
            };
        }
        let is_alone = self.alone > 0;
        self.alone = self.alone.saturating_sub(1);
        let keep_coming = match self.policy {
            WaitPolicy::Auto => self.gap < effort * KEEP_COMING,
            WaitPolicy::Active => true,
            WaitPolicy::Passive => false,
        };
        Plan {
            shares: keep_coming && !is_alone,
            wakes: keep_coming && !is_alone,
            is_small: true,
        }
    }

    /// How long workers stay awake after this job.
    pub fn spin_time(&self) -> Duration {
        match self.policy {
            // Whoever calls so rarely does not gain what the wait costs.
            WaitPolicy::Auto if self.gap >= SMALL * KEEP_COMING => LEAST_SPIN_TIME,
            WaitPolicy::Auto => (self.gap * GAPS).clamp(LEAST_SPIN_TIME, MOST_SPIN_TIME),
            WaitPolicy::Active => ACTIVE_SPIN_TIME,
            WaitPolicy::Passive => Duration::ZERO,
        }
    }

    /// A job was shared with `joined` workers, for which the caller had to wait after its own work.
    pub fn shared(&mut self, joined: usize, waited: Duration, effort: Duration, is_small: bool) {
        if !is_small || joined == 0 {
            return;
        }
        if waited > WAITED.max(effort).max(self.saved) {
            self.alone = self.next_alone;
            self.next_alone = (self.next_alone * 2).min(ALONE.1);
            (self.undisturbed, self.saved) = (0, Duration::ZERO);
        } else {
            self.undisturbed += 1;
            let saved = self.saved + (effort - effort / (joined as u32 + 1));
            self.saved = match waited > WAITED.max(effort) {
                true => saved.saturating_sub(waited),
                false => saved.min(MOST_SAVED),
            };
            if self.undisturbed == FORGIVEN {
                (self.undisturbed, self.next_alone) = (0, ALONE.0);
            }
        }
    }

    /// The job is done.
    pub fn ended(&mut self) {
        self.ended = Some(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWENTY: Duration = Duration::from_micros(20);

    fn after_gaps(gap: Duration, count: usize) -> JobIntervals {
        let mut rhythm = JobIntervals::new(WaitPolicy::Auto);
        for _ in 0..count {
            rhythm.gap = (rhythm.gap * 7 + gap) / 8;
        }
        rhythm
    }

    #[test]
    fn small_jobs_are_shared_where_they_keep_coming() {
        assert!(!after_gaps(TWENTY, 1).plan(TWENTY).shares);
        assert!(after_gaps(TWENTY, 40).plan(TWENTY).wakes);
        assert!(!after_gaps(Duration::from_millis(5), 40).plan(TWENTY).shares);
        let large = JobIntervals::new(WaitPolicy::Auto).plan(SMALL);
        assert!(large.shares && large.wakes && !large.is_small);
    }

    #[test]
    fn patience_follows_the_gaps() {
        let of = |gap| after_gaps(gap, 100).spin_time();
        assert_eq!(of(Duration::from_micros(1)), LEAST_SPIN_TIME);
        let some = of(Duration::from_micros(100));
        assert!(some > Duration::from_micros(700) && some < Duration::from_micros(900));
        assert_eq!(
            of(Duration::from_millis(5)),
            LEAST_SPIN_TIME,
            "they do not keep coming"
        );
        assert_eq!(
            JobIntervals::new(WaitPolicy::Passive).spin_time(),
            Duration::ZERO
        );
    }

    #[test]
    fn a_wait_in_vain_ends_sharing_for_a_while_and_the_next_one_for_longer() {
        let mut rhythm = after_gaps(TWENTY, 40);
        let alone = |rhythm: &mut JobIntervals| {
            rhythm.shared(1, Duration::from_millis(3), TWENTY, true);
            (0..).take_while(|_| !rhythm.plan(TWENTY).shares).count() as u32
        };
        assert_eq!(alone(&mut rhythm), ALONE.0);
        assert_eq!(alone(&mut rhythm), 2 * ALONE.0);
        for _ in 0..FORGIVEN {
            rhythm.shared(1, Duration::ZERO, TWENTY, true);
        }
        assert_eq!(alone(&mut rhythm), ALONE.0);
        // What sharing has saved pays for a short wait, but not for the next one.
        for _ in 0..40 {
            rhythm.shared(1, Duration::ZERO, TWENTY, true);
        }
        rhythm.shared(1, Duration::from_micros(300), TWENTY, true);
        assert!(rhythm.plan(TWENTY).shares);
        rhythm.shared(1, Duration::from_micros(300), TWENTY, true);
        assert!(!rhythm.plan(TWENTY).shares);
        (0..2 * ALONE.0).for_each(|_| _ = rhythm.plan(TWENTY));
        // A large job may be waited for, and one that nobody joined made nobody wait.
        rhythm.shared(1, Duration::from_millis(3), SMALL, false);
        rhythm.shared(0, Duration::from_millis(3), TWENTY, true);
        assert!(rhythm.plan(TWENTY).shares);
    }

    #[test]
    fn policies() {
        assert!(JobIntervals::new(WaitPolicy::Active).plan(TWENTY).shares);
        let mut passive = JobIntervals::new(WaitPolicy::Passive);
        passive.gap = TWENTY;
        assert!(!passive.plan(TWENTY).shares);
    }
}
