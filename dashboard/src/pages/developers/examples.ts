import type { Mode } from '../../api/wire.ts'

/** What stands in the examples: the workspace's own ids. The key is never among them. */
export interface ExampleValues {
  /** The origin of the REST API. */
  readonly baseUrl: string
  readonly mode: Mode
  readonly agentId: string
  readonly wallet: string
  /** Whom the example pays. */
  readonly to: string
}

export type ExampleLanguage = 'curl' | 'typescript'

const AMOUNT_USDC = '0.01'

/** A request that says who one is. */
export function getCaller({ baseUrl }: Pick<ExampleValues, 'baseUrl'>, language: ExampleLanguage): string {
  return language === 'curl' ? curlGet(`${baseUrl}/v1/me`) : fetchGet(`${baseUrl}/v1/me`)
}

export function listAgents({ baseUrl }: Pick<ExampleValues, 'baseUrl'>, language: ExampleLanguage): string {
  return language === 'curl' ? curlGet(`${baseUrl}/v1/agents`) : fetchGet(`${baseUrl}/v1/agents`)
}

/** A payment that can be sent as it stands; sent twice, it is one payment. */
export function pay({ baseUrl, agentId, wallet, to }: ExampleValues, language: ExampleLanguage): string {
  const body = {
    agent_id: agentId,
    wallet,
    to,
    amount_usdc: AMOUNT_USDC,
    memo: 'A first payment',
    idempotency_key: 'first-payment-1',
  }
  if (language === 'curl') {
    return [
      `curl -s ${quoteShell(`${baseUrl}/v1/payments`)} \\`,
      `  -H "Authorization: Bearer $BURSAR_KEY" \\`,
      `  -H 'Content-Type: application/json' \\`,
      `  -d ${quoteShell(indent(JSON.stringify(body, null, 2)))}`,
    ].join('\n')
  }
  return `const response = await fetch(${quoteScript(`${baseUrl}/v1/payments`)}, {
  method: 'POST',
  headers: {
    Authorization: \`Bearer \${process.env.BURSAR_KEY}\`,
    'Content-Type': 'application/json',
  },
  body: JSON.stringify(${indent(formatMembers(body))}),
})
const answer = await response.json()
if (!response.ok) throw new Error(\`\${answer.error.code}: \${answer.error.message}\`)
console.log(answer.payment.id, answer.payment.status)`
}

export function getPayment({ baseUrl }: Pick<ExampleValues, 'baseUrl'>, language: ExampleLanguage): string {
  const path = `${baseUrl}/v1/payments/`
  if (language === 'curl') return `curl -s ${quoteShell(path)}"$PAYMENT_ID" -H "Authorization: Bearer $BURSAR_KEY"`
  return fetchGet(`${path}PAYMENT_ID`)
}

/** Checks a webhook's signature with nothing but Node.js (D44): several `v1` stand while a secret is being rotated. */
export const VERIFY_WEBHOOK = `import { createHmac, timingSafeEqual } from 'node:crypto'

const TOLERANCE_SECONDS = 300

/** \`rawBody\`: the bytes as they came, before any JSON parser. */
export function isFromBursar(rawBody: Buffer, signature: string, secret: string): boolean {
  const parts = signature.split(',').map((part) => part.split('='))
  const time = parts.find(([name]) => name === 't')?.[1]
  const age = Math.abs(Date.now() / 1000 - Number(time))
  if (time === undefined || !(age <= TOLERANCE_SECONDS)) return false
  const wanted = createHmac('sha256', secret).update(time + '.').update(rawBody).digest()
  return parts.some(([name, value]) => {
    const given = Buffer.from(name === 'v1' ? (value ?? '') : '', 'hex')
    return given.length === wanted.length && timingSafeEqual(given, wanted)
  })
}

// In your server:
// if (!isFromBursar(rawBody, request.headers['service-signature'], process.env.WEBHOOK_SECRET)) answer 400
// Then answer 200 at once, and skip events whose \`id\` you have seen.`

function curlGet(url: string): string {
  return `curl -s ${quoteShell(url)} -H "Authorization: Bearer $BURSAR_KEY"`
}

function fetchGet(url: string): string {
  return `const response = await fetch(${quoteScript(url)}, {
  headers: { Authorization: \`Bearer \${process.env.BURSAR_KEY}\` },
})
console.log(await response.json())`
}

/** Within single quotes a shell takes every character as it is, but for the quote. */
function quoteShell(text: string): string {
  return /^[\w:/.@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
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
