import assert from 'node:assert/strict'
import type { Workspace } from '../../server/src/domain/workspaces/workspace.ts'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { EVENT_TYPES } from '../../server/src/domain/events/event.ts'
import { addMember } from '../../server/src/domain/members/add-member.ts'
import { claimDeliveries } from '../../server/src/domain/webhooks/claim-deliveries.ts'
import type { AttemptOutcome, ClaimedDelivery } from '../../server/src/domain/webhooks/delivery.ts'
import type { WebhookEndpoint } from '../../server/src/domain/webhooks/endpoint.ts'
import { finishAttempts } from '../../server/src/domain/webhooks/finish-attempts.ts'
import { getEndpoint } from '../../server/src/domain/webhooks/queries.ts'
import { releaseDeliveries } from '../../server/src/domain/webhooks/release-deliveries.ts'
import { seedWorkspace } from '../support/context/connection-rows.ts'
import type { ConsoleServer } from '../support/service/console-server.ts'
import { ALL_FREE } from '../support/context/delivery-rows.ts'
import { later } from '../support/context/moved-clock.ts'
import type { Browser } from './browser.ts'
import { openVisitor } from './person.ts'

export const URL_OF_HOOK = 'https://hooks.example/in'

const CLAIMED_MAX = 1_000
const LEASE_MS = 60_000

export interface WireWebhook {
  readonly id: string
  readonly status: string
  readonly failing_since: string | null
  readonly secret?: string
}

export interface WireDelivery {
  readonly id: string
  readonly webhook_id: string
  readonly event_id: string
  readonly status: string
}

export interface Log {
  readonly deliveries: readonly WireDelivery[]
  readonly next: string | null
}

/**
 * The webhook endpoints and deliveries of a new workspace, and its owner. Tests use it to call the dashboard's
 * endpoints.
 */
export class WebhookDesk {
  readonly server: ConsoleServer
  readonly workspace: Workspace
  readonly browser: Browser
  readonly userId: string

  private constructor(
    server: ConsoleServer,
    workspace: Workspace,
    { browser, userId }: Pick<WebhookDesk, 'browser' | 'userId'>,
  ) {
    this.server = server
    this.workspace = workspace
    this.browser = browser
    this.userId = userId
  }

  static async open(server: ConsoleServer): Promise<WebhookDesk> {
    const visitor = await openVisitor(server)
    const workspace = await seedWorkspace(server.context)
    await addMember(server.context, { workspace, userId: visitor.userId, role: 'owner', actor: OPERATOR })
    return new WebhookDesk(server, workspace, visitor)
  }

  at(path: string): string {
    return `/console/workspaces/${this.workspace.slug}/${path}`
  }

  async create(wanted: object = {}): Promise<WireWebhook> {
    const body = { mode: 'test', url: URL_OF_HOOK, events: EVENT_TYPES, ...wanted }
    return (await this.browser.ask<{ webhook: WireWebhook }>('POST', this.at('webhooks'), body, 201)).webhook
  }

  async change(id: string, body: object): Promise<WireWebhook> {
    return (await this.browser.ask<{ webhook: WireWebhook }>('PATCH', this.at(`webhooks/${id}`), body)).webhook
  }

  async list(mode = 'test'): Promise<readonly WireWebhook[]> {
    return (await this.browser.ask<{ webhooks: WireWebhook[] }>('GET', `${this.at('webhooks')}?mode=${mode}`)).webhooks
  }

  async readLog(query = ''): Promise<Log> {
    return await this.browser.ask<Log>('GET', `${this.at('deliveries')}?mode=test${query === '' ? '' : `&${query}`}`)
  }

  async createEndpoint(wanted: object = {}): Promise<WebhookEndpoint> {
    const { id } = await this.create(wanted)
    return await getEndpoint(this.server.context, { workspaceId: this.workspace.id, id })
  }

  /**
   * Claims the given delivery, or any delivery of the workspace, for an attempt, as the sender does. For the claim
   * only, the clock is `laterMs` ahead.
   */
  async claim(id?: string, laterMs = 0): Promise<ClaimedDelivery> {
    const ctx = later(this.server.context, laterMs)
    const bounds = { hangs: false, inFlightMax: CLAIMED_MAX, limit: CLAIMED_MAX, places: ALL_FREE, leaseMs: LEASE_MS }
    const claimed = await claimDeliveries(ctx, bounds)
    const wanted = claimed.find(({ delivery }) =>
      id === undefined ? delivery.workspaceId === this.workspace.id : delivery.id === id,
    )
    await releaseDeliveries(
      ctx,
      claimed.filter((other) => other !== wanted),
    )
    assert.ok(wanted !== undefined, 'it is due')
    return wanted
  }

  /** Claims a delivery and records an attempt with this outcome, as the sender does. */
  async attempt(
    outcome: Pick<AttemptOutcome, 'statusCode' | 'error' | 'responseBody'>,
    { id, laterMs }: { id?: string; laterMs?: number } = {},
  ): Promise<AttemptOutcome> {
    const claimed = await this.claim(id, laterMs)
    const whole = { startedAt: this.server.clock.now(), durationMs: 25, ...outcome }
    await finishAttempts(this.server.context, [{ claimed, outcome: whole }])
    return whole
  }
}
