import type { PostImage } from '$lib/api/types';

/** How large a thumbnail is at most. */
const THUMBNAIL = 640;

/** How wide a picture of a post is shown. */
export const SIZES = '(min-width: 64rem) 640px, 100vw';

/** The files of a picture with their widths; none where the thumbnail is the picture. */
export function sourcesOf({ url, thumbnailUrl, width, height }: PostImage): string {
  if (thumbnailUrl === url) return '';
  const scale = Math.min(1, THUMBNAIL / Math.max(width, height));
  return `${thumbnailUrl} ${String(Math.round(width * scale))}w, ${url} ${String(width)}w`;
}

/** Loads a picture before its post is rendered, which takes a phone a quarter of a second. */
export function preload(image: PostImage): void {
  const picture = new Image();
  picture.sizes = SIZES;
  picture.srcset = sourcesOf(image);
  picture.src = image.thumbnailUrl;
}
