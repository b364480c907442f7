import type { Engine, DemoServer } from './demo-server.ts';

/** A measured value, and the bound that it must meet, if there is one. */
export interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly bound?: number;
  /** Whether the bound is a minimum. */
  readonly atLeast?: boolean;
}

/** A measurement on a server of its own. */
export interface Section {
  readonly name: string;
  /** The engines on which it is measured by default. */
  readonly engines: readonly Engine[];
  /** Settings of the server. */
  readonly settings?: Readonly<Record<string, string>>;
  /** `scale` is 1, or less for a quicker and smaller measurement. */
  readonly measure: (server: DemoServer, scale: number) => Promise<Figure[]>;
}
