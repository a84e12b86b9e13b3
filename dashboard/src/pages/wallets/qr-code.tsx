import { useQuery } from '@tanstack/react-query'

interface QrCodeProps {
  readonly text: string
  /** A description of the content. This is the accessible name. */
  readonly label: string
}

/** The quiet zone around the code must be four modules wide (ISO/IEC 18004, section 9.1). */
const QUIET_MODULES = 4

/** A QR code. Always dark on white, because some phones cannot read inverted codes. */
export function QrCode({ text, label }: QrCodeProps) {
  const { data: modules } = useQuery({
    queryKey: ['qr', text],
    queryFn: async () => (await import('qr')).encodeQR(text, 'raw', { border: QUIET_MODULES }),
    staleTime: Infinity,
  })
  const side = modules?.length ?? 1
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${side} ${side}`}
      shapeRendering="crispEdges"
      className="aspect-square w-full rounded-lg fill-black"
    >
      <rect width={side} height={side} className="fill-white" />
      {modules !== undefined && <path d={drawModules(modules)} />}
    </svg>
  )
}

function drawModules(modules: readonly (readonly boolean[])[]): string {
  return modules.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
}
