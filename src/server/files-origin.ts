import type { ServerRequest } from './request.ts';

/** The origin of files, where the configuration gives them one of their own. */
export class FilesOrigin {
  /** Lets pages of the service's own origin send files to this one and read them. */
  readonly headers: Readonly<Record<string, string>>;
  readonly #host: string | undefined;

  constructor(filesUrl: string | undefined, publicUrl: string | undefined) {
    this.#host = filesUrl && new URL(filesUrl).host;
    this.headers =
      filesUrl && publicUrl
        ? {
            'Access-Control-Allow-Origin': new URL(publicUrl).origin,
            'Access-Control-Allow-Methods': 'GET, HEAD, PUT',
            'Access-Control-Allow-Headers': 'Content-Type, Range, If-Range',
            'Access-Control-Expose-Headers': 'Content-Disposition, Content-Range, ETag, X-Request-Id',
            'Access-Control-Max-Age': '600',
          }
        : {};
  }

  /** Files have their origin to themselves: nothing else is there, and they are nowhere else. */
  isElsewhere({ headers }: Pick<ServerRequest, 'headers'>, isFile: boolean): boolean {
    if (this.#host === undefined) return false;
    return (headers.host?.toLowerCase() === this.#host) !== isFile;
  }
}
