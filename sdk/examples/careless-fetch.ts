import type { Invoice, Service } from './invoice.ts'

const ATTEMPTS_MAX = 5
const DELAY_MS = 200

/**
 * Pays an invoice without an idempotency key, and simply tries again after a failure. Do not copy it: it pays twice.
 */
export async function payInvoice({ baseUrl, apiKey, timeoutMs }: Service, invoice: Invoice): Promise<string> {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    try {
      const response = await fetch(`${baseUrl}/v1/payments`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          agent_id: invoice.agentId,
          wallet: invoice.wallet,
          to: invoice.payTo,
          amount_usdc: invoice.amountUsdc,
        }),
        signal: AbortSignal.timeout(timeoutMs),
      })
      if (response.ok) return 'paid'
      if (response.status === 403) return 'refused'
    } catch {
      // The next attempt follows.
    }
    await new Promise((resolve) => setTimeout(resolve, DELAY_MS))
  }
  return 'failed'
}
