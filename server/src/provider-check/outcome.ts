import type { ProviderResponse } from './provider-wire.ts'
import { cutText } from '../lib/cut-text.ts'

/** The result of one step: what our code in `enclave/` expects, and what the enclave returned. */
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

/**
 * Describes a response by its status. For an error it adds the code and the message, which do not repeat what we sent.
 */
export function describeResponse({ status, body }: ProviderResponse): string {
  const { error, code } = body
  const message =
    typeof error === 'string' ? cutText(error.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' '), MESSAGE_CHARS_MAX) : null
  const parts = [status === null ? 'no response' : String(status)]
  if (typeof code === 'string') parts.push(code)
  if (message !== null) parts.push(JSON.stringify(message))
  return parts.join(' ')
}
