use super::*;
use crate::media::samples::*;
use ImageType::{Jpeg, Png, WebP};
use image::{GenericImageView, ImageFormat, Rgba};

/// Renders a picture without a thumbnail.
fn render(declared: ImageType, file: &[u8], bounds: Bounds) -> Result<Rendered, NotAnImage> {
    super::render(declared, file, bounds, None).map(|rendered| rendered.whole)
}

#[test]
fn a_large_picture_has_a_thumbnail_of_its_shape() {
    let small = Bounds { side: 640, bytes: 30_000 };
    for (width, height, whole, expected) in [
        (3000, 1000, (2048, 683), Some((640, 213))),
        (700, 900, (700, 900), Some((498, 640))),
        (640, 640, (640, 640), None),
        (60, 40, (60, 40), None),
    ] {
        let file = jpeg(width, height);
        let rendered = super::render(Jpeg, &file, within(2048), Some(small)).unwrap();
        assert_eq!((rendered.whole.width, rendered.whole.height), whole);
        let thumbnail = rendered.thumbnail.as_ref();
        assert_eq!(thumbnail.map(|small| (small.width, small.height)), expected);
        if let Some(thumbnail) = thumbnail {
            assert_eq!(corners(&decoded(thumbnail)), ["red", "green", "blue", "white"]);
        }
        assert_eq!(super::render(Jpeg, &file, within(2048), Some(small)).unwrap(), rendered);
        assert_eq!(super::render(Jpeg, &file, within(2048), None).unwrap().whole, rendered.whole);
    }
    // An opaque PNG becomes JPEG where that is needed for the limit in bytes.
    let file = png_of(&noise(700, 255));
    let rendered = super::render(Png, &file, within(2048), Some(small)).unwrap();
    let thumbnail = rendered.thumbnail.unwrap();
    assert_eq!((rendered.whole.kind, thumbnail.kind), (Png, Jpeg));
    assert!(thumbnail.bytes.len() <= small.bytes, "{} bytes", thumbnail.bytes.len());
    // A picture that the limit made smaller than its thumbnail has none.
    let tiny = Bounds { side: 2048, bytes: 9_000 };
    let rendered = super::render(Jpeg, &jpeg_of(&noise(700, 255)), tiny, Some(small)).unwrap();
    assert_eq!(rendered.thumbnail, None);
}

fn within(side: u32) -> Bounds {
    Bounds { side, bytes: 5 << 20 }
}

fn decoded(rendered: &Rendered) -> DynamicImage {
    let format = match rendered.kind {
        Png => ImageFormat::Png,
        Jpeg => ImageFormat::Jpeg,
        WebP => ImageFormat::WebP,
    };
    let image = image::load_from_memory_with_format(&rendered.bytes, format).unwrap();
    assert_eq!(image.dimensions(), (rendered.width, rendered.height));
    image
}

/// The colours of the quarters, from the upper left, row by row.
fn corners(image: &DynamicImage) -> [&'static str; 4] {
    let (right, bottom) = (image.width() - 3, image.height() - 3);
    [(2, 2), (right, 2), (2, bottom), (right, bottom)].map(|(x, y)| {
        let Rgba([r, g, b, _]) = image.get_pixel(x, y);
        match (r > 128, g > 128, b > 128) {
            (true, false, false) => "red",
            (false, true, false) => "green",
            (false, false, true) => "blue",
            (true, true, true) => "white",
            _ => "another",
        }
    })
}

#[test]
fn each_type_is_rendered_and_the_same_file_gives_the_same_bytes() {
    for (kind, file, becomes) in [
        (Png, png(60, 40), Png),
        (Jpeg, jpeg(60, 40), Jpeg),
        (WebP, webp(60, 40), Jpeg),
        (WebP, webp_of(&half_transparent(60, 40)), Png),
        (Png, png_of(&half_transparent(60, 40)), Png),
    ] {
        let rendered = render(kind, &file, within(512)).unwrap();
        assert_eq!(rendered.kind, becomes);
        assert_eq!((rendered.width, rendered.height), (60, 40));
        assert_eq!(render(kind, &file, within(512)).unwrap(), rendered);
        let hash: [u8; 32] = Sha256::digest(&rendered.bytes).into();
        assert_eq!(rendered.hash, MediaHash::from_bytes(hash));
        assert_eq!(container::check(becomes, &rendered.bytes), Ok(()));
        decoded(&rendered);
    }
    let kept = decoded(&render(WebP, &webp_of(&half_transparent(60, 40)), within(512)).unwrap());
    assert_eq!([kept.get_pixel(2, 2).0[3], kept.get_pixel(57, 2).0[3]], [0, 255]);
}

#[test]
fn large_pictures_are_scaled_down_and_keep_their_shape() {
    for (width, height, side, expected) in [
        (3000, 1000, 512, (512, 171)),
        (1000, 3000, 512, (171, 512)),
        (600, 600, 512, (512, 512)),
        (512, 100, 512, (512, 100)),
        (10_000, 1, 2048, (2048, 1)),
    ] {
        let rendered = render(Png, &png(width, height), within(side)).unwrap();
        assert_eq!((rendered.width, rendered.height), expected);
    }
    let scaled = decoded(&render(Jpeg, &jpeg(3000, 1000), within(512)).unwrap());
    assert_eq!(corners(&scaled), ["red", "green", "blue", "white"]);
}

/// Pixels that lossless encoding cannot compress.
fn noise(side: u32, alpha: u8) -> DynamicImage {
    let mut state = 1_u32;
    let mut next = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    image::RgbaImage::from_fn(side, side, |_, _| Rgba([next(), next(), next(), alpha])).into()
}

#[test]
fn what_is_stored_is_bounded_in_bytes() {
    let rendered = |declared, file: &[u8], bytes| {
        let bounds = Bounds { side: 256, bytes };
        let rendered = render(declared, file, bounds).unwrap();
        assert!(rendered.bytes.len() <= bytes, "{} bytes", rendered.bytes.len());
        assert_eq!(render(declared, file, bounds).unwrap(), rendered, "the same file gives the same bytes");
        decoded(&rendered);
        (rendered.kind, rendered.width, rendered.height)
    };
    // A transparent picture stays lossless and loses pixels.
    for (kind, file) in [(WebP, webp_of(&noise(256, 128))), (Png, png_of(&noise(256, 9)))] {
        let (kind, width, height) = rendered(kind, &file, 66_000);
        assert!(kind == Png && width == height && (100..=192).contains(&width), "{width}");
    }
    // An opaque picture becomes JPEG and keeps its pixels if that is enough.
    assert_eq!(rendered(Png, &png_of(&noise(160, 255)), 66_000), (Jpeg, 160, 160));
    let (kind, width, _) = rendered(Jpeg, &jpeg_of(&noise(256, 255)), 20_000);
    assert!(kind == Jpeg && width < 256, "{width}");
    // A picture within the limit is not changed.
    assert_eq!(rendered(Png, &png(200, 100), 66_000), (Png, 200, 100));
    let tiny = Bounds { side: 256, bytes: 1 };
    let least = render(Png, &png_of(&noise(9, 1)), tiny).unwrap();
    assert_eq!((least.width, least.height), (1, 1));
}

fn jpeg_of(image: &DynamicImage) -> Vec<u8> {
    let mut bytes = Vec::new();
    let encoder = JpegEncoder::new_with_quality(&mut bytes, 100);
    DynamicImage::from(image.to_rgb8()).write_with_encoder(encoder).unwrap();
    bytes
}

#[test]
fn pictures_stand_upright_and_say_nothing_of_where_they_were_taken() {
    for (orientation, expected) in [
        (1, ["red", "green", "blue", "white"]),
        (2, ["green", "red", "white", "blue"]),
        (3, ["white", "blue", "green", "red"]),
        (4, ["blue", "white", "red", "green"]),
        (5, ["red", "blue", "green", "white"]),
        (6, ["blue", "red", "white", "green"]),
        (7, ["white", "green", "blue", "red"]),
        (8, ["green", "white", "red", "blue"]),
        (9, ["red", "green", "blue", "white"]),
    ] {
        let file = jpeg_with(64, 32, &exif(orientation));
        let rendered = render(Jpeg, &file, within(512)).unwrap();
        let turned = (5..=8).contains(&orientation);
        assert_eq!((rendered.width, rendered.height), if turned { (32, 64) } else { (64, 32) });
        assert_eq!(corners(&decoded(&rendered)), expected, "orientation {orientation}");
        for words in [&b"Exif"[..], b"GPS"] {
            assert!(file.windows(words.len()).any(|part| part == words));
            assert!(!rendered.bytes.windows(words.len()).any(|part| part == words));
        }
    }
}

#[test]
fn what_lies_about_its_type_is_none() {
    for (kind, file) in [
        (Png, jpeg(9, 9)),
        (Jpeg, png(9, 9)),
        (WebP, png(9, 9)),
        (Png, webp(9, 9)),
        (Png, Vec::new()),
        (Jpeg, b"<!doctype html><script>alert(1)</script>".to_vec()),
        (Png, b"GIF89a\x01\0\x01\0\0\0\0;".to_vec()),
        (WebP, b"RIFF\x04\0\0\0WEBP".to_vec()),
    ] {
        assert!(render(kind, &file, within(512)).is_err(), "{kind:?}");
    }
}

#[test]
fn bombs_are_refused_by_their_header() {
    for (width, height) in [
        (20_000, 1),
        (1, 20_000),
        (10_001, 10),
        (5001, 5000),
        (10_000, 10_000),
        (65_535, 65_535),
        (u32::MAX >> 1, u32::MAX >> 1),
        (0, 5),
    ] {
        assert!(render(Png, &png_that_says(width, height), within(512)).is_err(), "{width} x {height}");
    }
    // Within the limits, but without pixel data.
    assert_eq!(
        render(Png, &png_that_says(5000, 5000), within(512)),
        Err(NotAnImage("the picture cannot be decoded"))
    );
    let wide = png_raw(&vec![0; 20_000], 20_000, 1, image::ExtendedColorType::L8);
    assert_eq!(
        render(Png, &wide, within(512)),
        Err(NotAnImage("the picture has more than 10000 pixels on a side"))
    );
    let deep = png_raw(&vec![0; 4000 * 4000 * 8], 4000, 4000, image::ExtendedColorType::Rgba16);
    assert_eq!(
        render(Png, &deep, within(512)),
        Err(NotAnImage("the picture has more than 25 million pixels"))
    );
    // The frame header of a JPEG can declare any size.
    let mut file = jpeg(16, 16);
    let frame = file.windows(2).position(|pair| pair == [0xff, 0xc0]).unwrap();
    file[frame + 5..frame + 9].copy_from_slice(&[0x4e, 0x20, 0x4e, 0x20]);
    assert!(render(Jpeg, &file, within(512)).is_err());
}

#[test]
fn colours_and_depths_of_all_kinds_are_rendered() {
    use image::ExtendedColorType::{L8, L16, La8, Rgb16};
    for (pixels, color) in
        [(vec![7; 64], L8), (vec![7; 128], La8), (vec![7; 128], L16), (vec![7; 64 * 6], Rgb16)]
    {
        let rendered = render(Png, &png_raw(&pixels, 8, 8, color), within(512)).unwrap();
        assert_eq!((rendered.width, rendered.height), (8, 8), "{color:?}");
    }
}

/// Whatever is sent, the result is a refusal or a complete picture within its limits, and no panic.
fn refused_or_right(kind: ImageType, file: &[u8]) -> bool {
    let Ok(rendered) = render(kind, file, within(32)) else { return false };
    assert!(rendered.width.max(rendered.height) <= 32);
    decoded(&rendered);
    true
}

#[test]
fn truncated_files_are_no_pictures() {
    for (kind, file) in [
        (Png, png(300, 200)),
        (Jpeg, jpeg_with(300, 200, &exif(6))),
        (WebP, webp(300, 200)),
        (WebP, webp_of(&half_transparent(300, 200))),
    ] {
        assert!(refused_or_right(kind, &file));
        for length in (0..file.len()).step_by(97).chain([file.len() - 1]) {
            assert!(!refused_or_right(kind, &file[..length]), "{kind:?} of {length} bytes");
        }
    }
}

#[test]
fn flipped_bytes_break_nothing_but_the_picture() {
    for (kind, file) in [(Png, png(40, 30)), (Jpeg, jpeg_with(40, 30, &exif(6))), (WebP, webp(40, 30))] {
        for place in 0..file.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut file = file.clone();
                file[place] ^= flip;
                refused_or_right(kind, &file);
            }
        }
    }
}
