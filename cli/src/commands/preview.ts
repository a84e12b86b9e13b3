import type { Command } from 'commander'
import type { Cli, Run } from '../cli.ts'
import { choosePayer, type PayerOptions } from '../choose-payer.ts'
import { callService } from '../describe-error.ts'
import { addExamples } from '../describe-program.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { formatPreview } from '../format-preview.ts'
import { openService } from '../open-service.ts'
import { parseAddress, parseAmount } from '../parse-values.ts'
import { addPayerOptions } from './pay.ts'

export function addPreviewCommand(program: Command, run: Run): Command {
  const command = program
    .command('preview')
    .summary('Checks a payment without making it.')
    .description('Makes all checks of a payment, and pays nothing. Exit code 4 if the payment would be refused.')
    .argument('<to>', 'The address of the recipient.')
    .argument('<amount>', 'The amount in USDC, such as 1.25.')
  addPayerOptions(command).action(async (to: string, amount: string, options: PayerOptions, self: Command) => {
    await run(self, async (cli) => await preview(cli, { to: parseAddress(to), amount: parseAmount(amount) }, options))
  })
  return addExamples(command, [
    { command: 'bursar preview 0x90F79bf6EB2c4f870365E785982E1f101E93b906 1.25', effect: 'would this be allowed?' },
  ])
}

async function preview(
  cli: Cli,
  { to, amount }: { to: string; amount: string },
  chosen: PayerOptions,
): Promise<ExitCode> {
  const service = openService(await cli.settings())
  const { agentId, wallet } = await choosePayer(cli, service, chosen)
  const params = { agent_id: agentId, wallet, to, amount_usdc: amount }
  const found = await callService(cli, () => service.bursar.payments.preview(params, service.options))
  cli.output.answer({
    body: { preview: found },
    next: found.allowed ? cli.next('pay', to, amount, '--agent', agentId, '--wallet', wallet) : cli.next('wallets'),
    human: (paint) => formatPreview(found, paint),
  })
  return found.allowed ? EXIT.ok : EXIT.refused
}
