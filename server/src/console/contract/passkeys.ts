import { Type } from 'typebox'
import { isoTime, list, orNull } from '../../values/schema-fields.ts'
import { Empty, EmptyBody, IdParams, name, NameBody } from './fields.ts'
import { ONLY_A_NAME, READS, type ConsoleRoutes, type Shape } from './route.ts'
import { CreationOptions, Registration } from './webauthn.ts'

const PasskeySchema = Type.Object({
  id: Type.String(),
  name: Type.String(),
  created_at: isoTime(),
  last_used_at: orNull(isoTime()),
})

export type Passkey = Shape<typeof PasskeySchema>

export const PASSKEY_ROUTES = {
  list: {
    method: 'GET',
    url: '/console/passkeys',
    config: { needs: 'session', proof: READS, bucket: 'dashboard' },
    schema: { response: { 200: Type.Object({ passkeys: list(PasskeySchema) }) } },
  },
  open: {
    method: 'POST',
    url: '/console/passkeys/options',
    config: { needs: 'session', proof: 'required', bucket: 'sign_in' },
    schema: { body: EmptyBody, response: { 200: CreationOptions } },
  },
  add: {
    method: 'POST',
    url: '/console/passkeys',
    config: { needs: 'session', proof: 'required', bucket: 'dashboard' },
    schema: {
      body: Type.Object({ response: Registration, name }),
      response: { 201: Type.Object({ passkey: PasskeySchema }) },
    },
  },
  rename: {
    method: 'PATCH',
    url: '/console/passkeys/:id',
    config: { needs: 'session', proof: ONLY_A_NAME, bucket: 'dashboard' },
    schema: { params: IdParams, body: NameBody, response: { 200: Empty } },
  },
  remove: {
    method: 'DELETE',
    url: '/console/passkeys/:id',
    config: { needs: 'session', proof: 'required', bucket: 'dashboard' },
    schema: { params: IdParams, response: { 200: Empty } },
  },
} as const satisfies ConsoleRoutes
