import { escapeUnsafe, hasUnsafe } from './clean-text.ts'

const PLAIN = /^[\w@%+=:,./-]+$/

/**
 * Writes a command for a person to copy into a shell, so that it has exactly these arguments. Control and invisible
 * characters are written as escapes.
 */
export function formatCommand(argv: readonly string[]): string {
  return argv.map(quote).join(' ')
}

function quote(part: string): string {
  if (PLAIN.test(part)) return part
  if (!hasUnsafe(part)) return `'${part.replaceAll("'", String.raw`'\''`)}'`
  return `$'${escapeUnsafe(part.replaceAll(/[\\']/g, String.raw`\$&`))}'`
}
