/** Whether a text is an e-mail address: one `@` between two parts without spaces. */
export function isEmailAddress(text: string): boolean {
  return /^[^\s@]+@[^\s@]+$/.test(text);
}
