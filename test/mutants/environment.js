import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestEnvironment } from 'jest-environment-node';

const directory = process.env.MUTANTS_NOTES ?? '';
const until = Number(process.env.MUTANTS_UNTIL);
const trials = JSON.parse(readFileSync(join(directory, 'trials'), 'utf8'));
let next = 0;

/** The environment in which a test file runs, once for each trial: it has the switches of the guards, and ends when a test fails. */
export default class GuardEnvironment extends TestEnvironment {
  #trial = trials[next++];
  #started = Date.now();
  /** By guard and event: the first and the last test, and how long it took until the first had ended. */
  #notes = new Map();
  #fresh = [];
  #test = '';

  constructor(config, context) {
    super(config, context);
    if (this.#started > until) throw new Error('There is no time left.');
    writeFileSync(join(directory, 'trial'), JSON.stringify(this.#trial));
    rmSync(join(directory, 'processes'), { force: true });
    this.global.guardIsOn = (mutant, how) => {
      const note = this.#notes.get(`${mutant} ${how}`);
      if (note) note.last = this.#test;
      else this.#add({ mutant, how, first: this.#test, last: this.#test, ms: 0 });
      return mutant !== this.#trial.mutant;
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
      const [mutant, how] = line.split(' ');
      // It is not known which test has started the process.
      const ms = Date.now() - this.#started;
      if (!this.#notes.has(line))
        this.#notes.set(line, { mutant: Number(mutant), how, first: '', last: '', ms });
    }
    writeFileSync(join(directory, 'notes'), JSON.stringify([...this.#notes.values()]));
  }

  #add(note) {
    this.#notes.set(`${note.mutant} ${note.how}`, note);
    this.#fresh.push(note);
  }
}

/** The name of a test as jest's reporters show it. */
function nameOf(test) {
  const titles = [];
  for (let each = test; each.parent; each = each.parent) titles.unshift(each.name);
  return titles.join(' ');
}
