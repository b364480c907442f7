// The tokens that this browser has signed out of. A tab that shows something other than a page of workgraph meanwhile, such
// as the answer of a probe, does not learn of it and keeps its token, which would return with the Back button.

const storageKey = 'workgraph.signed-out-tokens';
/** How many tokens are remembered. */
const maxTokens = 50;

/** The token may not stay in the browser, so 32 bits of it are noted (FNV-1a). */
function noteOf(token) {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(token)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}

function notes() {
  try {
    const known = JSON.parse(localStorage.getItem(storageKey) ?? '[]');
    return Array.isArray(known) ? known : [];
  } catch {
    return [];
  }
}

export function isSignedOut(token) {
  return notes().includes(noteOf(token));
}

export function noteSignedOut(token) {
  const others = notes().filter((note) => note !== noteOf(token));
  localStorage.setItem(storageKey, JSON.stringify([...others, noteOf(token)].slice(-maxTokens)));
}

/** The user has entered the token again. */
export function noteSignedIn(token) {
  if (!isSignedOut(token)) return;
  localStorage.setItem(storageKey, JSON.stringify(notes().filter((note) => note !== noteOf(token))));
}
