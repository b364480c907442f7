/** A message as a sentence: with a full stop, unless it ends with a question. */
export function asSentence(message: string): string {
  return message.endsWith('?') ? message : `${message}.`;
}

/** What a refusal says of its violations: the only one, or how many there are. */
export function detailOf(
  violations: readonly { readonly field: string; readonly message: string }[],
): string {
  const [first, second] = violations;
  return first && !second
    ? asSentence(`${first.field}: ${first.message}`)
    : `${violations.length} fields are invalid.`;
}

/** The violation of a text without visible characters. */
export const blankRule = 'must not be white space alone';
