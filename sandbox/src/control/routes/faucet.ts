import type { HttpServer } from '../../../../server/src/http/open-http.ts'
import { Fields } from '../fields.ts'
import { fund } from '../fund.ts'
import type { World } from '../world.ts'

export function addFaucetRoutes(http: HttpServer, world: World): void {
  http.post('/faucet', async (request, reply) => {
    const fields = new Fields(request.body)
    const order = { mode: fields.mode(), to: fields.address('address'), amountMicro: fields.amount('amount_usdc') }
    return reply.code(201).send({ tx_hash: await fund(world, order) })
  })
}
