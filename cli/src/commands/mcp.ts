import type { Command } from 'commander'
import type { Run } from '../cli.ts'
import { createServiceFetch, readToken } from '../credentials/service-fetch.ts'
import { addExamples } from '../describe-program.ts'
import { runBridge } from '../mcp/run-bridge.ts'
import { stopSignal } from '../signals.ts'

export function addMcpCommand(program: Command, run: Run): Command {
  const command = program
    .command('mcp')
    .summary('Connects an MCP host that has no OAuth.')
    .description(
      "Connects an agent host that starts MCP servers as programs. Passes the host's messages from standard input to the service's /mcp endpoint with your credential, and the responses to standard output, one JSON-RPC message in each line.",
    )
    .action(async (_options: object, self: Command) => {
      await run(self, async (cli) => {
        const settings = await cli.settings()
        // Without a valid token, this fails at the start, when the MCP host shows the error, and not only at the first
        // message.
        await readToken(settings)
        await runBridge({
          url: `${settings.baseUrl}/mcp`,
          fetch: createServiceFetch(settings),
          input: process.stdin,
          write: (line) => process.stdout.write(`${line}\n`),
          log: (line) => process.stderr.write(`${line}\n`),
          stop: stopSignal,
        })
      })
    })
  return addExamples(command, [
    { command: 'claude mcp add bursar -- bursar mcp', effect: 'add the service to Claude Code' },
  ])
}
