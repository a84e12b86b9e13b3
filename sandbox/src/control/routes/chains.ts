import type { HttpServer } from '../../../../server/src/http/open-http.ts'
import type { Mode } from '../../addresses.ts'
import { MINE_BLOCKS_MAX, REORG_BLOCKS_MAX } from '../../chain/limit.ts'
import { Problem } from '../../../../server/src/values/problem.ts'
import { Fields } from '../fields.ts'
import type { ControlContext } from '../control-context.ts'

const FAILING_TRANSFERS_MAX = 1_000_000
/** 31 days, which is longer than the lifetime of anything that a test lets expire. */
const ADVANCE_SECONDS_MAX = 31 * 24 * 60 * 60
const MOVES = ['mining', 'mine', 'reorg', 'fail_transfers', 'advance_seconds'] as const

/**
 * Adds the route that makes a chain do what a real chain does now and then: pause, reorganize, or fail transfers. The
 * route also moves the chain's time, so that tests can let things expire on the chain.
 */
export function addChainRoutes(http: HttpServer, control: ControlContext): void {
  http.post('/chains/:mode', async (request) => {
    const mode = new Fields(request.params).mode()
    await move(control, mode, new Fields(request.body))
    return { block_number: await control.chains[mode].blockNumber() }
  })
}

async function move({ chains, enclave }: ControlContext, mode: Mode, fields: Fields): Promise<void> {
  const chain = chains[mode]
  switch (fields.only(MOVES)) {
    case 'mining':
      return chain.setMining(fields.flag('mining'))
    case 'mine':
      return await chain.mine(fields.integer('mine', { min: 1, max: MINE_BLOCKS_MAX }))
    case 'reorg': {
      const blocks = fields.integer('reorg', { min: 1, max: REORG_BLOCKS_MAX })
      if (blocks > (await chain.blockNumber()))
        throw new Problem('validation_failed', 'reorg is longer than the chain.')
      return await chain.reorg(blocks)
    }
    case 'advance_seconds':
      return await chain.advanceTime(fields.integer('advance_seconds', { min: 1, max: ADVANCE_SECONDS_MAX }))
    case 'fail_transfers':
      return await enclave.failTransfers(mode, fields.integer('fail_transfers', { min: 1, max: FAILING_TRANSFERS_MAX }))
  }
}
