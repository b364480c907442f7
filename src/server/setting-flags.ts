import { type Setting, settingGroups } from './setting-kinds.ts';
import { type SettingName, settings } from './settings.ts';

/** The flag of a setting, without the dashes: `data-dir` of `DATA_DIR`. */
type FlagName<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${Lowercase<First>}-${FlagName<Rest>}`
  : Lowercase<Name>;

interface Flag {
  readonly type: 'string';
  readonly description: string;
  readonly valueHint: string;
  /** The heading above it in the help. */
  readonly heading: string;
}

/** The flags of these settings, as citty declares them. */
export function flagsOf<Name extends SettingName>(names: readonly Name[]): Record<FlagName<Name>, Flag> {
  const flags = names.map((name) => {
    const setting: Setting = settings[name];
    const origin = [name, shownDefaultOf(settings[name])].filter((part) => part !== undefined).join(', ');
    const flag: Flag = {
      type: 'string',
      description: `${setting.help} (${origin})`,
      valueHint: setting.valueHint ?? valueHintOf(setting),
      heading: settingGroups[setting.group],
    };
    return [flagNameOf(name), flag] as const;
  });
  return Object.fromEntries(flags) as Record<FlagName<Name>, Flag>;
}

function valueHintOf(setting: Setting): string {
  switch (setting.kind) {
    case 'choice':
      return setting.values.join('|');
    case 'switch':
      return 'on|off';
    case 'list':
      return 'a,b,…';
    case 'port':
    case 'text':
    case 'url':
      return setting.kind;
    default:
      return 'n';
  }
}

/** The name of a setting's flag, without the dashes. */
export function flagNameOf(name: string): string {
  return name.toLowerCase().replaceAll('_', '-');
}

function shownDefaultOf(setting: Setting): string | undefined {
  if (setting.shownDefault !== undefined) return setting.shownDefault;
  const value = 'default' in setting ? setting.default : undefined;
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return value === undefined ? undefined : String(value);
}
