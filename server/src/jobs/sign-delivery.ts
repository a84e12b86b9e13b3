import { createHmac } from 'node:crypto'

/**
 * The value of `Service-Signature` (D44): `t=<unix seconds>,v1=<hex>`, HMAC-SHA256 over `<t>.<body>`. The key is the
 * whole secret as UTF-8, its prefix included. One `v1` for each secret: two while a rotation overlaps.
 */
export function signDelivery({ secrets, body, now }: { secrets: readonly string[]; body: Buffer; now: Date }): string {
  const seconds = Math.floor(now.getTime() / 1_000)
  const signatures = secrets.map((secret) =>
    createHmac('sha256', secret).update(`${seconds}.`).update(body).digest('hex'),
  )
  return [`t=${seconds}`, ...signatures.map((signature) => `v1=${signature}`)].join(',')
}
