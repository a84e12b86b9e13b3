import { ConfigError, readConfig } from './config.ts'
import { requireSchema } from './db/require-schema.ts'
import { createInvitedWorkspace } from './domain/members/create-invited-workspace.ts'
import { createClock } from './lib/clock.ts'
import { createLogger } from './lib/logger.ts'
import { describeForOperator } from './lib/operator-error.ts'
import { openContext } from './service.ts'
import { Problem } from './values/problem.ts'

// `npm run invite -- "<name of a new workspace>"` creates the workspace, and prints the link with which its owner signs
// up. The link is a secret, so it is written to standard output only, and not logged.
const [name, ...more] = process.argv.slice(2)
try {
  if (name === undefined || more.length > 0) {
    throw new ConfigError('Give the name of the new workspace: npm run invite -- "Northwind"')
  }
  const config = readConfig()
  const clock = createClock(config.clockOffsetMs)
  await requireSchema(config.database.url, clock)
  const { context, close } = openContext(config, { clock, logger: createLogger('fatal') })
  try {
    const { workspace, invitation, secret } = await createInvitedWorkspace(context, { name })
    process.stdout.write(
      `Whoever opens this link becomes the owner of the workspace ${workspace.slug}. It works once, until ${invitation.expiresAt.toISOString()}.\n${config.authUrl}/invite/${secret}\n`,
    )
  } finally {
    await close()
  }
} catch (error) {
  // Print only messages that we wrote. Messages of other errors might repeat what was sent.
  const isOurs = error instanceof ConfigError || error instanceof Problem
  process.stderr.write(`${isOurs ? error.message : `The workspace was not created: ${describeForOperator(error)}.`}\n`)
  process.exitCode = 1
}
