//! Storage of picture files: in a folder, or in a bucket of an S3-compatible store (feature `s3`).

pub(crate) mod schema;
mod uploads;

use bytes::Bytes;
use futures_util::TryStreamExt;
use object_store::local::LocalFileSystem;
use object_store::path::Path as Name;
use object_store::{Error, ObjectStore, ObjectStoreExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use terrace_kernel::StoreError;
use terrace_store::BoxFuture;
use terrace_store::{ByteStream, MediaStore, ObjectKey};

/// Why a media URL is rejected. The messages never repeat the URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MediaUrlError {
    /// The scheme is not supported, or a required part is missing.
    #[error("not a place for pictures: expected file:FOLDER or s3://BUCKET/PREFIX")]
    Unknown,
    /// The URL requires a feature that is not compiled in.
    #[error("this program was built without S3: build it with --features s3")]
    WithoutS3,
}

/// The location of pictures, as specified by a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
enum PictureLocation {
    Folder(PathBuf),
    Bucket { name: String, prefix: String },
}

impl PictureLocation {
    fn parse(url: &str) -> Result<Self, MediaUrlError> {
        let (scheme, rest) = url.trim().split_once(':').ok_or(MediaUrlError::Unknown)?;
        match scheme.to_ascii_lowercase().as_str() {
            "file" => {
                let path = rest.strip_prefix("//").unwrap_or(rest);
                if path.is_empty() { Err(MediaUrlError::Unknown) } else { Ok(Self::Folder(path.into())) }
            }
            "s3" => {
                let rest = rest.strip_prefix("//").ok_or(MediaUrlError::Unknown)?;
                let (name, prefix) = rest.split_once('/').unwrap_or((rest, ""));
                if name.is_empty() || rest.contains(['?', '#', '@']) {
                    return Err(MediaUrlError::Unknown);
                }
                Ok(Self::Bucket { name: name.to_owned(), prefix: prefix.trim_matches('/').to_owned() })
            }
            _ => Err(MediaUrlError::Unknown),
        }
    }
}

/// The store of picture files. Clones are handles to the same store.
#[derive(Clone)]
pub struct MediaObjects {
    objects: Arc<dyn ObjectStore>,
}

impl MediaObjects {
    /// Opens a local folder, which is created if it does not exist. An object is written next to its final path, synced
    /// to disk and then renamed, so that a crash leaves only complete objects.
    pub fn folder(path: &Path) -> Result<Self, StoreError> {
        let unusable =
            |error: &dyn std::error::Error| StoreError::Unavailable(format!("{}: {error}", path.display()));
        std::fs::create_dir_all(path).map_err(|error| unusable(&error))?;
        let folder = LocalFileSystem::new_with_prefix(path).map_err(|error| unusable(&error))?;
        Ok(Self { objects: Arc::new(folder.with_fsync(true)) })
    }

    /// Opens the location that a URL specifies: `file:FOLDER`, or `s3://BUCKET/PREFIX` with credentials and other
    /// settings from the environment, as for the AWS command line.
    pub fn open(url: &str) -> Result<Self, StoreError> {
        match PictureLocation::parse(url).map_err(|error| StoreError::defect("media URL", error))? {
            PictureLocation::Folder(path) => Self::folder(&path),
            PictureLocation::Bucket { name, prefix } => Self::bucket(&name, prefix),
        }
    }

    #[cfg(not(feature = "s3"))]
    fn bucket(_name: &str, _prefix: String) -> Result<Self, StoreError> {
        Err(StoreError::defect("media URL", MediaUrlError::WithoutS3))
    }

    /// Sends no request: a missing bucket is detected at the first picture.
    #[cfg(feature = "s3")]
    fn bucket(name: &str, prefix: String) -> Result<Self, StoreError> {
        Self::bucket_of(object_store::aws::AmazonS3Builder::from_env().with_bucket_name(name), prefix)
    }

    #[cfg(feature = "s3")]
    fn bucket_of(bucket: object_store::aws::AmazonS3Builder, prefix: String) -> Result<Self, StoreError> {
        // A picture that cannot be stored within this time is rejected, because its sender is waiting.
        let retries = object_store::RetryConfig {
            max_retries: 3,
            retry_timeout: std::time::Duration::from_secs(10),
            ..object_store::RetryConfig::default()
        };
        let bucket =
            bucket.with_retry(retries).build().map_err(|error| StoreError::defect("media URL", error))?;
        Ok(Self { objects: Arc::new(object_store::prefix::PrefixStore::new(bucket, prefix)) })
    }
}

fn name(key: ObjectKey) -> Name {
    Name::from(key.to_string())
}

/// All failures here are temporary or can be resolved by an operator.
fn unavailable(context: &'static str) -> impl Fn(Error) -> StoreError {
    move |error| StoreError::Unavailable(format!("{context}: {error}"))
}

impl MediaStore for MediaObjects {
    fn put(&self, key: ObjectKey, bytes: Bytes) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            let put = self.objects.put(&name(key), bytes.into()).await;
            put.map(drop).map_err(unavailable("put a picture"))
        })
    }

    fn get(&self, key: ObjectKey) -> BoxFuture<'_, Result<Option<ByteStream>, StoreError>> {
        Box::pin(async move {
            match self.objects.get(&name(key)).await {
                Ok(found) => {
                    let bytes: ByteStream =
                        Box::pin(found.into_stream().map_err(unavailable("read a picture")));
                    Ok(Some(bytes))
                }
                Err(Error::NotFound { .. }) => Ok(None),
                Err(error) => Err(unavailable("open a picture")(error)),
            }
        })
    }

    fn delete(&self, key: ObjectKey) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            match self.objects.delete(&name(key)).await {
                Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
                Err(error) => Err(unavailable("delete a picture")(error)),
            }
        })
    }

    fn list(&self, shard: u8) -> BoxFuture<'_, Result<Vec<ObjectKey>, StoreError>> {
        Box::pin(async move {
            let folder = Name::from(format!("{shard:02x}"));
            let listed: Vec<_> = match self.objects.list(Some(&folder)).try_collect().await {
                Ok(listed) => listed,
                Err(Error::NotFound { .. }) => Vec::new(),
                Err(error) => return Err(unavailable("list pictures")(error)),
            };
            let key = |name: &Name| name.as_ref().parse().ok();
            Ok(listed.iter().filter_map(|object: &object_store::ObjectMeta| key(&object.location)).collect())
        })
    }
}

#[cfg(test)]
#[cfg(feature = "s3")]
mod bucket;

pub(crate) use uploads::{EXPIRED_UPLOADS, UNUSED_PICTURES};

#[cfg(test)]
mod tests {
    use super::*;
    use terrace_kernel::{CtxSeed, MediaHash, Timestamp};

    fn key(first: u8, seed: u8) -> ObjectKey {
        let mut hash = [9; 32];
        hash[0] = first;
        let now = Timestamp::from_micros(1_777_636_800_000_000);
        ObjectKey { hash: MediaHash::from_bytes(hash), id: CtxSeed::new(now, [seed; 32]).open().new_id() }
    }

    async fn read(place: &MediaObjects, key: ObjectKey) -> Option<Vec<u8>> {
        let stream = place.get(key).await.unwrap()?;
        let chunks: Vec<Bytes> = stream.try_collect().await.unwrap();
        Some(chunks.concat())
    }

    #[test]
    fn urls_name_folders_and_buckets() {
        let bucket = |name: &str, prefix: &str| {
            Ok(PictureLocation::Bucket { name: name.to_owned(), prefix: prefix.to_owned() })
        };
        for (url, expected) in [
            ("file:data/media", Ok(PictureLocation::Folder("data/media".into()))),
            ("file:///srv/media", Ok(PictureLocation::Folder("/srv/media".into()))),
            ("s3://fans", bucket("fans", "")),
            ("s3://fans/a/b/", bucket("fans", "a/b")),
            ("S3://fans/a", bucket("fans", "a")),
            ("s3:fans", Err(MediaUrlError::Unknown)),
            ("s3://", Err(MediaUrlError::Unknown)),
            ("s3://key:secret@fans", Err(MediaUrlError::Unknown)),
            ("file:", Err(MediaUrlError::Unknown)),
            ("https://fans.example/media", Err(MediaUrlError::Unknown)),
            ("data/media", Err(MediaUrlError::Unknown)),
        ] {
            assert_eq!(PictureLocation::parse(url), expected, "{url}");
        }
    }

    async fn objects_are_put_read_listed_and_deleted(place: &MediaObjects, drop_a_note: impl FnOnce()) {
        let (first, second, other) = (key(0xab, 1), key(0xab, 2), key(0xac, 1));
        assert_eq!(read(place, first).await, None);
        assert_eq!(place.list(0xab).await.unwrap(), []);
        let long = Bytes::from(vec![7; 300_000]);
        place.put(first, long.clone()).await.unwrap();
        place.put(second, Bytes::from_static(b"two")).await.unwrap();
        place.put(other, Bytes::from_static(b"other")).await.unwrap();
        assert_eq!(read(place, first).await.as_deref(), Some(&long[..]));

        // Objects that were not written by this service are ignored.
        drop_a_note();
        let mut listed = place.list(0xab).await.unwrap();
        listed.sort();
        let mut expected = [first, second];
        expected.sort();
        assert_eq!(listed, expected);

        for _ in 0..2 {
            place.delete(first).await.unwrap();
        }
        assert_eq!((read(place, first).await, place.list(0xab).await.unwrap()), (None, vec![second]));
    }

    #[tokio::test]
    async fn a_folder_keeps_pictures() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("made/on/the/way");
        let place = MediaObjects::folder(&path).unwrap();
        let drop_a_note = || std::fs::write(path.join("ab/notes.txt"), "mine").unwrap();
        objects_are_put_read_listed_and_deleted(&place, drop_a_note).await;
    }

    /// Runs against a bucket that implements the required part of the protocol.
    #[cfg(feature = "s3")]
    #[tokio::test(flavor = "multi_thread")]
    async fn a_bucket_keeps_pictures() {
        let bucket = super::bucket::Bucket::serve();
        for prefix in ["", "club/pictures"] {
            let builder = object_store::aws::AmazonS3Builder::new()
                .with_bucket_name("fans")
                .with_region("eu-west-1")
                .with_endpoint(bucket.url())
                .with_allow_http(true)
                .with_access_key_id("key")
                .with_secret_access_key("secret");
            let place = MediaObjects::bucket_of(builder, prefix.to_owned()).unwrap();
            let note = format!("/fans/{prefix}/ab/notes.txt").replace("//", "/");
            objects_are_put_read_listed_and_deleted(&place, || bucket.put(note, "mine")).await;
            assert!(bucket.names().iter().all(|name| name.starts_with("/fans/")));
        }
    }

    #[tokio::test]
    async fn a_folder_that_cannot_be_written_is_unavailable() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), "x").unwrap();
        let error = MediaObjects::folder(&folder.path().join("file/media")).err().unwrap();
        assert!(matches!(error, StoreError::Unavailable(_)), "{error}");
        let place = MediaObjects::folder(&folder.path().join("media")).unwrap();
        std::fs::write(folder.path().join("media/ab"), "in the way").unwrap();
        let error = place.put(key(0xab, 1), Bytes::from_static(b"x")).await.unwrap_err();
        assert!(matches!(error, StoreError::Unavailable(_)), "{error}");
    }
}
