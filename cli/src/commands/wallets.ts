import type { Wallet } from 'bursar'
import type { Command } from 'commander'
import type { Cli, Run } from '../cli.ts'
import { callService } from '../describe-error.ts'
import { openService, type Service } from '../open-service.ts'
import { cleanLine } from '../output/clean-text.ts'
import { formatTable, type Column } from '../output/format-table.ts'
import type { Paint } from '../output/style.ts'
import { parseAddress } from '../parse-values.ts'

export function addWalletsCommand(program: Command, run: Run): Command {
  return program
    .command('wallets')
    .summary('Shows the wallets, with what is left of their limits.')
    .description('Shows the wallets that you may see, their balances, and what each grant allows now.')
    .argument('[address]', 'The wallet to show.')
    .action(async (address: string | undefined, _options: object, self: Command) => {
      await run(self, async (cli) => {
        const chosen = address === undefined ? null : parseAddress(address)
        const service = openService(await cli.settings())
        if (chosen === null) return await list(cli, service)
        const wallet = await callService(cli, () => service.bursar.wallets.get(chosen, service.options))
        cli.output.answer({ body: { wallet }, next: null, human: (paint) => formatWallet(wallet, paint) })
      })
    })
}

async function list(cli: Cli, { bursar, options }: Service): Promise<void> {
  const wallets = await callService(cli, async () => {
    const found: Wallet[] = []
    for await (const wallet of bursar.wallets.list({}, options)) found.push(wallet)
    return found
  })
  cli.output.answer({
    body: { wallets },
    next: null,
    human: (paint) =>
      wallets.length === 0
        ? 'There is no wallet that you can see. The owner of a wallet gives an agent a grant in the dashboard.\n'
        : wallets.map((wallet) => formatWallet(wallet, paint)).join('\n'),
  })
}

type Grant = Wallet['grants'][number]

const COLUMNS: readonly Column<Grant>[] = [
  { title: '  AGENT', value: ({ agent_id: agentId }) => `  ${agentId}` },
  { title: 'STATE', value: ({ state }) => state, paint: ({ state }) => (state === 'active' ? 'green' : 'yellow') },
  { title: 'EACH PAYMENT', value: ({ max_per_tx_usdc: max }) => max, alignRight: true },
  { title: 'LEFT NOW', value: ({ remaining_24h_usdc: left }) => left, alignRight: true },
  { title: 'IN 24 HOURS', value: ({ daily_cap_usdc: cap }) => cap, alignRight: true },
  { title: 'BUYS', value: ({ x402 }) => (x402 ? 'yes' : 'no') },
  { title: 'RECIPIENTS', value: ({ recipients }) => formatRecipients(recipients) },
  { title: 'EXPIRES', value: ({ expires_at: at }) => at ?? 'never' },
]

function formatRecipients(recipients: Grant['recipients']): string {
  return recipients.length === 0 ? 'any' : recipients.map(({ address, label }) => label ?? address).join(', ')
}

function formatWallet({ address, name, mode, balance_usdc: balance, grants }: Wallet, paint: Paint): string {
  const amount = balance === null ? 'balance unknown now' : `${balance} USDC`
  const title = `${paint('bold', address)}  ${cleanLine(name)}  ${amount}${mode === 'test' ? ' (test)' : ''}\n`
  return title + (grants.length === 0 ? '  no grants\n' : formatTable(COLUMNS, grants, paint))
}
