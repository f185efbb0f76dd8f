//! Conversions between integer types. A number that the target cannot hold becomes the nearest bound of the target.

/// An integer type that can be converted.
pub trait Integer: Copy + PartialOrd + Default {}

macro_rules! integers {
    ($($type:ty),+) => { $(impl Integer for $type {})+ };
}
integers!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize);

macro_rules! conversions {
    ($($name:ident -> $to:ident),+ $(,)?) => {
        $(#[doc = concat!("Converts a number to `", stringify!($to), "`, saturating at its bounds.")]
        pub fn $name<N: Integer>(number: N) -> $to
        where
            $to: TryFrom<N>,
        {
            let bound = if number < N::default() { $to::MIN } else { $to::MAX };
            $to::try_from(number).unwrap_or(bound)
        })+
    };
}
conversions! {
    to_i32 -> i32,
    to_i64 -> i64,
    to_u32 -> u32,
    to_u64 -> u64,
    to_u128 -> u128,
    to_usize -> usize,
}

/// Converts a count to the value of a gauge, saturating at `u32::MAX`.
pub fn to_f64<N: Integer>(count: N) -> f64
where
    u32: TryFrom<N>,
{
    f64::from(to_u32(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_range_are_kept() {
        assert_eq!((to_u64(7_usize), to_i64(7_u128), to_i32(-7_i64), to_usize(7_u32)), (7, 7, -7, 7));
        assert!((to_f64(3_usize) - 3.0).abs() < f64::EPSILON);
    }

    #[test]
    fn numbers_out_of_range_become_the_nearest_bound() {
        assert_eq!((to_u64(-1_i64), to_u64(u128::MAX)), (0, u64::MAX));
        assert_eq!((to_i64(u64::MAX), to_i64(i128::MIN)), (i64::MAX, i64::MIN));
        assert_eq!((to_i32(u32::MAX), to_i32(i64::MIN)), (i32::MAX, i32::MIN));
        assert_eq!((to_u32(-1_i32), to_u32(usize::MAX)), (0, u32::MAX));
        assert_eq!((to_usize(-1_i64), to_u128(-1_i128)), (0, 0));
    }
}
