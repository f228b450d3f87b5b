//! What a text means to a model of embeddings: a direction among some hundred numbers. Two that point alike mean alike.

/// The most numbers of one.
const MAX: usize = 4_096;
/// So many numbers are worked on at once: what a processor adds side by side.
const LANES: usize = 8;

/// A direction: finite numbers of length 1 together.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitVector(Vec<f32>);

impl UnitVector {
    /// Takes numbers as a server gives them.
    ///
    /// # Errors
    /// In words, what makes them no direction.
    pub fn of(mut numbers: Vec<f32>) -> Result<Self, String> {
        let many = numbers.len();
        if many == 0 || many > MAX {
            return Err(format!("has {many} numbers, and 1 to {MAX} are taken"));
        }
        if numbers.iter().any(|number| !number.is_finite()) {
            return Err("holds a number that is none".to_owned());
        }
        // In 64 bits: the squares of large numbers have room there.
        let squares = numbers.iter().map(|number| f64::from(*number).powi(2));
        let length = squares.sum::<f64>().sqrt();
        if length <= f64::from(f32::MIN_POSITIVE) {
            return Err("points nowhere: all of its numbers are 0".to_owned());
        }
        #[expect(clippy::cast_possible_truncation, reason = "a part of 1")]
        numbers.iter_mut().for_each(|number| *number = (f64::from(*number) / length) as f32);
        Ok(Self(numbers))
    }

    /// How many numbers it has.
    pub fn width(&self) -> usize {
        self.0.len()
    }

    /// Writes it down as it is stored: four bytes a number, the lowest first.
    pub fn bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    /// How alike a stored one points, from -1 to 1; `None` for one of another width, or bytes that are none.
    pub fn cosine(&self, stored: &[u8]) -> Option<f32> {
        if stored.len() != self.0.len() * size_of::<f32>() {
            return None;
        }
        let mut sums = [0.0_f32; LANES];
        let stride = LANES * size_of::<f32>();
        for (own, other) in self.0.chunks(LANES).zip(stored.chunks(stride)) {
            let others = other.chunks_exact(size_of::<f32>());
            for ((sum, one), two) in sums.iter_mut().zip(own).zip(others) {
                // Four bytes make a number.
                *sum += one * two.try_into().map_or(0.0, f32::from_le_bytes);
            }
        }
        let cosine: f32 = sums.iter().sum();
        cosine.is_finite().then(|| cosine.clamp(-1.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_points_nowhere_is_refused() {
        for (numbers, why) in [
            (vec![], "has 0 numbers"),
            (vec![0.0; 4], "points nowhere"),
            (vec![1.0, f32::NAN], "is none"),
            (vec![f32::INFINITY], "is none"),
            (vec![1.0; MAX + 1], "1 to 4096"),
        ] {
            assert!(UnitVector::of(numbers).unwrap_err().contains(why), "{why}");
        }
        assert!(UnitVector::of(vec![f32::MAX; 9]).is_ok(), "its squares need more than 32 bits");
    }

    #[test]
    fn alike_is_1_and_opposite_is_less_than_nothing() {
        let one = UnitVector::of((0_u8..19).map(f32::from).collect()).unwrap();
        let other = UnitVector::of((0_u8..19).map(|n| -f32::from(n)).collect()).unwrap();
        assert!((one.cosine(&one.bytes()).unwrap() - 1.0).abs() < 1e-5);
        assert!((one.cosine(&other.bytes()).unwrap() + 1.0).abs() < 1e-5);
        assert_eq!(one.cosine(&one.bytes()[4..]), None, "of another width");
        let broken = vec![0xff; 19 * 4];
        assert_eq!(one.cosine(&broken), None, "a disk may give anything");
    }

    proptest! {
        #[test]
        fn a_cosine_lies_between_its_ends(a in prop::collection::vec(-1e30_f32..1e30, 1..40), b in prop::collection::vec(-1e-30_f32..1e30, 1..40)) {
            let many = a.len().min(b.len());
            let both = [a, b].map(|numbers| UnitVector::of(numbers[..many].to_vec()));
            if let [Ok(a), Ok(b)] = both {
                let cosine = a.cosine(&b.bytes()).unwrap();
                prop_assert!((-1.0..=1.0).contains(&cosine));
                prop_assert!((cosine - b.cosine(&a.bytes()).unwrap()).abs() < 1e-5);
            }
        }
    }
}
