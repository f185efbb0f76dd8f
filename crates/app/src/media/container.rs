//! Checks by its container that a file is one complete picture and nothing else: decoders are lenient and fill
//! missing data with grey.

use crate::media::ImageType;
use terrace_kernel::num;

/// Maximum number of scans, more than any camera or editor writes. Each costs a pass over all blocks, and an empty
/// one takes only a few bytes.
const MOST_SCANS: usize = 100;
/// Maximum distance of a ZIP archive's end-of-directory record from the end of the file: the record and the longest
/// comment.
const ZIP_REACH: usize = 22 + 65_535;
/// How far into a file PDF readers search for its header.
const PDF_REACH: usize = 1024;

/// Returns what is wrong with the file, if anything.
pub(super) fn check(kind: ImageType, bytes: &[u8]) -> Result<(), &'static str> {
    match kind {
        ImageType::Png => png(bytes),
        ImageType::Jpeg => jpeg(bytes),
        ImageType::WebP => webp(bytes),
    }
}

const TRUNCATED: &str = "the file ends before the picture does";
const MORE: &str = "something else follows the picture in the file";

fn big_endian(bytes: [u8; 4]) -> usize {
    num::to_usize(u32::from_be_bytes(bytes))
}

/// PNG (Third Edition) §5: a signature, then chunks, from IHDR to IEND.
fn png(bytes: &[u8]) -> Result<(), &'static str> {
    let mut rest = bytes.strip_prefix(b"\x89PNG\r\n\x1a\n").ok_or("the file is no PNG")?;
    let mut expected = Some(b"IHDR");
    loop {
        let chunk = rest.split_first_chunk().and_then(|(length, rest)| {
            let (kind, rest) = rest.split_first_chunk::<4>()?;
            let (_, rest) = rest.split_at_checked(big_endian(*length).saturating_add(4))?;
            Some((kind, rest))
        });
        let (kind, after) = chunk.ok_or(TRUNCATED)?;
        if expected.take().is_some_and(|expected| kind != expected) {
            return Err("the file is no PNG");
        }
        if kind == b"IEND" {
            return if after.is_empty() { Ok(()) } else { Err(MORE) };
        }
        rest = after;
    }
}

/// ITU-T T.81 §B: markers with their segments, and coded data after each start of a scan.
///
/// Cameras append previews, videos and private data after the picture. Encoding again drops all of it, so it is no
/// reason to refuse a photo, unless it makes the file valid as another file type as well.
fn jpeg(bytes: &[u8]) -> Result<(), &'static str> {
    let mut rest = bytes.strip_prefix(b"\xff\xd8").ok_or("the file is no JPEG")?;
    let mut scans = 0;
    loop {
        let (marker, after) = marker(rest)?;
        rest = match marker {
            0xd9 => return if scans > 0 { tail(after) } else { Err(TRUNCATED) },
            0x01 | 0xd0..=0xd7 => after,
            0x00 | 0xd8 => return Err("the file's structure is broken"),
            0xda => {
                scans += 1;
                if scans > MOST_SCANS {
                    return Err("the picture has too many scans");
                }
                coded_data(segment(after)?).ok_or(TRUNCATED)?
            }
            _ => segment(after)?,
        };
    }
}

/// The next marker, which may be preceded by any number of 0xff bytes.
fn marker(rest: &[u8]) -> Result<(u8, &[u8]), &'static str> {
    let code = rest.iter().position(|byte| *byte != 0xff).ok_or(TRUNCATED)?;
    if code == 0 {
        return Err("the file's structure is broken");
    }
    let (code, after) = rest.get(code..).and_then(<[u8]>::split_first).ok_or(TRUNCATED)?;
    Ok((*code, after))
}

/// The rest after a segment, whose length field includes itself.
fn segment(rest: &[u8]) -> Result<&[u8], &'static str> {
    let (length, _) = rest.split_first_chunk().ok_or(TRUNCATED)?;
    let length = usize::from(u16::from_be_bytes(*length));
    if length < 2 {
        return Err("the file's structure is broken");
    }
    rest.get(length..).ok_or(TRUNCATED)
}

/// The rest after coded data: from the next marker that is neither a stuffed 0xff nor a restart.
fn coded_data(rest: &[u8]) -> Option<&[u8]> {
    let is_marker = |pair: &[u8]| matches!(pair, [0xff, code] if !matches!(code, 0x00 | 0xff | 0xd0..=0xd7));
    rest.get(rest.windows(2).position(is_marker)?..)
}

fn tail(tail: &[u8]) -> Result<(), &'static str> {
    let end = tail.get(tail.len().saturating_sub(ZIP_REACH)..).unwrap_or_default();
    let is_zip = end.windows(4).any(|four| four == b"PK\x05\x06");
    let is_pdf = tail.windows(5).take(PDF_REACH).any(|five| five == b"%PDF-");
    if is_zip || is_pdf { Err(MORE) } else { Ok(()) }
}

/// RFC 9649 §2.4: a RIFF file that declares its length.
fn webp(bytes: &[u8]) -> Result<(), &'static str> {
    let said = bytes.strip_prefix(b"RIFF").and_then(|rest| {
        let (length, rest) = rest.split_first_chunk::<4>()?;
        rest.starts_with(b"WEBP").then(|| usize::try_from(u32::from_le_bytes(*length)))
    });
    let said = said.and_then(Result::ok).ok_or("the file is no WebP")?;
    match (bytes.len() - 8).cmp(&said) {
        std::cmp::Ordering::Less => Err(TRUNCATED),
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Greater => Err(MORE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::samples::{jpeg, jpeg_with, png, webp};

    #[test]
    fn whole_files_pass_and_no_beginning_of_one_does() {
        for (kind, bytes) in
            [(ImageType::Png, png(40, 30)), (ImageType::Jpeg, jpeg(40, 30)), (ImageType::WebP, webp(40, 30))]
        {
            assert_eq!(check(kind, &bytes), Ok(()), "{kind:?}");
            for length in 0..bytes.len() {
                assert!(check(kind, &bytes[..length]).is_err(), "{kind:?} of {length} bytes");
            }
        }
    }

    #[test]
    fn what_follows_a_picture_is_refused_where_it_makes_another_file() {
        let zip = b"PK\x03\x04hidden PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
        let with = |picture: Vec<u8>, tail: &[u8]| [picture, tail.to_vec()].concat();
        assert_eq!(check(ImageType::Png, &with(png(9, 9), zip)), Err(MORE));
        assert_eq!(check(ImageType::Png, &with(png(9, 9), b"\n")), Err(MORE));
        assert_eq!(check(ImageType::WebP, &with(webp(9, 9), zip)), Err(MORE));
        assert_eq!(check(ImageType::Jpeg, &with(jpeg(9, 9), zip)), Err(MORE));
        assert_eq!(check(ImageType::Jpeg, &with(jpeg(9, 9), b"\n%PDF-1.7\n")), Err(MORE));
        // A preview after the picture, as cameras append it.
        assert_eq!(check(ImageType::Jpeg, &with(jpeg(9, 9), &jpeg(3, 3))), Ok(()));
    }

    #[test]
    fn a_thousand_empty_scans_are_refused() {
        let empty = [&b"\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00"[..]; 1000].concat();
        let file = jpeg_with(9, 9, &empty);
        assert_eq!(check(ImageType::Jpeg, &file), Err("the picture has too many scans"));
    }
}
