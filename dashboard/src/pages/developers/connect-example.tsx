import { CodeText } from '../../components/code-text.tsx'
import { DescriptionItem, DescriptionList } from '../../components/description-list.tsx'
import { Section } from '../../components/section.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** Addresses from which an agent host finds everything else by itself (RFC 8414, RFC 9728). */
export function ConnectExample({ baseUrl }: { readonly baseUrl: string | undefined }) {
  const { to } = useWorkspace()
  const { origin } = window.location
  return (
    <Section
      title="Connect an agent host without a key"
      lead={
        <>
          A host that speaks OAuth 2.1, as MCP clients do, finds and registers itself from these addresses, and sends
          you here to approve. It then stands under{' '}
          <TextLink to={to('developers', 'connections')}>Connections</TextLink>.
        </>
      }
    >
      <DescriptionList>
        <DescriptionItem term="API">
          {baseUrl === undefined ? '…' : <CodeText text={`${baseUrl}/v1`} what="the address of the API" />}
        </DescriptionItem>
        <DescriptionItem term="Resource metadata">
          {baseUrl === undefined ? (
            '…'
          ) : (
            <CodeText
              text={`${baseUrl}/.well-known/oauth-protected-resource`}
              what="the address of the resource’s metadata"
            />
          )}
        </DescriptionItem>
        <DescriptionItem term="Authorization server">
          <CodeText
            text={`${origin}/.well-known/oauth-authorization-server`}
            what="the address of the authorization server’s metadata"
          />
        </DescriptionItem>
        <DescriptionItem term="Scopes">
          <CodeText text="wallet:read wallet:transfer x402:pay" what="the scopes" />
        </DescriptionItem>
      </DescriptionList>
    </Section>
  )
}
