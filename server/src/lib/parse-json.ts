/**
 * How deeply objects and lists may be nested in JSON that somebody else wrote. `JSON.parse` itself has no limit, but
 * code that visits every member calls itself once for each level, as `JSON.stringify` does, and fails for very deep JSON.
 */
export const JSON_LEVELS_MAX = 64

const [QUOTE, BACKSLASH] = [0x22, 0x5c]
const [OPENS_LIST, CLOSES_LIST, OPENS_OBJECT, CLOSES_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/** What ES2026 adds to `JSON`, and Node.js has already. */
interface ExactJson {
  parse(text: string, revive: (name: string, value: unknown, context: { readonly source: string }) => unknown): unknown
  /** Makes a value that `JSON.stringify` writes as this text. */
  rawJSON(text: string): unknown
  isRawJSON(value: unknown): boolean
}

const exactJson: ExactJson = JSON as JSON & ExactJson

/** Parses JSON that somebody else wrote. Throws a `SyntaxError` if it is not valid, or is nested too deeply. */
export function parseJson(text: string, levelsMax = JSON_LEVELS_MAX): unknown {
  if (isTooDeep(text, levelsMax)) throw new SyntaxError('the JSON is nested too deeply')
  return JSON.parse(text)
}

/**
 * Parses JSON so that `JSON.stringify` writes each number as it was written: `1.0` stays `1.0`, and an integer with
 * twenty digits keeps all of them. The numbers of the result can only be written, and not read. Throws as `parseJson`.
 */
export function parseExactJson(text: string, levelsMax = JSON_LEVELS_MAX): unknown {
  if (isTooDeep(text, levelsMax)) throw new SyntaxError('the JSON is nested too deeply')
  return exactJson.parse(text, (_name, value, { source }) =>
    typeof value === 'number' ? exactJson.rawJSON(source) : value,
  )
}

/** Returns whether this is a number that `parseExactJson` has kept. */
export function isExactNumber(value: unknown): boolean {
  return exactJson.isRawJSON(value)
}

/** Returns whether objects and lists of a JSON text are nested more deeply than this. */
export function isTooDeep(text: string, levelsMax = JSON_LEVELS_MAX): boolean {
  let levels = 0
  for (let index = 0; index < text.length; index += 1) {
    switch (text.charCodeAt(index)) {
      case QUOTE:
        index = endOfString(text, index + 1)
        break
      case OPENS_LIST:
      case OPENS_OBJECT:
        levels += 1
        if (levels > levelsMax) return true
        break
      case CLOSES_LIST:
      case CLOSES_OBJECT:
        levels -= 1
        break
      default:
    }
  }
  return false
}

/** Returns the index of the quote that ends a string: the next one with an even number of backslashes before it. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end - 1
    while (text.charCodeAt(before) === BACKSLASH) before -= 1
    if ((end - before) % 2 === 1) return end
  }
  return text.length
}
