import type { LedgerEntry, ListLedgerParams } from 'bursar'
import type { Command } from 'commander'
import type { Cli, Run } from '../cli.ts'
import { callService } from '../describe-error.ts'
import { addExamples } from '../describe-program.ts'
import { openService } from '../open-service.ts'
import { formatTable, type Column } from '../output/format-table.ts'
import { parseAddress, parseCount, parseList, parseTime } from '../parse-values.ts'
import { resolveTime } from '../resolve-time.ts'

const TYPES = ['payment', 'deposit', 'withdrawal']
const LIMIT = 20
const LIMIT_MAX = 10_000
/** The service returns at most this many entries in one page. */
const PAGE_MAX = 100

interface LedgerOptions {
  readonly limit?: string
  readonly type?: string
  readonly agent?: string
  readonly wallet?: string
  readonly since?: string
  readonly until?: string
  readonly startingAfter?: string
}

export function addLedgerCommand(program: Command, run: Run): Command {
  const command = program
    .command('ledger')
    .summary('Lists payments, deposits and withdrawals.')
    .description('Lists payments, deposits and withdrawals, newest first. Pending and failed payments are listed too.')
    .option('--limit <count>', `Lists at most this many entries. The default is ${LIMIT}, the maximum ${LIMIT_MAX}.`)
    .option('--type <types>', `Only these types, separated by commas: ${TYPES.join(', ')}.`)
    .option('--agent <id>', 'Only payments of this agent.')
    .option('--wallet <address>', 'Only entries of this wallet.')
    .option('--since <time>', 'Only entries since this time: ISO 8601, or how long ago, such as 90s, 15m, 2h or 7d.')
    .option('--until <time>', 'Only entries before this time.')
    .option('--starting-after <id>', 'Continues after this entry.')
    .action(async (options: LedgerOptions, self: Command) => {
      await run(self, async (cli) => await listLedger(cli, options))
    })
  return addExamples(command, [
    { command: 'bursar ledger --since 24h --type payment', effect: 'the payments of the last day' },
    { command: "bursar ledger --limit 10000 --json | jq -r '.entries[].amount_usdc'", effect: 'only the amounts' },
  ])
}

async function listLedger(cli: Cli, options: LedgerOptions): Promise<void> {
  const limit = parseCount(options.limit ?? String(LIMIT), { name: '--limit', min: 1, max: LIMIT_MAX })
  const filter = toParams(options, limit)
  const [since, until] = [options.since, options.until].map((text) => (text === undefined ? null : parseTime(text)))
  const service = openService(await cli.settings())
  const params: ListLedgerParams = {
    ...filter,
    ...(since ? { created_after: (await resolveTime(cli, service, since)).toISOString() } : {}),
    ...(until ? { created_before: (await resolveTime(cli, service, until)).toISOString() } : {}),
  }
  const entries = await callService(cli, async () => {
    const found: LedgerEntry[] = []
    for await (const entry of service.bursar.ledger.list(params, service.options)) {
      found.push(entry)
      if (found.length > limit) break
    }
    return found
  })
  const shown = entries.slice(0, limit)
  const hasMore = entries.length > limit
  const last = shown.at(-1)
  cli.output.answer({
    body: { entries: shown, has_more: hasMore },
    next: hasMore && last !== undefined ? cli.next('ledger', ...repeat(options), '--starting-after', last.id) : null,
    human: (paint) => (shown.length === 0 ? 'There are no entries.\n' : formatTable(COLUMNS, shown, paint)),
  })
}

function toParams(options: LedgerOptions, limit: number): ListLedgerParams {
  const { type, agent, wallet, startingAfter } = options
  return {
    // One entry more than is shown, to find out whether there are more.
    limit: Math.min(limit + 1, PAGE_MAX),
    ...(type === undefined ? {} : { type: parseList(type, TYPES, '--type').join(',') }),
    ...(agent === undefined ? {} : { agent_id: agent }),
    ...(wallet === undefined ? {} : { wallet: parseAddress(wallet) }),
    ...(startingAfter === undefined ? {} : { starting_after: startingAfter }),
  }
}

/** The options of this call, for the command that lists the next entries. */
function repeat({ limit, type, agent, wallet, since, until }: LedgerOptions): string[] {
  const given = { limit, type, agent, wallet, since, until }
  return Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value]))
}

const COLUMNS: readonly Column<LedgerEntry>[] = [
  { title: 'TIME', value: ({ created_at: at }) => at.replace('T', ' ').replace(/\.\d+Z$/, '') },
  { title: 'TYPE', value: ({ type }) => type },
  {
    title: 'USDC',
    value: ({ direction, amount_usdc: amount }) => (direction === 'in' ? `+${amount}` : `-${amount}`),
    alignRight: true,
    paint: ({ direction, status }) => (status === 'failed' ? 'dim' : direction === 'in' ? 'green' : null),
  },
  {
    title: 'STATUS',
    value: ({ status, failure_code: code }) => (code === null ? status : `${status}: ${code}`),
    paint: ({ status }) => ({ confirmed: 'green', pending: 'yellow', failed: 'red' } as const)[status],
  },
  { title: 'WITH', value: ({ direction, from, to }) => (direction === 'in' ? from : to) },
  { title: 'AGENT', value: ({ agent_id: agent }) => agent ?? '' },
  { title: 'ID', value: ({ id }) => id },
  { title: 'MEMO', value: ({ memo }) => memo ?? '' },
]
