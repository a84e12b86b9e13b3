const PLAIN = /^[\w@%+=:,./-]+$/

/** Writes a command for a person to copy into a shell. Arguments with unusual characters are quoted. */
export function formatCommand(argv: readonly string[]): string {
  return argv.map((part) => (PLAIN.test(part) ? part : `'${part.replaceAll("'", String.raw`'\''`)}'`)).join(' ')
}
