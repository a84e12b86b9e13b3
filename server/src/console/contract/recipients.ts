import { Type } from 'typebox'
import { isoTime, list } from '../../values/schema-fields.ts'
import { ADDRESS_CHARS_MAX, Empty, mode, ModeQuery, name, SlugAddressParams, SlugParams } from './fields.ts'
import { READS, type ConsoleRoutes, type Shape } from './route.ts'

const RecipientSchema = Type.Object({ address: Type.String(), label: Type.String(), created_at: isoTime() })

export type Recipient = Shape<typeof RecipientSchema>

export const RECIPIENT_ROUTES = {
  list: {
    method: 'GET',
    url: '/console/workspaces/:slug/recipients',
    config: { needs: 'read', proof: READS, bucket: 'dashboard' },
    schema: {
      params: SlugParams,
      querystring: ModeQuery,
      response: { 200: Type.Object({ recipients: list(RecipientSchema) }) },
    },
  },
  label: {
    method: 'POST',
    url: '/console/workspaces/:slug/recipients',
    config: {
      needs: 'labelRecipients',
      proof: { notNeeded: 'labels an address that can be paid only once an owner has signed it' },
      bucket: 'dashboard',
    },
    schema: {
      params: SlugParams,
      body: Type.Object({ mode, address: Type.String({ minLength: 1, maxLength: ADDRESS_CHARS_MAX }), label: name }),
      response: { 201: Type.Object({ recipient: RecipientSchema }) },
    },
  },
  remove: {
    method: 'DELETE',
    url: '/console/workspaces/:slug/recipients/:address',
    config: { needs: 'labelRecipients', proof: { notNeeded: 'only removes a label' }, bucket: 'dashboard' },
    schema: { params: SlugAddressParams, querystring: ModeQuery, response: { 200: Empty } },
  },
} as const satisfies ConsoleRoutes
