/**
 * The numbers of the advisory locks, which all differ. All but the last are the first of two numbers, four letters in
 * ASCII; the second number identifies the locked object, such as a workspace.
 */
export const advisoryLocks = {
  /** 'wgch': the sequencer in a workspace. */
  sequencer: 0x77676368,
  /** 'wgdi': writes of a workspace's directory. */
  directory: 0x77676469,
  /** 'wgjn': the janitor of the database. */
  janitor: 0x77676a6e,
  /** 'wgpt': the parents of a workspace's issues. */
  parents: 0x77677074,
  /** 'wgts': the slots of tallies. */
  tallySlots: 0x77677473,
  /** The migrations, by one number of 64 bits. */
  migrations: 7_021_408_113,
} as const;
