import type { Command } from 'commander'
import type { Run } from '../cli.ts'
import { configFolder } from '../credentials/config-folder.ts'
import { notSignedIn } from '../credentials/current-token.ts'
import { revokeToken } from '../credentials/oauth-calls.ts'
import { deleteSession, readDefaultUrl, readSession } from '../credentials/session.ts'
import { namedUrl } from '../settings.ts'

export function addLogoutCommand(program: Command, run: Run): Command {
  return program
    .command('logout')
    .summary('Signs out.')
    .description('Ends the sign-in: revokes its tokens at the service, and deletes them here.')
    .action(async (_options: object, self: Command) => {
      await run(self, async (cli) => {
        const folder = configFolder(cli.env)
        const baseUrl = namedUrl(cli.env, cli.globals.url)?.baseUrl ?? (await readDefaultUrl(folder))
        const session = baseUrl === null ? null : await readSession(folder, baseUrl)
        if (session === null) throw notSignedIn(baseUrl)
        const { refreshToken: token, clientId, revocationEndpoint } = session
        // The stored tokens are deleted even if they could not be revoked, because a person who signs out must not stay
        // signed in.
        const isRevoked = await revokeToken(revocationEndpoint, { token, clientId }).then(
          () => true,
          () => false,
        )
        await deleteSession(folder, session.baseUrl)
        cli.output.answer({
          body: { signed_out: { url: session.baseUrl, revoked: isRevoked } },
          next: null,
          human: (paint) =>
            isRevoked
              ? `${paint('green', 'Signed out')} of ${session.baseUrl}.\n`
              : `Signed out of ${session.baseUrl} here. The service could not be reached, so the connection still exists: end it in the dashboard, under Connections.\n`,
        })
      })
    })
}
