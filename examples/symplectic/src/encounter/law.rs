//! The division of a softened attraction at the changeover radius.

/// The near part of the attraction by a body: all of it at small distances, nothing from the changeover radius on.
///
/// Within the changeover radius the far part is the attraction times a polynomial of the distance, which rises from 0
/// to 1. The polynomial's first six derivatives vanish at both ends, as many as the error of a sixth-order scheme
/// contains. Without softening the far part of the force goes with the fifth power of small distances. So it vanishes
/// where passages are faster than the step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Law {
    eps2: f64,
    radius: f64,
}

impl Law {
    /// The law of attractions with the softening `eps2` = eps squared, divided at `radius`.
    pub fn new(eps2: f64, radius: f64) -> Self {
        Self { eps2, radius }
    }

    /// The changeover radius.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// The near part of the attraction by a unit of mass at the squared distance `r2`, divided by the distance. Without
    /// softening it is 0 if both are at one place. Has no branch, so that loops over pairs become vectors.
    #[inline(always)]
    pub fn near(&self, r2: f64) -> f64 {
        let (r, soft) = (r2.sqrt(), r2 + self.eps2);
        let near = 1.0 / (soft * soft.sqrt()) * rise(1.0 - r / self.radius);
        // As bits: a choice between numbers may become a branch.
        let is_near = u64::from((r < self.radius) & (soft > 0.0)).wrapping_neg();
        f64::from_bits(near.to_bits() & is_near)
    }

    /// The rest of the attraction.
    pub fn far(&self, r2: f64) -> f64 {
        match r2.sqrt() / self.radius {
            part if part >= 1.0 => self.whole(r2),
            part => self.whole(r2) * rise(part),
        }
    }

    fn whole(&self, r2: f64) -> f64 {
        let soft = r2 + self.eps2;
        if soft > 0.0 {
            1.0 / (soft * soft.sqrt())
        } else {
            0.0
        }
    }
}

/// From 0 at 0 to 1 at 1; the first six derivatives vanish at both ends.
#[inline(always)]
fn rise(x: f64) -> f64 {
    // Towards 1 the terms would cancel: from the middle on it falls from there as it rose.
    let is_upper = x > 0.5;
    let choose = |upper: f64, lower: f64| if is_upper { upper } else { lower };
    let x = choose(1.0 - x, x);
    let terms = [924.0, -6006.0, 16380.0, -24024.0, 20020.0, -9009.0, 1716.0];
    let (square, sum) = (x * x, terms.iter().fold(0.0, |sum, c| sum * x + c));
    let rise = sum * (square * x * (square * square));
    choose(1.0 - rise, rise)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_make_the_whole() {
        let law = Law::new(1e-4, 0.3);
        for k in 0..400 {
            let r2 = (f64::from(k) / 1000.0).powi(2);
            let whole = 1.0 / (r2 + 1e-4_f64).powf(1.5);
            let sum = law.near(r2) + law.far(r2);
            assert!((sum / whole - 1.0).abs() < 1e-14, "{r2}");
        }
        assert_eq!(law.near(0.09), 0.0);
        assert_eq!(law.near(1.0), 0.0);
        // At a place where nothing is softened the library, too, has no force.
        assert_eq!(Law::new(0.0, 0.3).near(0.0), 0.0);
    }

    /// A term x^7 at both ends, and halves in the middle.
    #[test]
    fn the_rise_is_smooth_at_both_ends() {
        assert!((rise(0.5) - 0.5).abs() < 1e-15);
        for x in [1e-3, 1e-2] {
            assert!((rise(x) / (1716.0 * x.powi(7)) - 1.0).abs() < 10.0 * x);
            assert!((rise(1.0 - x) + rise(x) - 1.0).abs() < 1e-15);
        }
        let slopes =
            (1..1000).map(|k| rise(f64::from(k) / 1000.0) - rise(f64::from(k - 1) / 1000.0));
        assert!(slopes.into_iter().all(|slope| slope > 0.0));
    }
}
