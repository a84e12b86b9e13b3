import type { Recipient } from '@bursar/server/src/console/contract/recipients.ts'
import { labelOf } from '../../format/label-of.ts'
import { Disclosure } from '../../components/disclosure.tsx'

interface RecipientListProps {
  readonly addresses: readonly string[]
  readonly recipients: readonly Recipient[]
}

const SHOWN_MAX = 8

/** The recipients of a grant. Addresses are shown in full, because the address is signed, not the label. */
export function RecipientList({ addresses, recipients }: RecipientListProps) {
  if (addresses.length === 0) return null
  const list = (
    <ul aria-label="Recipients" className="grid gap-2">
      {addresses.map((address) => {
        const label = labelOf(recipients, address)
        return (
          <li key={address} className="flex flex-wrap items-baseline gap-x-3">
            {label !== null && <bdi className="font-semibold wrap-anywhere">{label}</bdi>}
            <code className="font-mono text-[0.875rem] break-all text-muted">{address}</code>
          </li>
        )
      })}
    </ul>
  )
  return addresses.length <= SHOWN_MAX ? (
    list
  ) : (
    <Disclosure summary={`${addresses.length} recipients`}>{list}</Disclosure>
  )
}
