//! Values on their way to PostgreSQL and back: integers of 64 bits, texts, bytes.

use std::error::Error;

use bytes::{BufMut, BytesMut};
use tokio_postgres::Row as DriverRow;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use crate::error::{Result, StoreError};
use crate::value::{OwnedValue, Row, Value};

type ConversionError = Box<dyn Error + Sync + Send>;

/// Stands for U+0000, which PostgreSQL stores in no text.
const NOTHING: &[u8] = "\u{FFFD}".as_bytes();

impl ToSql for OwnedValue {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> std::result::Result<IsNull, ConversionError> {
        match self {
            Self::Null => return Ok(IsNull::Yes),
            Self::Int(number) => integer(*number, ty, out)?,
            Self::Text(text) => bytes(text.as_bytes(), ty, out),
            Self::Bytes(raw) => bytes(raw, ty, out),
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

fn integer(number: i64, ty: &Type, out: &mut BytesMut) -> std::result::Result<(), ConversionError> {
    match *ty {
        Type::INT8 => out.put_i64(number),
        Type::INT4 => out.put_i32(number.try_into()?),
        Type::INT2 => out.put_i16(number.try_into()?),
        Type::BOOL => out.put_u8((number != 0).into()),
        _ => return Err(format!("an integer where the statement takes {ty}").into()),
    }
    Ok(())
}

fn bytes(raw: &[u8], ty: &Type, out: &mut BytesMut) {
    if *ty == Type::BYTEA || memchr::memchr(0, raw).is_none() {
        return out.put_slice(raw);
    }
    for (n, piece) in raw.split(|byte| *byte == 0).enumerate() {
        if n > 0 {
            out.put_slice(NOTHING);
        }
        out.put_slice(piece);
    }
}

/// A row of an answer.
#[derive(Debug)]
pub struct Answer(pub DriverRow);

impl Row for Answer {
    fn value(&self, column: usize) -> Result<Value<'_>> {
        let cell = self.0.try_get::<_, Cell<'_>>(column);
        cell.map(|cell| cell.0).map_err(|e| StoreError::Corrupt(format!("column {column}: {e}")))
    }
}

/// What stands in a column.
struct Cell<'a>(Value<'a>);

impl<'a> FromSql<'a> for Cell<'a> {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> std::result::Result<Self, ConversionError> {
        let cut = || format!("{ty} of {} bytes", raw.len());
        Ok(Self(match *ty {
            Type::INT8 => Value::Int(i64::from_be_bytes(raw.try_into().map_err(|_| cut())?)),
            Type::INT4 => Value::Int(i32::from_be_bytes(raw.try_into().map_err(|_| cut())?).into()),
            Type::INT2 => Value::Int(i16::from_be_bytes(raw.try_into().map_err(|_| cut())?).into()),
            Type::BOOL => Value::Int(raw.first().copied().unwrap_or_default().into()),
            Type::NUMERIC => Value::Int(whole(raw).ok_or_else(cut)?),
            Type::BYTEA => Value::Bytes(raw),
            Type::TEXT | Type::VARCHAR | Type::NAME | Type::UNKNOWN => {
                Value::Text(std::str::from_utf8(raw)?)
            }
            _ => return Err(format!("no column of ours is {ty}").into()),
        }))
    }

    fn from_sql_null(_: &Type) -> std::result::Result<Self, ConversionError> {
        Ok(Self(Value::Null))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// Reads a whole number out of a `numeric`, which is what a sum of integers is: digits to the base of 10,000.
fn whole(raw: &[u8]) -> Option<i64> {
    let word = |at: usize| Some(u16::from_be_bytes(raw.get(at * 2..at * 2 + 2)?.try_into().ok()?));
    let digits = word(0)?;
    let weight = word(1)?.cast_signed();
    let sign = word(2)?;
    let mut number: i64 = 0;
    for at in 0..=weight {
        let digit = if at.cast_unsigned() < digits {
            word(4 + usize::from(at.cast_unsigned()))?
        } else {
            0
        };
        number = number.checked_mul(10_000)?.checked_add(digit.into())?;
    }
    let fraction = i32::from(digits) > i32::from(weight) + 1;
    match sign {
        _ if fraction => None,
        0 => Some(number),
        0x4000 => Some(-number),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_read_as_a_whole_number() {
        let numeric =
            |words: &[u16]| words.iter().flat_map(|w| w.to_be_bytes()).collect::<Vec<_>>();
        for (words, wanted) in [
            (&[0, 0, 0, 0][..], Some(0)),
            (&[1, 0, 0, 0, 42], Some(42)),
            (&[2, 1, 0x4000, 0, 3, 7], Some(-30_007)),
            (&[1, 2, 0, 0, 5], Some(500_000_000)),
            (&[1, 0xFFFF, 0, 4, 5], None),
            (&[1, 9, 0, 0, 5], None),
            (&[0, 0, 0xC000, 0], None),
        ] {
            assert_eq!(whole(&numeric(words)), wanted, "{words:?}");
        }
        assert_eq!(whole(&[0]), None);
    }

    #[test]
    fn no_text_holds_a_zero() {
        let mut out = BytesMut::new();
        OwnedValue::Text("a\0b\0".to_owned()).to_sql(&Type::TEXT, &mut out).unwrap();
        assert_eq!(out, "a\u{FFFD}b\u{FFFD}".as_bytes());
        out.clear();
        OwnedValue::Bytes(vec![0, 1]).to_sql(&Type::BYTEA, &mut out).unwrap();
        assert_eq!(&out[..], [0, 1]);
    }
}
