import type { Payment } from 'bursar'
import type { Cli } from './cli.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { formatPairs } from './output/format-table.ts'
import type { Paint } from './output/style.ts'

/** A payment for people, one member in each line. */
export function formatPayment(payment: Payment, paint: Paint): string {
  return formatPairs(
    [
      ['Payment', payment.id],
      ['Amount', `${payment.amount_usdc} USDC`],
      ['Status', payment.failure_code === null ? payment.status : `${payment.status}: ${payment.failure_code}`],
      ['To', payment.to],
      ['From', payment.from],
      ['Agent', payment.agent_id],
      ['Memo', payment.memo],
      ['Idempotency key', payment.idempotency_key],
      ['Transaction', payment.tx_hash],
      ['Created', payment.created_at],
      ['Confirmed', payment.confirmed_at],
    ],
    paint,
  )
}

/** If a payment has failed, its command fails too. A pending payment is not a failure. */
export function exitOfPayment({ status }: Payment): ExitCode {
  return status === 'failed' ? EXIT.failure : EXIT.ok
}

/** For a pending payment, returns the command that waits for its outcome. For any other payment, returns null. */
export function nextOfPayment({ id, status }: Payment, cli: Cli): string[] | null {
  return status === 'pending' ? cli.next('payments', 'get', id, '--wait') : null
}
