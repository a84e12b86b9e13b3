/** A string literal of the source. For a template, the text between its placeholders, joined by `${}`. */
export interface StringLiteral {
  /** Offset of the opening quote. */
  readonly start: number
  readonly text: string
}

/** Source whose comments, strings and regular expressions are blanked out, offsets and line ends kept. Quotes stay. */
export interface MaskedSource {
  readonly code: string
  readonly strings: readonly StringLiteral[]
}

/** After these a slash begins a regular expression; after anything else it divides. */
const REGEX_MAY_FOLLOW =
  /(?:^|[(,=:[!&|?{;+\-*%<>~^]|\b(?:return|typeof|case|in|of|void|delete|do|else|await|yield))\s*$/
/** No keyword or operator before a slash is longer than this, white space included. */
const LOOK_BACK_CHARS = 40

/**
 * Splits TypeScript into code and literals, well enough for the house's rules: a rule about code must not stumble over
 * a comment or a message, and a rule about SQL must see strings only.
 */
export function maskSource(text: string): MaskedSource {
  const masker = new Masker(text)
  masker.readCode(false)
  return { code: masker.code, strings: masker.strings.toSorted((a, b) => a.start - b.start) }
}

class Masker {
  readonly strings: StringLiteral[] = []
  code = ''
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  /** Reads code to the end of the file, or, inside a template's placeholder, up to the brace that closes it. */
  readCode(inPlaceholder: boolean): void {
    let depth = 0
    while (this.#at < this.#text.length) {
      const char = this.#text.charAt(this.#at)
      const pair = this.#text.slice(this.#at, this.#at + 2)
      if (inPlaceholder && char === '}' && depth === 0) return
      if (pair === '//') this.#blankTo(endOr(this.#text, this.#text.indexOf('\n', this.#at)))
      else if (pair === '/*') this.#blankTo(endOr(this.#text, this.#text.indexOf('*/', this.#at + 2) + 2, 1))
      else if (char === "'" || char === '"') this.#readString(char)
      else if (char === '`') this.#readTemplate()
      else if (char === '/' && REGEX_MAY_FOLLOW.test(this.code.slice(-LOOK_BACK_CHARS))) this.#readRegex()
      else {
        if (char === '{') depth += 1
        if (char === '}') depth -= 1
        this.#keep(1)
      }
    }
  }

  #readString(quote: string): void {
    const start = this.#at
    this.#keep(1)
    const end = this.#findEnd((char) => char === quote || char === '\n')
    this.strings.push({ start, text: this.#text.slice(start + 1, end) })
    this.#blankTo(end)
    this.#keep(1)
  }

  #readTemplate(): void {
    const start = this.#at
    let text = ''
    this.#keep(1)
    while (this.#at < this.#text.length && this.#text.charAt(this.#at) !== '`') {
      const from = this.#at
      const end = this.#findEnd((char, next) => char === '`' || (char === '$' && next === '{'))
      text += this.#text.slice(from, end)
      this.#blankTo(end)
      if (this.#text.charAt(end) !== '$') continue
      text += '${}'
      this.#keep(2)
      this.readCode(true)
      this.#keep(1)
    }
    this.#keep(1)
    this.strings.push({ start, text })
  }

  #readRegex(): void {
    let inClass = false
    this.#keep(1)
    const end = this.#findEnd((char) => {
      if (char === '[') inClass = true
      if (char === ']') inClass = false
      return char === '\n' || (char === '/' && !inClass)
    })
    this.#blankTo(end)
    this.#keep(1)
  }

  /** The first offset from here on, escaped characters passed over, at which the literal ends. */
  #findEnd(isEnd: (char: string, next: string) => boolean): number {
    let at = this.#at
    while (at < this.#text.length && !isEnd(this.#text.charAt(at), this.#text.charAt(at + 1))) {
      at += this.#text.charAt(at) === '\\' ? 2 : 1
    }
    return Math.min(at, this.#text.length)
  }

  #keep(chars: number): void {
    this.code += this.#text.slice(this.#at, this.#at + chars)
    this.#at += chars
  }

  #blankTo(end: number): void {
    this.code += this.#text.slice(this.#at, end).replaceAll(/[^\n]/g, ' ')
    this.#at = end
  }
}

/** The offset, or the end of the text where the search found nothing (an offset below `found`). */
function endOr(text: string, offset: number, found = 0): number {
  return offset > found ? offset : text.length
}
