// The page is whole without this: it adds what only a browser can do.

for (const block of document.querySelectorAll('.code')) {
  const text = block.querySelector('code')?.textContent ?? '';
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy';
  button.setAttribute('aria-label', `Copy: ${text.slice(0, 40)}`);
  button.addEventListener('click', () => void copy(text, button));
  // Browsers let pages copy only where nobody could have changed them on the way.
  if (navigator.clipboard) block.append(button);
}

async function copy(text, button) {
  const said = await navigator.clipboard.writeText(text).then(
    () => 'Copied',
    () => 'Not allowed',
  );
  button.textContent = said;
  setTimeout(() => {
    button.textContent = 'Copy';
  }, 2000);
}

const readiness = document.querySelector('[data-readiness]');
if (readiness) {
  const response = await fetch('/readyz').catch(() => undefined);
  const state = response?.ok ? 'ready' : 'not ready';
  readiness.dataset.readiness = state;
  readiness.textContent = `This server is ${state}`;
}
