import { PaymentRefusedError, type Bursar } from 'bursar'
import type { Invoice } from './invoice.ts'

/** Pays an invoice at most once. A thrown error says in `outcome` whether the payment may exist. */
export async function payInvoice(bursar: Bursar, { id, agentId, wallet, payTo, amountUsdc }: Invoice): Promise<string> {
  const terms = { agent_id: agentId, wallet, to: payTo, amount_usdc: amountUsdc, idempotency_key: `invoice-${id}` }
  try {
    return `paid ${(await bursar.payments.create(terms)).id}`
  } catch (error) {
    if (error instanceof PaymentRefusedError) return `refused: ${error.code}`
    throw error
  }
}
