import { labelRecipient } from '../../domain/recipients/label-recipient.ts'
import { listRecipients } from '../../domain/recipients/list-recipients.ts'
import type { Recipient } from '../../domain/recipients/recipient.ts'
import { removeRecipient } from '../../domain/recipients/remove-recipient.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { parseAddress, ZERO_ADDRESS } from '../../values/address.ts'
import { checkName } from '../../values/name.ts'
import { problem } from '../../values/problem.ts'
import type { ConsoleContext } from '../console-context.ts'
import { RECIPIENT_ROUTES } from '../contract/recipients.ts'
import { currentMembership } from '../current-membership.ts'
import { actorOf } from '../current-session.ts'
import { parseAddressOf } from '../parse-body.ts'
import { invalidMember } from '../../values/invalid-request.ts'

/** Adds the endpoints for the labels that a workspace gives to the addresses that it pays. */
export function addRecipientRoutes(http: HttpServer, { ctx }: ConsoleContext): void {
  http.route({
    ...RECIPIENT_ROUTES.list,
    handler: async (request) => {
      const { workspace } = currentMembership(request)
      const recipients = await listRecipients(ctx, { workspaceId: workspace.id, mode: request.query.mode })
      return { recipients: recipients.map(formatRecipient) }
    },
  })

  http.route({
    ...RECIPIENT_ROUTES.label,
    handler: async (request, reply) => {
      const { workspace } = currentMembership(request)
      const { mode } = request.body
      const address = parseAddressOf('address', request.body.address)
      if (address === ZERO_ADDRESS || address === ctx.chains[mode].usdc) {
        throw invalidMember('address', 'must not be the zero address or the USDC contract', 'address_invalid')
      }
      const label = checkName(request.body.label, 'label')
      const actor = actorOf(request)
      const recipient = await labelRecipient(ctx, { workspaceId: workspace.id, mode, address, label, actor })
      return reply.code(201).send({ recipient: formatRecipient(recipient) })
    },
  })

  http.route({
    ...RECIPIENT_ROUTES.remove,
    handler: async (request) => {
      const { workspace } = currentMembership(request)
      const address = parseAddress(request.params.address)
      if (address === null) throw problem('recipient_not_found')
      const actor = actorOf(request)
      await removeRecipient(ctx, { workspaceId: workspace.id, mode: request.query.mode, address, actor })
      return {}
    },
  })
}

function formatRecipient({ address, label, createdAt }: Recipient) {
  return { address, label, created_at: createdAt.toISOString() }
}
