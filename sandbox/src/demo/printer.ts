import { textAt, type Answer, type Body } from './http-client.ts'

export interface Expectation {
  readonly status: number
  /** The expected `error.code`, if the response should be an error. */
  readonly code?: string
  /** The expected texts of further members, by their path in the body. */
  readonly texts?: Readonly<Record<string, string>>
}

export interface Printer {
  readonly title: (text: string) => void
  /** Prints the request, the response, and whether the response was expected. Returns the body of the response. */
  readonly step: (sentence: string, asking: Promise<Answer>, expected: Expectation) => Promise<Body>
  /** Returns the number of unexpected responses so far. */
  readonly faults: () => number
}

/** How much of a response is printed. Ids, hashes and keys fit; a long list of details is cut off. */
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

/** Returns the first expected value that the response does not have, or null. */
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
