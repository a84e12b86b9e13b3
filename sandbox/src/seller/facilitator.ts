import { setTimeout as delay } from 'node:timers/promises'
import { x402Facilitator } from '@x402/core/facilitator'
import type { Network, PaymentPayload, PaymentRequirements } from '@x402/core/types'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/facilitator'
import { ExactEvmSchemeV1 } from '@x402/evm/exact/v1/facilitator'
import express, { type Response, type Router } from 'express'
import type { Resource } from './resource.ts'
import { facilitatorAccount, type SellerChain } from './seller-chain.ts'

/** The body of `/verify` and `/settle`. */
interface Order {
  readonly paymentPayload: PaymentPayload
  readonly paymentRequirements: PaymentRequirements
}

/**
 * Creates the facilitator of one resource: the unchanged facilitator of the x402 project. It checks payments and
 * submits them to the chain. Each resource has its own facilitator, so that a fault of one resource does not affect
 * another.
 */
export function createFacilitator(chain: SellerChain, resource: Resource): Router {
  const facilitator = new x402Facilitator()
  const signer = toFacilitatorEvmSigner(createSigner(chain, resource))
  facilitator.register(chain.network, new ExactEvmScheme(signer))
  // The package's type for networks has only the names of version 2.
  facilitator.registerV1(chain.networkV1 as Network, new ExactEvmSchemeV1(signer))
  const router = express.Router()
  router.use(express.json())
  router.get('/supported', (_, response) => void response.json(facilitator.getSupported()))
  router.post('/verify', async (request, response) => {
    const { paymentPayload, paymentRequirements } = request.body as Order
    response.json(await facilitator.verify(paymentPayload, paymentRequirements))
  })
  router.post('/settle', async (request, response) => {
    const { paymentPayload, paymentRequirements } = request.body as Order
    await settle(resource, response, () => facilitator.settle(paymentPayload, paymentRequirements))
  })
  return router
}

async function settle(resource: Resource, response: Response, submit: () => Promise<object>): Promise<void> {
  if (resource.meets('settle_fails')) {
    response.status(503).json({ error: 'the facilitator is down' })
    return
  }
  if (resource.meets('settle_late')) await delay(resource.behaviour.delayMs)
  const result = await submit()
  if (resource.meets('settle_answer_lost')) response.destroy()
  else response.json(result)
}

function createSigner(chain: SellerChain, resource: Resource): Parameters<typeof toFacilitatorEvmSigner>[0] {
  const { client } = chain
  return {
    address: facilitatorAccount.address,
    getCode: (of) => client.getCode(of),
    readContract: (call) => client.readContract(call),
    verifyTypedData: (signed) => client.verifyTypedData(signed as Parameters<typeof client.verifyTypedData>[0]),
    writeContract: async (call) => {
      const hash = await chain.write(call)
      resource.count('settlements')
      return hash
    },
    sendTransaction: ({ to, data }) => chain.send(to, data),
    waitForTransactionReceipt: async ({ hash }) => {
      const receipt = await chain.waitForReceipt(hash)
      if (resource.meets('receipt_wait_fails')) throw new Error('timed out while waiting for the receipt')
      return receipt
    },
  }
}
