import { labelRecipient } from '../../domain/recipients/label-recipient.ts'
import { listRecipients } from '../../domain/recipients/list-recipients.ts'
import type { Recipient } from '../../domain/recipients/recipient.ts'
import { removeRecipient } from '../../domain/recipients/remove-recipient.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { parseAddress, ZERO_ADDRESS } from '../../values/address.ts'
import { checkName } from '../../values/name.ts'
import { problem } from '../../values/problem.ts'
import { membershipOf, type Door } from '../door.ts'
import { parseAddressOf } from '../parse-body.ts'
import { ModeQuery, SlugParams } from '../schemas.ts'
import { RecipientBody, SlugAddressParams } from '../schemas-workspace.ts'

/** What a workspace calls the addresses that it pays to. */
export function addRecipientRoutes(http: HttpServer, door: Door): void {
  const { ctx } = door

  http.get(
    '/console/workspaces/:slug/recipients',
    { schema: { params: SlugParams, querystring: ModeQuery } },
    async (request) => {
      const { account } = await membershipOf(door, request, 'viewer')
      const recipients = await listRecipients(ctx, { accountId: account.id, mode: request.query.mode })
      return { recipients: recipients.map(formatRecipient) }
    },
  )

  http.post(
    '/console/workspaces/:slug/recipients',
    { schema: { params: SlugParams, body: RecipientBody } },
    async (request, reply) => {
      const { account, userId } = await membershipOf(door, request, 'admin')
      const { mode } = request.body
      const address = parseAddressOf('address', request.body.address)
      if (address === ZERO_ADDRESS || address === ctx.chains[mode].usdc) {
        const message = 'must not be the zero address or the USDC contract'
        throw problem('address_invalid', { details: [{ path: 'address', message }] })
      }
      const label = checkName(request.body.label, 'label')
      const actor = { kind: 'user', id: userId } as const
      const recipient = await labelRecipient(ctx, { accountId: account.id, mode, address, label, actor })
      return reply.code(201).send({ recipient: formatRecipient(recipient) })
    },
  )

  http.delete(
    '/console/workspaces/:slug/recipients/:address',
    { schema: { params: SlugAddressParams, querystring: ModeQuery } },
    async (request) => {
      const { account, userId } = await membershipOf(door, request, 'admin')
      const address = parseAddress(request.params.address)
      if (address === null) throw problem('recipient_not_found')
      const actor = { kind: 'user', id: userId } as const
      await removeRecipient(ctx, { accountId: account.id, mode: request.query.mode, address, actor })
      return {}
    },
  )
}

function formatRecipient({ address, label, createdAt }: Recipient) {
  return { address, label, created_at: createdAt.toISOString() }
}
