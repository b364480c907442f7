import { Lease } from '../engine/lease.ts';

/**
 * What every column holds of the two rows that answer each statement: as a key it leads on to a row, as an ordinal it is
 * that of the first parent, and of a row with its page they are the page and the row.
 */
const cells = ['1', '0'];

/** More columns than any statement reads. */
const widest = 100;

/**
 * A database that runs nothing: prepared statements are written down, and each is answered by one row, so that what
 * would be read for that row is asked for as well.
 */
export class RecordingDatabase {
  /** The texts of the statements that went out together, one round trip after the other. */
  readonly roundTrips: string[][] = [];

  connect(): Promise<Lease> {
    const sent: string[] = [];
    this.roundTrips.push(sent);
    const wire = {
      query: () => Promise.reject(new Error('A recording answers prepared statements alone.')),
      prepared: ({ text }: { text: string }) => {
        sent.push(text);
        const rows = cells.map((cell) => Array.from({ length: widest }, () => cell));
        return Promise.resolve({ rows, types: [] });
      },
    };
    return Promise.resolve(new Lease(wire, () => undefined));
  }
}
