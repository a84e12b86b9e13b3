import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import type { Cli, Run } from '../cli.ts'
import { usageError } from '../cli-error.ts'
import { choosePayer, type PayerOptions } from '../choose-payer.ts'
import { callService } from '../describe-error.ts'
import { addExamples } from '../describe-program.ts'
import type { ExitCode } from '../exit-codes.ts'
import { exitOfPayment, formatPayment, nextOfPayment } from '../format-payment.ts'
import { openService } from '../open-service.ts'
import { formatCommand } from '../output/format-command.ts'
import { parseAddress, parseAmount, parseKey } from '../parse-values.ts'
import { addWaitOption, parseWait, waitForPayment, type WaitOption } from './wait-for-payment.ts'

interface PayOptions extends PayerOptions, KeyOptions, WaitOption {
  readonly memo?: string
}

/** The two options for the idempotency key. They mean the same. */
export interface KeyOptions {
  readonly idempotencyKey?: string
  readonly purchaseId?: string
}

export function addPayCommand(program: Command, run: Run): Command {
  const command = program
    .command('pay')
    .summary('Sends USDC to an address.')
    .description(
      'Sends USDC from a wallet to an address, within the limits that the owner of the wallet has signed. Repeating the command with the same idempotency key never pays twice.',
    )
    .argument('<to>', 'The address of the recipient.')
    .argument('<amount>', 'The amount in USDC, such as 1.25.')
  addPayerOptions(command)
  addKeyOptions(command)
  addWaitOption(command)
    .option('--memo <text>', 'A note that is stored with the payment, up to 200 characters.')
    .action(async (to: string, amount: string, options: PayOptions, self: Command) => {
      await run(self, async (cli) => await pay(cli, { to: parseAddress(to), amount: parseAmount(amount) }, options))
    })
  return addExamples(command, [
    {
      command: 'bursar pay 0x90F79bf6EB2c4f870365E785982E1f101E93b906 1.25 --wait',
      effect: 'pay, and wait until the chain has confirmed it',
    },
    {
      command: 'bursar pay 0x90F79bf6EB2c4f870365E785982E1f101E93b906 1.25 --idempotency-key invoice-17',
      effect: 'pay an invoice once, however often this runs',
    },
  ])
}

export function addPayerOptions(command: Command): Command {
  return command
    .option('--agent <id>', 'The agent that pays. Not needed if the credential can pay as one agent only.')
    .option('--wallet <address>', 'The wallet to pay from. Not needed if the agent can pay from one wallet only.')
}

export function addKeyOptions(command: Command): Command {
  return command
    .option('--idempotency-key <key>', 'The name of this payment, 1 to 64 characters. One is made if you give none.')
    .option('--purchase-id <key>', 'The same as --idempotency-key. The MCP tools use this name.')
}

/** Returns the idempotency key, and whether this function generated it. */
export function chooseKey({ idempotencyKey, purchaseId }: KeyOptions): {
  readonly key: string
  readonly isMade: boolean
} {
  if (idempotencyKey !== undefined && purchaseId !== undefined) {
    throw usageError('--idempotency-key and --purchase-id are the same. Use one of them.')
  }
  const given = idempotencyKey ?? purchaseId
  return given === undefined ? { key: `cli-${randomUUID()}`, isMade: true } : { key: parseKey(given), isMade: false }
}

/**
 * Writes a generated idempotency key. Must be called before the payment is sent, so that the payment can be repeated
 * safely even if this program is killed.
 */
export function announceKey({ output }: Cli, key: string, retry: readonly string[]): void {
  output.notice(
    { sending: { idempotency_key: key }, next: retry },
    `Idempotency key: ${key}\nTo repeat this safely: ${formatCommand(retry)}`,
  )
}

async function pay(cli: Cli, { to, amount }: { to: string; amount: string }, options: PayOptions): Promise<ExitCode> {
  const { key, isMade } = chooseKey(options)
  const waitMs = parseWait(options.wait)
  const service = openService(await cli.settings())
  const { agentId, wallet } = await choosePayer(cli, service, options)
  const { memo } = options
  const retry = cli.next(
    ...['pay', to, amount, '--agent', agentId, '--wallet', wallet],
    ...(memo === undefined ? [] : ['--memo', memo]),
    ...['--idempotency-key', key],
  )
  if (isMade) announceKey(cli, key, retry)
  const params = {
    agent_id: agentId,
    wallet,
    to,
    amount_usdc: amount,
    idempotency_key: key,
    ...(memo === undefined ? {} : { memo }),
  }
  const { data: created, isReplay } = await callService(
    cli,
    () => service.bursar.payments.create(params, service.options).withResponse(),
    { retry },
  )
  const payment = waitMs === null ? created : await waitForPayment(cli, service, { payment: created, waitMs })
  cli.output.answer({
    body: { payment, replayed: isReplay },
    next: nextOfPayment(payment, cli),
    human: (paint) => {
      const note = isReplay ? `${paint('yellow', 'This payment exists already. Nothing more was paid.')}\n` : ''
      return note + formatPayment(payment, paint)
    },
  })
  return exitOfPayment(payment)
}
