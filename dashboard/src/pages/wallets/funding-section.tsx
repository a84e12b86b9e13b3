import { useQuery } from '@tanstack/react-query'
import type { Wallet } from '@bursar/server/src/console/contract/wallets.ts'
import type { ChainInfo } from '@bursar/server/src/console/contract/workspaces.ts'
import { workspaceQuery } from '../../api/queries.ts'
import { Button } from '../../components/button.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { Notice } from '../../components/notice.tsx'
import { Section } from '../../components/section.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { formatNetwork } from './use-network.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { Faucet } from './faucet.tsx'
import { QrCode } from './qr-code.tsx'
import { useState } from 'react'

const LEADS = {
  test: 'Send test USDC to this address. Test USDC has no value.',
  live: 'Send USDC to this address from an exchange or another wallet.',
} as const

/**
 * How to add USDC to a wallet. While one passkey is the only owner of a live wallet, its address is shown only if the
 * user accepts the risk (D61).
 */
export function FundingSection({ wallet }: { readonly wallet: Wallet }) {
  const { isAccepted, accept } = useRiskChoice(wallet.address)
  if (wallet.is_at_risk && !isAccepted) {
    return (
      <Section title="Add USDC">
        <Notice tone="warning">
          <p>
            Only one passkey owns this wallet. If it is lost, nobody can get the money out. The address is hidden until
            you add a second passkey under “Owners”.
          </p>
          <p>
            <Button onClick={accept}>Show the address anyway. I understand the risk</Button>
          </p>
        </Notice>
      </Section>
    )
  }
  return <Funding wallet={wallet} />
}

function Funding({ wallet }: { readonly wallet: Wallet }) {
  const { slug, mode } = useWorkspace()
  const { data: workspace, error, refetch } = useQuery(workspaceQuery(slug))
  return (
    <Section title="Add USDC" lead={LEADS[mode]}>
      {workspace === undefined ? (
        <QueryState error={error} onRetry={refetch} />
      ) : (
        <DepositAddress wallet={wallet} chain={workspace.chains[mode]} />
      )}
    </Section>
  )
}

function DepositAddress({ wallet, chain }: { readonly wallet: Wallet; readonly chain: ChainInfo }) {
  const { address, name, coin } = wallet
  const network = formatNetwork(chain.chain_id)
  return (
    <div className="grid gap-6 rounded-xl border border-line bg-surface p-5 sm:grid-cols-[11rem_minmax(0,1fr)] sm:p-6">
      <div className="mx-auto w-44 sm:w-full">
        <div className="rounded-lg border border-line">
          <QrCode text={address} label={`QR code with the address of ${name}`} />
        </div>
      </div>
      <div className="grid min-w-0 content-start gap-4">
        <div className="grid gap-1">
          <p className="text-sm text-muted">Address</p>
          <p className="font-mono text-lg leading-snug break-all select-all">{address}</p>
        </div>
        <p>
          <CopyButton text={address} what="the address" />
        </p>
        <p>
          <span className="text-muted">Network: </span>
          <strong>{network}</strong>
        </p>
        <p className="text-[0.9375rem] text-warning">
          Send only USDC{coin !== null && <> (or {coin.symbol} for gas)</>}, and only on {network}. Other tokens, and
          anything sent on another network, will be lost.
        </p>
        {chain.faucet !== null && <Faucet wallet={wallet} faucet={chain.faucet} />}
      </div>
    </div>
  )
}

/** The key under which the browser stores the choice for one wallet. */
function keyOf(address: string): string {
  return `bursar.shows-address.${address.toLowerCase()}`
}

/** Whether the user has chosen to see the deposit address of a wallet at risk. Remembered in this browser. */
function useRiskChoice(address: string): { readonly isAccepted: boolean; readonly accept: () => void } {
  const [isAccepted, setAccepted] = useState(() => read(address))
  return {
    isAccepted,
    accept: () => {
      setAccepted(true)
      try {
        localStorage.setItem(keyOf(address), '1')
      } catch {
        // The browser stores nothing, so the page asks again next time.
      }
    },
  }
}

function read(address: string): boolean {
  try {
    return localStorage.getItem(keyOf(address)) !== null
  } catch {
    return false
  }
}
