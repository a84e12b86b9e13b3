import type { LoadRequest } from '../load.ts'
import { sendLoad, type Series } from '../measure.ts'
import type { BenchTarget } from '../seed.ts'
import type { Endpoint, World } from '../world.ts'
import { get, postPayment, shareOrders, type Length } from './requests.ts'

const FLOOR_READ = 'floor: one prepared select'
export const READ_ME = 'GET /v1/me'
export const FLOOR_PAY = 'floor: one durable transaction'
const FLOOR_PAY_SIGNED = 'floor: transaction, HTTP request, signature'

/** The series for reads through `/v1`. They are compared with a floor: one prepared select by primary key. */
export async function readSeries(
  world: World,
  length: Length,
  endpoints?: readonly Endpoint[],
): Promise<readonly Series[]> {
  const [floor, servers] = [await world.floor(), endpoints ?? [await world.server()]]
  const read = (name: string, toRequest: (target: BenchTarget) => LoadRequest, aim?: string): Series => ({
    name,
    kind: 'ours',
    floors: [FLOOR_READ],
    ...(aim === undefined ? {} : { aim }),
    endpoints: servers,
    prepare: sendLoad(async () => shareOrders(servers, world.targets.map(toRequest), length)),
  })
  return [
    floorSeries(world, floor, { name: FLOOR_READ, request: get('/read'), length }),
    read('GET /v1/agents/{id}', (target) => get(`/v1/agents/${target.agentId}`, target), '0.6'),
    read(READ_ME, (target) => get('/v1/me', target), '0.6'),
    read('GET /v1/payments/{id}, settled', (target) => get(`/v1/payments/${target.paymentId}`, target)),
  ]
}

/** The series for `POST /v1/payments`, which is compared with two floors. */
export async function paymentSeries(
  world: World,
  length: Length,
  endpoints?: readonly Endpoint[],
): Promise<readonly Series[]> {
  const [floor, servers] = [await world.floor(), endpoints ?? [await world.server()]]
  const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' } as const
  return [
    floorSeries(world, floor, { name: FLOOR_PAY, request: { ...request, path: '/pay' }, length }),
    floorSeries(world, floor, { name: FLOOR_PAY_SIGNED, request: { ...request, path: '/pay-signed' }, length }),
    {
      name: 'POST /v1/payments',
      kind: 'ours',
      floors: [FLOOR_PAY, FLOOR_PAY_SIGNED],
      aim: '0.5',
      endpoints: servers,
      prepare: sendLoad(async () => shareOrders(servers, world.targets.map(postPayment), length)),
    },
  ]
}

export function floorSeries(
  world: World,
  floor: Endpoint,
  { name, request, length }: { name: string; request: LoadRequest; length: Length },
): Series {
  const requests = world.targets.map(() => request)
  const prepare = sendLoad(async () => shareOrders([floor], requests, length))
  return { name, kind: 'floor', endpoints: [floor], prepare }
}
