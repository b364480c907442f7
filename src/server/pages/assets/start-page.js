// The page works without this script, which adds copy buttons and shows whether the server is ready.

for (const block of document.querySelectorAll('.code')) {
  const text = block.querySelector('code')?.textContent ?? '';
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy';
  button.setAttribute('aria-label', `Copy: ${text.slice(0, 40)}`);
  button.addEventListener('click', () => void copy(text, button));
  // Browsers allow pages to copy only over a secure connection.
  if (navigator.clipboard) block.append(button);
}

async function copy(text, button) {
  const result = await navigator.clipboard.writeText(text).then(
    () => 'Copied',
    () => 'Not allowed',
  );
  button.textContent = result;
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
