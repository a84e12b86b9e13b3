import type { Address } from '../values/address.ts'
import { formatAddressTopic } from './transfer-event.ts'

/** The most addresses in one filter for logs. Nodes reject filters with many more. */
const ADDRESSES_PER_FILTER_MAX = 100
/**
 * The most addresses in one read. A read with so many addresses has ten filters in one batch. A filter costs a node
 * about as much as a hundred other calls.
 */
export const ADDRESSES_PER_READ_MAX = 1_000

/** Formats addresses as topics, split into lists that are short enough for one filter each. */
export function splitAddressTopics(addresses: readonly Address[]): (readonly string[])[] {
  if (addresses.length > ADDRESSES_PER_READ_MAX) throw new RangeError('too many addresses at once')
  const topics = addresses.map(formatAddressTopic)
  return Array.from({ length: Math.ceil(topics.length / ADDRESSES_PER_FILTER_MAX) }, (_, index) =>
    topics.slice(index * ADDRESSES_PER_FILTER_MAX, (index + 1) * ADDRESSES_PER_FILTER_MAX),
  )
}
