/** A scheme and something that could be a host. The `URL` parser refuses one that consists only of a user and an @. */
const pattern = /^https?:\/\/@*[^/?#@\s\\][^\s\\]*$/i;

/** Whether the text is an absolute http or https URL. */
export function isHttpUrl(text: string): boolean {
  return pattern.test(text) && URL.canParse(text);
}
