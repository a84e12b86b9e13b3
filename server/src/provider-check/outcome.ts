import type { Answer } from './provider-wire.ts'

/** One of the provider's calls: what our driver relies on, beside what came. */
export interface Outcome {
  readonly verdict: 'same' | 'differs' | 'skipped'
  readonly title: string
  readonly expected: string
  readonly came: string
}

const VERDICT_CHARS = 8
const SENTENCE_CHARS_MAX = 200

export function formatOutcome(number: number, { verdict, title, expected, came }: Outcome): string {
  const head = `${verdict.padEnd(VERDICT_CHARS)} ${String(number).padStart(2)}. ${title}\n`
  return `${head}             expected: ${expected}\n             came:     ${came}\n`
}

/** An answer in words: its status, and of an error the code and the sentence. Neither holds what was sent. */
export function describeAnswer({ status, body }: Answer): string {
  const { error, code } = body
  const said =
    typeof error === 'string' ? error.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ').slice(0, SENTENCE_CHARS_MAX) : null
  const parts = [status === null ? 'no answer' : String(status)]
  if (typeof code === 'string') parts.push(code)
  if (said !== null) parts.push(JSON.stringify(said))
  return parts.join(' ')
}
