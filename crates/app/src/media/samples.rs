//! Generated picture files for tests.

use image::codecs::{jpeg::JpegEncoder, png::PngEncoder, webp::WebPEncoder};
use image::{DynamicImage, ImageEncoder, Rgb, RgbImage, Rgba, RgbaImage};
use std::io::Write;

/// A picture whose quarters show its orientation: red, green, blue, white, from the upper left, row by row.
pub(super) fn quarters(width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, y| match (x * 2 < width, y * 2 < height) {
        (true, true) => Rgb([255, 0, 0]),
        (false, true) => Rgb([0, 255, 0]),
        (true, false) => Rgb([0, 0, 255]),
        (false, false) => Rgb([255, 255, 255]),
    })
}

/// A picture whose left half is transparent.
pub(super) fn half_transparent(width: u32, height: u32) -> DynamicImage {
    let alpha = |x| if x * 2 < width { 0 } else { 255 };
    RgbaImage::from_fn(width, height, |x, _| Rgba([10, 20, 30, alpha(x)])).into()
}

fn encode(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(&mut bytes);
    bytes
}

pub(super) fn png_of(image: &DynamicImage) -> Vec<u8> {
    encode(|out| image.write_with_encoder(PngEncoder::new(out)).unwrap())
}

pub(super) fn webp_of(image: &DynamicImage) -> Vec<u8> {
    encode(|out| image.write_with_encoder(WebPEncoder::new_lossless(out)).unwrap())
}

pub(super) fn png(width: u32, height: u32) -> Vec<u8> {
    png_of(&quarters(width, height).into())
}

pub(super) fn webp(width: u32, height: u32) -> Vec<u8> {
    webp_of(&quarters(width, height).into())
}

pub(super) fn jpeg(width: u32, height: u32) -> Vec<u8> {
    encode(|out| quarters(width, height).write_with_encoder(JpegEncoder::new_with_quality(out, 95)).unwrap())
}

/// A JPEG with these segments directly after its first marker.
pub(super) fn jpeg_with(width: u32, height: u32, segments: &[u8]) -> Vec<u8> {
    let plain = jpeg(width, height);
    [&plain[..2], segments, &plain[2..]].concat()
}

/// An Exif segment with an orientation and a GPS position.
pub(super) fn exif(orientation: u8) -> Vec<u8> {
    // TIFF, little-endian; IFD0 with two entries; a GPS IFD with one: latitude reference "N" (Exif 3.0 §4.6).
    let mut tiff = b"II*\0\x08\0\0\0\x02\0".to_vec();
    tiff.extend([0x12, 0x01, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0]);
    tiff.extend([0x25, 0x88, 4, 0, 1, 0, 0, 0, 38, 0, 0, 0]);
    tiff.extend([0; 4]);
    tiff.extend([1, 0, 1, 0, 2, 0, 2, 0, 0, 0, b'N', 0, 0, 0]);
    tiff.extend([0; 4]);
    tiff.extend(b"GPS 38.7613 N 9.1608 W");
    let length = u16::try_from(2 + 6 + tiff.len()).unwrap();
    [&[0xff, 0xe1], &length.to_be_bytes()[..], b"Exif\0\0", &tiff].concat()
}

/// A PNG whose header declares this size and that contains almost no data.
pub(super) fn png_that_says(width: u32, height: u32) -> Vec<u8> {
    let chunk = |kind: &[u8; 4], data: &[u8]| {
        let covered = [&kind[..], data].concat();
        [&u32::try_from(data.len()).unwrap().to_be_bytes()[..], &covered, &crc(&covered).to_be_bytes()]
            .concat()
    };
    let mut header = [width.to_be_bytes(), height.to_be_bytes()].concat();
    header.extend([8, 6, 0, 0, 0]);
    let mut file = Vec::new();
    file.write_all(b"\x89PNG\r\n\x1a\n").unwrap();
    file.extend(chunk(b"IHDR", &header));
    // An empty stored block of zlib.
    file.extend(chunk(b"IDAT", &[0x78, 0x01, 0x01, 0, 0, 0xff, 0xff, 0, 0, 0, 1]));
    file.extend(chunk(b"IEND", &[]));
    file
}

/// PNG (Third Edition), annex D.
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(
            crc ^ u32::from(*byte),
            |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 },
        )
    })
}

/// Encodes pixels of any kind as PNG.
pub(super) fn png_raw(pixels: &[u8], width: u32, height: u32, color: image::ExtendedColorType) -> Vec<u8> {
    encode(|out| PngEncoder::new(out).write_image(pixels, width, height, color).unwrap())
}
