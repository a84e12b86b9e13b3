import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import { quoteShell } from '../../format/quote-shell.ts'

/** The values in the examples: IDs of the workspace. API keys are never included. */
export interface ExampleValues {
  /** The origin of the REST API. */
  readonly baseUrl: string
  readonly mode: Mode
  readonly agentId: string
  readonly wallet: string
  /** The recipient of the example payment. */
  readonly to: string
  /**
   * An agent that may buy web resources, and its wallet. If no grant allows this, the agent and wallet of the example
   * payment.
   */
  readonly buyer: { readonly agentId: string; readonly wallet: string }
}

export type ExampleLanguage = 'curl' | 'typescript'

const AMOUNT_USDC = '0.01'
const MAX_PRICE_USDC = '0.10'
/** A placeholder for the user to replace, because the service knows no sellers. */
const RESOURCE_URL = 'RESOURCE_URL'

/** A request that returns the workspace, mode and limits of the key. */
export function getCaller({ baseUrl }: Pick<ExampleValues, 'baseUrl'>, language: ExampleLanguage): string {
  return language === 'curl' ? curlGet(`${baseUrl}/v1/me`) : fetchGet(`${baseUrl}/v1/me`)
}

export function listAgents({ baseUrl }: Pick<ExampleValues, 'baseUrl'>, language: ExampleLanguage): string {
  return language === 'curl' ? curlGet(`${baseUrl}/v1/agents`) : fetchGet(`${baseUrl}/v1/agents`)
}

/** A payment that can be sent unchanged. Sending it twice makes one payment. */
export function createPayment({ baseUrl, agentId, wallet, to }: ExampleValues, language: ExampleLanguage): string {
  const body = {
    agent_id: agentId,
    wallet,
    to,
    amount_usdc: AMOUNT_USDC,
    memo: 'A first payment',
    idempotency_key: 'first-payment-1',
  }
  const request = { url: `${baseUrl}/v1/payments`, body, print: 'answer.payment.id, answer.payment.status' }
  return post(request, language)
}

/** Asks a web resource what it costs, and whether the grant would allow the purchase. Pays nothing. */
export function checkPrice(
  { baseUrl, buyer }: Pick<ExampleValues, 'baseUrl' | 'buyer'>,
  language: ExampleLanguage,
): string {
  const body = { url: RESOURCE_URL, agent_id: buyer.agentId, wallet: buyer.wallet }
  const request = { url: `${baseUrl}/v1/x402/check`, body, print: 'answer.price_usdc, answer.allowed' }
  return post(request, language)
}

/** Buys a web resource. Sending it twice makes one purchase. */
export function buyResource(
  { baseUrl, buyer }: Pick<ExampleValues, 'baseUrl' | 'buyer'>,
  language: ExampleLanguage,
): string {
  const body = {
    url: RESOURCE_URL,
    agent_id: buyer.agentId,
    wallet: buyer.wallet,
    max_amount_usdc: MAX_PRICE_USDC,
    idempotency_key: 'first-purchase-1',
  }
  const request = { url: `${baseUrl}/v1/x402/pay`, body, print: 'answer.delivery, answer.response?.body' }
  return post(request, language)
}

export function getPayment({ baseUrl }: Pick<ExampleValues, 'baseUrl'>, language: ExampleLanguage): string {
  const path = `${baseUrl}/v1/payments/`
  if (language === 'curl') return `curl -s ${quoteShell(path)}"$PAYMENT_ID" -H "Authorization: Bearer $BURSAR_KEY"`
  return fetchGet(`${path}PAYMENT_ID`)
}

/**
 * Verifies a webhook signature without dependencies. While a secret is being rotated, the header has several `v1`
 * parts.
 */
export const VERIFY_WEBHOOK = `import { createHmac, timingSafeEqual } from 'node:crypto'

const TOLERANCE_SECONDS = 300

/** \`rawBody\`: the request body as received, before JSON parsing. */
export function isFromBursar(rawBody: Buffer, signature: string, secret: string): boolean {
  const parts = signature.split(',').map((part) => part.split('='))
  const time = parts.find(([name]) => name === 't')?.[1]
  const age = Math.abs(Date.now() / 1000 - Number(time))
  if (time === undefined || !(age <= TOLERANCE_SECONDS)) return false
  const expected = createHmac('sha256', secret).update(time + '.').update(rawBody).digest()
  return parts.some(([name, value]) => {
    const received = Buffer.from(name === 'v1' ? (value ?? '') : '', 'hex')
    return received.length === expected.length && timingSafeEqual(received, expected)
  })
}

// In your server:
// if (!isFromBursar(rawBody, request.headers['service-signature'], process.env.WEBHOOK_SECRET)) respond with 400
// Then respond with 200 at once, and ignore events whose \`id\` you have seen before.`

interface Post {
  readonly url: string
  readonly body: Readonly<Record<string, string>>
  /** What the TypeScript program prints of the answer. */
  readonly print: string
}

function post({ url, body, print }: Post, language: ExampleLanguage): string {
  if (language === 'curl') {
    return [
      `curl -s ${quoteShell(url)} \\`,
      `  -H "Authorization: Bearer $BURSAR_KEY" \\`,
      `  -H 'Content-Type: application/json' \\`,
      `  -d ${quoteShell(indent(JSON.stringify(body, null, 2)))}`,
    ].join('\n')
  }
  return `const response = await fetch(${quoteScript(url)}, {
  method: 'POST',
  headers: {
    Authorization: \`Bearer \${process.env.BURSAR_KEY}\`,
    'Content-Type': 'application/json',
  },
  body: JSON.stringify(${indent(formatMembers(body))}),
})
const answer = await response.json()
if (!response.ok) throw new Error(\`\${answer.error.code}: \${answer.error.message}\`)
console.log(${print})`
}

function curlGet(url: string): string {
  return `curl -s ${quoteShell(url)} -H "Authorization: Bearer $BURSAR_KEY"`
}

function fetchGet(url: string): string {
  return `const response = await fetch(${quoteScript(url)}, {
  headers: { Authorization: \`Bearer \${process.env.BURSAR_KEY}\` },
})
console.log(await response.json())`
}

function quoteScript(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}

function formatMembers(members: Readonly<Record<string, string>>): string {
  const lines = Object.entries(members).map(([name, value]) => `  ${name}: ${quoteScript(value)},`)
  return ['{', ...lines, '}'].join('\n')
}

function indent(text: string): string {
  return text.replaceAll('\n', '\n  ')
}
