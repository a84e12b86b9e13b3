import { useQuery } from '@tanstack/react-query'
import { useSearchParams } from 'react-router'
import { workspaceQuery } from '../../api/queries.ts'
import { CodeBlock } from '../../components/code-block.tsx'
import { CodeText } from '../../components/code-text.tsx'
import { DescriptionItem, DescriptionList } from '../../components/description-list.tsx'
import { Disclosure } from '../../components/disclosure.tsx'
import { Notice } from '../../components/notice.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { RadioGroupField } from '../../components/radio-group-field.tsx'
import { Section } from '../../components/section.tsx'
import { ProgramLink, TextLink } from '../../components/text-link.tsx'
import { findReach } from '../../format/address-reach.ts'
import { may } from '@bursar/server/src/values/role.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { cursorInstallLink, listAgentHosts, type AgentHost } from './agent-hosts.ts'

/**
 * How a person adds this service to the application that runs their agents. The page's URL names this application, the
 * agent host.
 */
export function AddToAgent() {
  const { slug, role } = useWorkspace()
  const { data: workspace, error, refetch } = useQuery(workspaceQuery(slug))
  return (
    <Section
      title="Add to your agent"
      lead="Give your application this URL. It then sends you here, to choose the agent and the mode and to approve. It can pay only what the grants of that agent allow."
    >
      {!may(role, 'manageConnections') && (
        <p className="text-muted">Only owners and admins can approve an application, and your role is {role}.</p>
      )}
      {workspace === undefined ? (
        <QueryState error={error} onRetry={refetch} lines={8} />
      ) : (
        <HostChoice baseUrl={workspace.base_url} />
      )}
    </Section>
  )
}

function HostChoice({ baseUrl }: { readonly baseUrl: string }) {
  const [search, setSearch] = useSearchParams()
  const mcpUrl = `${baseUrl}/mcp`
  const hosts = listAgentHosts(mcpUrl)
  const host = hosts.find(({ id }) => id === search.get('host')) ?? hosts[0]
  return (
    <>
      <DescriptionList>
        <DescriptionItem term="MCP URL">
          <CodeText text={mcpUrl} what="the MCP URL" />
        </DescriptionItem>
        <DescriptionItem term="Skill for agents">
          <CodeText text={`${baseUrl}/SKILL.md`} what="the URL of the skill" />
        </DescriptionItem>
      </DescriptionList>
      <RadioGroupField
        label="Your application"
        value={host?.id ?? ''}
        choices={hosts.map(({ id, name }) => ({ value: id, text: name }))}
        onChange={(id) => setSearch({ host: id }, { replace: true, preventScrollReset: true })}
      />
      {host !== undefined && <HostSteps key={host.id} host={host} mcpUrl={mcpUrl} />}
    </>
  )
}

function HostSteps({ host, mcpUrl }: { readonly host: AgentHost; readonly mcpUrl: string }) {
  return (
    <>
      <ReachNotice host={host} mcpUrl={mcpUrl} />
      {host.code.map(({ what, copied, code }) => (
        <CodeBlock key={what} what={what} copied={copied} code={code} />
      ))}
      {host.id === 'cursor' && (
        <p>
          <ProgramLink href={cursorInstallLink(mcpUrl)}>Open Cursor and add Bursar</ProgramLink>
        </p>
      )}
      <ol className="grid list-decimal gap-1.5 pl-5">
        {host.steps.map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
      {host.note !== undefined && <p className="text-sm text-muted">{host.note}</p>}
      {host.withKey === undefined ? (
        <p className="text-sm text-muted">{host.name} signs in through Bursar, and accepts no API key.</p>
      ) : (
        <WithKey withKey={host.withKey} />
      )}
    </>
  )
}

function WithKey({ withKey: { code, note } }: { readonly withKey: NonNullable<AgentHost['withKey']> }) {
  const { mode, to } = useWorkspace()
  return (
    <Disclosure summary="Use an API key instead of signing in">
      <p>
        Create a {mode} key for your agent under <TextLink to={to('developers', 'keys')}>API keys</TextLink>. {note}
      </p>
      <CodeBlock what={code.what} copied={code.copied} code={code.code} />
    </Disclosure>
  )
}

/** Says where the host must run, if the address of this service is not public. */
function ReachNotice({ host, mcpUrl }: { readonly host: AgentHost; readonly mcpUrl: string }) {
  const { origin, protocol } = new URL(mcpUrl)
  const reach = findReach(origin)
  const where = reach === 'loopback' ? 'on this computer only' : 'in a private network only'
  if (host.hostedBy !== null && (reach !== 'public' || protocol !== 'https:')) {
    return (
      <Notice tone="warning">
        <p>
          <strong>{host.name} cannot reach this service.</strong> {host.hostedBy} calls it from its own servers, so it
          needs a public address with https.{' '}
          {reach === 'public' ? (
            <>The address {origin} has no https.</>
          ) : (
            <>
              The address {origin} works {where}.
            </>
          )}{' '}
          The operator of this service sets its address (BASE_URL and AUTH_URL).
        </p>
      </Notice>
    )
  }
  if (host.hostedBy === null && reach !== 'public') {
    return (
      <p className="text-sm text-muted">
        The address {origin} works {where}, so {host.name === 'Other' ? 'your application' : host.name} must run there.
      </p>
    )
  }
  return null
}
