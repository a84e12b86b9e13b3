import type { Invoice, Service } from './invoice.ts'

const ATTEMPTS_MAX = 6
const FIRST_DELAY_MS = 200
const RETRYABLE_STATUSES = [408, 429, 500, 502, 503, 504]

/** Pays an invoice at most once, with nothing but `fetch`. */
export async function payInvoice({ baseUrl, apiKey, timeoutMs }: Service, invoice: Invoice): Promise<string> {
  // The key is the same in every attempt, and after a restart of this program.
  const key = `invoice-${invoice.id}`
  const body = JSON.stringify({
    agent_id: invoice.agentId,
    wallet: invoice.wallet,
    to: invoice.payTo,
    amount_usdc: invoice.amountUsdc,
    idempotency_key: key,
  })
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    let delayMs = FIRST_DELAY_MS * 2 ** (attempt - 1) * (0.75 + Math.random() / 4)
    try {
      const response = await fetch(`${baseUrl}/v1/payments`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body,
        signal: AbortSignal.timeout(timeoutMs),
        redirect: 'error',
      })
      const mismatch = response.headers.get('idempotent-mismatch')
      if (mismatch !== null) throw new TypeError(`${key} paid something else: ${mismatch}`)
      // Reading the body can fail too.
      const answer = await response.json()
      if (response.ok && answer.payment.idempotency_key === key) return `paid ${answer.payment.id}`
      if (!response.ok && !RETRYABLE_STATUSES.includes(response.status)) return `refused: ${answer.error.code}`
      delayMs = Math.max(delayMs, Number(response.headers.get('retry-after')) * 1_000)
    } catch (error) {
      if (error instanceof TypeError && error.message.startsWith(key)) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, delayMs))
  }
  throw new Error(`It is not known whether ${key} was paid. Try again with the same key.`)
}
