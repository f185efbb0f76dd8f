//! Settings of pictures.

use clap::Args;
use terrace_app::AppConfig;
use terrace_app::media::UploadQuota;
use terrace_web::WebConfig;

/// Pictures.
#[derive(Debug, Args)]
#[command(next_help_heading = "Pictures")]
pub(crate) struct MediaSettings {
    /// Where pictures are stored: `file:FOLDER`, or `s3://BUCKET/PREFIX` if the program was built with S3; by default
    /// the folder `media` in the data folder.
    #[arg(long, env = "TERRACE_MEDIA_URL", global = true, value_name = "URL")]
    pub(crate) media_url: Option<String>,
    /// The largest accepted picture, in bytes.
    #[arg(
        long,
        env = "TERRACE_PICTURE_LIMIT",
        global = true,
        default_value_t = 5_242_880,
        value_name = "BYTES"
    )]
    pub(crate) picture_limit: usize,
    /// Memory in MiB for all uploaded pictures that are arriving or waiting to be rendered; further uploads are
    /// answered 503.
    #[arg(
        long,
        env = "TERRACE_PICTURE_MEMORY_MIB",
        global = true,
        default_value_t = 128,
        value_name = "MIB"
    )]
    pub(crate) picture_memory_mib: usize,
    /// The number of those pictures of one account; further uploads of the account are answered 429.
    #[arg(
        long,
        env = "TERRACE_PICTURES_PER_ACCOUNT",
        global = true,
        default_value_t = 2,
        value_name = "COUNT"
    )]
    pub(crate) pictures_per_account: usize,
    /// Pictures that are rendered concurrently; each can take half a gigabyte for a moment.
    #[arg(long, env = "TERRACE_MEDIA_WORKERS", global = true, default_value_t = 2, value_name = "COUNT")]
    pub(crate) media_workers: usize,
    /// Pictures that may wait for a worker before new ones are answered 503.
    #[arg(long, env = "TERRACE_MEDIA_QUEUE", global = true, default_value_t = 16, value_name = "COUNT")]
    pub(crate) media_queue: usize,
    /// The largest stored picture, in bytes; a larger rendering is scaled down.
    #[arg(
        long,
        env = "TERRACE_STORED_PICTURE_LIMIT",
        global = true,
        default_value_t = 5_242_880,
        value_name = "BYTES"
    )]
    pub(crate) stored_picture_limit: usize,
    /// Uploads of one account that may wait for posts.
    #[arg(long, env = "TERRACE_WAITING_UPLOADS", global = true, default_value_t = 10, value_name = "COUNT")]
    pub(crate) waiting_uploads: u32,
    /// The total size of these uploads in MiB.
    #[arg(long, env = "TERRACE_WAITING_UPLOAD_MIB", global = true, default_value_t = 25, value_name = "MIB")]
    pub(crate) waiting_upload_mib: u64,
}

impl MediaSettings {
    /// Copies the settings into the web configuration.
    pub(crate) fn apply_web(&self, config: WebConfig) -> WebConfig {
        WebConfig {
            picture_limit: self.picture_limit,
            picture_memory: self.picture_memory_mib.saturating_mul(1024 * 1024),
            pictures_per_account: self.pictures_per_account,
            ..config
        }
    }

    /// Copies the settings into the application's configuration.
    pub(crate) fn apply(&self, config: &mut AppConfig) {
        config.media_workers = self.media_workers;
        config.media_queue = self.media_queue;
        config.stored_picture_limit = self.stored_picture_limit;
        config.upload_quota = UploadQuota {
            count: self.waiting_uploads,
            bytes: self.waiting_upload_mib.saturating_mul(1024 * 1024),
        };
    }
}

#[cfg(test)]
mod tests {
    use crate::cli::Cli;
    use crate::settings::Settings;
    use clap::Parser;
    use terrace_app::AppConfig;
    use terrace_web::WebConfig;

    fn settings(arguments: &[&str]) -> Settings {
        Cli::try_parse_from([&["terrace"], arguments].concat()).unwrap().settings
    }

    #[test]
    fn defaults_of_pictures_match_the_application() {
        let figures = |config: AppConfig| {
            (config.media_workers, config.media_queue, config.stored_picture_limit, config.upload_quota)
        };
        assert_eq!(figures(settings(&[]).app()), figures(AppConfig::default()));
        let ours = settings(&["--waiting-uploads=3", "--waiting-upload-mib=1"]).app().upload_quota;
        assert_eq!((ours.count, ours.bytes), (3, 1 << 20));
        let figures = |web: WebConfig| (web.picture_limit, web.picture_memory, web.pictures_per_account);
        let web = |arguments: &[&str]| figures(settings(arguments).web_config().unwrap());
        assert_eq!(web(&[]), figures(WebConfig::default()));
        assert_eq!(web(&["--picture-memory-mib=7", "--pictures-per-account=1"]), (5 << 20, 7 << 20, 1));
    }
}
