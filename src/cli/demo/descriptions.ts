import type { Random } from './random.ts';
import type { Kind } from './topics.ts';

const openings: Record<Kind, readonly string[]> = {
  bug: [
    'It used to work; it does not since the release before last.',
    'Three people have reported this independently.',
    'Found while testing something else.',
    'Easy to see once you know where to look.',
    'It comes and goes, but never for long.',
    'First noticed in production, now reproduced on staging.',
  ],
  feature: [
    'Asked for in nearly every call with the lines.',
    'Small for us, large for those who use it every day.',
    'We promised this at the user day in Gothenburg.',
    'The prototype was liked; this is about the real thing.',
    'Our neighbours in the market have had it for years.',
    'It would replace a spreadsheet that somebody keeps by hand.',
  ],
  chore: [
    'Nobody will notice when it is done, everybody when it is not.',
    'Left over from the last big change.',
    'Comes up again every quarter; let us do it properly once.',
    'Half a day, if nothing surprises us.',
    'Due before the season starts.',
  ],
  research: [
    'We argue about this with opinions; let us get facts.',
    'Time-boxed to three days. The result is a page, not code.',
    'The answer decides what we plan for the next quarter.',
    'Talk to at least five people outside the building.',
  ],
  request: [
    'Came in by mail during the night.',
    'From the weekly call with their duty manager.',
    'They have tried what the article says.',
    'Not urgent by their own words, but it blocks their month’s report.',
    'Raised by the harbour, confirmed by the line.',
  ],
};

const bodies: Record<Kind, readonly string[]> = {
  bug: [
    'Steps:\n1. Start from a fresh session.\n2. Do it once: all is well.\n3. Do it again within a minute.\n\nExpected: the same as the first time.',
    'What happens: nothing, and no message either.\nWhat should happen: it works, or says why it cannot.',
    'Steps:\n1. Use an account with more than one line.\n2. Switch the line.\n3. Go back.\n\nThe log has a warning, no error.',
    'A reload helps. That is why so few people report it.',
  ],
  feature: [
    'Done when:\n- it works with the keyboard and a screen reader\n- it is on for two pilot lines\n- support knows about it',
    'Out of scope: anything that needs a new contract with a supplier.\n\nOpen question: what happens to bookings that exist already?',
    'Start with the smallest thing that is of use, behind a flag. The drawings are linked.',
    'As a first step we only need to show it; changing it can wait.',
  ],
  chore: [
    'Done when the old way is gone, not when the new way exists.',
    '- find every use\n- replace\n- delete\n- tell the others',
    'Can be done in pieces. Please keep each piece easy to take back.',
    '',
  ],
  research: [
    'Questions:\n- Who does it today, and how often?\n- What would they give up for it?\n- How would we know that it helped?',
    'Result: a short note with numbers, and a recommendation that somebody disagrees with.',
    'Look at the last twelve months. Mind the strike in autumn.',
  ],
  request: [
    'What they tried: another browser, another account, a restart.\nWhat they need: an answer before the next sailing.',
    'Affected bookings are listed in the attached mail. Please answer in English, they will translate.',
    'I told them we look into it and answer within two days.',
    '',
  ],
};

/** A description that suits the kind of issue; now and then there is none. What was observed has a context. */
export function descriptionOf(kind: Kind, random: Random, context: readonly string[]): string {
  const isObserved = kind === 'bug' || kind === 'request';
  const place = random.chance(0.6) && isObserved ? random.pick(context) : '';
  const parts = [random.pick(openings[kind]), random.pick(bodies[kind]), place];
  return random.chance(0.06) ? '' : parts.filter((part) => part !== '').join('\n\n');
}
