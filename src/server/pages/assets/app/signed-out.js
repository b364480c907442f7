// The tokens that this browser has signed out of. A tab that shows no page of workgraph at that time, but for example the
// answer of a probe, receives no message about it and keeps its token. Without this list, Back would lead to a signed-in page.

const storageKey = 'workgraph.signed-out-tokens';
/** The maximum number of tokens in the list. */
const maxTokens = 50;

/** The token itself must not stay in the browser, so the list has 32-bit hashes (FNV-1a). */
function hashOf(token) {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(token)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}

function storedHashes() {
  try {
    const stored = JSON.parse(localStorage.getItem(storageKey) ?? '[]');
    return Array.isArray(stored) ? stored : [];
  } catch {
    return [];
  }
}

export function isSignedOut(token) {
  return storedHashes().includes(hashOf(token));
}

export function recordSignOut(token) {
  const others = storedHashes().filter((hash) => hash !== hashOf(token));
  localStorage.setItem(storageKey, JSON.stringify([...others, hashOf(token)].slice(-maxTokens)));
}

/** Removes a token from the list, because the user has entered it again. */
export function recordSignIn(token) {
  if (!isSignedOut(token)) return;
  localStorage.setItem(storageKey, JSON.stringify(storedHashes().filter((hash) => hash !== hashOf(token))));
}
