import type { Command } from 'commander'
import type { Run } from '../cli.ts'
import { callService } from '../describe-error.ts'
import { addExamples } from '../describe-program.ts'
import { exitOfPayment, formatPayment, nextOfPayment } from '../format-payment.ts'
import { openService } from '../open-service.ts'
import { addWaitOption, parseWait, waitForPayment, type WaitOption } from './wait-for-payment.ts'

export function addPaymentsCommand(program: Command, run: Run): Command {
  const payments = program.command('payments').description('Shows payments. To list them, use `bursar ledger`.')
  const get = payments
    .command('get')
    .description('Shows a payment. Exit code 1 if it has failed.')
    .argument('<id>', 'The payment, pay_….')
  addWaitOption(get).action(async (id: string, { wait }: WaitOption, self: Command) => {
    await run(self, async (cli) => {
      const waitMs = parseWait(wait)
      const service = openService(await cli.settings())
      const found = await callService(cli, () => service.bursar.payments.get(id, service.options))
      const payment = waitMs === null ? found : await waitForPayment(cli, service, { payment: found, waitMs })
      cli.output.answer({
        body: { payment },
        next: nextOfPayment(payment, cli),
        human: (paint) => formatPayment(payment, paint),
      })
      return exitOfPayment(payment)
    })
  })
  addExamples(get, [
    { command: 'bursar payments get pay_01K5… --wait 60', effect: 'wait up to a minute for the outcome' },
  ])
  return payments
}
