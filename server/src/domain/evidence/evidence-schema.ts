import { Type } from 'typebox'
import { MODES } from '../../values/mode.ts'
import { isoTime, list, oneOf, orNull } from '../../values/schema-fields.ts'
import { ACTOR_KINDS } from '../audit/audit-entry.ts'
import { EVIDENCE_FORMAT } from './evidence-format.ts'

const bytes = (description: string) => Type.String({ description: `${description} In base64url.` })

const LeafSchema = Type.Object({
  content: Type.String({ description: 'The leaf, in canonical JSON.' }),
  position: Type.Integer({ minimum: 0, description: 'Its position in the log.' }),
  proof: list(Type.String(), {
    description: 'The hashes that prove that the log contains the leaf (RFC 6962), each in base64url.',
  }),
  texts: Type.Record(Type.String(), orNull(Type.String()), {
    description: 'The texts whose hashes the leaf contains.',
  }),
})

const SignatureSchema = Type.Object({
  workspace: Type.String(),
  mode: oneOf(MODES),
  kind: oneOf(['grant', 'revocation', 'resume', 'owners', 'withdrawal', 'record'], {
    description: 'What the owner signed.',
  }),
  subject: Type.String({ description: 'The grant, stop, payment or wallet for which it was given.' }),
  assertion: Type.Object({
    authenticator_data: Type.String(),
    client_data_json: Type.String(),
    signature: Type.String(),
  }),
  statement: orNull(
    bytes('The bytes whose SHA-256 the owner signed. Null if the challenge is itself what was signed.'),
  ),
  credential: Type.String({ description: 'The credential id of the passkey.' }),
  public_key: bytes('The public key of the passkey, as SPKI in DER.'),
  relying_party: Type.String(),
  origin: Type.String(),
  user: Type.String({ description: 'The person whose passkey it is.' }),
  registered_at: isoTime('When the passkey was registered.'),
  registration: orNull(Type.Object({ attestation_object: Type.String(), client_data_json: Type.String() })),
  received_at: isoTime('When the service received the signature.'),
  actor: Type.Object({ kind: oneOf(ACTOR_KINDS), id: orNull(Type.String()) }),
})

/** The schema of a file with evidence, as `docs/evidence.md` specifies it. */
export const EvidenceSchema = Type.Object(
  {
    format: Type.Literal(EVIDENCE_FORMAT, { description: 'The format of the file.' }),
    logs: list(
      Type.Object({
        checkpoint: Type.String({ description: 'What the log contained, signed by the log (C2SP tlog-checkpoint).' }),
        key: Type.String({ description: 'The verifier key of the log (C2SP signed-note).' }),
        leaves: list(LeafSchema),
      }),
      { description: 'The parts of the transparency log that concern the payment.' },
    ),
    signatures: list(SignatureSchema, { description: 'The signatures of owners that allowed the payment.' }),
    does_not_prove: list(Type.String(), { description: 'What the file does not prove.' }),
    seal: Type.String({ description: 'A signed note over the rest of the file.' }),
  },
  {
    $id: 'Evidence',
    title: 'Evidence',
    description:
      'A file that proves who allowed a payment. Keep the bytes of the response: its members are in the order of ' +
      'canonical JSON, and a verifier accepts no other form.',
  },
)
