import { isJsonObject } from '../../model/json.ts';
import { isEmailAddress } from '../../model/email-address.ts';
import { maxInt32 } from '../../model/int32.ts';
import type { ImportedPerson } from '../../portability/import/import-issue.ts';
import { shortened } from '../../portability/import/import-texts.ts';
import type { ReadWarnings } from './read-warnings.ts';
import { dayOf, type JsonRecord, textOf, timeOf, trimmedTextOf } from './records.ts';

/** The maximum number of characters that a warning quotes of a value that cannot be read. */
const maxQuotedCharacters = 60;

/** A value as it is written in the file, for a message. */
export function quoted(value: unknown): string {
  return shortened(JSON.stringify(value), maxQuotedCharacters);
}

/**
 * Reads the values of an object by name. A value that is missing, null or blank is undefined. So is one that cannot be read, but that
 * adds a warning, which names its path in the line: `comments[2].createdUtc`.
 */
export class RecordReader {
  readonly #values: JsonRecord;
  readonly #warnings: ReadWarnings;
  readonly #path: string;

  constructor(values: JsonRecord, warnings: ReadWarnings, path = '') {
    this.#values = values;
    this.#warnings = warnings;
    this.#path = path;
  }

  /** Whether the object has this member, even if its value is null. */
  has(name: string): boolean {
    return this.#values[name] !== undefined;
  }

  /** The value as `parse` returns it; undefined if it is not what `kind` describes. */
  read<Read>(
    name: string,
    kind: string | (() => string),
    parse: (value: unknown, path: string) => Read | undefined,
  ): Read | undefined {
    return this.#read(this.#values[name], `${this.#path}${name}`, kind, parse);
  }

  text(name: string): string | undefined {
    return this.read(name, 'a text', textOf);
  }

  trimmedText(name: string): string | undefined {
    return this.read(name, 'a text', trimmedTextOf);
  }

  time(name: string): Date | undefined {
    return this.read(name, 'a time', timeOf);
  }

  day(name: string): string | undefined {
    return this.read(name, 'a date', dayOf);
  }

  /** The time at which an issue was created. Warns also if the source does not name one. */
  creationTime(name: string): Date | undefined {
    const value = this.#values[name];
    const time = timeOf(value);
    if (time) return time;
    const isMissing = value === undefined || value === null || value === '';
    this.#warnings.add(name, () =>
      isMissing ? 'it has no creation time' : `the creation time ${quoted(value)} is not a time`,
    );
    return undefined;
  }

  isTrue(name: string): boolean {
    return (
      this.read(name, 'true or false', (value) => (typeof value === 'boolean' ? value : undefined)) ?? false
    );
  }

  /** A whole number of 32 bits that is not negative. */
  nonNegativeInteger(name: string): number | undefined {
    return this.read(name, 'a whole number', (value) => (isNonNegativeInteger(value) ? value : undefined));
  }

  code(name: string, table: Readonly<Record<string, number>>): number | undefined {
    return this.read(
      name,
      () => `one of ${Object.keys(table).join(', ')}`,
      (value) => (typeof value === 'string' && Object.hasOwn(table, value) ? table[value] : undefined),
    );
  }

  object<Read>(name: string, parse: (reader: RecordReader) => Read): Read | undefined {
    return this.read(name, 'an object', (value, path) =>
      isJsonObject(value) ? parse(this.#within(value, path)) : undefined,
    );
  }

  /** The items that can be read; undefined if there is no list. */
  items<Read>(
    name: string,
    kind: string,
    parse: (value: unknown, path: string) => Read | undefined,
  ): Read[] | undefined {
    return this.read(name, 'a list', (value, path) =>
      Array.isArray(value)
        ? value
            .map((item, index) => this.#read(item, `${path}[${index}]`, kind, parse))
            .filter((item) => item !== undefined)
        : undefined,
    );
  }

  /** The objects in a list; undefined if there is no list. */
  objects<Read>(name: string, parse: (reader: RecordReader, index: number) => Read): Read[] | undefined {
    let index = 0;
    return this.items(name, 'an object', (value, path) => {
      if (!isJsonObject(value)) return undefined;
      index += 1;
      return parse(this.#within(value, path), index - 1);
    });
  }

  trimmedTexts(name: string): string[] | undefined {
    return this.items(name, 'a text', trimmedTextOf);
  }

  person(name: string, parser: PersonParser): ImportedPerson | undefined {
    return this.read(name, 'a person', (value, path) => this.#person(value, path, parser));
  }

  people(name: string, parser: PersonParser): ImportedPerson[] | undefined {
    return this.items(name, 'a person', (value, path) => this.#person(value, path, parser));
  }

  #person(value: unknown, path: string, { ofText, ofObject }: PersonParser): ImportedPerson | undefined {
    const text = trimmedTextOf(value);
    if (text !== undefined) return ofText(text);
    return isJsonObject(value) ? ofObject?.(this.#within(value, path)) : undefined;
  }

  #within(value: JsonRecord, path: string): RecordReader {
    return new RecordReader(value, this.#warnings, `${path}.`);
  }

  #read<Read>(
    value: unknown,
    path: string,
    kind: string | (() => string),
    parse: (value: unknown, path: string) => Read | undefined,
  ): Read | undefined {
    const read = parse(value, path);
    if (read !== undefined || value == null || (typeof value === 'string' && value.trim() === ''))
      return read;
    const kindText = () => (typeof kind === 'string' ? kind : kind());
    this.#warnings.add(path, () => `${path}: ${quoted(value)} is not ${kindText()} and is left out`);
    return undefined;
  }
}

/** How a source names a person: by a text, and perhaps by an object. */
export interface PersonParser {
  readonly ofText: (text: string) => ImportedPerson;
  readonly ofObject?: (reader: RecordReader) => ImportedPerson | undefined;
}

/** A person by an e-mail address or a name. */
export function namedPerson(text: string): ImportedPerson {
  return isEmailAddress(text) ? { name: text, emailAddress: text } : { name: text };
}

function isNonNegativeInteger(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= maxInt32;
}
