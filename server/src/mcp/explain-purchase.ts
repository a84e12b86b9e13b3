import { Problem } from '../values/problem.ts'
import { parseAmount } from '../values/money.ts'
import type { Mode } from '../values/mode.ts'
import { describeAmount } from './describe-money.ts'
import { describeRefusal } from './describe-refusal.ts'
import { ToolFailure } from './tool-failure.ts'
import { markUntrusted, type UntrustedText } from './untrusted-text.ts'

/** An error names at most this many offers of a seller. */
const OFFERS_NAMED_MAX = 10

/**
 * Rethrows an error of a purchase, with what a seller wrote marked as untrusted, and with the price in words. Nothing
 * was paid after any of these errors.
 */
export function explainPurchase(error: unknown, mode: Mode): never {
  if (!(error instanceof Problem) || error.code === undefined) throw error
  const { code, details } = error
  const given: Readonly<Record<string, unknown>> = typeof details === 'object' && details !== null ? { ...details } : {}
  const next = describeRefusal(code, given)
  const unread = Number(given['unread_options'] ?? 0)
  if (code === 'payment_protocol_unknown') {
    const { status, untrusted_body: body } = given
    const shown = { status, answer: typeof body === 'string' ? markUntrusted(body) : null }
    const message = 'The resource asks for a payment in no protocol that Bursar knows (x402, MPP). Nothing was paid.'
    throw new ToolFailure({ code, message, next, details: shown, cause: error })
  }
  if (code === 'resource_redirected') {
    const { status, untrusted_location: location } = given
    const shown = { status, location: markUntrusted(String(location)) }
    throw new ToolFailure({
      code,
      message: error.message.replace('untrusted_location', 'location'),
      next,
      details: shown,
      cause: error,
    })
  }
  if (code === 'payment_option_unsupported') {
    const message = `The resource offers no way to pay that Bursar supports. Nothing was paid.${describeUnread(unread)}`
    const shown = { skipped: formatSkipped(given['skipped']), unread_options: unread }
    throw new ToolFailure({ code, message, next, details: shown, cause: error })
  }
  if (code === 'price_too_high') {
    const price = parseAmount(String(given['price_usdc']))
    const costs = price === null ? '' : ` It costs ${describeAmount(price, mode)}.`
    const message = `The price is above max_amount_usdc, which is in dollars. Nothing was paid.${costs}${describeUnread(unread)}`
    throw new ToolFailure({ code, message, next, details, cause: error })
  }
  throw error
}

/** Says that a seller offers more ways to pay than the service reads. Begins with a space. Empty if all were read. */
export function describeUnread(unread: number): string {
  return unread === 0 ? '' : ` The resource offers further ways to pay that were not read (${unread}).`
}

interface ShownOffer {
  readonly reason: string
  readonly offer: UntrustedText
}

/**
 * Formats the offers that cannot be paid. The words of an offer are marked as untrusted, because the seller wrote them.
 */
export function formatSkipped(skipped: unknown): ShownOffer[] {
  if (!Array.isArray(skipped)) return []
  return skipped.slice(0, OFFERS_NAMED_MAX).map((one: Readonly<Record<string, unknown>>) => ({
    reason: String(one['reason']),
    offer: markUntrusted(
      ['scheme', 'network', 'asset', 'amount'].map((name) => `${name} ${String(one[name])}`).join(', '),
    ),
  }))
}
