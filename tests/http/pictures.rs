//! Generated picture files, valid and invalid.

use image::codecs::{jpeg::JpegEncoder, png::PngEncoder, webp::WebPEncoder};
use image::{DynamicImage, ExtendedColorType, ImageEncoder, Rgb, RgbImage, Rgba, RgbaImage};

fn encode(write: impl FnOnce(&mut Vec<u8>) -> image::ImageResult<()>) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(&mut bytes).expect("a picture that can be encoded");
    bytes
}

/// A colour that depends on `n`, brighter on the right.
pub(super) fn plain(n: u8, width: u32, height: u32) -> DynamicImage {
    let right = |x: u32| if x * 2 < width { n } else { n.saturating_add(60) };
    RgbImage::from_fn(width, height, |x, _| Rgb([right(x), n, 255 - n])).into()
}

pub(super) fn png(n: u8) -> Vec<u8> {
    encode(|out| plain(n, 40, 30).write_with_encoder(PngEncoder::new(out)))
}

pub(super) fn jpeg(n: u8) -> Vec<u8> {
    encode(|out| plain(n, 40, 30).write_with_encoder(JpegEncoder::new_with_quality(out, 90)))
}

pub(super) fn webp(n: u8) -> Vec<u8> {
    encode(|out| plain(n, 40, 30).write_with_encoder(WebPEncoder::new_lossless(out)))
}

/// Transparent on its left.
pub(super) fn transparent_webp() -> Vec<u8> {
    let alpha = |x| if x < 20 { 0 } else { 255 };
    let image: DynamicImage = RgbaImage::from_fn(40, 30, |x, _| Rgba([9, 9, 9, alpha(x)])).into();
    encode(|out| image.write_with_encoder(WebPEncoder::new_lossless(out)))
}

pub(super) fn large_jpeg(width: u32, height: u32) -> Vec<u8> {
    encode(|out| plain(90, width, height).write_with_encoder(JpegEncoder::new_with_quality(out, 90)))
}

/// A wide picture of a few bytes.
pub(super) fn gray_png(width: u32, height: u32) -> Vec<u8> {
    let pixels = vec![0; usize::try_from(width * height).expect("a size")];
    encode(|out| PngEncoder::new(out).write_image(&pixels, width, height, ExtendedColorType::L8))
}

/// A JPEG whose metadata says that it is rotated, and where it was taken.
pub(super) fn sideways_jpeg() -> Vec<u8> {
    let mut tiff = b"II*\0\x08\0\0\0\x02\0".to_vec();
    tiff.extend([0x12, 0x01, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0]);
    tiff.extend([0x25, 0x88, 4, 0, 1, 0, 0, 0, 38, 0, 0, 0]);
    tiff.extend([0; 4]);
    tiff.extend([1, 0, 1, 0, 2, 0, 2, 0, 0, 0, b'N', 0, 0, 0]);
    tiff.extend([0; 4]);
    tiff.extend(b"GPS 38.7613 N 9.1608 W");
    let length = u16::try_from(2 + 6 + tiff.len()).expect("a short segment");
    let plain = jpeg(90);
    [&plain[..2], &[0xff, 0xe1], &length.to_be_bytes()[..], b"Exif\0\0", &tiff, &plain[2..]].concat()
}

/// A PNG whose header claims this size, with the pixels of a small one.
pub(super) fn bomb(width: u32, height: u32) -> Vec<u8> {
    let mut file = png(1);
    file[16..20].copy_from_slice(&width.to_be_bytes());
    file[20..24].copy_from_slice(&height.to_be_bytes());
    let sum = crc(&file[12..29]);
    file[29..33].copy_from_slice(&sum.to_be_bytes());
    file
}

/// PNG (Third Edition), annex D.
fn crc(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}

/// A small ZIP archive.
pub(super) const ZIP: &[u8] = b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
