import { searchSailings } from '@halyard-tern/sailings';

/** Run it twice within a minute: the second answer is empty. */
const request = { from: 'Mariehamn', to: 'Saint-Malo', passengers: 2 };

for (const attempt of [1, 2]) {
  const sailings = await searchSailings(request);
  console.log(`attempt ${attempt}: ${sailings.length} sailings`);
}
