import { Fragment } from 'react'

/** A host's name, which may be very long: its lines break behind the dots if they can. */
export function HostText({ host }: { readonly host: string }) {
  return (
    <bdi>
      {host.split('.').map((label, index) => (
        // The labels never change places.
        <Fragment key={`${index} ${label}`}>
          {index > 0 && '.'}
          {index > 0 && <wbr />}
          {label}
        </Fragment>
      ))}
    </bdi>
  )
}
