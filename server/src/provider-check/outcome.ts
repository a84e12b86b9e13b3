import type { ProviderResponse } from './provider-wire.ts'

/** The result of one step: what our driver expects, and what the provider returned. */
export interface Outcome {
  readonly verdict: 'same' | 'differs' | 'skipped'
  readonly title: string
  readonly expected: string
  readonly actual: string
}

const VERDICT_CHARS = 8
const MESSAGE_CHARS_MAX = 200

export function formatOutcome(number: number, { verdict, title, expected, actual }: Outcome): string {
  const head = `${verdict.padEnd(VERDICT_CHARS)} ${String(number).padStart(2)}. ${title}\n`
  return `${head}             expected: ${expected}\n             actual:   ${actual}\n`
}

/** Describes a response by its status, and for an error by its code and message. Neither contains what was sent. */
export function describeResponse({ status, body }: ProviderResponse): string {
  const { error, code } = body
  const message =
    typeof error === 'string' ? error.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ').slice(0, MESSAGE_CHARS_MAX) : null
  const parts = [status === null ? 'no response' : String(status)]
  if (typeof code === 'string') parts.push(code)
  if (message !== null) parts.push(JSON.stringify(message))
  return parts.join(' ')
}
