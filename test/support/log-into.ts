import { Writable } from 'node:stream';

/** A destination for the log of an app, which adds each line, parsed, to the list. */
export function logInto(lines: object[]): Writable {
  return new Writable({
    write(line: Buffer, _encoding, done) {
      lines.push(JSON.parse(String(line)) as object);
      done();
    },
  });
}
