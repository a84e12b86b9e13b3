import type { MicroUsdc } from '../values/money.ts'
import type { Offer, PaymentRequired } from './payment-required.ts'

export type OfferChoice =
  | { readonly kind: 'chosen'; readonly offer: Offer }
  /** Every offer that we can pay is above the maximum. */
  | { readonly kind: 'too_expensive'; readonly cheapest: Offer }
  | { readonly kind: 'none' }

/**
 * Chooses the offer that is paid. Offers with the flow `authorization` come first, because they cost nothing if the
 * seller fails before its goods are ready. Within a flow, the lowest amount comes first. Of equal offers, chooses the
 * first.
 */
export function chooseOffer(
  { offers }: Pick<PaymentRequired, 'offers'>,
  { maxAmountMicro }: { maxAmountMicro: MicroUsdc },
): OfferChoice {
  const [cheapest] = offers.toSorted(compareAmounts)
  if (cheapest === undefined) return { kind: 'none' }
  const [offer] = offers
    .filter(({ amountMicro }) => amountMicro <= maxAmountMicro)
    .toSorted((one, other) => rankOf(one) - rankOf(other) || compareAmounts(one, other))
  return offer === undefined ? { kind: 'too_expensive', cheapest } : { kind: 'chosen', offer }
}

function compareAmounts({ amountMicro: one }: Offer, { amountMicro: other }: Offer): number {
  return one === other ? 0 : one < other ? -1 : 1
}

function rankOf({ flow }: Offer): number {
  return flow === 'authorization' ? 0 : 1
}
