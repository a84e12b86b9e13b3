import type { MicroUsdc } from '../values/money.ts'
import { PURCHASE_PROTOCOLS, type Offer, type PaymentRequired } from './payment-required.ts'

export type OfferChoice =
  | { readonly kind: 'chosen'; readonly offer: Offer }
  /** Every offer that we can pay is above the maximum. */
  | { readonly kind: 'too_expensive'; readonly cheapest: Offer }
  | { readonly kind: 'none' }

/** Chooses the offer that is paid: the best one of those that we can pay, if it is within the maximum. */
export function chooseOffer(
  { offers: [best] }: Pick<PaymentRequired, 'offers'>,
  { maxAmountMicro }: { maxAmountMicro: MicroUsdc },
): OfferChoice {
  if (best === undefined) return { kind: 'none' }
  return best.amountMicro > maxAmountMicro ? { kind: 'too_expensive', cheapest: best } : { kind: 'chosen', offer: best }
}

/**
 * Sorts offers of all protocols, the best first (D65). The lowest amount comes first. Of equal amounts, an offer with
 * the flow `authorization` comes first, because it costs nothing if the seller fails before its goods are ready. After
 * that, the order of the protocols decides, and then the order in which the seller wrote them.
 */
export function rankOffers(offers: readonly Offer[]): readonly Offer[] {
  return offers.toSorted(
    (one, other) =>
      compareAmounts(one, other) ||
      rankOf(one) - rankOf(other) ||
      PURCHASE_PROTOCOLS.indexOf(one.protocol) - PURCHASE_PROTOCOLS.indexOf(other.protocol),
  )
}

function compareAmounts({ amountMicro: one }: Offer, { amountMicro: other }: Offer): number {
  return one === other ? 0 : one < other ? -1 : 1
}

function rankOf({ flow }: Offer): number {
  return flow === 'authorization' ? 0 : 1
}
