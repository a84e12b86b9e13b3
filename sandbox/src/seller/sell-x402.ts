import { HTTPFacilitatorClient, x402ResourceServer } from '@x402/core/server'
import { ExactEvmScheme } from '@x402/evm/exact/server'
import { paymentMiddleware } from '@x402/express'
import { createEIP712OfferReceiptIssuer, createOfferReceiptExtension } from '@x402/extensions/offer-receipt'
import type { RequestHandler, Response } from 'express'
import type { OfferKind } from './behaviour.ts'
import { FACILITATOR_MS_MAX, SHORT_FACILITATOR_MS_MAX } from './limits.ts'
import type { Resource } from './resource.ts'
import type { SellerChain } from './seller-chain.ts'
import { shopAccount } from './shop.ts'

type Offer = Readonly<Record<string, unknown>> & { readonly extra?: Readonly<Record<string, unknown>> }

const OFFER_HEADER = 'PAYMENT-REQUIRED'
/** A contract that is not USDC. */
const FOREIGN_ASSET = '0x4200000000000000000000000000000000000006'
const GATEWAY_WALLET = '0x77777777Dcc4d5A8B6E418Fd04D8997ef11000eE'

/** The offers that a payer must skip. Each one is made from the seller's own offer. */
const OTHER_OFFERS: Readonly<Record<Exclude<OfferKind, 'own'>, (own: Offer) => Offer>> = {
  gateway: (own) => ({
    ...own,
    extra: { ...own.extra, name: 'GatewayWalletBatched', version: '1', verifyingContract: GATEWAY_WALLET },
  }),
  permit2: (own) => ({ ...own, extra: { ...own.extra, assetTransferMethod: 'permit2' } }),
  foreign_asset: (own) => ({ ...own, asset: FOREIGN_ASSET }),
  foreign_network: (own) => ({ ...own, network: 'eip155:137' }),
  unknown_flow: (own) => ({ ...own, extra: { ...own.extra, paymentFlow: 'escrow' } }),
  unknown_scheme: (own) => ({ ...own, scheme: 'upto' }),
  other_domain: (own) => ({ ...own, extra: { ...own.extra, name: 'USDC Coin' } }),
}

/** Signs offers and receipts, for resources that declare this extension. They are paid to the account that signs. */
const issuer = createEIP712OfferReceiptIssuer(`did:pkh:eip155:1:${shopAccount.address}`, (typed) =>
  shopAccount.signTypedData(typed),
)

/**
 * Returns a handler that asks to be paid with x402 version 2. It uses the unchanged packages of the x402 project.
 */
export function sellByX402(chain: SellerChain, resource: Resource, facilitatorUrl: string): RequestHandler {
  const { behaviour } = resource
  const facilitator = new HTTPFacilitatorClient({ url: facilitatorUrl, timeoutMs: FACILITATOR_MS_MAX })
  if (behaviour.faults.includes('settle_late')) {
    const impatient = new HTTPFacilitatorClient({ url: facilitatorUrl, timeoutMs: SHORT_FACILITATOR_MS_MAX })
    facilitator.settle = (payload, requirements) => impatient.settle(payload, requirements)
  }
  const server = new x402ResourceServer(facilitator)
  server.register(chain.network, new ExactEvmScheme())
  server.registerExtension(createOfferReceiptExtension(issuer))
  const accepts = {
    scheme: 'exact',
    network: chain.network,
    payTo: () => resource.terms().payTo,
    price: () => ({ asset: chain.usdc, amount: String(resource.terms().amount), extra: { ...chain.domain } }),
    maxTimeoutSeconds: behaviour.maxTimeoutSeconds,
    ...(behaviour.flow === 'upfront' ? { extra: { paymentFlow: 'upfront' } } : {}),
  }
  const { description, extensions } = resource
  const route = { accepts, description, mimeType: 'application/json', extensions: { ...extensions } }
  const middleware = paymentMiddleware(route, server)
  return async (request, response, next) => {
    changeOffers(response, behaviour.offers)
    await middleware(request, response, next)
  }
}

/**
 * The middleware sets a header that contains the seller's own offer. This function adds other offers to the header, or
 * removes the seller's own offer from it.
 */
function changeOffers(response: Response, kinds: readonly OfferKind[]): void {
  if (kinds.length === 1 && kinds[0] === 'own') return
  const setHeader = response.setHeader.bind(response)
  response.setHeader = (name, value) =>
    setHeader(name, name.toUpperCase() === OFFER_HEADER ? rewriteOffers(String(value), kinds) : value)
}

function rewriteOffers(header: string, kinds: readonly OfferKind[]): string {
  const required = JSON.parse(Buffer.from(header, 'base64').toString('utf8')) as { readonly accepts: readonly Offer[] }
  const accepts = required.accepts.flatMap((own) =>
    kinds.map((kind) => (kind === 'own' ? own : OTHER_OFFERS[kind](own))),
  )
  return Buffer.from(JSON.stringify({ ...required, accepts })).toString('base64')
}
