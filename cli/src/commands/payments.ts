import { writeFile } from 'node:fs/promises'
import type { Command } from 'commander'
import type { Run } from '../cli.ts'
import { callService } from '../describe-error.ts'
import { addExamples } from '../describe-program.ts'
import { exitOfPayment, formatPayment, nextOfPayment } from '../format-payment.ts'
import { EXIT } from '../exit-codes.ts'
import { openService } from '../open-service.ts'
import { cleanBlock, cleanLine } from '../output/clean-text.ts'
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
  const evidence = payments
    .command('evidence')
    .description(
      'Writes the file that proves who allowed a payment to standard output, unchanged. It exists when the payment is confirmed or has failed, about seven minutes after the owner of the wallet has signed.',
    )
    .argument('<id>', 'The payment, pay_….')
    .option('-o, --output <file>', 'Writes to this file.')
  evidence.action(async (id: string, { output: file }: { readonly output?: string }, self: Command) => {
    await run(self, async (cli) => {
      const service = openService(await cli.settings())
      const text = await callService(cli, () => service.bursar.payments.evidence(id, service.options))
      if (file === undefined) {
        cli.output.bytes(cli.output.isTerminal ? `${cleanBlock(text)}\n` : text)
        return EXIT.ok
      }
      await writeFile(file, text)
      cli.output.answer({ body: { payment: id, output: file }, next: null, human: () => `Wrote ${cleanLine(file)}.\n` })
      return EXIT.ok
    })
  })
  addExamples(evidence, [
    { command: 'bursar payments evidence pay_01K5… --output evidence.json', effect: 'who allowed the payment?' },
  ])
  return payments
}
