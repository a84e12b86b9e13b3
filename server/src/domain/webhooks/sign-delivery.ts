import { createHmac } from 'node:crypto'

/**
 * Returns the value of `Service-Signature` (D44): `t=<unix seconds>,v1=<hex>`, an HMAC-SHA256 over `<t>.<body>`. The
 * HMAC key is the whole secret as UTF-8, including its prefix. There is one `v1` for each secret. During a rotation the
 * endpoint has two secrets.
 */
export function signDelivery({ secrets, body, now }: { secrets: readonly string[]; body: Buffer; now: Date }): string {
  const seconds = Math.floor(now.getTime() / 1_000)
  const signatures = secrets.map((secret) =>
    createHmac('sha256', secret).update(`${seconds}.`).update(body).digest('hex'),
  )
  return [`t=${seconds}`, ...signatures.map((signature) => `v1=${signature}`)].join(',')
}
