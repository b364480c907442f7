const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** The base32 form of a UUID in a TypeID: 26 characters; the first one has two leading zero bits. */
export function base32(uuid: string): string {
  let text = '';
  let bits = 2;
  let held = 0;
  for (let at = 0; at < 36; at += 1) {
    const code = uuid.charCodeAt(at);
    if (code === 45) continue;
    held = ((held << 4) | (code < 58 ? code - 48 : code - 87)) & 0xfff;
    bits += 4;
    if (bits >= 5) {
      bits -= 5;
      text += alphabet[(held >>> bits) & 31];
    }
  }
  return text;
}

export function typeId(prefix: string, uuid: string): string {
  return `${prefix}_${base32(uuid)}`;
}

const values = new Map(Array.from(alphabet, (character, value) => [character, value]));

/** The UUID of an id with this prefix; undefined if it is not one. */
export function uuidOf(prefix: string, id: unknown): string | undefined {
  if (typeof id !== 'string' || id.length !== prefix.length + 27 || !id.startsWith(`${prefix}_`))
    return undefined;
  let hex = '';
  let held = 0;
  let bits = -2;
  for (let at = prefix.length + 1; at < id.length; at += 1) {
    const value = values.get(id.charAt(at));
    if (value === undefined) return undefined;
    held = ((held << 5) | value) & 0xfff;
    bits += 5;
    while (bits >= 4) {
      bits -= 4;
      hex += ((held >>> bits) & 15).toString(16);
    }
  }
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
