/** Decodes a segment of the path. A segment that is not encoded correctly is returned unchanged. */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The key or code of the object that the page shows: the `WEB-1` of `/issues/WEB-1`. */
export function subjectInAddress() {
  return decoded(location.pathname.split('/')[2]);
}

/** The choices of the user, which the query string of the page contains, by their parameter names. */
export function choicesInAddress() {
  return Object.fromEntries(new URLSearchParams(location.search));
}

/** Returns the choices with one of them changed, or removed if the value is empty. */
export function withChoice(choices, name, value) {
  const { [name]: _, ...others } = choices;
  return value ? { ...others, [name]: value } : others;
}

/** The query string whose choices the page shows. */
let shownSearch = location.search;

/** Writes the choices into the address: as a new entry of the history, which Back undoes, or in place of the current entry. */
export function writeToAddress(choices, { isNewEntry }) {
  const address = `${location.pathname}${searchOf(choices)}`;
  if (isNewEntry) history.pushState(null, '', address);
  else history.replaceState(null, '', address);
  shownSearch = location.search;
}

/** Calls `restore` when Back or Forward leads to other choices on the same page. */
export function onHistoryNavigation(restore) {
  const compare = () => {
    // The fragment alone may have changed, for example when the skip link was followed.
    if (location.search === shownSearch) return;
    shownSearch = location.search;
    restore();
  };
  for (const name of ['popstate', 'pageshow']) addEventListener(name, compare);
}

/** The choices as a query string, such as `?q=checkout`; empty if there are none. */
export function searchOf(choices) {
  const search = new URLSearchParams(choices).toString();
  return search && `?${search}`;
}
