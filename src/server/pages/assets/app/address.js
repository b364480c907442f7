/** A part of an address as text. A part that is not encoded correctly is not changed. */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** What the page is about: the `WEB-1` of `/issues/WEB-1`. */
export function subjectInAddress() {
  return decoded(location.pathname.split('/')[2]);
}

/** The choices in the address of the page, under the names that they have there. */
export function choicesInAddress() {
  return Object.fromEntries(new URLSearchParams(location.search));
}

/** Returns the choices with one of them changed, or removed if the value is empty. */
export function withChoice(choices, name, value) {
  const { [name]: _, ...others } = choices;
  return value ? { ...others, [name]: value } : others;
}

/** The end of the address that the page shows. */
let shownSearch = location.search;

/** Puts the choices into the address, as a step of the history, which Back undoes, or in place of the last step. */
export function writeToAddress(choices, { isNewEntry }) {
  const address = `${location.pathname}${searchOf(choices)}`;
  if (isNewEntry) history.pushState(null, '', address);
  else history.replaceState(null, '', address);
  shownSearch = location.search;
}

/** Calls `restore` when Back or Forward has led to other choices on the same page. */
export function onHistoryNavigation(restore) {
  const compare = () => {
    // Other parts of the address may have changed alone, such as that of the skip link.
    if (location.search === shownSearch) return;
    shownSearch = location.search;
    restore();
  };
  for (const name of ['popstate', 'pageshow']) addEventListener(name, compare);
}

/** The choices as the end of an address. */
export function searchOf(choices) {
  const search = new URLSearchParams(choices).toString();
  return search && `?${search}`;
}
