//! Chance as an argument: whoever needs a random number is handed one.

/// Gives random numbers.
pub trait Chance: Send + Sync {
    /// Returns a number in `0.0..1.0`.
    fn unit(&self) -> f64;
}

/// The machine's own randomness.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemChance;

impl Chance for SystemChance {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the machine's randomness"
    )]
    fn unit(&self) -> f64 {
        rand::random::<f64>()
    }
}

/// The same number always, for tests.
#[derive(Clone, Copy, Debug)]
pub struct FixedChance(
    /// The number, in `0.0..1.0`.
    pub f64,
);

impl Chance for FixedChance {
    fn unit(&self) -> f64 {
        self.0
    }
}
