import { setTimeout as delay } from 'node:timers/promises'
import { fetchOnce } from '../../sandbox/src/lib/fetch-once.ts'
import { answerJson, startFakeServer } from '../../test/support/wires/fake-server.ts'

/** A fault of a node: it cannot be reached, responds with an error, responds late or not at all, or has no new blocks. */
export const RPC_FAULTS = ['down', '500', '429', 'slow', 'hanging', 'stale head'] as const
export type RpcFault = (typeof RPC_FAULTS)[number]

export interface RpcProxy {
  readonly url: string
  setFault(fault: RpcFault | null): void
  close(): Promise<void>
}

interface Call {
  readonly id: number
  readonly method: string
}

interface Answer {
  readonly id: number
  result?: string | null
}

const SLOW_MS = 8_000

/** Starts a proxy in front of a chain's node. */
export async function startRpcProxy(nodeUrl: string): Promise<RpcProxy> {
  let fault: RpcFault | null = null
  let head: string | null = null
  const server = await startFakeServer((request, body, response) => {
    if (fault === 'down') request.socket.destroy()
    else if (fault === '500' || fault === '429') answerJson(response, {}, Number(fault))
    else if (fault !== 'hanging')
      void forward(body).then(
        (text) => response.end(text),
        () => response.destroy(),
      )
  })

  async function forward(body: string): Promise<string> {
    if (fault === 'slow') await delay(SLOW_MS)
    const response = await fetchOnce(nodeUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const answers = (await response.json()) as Answer | Answer[]
    if (fault !== 'stale head') head = null
    const asked = [JSON.parse(body) as Call | Call[]].flat()
    for (const answer of [answers].flat()) {
      const isHead = asked.find(({ id }) => id === answer.id)?.method === 'eth_blockNumber'
      if (fault === 'stale head' && isHead) answer.result = head ??= answer.result ?? null
    }
    return JSON.stringify(answers)
  }

  return {
    url: server.url,
    setFault: (next) => {
      fault = next
    },
    close: () => server.close(),
  }
}
