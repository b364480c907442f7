import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestEnvironment } from 'jest-environment-node';

const directory = process.env.MUTANTS_NOTES ?? '';
const until = Number(process.env.MUTANTS_UNTIL);
const trials = JSON.parse(readFileSync(join(directory, 'trials'), 'utf8'));
let next = 0;

/** Where a test file runs, once for each trial: with the switches of the guards, until a test fails. */
export default class GuardEnvironment extends TestEnvironment {
  #trial = trials[next++];
  #started = Date.now();
  /** By guard and how: the first and the last test, and when the first had ended. */
  #notes = new Map();
  #fresh = [];
  #test = '';

  constructor(config, context) {
    super(config, context);
    if (this.#started > until) throw new Error('There is no time left.');
    writeFileSync(join(directory, 'trial'), JSON.stringify(this.#trial));
    rmSync(join(directory, 'processes'), { force: true });
    this.global.guardIsOn = (place, how) => {
      const note = this.#notes.get(`${place} ${how}`);
      if (note) note.last = this.#test;
      else this.#add({ place, how, first: this.#test, last: this.#test, ms: 0 });
      return place !== this.#trial.mutant;
    };
  }

  handleTestEvent({ name, test }, state) {
    if (name === 'test_start') this.#test = nameOf(test);
    if (name !== 'test_done') return;
    for (const note of this.#fresh.splice(0)) note.ms = Date.now() - this.#started;
    const isEnough = test.errors.length > 0 || nameOf(test) === this.#trial.last;
    if (isEnough) state.testNamePattern = /(?!)/;
  }

  async teardown() {
    if (this.#trial.mutant === undefined) this.#writeNotes();
    await super.teardown();
  }

  #writeNotes() {
    const path = join(directory, 'processes');
    const lines = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
    for (const line of lines) {
      const [place, how] = line.split(' ');
      // Which test has started the process is not known.
      const ms = Date.now() - this.#started;
      if (!this.#notes.has(line))
        this.#notes.set(line, { place: Number(place), how, first: '', last: '', ms });
    }
    writeFileSync(join(directory, 'notes'), JSON.stringify([...this.#notes.values()]));
  }

  #add(note) {
    this.#notes.set(`${note.place} ${note.how}`, note);
    this.#fresh.push(note);
  }
}

/** As jest's reporters name it. */
function nameOf(test) {
  const titles = [];
  for (let each = test; each.parent; each = each.parent) titles.unshift(each.name);
  return titles.join(' ');
}
