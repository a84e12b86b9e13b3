import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { RequestHandler } from 'express'
import { evm, Mppx } from 'mppx/server'
import { formatUnits } from 'viem/utils'
import { usdcBytesAbi } from '../chain/usdc-abi.ts'
import type { Resource } from './resource.ts'
import type { SellerChain } from './seller-chain.ts'

const USDC_DECIMALS = 6
const SECRET_BYTES = 32
/** Signs the challenges. A challenge from before the seller's last start is not valid any more. */
const secretKey = randomBytes(SECRET_BYTES).toString('hex')

/**
 * Returns a handler that asks to be paid by MPP (`evm`/`charge`), with the unchanged package mppx. The money moves
 * before the goods are made.
 */
export function sellByMpp(chain: SellerChain, resource: Resource): RequestHandler {
  return async (request, response, next) => {
    const url = `${request.protocol}://${request.headers.host}${request.originalUrl}`
    const { amount, payTo } = resource.terms()
    const { protocol } = resource.behaviour
    const requiresAuth = protocol === 'mpp_beside_bearer'
    if (requiresAuth && request.get('authorization')?.startsWith('Bearer ') !== true) {
      response.status(401).setHeader('WWW-Authenticate', 'Bearer').json({ error: 'a bearer token is required' })
      return
    }
    const seller = Mppx.create({
      realm: String(request.headers.host),
      secretKey,
      requiresAuth,
      methods: [
        evm.charge({
          currency: chain.usdc,
          chainId: chain.chainId,
          decimals: USDC_DECIMALS,
          recipient: payTo,
          authorization: { ...chain.domain },
          settle: async ({ payload }) => ({ reference: await settle(chain, resource, payload as Payment) }),
        }),
      ],
    })
    const charge = seller.charge({ amount: formatUnits(amount, USDC_DECIMALS), description: resource.description })
    const headers = readHeaders(request.rawHeaders)
    // In mppx 0.11.0, a challenge of the method `evm` names the other header, but the payment is read in this one only.
    if (requiresAuth) headers.set('authorization', headers.get('payment-authorization') ?? '')
    const result = await charge(new Request(url, { method: request.method, headers }))
    const answer = result.status === 402 ? result.challenge : result.withReceipt(new Response(null))
    if (protocol !== 'mpp_and_x402') answer.headers.delete('PAYMENT-REQUIRED')
    for (const [name, value] of answer.headers) response.setHeader(name, value)
    if (result.status === 402) response.status(answer.status).send(Buffer.from(await answer.arrayBuffer()))
    else next()
  }
}

interface Payment {
  readonly from: `0x${string}`
  readonly to: `0x${string}`
  readonly value: string
  readonly validAfter: string
  readonly validBefore: string
  readonly nonce: `0x${string}`
  readonly signature: `0x${string}`
}

/** Submits a payment, and returns the transaction's hash. Applies the same faults as for x402. */
async function settle(chain: SellerChain, resource: Resource, payment: Payment): Promise<`0x${string}`> {
  if (resource.meets('settle_fails')) throw new Error('the node is down')
  if (resource.meets('settle_late')) await delay(resource.behaviour.delayMs)
  const { from, to, value, validAfter, validBefore, nonce, signature } = payment
  const args = [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce, signature] as const
  const call = { address: chain.usdc, abi: usdcBytesAbi, functionName: 'transferWithAuthorization', args } as const
  // The simulation rejects a payment that would revert, like a node that estimates the gas before it sends.
  await chain.client.simulateContract(call)
  const hash = await chain.write(call)
  resource.count('settlements')
  const receipt = await chain.waitForReceipt(hash)
  if (receipt.status !== 'success') throw new Error('the transfer reverted')
  if (resource.meets('receipt_wait_fails') || resource.meets('settle_answer_lost')) {
    throw new Error('the node did not respond')
  }
  return hash
}

function readHeaders(raw: readonly string[]): Headers {
  const headers = new Headers()
  for (let index = 0; index + 1 < raw.length; index += 2) headers.append(String(raw[index]), String(raw[index + 1]))
  return headers
}
