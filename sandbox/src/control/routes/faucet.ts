import type { HttpServer } from '../../../../server/src/http/open-http.ts'
import { Fields } from '../fields.ts'
import { fund, fundCoin } from '../fund.ts'
import type { ControlContext } from '../control-context.ts'

export function addFaucetRoutes(http: HttpServer, control: ControlContext): void {
  http.post('/faucet', async (request, reply) => {
    const fields = new Fields(request.body)
    const payee = { mode: fields.mode(), to: fields.address('address') }
    if (fields.has('amount_coin')) {
      await fundCoin(control, { ...payee, amountWei: fields.coin('amount_coin') })
      return reply.code(201).send({ tx_hash: null })
    }
    return reply
      .code(201)
      .send({ tx_hash: await fund(control, { ...payee, amountMicro: fields.amount('amount_usdc') }) })
  })
}
