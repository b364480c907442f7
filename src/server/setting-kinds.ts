/** A whole number within bounds. */
interface IntegerKind {
  readonly kind: 'integer';
  readonly min: number;
  readonly max: number;
  /** What it is a number of, such as bytes. */
  readonly unit: string | undefined;
}

export function integer(min: number, max: number, unit?: string): IntegerKind {
  return { kind: 'integer', min, max, unit };
}

/** A limit. It is smaller than 2^31, so that it fits into an Int of GraphQL. */
export const amount: IntegerKind = integer(1, 1_000_000_000);

/** How the text of a setting is read, and the default for a setting that is not set. */
export type SettingKind =
  | (IntegerKind & { readonly default: number })
  | { readonly kind: 'port' | 'workers' | 'fraction'; readonly default: number }
  | { readonly kind: 'switch'; readonly default: boolean }
  | { readonly kind: 'text'; readonly default?: string }
  | { readonly kind: 'store' | 'address' }
  | { readonly kind: 'url'; readonly protocols: readonly string[]; readonly rule: string }
  | {
      readonly kind: 'list';
      readonly items: 'origins' | 'networks' | 'keys' | 'databases';
      readonly rule: string;
    }
  | {
      readonly kind: 'choice';
      readonly values: readonly string[];
      readonly default: string;
      /** Old spellings that are still accepted, and the values that they mean. */
      readonly deprecated?: Readonly<Record<string, string>>;
    };

/** The groups of settings, with their headings in the help of `serve`. */
export const settingGroups = {
  address: 'Address',
  database: 'Database and processes',
  files: 'Files',
  limits: 'Limits',
  live: 'Changes, streams and webhooks',
  pages: 'Pages and queries',
  observability: 'Logs, metrics, traces and stopping',
} as const;

/** One setting: an environment variable, and the flag of `serve` of the same name. */
export type Setting = SettingKind & {
  readonly group: keyof typeof settingGroups;
  /** What the help shows in place of the value, if it does not follow from the kind. */
  readonly valueHint?: string;
  /** The description of the flag, to which the name of the variable and the default are added. */
  readonly help: string;
  /** The default as the help shows it, if that is not `default`. */
  readonly shownDefault?: string;
};

/** The value that a setting of this kind is read as. */
export type ValueOf<Kind> = Kind extends {
  kind: 'port' | 'integer' | 'fraction';
}
  ? number
  : Kind extends { kind: 'workers' }
    ? number | 'auto'
    : Kind extends { kind: 'switch' }
      ? boolean
      : Kind extends { kind: 'list' }
        ? readonly string[]
        : Kind extends { kind: 'address' }
          ? { readonly host: string; readonly port: number } | undefined
          : Kind extends { kind: 'choice'; values: readonly (infer Value)[] }
            ? Value
            : Kind extends { default: string }
              ? string
              : string | undefined;
