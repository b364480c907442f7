const pattern = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/;

export const unknownMediaType = 'application/octet-stream';

/** A media type in lower case and without parameters; undefined if the text is not one. An empty text means unknown. */
export function mediaTypeOf(text: string): string | undefined {
  // Browsers send an empty type for unknown files, and may add a charset to a known type.
  const [type = ''] = text.split(';');
  const mediaType = type.trim().toLowerCase() || unknownMediaType;
  return pattern.test(mediaType) ? mediaType : undefined;
}
