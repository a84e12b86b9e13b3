import { HTTPFacilitatorClient } from '@x402/core/server'
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types'
import type { RequestHandler } from 'express'
import { FACILITATOR_MS_MAX } from './limits.ts'
import type { Resource } from './resource.ts'
import type { SellerChain } from './seller-chain.ts'

/**
 * Returns a handler that asks to be paid with x402 version 1. The server packages of the x402 project speak version 2
 * only, so the offer and the headers are our own. The project's facilitator still speaks version 1.
 */
export function sellByX402V1(chain: SellerChain, resource: Resource, facilitatorUrl: string): RequestHandler {
  const facilitator = new HTTPFacilitatorClient({ url: facilitatorUrl, timeoutMs: FACILITATOR_MS_MAX })
  return async (request, response, next) => {
    const url = `${request.protocol}://${request.headers.host}${request.originalUrl}`
    const requirements = formatRequirements(chain, resource, url)
    const ask = (error: string): void => {
      response.status(402).json({ x402Version: 1, error, accepts: [requirements] })
    }
    const header = request.get('x-payment')
    if (header === undefined) return ask('X-PAYMENT header is required')
    const payload = readPayment(header)
    if (payload === null) return ask('invalid_payload')
    const wanted = requirements as unknown as PaymentRequirements
    const verified = await facilitator.verify(payload, wanted)
    if (!verified.isValid) return ask(verified.invalidReason ?? 'invalid_payload')
    const settle = async (): Promise<boolean> => {
      const settled = await facilitator.settle(payload, wanted).catch((error: unknown) => String(error))
      if (typeof settled === 'string') ask(settled)
      else if (!settled.success) ask(settled.errorReason ?? 'settle_failed')
      else response.setHeader('X-PAYMENT-RESPONSE', Buffer.from(JSON.stringify(settled)).toString('base64'))
      return typeof settled !== 'string' && settled.success
    }
    // With the flow `authorization`, the seller settles only if its program succeeds. If it fails, no money moves.
    if (resource.behaviour.flow === 'authorization' && resource.meets('handler_fails')) {
      response.status(500).json({ error: 'the goods could not be made' })
      return
    }
    if (await settle()) next()
  }
}

function formatRequirements(chain: SellerChain, resource: Resource, url: string): object {
  const { amount, payTo } = resource.terms()
  return {
    scheme: 'exact',
    network: chain.networkV1,
    maxAmountRequired: String(amount),
    resource: url,
    description: resource.description,
    mimeType: 'application/json',
    payTo,
    maxTimeoutSeconds: resource.behaviour.maxTimeoutSeconds,
    asset: chain.usdc,
    extra: { ...chain.domain },
  }
}

function readPayment(header: string): PaymentPayload | null {
  try {
    const payload: unknown = JSON.parse(Buffer.from(header, 'base64').toString('utf8'))
    const isVersion1 = typeof payload === 'object' && payload !== null && 'x402Version' in payload
    return isVersion1 && payload.x402Version === 1 ? (payload as unknown as PaymentPayload) : null
  } catch {
    return null
  }
}
