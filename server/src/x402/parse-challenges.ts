/** One challenge of `WWW-Authenticate`, with its parameters by name in lower case (RFC 9110, section 11.6.1). */
export interface Challenge {
  /** In lower case. */
  readonly scheme: string
  readonly parameters: ReadonlyMap<string, string>
}

const TOKEN_PATTERN = /[!#$%&'*+.^_`|~0-9A-Za-z-]+/y
/** The name and the equals sign of a parameter. The end of a `token68`, such as `abc==`, does not match. */
const NAME_PATTERN = /([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*=[ \t]*(?=["!#$%&'*+.^_`|~0-9A-Za-z-])/y
const QUOTED_PATTERN = /"((?:[^"\\]|\\.)*)"/y
const TOKEN68_PATTERN = /[A-Za-z0-9._~+/-]+=*/y
const GAP_PATTERN = /[ \t]*/y
const SEPARATOR_PATTERN = /[ \t,]*/y

/**
 * Parses the challenges of a `WWW-Authenticate` header, which may be several headers that were joined by commas.
 * Returns the challenges before the first mistake.
 */
export function parseChallenges(text: string): readonly Challenge[] {
  const challenges: Challenge[] = []
  let position = 0
  /** If the pattern matches at `position`, moves `position` to the end of the match. Returns the match, or null. */
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = position
    const match = pattern.exec(text)
    if (match !== null) position = pattern.lastIndex
    return match
  }
  const takeParameters = (): Map<string, string> | null => {
    const parameters = new Map<string, string>()
    for (let name = take(NAME_PATTERN); name !== null; name = take(NAME_PATTERN)) {
      const quoted = take(QUOTED_PATTERN)
      const value = quoted === null ? take(TOKEN_PATTERN)?.[0] : quoted[1]?.replaceAll(/\\(.)/g, '$1')
      const key = name[1]?.toLowerCase() ?? ''
      if (value === undefined || parameters.has(key)) return null
      parameters.set(key, value)
      take(SEPARATOR_PATTERN)
    }
    return parameters
  }
  take(SEPARATOR_PATTERN)
  // Every round takes at least one character of the text, whose length `readChallenges` limits.
  for (let scheme = take(TOKEN_PATTERN); scheme !== null; scheme = take(TOKEN_PATTERN)) {
    take(GAP_PATTERN)
    const parameters = takeParameters()
    if (parameters === null) break
    if (parameters.size === 0 && text[position] !== ',') take(TOKEN68_PATTERN)
    challenges.push({ scheme: scheme[0].toLowerCase(), parameters })
    take(SEPARATOR_PATTERN)
  }
  return challenges
}
