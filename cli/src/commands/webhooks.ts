import { randomBytes } from 'node:crypto'
import type { Event } from 'bursar'
import type { Command } from 'commander'
import type { Cli, Run } from '../cli.ts'
import { usageError } from '../cli-error.ts'
import { isLoopback } from '../credentials/oauth-calls.ts'
import { addExamples } from '../describe-program.ts'
import { EventFeed, follow } from '../event-feed.ts'
import { forwardEvent, type Forwarded } from '../forward-event.ts'
import { openService } from '../open-service.ts'
import { addFollowOptions, formatEvent, parseFollow, repeatFollow, type FollowOptions } from './events.ts'

const SECRET_NAME = 'BURSAR_WEBHOOK_SECRET'
const SECRET_BYTES = 32

interface ListenOptions extends FollowOptions {
  readonly forwardTo: string
}

export function addWebhooksCommand(program: Command, run: Run): Command {
  const webhooks = program.command('webhooks').description('Helps to build a receiver of webhooks.')
  const listen = webhooks
    .command('listen')
    .description(
      `Forwards events to a receiver on this machine, signed as the service signs them, so that you need no tunnel. Signs with ${SECRET_NAME}, or with a new secret that it shows once. Reads the events with your credential and forwards each of them once. Goes on while the service does not respond, and says at the end with which --since it continues without a gap. This includes events that your receiver did not accept.`,
    )
    .requiredOption('--forward-to <url>', 'The address of your receiver, on this machine.')
  addFollowOptions(listen).action(async (options: ListenOptions, self: Command) => {
    await run(self, async (cli) => await listenForEvents(cli, options))
  })
  addExamples(listen, [
    { command: 'bursar webhooks listen --forward-to http://localhost:3000/webhooks', effect: 'forward everything' },
    {
      command: 'bursar webhooks listen --forward-to http://localhost:3000/webhooks --since 1h',
      effect: 'also send the events of the last hour again',
    },
  ])
  return webhooks
}

async function listenForEvents(cli: Cli, options: ListenOptions): Promise<void> {
  const url = parseReceiver(options.forwardTo)
  const followed = parseFollow(options)
  const given = cli.env[SECRET_NAME] ?? ''
  const secret = given === '' ? `whsec_${randomBytes(SECRET_BYTES).toString('base64url')}` : given
  const service = openService(await cli.settings())
  const shown = given === '' ? { secret } : {}
  cli.output.line(
    { listening: { forward_to: url, secret_from: given === '' ? 'generated' : SECRET_NAME, ...shown } },
    (paint) => {
      const origin = given === '' ? `New signing secret: ${paint('bold', secret)}` : `Signing with ${SECRET_NAME}.`
      return `${origin}\nForwarding to ${url}. Press Ctrl-C to stop.`
    },
  )
  const feed = new EventFeed(cli, service, followed)
  const work = async (): Promise<void> => {
    for await (const event of feed.read()) {
      const result = await forwardEvent(event, { url, secret, now: new Date() })
      if (result.delivered) feed.markHandled(event)
      cli.output.line(describe(event, result), (paint) => {
        const outcome = result.error ?? String(result.status)
        return `${formatEvent(event, paint)}  ${paint(result.delivered ? 'green' : 'red', outcome)}`
      })
    }
  }
  const command = ['webhooks', 'listen', '--forward-to', url, ...repeatFollow(options)]
  await follow(cli, feed, { command, work })
}

function describe({ id, type }: Event, result: Forwarded) {
  return { event: { id, type }, ...result }
}

/** Accepts only an address on this machine, so that a mistake cannot send the events of a workspace anywhere else. */
function parseReceiver(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol) || !isLoopback(url.hostname)) {
    throw usageError('--forward-to must be an address on this machine, such as http://localhost:3000/webhooks.', {
      hint: 'For a receiver elsewhere, add a webhook endpoint in the dashboard.',
    })
  }
  return url.href
}
