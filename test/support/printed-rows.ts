/** Prints rows as JSON from which `parseRows` restores them, including times and bytes. */
export function printRows(rows: object): string {
  return JSON.stringify(rows, function (this: Record<string, unknown>, key, value: unknown) {
    // `value` is the result of toJSON already, so times and bytes are recognized by the original.
    const original = this[key];
    if (original instanceof Date) return { $time: original.getTime() };
    if (original instanceof Buffer) return { $bytes: original.toString('base64') };
    return value;
  });
}

/** Reads what `printRows` printed. */
export function parseRows<Rows>(text: string): Rows {
  return JSON.parse(text, (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null) return value;
    if ('$time' in value) return new Date(value.$time as number);
    return '$bytes' in value ? Buffer.from(value.$bytes as string, 'base64') : value;
  }) as Rows;
}
