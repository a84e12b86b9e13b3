/** Colours a text, or returns it unchanged if colours are off. */
export type Paint = (style: keyof typeof CODES, text: string) => string

/** The escape sequences that begin and end each style. */
const CODES = {
  bold: ['1', '22'],
  dim: ['2', '22'],
  red: ['31', '39'],
  green: ['32', '39'],
  yellow: ['33', '39'],
  cyan: ['36', '39'],
} as const

/**
 * Decides whether to use colours. `FORCE_COLOR` turns them off if it is `0` or `false`, and on with any other value.
 * Without `FORCE_COLOR`, `NO_COLOR` turns them off. Without both, only a terminal that is not `dumb` gets colours.
 */
export function usesColor(env: NodeJS.ProcessEnv, isTerminal: boolean): boolean {
  const forced = env['FORCE_COLOR']
  if (forced !== undefined && forced !== '') return forced !== '0' && forced !== 'false'
  if (env['NO_COLOR'] !== undefined && env['NO_COLOR'] !== '') return false
  return isTerminal && env['TERM'] !== 'dumb'
}

export function createPaint(isOn: boolean): Paint {
  if (!isOn) return (_style, text) => text
  return (style, text) => `\u001b[${CODES[style][0]}m${text}\u001b[${CODES[style][1]}m`
}
