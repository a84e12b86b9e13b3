import { fetchOnce } from '../lib/fetch-once.ts'
import type { Seller } from '../processes/seller.ts'
import type { Behaviour } from '../seller/behaviour.ts'

export interface SellerControl {
  /** Creates a resource. Starts the seller if it is not running yet. Returns the resource in the seller's JSON form. */
  createResource(behaviour: Behaviour): Promise<object>
  /** Returns a resource with its counters, or null. */
  findResource(id: string): Promise<object | null>
}

/** The time limit for a response of the seller. The seller runs on this machine, so it normally responds at once. */
const ANSWER_MS_MAX = 5_000

export function connectSellerControl({
  url,
  token,
  seller,
}: {
  url: string
  token: string
  seller: Seller
}): SellerControl {
  const call = async (path: string, request: RequestInit): Promise<Response> => {
    await seller.start()
    return await fetchOnce(`${url}/control${path}`, { ...request, signal: AbortSignal.timeout(ANSWER_MS_MAX) })
  }
  const read = async (response: Response): Promise<object> => {
    if (response.ok) return (await response.json()) as object
    throw new Error(`the seller's control endpoint responded with ${response.status}: ${await response.text()}`)
  }
  const authorized = { 'x-seller-control': token }
  return {
    createResource: async (behaviour) => {
      const headers = { 'content-type': 'application/json', ...authorized }
      return await read(await call('/resources', { method: 'POST', headers, body: JSON.stringify(behaviour) }))
    },
    findResource: async (id) => {
      const response = await call(`/resources/${encodeURIComponent(id)}`, { headers: authorized })
      return response.status === 404 ? null : await read(response)
    },
  }
}
