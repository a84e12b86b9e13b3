import { Type } from 'typebox'
import { isoTime, list, orNull } from '../../values/schema-fields.ts'
import { ADDRESS_CHARS_MAX, agentId, mode, ModeQuery, SlugIdParams, SlugParams, time } from './fields.ts'
import { GrantSchema, SigningRequestSchema } from './grants.ts'
import { ENDS_POWER, READS, type ConsoleRoutes, type Shape } from './route.ts'
import { Authentication, credentialId } from './webauthn.ts'

const address = Type.String({ maxLength: ADDRESS_CHARS_MAX })
const count = Type.Integer()

/** What one signature of one passkey resumes. */
const GroupSchema = Type.Object({
  credential_id: Type.String(),
  /** The name of the passkey. */
  name: Type.String(),
  is_mine: Type.Boolean(),
  /** The people who can sign for this group. */
  people: list(Type.String()),
  wallets: list(Type.Object({ address: Type.String(), name: Type.String() })),
  grants: count,
})

const StopSchema = Type.Object({
  id: Type.String(),
  mode,
  /** The only agent, or the only wallet, that it stops. Both are null if it stops all agents. */
  agent_id: orNull(Type.String()),
  wallet: orNull(Type.String()),
  created_at: isoTime(),
  /** The name of the person who made it. Null for the operator. */
  created_by: orNull(Type.String()),
  /** How many grants it keeps suspended. */
  grants: count,
  groups: list(GroupSchema),
})

export type Stop = Shape<typeof StopSchema>
export type StopGroup = Stop['groups'][number]

/** The signed statement. `expires_at` is the time in the statement, which the service makes again. */
const ResumeBody = Type.Object({ expires_at: time, response: Authentication })
const requestAnswer = Type.Object({ signing_request: SigningRequestSchema })
const THE_OWNER_SIGNS = { notNeeded: 'has no effect before the owner’s passkey signs' } as const
const THE_SIGNATURE = { notNeeded: 'is the signature of the owner’s passkey over the grants to resume' } as const

export const STOP_ROUTES = {
  /** The stops that keep grants suspended, the newest first. */
  list: {
    method: 'GET',
    url: '/console/workspaces/:slug/stops',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      querystring: ModeQuery,
      response: { 200: Type.Object({ stops: list(StopSchema) }) },
    },
  },
  /** What a stop would stop now. Without an agent and a wallet, it would stop all agents. */
  preview: {
    method: 'GET',
    url: '/console/workspaces/:slug/stops/preview',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      querystring: Type.Object({ mode, agent: Type.Optional(agentId), wallet: Type.Optional(address) }),
      response: {
        200: Type.Object({ grants: count, agents: count, wallets: count, pending_payments: count }),
      },
    },
  },
  create: {
    method: 'POST',
    url: '/console/workspaces/:slug/stops',
    config: { needs: 'manageGrants', proof: ENDS_POWER, bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      body: Type.Object({
        mode,
        /** Required, so that all agents are stopped only on purpose: null in both stops all agents. */
        agent_id: orNull(agentId),
        wallet: orNull(address),
      }),
      response: {
        /** How many grants were suspended. `stop_id` is null if there was nothing to stop. */
        200: Type.Object({ stop_id: orNull(Type.String()), grants: count }),
      },
    },
  },
  issueResumeRequest: {
    method: 'POST',
    url: '/console/workspaces/:slug/stops/:id/resume-request',
    config: { needs: 'manageGrants', proof: THE_OWNER_SIGNS, bucket: 'dashboard' },
    schema: {
      params: SlugIdParams,
      body: Type.Object({ credential_id: credentialId }),
      response: { 200: requestAnswer },
    },
  },
  resume: {
    method: 'POST',
    url: '/console/workspaces/:slug/stops/:id/resume',
    config: { needs: 'manageGrants', proof: THE_SIGNATURE, bucket: 'dashboard' },
    schema: { params: SlugIdParams, body: ResumeBody, response: { 200: Type.Object({ grants: count }) } },
  },
  /** The same for one grant, however it was suspended. */
  issueGrantRequest: {
    method: 'POST',
    url: '/console/workspaces/:slug/grants/:id/resume-request',
    config: { needs: 'manageGrants', proof: THE_OWNER_SIGNS, bucket: 'dashboard' },
    schema: { params: SlugIdParams, body: Type.Object({}), response: { 200: requestAnswer } },
  },
  resumeGrant: {
    method: 'POST',
    url: '/console/workspaces/:slug/grants/:id/resume',
    config: { needs: 'manageGrants', proof: THE_SIGNATURE, bucket: 'dashboard' },
    schema: { params: SlugIdParams, body: ResumeBody, response: { 200: Type.Object({ grant: GrantSchema }) } },
  },
} as const satisfies ConsoleRoutes
