import type { Row, TableName } from '../../db/tables/tables.ts';
import type { AnyReferences, ReferenceDeclaration } from './references.ts';

type ColumnOf<Declaration> =
  Declaration extends ReferenceDeclaration<string, infer Name, infer Column, unknown>
    ? Name extends TableName
      ? Column & keyof Row<Name> & string
      : never
    : never;

/** A piece of a concatenated text: a literal, a column of the row, or a column of a row that the row refers to. */
export type Piece<Parent = unknown, References = AnyReferences<Parent>> =
  | string
  | { column: unknown extends Parent ? string : keyof Parent & string }
  | {
      [Name in keyof References & string]: {
        of: Name;
        column: unknown extends Parent ? string : ColumnOf<References[Name]>;
      };
    }[keyof References & string];

type Values = Readonly<Record<string, unknown>>;

/** Concatenates the pieces; a missing value adds nothing. */
export function concatenatedText(pieces: readonly Piece[], row: Values, references: Values): string {
  const textOf = (piece: Piece): unknown => {
    if (typeof piece === 'string') return piece;
    return ('of' in piece ? (references[piece.of] as Values | undefined) : row)?.[piece.column] ?? '';
  };
  return pieces.reduce<string>((text, piece) => `${text}${textOf(piece) as string | number}`, '');
}
