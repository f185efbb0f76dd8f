//! Pictures of content, which have no uploader.

use crate::media::render::{Bounds, render};
use crate::media::{ImageType, NotAnImage};
use bytes::Bytes;
use terrace_kernel::MediaHash;

/// The maximum encoded size of a picture of content, in bytes.
const LARGEST: usize = 1 << 20;

/// A picture that was checked, decoded, scaled down and encoded again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedPicture {
    /// SHA-256 of the bytes.
    pub hash: MediaHash,
    /// Type of the encoded picture.
    pub kind: ImageType,
    /// The encoded picture, at most 1 MiB.
    pub bytes: Bytes,
}

/// Prepares a file that is a PNG, JPEG or WebP by its first bytes. `side` is the longest side in pixels.
///
/// # Errors
///
/// The reason why the file is no such picture.
pub fn prepare_picture(file: &[u8], side: u32) -> Result<PreparedPicture, NotAnImage> {
    let kind = match file {
        [0x89, b'P', b'N', b'G', ..] => ImageType::Png,
        [0xff, 0xd8, 0xff, ..] => ImageType::Jpeg,
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => ImageType::WebP,
        _ => return Err(NotAnImage("is no PNG, JPEG or WebP picture")),
    };
    let rendered = render(kind, file, Bounds { side, bytes: LARGEST }, None)?.whole;
    Ok(PreparedPicture { hash: rendered.hash, kind: rendered.kind, bytes: rendered.bytes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::samples::{jpeg, png, webp};

    #[test]
    fn the_type_is_that_of_the_bytes() {
        for (file, kind) in [(png(30, 20), ImageType::Png), (jpeg(30, 20), ImageType::Jpeg)] {
            let picture = prepare_picture(&file, 10).unwrap();
            assert_eq!((picture.kind, prepare_picture(&file, 10).unwrap().hash), (kind, picture.hash));
        }
        assert!(prepare_picture(&webp(30, 20), 10).is_ok());
        for bad in [&b""[..], b"<svg/>", b"\x89PNG", b"RIFF1234WEBP", b"GIF89a"] {
            assert!(prepare_picture(bad, 10).is_err());
        }
    }
}
