import type { Event } from 'bursar'
import type { Command } from 'commander'
import type { Cli, Run } from '../cli.ts'
import { addExamples } from '../describe-program.ts'
import { EVENT_TYPES, EventFeed, follow, type Followed } from '../event-feed.ts'
import { openService } from '../open-service.ts'
import { cleanLine } from '../output/clean-text.ts'
import type { Paint } from '../output/style.ts'
import { parseList, parseTime } from '../parse-values.ts'

/** The options of the commands that follow events. */
export interface FollowOptions {
  readonly type?: string
  readonly since?: string
}

export function addEventsCommand(program: Command, run: Run): Command {
  const events = program.command('events').description('Follows what happens: payments, deposits and grants.')
  const tail = events
    .command('tail')
    .description(
      'Prints events as they happen, until you press Ctrl-C. In JSON, each line is one event as webhooks deliver it.',
    )
  addFollowOptions(tail).action(async (options: FollowOptions, self: Command) => {
    await run(self, async (cli) => await tailEvents(cli, options))
  })
  addExamples(tail, [
    { command: 'bursar events tail --type payment.confirmed,payment.failed', effect: 'only the outcomes of payments' },
    { command: 'bursar events tail --since 1h --json', effect: 'also the events of the last hour, as JSON' },
  ])
  return events
}

export function addFollowOptions(command: Command): Command {
  return command
    .option('--type <types>', `Only these types, separated by commas: ${EVENT_TYPES.join(', ')}.`)
    .option(
      '--since <time>',
      'Begins at this time: ISO 8601, or how long ago, such as 90s, 15m, 2h or 7d. The default is now.',
    )
}

/** Returns where to begin, and which types to follow. */
export function parseFollow({ type, since }: FollowOptions): Followed {
  return {
    from: since === undefined ? { agoMs: 0 } : parseTime(since),
    types: type === undefined ? null : parseList(type, EVENT_TYPES, '--type'),
  }
}

/** The options for a command that continues to follow the same events. */
export function repeatFollow({ type }: FollowOptions): readonly string[] {
  return type === undefined ? [] : ['--type', type]
}

async function tailEvents(cli: Cli, options: FollowOptions): Promise<void> {
  const followed = parseFollow(options)
  const service = openService(await cli.settings())
  const feed = new EventFeed(cli, service, followed)
  cli.output.hint('Waiting for events. Press Ctrl-C to stop.')
  const work = async (): Promise<void> => {
    for await (const event of feed.read()) {
      cli.output.line(event, (paint) => formatEvent(event, paint))
      feed.markHandled(event)
    }
  }
  await follow(cli, feed, { command: ['events', 'tail', ...repeatFollow(options)], work })
}

/** An event in one line. */
export function formatEvent(event: Event, paint: Paint): string {
  const time = event.created_at.replace('T', ' ').replace(/\.\d+Z$/, '')
  return `${paint('dim', time)}  ${paint('bold', event.type.padEnd(18))}  ${cleanLine(describeSubject(event))}`
}

function describeSubject({ data, id }: Event): string {
  if ('payment' in data) {
    const { id: paymentId, amount_usdc: amount, to, failure_code: code } = data.payment
    return `${paymentId}  ${amount} USDC to ${to}${code === null ? '' : `  ${code}`}`
  }
  if ('deposit' in data) return `${data.deposit.id}  ${data.deposit.amount_usdc} USDC from ${data.deposit.from}`
  if ('grant' in data) return `${data.grant.id}  ${data.grant.agent_id} on ${data.grant.wallet}`
  return id
}
