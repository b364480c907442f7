import { BorrowedConnection } from './borrowed-connection.ts';
import type { Prepared } from '../statements/prepared.ts';

/**
 * The value of all columns in each of the two rows that answer every statement. The values work as keys of further
 * rows, as the ordinal of the first parent, and as the part numbers of a statement for a row and its page (1 for the
 * page, 0 for the row).
 */
const cells = ['1', '0'];

/** More columns than any statement selects. */
const columnCount = 100;

/**
 * A database that runs nothing. It records the prepared statements and answers each with rows, so that the statements
 * that depend on those rows are sent too. If `stops` is true, every bounded statement stops before its pages are full,
 * or before it has counted all.
 */
export class RecordingDatabase {
  /** The texts of the statements of each round trip. */
  readonly roundTrips: string[][] = [];
  readonly #stops: boolean;

  constructor({ stops }: { stops: boolean }) {
    this.#stops = stops;
  }

  connect(): Promise<BorrowedConnection> {
    const sent: string[] = [];
    this.roundTrips.push(sent);
    const wire = {
      query: () =>
        Promise.reject(new Error('The recording database was asked for a statement that is not prepared.')),
      prepared: ({
        text,
        stopColumn,
        boundColumn,
      }: Pick<Prepared, 'text' | 'stopColumn' | 'boundColumn'>) => {
        sent.push(text);
        const rows = cells.map((cell) => {
          const row = Array.from({ length: columnCount }, (): string | null => cell);
          // The ordinal 0 is that of a stop for all parents.
          const isStop = this.#stops && cell === '0';
          if (boundColumn !== undefined && !this.#stops) row[boundColumn] = null;
          if (stopColumn !== undefined && !isStop) row.fill(null, stopColumn, stopColumn + 2);
          return row;
        });
        return Promise.resolve({ rows, types: [] });
      },
    };
    return Promise.resolve(new BorrowedConnection(wire, () => undefined));
  }
}
