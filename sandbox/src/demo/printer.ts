import { textAt, type Answer, type Body } from './http-client.ts'

export interface Expectation {
  readonly status: number
  /** `error.code`, if the response is an error. */
  readonly code?: string
  /** Further members, by path, with the text expected there. */
  readonly texts?: Readonly<Record<string, string>>
}

export interface Printer {
  readonly title: (text: string) => void
  /** Prints the request, the response, and whether the response was expected. Returns the response body. */
  readonly step: (sentence: string, asking: Promise<Answer>, expected: Expectation) => Promise<Body>
  /** The number of unexpected responses. */
  readonly faults: () => number
}

/** Long enough for ids, hashes and keys; a long list of details is cut off. */
const ANSWER_CHARS_MAX = 360

export function createPrinter(): Printer {
  let faults = 0
  return {
    title: (text) => print(`\n${text}\n${'-'.repeat(text.length)}`),
    step: async (sentence, asking, expected) => {
      const { asked, status, body } = await asking
      const fault = findFault({ status, body }, expected)
      if (fault !== null) faults += 1
      print(`${fault === null ? '✓' : '✗'} ${sentence}`)
      print(`    → ${asked}`)
      print(`    ← ${status} ${shorten(JSON.stringify(body))}`)
      if (fault !== null) print(`    expected ${fault}`)
      return body
    },
    faults: () => faults,
  }
}

/** What was expected but missing, or null. */
function findFault({ status, body }: Pick<Answer, 'status' | 'body'>, expected: Expectation): string | null {
  if (status !== expected.status) return `status ${expected.status}`
  const texts = { ...(expected.code === undefined ? {} : { 'error.code': expected.code }), ...expected.texts }
  const wrong = Object.entries(texts).find(([path, text]) => textAt(body, path) !== text)
  return wrong === undefined ? null : `${wrong[0]} "${wrong[1]}"`
}

function shorten(text: string): string {
  return text.length <= ANSWER_CHARS_MAX ? text : `${text.slice(0, ANSWER_CHARS_MAX)} …`
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
