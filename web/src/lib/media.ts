// Files of the media library: what the server tells of one, and how one is sent.
import { ApiError, renewNonce, rest, signed } from './api';
import { texts } from './texts';

export interface MediaItem {
  id: number;
  title: { raw?: string; rendered: string };
  caption: { raw?: string; rendered: string };
  alt_text: string;
  media_type: string;
  mime_type: string;
  source_url: string;
  media_details: {
    width?: number;
    height?: number;
    filesize?: number;
    sizes?: Record<string, { source_url: string }>;
  };
}

export const LIBRARY = 'wp/v2/media';

/** The path on this server, whatever the site is called elsewhere. */
const pathOf = (address: string): string => new URL(address, location.href).pathname;

/** A small form of a picture; nothing for other files. */
export function thumbnail(item: MediaItem): string | undefined {
  if (item.media_type !== 'image') return undefined;
  const { thumbnail: small, medium } = item.media_details.sizes ?? {};
  return pathOf((small ?? medium)?.source_url ?? item.source_url);
}

export const titleOf = (item: MediaItem): string =>
  item.title.raw ?? (item.title.rendered || item.source_url.split('/').at(-1) || '');

/** Sends a file as it is; `tell` gets the part that has left, from 0 to 1. */
export async function upload(file: File, tell: (part: number) => void): Promise<MediaItem> {
  // What cannot be sent again should not fail for a nonce that ran out.
  if (!(await renewNonce())) throw new ApiError(401, 'signed_out', texts.session.over);
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', signed(rest(LIBRARY)));
    request.responseType = 'json';
    request.setRequestHeader('Accept', 'application/json');
    request.setRequestHeader('Content-Type', file.type || 'application/octet-stream');
    const name = encodeURIComponent(file.name);
    request.setRequestHeader('Content-Disposition', `attachment; filename="${name}"`);
    request.upload.onprogress = ({ loaded, total }) => tell(total ? loaded / total : 0);
    const fail = (message: string, code = 'refused') =>
      reject(new ApiError(request.status, code, message, [], request.response));
    request.onerror = () => fail(texts.unreachable, 'unreachable');
    request.onload = () => {
      const body = request.response as (MediaItem & { message?: string; code?: string }) | null;
      if (request.status === 201 && body) resolve(body);
      else fail(body?.message ?? texts.status(request.status), body?.code);
    };
    request.send(file);
  });
}
