// The tokens that this browser has signed out of. A tab that shows something other than a page of workgraph meanwhile, such
// as the answer of a probe, does not learn of it and keeps its token, which would return with the Back button.

const storageKey = 'workgraph.signed-out-tokens';
/** How many tokens are remembered. */
const maxTokens = 50;

/** The token may not stay in the browser, so 32 bits of it are noted (FNV-1a). */
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

/** The user has entered the token again. */
export function recordSignIn(token) {
  if (!isSignedOut(token)) return;
  localStorage.setItem(storageKey, JSON.stringify(storedHashes().filter((hash) => hash !== hashOf(token))));
}
