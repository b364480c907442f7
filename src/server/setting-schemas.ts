import { z } from 'zod';
import { isNetwork } from './http/clients.ts';
import { isOrigin } from './http/cross-origin.ts';
import type { SettingKind } from './setting-kinds.ts';
import { type SettingName, settingNames, settings, type SettingValues } from './settings.ts';

/** The schema that reads the text of a setting. Messages complete a sentence that begins with the name of the setting. */
function schemaOf(setting: SettingKind): z.ZodType {
  switch (setting.kind) {
    case 'port':
      return integerFrom(0, 65_535, 'must be a port').default(setting.default);
    case 'integer':
      return integerFrom(
        setting.min,
        setting.max,
        setting.unit === undefined ? 'must be a whole number' : `must be a number of ${setting.unit}`,
      ).default(setting.default);
    case 'fraction':
      return z
        .string()
        .regex(/^(?:0|1|0?\.\d{1,9})$/, 'must be a number from 0 to 1, such as 0.01')
        .transform(Number)
        .default(setting.default);
    case 'workers':
      return z
        .string()
        .regex(/^(?:auto|[1-9]|[1-5]\d|6[0-4])$/, 'must be auto, or a number from 1 to 64')
        .transform((text) => (text === 'auto' ? text : Number(text)))
        .default(setting.default);
    case 'switch':
      return onOrOff(setting.default);
    case 'text':
      return setting.default === undefined ? z.string().optional() : z.string().default(setting.default);
    case 'store':
      return z
        .string()
        .refine(
          isStorageUrl,
          'must be a URL such as https://KEY:SECRET@s3.example.com/bucket or file:///srv/files',
        )
        .optional();
    case 'address':
      return z
        .string()
        .transform(addressOf)
        .refine((address) => address !== undefined, 'must be a port, or an address such as 127.0.0.1:9464')
        .optional();
    case 'url':
      return url(setting.protocols, setting.rule).optional();
    case 'list':
      return listOf(itemRules[setting.items], setting.rule);
    case 'choice':
      return choiceOf(setting);
  }
}

const itemRules = {
  origins: isOrigin,
  networks: isNetwork,
  keys: (key: string) => key.length >= 32,
  databases: (url: string) =>
    URL.canParse(url) && ['postgres:', 'postgresql:'].includes(new URL(url).protocol),
};

function choiceOf({ values, deprecated = {}, default: defaultValue }: SettingKind & { kind: 'choice' }) {
  const [last, ...others] = values.toReversed();
  return z
    .enum([...values, ...Object.keys(deprecated)], {
      error:
        values.length > 3
          ? `must be one of ${values.join(', ')}`
          : `must be ${others.toReversed().join(', ')} or ${last}`,
    })
    .transform((value) => deprecated[value] ?? value)
    .default(defaultValue);
}

type Shape = { readonly [Name in SettingName]: z.ZodType<SettingValues[Name]> };

/** The schema of all settings. */
export const settingsSchema = z
  .object(Object.fromEntries(settingNames.map((name) => [name, schemaOf(settings[name])])) as Shape)
  .refine(({ FILES_URL, PUBLIC_URL }) => !isSameHost(FILES_URL, PUBLIC_URL), {
    path: ['FILES_URL'],
    error: 'must be another origin than PUBLIC_URL',
  })
  .refine(({ WORKERS, DATABASE_URL }) => WORKERS === 1 || DATABASE_URL !== undefined, {
    path: ['WORKERS'],
    error: 'must be 1 with the embedded database, which only one process can use: set DATABASE_URL for more',
  })
  .refine(
    ({ READ_DATABASE_URLS, DATABASE_URL }) => READ_DATABASE_URLS.length === 0 || DATABASE_URL !== undefined,
    {
      path: ['READ_DATABASE_URLS'],
      error: 'must not be set with the embedded database, which has no replicas: set DATABASE_URL',
    },
  )
  .refine(({ WORKERS }) => typeof WORKERS !== 'number' || WORKERS === 1 || process.platform === 'linux', {
    path: ['WORKERS'],
    error: 'must be 1 on this system: only on Linux can several processes share a port',
  })
  .refine(
    ({ METRICS_ADDRESS, PORT, HOST }) => !METRICS_ADDRESS || !isSameAddress(METRICS_ADDRESS, HOST, PORT),
    {
      path: ['METRICS_ADDRESS'],
      error: 'must be another port than PORT',
    },
  )
  .refine(({ DOCUMENTS, DOCUMENTS_FILE }) => DOCUMENTS === 'any' || DOCUMENTS_FILE !== undefined, {
    path: ['DOCUMENTS_FILE'],
    error: 'must name the manifest when DOCUMENTS is trusted',
  });

function listOf(isValid: (item: string) => boolean, message: string) {
  return z
    .string()
    .transform((text) => text.split(',').map((item) => item.trim()))
    .refine((items) => items.every(isValid), message)
    .default([]);
}

function onOrOff(defaultValue: boolean) {
  return z
    .enum(['on', 'off'], { error: 'must be on or off' })
    .transform((value) => value === 'on')
    .default(defaultValue);
}

/** `rule` begins the message, which the bounds complete. */
function integerFrom(min: number, max: number, rule: string) {
  const message = `${rule} from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,10}$/, message)
    .transform(Number)
    .refine((value) => value >= min && value <= max, message);
}

/** Reads `9464`, `10.0.0.7:9464` or `[::1]:9464`. Undefined for anything else. */
function addressOf(text: string): { host: string; port: number } | undefined {
  const [, host = '127.0.0.1', port = ''] = /^(?:(\[[\da-f:]+\]|[^:\s]+):)?(\d{1,5})$/i.exec(text) ?? [];
  const isPort = port !== '' && Number(port) <= 65_535;
  return isPort ? { host: host.replace(/^\[|\]$/g, ''), port: Number(port) } : undefined;
}

function url(protocols: readonly string[], message: string) {
  return z
    .string()
    .max(1_000, 'must have at most 1,000 characters')
    .refine((text) => URL.canParse(text) && protocols.includes(new URL(text).protocol), message);
}

/** Whether the text names a directory, or a bucket with credentials. */
function isStorageUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, host, username, password } = new URL(text);
  // `file:relative` is a URL too, of a directory in the root.
  if (protocol === 'file:') return host === '' && /^file:\/\/\//i.test(text);
  return (protocol === 'http:' || protocol === 'https:') && username !== '' && password !== '';
}

/** Whether a server would take the address of another. Port 0 is any free one. */
function isSameAddress(one: { host: string; port: number }, host: string, port: number): boolean {
  const all = ['0.0.0.0', '::'];
  return (
    port !== 0 && one.port === port && (one.host === host || all.includes(one.host) || all.includes(host))
  );
}

/** Whether two URLs have the same host. Invalid URLs are reported by their own rule. */
function isSameHost(one: string | undefined, other: string | undefined): boolean {
  if (!one || !other || !URL.canParse(one) || !URL.canParse(other)) return false;
  return new URL(one).host === new URL(other).host;
}
