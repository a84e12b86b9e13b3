import type { Credential } from '@bursar/server/src/console/contract/payments.ts'
import { TextLink } from '../../components/text-link.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** The API key or connection with which a payment was requested, with a link to its page. */
export function CredentialText({ credential }: { readonly credential: Credential | null }) {
  const { to } = useWorkspace()
  if (credential === null) return 'an unknown credential'
  const { kind, id, name } = credential
  const shown = <bdi title={id}>{name === null || name === '' ? id : `“${name}”`}</bdi>
  return kind === 'key' ? (
    <>
      the API key <TextLink to={to('developers', 'keys')}>{shown}</TextLink>
    </>
  ) : (
    <>
      the connection of <TextLink to={to('developers', 'connections')}>{shown}</TextLink>
    </>
  )
}
