import { createHash, createPrivateKey, sign } from 'node:crypto'
import type { SoftwarePasskey } from '../../sandbox/src/software-passkey.ts'
import type { JsonValue } from '../../server/src/lib/canonical-json.ts'
import type { Part, SignedPart } from './forged-file.ts'

type Members = { readonly [name: string]: JsonValue }

const FLAGS_AT = 32

/** Signs again with other flags of the authenticator. The signature is genuine. */
export function signWithFlags(owner: SoftwarePasskey, { entry }: SignedPart, flags: number): Part {
  const { authenticatorData, clientData } = readAssertion(entry)
  authenticatorData.writeUInt8(flags, FLAGS_AT)
  return signAgain(owner, entry, { authenticatorData, clientData })
}

/** Signs again with other members of the client data. The signature is genuine. */
export function signWithClientData(owner: SoftwarePasskey, part: SignedPart, change: Members): Part {
  return signWithClientText(owner, part, (text) => JSON.stringify({ ...(JSON.parse(text) as Members), ...change }))
}

/** Signs again with another text of the client data. The signature is genuine. */
export function signWithClientText(
  owner: SoftwarePasskey,
  { entry }: SignedPart,
  edit: (text: string) => string,
): Part {
  const { authenticatorData, clientData } = readAssertion(entry)
  return signAgain(owner, entry, { authenticatorData, clientData: Buffer.from(edit(clientData.toString())) })
}

/** Signs the hash of what was signed. The signature is genuine. */
export function signHashed(owner: SoftwarePasskey, part: SignedPart): Part {
  const { challenge } = JSON.parse(readAssertion(part.entry).clientData.toString()) as { challenge: string }
  const hash = createHash('sha256').update(Buffer.from(challenge, 'base64url')).digest('base64url')
  const again = signWithClientData(owner, part, { challenge: hash })
  return { ...again, entry: { ...again.entry, statement: challenge } }
}

function signAgain(owner: SoftwarePasskey, entry: Members, parts: AssertionBytes): Part {
  const { authenticatorData, clientData } = parts
  const signed = Buffer.concat([authenticatorData, createHash('sha256').update(clientData).digest()])
  const key = createPrivateKey({ key: owner.export().privateKeyJwk, format: 'jwk' })
  const assertion = {
    authenticator_data: authenticatorData.toString('base64url'),
    client_data_json: clientData.toString('base64url'),
    signature: sign('sha256', signed, key).toString('base64url'),
  }
  return { leaf: null, entry: { ...entry, assertion } }
}

interface AssertionBytes {
  readonly authenticatorData: Buffer
  readonly clientData: Buffer
}

function readAssertion({ assertion }: Members): AssertionBytes {
  const { authenticator_data: data, client_data_json: client } = assertion as Readonly<Record<string, string>>
  return { authenticatorData: Buffer.from(data ?? '', 'base64url'), clientData: Buffer.from(client ?? '', 'base64url') }
}
