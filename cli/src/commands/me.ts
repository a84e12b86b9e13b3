import type { Command } from 'commander'
import type { Run } from '../cli.ts'
import { callService } from '../describe-error.ts'
import { openService } from '../open-service.ts'
import { formatPairs, formatTable } from '../output/format-table.ts'

export function addMeCommand(program: Command, run: Run): Command {
  return program
    .command('me')
    .summary('Shows who you are to the service.')
    .description(
      'Shows the workspace, mode, agent and scopes of your credential, and the wallets that it can pay from now.',
    )
    .action(async (_options: object, self: Command) => {
      await run(self, async (cli) => {
        const settings = await cli.settings()
        const { bursar, options } = openService(settings)
        const me = await callService(cli, () => bursar.me(options))
        cli.output.answer({
          body: { url: settings.baseUrl, me },
          next: cli.next('wallets'),
          human: (paint) => {
            const about = formatPairs(
              [
                ['Service', settings.baseUrl],
                ['Workspace', me.account_name],
                ['Mode', me.mode === 'live' ? 'live: real money' : 'test: money without value'],
                ['Credential', me.auth_type === 'api_key' ? 'API key' : 'access token'],
                ['Agent', me.agent_id ?? 'any agent of the workspace'],
                ['Scopes', me.scopes.join(' ')],
                ['Expires', me.expires_at],
              ],
              paint,
            )
            if (me.wallets.length === 0) return `${about}\nThere is no wallet from which you can pay now.\n`
            const table = formatTable(
              [
                { title: 'WALLET', value: ({ address }) => address },
                { title: 'AGENT', value: ({ agent_id: agentId }) => agentId ?? me.agent_id ?? '' },
                { title: 'EACH PAYMENT', value: ({ max_per_tx_usdc: max }) => max, alignRight: true },
                { title: 'IN 24 HOURS', value: ({ daily_cap_usdc: cap }) => cap, alignRight: true },
              ],
              me.wallets,
              paint,
            )
            return `${about}\n${table}`
          },
        })
      })
    })
}
