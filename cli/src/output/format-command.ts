import { escapeUnsafe, hasUnsafe } from './clean-text.ts'

const PLAIN = /^[\w@%+=:,./-]+$/

/**
 * Writes a command that a person can copy into a shell. The shell then runs it with exactly the arguments `argv`.
 * Control and invisible characters are written as escapes.
 */
export function formatCommand(argv: readonly string[]): string {
  return argv.map(quote).join(' ')
}

function quote(part: string): string {
  if (PLAIN.test(part)) return part
  if (!hasUnsafe(part)) return `'${part.replaceAll("'", String.raw`'\''`)}'`
  return `$'${escapeUnsafe(part.replaceAll(/[\\']/g, String.raw`\$&`))}'`
}
