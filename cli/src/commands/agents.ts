import type { Agent } from 'bursar'
import type { Command } from 'commander'
import type { Run } from '../cli.ts'
import { callService } from '../describe-error.ts'
import { openService } from '../open-service.ts'
import { formatTable, type Column } from '../output/format-table.ts'
import type { Paint } from '../output/style.ts'

export function addAgentsCommand(program: Command, run: Run): Command {
  return program
    .command('agents')
    .summary('Lists the agents of the workspace.')
    .description('Lists the agents of the workspace, or shows one agent.')
    .argument('[id]', 'The agent to show.')
    .action(async (id: string | undefined, _options: object, self: Command) => {
      await run(self, async (cli) => {
        const { bursar, options } = openService(await cli.settings())
        if (id !== undefined) {
          const agent = await callService(cli, () => bursar.agents.get(id, options))
          cli.output.answer({
            body: { agent },
            next: cli.next('wallets'),
            human: (paint) => formatAgents([agent], paint),
          })
          return
        }
        const agents = await callService(cli, () => bursar.agents.list(options))
        cli.output.answer({
          body: { agents },
          next: cli.next('wallets'),
          human: (paint) => formatAgents(agents, paint),
        })
      })
    })
}

const COLUMNS: readonly Column<Agent>[] = [
  { title: 'AGENT', value: ({ id }) => id },
  {
    title: 'STATUS',
    value: ({ status }) => (status === 'active' ? 'active' : 'no grant'),
    paint: ({ status }) => (status === 'active' ? 'green' : 'yellow'),
  },
  { title: 'GRANTS', value: ({ active_signers: active }) => String(active), alignRight: true },
  { title: 'TO SIGN', value: ({ pending_signers: pending }) => String(pending), alignRight: true },
  { title: 'CREATED', value: ({ created_at: at }) => at },
]

function formatAgents(agents: readonly Agent[], paint: Paint): string {
  return agents.length === 0 ? 'There are no agents yet.\n' : formatTable(COLUMNS, agents, paint)
}
