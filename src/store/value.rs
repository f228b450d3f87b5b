//! What stands in a column or is bound to a statement: borrowed, and of four kinds for every engine.

use crate::error::{Result, StoreError};

/// A value of a column or a parameter. Every integer has 64 bits; a flag is 0 or 1; a moment is in milliseconds
/// since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// Nothing.
    Null,
    /// An integer.
    Int(i64),
    /// A text.
    Text(&'a str),
    /// Bytes; also a stored text that is not UTF-8.
    Bytes(&'a [u8]),
}

impl Value<'_> {
    fn kind(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Int(_) => "an integer",
            Self::Text(_) => "a text",
            Self::Bytes(_) => "bytes",
        }
    }
}

/// A value that outlives the row or the call that gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnedValue {
    /// Nothing.
    Null,
    /// An integer.
    Int(i64),
    /// A text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

impl OwnedValue {
    /// Takes a value as it is.
    pub fn of(value: Value<'_>) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Int(number) => Self::Int(number),
            Value::Text(text) => Self::Text(text.to_owned()),
            Value::Bytes(bytes) => Self::Bytes(bytes.to_owned()),
        }
    }

    /// Takes a value that is no bytes: what of a text cannot be read is marked.
    pub fn text(value: Value<'_>) -> Self {
        match value {
            Value::Bytes(bytes) => Self::Text(String::from_utf8_lossy(bytes).into_owned()),
            value => Self::of(value),
        }
    }

    /// Returns it to be bound.
    pub fn value(&self) -> Value<'_> {
        match self {
            Self::Null => Value::Null,
            Self::Int(number) => Value::Int(*number),
            Self::Text(text) => Value::Text(text),
            Self::Bytes(bytes) => Value::Bytes(bytes),
        }
    }
}

/// One row of an answer. It lives as long as the call that is handed it.
pub trait Row {
    /// Returns the value of a column, counted from 0.
    ///
    /// # Errors
    /// `Corrupt` when there is no such column, or it holds what no column of ours may hold.
    fn value(&self, column: usize) -> Result<Value<'_>>;
}

impl dyn Row + '_ {
    /// Returns a column as what it is to be.
    ///
    /// # Errors
    /// `Corrupt` when it is something else.
    pub fn get<'r, T: Column<'r>>(&'r self, column: usize) -> Result<T> {
        let value = self.value(column)?;
        T::read(value).ok_or_else(|| {
            let found = value.kind();
            let wanted = std::any::type_name::<T>();
            StoreError::Corrupt(format!("column {column} holds {found} where {wanted} belongs"))
        })
    }
}

/// What a column can be read as.
pub trait Column<'r>: Sized {
    /// Reads a value; `None` when it is of another kind or out of range.
    fn read(value: Value<'r>) -> Option<Self>;
}

impl Column<'_> for i64 {
    fn read(value: Value<'_>) -> Option<Self> {
        match value {
            Value::Int(number) => Some(number),
            _ => None,
        }
    }
}

impl Column<'_> for u32 {
    fn read(value: Value<'_>) -> Option<Self> {
        i64::read(value).and_then(|number| number.try_into().ok())
    }
}

impl Column<'_> for u16 {
    fn read(value: Value<'_>) -> Option<Self> {
        i64::read(value).and_then(|number| number.try_into().ok())
    }
}

impl Column<'_> for bool {
    fn read(value: Value<'_>) -> Option<Self> {
        i64::read(value).map(|flag| flag != 0)
    }
}

impl<'r> Column<'r> for &'r str {
    fn read(value: Value<'r>) -> Option<Self> {
        match value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl Column<'_> for String {
    fn read(value: Value<'_>) -> Option<Self> {
        <&str>::read(value).map(str::to_owned)
    }
}

impl<'r> Column<'r> for &'r [u8] {
    fn read(value: Value<'r>) -> Option<Self> {
        match value {
            Value::Bytes(bytes) => Some(bytes),
            Value::Text(text) => Some(text.as_bytes()),
            _ => None,
        }
    }
}

impl<'r, T: Column<'r>> Column<'r> for Option<T> {
    fn read(value: Value<'r>) -> Option<Self> {
        match value {
            Value::Null => Some(None),
            value => T::read(value).map(Some),
        }
    }
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<u32> for Value<'_> {
    fn from(number: u32) -> Self {
        Self::Int(number.into())
    }
}

impl From<u16> for Value<'_> {
    fn from(number: u16) -> Self {
        Self::Int(number.into())
    }
}

impl From<usize> for Value<'_> {
    fn from(count: usize) -> Self {
        Self::Int(i64::try_from(count).unwrap_or(i64::MAX))
    }
}

impl From<bool> for Value<'_> {
    fn from(flag: bool) -> Self {
        Self::Int(flag.into())
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a [u8]> for Value<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(bytes)
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<'a> From<&'a Option<String>> for Value<'a> {
    fn from(text: &'a Option<String>) -> Self {
        text.as_deref().into()
    }
}

/// Binds values to `?1`, `?2`, …
macro_rules! params {
    ($($value:expr),* $(,)?) => {
        &[$($crate::value::Value::from($value)),*]
    };
}
pub(crate) use params;

#[cfg(test)]
mod tests {
    use super::*;

    struct Two;

    impl Row for Two {
        fn value(&self, column: usize) -> Result<Value<'_>> {
            Ok([Value::Int(7), Value::Null][column])
        }
    }

    #[test]
    fn a_column_of_another_kind_is_named() {
        let row: &dyn Row = &Two;
        assert_eq!(row.get::<u32>(0).unwrap(), 7);
        assert_eq!(row.get::<Option<String>>(1).unwrap(), None);
        let error = row.get::<String>(0).unwrap_err().to_string();
        assert!(error.contains("column 0 holds an integer"), "{error}");
        assert!(row.get::<i64>(1).is_err(), "nothing is no number");
    }
}
