import { useId, type ReactNode } from 'react'
import type { Belongings, Member } from '@bursar/server/src/console/contract/members.ts'
import { TextLink } from '../../components/text-link.tsx'
import { formatSigners } from '../../format/owner-text.ts'
import { pathTo } from '../../navigation/paths.ts'
import { useWorkspace } from './use-workspace.ts'

interface LeftToOthersProps extends Pick<Belongings, 'wallets' | 'grants'> {
  readonly member: Member
  /** Whether the member makes the change. */
  readonly isMe: boolean
}

/** Lists what stays when the member leaves or becomes a viewer, and who can go on with it. */
export function LeftToOthers({ wallets, grants, member, isMe }: LeftToOthersProps) {
  const { slug } = useWorkspace()
  const whose = isMe ? 'Your' : 'Their'
  return (
    <>
      {wallets.length > 0 && (
        <Group
          title={isMe ? 'Wallets that you own' : `Wallets that ${member.name} owns`}
          lead={`${whose} passkeys stay owners, until another owner removes them on the wallet’s page. They can sign only what the workspace asks for, and it asks only owners and admins.`}
        >
          {wallets.map((wallet) => (
            <Entry
              key={`${wallet.mode} ${wallet.address}`}
              title={<TextLink to={pathTo(slug, wallet.mode, 'wallets', wallet.address)}>{wallet.name}</TextLink>}
            >
              {wallet.mode === 'live' ? 'Live' : 'Test'}, with the{' '}
              {wallet.passkeys.length === 1 ? 'passkey' : 'passkeys'}{' '}
              {new Intl.ListFormat('en').format(wallet.passkeys.map((name) => `“${name}”`))}.{' '}
              {formatSigners(wallet.other_signers)}
            </Entry>
          ))}
        </Group>
      )}
      {grants.length > 0 && (
        <Group
          title="Grants that wait for a signature"
          lead="They stay. Every owner and admin of the workspace can discard them, on the grant’s page."
        >
          {grants.map((grant) => (
            <Entry
              key={grant.id}
              title={
                <TextLink to={pathTo(slug, grant.mode, 'grants', grant.id)}>
                  {grant.agent_id} on {grant.wallet_name}
                </TextLink>
              }
            >
              {grant.mode === 'live' ? 'Live' : 'Test'}
              {grant.is_prepared && `, prepared by ${isMe ? 'you' : member.name}`}. {formatSigners(grant.other_signers)}
            </Entry>
          ))}
        </Group>
      )}
      <p className="text-sm text-muted">
        Webhook endpoints stay{isMe ? '.' : `, so check that none of them sends to a server of ${member.name}.`}
      </p>
    </>
  )
}

interface GroupProps {
  readonly title: string
  readonly lead: string
  readonly children: ReactNode
}

function Group({ title, lead, children }: GroupProps) {
  const id = useId()
  return (
    <div role="group" aria-labelledby={id} className="grid gap-2">
      <h3 id={id} className="font-semibold">
        {title}
      </h3>
      <p className="text-sm text-muted">{lead}</p>
      <ul className="divide-y divide-line rounded-xl border border-line">{children}</ul>
    </div>
  )
}

function Entry({ title, children }: { readonly title: ReactNode; readonly children: ReactNode }) {
  return (
    <li className="grid gap-0.5 px-4 py-2.5">
      <p className="font-semibold break-words">{title}</p>
      <p className="text-sm text-muted">{children}</p>
    </li>
  )
}
