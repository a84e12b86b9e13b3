import type { PaymentPreview } from 'bursar'
import { cleanLine } from './output/clean-text.ts'
import { formatPairs } from './output/format-table.ts'
import type { Paint } from './output/style.ts'

/** Formats the result of a preview for people. */
export function formatPreview(preview: PaymentPreview, paint: Paint): string {
  if (!preview.allowed) {
    const { message, details } = { details: undefined, ...preview.error }
    return `${paint('red', 'Not allowed:')} ${cleanLine(message)}\n${formatDetails(details, paint)}`
  }
  if (preview.existing_payment !== null) {
    const { id, status } = preview.existing_payment
    return `${paint('yellow', 'The key is already used:')} it belongs to ${id}, which is ${status}.\n`
  }
  const pairs = formatPairs(
    [
      [
        'Left of the 24-hour limit',
        `${preview.remaining_24h_usdc} USDC, afterwards ${preview.remaining_24h_after_usdc} USDC`,
      ],
      ['Available', `${preview.available_usdc} USDC`],
      ['Each payment', `at most ${preview.max_per_tx_usdc} USDC`],
      ['Grant', preview.grant_id],
      ['Expires', preview.expires_at],
    ],
    paint,
  )
  return `${paint('green', 'Allowed.')}\n${pairs}`
}

function formatDetails(details: unknown, paint: Paint): string {
  if (typeof details !== 'object' || details === null) return ''
  return formatPairs(
    Object.entries(details).map(([name, value]) => [
      name,
      value === null ? null : typeof value === 'string' ? value : JSON.stringify(value),
    ]),
    paint,
  )
}
