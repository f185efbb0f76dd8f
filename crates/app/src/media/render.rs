//! Renders an uploaded file to the picture that is served: checked, decoded, scaled down, rotated upright and encoded
//! again. Only pixels survive. Pure CPU work; the same file always gives the same bytes.

use crate::media::{ImageType, NotAnImage, container};
use bytes::Bytes;
use image::codecs::jpeg::{JpegDecoder, JpegEncoder};
use image::codecs::png::{CompressionType, FilterType as PngFilter, PngDecoder, PngEncoder};
use image::codecs::webp::WebPDecoder;
use image::imageops::FilterType;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageError, ImageResult, Limits, RgbImage};
use sha2::{Digest, Sha256};
use std::io::Cursor;
use terrace_art::Painting;
use terrace_kernel::MediaHash;

/// Maximum width and height of an uploaded picture in pixels.
const MOST_ON_A_SIDE: u32 = 10_000;
/// Maximum total number of pixels.
const MOST_PIXELS: u64 = 25_000_000;
/// Maximum decoded size in bytes: four per pixel. With 16 bits per channel, half as many pixels are allowed.
const MOST_DECODED: u64 = MOST_PIXELS * 4;
/// Quality of encoded JPEGs, out of 100. Above this value files grow faster than the visible quality.
const JPEG_QUALITY: u8 = 85;

/// A picture as it is stored and served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rendered {
    pub(crate) bytes: Bytes,
    pub(crate) hash: MediaHash,
    pub(crate) kind: ImageType,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

/// Limits for a rendered picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// Maximum width and height in pixels.
    pub(crate) side: u32,
    /// Maximum encoded size in bytes. A picture of one pixel may exceed it.
    pub(crate) bytes: usize,
}

/// A rendered picture, and a smaller one of the same content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WithThumbnail {
    pub(crate) whole: Rendered,
    /// `None` if none was requested, or if the picture is small enough itself.
    pub(crate) thumbnail: Option<Rendered>,
}

/// Renders a file of the declared type, and a thumbnail of it within the given limits.
pub(crate) fn render(
    declared: ImageType,
    file: &[u8],
    bounds: Bounds,
    thumbnail: Option<Bounds>,
) -> Result<WithThumbnail, NotAnImage> {
    container::check(declared, file).map_err(NotAnImage)?;
    let (image, orientation) = match declared {
        ImageType::Png => decode(PngDecoder::with_limits(Cursor::new(file), limits()).map_err(broken)?)?,
        ImageType::Jpeg => decode(JpegDecoder::new(Cursor::new(file)).map_err(broken)?)?,
        ImageType::WebP => decode(WebPDecoder::new(Cursor::new(file)).map_err(broken)?)?,
    };
    // Scaled before rotation, because rotation needs a second copy.
    let mut image = fit(image, bounds.side);
    image.apply_orientation(orientation);
    finish(declared, image, bounds.bytes, thumbnail).map_err(broken)
}

/// Renders the pixels of a painting as PNG, and a thumbnail of it within the given limits.
pub(crate) fn render_painting(
    painting: Painting,
    bytes: usize,
    thumbnail: Option<Bounds>,
) -> ImageResult<WithThumbnail> {
    let Painting { width, height, rgb } = painting;
    let image = RgbImage::from_raw(width, height, rgb).unwrap_or_default();
    finish(ImageType::Png, image.into(), bytes, thumbnail)
}

/// Encodes an upright picture in at most `bytes` bytes, and a thumbnail of it.
fn finish(
    declared: ImageType,
    image: DynamicImage,
    bytes: usize,
    thumbnail: Option<Bounds>,
) -> ImageResult<WithThumbnail> {
    let small = thumbnail.and_then(|bounds| Some((scaled_down(&image, bounds.side)?, bounds.bytes)));
    let whole = encode_within(declared, image, bytes)?;
    let thumbnail = small.map(|(image, bytes)| encode_within(declared, image, bytes)).transpose()?;
    // The limit in bytes may have made the picture as small as the thumbnail.
    let thumbnail = thumbnail.filter(|small| small.width < whole.width || small.height < whole.height);
    Ok(WithThumbnail { whole, thumbnail })
}

#[expect(clippy::needless_pass_by_value, reason = "it is what map_err gives")]
fn broken(error: ImageError) -> NotAnImage {
    log::debug!("a picture cannot be decoded: {error}");
    NotAnImage("the picture cannot be decoded")
}

/// Limits for memory only; the dimensions are checked separately for a specific error message.
fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_alloc = Some(MOST_DECODED);
    limits
}

/// Decodes a picture. The decoder has read the header but no pixels yet.
fn decode(mut decoder: impl ImageDecoder) -> Result<(DynamicImage, Orientation), NotAnImage> {
    let (width, height) = decoder.dimensions();
    if width > MOST_ON_A_SIDE || height > MOST_ON_A_SIDE {
        return Err(NotAnImage("the picture has more than 10000 pixels on a side"));
    }
    if u64::from(width) * u64::from(height) > MOST_PIXELS || decoder.total_bytes() > MOST_DECODED {
        return Err(NotAnImage("the picture has more than 25 million pixels"));
    }
    decoder.set_limits(limits()).map_err(broken)?;
    // An unreadable orientation counts as none.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    Ok((DynamicImage::from_decoder(decoder).map_err(broken)?, orientation))
}

/// Scales a picture down until neither side is longer than `side`.
fn fit(image: DynamicImage, side: u32) -> DynamicImage {
    scaled_down(&image, side).unwrap_or(image)
}

/// The picture, scaled down until neither side is longer than `side`; `None` if none is.
fn scaled_down(image: &DynamicImage, side: u32) -> Option<DynamicImage> {
    let longest = image.width().max(image.height());
    if longest <= side {
        return None;
    }
    // Both sides are of the given picture, so that rounding in between does not change its shape.
    let scaled = |length: u32| (length.saturating_mul(side).saturating_add(longest / 2) / longest).max(1);
    let (width, height) = (scaled(image.width()), scaled(image.height()));
    let resize = |image: &DynamicImage| image.resize_exact(width, height, FilterType::CatmullRom);
    // The good filter is slow because it works on floats, so a cheap average shrinks large pictures first.
    Some(if longest > side * 2 { resize(&image.thumbnail(side * 2, side * 2)) } else { resize(image) })
}

/// Encodes a picture in at most `limit` bytes. An opaque picture that is too large as PNG becomes JPEG. If it is
/// still too large, its width and height are reduced by a quarter until it fits.
fn encode_within(declared: ImageType, mut image: DynamicImage, limit: usize) -> ImageResult<Rendered> {
    let mut from = declared;
    loop {
        let rendered = encode(from, &image)?;
        let (width, height) = (image.width(), image.height());
        if rendered.bytes.len() <= limit || (width, height) == (1, 1) {
            return Ok(rendered);
        }
        if rendered.kind == ImageType::Png && from == ImageType::Png && !is_transparent(&image) {
            from = ImageType::Jpeg;
            continue;
        }
        let smaller = |side: u32| (side - side.div_ceil(4)).max(1);
        image = image.resize_exact(smaller(width), smaller(height), FilterType::CatmullRom);
    }
}

fn is_transparent(image: &DynamicImage) -> bool {
    image.color().has_alpha()
        && image.to_rgba8().pixels().any(|pixel| matches!(pixel.0, [.., alpha] if alpha < u8::MAX))
}

/// JPEG stays JPEG and PNG stays PNG. WebP becomes PNG if some pixels are transparent, otherwise JPEG: Rust has no
/// encoder for lossy WebP, and losslessly encoded photos are many times larger than the upload.
fn encode(from: ImageType, image: &DynamicImage) -> ImageResult<Rendered> {
    let transparent = is_transparent(image);
    let kind = match from {
        ImageType::Png => ImageType::Png,
        ImageType::WebP if transparent => ImageType::Png,
        ImageType::Jpeg | ImageType::WebP => ImageType::Jpeg,
    };
    let image: DynamicImage = match (image.color().has_color(), transparent) {
        (true, true) => image.to_rgba8().into(),
        (true, false) => image.to_rgb8().into(),
        (false, true) => image.to_luma_alpha8().into(),
        (false, false) => image.to_luma8().into(),
    };
    let mut bytes = Vec::new();
    match kind {
        ImageType::Jpeg => {
            image.write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, JPEG_QUALITY))?;
        }
        ImageType::Png | ImageType::WebP => image.write_with_encoder(PngEncoder::new_with_quality(
            &mut bytes,
            CompressionType::Default,
            PngFilter::Adaptive,
        ))?,
    }
    let hash = MediaHash::from_bytes(Sha256::digest(&bytes).into());
    Ok(Rendered { bytes: bytes.into(), hash, kind, width: image.width(), height: image.height() })
}

#[cfg(test)]
mod tests;
